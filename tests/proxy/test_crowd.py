"""Many at once: streams side by side, and the same request several times at the same moment."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest

from tests.patience import PATIENCE
from tests.proxy.conftest import RunningProxy
from tests.proxy.stand_in import StandIn
from tests.proxy.test_who import CHAT, body


async def streamed(client: openai.AsyncOpenAI, number: int) -> str:
    """What a person gets who corrects themselves in a streamed conversation."""
    messages: Any = [
        {"role": "user", "content": f"My locker is A{number}."},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": f"No, my locker is B{number}."},
    ]
    stream = await client.chat.completions.create(
        model="m",
        messages=messages,
        stream=True,
        extra_headers={"X-Incumbent-User": f"user-{number}"},
    )
    return "".join([one.choices[0].delta.content or "" async for one in stream])


async def together(proxy: RunningProxy, count: int) -> list[str]:
    client = openai.AsyncOpenAI(
        api_key="-", base_url=f"{proxy.address}/v1", max_retries=0, timeout=PATIENCE
    )
    async with client:
        return await asyncio.gather(*(streamed(client, number) for number in range(count)))


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_many_streams_at_once(proxy: RunningProxy, upstream: StandIn, count: int) -> None:
    """All of them are open at the same time, each gets its own answer, each is guarded by its own
    facts, and every reply is observed."""
    assert proxy.post(CHAT, body(), X_Incumbent_User="somebody").status_code == 200  # loads all
    upstream.received.clear()
    upstream.barrier = count
    upstream.said = ["Done."] * count
    assert asyncio.run(together(proxy, count)) == ["Done."] * count
    assert upstream.most_at_once == count
    for received in upstream.received:
        *_, last = received.json["messages"]
        number = last["content"].partition(" B")[2].rstrip(".")
        assert f"A{number}" not in received.text
        others = [n for n in range(count) if str(n) != number]
        assert not [n for n in others if f"B{n}." in received.text]
    for number in range(count):
        whose = {"user": f"user-{number}"}
        assert proxy.heard(4, **whose) == ["user", "assistant", "user", "assistant"]


def test_the_same_request_at_the_same_time_is_observed_once(
    proxy: RunningProxy, upstream: StandIn
) -> None:
    """Clients that lose patience ask again before they were answered."""
    messages = [
        {"role": "user", "content": "My desk is 4."},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "My lamp is blue."},
    ]
    content = json.dumps({"model": "m", "messages": messages}).encode()
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(proxy.post, CHAT, content, X_Incumbent_User="alice") for _ in range(6)]
        assert [one.result().status_code for one in asked] == [200] * 6
    assert proxy.heard(4) == ["user", "assistant", "user", "assistant"]


def test_different_requests_of_one_session_at_the_same_time_are_all_observed(
    proxy: RunningProxy, upstream: StandIn
) -> None:
    """None is lost and none fails because another came in between."""
    with ThreadPoolExecutor(6) as pool:
        asked = [
            pool.submit(proxy.post, CHAT, body(f"My locker {n} is blue."), X_Incumbent_User="alice")
            for n in range(6)
        ]
        assert [one.result().status_code for one in asked] == [200] * 6
    assert proxy.speakers().count("user") == 6
