"""The same API three times: in this process, through the client, and awaited."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import incumbent
import incumbent.aio
from incumbent.client.remote import RemoteMemory, RemoteSession
from incumbent.http.admission import SessionForm
from incumbent.testing import SteppingClock
from tests.conftest import QUICK
from tests.service.conftest import Start

MOMENT = timedelta(milliseconds=1)
NOT_PUBLIC = {
    # of a memory in this process: its store, its index, its models, and who is told of progress
    *("resources", "index", "reader", "store", "progress"),
}
KINDS = [
    (incumbent.Session, RemoteSession),
    (incumbent.Memory, RemoteMemory),
    (incumbent.Session, incumbent.aio.AsyncSession),
    (incumbent.Memory, incumbent.aio.AsyncMemory),
]


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")} - NOT_PUBLIC


@pytest.mark.parametrize(("plain", "other"), KINDS, ids=lambda kind: kind.__name__)
def test_every_public_name_is_there(plain: type, other: type) -> None:
    """Nothing of a session or a memory is missing elsewhere, and nothing is there that is not."""
    extra = {"identity", "session_id", "task_id", "environment", "settings", "may_erase"}
    extra |= {"ask_before_keeping"}  # which a session has as it has may_erase
    extra |= {"plain"}  # of a memory whose calls are awaited: the memory itself
    assert public(plain) <= public(other)
    assert public(other) - extra <= public(plain)


ALIKE = {
    # what only makes a session, by a way of its own underneath
    RemoteSession: {"hypothetical", "draft", "as_of", "rehearsal", "changes", "mode"},
    RemoteMemory: {"session"},
}


@pytest.mark.parametrize(("plain", "other"), KINDS[:2], ids=lambda kind: kind.__name__)
def test_the_client_does_nothing_in_this_process(plain: type, other: type) -> None:
    """Every public member of a session or a memory is its own in the client, but for what makes
    sessions: one that was forgotten would look for a store here."""
    forgotten = {name for name in public(plain) if name not in vars(other)}
    assert forgotten == ALIKE[other]


def test_what_belongs_to_the_process_of_a_memory_is_refused_elsewhere() -> None:
    """The store and what is made from it are where the service is; that is said, and `hasattr`
    finds none of them."""
    with incumbent.open("http://127.0.0.1:9") as memory:
        assert isinstance(memory, incumbent.Memory)
        assert isinstance(memory.session(user_id="ana").draft(), incumbent.Session)
        for name in ("resources", "store", "index", "reader"):
            assert not hasattr(memory, name)
            with pytest.raises(incumbent.InvalidInput, match="where the memory is"):
                getattr(memory, name)


def test_the_parameters_of_a_session_are_the_same_in_every_request() -> None:
    """The form of a request says of a session what `memory.session` takes, by the same names."""
    taken = inspect.signature(incumbent.Memory.session).parameters.keys() - {"self"}
    also = {"branches", "as_of", "known_at", "may_erase", "ask_before_keeping"}
    assert SessionForm.model_fields.keys() - also == taken


def shape(method: Any) -> list[tuple[str, Any, Any]]:
    """The parameters of a method: names, kinds and defaults."""
    parameters = inspect.signature(method).parameters.values()
    return [(one.name, one.kind, one.default) for one in parameters]


@pytest.mark.parametrize(("plain", "other"), KINDS, ids=lambda kind: kind.__name__)
def test_signatures_are_the_same(plain: type, other: type) -> None:
    """Every method takes the same parameters, in the same order, with the same defaults."""
    for name in sorted(public(plain) & public(other)):
        one, two = inspect.getattr_static(plain, name), inspect.getattr_static(other, name)
        if isinstance(one, property) or isinstance(two, property):
            continue
        assert shape(one) == shape(two), name


@pytest.mark.parametrize(("plain", "other"), KINDS[:2], ids=lambda kind: kind.__name__)
def test_what_is_told_of_a_method_is_told_of_its_twin(plain: type, other: type) -> None:
    """Every method of the client says what it does."""
    for name in public(plain) & public(other):
        assert inspect.getdoc(getattr(other, name)), name


class Told:
    """Writes down what a script saw, with ids and moments of the run replaced."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._known: dict[str, str] = {}

    def __call__(self, name: str, value: Any) -> Any:
        text = re.sub(
            r"[0-9a-f]{8}-[0-9a-f-]{27}(-\d+)?|rc-[0-9a-f]{32}",
            lambda found: self._known.setdefault(found[0], f"#{len(self._known)}"),
            repr(value),
        )
        text = re.sub(r"datetime\.datetime\((?:[^()]|\([^()]*\))*\)", "WHEN", text)
        self.lines.append(f"{name}: {text}")
        return value


