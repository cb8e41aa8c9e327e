"""One erases what one owns: what is another's is neither destroyed nor told of by erasing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import incumbent
from incumbent import Erasure, Memory, Session
from incumbent.engine.erasure_reach import said_by
from incumbent.model.quotation import Quotations
from incumbent.testing import SteppingClock
from tests.conftest import QUICK
from tests.service.running import Running, a_key, problem

pytestmark = pytest.mark.on_every_store

NUMBER = "0170 5550199"


@pytest.fixture
def brisk() -> Iterator[Memory]:
    """A memory in this process alone, for what no store has a part in."""
    with incumbent.open(":memory:", clock=SteppingClock(), settings=QUICK) as memory:
        yield memory


def person(memory: Memory, name: str, **given: Any) -> Session:
    return memory.session(user_id=name, organization="acme", session_id=f"of {name}", **given)


def kept_of(memory: Memory, *users: str) -> list[Any]:
    """All that is kept of what these people said besides facts: desks, receipts, reasons."""
    with memory.store.read("acme") as reader:
        desks = [desk for user in users for desk in reader.desks(user)]
        receipts = [kept for user in users for kept in reader.receipts(user, 99)]
        reasons = [(one.by, one.reason) for one in reader.log(0, 999) if one.by in users]
    return [desks, receipts, reasons]


def staffed(memory: Memory) -> dict[str, str]:
    """An organization in which three people and its own records speak of mallory."""
    hr = person(memory, "hr", authority="policy", permissions=["hr"])
    carla, mallory = person(memory, "carla"), person(memory, "mallory")
    facts = {
        "hr": hr.write(
            "warning", "late", subject="mallory", memory_type="organizational", requires=["hr"]
        ),
        "carla": carla.write("opinion", "charming", subject="mallory"),
        "own": mallory.write("nickname", "Mal", subject="mallory"),
        "mallory": mallory.write("lunch", "soup"),
    }
    return {name: verdict.fact_id for name, verdict in facts.items()}


def left(memory: Memory, facts: dict[str, str]) -> set[str]:
    with memory.store.read("acme") as reader:
        found = {fact.id for fact in reader.facts(facts.values()) if fact.key}
    return {name for name, fact_id in facts.items() if fact_id in found}


class TestWhoseIsWhat:
    """What an erasure takes, by who asks for it."""

    def test_a_person_erases_what_they_own_and_nothing_that_is_about_them(
        self, memory: Memory
    ) -> None:
        """The record of a department and another's private view stay, whatever is named."""
        facts = staffed(memory)
        asked = memory.forget(organization="acme", subject="mallory", by="mallory")
        assert asked.fact_ids == (facts["own"],)
        assert left(memory, facts) == {"hr", "carla", "mallory"}
        memory.forget(organization="acme", user_id="mallory", by="mallory")
        assert left(memory, facts) == {"hr", "carla"}

    @pytest.mark.parametrize(
        ("given", "stays"),
        [
            ({"subject": "mallory"}, {"hr", "carla", "mallory"}),
            ({"user_id": "mallory", "subject": "mallory"}, {"hr", "carla", "mallory"}),
            ({"subject": "user"}, {"hr", "carla", "own", "mallory"}),
            ({}, {"hr", "carla"}),
        ],
        ids=["subject", "both", "a word", "everything"],
    )
    def test_the_key_of_a_person_reaches_nothing_of_others(
        self, brisk: Memory, given: dict[str, Any], stays: set[str]
    ) -> None:
        """The same over the service, for a key with the scope to erase."""
        facts = staffed(brisk)
        carla = person(brisk, "carla")
        carla.note("who", "the user mallory is charming")
        carla.context("Which user is mallory?", record=True)
        before = kept_of(brisk, "hr", "carla")
        with Running(brisk, credentials=True) as service:
            key = a_key(brisk, "erase", user_id="mallory")
            problem(service.post("forget", {"user_id": "carla"}, key=key), 403)
            problem(service.post("forget", {**given, "by": "carla"}, key=key), 403)
            answer = service.post("forget", given, key=key)
        assert answer.status_code == 200
        assert left(brisk, facts) == stays
        assert kept_of(brisk, "hr", "carla") == before

    def test_a_key_that_asks_for_a_person_erases_as_that_person(self, brisk: Memory) -> None:
        """A key of nobody in particular that names somebody in its session has no more."""
        facts = staffed(brisk)
        with Running(brisk, credentials=True) as service:
            key = a_key(brisk, "erase")
            given = {"session": {"user_id": "mallory"}, "subject": "mallory"}
            assert service.post("forget", given, key=key).status_code == 200
        assert left(brisk, facts) == {"hr", "carla", "mallory"}

    def test_those_who_run_the_memory_forget_a_subject_whoever_spoke(self, brisk: Memory) -> None:
        """Who answers for all of it can have all of it erased."""
        facts = staffed(brisk)
        brisk.forget(organization="acme", subject="mallory")
        assert left(brisk, facts) == {"mallory"}

    def test_nobody_asks_in_another_persons_name(self, brisk: Memory) -> None:
        """What somebody asks for and whose it is have to agree."""
        with pytest.raises(incumbent.NotPermitted, match="'carla'"):
            brisk.forget(organization="acme", user_id="carla", by="mallory")

    def test_what_somebody_decided_for_all_keeps_their_name(self, brisk: Memory) -> None:
        """Nobody slips out of the record by having themselves forgotten; the operator can."""
        mallory = person(brisk, "mallory", authority="policy")
        limit = mallory.write("limit", "9", memory_type="organizational")
        mallory.write("lunch", "soup")
        brisk.forget(organization="acme", user_id="mallory", by="mallory")
        assert person(brisk, "carla").explain(limit.fact_id).verdicts[0].by == "mallory"
        brisk.forget(organization="acme", user_id="mallory")
        assert person(brisk, "carla").explain(limit.fact_id).verdicts[0].by == ""


