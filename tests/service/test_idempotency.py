"""A request that is sent twice is done once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import incumbent
from tests.service.running import Running, a_key, post, problem, serving

WHO = {"session": {"user_id": "bob", "session_id": "s"}}
WRITE: dict[str, Any] = {**WHO, "key": "price", "value": 5}


def count(memory: incumbent.Memory, organization: str = "default") -> int:
    return sum(1 for record in memory.export(organization) if record["kind"] == "verdict")


def test_the_same_request_again_is_answered_from_before(service: Running) -> None:
    """Byte for byte, and nothing is done."""
    first = service.post("write", WRITE, Idempotency_Key="k1")
    again = service.post("write", WRITE, Idempotency_Key="k1")
    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert count(service.memory) == 1
    service.post("write", WRITE, Idempotency_Key="k2")
    assert count(service.memory) == 2


def test_another_request_under_the_same_key_is_refused(service: Running) -> None:
    """Another value, another operation: the key was used."""
    service.post("write", WRITE, Idempotency_Key="k1")
    other = service.post("write", {**WRITE, "value": 6}, Idempotency_Key="k1")
    problem(other, 422, "IdempotencyKeyReused")
    moved = service.post("note", WRITE, Idempotency_Key="k1")
    problem(moved, 422, "IdempotencyKeyReused")
    assert count(service.memory) == 1


def test_a_request_that_failed_may_be_tried_again(service: Running) -> None:
    """What was refused has used up nothing."""
    problem(service.post("write", {**WRITE, "scope": "x"}, Idempotency_Key="k1"), 422)
    assert service.post("write", WRITE, Idempotency_Key="k1").status_code == 200


def test_the_same_request_at_the_same_time_is_done_once(service: Running) -> None:
    """Who comes second is told to wait, or gets the answer."""
    ready = threading.Barrier(8)

    def ask(_: int) -> httpx.Response:
        ready.wait()
        return service.post("write", WRITE, Idempotency_Key="k1")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert {one.status_code for one in answers} <= {200, 409}
    assert len({one.content for one in answers if one.status_code == 200}) == 1
    assert count(service.memory) == 1


def test_one_callers_keys_are_not_anothers(guarded: Running) -> None:
    """The same name of a request under two keys is two requests."""
    one, two = a_key(guarded.memory), a_key(guarded.memory)
    first = guarded.post("write", WRITE, key=one, Idempotency_Key="k1")
    second = guarded.post("write", WRITE, key=two, Idempotency_Key="k1")
    assert "idempotency-replayed" not in second.headers
    assert first.json()["id"] != second.json()["id"]


@pytest.mark.parametrize("key", ["", "x" * 201, "a\tb", "a b"])
def test_a_key_that_is_none_is_refused(service: Running, key: str) -> None:
    """It has from 1 to 200 letters, digits or signs."""
    problem(service.post("write", WRITE, Idempotency_Key=key), 422, "InvalidInput")


def test_an_answer_is_not_given_again_when_something_was_erased_since(service: Running) -> None:
    """It may say what nobody should read any more."""
    said = {**WRITE, "value": "CANARY-ERASED"}
    service.post("write", said, Idempotency_Key="k1")
    service.post("forget", {"user_id": "bob"})
    again = service.post("write", said, Idempotency_Key="k1")
    problem(again, 409, "AnswerErased")
    assert "CANARY" not in again.text
    assert service.memory.session(user_id="bob").current("price") is None


def test_an_erasure_asked_for_twice_gives_its_proof_twice(service: Running) -> None:
    """Its own answer holds nothing of what it erased."""
    service.post("write", WRITE)
    first = service.post("forget", {"user_id": "bob"}, Idempotency_Key="f1")
    again = service.post("forget", {"user_id": "bob"}, Idempotency_Key="f1")
    assert first.json() == again.json()


def names(verdicts: Any) -> list[tuple[str, str, str]]:
    """Which verdicts they are; how their facts stand by now is another matter."""
    listed = verdicts if isinstance(verdicts, list) else [verdicts]
    return [(one["id"], one["outcome"], one["fact_id"]) for one in listed]


TURNS = [{"text": "My desk is 4."}, {"text": "My lamp is blue."}]
WRITES = [{"key": "a", "value": 1}, {"key": "b", "value": 2}]
REPEATED: list[tuple[str, dict[str, Any]]] = [
    ("write", WRITE),
    ("write", {**WRITE, "key": "cost", "id": None}),
    ("write_many", {**WHO, "writes": WRITES}),
    ("observe", {**WHO, "text": "My chair is red."}),
    ("observe", {**WHO, "text": "My phone is old.", "ref": None}),
    ("observe_many", {**WHO, "turns": TURNS}),
]


@pytest.mark.slow
def test_a_request_is_recognised_by_a_process_that_never_saw_it(tmp_path: Path) -> None:
    """Killed in between, the service knows by what is stored that it was done."""
    path = str(tmp_path / "agent.db")
    with serving(path, tmp_path) as process:
        first = [
            post(process.address, name, body, Idempotency_Key=f"k{number}")
            for number, (name, body) in enumerate(REPEATED)
        ]
        process.kill()
    with incumbent.open(path) as memory:
        before = count(memory)
    with serving(path, tmp_path) as process:
        again = [
            post(process.address, name, body, Idempotency_Key=f"k{number}")
            for number, (name, body) in enumerate(REPEATED)
        ]
        assert process.stop() == 0
    assert [one.status_code for one in (*first, *again)] == [200] * 12
    for one, two in zip(first[:3], again[:3], strict=True):
        assert names(one.json()) == names(two.json())
    with incumbent.open(path) as memory:
        assert count(memory) == before