def script(memory: Any, call: Callable[..., Any]) -> list[str]:
    """A day with every call of the surface; `call` makes one, and waits for it if need be."""
    told = Told()

    def do(name: str, made: Any) -> Any:
        return told(name, call(made))

    def fails(name: str, make: Callable[[], Any]) -> None:
        try:
            call(make())
        except incumbent.IncumbentError as error:
            told(name, (type(error).__name__, re.sub(r"/\w+(/\w+)*: ", "", str(error))))
        else:
            raise AssertionError(f"{name} did not fail")

    who = {"organization": "acme", "authority": "manager"}
    ana = memory.session(user_id="ana", user_name="Ana", session_id="s1", task_id="t", **who)
    later = datetime(2030, 1, 1, tzinfo=UTC)
    do("declare", memory.declare("reading.*", time_sensitive=True))
    do("observe", ana.observe("We need 40 desks by Friday.", ref="r1"))
    do("observe again", ana.observe("We need 40 desks by Friday.", ref="r1"))
    do("assistant", ana.observe("40 desks?", speaker="assistant", ref="r2"))
    turns = [{"role": "user", "content": "No, 45 desks.", "id": "r3"}]
    do("observe_many", ana.observe_many(turns))
    first = do("write", ana.write("unit_price", 12, id="p1"))
    do("derived", ana.write("total", 1200, depends_on=["unit_price"], id="p2"))
    raised = do("raise", ana.write("unit_price", 15.5, id="p3"))
    many = [
        {"key": "colour", "value": ["red", {"a": None}], "id": "p4"},
        {"key": "b", "value": True},
    ]
    do("write_many", ana.write_many(many))
    do("note", ana.note("last", "call 555", timedelta(hours=1), states=[first]))
    do("working_set", ana.working_set())
    review = do("reviews", ana.reviews())[0]
    do("resolve", ana.resolve(review.fact.id, 1550))
    do("undo", ana.undo(raised, reason="slip"))
    do("raise again", ana.write("unit_price", 20, id="p9"))
    do("revert", ana.revert("unit_price"))
    do("current", ana.current("unit_price"))
    do("is_current", ana.is_current("p1"))
    do("get", ana.get("p1"))
    do("get none", ana.get("nothing"))
    do("facts", ana.facts())
    do("facts of a key", ana.facts("colour"))
    do("history", ana.history("unit_price"))
    do("explain", ana.explain("unit_price"))
    do("task", ana.write("format", "csv", scope="task", id="p5"))
    do("promote", ana.promote("format"))
    do("retract", ana.retract("format", reason="no longer"))
    draft = ana.draft("d")
    do("draft", draft.write("colour", "blue", id="p6"))
    do("commit", draft.commit())
    fails("after commit", lambda: draft.current("colour"))
    what_if = ana.hypothetical("w")
    do("what if", what_if.write("colour", "green", id="p7"))
    do("discard", what_if.discard())
    earlier = do("context", ana.context("What is the total?", record=True))
    do("write more", ana.write("total", 99, id="p8"))
    now = do("context now", ana.context("What is the total?", record=True, history=True))
    do("receipts", ana.receipts(limit=5))
    for name in ("sessions", "receipts"):
        do(f"list {name}", getattr(ana, f"list_{name}")(since=None, until=later))
        do(f"list all {name}", getattr(memory, f"list_{name}")("acme", user_id="ana"))
    for name in ("subjects", "keys"):
        page = do(f"list {name}", getattr(ana, f"list_{name}")(limit=1))
        do(f"list more {name}", getattr(ana, f"list_{name}")(cursor=page.next, prefix=""))
        do(f"list all {name}", getattr(memory, f"list_{name}")("acme", owner="ana", limit=2))
    page = call(ana.list_facts(limit=2, states=(), until=later))  # its cursor is of this run
    told("list facts", list(page))
    do("list more facts", ana.list_facts(states=(), cursor=page.next))
    do("list some facts", ana.list_facts(text="TOTAL", states=("office", "superseded")))
    do("list narrow facts", ana.list_facts(scope="task", memory_type="user", needs_review=False))
    do("list branches", ana.list_branches())
    do("list turns", ana.list_turns(limit=1))
    do("list turns of a session", ana.list_turns("s1"))
    do("activity", memory.activity("acme", until=later))
    do("list users", memory.list_users("acme", prefix="a"))
    do("list audit", memory.list_audit("acme", values=True, limit=3))
    told("messages", now.messages("anthropic"))
    do("receipt", memory.receipt(earlier.receipt.id, organization="acme"))
    do("replay", memory.replay(earlier.receipt, organization="acme"))
    do("compare", memory.compare(earlier.receipt, now.receipt.id, organization="acme"))
    do("as_of", ana.as_of(later).current("total"))
    do("usage", memory.usage("acme", since=later.date()))
    do("reindex", memory.reindex("acme"))
    rehearse(do, fails, ana)
    do("rehearse forget", memory.forget(organization="acme", fact_id="p8", rehearse=True))
    do("forget", memory.forget(organization="acme", fact_id="p8"))
    fails("unknown", lambda: ana.explain("never said"))
    fails("no key", lambda: ana.write("", 1))
    fails("tuple", lambda: ana.write("a", (1, 2)))
    fails("moment", lambda: ana.write("a", later))
    fails("not a number", lambda: ana.write("a", float("nan")))
    fails("duplicate", lambda: ana.write("a", 1, id="p1"))
    fails(
        "bad item", lambda: ana.write_many([{"key": "a", "value": 1}, {"key": "a", "value": {1}}])
    )
    fails("nothing to undo", lambda: ana.undo(raised))
    fails("higher", lambda: ana.write("a", 1, authority="policy"))
    fails("past", lambda: ana.as_of(later).write("a", 1))
    fails("budget", lambda: ana.context("?", budget=-1))
    fails("ttl", lambda: ana.note("a", 1, -5.0))
    fails("limit", lambda: ana.list_keys(limit=0))
    fails("state", lambda: ana.list_facts(states=["gone"]))
    fails("text", lambda: ana.list_facts(text="x" * 2000))
    fails("cursor", lambda: memory.list_users("acme", cursor="x"))
    fails("no condition", lambda: memory.forget(organization="acme"))
    fails("no receipt", lambda: memory.receipt("rc-0", organization="acme"))
    do("close", ana.close())
    fails("closed", lambda: ana.current("a"))
    return told.lines


