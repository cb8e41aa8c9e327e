"""What was erased does not come back by a receipt, and a receipt shows no more than one may see."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent import Context, Memory, Session
from incumbent.context.receipt import Receipt
from incumbent.testing import SteppingClock
from tests.conftest import QUICK
from tests.service.running import Running, a_key, problem

pytestmark = pytest.mark.on_every_store

SECRET = "Blue Heron"
QUERY = f"Is {SECRET} the alias, and what is for lunch?"
ELSEWHERE = """
import sys, incumbent
with incumbent.open(sys.argv[1]) as memory:
    for fact_id in sys.argv[2:]:
        memory.forget(organization="acme", fact_id=fact_id)
"""


@pytest.fixture
def brisk() -> Iterator[Memory]:
    """A memory in this process alone, for what no store has a part in."""
    with incumbent.open(":memory:", clock=SteppingClock(), settings=QUICK) as memory:
        yield memory


def person(memory: Memory, name: str, **given: Any) -> Session:
    return memory.session(user_id=name, organization="acme", session_id=f"of {name}", **given)


def stored(memory: Memory) -> str:
    """Every receipt that is kept, as text."""
    with memory.store.read("acme") as reader:
        return "\n".join(receipt.body for receipt in reader.receipts(None, 99))


def shown(memory: Memory) -> tuple[str, Context]:
    """A context that has the secret in every place where one can be, and the fact's id."""
    alice = person(memory, "alice")
    fact_id = alice.write("alias", SECRET).fact_id
    alice.write("poster", f"see {SECRET}", depends_on=["alias"])
    alice.note("turn", f"they call her {SECRET}")
    alice.note("lunch", "soup at noon")
    memory.environment.provide("feed", lambda: {"seen": SECRET})
    context = alice.context(QUERY)
    assert context.text.count(SECRET) == 4
    return fact_id, context


class TestKeeping:
    """A receipt that is kept after something was erased."""

    @pytest.mark.parametrize("by", ["alice", None], ids=["herself", "operator"])
    def test_a_context_kept_after_an_erasure_brings_nothing_back(
        self, memory: Memory, by: str | None
    ) -> None:
        """Not the line of the fact, nor what quotes it: a note, a signal, the question."""
        fact_id, context = shown(memory)
        memory.forget(organization="acme", fact_id=fact_id, by=by)
        memory.record(context)
        assert SECRET not in stored(memory)
        again = memory.replay(context.receipt.id, organization="acme")
        assert SECRET not in again.text
        assert not again.intact
        assert "lunch: soup at noon" in again.text, "what is still on the desk was not erased"
        assert "User: alice" in again.text

    def test_keeping_the_same_context_again_brings_nothing_back(self, brisk: Memory) -> None:
        """A receipt is named by its content, and the one in the store is not written over."""
        fact_id, context = shown(brisk)
        brisk.record(context)
        brisk.forget(organization="acme", fact_id=fact_id)
        brisk.record(context)
        brisk.record(brisk.replay(context.receipt))
        assert SECRET not in stored(brisk)

    def test_an_erasure_by_another_process_is_noticed(self, tmp_path: Path) -> None:
        """Between the reading of a context and the keeping of its receipt, another process on the
        same file erased what it shows."""
        path = tmp_path / "agent.db"
        with incumbent.open(path, settings=QUICK) as memory:
            fact_id, context = shown(memory)
            subprocess.run([sys.executable, "-c", ELSEWHERE, str(path), fact_id], check=True)
            memory.record(context)
            assert SECRET not in stored(memory)
            assert context.receipt.id in stored(memory)

    def test_what_others_erase_leaves_a_receipt_whole(self, memory: Memory) -> None:
        """Only what is one's own, or the organization's, makes one's words suspect."""
        bob = person(memory, "bob")
        phone = bob.write("phone", "555-0100").fact_id
        _, context = shown(memory)
        memory.forget(organization="acme", fact_id=phone, by="bob")
        memory.forget(organization="acme", user_id="bob", by="bob")
        memory.forget(organization="acme", subject="nobody", by="bob")
        memory.record(context)
        again = memory.replay(context.receipt.id, organization="acme")
        assert again.intact
        assert again.text == context.text
        assert again.query == QUERY

    def test_what_was_the_organizations_makes_everybodys_words_suspect(self, brisk: Memory) -> None:
        """Anybody may have quoted it, and nobody can tell any more."""
        ceo = person(brisk, "ceo", authority="policy")
        code = ceo.write("gate", "swordfish 77", memory_type="organizational")
        context = person(brisk, "alice").context("Is it still swordfish 77?")
        brisk.forget(organization="acme", fact_id=code.fact_id)
        brisk.record(context)
        assert "swordfish" not in stored(brisk)

    @pytest.mark.parametrize("owning", [True, False], ids=["with facts", "without"])
    def test_somebody_who_was_forgotten_has_no_receipt_kept(
        self, memory: Memory, owning: bool
    ) -> None:
        """As if it had been kept before, and had gone with the rest of theirs."""
        alice, bob = person(memory, "alice", user_name="Alice Adams"), person(memory, "bob")
        bob.write("door", "green")
        if owning:
            alice.write("door", "blue")
        alice.note("turn", "hello")
        hers, his = alice.context("which door?"), bob.context("which door?")
        memory.forget(organization="acme", user_id="alice")
        memory.record(hers)
        memory.record(his)
        assert "Adams" not in stored(memory)
        assert alice.receipts() == []
        assert memory.replay(his.receipt.id, organization="acme").intact
        alice.write("door", "red")
        memory.record(alice.context("which door?"))
        assert len(alice.receipts()) == 1, "who comes back is not forgotten for ever"


