"""Every operation of the surface answers over HTTP, on each store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import jsonschema  # type: ignore[import-untyped]
import pytest

import incumbent
from incumbent.operations import OPERATIONS, Operation
from tests.conftest import QUICK
from tests.service.conftest import ON_DISK
from tests.service.running import PLAIN, Running, Talk, problem

ALICE: dict[str, Any] = {
    "user_id": "alice",
    "authority": "manager",
    "organization": "acme",
    "session_id": "s1",
}


@pytest.fixture(scope="module", params=ON_DISK)
def told(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """A service with a little of everything in it."""
    if request.param == "postgres":
        from tests.servers import SERVER

        found = SERVER.databases()
        found.begin()
        where = found.empty()
    else:
        where = str(tmp_path_factory.mktemp("service") / "agent.db")
    with incumbent.open(where, settings=QUICK) as memory, Running(memory) as service:
        yield service


@pytest.fixture
def arguments(told: Running) -> dict[str, dict[str, Any]]:
    """Arguments of every operation that fit what is there."""
    memory = told.memory
    alice = memory.session(**ALICE)
    alice.write("order_status", "approved")
    base = alice.write("unit_price", 12)
    alice.write("order_total", 120, depends_on=["unit_price"])
    changed = alice.write("unit_price", 13)
    review = alice.reviews()[0]
    boss = memory.session(user_id="alice", authority="manager", organization="acme", task_id="t")
    boss.write("delivery_window", "Friday", scope="task")
    first = alice.context("What is the order status?", record=True).receipt.id
    alice.write("order_status", "shipped")
    later = alice.context("What is the order status?", record=True).receipt.id
    alice.draft("d1").write("order_status", "lost")
    return {
        "get": {"fact_id": base.fact_id},
        "undo": {"verdict": changed.id},
        "resolve": {"fact_id": review.fact.id},
        "promote": {"session": {**ALICE, "task_id": "t"}},
        "commit": {"session": {**ALICE, "branches": [{"kind": "draft", "name": "d1"}]}},
        "discard": {"session": {**ALICE, "branches": [{"kind": "draft", "name": "d1"}]}},
        "receipt": {"receipt_id": first},
        "replay": {"receipt": first},
        "compare": {"earlier": first, "later": later},
        "revert": {"key_or_id": "order_status"},
        "forget": {"user_id": "somebody"},
        "declare": {"key": "reading.*"},
    }


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.path)
def test_every_operation_answers(
    told: Running, arguments: dict[str, dict[str, Any]], operation: Operation
) -> None:
    """It does its work for somebody who gives what its example gives, and its answer is as the
    document says."""
    body = {"session": ALICE, **operation.example, **arguments.get(operation.name, {})}
    response = told.post(operation.path, body)
    assert response.status_code == 200, response.text
    document = httpx.get(f"{told.address}/openapi.json", **PLAIN).json()
    described = document["paths"][f"/v1/{operation.path}"]["post"]["responses"]["200"]
    schema = described["content"]["application/json"]["schema"]
    jsonschema.validate(response.json(), {**schema, "components": document["components"]})


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.path)
def test_the_example_of_every_operation_is_accepted(service: Running, operation: Operation) -> None:
    """On an empty memory the example of the document is understood: done, or not found, or in no
    state to be done, and never malformed."""
    document = httpx.get(f"{service.address}/openapi.json", **PLAIN).json()
    asked = document["paths"][f"/v1/{operation.path}"]["post"]["requestBody"]
    response = service.post(operation.path, asked["content"]["application/json"]["example"])
    assert response.status_code in (200, 404) or (
        operation.name in ("commit", "discard") and response.status_code == 422
    ), response.text


def test_every_public_method_is_an_operation_or_has_a_way_of_its_own() -> None:
    """Nothing of a session or a memory is left out by oversight."""
    elsewhere = {
        # sessions, branches and the past are said in the form of the session
        *("hypothetical", "draft", "as_of", "session", "identity", "session_id", "task_id"),
        # of what stands between an agent and its model
        "mode",
        # a rehearsal is a path of its own, whose answer has the changes
        *("rehearsal", "changes"),
        # streams
        *("export", "import_", "audit"),
        # of the process in which the memory is
        *("now", "flush", "record", "resources", "store", "index", "reader", "progress"),
    }
    for kind in (incumbent.Session, incumbent.Memory):
        public = {name for name in dir(kind) if not name.startswith("_")}
        missing = public - {one.name for one in OPERATIONS} - elsewhere - {"close"}
        assert missing == set(), kind


def test_what_is_said_is_so(service: Running) -> None:
    """Text in, context out, over HTTP alone."""
    who = {"session": {"user_id": "alice"}}
    service.post("observe", {**who, "text": "The shipping address is 123 Main St."})
    turn = service.post("observe", {**who, "text": "The shipping address is 456 Oak Ave now."})
    assert [one["text"] for one in turn.json()["retired"]] == ["123 Main St"]
    context = service.post("context", {**who, "query": "Where do we ship?", "budget": 300})
    assert "456 Oak Ave" in context.json()["text"]
    assert "123 Main" not in context.json()["text"]


def test_branches_and_the_past_are_said_in_the_session(service: Running) -> None:
    """A draft is seen by itself until it is committed; yesterday knows nothing of today."""
    who = {"user_id": "alice"}
    draft = {**who, "branches": [{"kind": "draft", "name": "d"}]}
    service.post("write", {"session": who, "key": "format", "value": "pdf"})
    service.post("write", {"session": draft, "key": "format", "value": "html"})

    def ask(session: dict[str, Any]) -> Any:
        return service.post("current", {"session": session, "key": "format"}).json()

    assert (ask(draft), ask(who)) == ("html", "pdf")
    assert service.post("commit", {"session": draft}).json()[0]["outcome"] == "promoted"
    assert ask(who) == "html"
    assert ask({**who, "as_of": "2020-01-01T00:00:00Z"}) is None
    late = service.post(
        "write", {"session": {**who, "as_of": "2020-01-01T00:00:00Z"}, "key": "a", "value": 1}
    )
    problem(late, 409, "ReadOnlySession")


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_a_stream_answers_each_turn_before_the_next_is_sent(service: Running) -> None:
    """A client that waits for an answer before it says more gets one, turn by turn, and no turn is
    lost."""
    with Talk(service) as talk:
        talk.send({"session": {"user_id": "alice"}}, {"text": "My desk is 0."})
        for number in range(1, 6):
            assert talk.next()["turn_index"] == number
            talk.send({"text": f"My desk is {number}."})
        assert talk.next()["turn_index"] == 6
        assert talk.end() == b""
    alice = service.memory.session(user_id="alice")
    assert "5" in str(alice.current("desk"))
    assert len(alice.history("desk")) == 6


def test_a_stream_ends_with_the_problem_of_a_bad_turn(service: Running) -> None:
    """What came before it is done; the last line says which turn it was and what is wrong."""
    body = lines({"session": {"user_id": "alice"}}, {"text": "My desk is 1."}, {"no": "text"})
    response = httpx.post(
        f"{service.address}/v1/observe/stream",
        content=body + lines({"text": "My desk is 2."}),
        headers={"Content-Type": "application/x-ndjson"},
        **PLAIN,
    )
    first, last = (httpx.Response(200, content=one).json() for one in response.iter_lines())
    assert first["turn_index"] == 1
    assert (last["turn"], last["problem"]["title"]) == (2, "InvalidInput")
    assert "1" in str(service.memory.session(user_id="alice").current("desk"))


def test_an_export_comes_back_by_an_import(service: Running, tmp_path: Path) -> None:
    """Everything of an organization goes out, and into another one."""
    with incumbent.open(service.address) as memory:
        alice = memory.session(user_id="alice", organization="acme")
        for number in range(300):
            alice.write(f"key_{number}", number)
        records = list(memory.export("acme"))
        assert memory.import_(records, organization="copy") >= 600
        copy = memory.session(user_id="alice", organization="copy")
        assert copy.current("key_299") == 299
        with pytest.raises(incumbent.NotPermitted, match="already has facts"):
            memory.import_(records, organization="copy")


def test_times_go_in_and_out_with_their_zone(service: Running) -> None:
    """A moment of another zone is the same moment."""
    body = {"key": "a", "value": 1, "valid_from": "2026-01-01T12:00:00+02:00"}
    made = service.post("write", {"session": {"user_id": "alice"}, **body}).json()
    got = service.post("get", {"session": {"user_id": "alice"}, "fact_id": made["fact_id"]}).json()
    assert datetime.fromisoformat(got["valid_from"]) == datetime(2026, 1, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize("path", ["export", "audit", "write", "context"])
def test_what_the_address_says_is_refused_where_nobody_reads_it(
    service: Running, path: str
) -> None:
    """Who names an organization there gets no other one's facts instead."""
    told = problem(service.post(f"{path}?organization=acme", {}), 422, "InvalidInput")
    assert "?organization=" in told["detail"]


def test_what_was_kept_as_it_was_said_is_asked_for_with_an_empty_key(service: Running) -> None:
    """As facts it has none; where one name is needed, the answer says where the ids are."""
    with incumbent.open(service.address) as memory:
        ann = memory.session(user_id="ann")
        ann.observe("My cup is red.")
        ann.write("city", "Bern")
        (fact,) = ann.facts("")
        assert (fact.value, fact.is_unnamed) == ("My cup is red.", True)
        assert [line.key for line in ann.list_keys()] == ["", "city"]
        with pytest.raises(incumbent.InvalidInput, match=r'facts\(""\) lists'):
            ann.current("")
        ann.write("", "My cup is blue.", supersedes=fact.id)
        assert [one.value for one in ann.list_facts(key="")] == ["My cup is blue."]