def rehearse(do: Callable[..., Any], fails: Callable[..., Any], ana: Any) -> None:
    """Every call that can be rehearsed, in a place where each of them has something to do."""
    do("to promote", ana.write("pages", 3, scope="task", id="q1"))
    do("to resolve", ana.write("half", 10, depends_on=["total"], id="q2"))
    do("base", ana.write("total", 21, id="q3"))
    trial = ana.rehearsal()
    calls: dict[str, Callable[[], Any]] = {
        "observe": lambda: trial.observe("No, 50 desks.", ref="r9"),
        "write": lambda: trial.write("total", 22, id="q4"),
        "write_many": lambda: trial.write_many([{"key": "total", "value": 23, "id": "q4"}]),
        "note": lambda: trial.note("last", "call 556"),
        "retract": lambda: trial.retract("total"),
        "revert": lambda: trial.revert("total"),
        "promote": lambda: trial.promote("pages"),
        "resolve": lambda: trial.resolve("q2", 11),
    }
    for name, call in calls.items():
        do(f"rehearse {name}", call())
        do("changes", trial.changes)
    fails("refused", lambda: trial.retract("never said"))
    do("no changes", trial.changes)
    fails("refused earlier", lambda: trial.write("", 1))
    fails("transcript", lambda: trial.observe_many([{"text": "No, 50 desks."}]))
    do("nothing came of it", ana.facts())
    do("its context", trial.context("What is the total?", record=True))
    do("receipts as before", ana.receipts(limit=5))
    draft = ana.draft("e")
    do("in a draft", draft.write("colour", "pink", id="q5"))
    for name in ("commit", "discard"):
        tried = draft.rehearsal()
        do(f"rehearse {name}", getattr(tried, name)())
        do("changes", tried.changes)
    do("still open", draft.current("colour"))
    do("a draft of a rehearsal", trial.draft("f").write("colour", "grey"))
    do("not there", ana.draft("f").current("colour"))
    undone = do("write", ana.write("total", 24, id="q6"))
    do("rehearse undo", trial.undo(undone))
    do("changes", trial.changes)
    do("plain", ana.changes)
    do("closed", trial.close())
    fails("closed", lambda: trial.undo(undone))
    fails("past", lambda: ana.as_of(datetime(2030, 1, 1, tzinfo=UTC)).rehearsal())
    do("the desk", ana.working_set())
    do("observed for good", ana.observe("No, 50 desks.", ref="r9"))