class TestShowing:
    """A receipt is shown only to who may see every fact whose text is in it."""

    def recalculated(self, memory: Memory) -> Context:
        """A context with a line that quotes what a base has become, for which it takes a right."""
        able = person(memory, "bob", authority="manager", permissions=["payroll"])
        able.write("rate", "10")
        able.write("total", "100", depends_on=["rate"])
        able.write("rate", "CANARY 12", requires=["payroll"])
        context = able.context("What is the total?", budget=4000, record=True)
        (line,) = [line for line in context.lines if line.text.startswith("- total")]
        assert "CANARY" in line.text
        return context

    def reduce(self, memory: Memory, receipt: Receipt, label: str, *, old: bool = False) -> None:
        """Keep only the line that quotes; in the form of before, where it did not say what."""
        with memory.store.write("acme") as transaction:
            found = transaction.receipt(receipt.id)
            assert found is not None
            body = json.loads(found.body)
            body["lines"] = [line for line in body["lines"] if label in (line[1] or "")]
            assert len(body["lines"]) == 1
            if old:
                body["format"] = 1
                body["lines"] = [line[:4] for line in body["lines"]]
            transaction.put_receipt(found._replace(body=json.dumps(body)))

    @pytest.mark.parametrize("old", [False, True], ids=["now", "as it was kept once"])
    def test_a_receipt_is_hidden_by_every_fact_that_a_line_quotes(
        self, brisk: Memory, old: bool
    ) -> None:
        """Not only by the fact that the line is about: in Python, and over the service."""
        receipt = self.recalculated(brisk).receipt
        self.reduce(brisk, receipt, "- total", old=old)
        plain = person(brisk, "bob", authority="manager")
        assert plain.current("total") == "100"
        assert plain.receipts() == []
        assert len(person(brisk, "bob", permissions=["payroll"]).receipts()) == 1
        bob = {"session": {"user_id": "bob"}}
        asked: dict[str, dict[str, Any]] = {
            "receipt": {"receipt_id": receipt.id},
            "replay": {"receipt": receipt.id},
            "compare": {"earlier": receipt.id, "later": receipt.id},
        }
        with Running(brisk, credentials=True) as service:
            key, able = a_key(brisk), a_key(brisk, permissions=["payroll"])
            for name, given in asked.items():
                problem(service.post(name, {**bob, **given}, key=key), 404)
                assert service.post(name, {**bob, **given}, key=able).status_code == 200
            assert service.post("receipts", bob, key=key).json() == []

    def test_a_note_is_hidden_by_what_it_states(self, brisk: Memory) -> None:
        """What somebody noted of a fact with a right that they show no more."""
        able = person(brisk, "bob", permissions=["payroll"])
        salary = able.write("salary", "90k", requires=["payroll"])
        for states in ([], [salary]):
            able.note("mine", "the big nine", states=states)
            receipt = able.context(f"What now? {len(states)}", record=True).receipt
            self.reduce(brisk, receipt, "- mine")
        (seen,) = person(brisk, "bob").receipts()
        assert seen.query == "What now? 0"

    def test_erasing_what_a_line_quotes_takes_the_line(self, brisk: Memory) -> None:
        """By its id, in whosever receipt and though the fact of the line stays."""
        context = self.recalculated(brisk)
        bob = person(brisk, "bob", permissions=["payroll"])
        now = next(fact.id for fact in bob.facts("rate"))
        brisk.forget(organization="acme", fact_id=now)
        assert "CANARY" not in stored(brisk)
        assert "CANARY" not in brisk.replay(context.receipt).text, "nor from one in hand"

    def test_receipts_of_both_formats_are_read(self, brisk: Memory) -> None:
        """One that quotes nothing besides its facts reads as it always did."""
        plain = person(brisk, "alice").context("?").receipt
        quoting = self.recalculated(brisk).receipt
        assert (plain.format, quoting.format) == (1, 2)
        for receipt in (plain, quoting):
            assert Receipt.from_record(json.loads(json.dumps(receipt.record()))) == receipt
        with pytest.raises(incumbent.InvalidInput, match="format 3"):
            Receipt.from_record({**plain.record(), "format": 3})


@pytest.mark.on_every_store
@pytest.mark.parametrize("requires", ["declared", "written"])
def test_the_desk_shows_the_same_person_no_words_beyond_their_permissions(
    memory: incumbent.Memory, requires: str
) -> None:
    """Neither in the working set, nor in a context, nor as a turn; what else was said stays."""
    who = {"user_id": "ann", "organization": "acme", "session_id": "s"}
    full = memory.session(**who, permissions=["hr"])
    if requires == "declared":
        memory.declare("salary", requires=["hr"])
        full.observe("My salary is 5000 EUR.")
    else:
        made = full.write("salary", "5000 EUR", requires=["hr"])
        full.note("plan", "Tell them about the 5000 EUR.", states=[made])
    full.observe("My locker is 4711.")
    assert any("5000" in str(item.value) for item in full.working_set())
    less = memory.session(**who)
    assert [str(item.value) for item in less.working_set()] == ["My locker is 4711."]
    assert "4711" in less.context("What is my salary, and where is my locker?").text
    shown = [less.context("What is my salary?").text, str(less.list_turns()), str(less.facts())]
    assert not any("5000" in text for text in shown)
