"""The awaited API: cancelled at any moment it leaves nothing half-done, and it closes in order."""

from __future__ import annotations

import asyncio
import contextvars
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import incumbent
import incumbent.aio
from tests.conftest import QUICK, SOAK
from tests.patience import PATIENCE

ROUNDS = 20 if SOAK else 3


def check_sound(path: Path) -> None:
    """Every verdict has its fact and every fact its verdict, chains agree, addresses have one
    holder, and writes that went together came together."""
    with incumbent.open(path, settings=QUICK) as memory:
        records = list(memory.export("acme"))
        facts = {record["id"]: record for record in records if record["kind"] == "fact"}
        verdicts = [record for record in records if record["kind"] == "verdict"]
        assert {one["fact_id"] for one in verdicts} == set(facts)
        in_office: dict[Any, list[str]] = {}
        for fact in facts.values():
            if fact["superseded_by"] is not None:
                assert fact["id"] in facts[fact["superseded_by"]]["predecessors"]
            if fact["status"] == "office":
                in_office.setdefault((fact["owner"], fact["key"]), []).append(fact["id"])
        assert all(len(holders) == 1 for holders in in_office.values())
        session = memory.session(user_id="ana", organization="acme")
        pairs: dict[str, set[str]] = {}
        for held in session.facts():
            if held.key.startswith("pair_"):
                pairs.setdefault(str(held.value), set()).add(held.key[-1])
        assert all(both == {"a", "b"} for both in pairs.values())
        session.context("anything?")


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_cancelled_at_random_moments_nothing_is_half_done(seed: int, tmp_path: Path) -> None:
    """Writers, observers and drafts are cancelled by the dozen; the store is sound, and what was
    answered is there."""
    path = tmp_path / "agent.db"
    chance = random.Random(seed)
    answered: set[str] = set()

    async def work(session: incumbent.aio.AsyncSession, number: int) -> None:
        kind = number % 4
        if kind == 0:
            await session.write(f"key_{number % 5}", number)
        elif kind == 1:
            writes = [{"key": f"pair_{number}_{half}", "value": number} for half in "ab"]
            await session.write_many(writes)
        elif kind == 2:
            await session.observe(f"My desk is {number}.")
        else:
            draft = session.draft(f"d{number}")
            await draft.write(f"drafted_{number}", number)
            await draft.commit()
        answered.add(f"{kind}:{number}")

    async def run() -> None:
        async with incumbent.aio.open(path, settings=QUICK, threads=4) as memory:
            ana = memory.session(user_id="ana", organization="acme")
            tasks = [asyncio.create_task(work(ana, number)) for number in range(60)]
            while not all(task.done() for task in tasks):
                await asyncio.sleep(chance.uniform(0, 0.02))
                for task in chance.sample(tasks, 3):
                    task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert any(task.cancelled() for task in tasks)

    asyncio.run(run())
    check_sound(path)
    with incumbent.open(path, settings=QUICK) as memory:
        ana = memory.session(user_id="ana", organization="acme")
        for one in answered:
            kind, number = one.split(":")
            if kind == "1":
                assert ana.current(f"pair_{number}_a") == int(number)
            if kind == "3":
                assert ana.current(f"drafted_{number}") == int(number)


def test_a_call_that_waits_for_a_thread_is_not_made_when_cancelled(tmp_path: Path) -> None:
    """And one that has begun is finished, whole."""
    began, go_on = threading.Event(), threading.Event()

    def slow() -> str:
        began.set()
        go_on.wait(PATIENCE)
        return "done"

    async def run() -> None:
        async with incumbent.aio.open(tmp_path / "a.db", settings=QUICK, threads=1) as memory:
            memory.environment.provide("slow", slow)
            ana = memory.session(user_id="ana")
            busy = asyncio.create_task(ana.environment())
            while not began.is_set():
                await asyncio.sleep(0.01)
            waiting = asyncio.create_task(ana.write("never", 1))
            await asyncio.sleep(0.05)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            go_on.set()
            await busy
            assert await ana.current("never") is None

    asyncio.run(run())