class TestWordsOfOthers:
    """What others said is not touched because it has the same words."""

    def speaking(self, memory: Memory) -> tuple[str, list[Any]]:
        """Two people who know of one number; the id of the one's fact, and the other's texts."""
        alice, bob = person(memory, "alice"), person(memory, "bob")
        bob.write("door", "blue")
        bob.note("call", f"the plumber has {NUMBER}")
        bob.retract("door", reason=f"asked {NUMBER}")
        bob.context(f"Whose is {NUMBER}?", record=True)
        alice.note("call", f"mine is {NUMBER}")
        alice.context(f"Is {NUMBER} mine?", record=True)
        return alice.write("phone", NUMBER).fact_id, kept_of(memory, "bob")

    @pytest.mark.parametrize("by", ["alice", None], ids=["herself", "operator"])
    def test_notes_reasons_and_receipts_of_others_stay(
        self, memory: Memory, by: str | None
    ) -> None:
        """Erasing one person's number leaves byte for byte what another says of the same one,
        and takes what she said of it herself."""
        fact_id, before = self.speaking(memory)
        proof = memory.forget(organization="acme", fact_id=fact_id, by=by)
        assert kept_of(memory, "bob") == before
        assert NUMBER not in repr(kept_of(memory, "alice"))
        assert proof.removed["working_items"] == proof.removed["receipts"] == 1

    def test_a_spoken_erasure_takes_the_speakers_own(self, brisk: Memory) -> None:
        """Asking in words for a number to be deleted leaves it with another who noted it."""
        bob = person(brisk, "bob")
        bob.note("call", "the plumber has 0170 5550199")
        bob.context("Whose is 0170 5550199?", record=True)
        before = kept_of(brisk, "bob")
        ann = person(brisk, "ann")
        ann.observe("My phone number is 0170 5550199.")
        assert ann.observe("Please delete my phone number from your memory.").erasures
        assert kept_of(brisk, "bob") == before
        assert "5550199" not in repr(kept_of(brisk, "ann"))

    def test_what_names_an_erased_fact_goes_on_any_desk(self, brisk: Memory) -> None:
        """A note that states it, in whatever words, and a line of a receipt that showed it."""
        ann, bob = person(brisk, "ann", authority="policy"), person(brisk, "bob")
        code = ann.write("gate", "swordfish", memory_type="organizational")
        bob.note("gate", "that fish, you know", states=[code])
        bob.note("lunch", "fish")
        seen = bob.context("gate? lunch?", record=True)
        brisk.forget(organization="acme", fact_id=code.fact_id)
        assert [item.key for item in bob.working_set()] == ["lunch"]
        again = brisk.replay(seen.receipt.id, organization="acme")
        assert "swordfish" not in again.text
        assert "that fish" not in again.text
        assert "lunch: fish" in again.text

    def test_what_was_the_organizations_is_looked_for_with_everybody(self, brisk: Memory) -> None:
        """It was everybody's to repeat; a common word in it is no sign of that."""
        ann, bob = person(brisk, "ann", authority="policy"), person(brisk, "bob")
        shared = {"code": "swordfish 77", "day": "noon"}
        told = ann.write("gate", shared, memory_type="organizational")
        bob.note("gate", "they say swordfish, 77")
        bob.note("lunch", "at noon")
        brisk.forget(organization="acme", fact_id=told.fact_id)
        assert [item.key for item in bob.working_set()] == ["lunch"]

    @pytest.mark.parametrize("word", ["User", "alice", "turn", "acme", "Monday", "facts", "1"])
    def test_a_common_word_breaks_no_receipt(self, brisk: Memory, word: str) -> None:
        """Who asked, when, and what we say ourselves are nobody's statement: forgetting a fact
        whose value is such a word leaves every receipt as it was, the person's own included."""
        brisk.environment.provide("user", lambda: "fine")
        for name in ("alice", "bob"):
            session = person(brisk, name, task_id="user" if name == "alice" else None)
            session.observe("My cat likes fish.")
            for number in range(9):
                session.write(f"paragraph_{number}", "long " * 40)
            session.context("What does the cat like?", budget=400, record=True)
        kept = [one for user in ("alice", "bob") for one in person(brisk, user).receipts()]
        said = person(brisk, "alice").write("word", word)
        brisk.forget(organization="acme", fact_id=said.fact_id)
        for receipt in kept:
            assert brisk.replay(receipt.id, organization="acme").intact
            assert brisk.receipt(receipt.id, organization="acme") == receipt
        assert person(brisk, "alice").working_set(), "nor is a turn dropped for who spoke"


