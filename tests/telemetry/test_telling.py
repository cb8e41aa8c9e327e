"""What a memory tells of its calls, its verdicts and its troubles, and what that changes: nothing.

On every store, with a telemetry that keeps what it is told.
"""

from __future__ import annotations

import inspect
import logging
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

import incumbent
from incumbent.model.errors import StoreConflict
from incumbent.stores.port import Store
from incumbent.telemetry import Telemetry, Together
from tests.conftest import QUICK, OpenMemory
from tests.llm.scripted import Scripted
from tests.patience import PATIENCE
from tests.telemetry.witness import Broken, Witness

UNTOLD = {
    incumbent.Memory: {"now", "session"},
    incumbent.Session: {"hypothetical", "draft", "as_of", "rehearsal"},
}
"""What only makes a value and touches no store."""


@pytest.fixture
def witness() -> Witness:
    return Witness()


@pytest.fixture
def memory(open_memory: OpenMemory, witness: Witness) -> incumbent.Memory:
    return open_memory(settings=replace(QUICK, telemetry=witness))


@pytest.fixture
def alice(memory: incumbent.Memory) -> incumbent.Session:
    return memory.session(user_id="alice", authority="manager", organization="acme")


def test_a_call_is_told_with_its_caller_and_how_long_it_took(
    alice: incumbent.Session, witness: Witness
) -> None:
    """Who called what, in which organization, and a time that is none of the clock's."""
    alice.write("city", "Bern")
    call, seconds, error = witness.named("ended")[0]
    assert (call.operation, call.organization, call.user_id) == ("write", "acme", "alice")
    assert call.session_id == alice.session_id
    assert seconds > 0
    assert error is None


@pytest.mark.parametrize(
    "kind", [incumbent.Memory, incumbent.Session], ids=lambda kind: kind.__name__
)
def test_every_public_method_is_told(kind: type) -> None:
    """A method that is added is told of without a line of its own."""
    public = {
        name: member
        for name, member in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }
    told = {name for name, member in public.items() if member.__code__.co_name == "telling"}
    assert told == public.keys() - UNTOLD[kind]


def test_an_error_is_told_and_raised(alice: incumbent.Session, witness: Witness) -> None:
    """The class of an error is the result of the call, and whoever called gets it all the same."""
    with pytest.raises(incumbent.UnknownFact):
        alice.retract("nothing")
    with pytest.raises(incumbent.InvalidInput):
        alice.context("Where?", profile="reckless")
    assert witness.ended_calls == [("retract", "UnknownFact"), ("context", "InvalidInput")]
    assert witness.named("composed") == []


def test_the_organization_of_a_memorys_call_is_among_its_arguments(
    memory: incumbent.Memory, alice: incumbent.Session, witness: Witness
) -> None:
    """By name or by position, it is told which organization a call was about."""
    alice.write("city", "Bern")
    memory.usage("acme")
    memory.forget(organization="acme", user_id="alice")
    told = {call.operation: call.organization for call, _, _ in witness.named("ended")}
    assert told == {"write": "acme", "usage": "acme", "forget": "acme"}


def log_of(memory: incumbent.Memory, organization: str) -> Counter[tuple[str, str, str]]:
    with memory.store.read(organization) as reader:
        return Counter((v.action, v.rule, v.outcome) for v in reader.log(0, 1000))


def test_every_verdict_of_the_log_is_told_once(
    memory: incumbent.Memory, alice: incumbent.Session, witness: Witness
) -> None:
    """Whatever brings a verdict about, the verdicts told are those of the log, in its order."""
    alice.write("city", "Bern")
    moved = alice.write("city", "Basel")
    alice.undo(moved)
    alice.write_many([{"key": "a", "value": 1}, {"key": "b", "value": 2, "depends_on": ["a"]}])
    alice.write("a", 3)
    alice.resolve(alice.reviews()[0].fact.id, still_right=True)
    alice.observe("My phone number is 555-0100.")
    alice.observe("Please forget my phone number.")
    draft = alice.draft()
    draft.write("city", "Chur")
    draft.commit()
    alice.retract("b")
    memory.forget(organization="acme", subject=None, fact_id=alice.history("city")[0].id)
    told = [verdict for (verdicts,) in witness.named("decided") for verdict in verdicts]
    assert Counter((v.action, v.rule, v.outcome) for v in told) == log_of(memory, "acme")
    assert [verdict.seq for verdict in told] == list(range(1, len(told) + 1))
    assert {v.action for v in told} >= {"assert", "undo", "forget", "retract", "acknowledge"}


