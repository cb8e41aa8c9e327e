"""The promises of a store about lists of facts, branches and turns, and about counting."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pytest

from incumbent.model.fact import Basis, Cause, Fact, MemoryType, Status
from incumbent.model.listings import VerdictCount
from incumbent.model.records import Erasure, Turn
from incumbent.model.scope import EVERYWHERE, Place, Scope
from incumbent.model.verdict import Action, Outcome, Rule
from incumbent.stores.port import FactFilter, Reader, Store
from incumbent.testing.contract.scribe import Contract, Scribe, ids

DRAFT: Place = (Scope.DRAFT, "d1")
ANY = tuple(status for status in Status if status is not Status.ERASED)


def asked(when: datetime, **fields: Any) -> FactFilter:
    """A filter for all facts of alice and the organization that hold everywhere, or narrower."""
    wide: dict[str, Any] = {
        "owners": ("alice", ""),
        "places": (EVERYWHERE,),
        "holding": True,
        "others": ANY,
    }
    return FactFilter(when=when, **{**wide, **fields})


def walked(reader: Reader, wanted: FactFilter, size: int) -> list[Fact]:
    """All facts of a filter, read by pages of a size."""
    found: list[Fact] = []
    place = None
    while page := reader.recorded(wanted, place, size):
        assert len(page) <= size
        found += page
        place = (page[-1].recorded_at, page[-1].id)
    return found


class FactListingContract(Contract):
    """Facts by the time they were recorded, branches, turns, and numbers."""

    # facts

    @pytest.mark.parametrize("size", [1, 2, 3, 100])
    def test_facts_come_the_last_recorded_first(
        self, store: Store, acme: Scribe, size: int
    ) -> None:
        """Of any owner that is named, live or not; those of one moment by id, the last first."""
        at = acme.clock()
        made = [
            acme.establish(number, key=f"key {number}", owner=owner, recorded_at=recorded)
            for number, (owner, recorded) in enumerate(
                [
                    ("alice", at),
                    ("", at),
                    ("alice", at + timedelta(hours=1)),
                    ("bob", at),
                    ("", at + timedelta(hours=2)),
                    ("alice", at - timedelta(hours=1)),
                ]
            )
        ]
        acme.change(made[2], status=Status.RETRACTED, ended_at=acme.clock())
        with store.read("acme") as reader:
            found = walked(reader, asked(acme.clock()), size)
        assert ids(found) == [made[number].id for number in (4, 2, 1, 0, 5)]
        assert found[1].status is Status.RETRACTED

    @pytest.mark.parametrize(
        "fields",
        [
            {"key": "size"},
            {"subject": "ball"},
            {"owner": "bob"},
            {"memory_type": MemoryType.ORGANIZATIONAL},
            {"authority": "manager"},
            {"scope": Scope.DRAFT, "scope_id": "d1"},
            {"scope": Scope.TASK, "scope_id": "d1"},
            {"depends_on": ("fact-0001",), "basis": (Basis("fact-0001", "fact-0001"),)},
        ],
        ids=lambda fields: next(iter(fields)),
    )
    def test_facts_are_found_by_what_they_are(
        self, store: Store, acme: Scribe, fields: dict[str, Any]
    ) -> None:
        """By key, subject, owner, memory type, authority, place, and whether they were derived."""
        plain = acme.establish()
        special = acme.establish(2, multi_valued=True, **fields)
        place = (fields.get("scope", Scope.GLOBAL), fields.get("scope_id", ""))
        narrow: dict[str, Any] = {
            "places": (place,),
            "owners": (fields.get("owner", "alice"),),
            "derived": "depends_on" in fields,
            **{
                name: value
                for name, value in fields.items()
                if name in ("key", "subject", "memory_type", "authority")
            },
        }
        every = (EVERYWHERE, DRAFT, (Scope.TASK, "d1"))
        with store.read("acme") as reader:
            found = reader.recorded(asked(acme.clock(), **narrow), None, 9)
            assert ids(found) == [special.id]
            wide = asked(acme.clock(), owners=("alice", "bob"), places=every)
            assert ids(reader.recorded(wide, None, 9)) == [special.id, plain.id]
            assert reader.recorded(asked(acme.clock(), key="none"), None, 9) == []
            assert reader.recorded(asked(acme.clock(), owners=()), None, 9) == []
            assert reader.recorded(asked(acme.clock(), places=()), None, 9) == []

    def test_a_subject_may_be_none(self, store: Store, acme: Scribe) -> None:
        """An empty one stands for facts that name none."""
        bare = acme.establish()
        acme.establish(subject="ball")
        with store.read("acme") as reader:
            found = reader.recorded(asked(acme.clock(), subject=""), None, 9)
        assert ids(found) == [bare.id]

    def test_facts_are_found_by_when_they_were_recorded(self, store: Store, acme: Scribe) -> None:
        """From one moment on and before another."""
        made = [acme.establish(key=f"key {number}") for number in range(4)]
        times = [fact.recorded_at for fact in made]
        with store.read("acme") as reader:

            def found(**span: Any) -> list[str]:
                return ids(reader.recorded(asked(acme.clock(), **span), None, 9))

            assert found(since=times[2]) == [made[3].id, made[2].id]
            assert found(until=times[2]) == [made[1].id, made[0].id]
            assert found(since=times[1], until=times[2]) == [made[1].id]
            assert found(since=times[1], until=times[1]) == []

    def test_facts_are_found_by_whether_they_hold_office(self, store: Store, acme: Scribe) -> None:
        """By their term at a moment, and the others by the status that they are stored with."""
        now = acme.clock()
        hour = timedelta(hours=1)
        plain = acme.establish()
        over = acme.establish(key="over", valid_until=now + hour)
        ahead = acme.establish(key="ahead", valid_from=now + 3 * hour, started_at=now + 3 * hour)
        leaving = acme.establish(key="leaving")
        acme.change(leaving, status=Status.SUPERSEDED, superseded_by="x", ended_at=now + 5 * hour)
        never = acme.establish(key="never", status=Status.CONTESTED, started_at=None)
        two = now + 2 * hour
        with store.read("acme") as reader:

            def found(holding: bool, *others: Status, when: datetime = two) -> set[str]:
                wanted = asked(when, holding=holding, others=others)
                return set(ids(reader.recorded(wanted, None, 9)))

            assert found(True) == {plain.id, leaving.id}
            assert found(True, when=now + 4 * hour) == {plain.id, leaving.id, ahead.id}
            assert found(True, when=now + 6 * hour) == {plain.id, ahead.id}
            assert found(False, Status.OFFICE) == {over.id, ahead.id}
            assert found(False, Status.CONTESTED) == {never.id}
            assert found(False, Status.SUPERSEDED) == set()
            assert found(False, Status.SUPERSEDED, when=now + 6 * hour) == {leaving.id}
            assert found(True, Status.CONTESTED) == {plain.id, leaving.id, never.id}
            assert found(False) == set()

    @pytest.mark.parametrize(
        ("said", "text"),
        [
            ("456 Oak Ave.", "oak"),
            ("kiwi\u212a\u0130", "kiwikİ".lower()),
            ("50 % off_now", "% OFF_".lower()),
            ("a*b?c[d]e", "*b?c[d]"),
            ("a.b(c)+d|e^f$g{h}", "b(c)+d|e^f$g{h}"),
            ("C:\\temp", "\\temp"),
            ('she said "No"\nand went', '"no"\nand'),
            ("Grüße aus Übersee", "übers"),
            ("СТАРАЯ Москва", "москва"),
            ("ΟΔΟΣ", "οδοσ"),
            ("東京都", "京都"),
            (["red", {"size": 5}], '"size":5'),
            (True, "rue"),
            ("\U0001f600 smile", "\U0001f600"),
            ("it's \\n not a line", "\\n"),
        ],
    )
    @pytest.mark.parametrize("column", ["value", "key", "subject"])
    def test_a_text_is_found_in_any_letter_case(
        self, store: Store, acme: Scribe, said: Any, text: str, column: str
    ) -> None:
        """In a key, a subject or a value, whatever signs it has."""
        if column != "value" and not isinstance(said, str):
            said = "".join(text)
        wanted = acme.establish(**{"value": 1, "key": "plain", column: said})
        acme.establish("Bern", key="city")
        with store.read("acme") as reader:
            found = ids(reader.recorded(asked(acme.clock(), text=text), None, 9))
        assert wanted.id in found

    @pytest.mark.parametrize("text", ["oak", "übersee", "москва", "5 %", "a_b", "[x]", "東"])
    def test_what_plainly_has_not_the_text_is_left_out(
        self, store: Store, acme: Scribe, text: str
    ) -> None:
        """A page is not filled with other facts."""
        for number in range(5):
            acme.establish(f"nothing of it {number}", key=f"key {number}", subject="ball")
        with store.read("acme") as reader:
            assert reader.recorded(asked(acme.clock(), text=text), None, 9) == []

    def test_what_was_erased_is_not_listed(self, store: Store, acme: Scribe) -> None:
        """Nor are facts of another organization."""
        fact = acme.establish()
        with store.read("globex") as reader:
            assert reader.recorded(asked(acme.clock()), None, 9) == []
        with store.write("acme") as transaction:
            transaction.erase([fact.id], Erasure("e1", "acme", acme.clock(), (fact.id,)))
        with store.read("acme") as reader:
            assert reader.recorded(asked(acme.clock()), None, 9) == []

    # branches

    @pytest.mark.parametrize("size", [1, 2, 100])
    def test_branches_are_listed_by_kind_and_name(
        self, store: Store, acme: Scribe, size: int
    ) -> None:
        """Those with live facts of the owners named, each once."""
        places = [
            (Scope.DRAFT, "B"),
            (Scope.DRAFT, "a"),
            (Scope.HYPOTHETICAL, "B"),
            (Scope.HYPOTHETICAL, "é"),
        ]
        for scope, name in reversed(places):
            for owner in ("alice", ""):
                acme.establish(scope=scope, scope_id=name, owner=owner)
        acme.establish(scope=Scope.DRAFT, scope_id="bob's", owner="bob")
        acme.establish(scope=Scope.TASK, scope_id="t1")
        gone = acme.establish(scope=Scope.DRAFT, scope_id="gone")
        acme.change(gone, status=Status.DISCARDED, ended_at=acme.clock())
        found: list[Place] = []
        with store.read("acme") as reader:
            while page := reader.branches(("alice", ""), found[-1] if found else None, size):
                found += page
            assert reader.branches(("bob",), None, 9) == [(Scope.DRAFT, "bob's")]
            assert reader.branches((), None, 9) == []
        assert found == places
        with store.read("globex") as reader:
            assert reader.branches(("alice", ""), None, 9) == []

    def test_the_facts_of_branches_are_counted(self, store: Store, acme: Scribe) -> None:
        """By what they have in common, as the facts of names are."""
        one = acme.establish(1, scope=DRAFT[0], scope_id=DRAFT[1], multi_valued=True)
        two = acme.establish(2, scope=DRAFT[0], scope_id=DRAFT[1], multi_valued=True)
        hidden = acme.establish(scope=DRAFT[0], scope_id=DRAFT[1], requires=("hr",))
        what_if = acme.establish(scope=Scope.HYPOTHETICAL, scope_id="d1")
        acme.establish(scope=DRAFT[0], scope_id=DRAFT[1], owner="bob")
        acme.establish()
        now = acme.clock()
        with store.read("acme") as reader:
            found = reader.branched(("alice", ""), [DRAFT], now)
            assert [row[3:] for row in found] == [
                (2, two.recorded_at, one.id),
                (1, hidden.recorded_at, hidden.id),
            ]
            other = reader.branched(("alice", ""), [(Scope.HYPOTHETICAL, "d1")], now)
            assert [row.fact_id for row in other] == [what_if.id]
            assert reader.branched(("alice", ""), [], now) == []
        with store.read("globex") as reader:
            assert reader.branched(("alice", ""), [DRAFT], now) == []

    # turns and verdicts

    def test_turns_are_read_in_order_by_pages(self, store: Store, acme: Scribe) -> None:
        """Those above an index, of one user and session."""
        made = [
            Turn("s1", n, "user", acme.clock(), "d", f"r{n}", ("f",), ("v",)) for n in (1, 2, 5)
        ]
        with store.write("acme") as transaction:
            for turn in reversed(made):
                transaction.put_turn("alice", turn)
            transaction.put_turn("bob", Turn("s1", 1, "user", acme.clock(), "d"))
            transaction.put_turn("alice", Turn("s2", 1, "user", acme.clock(), "d"))
        with store.read("acme") as reader:
            assert reader.turns_after("alice", "s1", 0, 9) == made
            assert reader.turns_after("alice", "s1", 0, 2) == made[:2]
            assert reader.turns_after("alice", "s1", 2, 9) == made[2:]
            assert reader.turns_after("alice", "s3", 0, 9) == []
        with store.read("globex") as reader:
            assert reader.turns_after("alice", "s1", 0, 9) == []

    def test_verdicts_are_found_by_their_ids(self, store: Store, acme: Scribe) -> None:
        """In log order, each once; unknown ones are left out."""
        for number in range(3):
            acme.establish(key=f"key {number}")
        with store.read("acme") as reader:
            first, _, last = reader.log(0, 9)
            assert reader.verdicts_by_id([last.id, first.id, last.id, "none"]) == [first, last]
            assert reader.verdicts_by_id([]) == []
        with store.read("globex") as reader:
            assert reader.verdicts_by_id([first.id]) == []

    # numbers

    def test_verdicts_are_counted_by_day_and_kind(self, store: Store, acme: Scribe) -> None:
        """A day begins at midnight in UTC; only entries within the bounds count."""
        midnight = datetime(2031, 5, 2, tzinfo=acme.clock().tzinfo)
        kinds: list[tuple[timedelta, dict[str, Any]]] = [
            (timedelta(microseconds=-1), {}),
            (timedelta(0), {}),
            (timedelta(hours=23), {}),
            (timedelta(hours=23), {"outcome": Outcome.OVERRULED, "rule": Rule.AUTHORITY}),
            (timedelta(hours=24), {"action": Action.UNDO}),
        ]
        for number, (later, fields) in enumerate(kinds):
            with store.write("acme") as transaction:
                fact = acme.fact(key=f"key {number}")
                acme.put(transaction, fact, recorded_at=midnight + later, **fields)
        plain = (Action.ASSERT, Outcome.ESTABLISHED, Rule.FIRST)
        overruled = (Action.ASSERT, Outcome.OVERRULED, Rule.AUTHORITY)
        undo = (Action.UNDO, Outcome.ESTABLISHED, Rule.FIRST)
        counted = [
            VerdictCount(date(2031, 5, 1), *plain, 1),
            VerdictCount(date(2031, 5, 2), *plain, 2),
            VerdictCount(date(2031, 5, 2), *overruled, 1),
            VerdictCount(date(2031, 5, 3), *undo, 1),
        ]
        with store.read("acme") as reader:
            assert reader.verdict_counts(0, 9) == counted
            assert reader.verdict_counts(4, 5) == counted[3:]
            assert reader.verdict_counts(1, 2) == [VerdictCount(date(2031, 5, 2), *plain, 1)]
            assert reader.verdict_counts(5, 5) == []
        with store.read("globex") as reader:
            assert reader.verdict_counts(0, 9) == []

    def test_facts_are_counted(self, store: Store, acme: Scribe) -> None:
        """Those that hold office at a moment, those with a cause for review, those contested."""
        base = acme.establish()
        old, _ = acme.supersede(base, "Basel")
        acme.establish(key="rests", depends_on=(base.id,), basis=(Basis(base.id, base.id),))
        acme.establish(
            key="shaken",
            owner="bob",
            depends_on=(base.id,),
            basis=(Basis(base.id, "x"),),
            causes=(Cause(base.id, None, (base.id,)),),
        )
        acme.establish(key="lost", status=Status.CONTESTED, started_at=None)
        before = base.started_at
        assert before is not None
        with store.read("acme") as reader:
            assert reader.fact_counts(acme.clock()) == (3, 1, 1)
            assert reader.fact_counts(before) == (1, 1, 1)
            assert reader.fact_counts(before - timedelta(seconds=1)) == (0, 1, 1)
            assert old.id in ids(reader.facts([old.id]))
        with store.read("globex") as reader:
            assert reader.fact_counts(acme.clock()) == (0, 0, 0)

    def test_doubters_are_found_whoever_owns_them(self, store: Store, acme: Scribe) -> None:
        """Without owners, those of all."""
        doubted = acme.establish()
        made = [
            acme.establish(key="doubts", owner=owner, doubts=(doubted.id,))
            for owner in ("alice", "bob", "")
        ]
        with store.read("acme") as reader:
            assert ids(reader.doubters(None)) == ids(made)
            assert ids(reader.doubters(("bob",))) == [made[1].id]
        with store.read("globex") as reader:
            assert reader.doubters(None) == []