class TestWhatIsTold:
    """The proof says the same whether there is something hidden or not."""

    def proofs(self, memory: Memory, *, hidden: bool) -> list[Erasure]:
        """What mallory is told of erasures, with or without things of others behind them."""
        mallory = person(memory, "mallory", authority="manager")
        phone = mallory.write("phone", NUMBER, subject="mallory")
        mallory.write("card", f"call {NUMBER}", depends_on=[phone.fact_id])
        mallory.note("turn", f"mine is {NUMBER}")
        mallory.write("lunch", "soup")
        if hidden:
            hr = person(memory, "hr", authority="policy", permissions=["hr"])
            given: dict[str, Any] = {"memory_type": "organizational", "requires": ["hr"]}
            hr.write("warning", f"rang from {NUMBER}", subject="mallory", **given)
            hr.note("turn", f"mallory, {NUMBER}")
            aside = person(memory, "mallory", authority="policy", permissions=["hr"])
            aside.write("roster", f"mallory {NUMBER}", depends_on=[phone.fact_id], **given)
            hr.context(f"Who has {NUMBER}?", record=True)
            hr.retract("warning", reason=f"not {NUMBER}", subject="mallory")
        found = [memory.forget(organization="acme", subject="mallory", by="mallory")]
        found.append(memory.forget(organization="acme", user_id="mallory", by="mallory"))
        return found

    def test_a_proof_is_the_same_whatever_is_hidden(self, brisk: Memory) -> None:
        """Counts and how many ids: nothing in them depends on what the person may not see."""
        with incumbent.open(":memory:", clock=SteppingClock(), settings=QUICK) as bare:
            there, absent = self.proofs(brisk, hidden=True), self.proofs(bare, hidden=False)
        for one, other in zip(there, absent, strict=True):
            assert one.removed == other.removed
            assert len(one.fact_ids) == len(other.fact_ids)
            assert len(one.quoted_in) == len(other.quoted_in)

    def test_what_was_derived_from_it_goes_and_is_told_to_the_operator_alone(
        self, memory: Memory
    ) -> None:
        """An erasure is real: what others derived and quotes it is gone, and stands in a proof of
        its own that the store keeps."""
        mallory = person(memory, "mallory", authority="policy")
        phone = mallory.write("phone", NUMBER, memory_type="user")
        roster = mallory.write(
            "roster", f"mallory {NUMBER}", depends_on=["phone"], memory_type="organizational"
        )
        proof = memory.forget(organization="acme", fact_id=phone.fact_id, by="mallory")
        assert person(memory, "bob").get(roster.fact_id) is None
        assert NUMBER not in json.dumps(list(memory.export("acme")))
        assert proof.fact_ids == (phone.fact_id,)
        assert proof.quoted_in == ()
        own, beyond = memory.store.erasures("acme")
        assert own.digest == proof.digest, "a copy of the proof can be checked"
        assert beyond.fact_ids == beyond.quoted_in == (roster.fact_id,)
        told = [one.evidence["erasure"] for one in memory.audit("acme") if one.action == "forget"]
        assert told == [own.id, beyond.id]

    def test_what_is_anothers_and_what_is_nobodys_are_refused_alike(self, brisk: Memory) -> None:
        """Neither the words nor the status tell that an id is in use."""
        facts = staffed(brisk)
        told = set()
        with Running(brisk, credentials=True) as service:
            key = a_key(brisk, "erase", user_id="mallory")
            for fact_id in (facts["hr"], facts["carla"], "0" * 36):
                refused = problem(service.post("forget", {"fact_id": fact_id}, key=key), 404)
                told.add(refused["detail"].replace(fact_id, "ID"))
        assert len(told) == 1
        assert left(brisk, facts) == facts.keys()