def test_closing_waits_for_what_has_begun(tmp_path: Path) -> None:
    """What had begun is there; what had not is told so, and whoever asks later too."""
    path = tmp_path / "agent.db"

    async def run() -> list[Any]:
        memory = await incumbent.aio.open(path, settings=QUICK, threads=2)
        ana = memory.session(user_id="ana", organization="acme")
        tasks = [asyncio.create_task(ana.write(f"key_{n}", n)) for n in range(40)]
        while not any(task.done() for task in tasks):
            await asyncio.sleep(0)
        await memory.close()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        with pytest.raises(incumbent.SessionClosed, match=r"incumbent\.aio\.open"):
            await ana.current("key_0")
        return found

    found = asyncio.run(run())
    done = [one for one in found if isinstance(one, incumbent.Verdict)]
    assert done
    assert all(isinstance(one, incumbent.Verdict | incumbent.SessionClosed) for one in found)
    with incumbent.open(path, settings=QUICK) as memory:
        facts = memory.session(user_id="ana", organization="acme").facts()
        assert {fact.id for fact in facts} == {one.fact_id for one in done}


def test_closing_goes_on_when_it_is_cancelled(tmp_path: Path) -> None:
    """The store is released all the same."""

    async def run() -> None:
        memory = await incumbent.aio.open(tmp_path / "a.db", settings=QUICK)
        closing = asyncio.create_task(memory.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends and list(tmp_path.glob("*-wal")):
            await asyncio.sleep(0.01)
        assert list(tmp_path.glob("*-wal")) == []

    asyncio.run(run())


def test_opening_that_is_cancelled_leaves_nothing_open(tmp_path: Path) -> None:
    """Nobody holds the file afterwards, and no thread is left."""

    async def run() -> None:
        for _ in range(5):
            opening = asyncio.ensure_future(_opened(tmp_path / "a.db"))
            await asyncio.sleep(0)
            opening.cancel()
            await asyncio.gather(opening, return_exceptions=True)
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends and _threads():
            await asyncio.sleep(0.01)
        assert _threads() == []

    asyncio.run(run())
    assert list(tmp_path.glob("*-wal")) == []


async def _opened(path: Path) -> incumbent.aio.AsyncMemory:
    return await incumbent.aio.open(path, settings=QUICK)


def _threads() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith("incumbent-aio")]


def test_context_variables_pass(tmp_path: Path) -> None:
    """What was set where a call is awaited is set where it is made."""
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")

    async def ask(memory: incumbent.aio.AsyncMemory, who: str) -> str:
        name.set(who)
        found = await memory.session(user_id=who).environment()
        return str(found.external_data["who"])

    async def run() -> list[str]:
        async with incumbent.aio.open(tmp_path / "a.db", settings=QUICK) as memory:
            memory.environment.provide("who", name.get)
            return list(await asyncio.gather(*(ask(memory, who) for who in ("ana", "bob"))))

    assert asyncio.run(run()) == ["ana", "bob"]


def test_an_export_that_is_left_early_holds_nothing(tmp_path: Path) -> None:
    """The store can be closed, and written to, at once."""

    async def run() -> None:
        async with incumbent.aio.open(tmp_path / "a.db", settings=QUICK) as memory:
            ana = memory.session(user_id="ana", organization="acme")
            await ana.write_many({"key": f"k{n}", "value": n} for n in range(500))
            export = memory.export("acme")
            async for record in export:
                assert record["kind"] == "header"
                break
            await export.aclose()  # type: ignore[attr-defined]
            await ana.write("after", 1)
            assert len([record async for record in memory.export("acme")]) > 1000

    asyncio.run(run())
    assert list(tmp_path.glob("*-wal")) == []


def test_awaited_calls_reach_a_service_too(tmp_path: Path) -> None:
    """`incumbent.aio.open` takes what `incumbent.open` takes."""
    from tests.service.running import Running

    async def run(address: str) -> Any:
        async with incumbent.aio.open(address) as memory, memory.session(user_id="ana") as ana:
            await asyncio.gather(*(ana.write(f"k{n}", n) for n in range(20)))
            return len(await ana.facts())

    with incumbent.open(tmp_path / "a.db", settings=QUICK) as memory, Running(memory) as service:
        assert asyncio.run(run(service.address)) == 20