def embedded(path: Path) -> list[str]:
    with incumbent.open(path, clock=SteppingClock(step=MOMENT), settings=QUICK) as memory:
        return script(memory, lambda made: made)


def test_a_script_sees_the_same_through_the_client(start: Start, tmp_path: Path) -> None:
    """Every call of the surface gives the same values and the same errors, with the same words."""
    behind = incumbent.open(
        tmp_path / "behind.db", clock=SteppingClock(step=MOMENT), settings=QUICK
    )
    service = start(behind)
    with incumbent.open(service.address, clock=SteppingClock(step=MOMENT)) as memory:
        seen = script(memory, lambda made: made)
    plain = embedded(tmp_path / "plain.db")
    for one, two in zip(plain, seen, strict=True):
        assert one == two
    behind.close()


def test_a_script_sees_the_same_awaited(tmp_path: Path) -> None:
    """The same for the awaited API."""
    plain = embedded(tmp_path / "plain.db")
    with asyncio.Runner() as runner:

        async def wait(made: Any) -> Any:
            return await made

        def call(made: Any) -> Any:
            return runner.run(wait(made)) if inspect.isawaitable(made) else made

        async def opened() -> incumbent.aio.AsyncMemory:
            return await incumbent.aio.open(
                tmp_path / "awaited.db", clock=SteppingClock(step=MOMENT), settings=QUICK
            )

        memory = runner.run(opened())
        seen = script(memory, call)
        runner.run(memory.close())
    for one, two in zip(plain, seen, strict=True):
        assert one == two


def test_what_cannot_be_had_from_elsewhere_says_where_it_can(start: Start) -> None:
    """A provider, a receipt of one's own making, and waiting for opinions are refused with the way
    to have them."""
    service = start()
    with incumbent.open(service.address) as memory:
        context = memory.session(user_id="ana").context("?")
        for call, hint in (
            (lambda: memory.environment.provide("x", lambda: 1), "service"),
            (lambda: memory.record(context), "record=True"),
            (lambda: memory.flush(), "service"),
        ):
            with pytest.raises(incumbent.InvalidInput, match=hint):
                call()


def test_a_service_that_is_not_there_is_told(tmp_path: Path) -> None:
    """The address is named, and the command that would help."""
    with (
        incumbent.open("http://127.0.0.1:9") as memory,
        pytest.raises(incumbent.StoreUnavailable, match=r"127\.0\.0\.1:9.*incumbent serve"),
    ):
        memory.session(user_id="ana").current("a")