class _Counted(str):
    """A word that counts how often it is looked up."""

    looked = 0

    def __hash__(self) -> int:
        _Counted.looked += 1
        return super().__hash__()


class TestQuotations:
    """Whether a text repeats another, found by going through it once."""

    @pytest.mark.parametrize("length", [1_000, 10_000])
    def test_a_text_is_gone_through_once_however_nearly_it_matches(self, length: int) -> None:
        """Looked up at most twice a word, where every place begins a match that breaks off."""
        sought = Quotations(["ha " * count + "stop" for count in range(1, 60)] + ["ho ho"])
        words = [_Counted("ha") for _ in range(length)]
        _Counted.looked = 0
        assert list(sought.occurrences(words)) == []
        assert _Counted.looked <= 2 * length + 60

    def test_a_long_value_is_found_in_a_longer_note_that_all_but_repeats_it(
        self, brisk: Memory
    ) -> None:
        """8 kB of words against 80 kB of the same, with and without the last of them."""
        alice = person(brisk, "alice")
        value = "no - " * 1_600 + "yes"
        said = alice.write("answer", value)
        alice.note("nearly", "no, " * 20_000)
        alice.note("wholly", "no; " * 20_000 + "yes")
        brisk.forget(organization="acme", fact_id=said.fact_id)
        assert [item.key for item in alice.working_set()] == ["nearly"]

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("Blue Heron", "the BLUE,\n  heron!"),
            ("Blue Heron", "blue_heron"),
            ("Zoë O'Neill", "zoe o neill"),
            ("ﬁle 7", "File №7, file: 7"),
            ("東京都", "私は東京都に住む"),
            ("กรุงเทพ", "อยู่กรุงเทพมหานคร"),
            ('say "hi"\nnow', json.dumps('say "hi"\nnow')),
            ("%", "how many %?"),
            ("🙂🙂", "fine 🙂🙂"),
        ],
    )
    def test_a_quotation_is_found_however_it_is_written(self, value: str, text: str) -> None:
        """Spaces, punctuation, case, accents, scripts without spaces, escapes."""
        fact = incumbent.open(":memory:").session(user_id="u").write("key", value).fact
        assert fact is not None
        assert Quotations(said_by([fact])).found_in(text)

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("heron", "herons"),
            ("blue heron", "heron blue"),
            ("status", "order_status is open"),
            ("東", "東京"),
            ("%", "25%"),
            ("no yes", "no, no, maybe yes"),
        ],
    )
    def test_a_part_of_a_word_is_no_quotation(self, value: str, text: str) -> None:
        """Whole words, in their order."""
        assert not Quotations([value]).found_in(text)