def test_what_was_rolled_back_is_not_told(alice: incumbent.Session, witness: Witness) -> None:
    """A verdict that was taken back with its transaction never was one."""
    with pytest.raises(incumbent.InvalidInput):
        alice.write_many(
            [{"key": "a", "value": 1}, {"key": "b", "value": 2, "supersedes": "missing"}]
        )
    assert witness.named("decided") == []
    assert witness.ended_calls == [("write_many", "UnknownTarget")]


def test_an_import_tells_no_verdicts(open_memory: OpenMemory, witness: Witness) -> None:
    """Decisions that were made elsewhere are not counted a second time."""
    with incumbent.open(":memory:", settings=QUICK) as elsewhere:
        elsewhere.session(user_id="ben", organization="acme").write("city", "Bern")
        records = list(elsewhere.export("acme"))
    memory = open_memory(settings=replace(QUICK, telemetry=witness))
    memory.import_(records)
    assert witness.ended_calls == [("import", "ok")]
    assert witness.named("decided") == []


def test_a_context_is_told_before_its_call_ends(alice: incumbent.Session, witness: Witness) -> None:
    """A context is told whole, so that a span can say what it holds."""
    alice.write("city", "Bern")
    context = alice.context("Where?", budget=300)
    kinds = [event[0] for event in witness.events]
    assert kinds[-2:] == ["composed", "ended"]
    assert witness.named("composed") == [(context,)]


def test_a_stream_lasts_as_long_as_it_is_read(
    memory: incumbent.Memory, alice: incumbent.Session, witness: Witness
) -> None:
    """An export is one call, which ends with its last row, or when nobody wants more."""
    alice.write("city", "Bern")
    witness.events.clear()
    rows = iter(memory.export("acme"))
    next(rows)
    assert witness.named("ended") == []
    list(rows)
    assert witness.ended_calls == [("export", "ok")]
    entries = memory.audit("acme")
    next(entries)
    entries.close()  # type: ignore[attr-defined]
    with pytest.raises(incumbent.InvalidInput):
        memory.audit("acme", after=99)
    assert witness.ended_calls[1:] == [("audit", "ok"), ("audit", "InvalidInput")]


class Conflicts:
    """A store whose first transactions are rolled back for the sake of others."""

    def __init__(self, store: Any, times: int) -> None:
        self._store = store
        self._left = times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def write(self, organization: str) -> Any:
        if self._left:
            self._left -= 1
            raise StoreConflict("another transaction got in the way")
        return self._store.write(organization)


def test_repetitions_are_told_by_operation(
    memory: incumbent.Memory, alice: incumbent.Session, witness: Witness
) -> None:
    """Each time a transaction is tried again, under the name of the call that it is part of."""
    store = memory.store
    for times, work in (
        (2, lambda: alice.write("city", "Bern")),
        (1, lambda: alice.observe("I live in Bern.")),
        (1, lambda: alice.write_many([{"key": "a", "value": 1}])),
    ):
        memory.resources.store = cast(Store, Conflicts(store, times))
        work()
    memory.resources.store = store
    told = [operation for (operation,) in witness.named("repeated")]
    assert told == ["write", "write", "observe", "write_many"]
    assert witness.ended_calls == [("write", "ok"), ("observe", "ok"), ("write_many", "ok")]


@pytest.mark.parametrize("mode", ["inline", "background"])
def test_second_opinions_are_told(open_memory: OpenMemory, witness: Witness, mode: Any) -> None:
    """What a model was asked, what that took, and how the opinions ended, given or not."""
    model = Scripted(tokens=(120, 7))
    llm = incumbent.LLM(model, mode=mode, retries=0)
    memory = open_memory(settings=replace(QUICK, telemetry=witness, llm=llm))
    alice = memory.session(user_id="alice", organization="acme")
    alice.observe("My address is 123 Main St.")
    assert memory.flush(timeout=PATIENCE)
    model.then(RuntimeError("no"))
    alice.observe("My phone number is 555-0100.")
    assert memory.flush(timeout=PATIENCE)
    assert witness.named("asked")[0] == ("scripted:model", "acme", (120, 7), False)
    assert witness.named("asked")[1][3] is True
    told = [event[:3] for event in witness.named("opined")]
    assert told == [("scripted:model", "acme", "given"), ("scripted:model", "acme", "error")]
    assert all(event[3] > 0 for event in witness.named("opined"))


def _standing() -> datetime:
    return datetime(2026, 1, 5, 9, tzinfo=UTC)


def state_of(memory: incumbent.Memory) -> tuple[Any, ...]:
    session = memory.session(user_id="alice", organization="acme", session_id="s")
    session.write("city", "Bern")
    session.observe("My phone number is 555-0100.")
    text = session.context("Which city?", budget=500).text
    return text, session.current("city"), log_of(memory, "acme")


def test_telemetry_that_fails_changes_nothing(
    open_memory: OpenMemory, caplog: pytest.LogCaptureFixture
) -> None:
    """A broken telemetry is complained of once for each event, and the work goes on."""
    with incumbent.open(":memory:", clock=_standing, settings=QUICK) as plain:
        expected = state_of(plain)
    with caplog.at_level(logging.WARNING, "incumbent.telemetry"):
        memory = open_memory(clock=_standing, settings=replace(QUICK, telemetry=Broken()))
        assert state_of(memory) == expected
    told = [record.getMessage() for record in caplog.records]
    assert sorted(told) == [
        f"telemetry fails: RuntimeError in Broken.{name}"
        for name in ("began", "composed", "decided", "ended")
    ]


def test_several_are_told_though_one_of_them_fails(open_memory: OpenMemory) -> None:
    """Whoever is told together with a broken one hears everything."""
    one, other = Witness(), Witness()
    memory = open_memory(settings=replace(QUICK, telemetry=Together(one, Broken(), other)))
    memory.session(user_id="alice", organization="acme").write("city", "Bern")
    assert one.ended_calls == other.ended_calls == [("write", "ok")]
    assert len(one.named("decided")) == len(other.named("decided")) == 1


def test_without_telemetry_nothing_is_in_between(open_memory: OpenMemory) -> None:
    """Off means off: a memory has its own store, and sessions know of nobody to tell."""
    memory = open_memory()
    assert type(memory.store).__module__.startswith("incumbent.stores.")
    assert memory.session(user_id="alice")._telemetry is None


def test_what_is_no_telemetry_is_refused() -> None:
    """A setting that could not be told anything is refused at once, with what to give."""
    with pytest.raises(
        incumbent.InvalidInput, match=r"derived from incumbent\.telemetry\.Telemetry"
    ):
        incumbent.Settings(telemetry=print)  # type: ignore[arg-type]
    assert incumbent.Settings(telemetry=Telemetry()).telemetry is not None


@pytest.mark.parametrize(
    ("module", "package"), [("otel", "opentelemetry"), ("prometheus", "prometheus_client")]
)
def test_without_the_extra_all_else_works(module: str, package: str) -> None:
    """Where the packages are missing, asking for them says what to install, and nothing else."""
    program = (
        f"import sys; sys.modules[{package!r}] = None; import incumbent, incumbent.telemetry\n"
        f"settings = incumbent.Settings(telemetry=incumbent.telemetry.Telemetry(), embedder=None)\n"
        f"incumbent.open(':memory:', settings=settings).session(user_id='a').write('city', "
        f"'Bern')\n"
        f"import incumbent.telemetry.{module}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError")
    assert last.endswith("pip install 'incumbent[telemetry]'")
