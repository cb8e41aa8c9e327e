"""The promises of a store about turns and their results: kept, found by index and by ref."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from incumbent.model.fact import Fact, Part, Said, Source
from incumbent.model.records import Erasure, Spot, Turn, WorkingItem
from incumbent.stores.port import Reader, Store
from incumbent.testing.contract.scribe import EVERYTHING, Contract, Scribe

TOLD = Source(
    "conversation",
    "chat",
    turn_index=4,
    speaker="user",
    ref="m-4",
    span=(3, 21),
    quote='"Zürich 🗼", for 3,\nnot 4',
    parts=(
        Part("place", "Zürich 🗼", "zürich", "to", 1, 9),
        Part("number", "3", "3", start=15, end=16),
    ),
    earlier=(Said(2, "user", "m-2", 0, 17), Said(3, "assistant")),
    inferred=("constraint_type", "subject"),
    becomes=("Genève", "geneva"),
    composed=True,
)
"""The source of a fact that came from text, with something in every field of such a source."""

HEARD = ["alice s1 0", "alice s1 1", "alice s2 0", "bob s1 0"]
"""Turns by user, session and index."""


def turn(acme: Scribe, index: int = 0, **fields: Any) -> Turn:
    """A turn that no store has seen, a little later than the one before."""
    given: dict[str, Any] = {"session_id": "s1", "speaker": "user", "at": acme.clock()}
    return Turn(turn_index=index, digest=f"digest {index}", **{**given, **fields})


def keep(acme: Scribe, *turns: Turn, user: str = "alice") -> None:
    """Commit turns of one user."""
    with acme.store.write(acme.organization) as transaction:
        for each in turns:
            transaction.put_turn(user, each)


def hear(acme: Scribe) -> None:
    """Commit the turns of HEARD, each with the ref "same"."""
    for name in HEARD:
        user, session, index = name.split()
        keep(acme, turn(acme, int(index), session_id=session, ref="same"), user=user)


def heard(reader: Reader) -> list[str]:
    """The turns of HEARD that are there, by session and by ref."""
    by_session = [
        f"{user} {session} {each.turn_index}"
        for user, session in (("alice", "s1"), ("alice", "s2"), ("bob", "s1"))
        for each in reader.turns(user, session, 9)
    ]
    by_ref = [
        f"{user} {each.session_id} {each.turn_index}"
        for user in ("alice", "bob")
        for each in reader.turns_called(user, "same")
    ]
    assert by_ref == by_session
    return by_session


class ObservingContract(Contract):
    """Turns, the spots of working items, and the sources of facts that came from text."""

    # turns

    def test_a_turn_comes_back_as_it_was_given(self, store: Store, acme: Scribe) -> None:
        """Every field survives storage: the moment to the microsecond, lists in their order."""
        given = Turn(
            session_id="größe 🗼",
            turn_index=1 << 40,
            speaker='"user"\n',
            at=acme.clock() + timedelta(microseconds=1),
            digest="a1b2",
            ref="m-7 ü",
            fact_ids=("z", "a", "größe"),
            verdict_ids=("v2", "v1"),
        )
        with store.write("acme") as transaction:
            transaction.put_turn("älice", given)
            assert transaction.turns("älice", given.session_id, 9) == [given]
        with store.read("acme") as reader:
            assert reader.turns("älice", given.session_id, 9) == [given]
            assert reader.turns_called("älice", "m-7 ü") == [given]

    def test_a_turn_may_have_no_ref_and_bring_nothing(self, store: Store, acme: Scribe) -> None:
        """A field that a turn leaves out stays left out, and no ref is not an empty one."""
        bare, unnamed = turn(acme), turn(acme, 1, ref="")
        keep(acme, bare, unnamed)
        with store.read("acme") as reader:
            assert reader.turns("alice", "s1", 9) == [bare, unnamed]
            assert reader.turns_called("alice", "") == [unnamed]

    def test_an_unknown_session_or_ref_has_no_turns(self, store: Store, acme: Scribe) -> None:
        """An unknown session or ref gives an empty list."""
        keep(acme, turn(acme, ref="m-0"))
        with store.read("acme") as reader:
            assert reader.turns("alice", "s2", 9) == []
            assert reader.turns("bob", "s1", 9) == []
            assert reader.turns_called("alice", "m-1") == []
            assert reader.turns_called("bob", "m-0") == []

    def test_turns_come_in_the_order_of_their_index(self, store: Store, acme: Scribe) -> None:
        """Neither the order of putting nor the time of a turn matters, and numbers are numbers."""
        keep(acme, *(turn(acme, index) for index in (10, 2, 0, 9, 1)))
        with store.read("acme") as reader:
            found = reader.turns("alice", "s1", 99)
        assert [each.turn_index for each in found] == [0, 1, 2, 9, 10]

    @pytest.mark.parametrize(
        ("limit", "expected"), [(0, []), (1, [10]), (3, [2, 9, 10]), (4, [0, 2, 9, 10])]
    )
    def test_turns_are_the_last_up_to_a_limit(
        self, store: Store, acme: Scribe, limit: int, expected: list[int]
    ) -> None:
        """No more turns are given than asked for, those of the highest index."""
        keep(acme, *(turn(acme, index) for index in (10, 2, 0, 9)))
        with store.read("acme") as reader:
            found = reader.turns("alice", "s1", limit)
        assert [each.turn_index for each in found] == expected

    def test_turns_of_a_ref_come_from_every_session(self, store: Store, acme: Scribe) -> None:
        """A ref finds the turns of one user in any session, the earliest first."""
        late = turn(acme, 0, session_id="s1", ref="m", at=acme.clock() + timedelta(days=1))
        middle = turn(acme, 7, session_id="s3", ref="m")
        early = turn(acme, 5, session_id="s2", ref="m", at=acme.clock() - timedelta(days=1))
        keep(acme, late, middle, early, turn(acme, 1, ref="M"), turn(acme, 2))
        keep(acme, turn(acme, 9, ref="m"), user="bob")
        with store.read("acme") as reader:
            assert reader.turns_called("alice", "m") == [early, middle, late]

    def test_turns_of_one_moment_go_by_session_and_index(self, store: Store, acme: Scribe) -> None:
        """If the time does not decide, the order is still one and the same."""
        now = acme.clock()
        places = [("s2", 0), ("s1", 10), ("s1", 9)]
        keep(acme, *(turn(acme, n, session_id=name, ref="m", at=now) for name, n in places))
        with store.read("acme") as reader:
            found = reader.turns_called("alice", "m")
        assert [(each.session_id, each.turn_index) for each in found] == sorted(places)

    def test_putting_a_turn_again_replaces_it(self, store: Store, acme: Scribe) -> None:
        """A session and index have one turn, the one put last, with its own ref."""
        first, other = turn(acme, 0, ref="old", fact_ids=("f1",)), turn(acme, 1, ref="old")
        again = turn(acme, 0, speaker="assistant", ref="new", verdict_ids=("v1",))
        keep(acme, first, other)
        keep(acme, again)
        with store.read("acme") as reader:
            assert reader.turns("alice", "s1", 9) == [again, other]
            assert reader.turns_called("alice", "old") == [other]
            assert reader.turns_called("alice", "new") == [again]
        keep(acme, replace(again, ref=None))
        with store.read("acme") as reader:
            assert reader.turns_called("alice", "new") == []

    @pytest.mark.parametrize(
        ("conditions", "left"),
        [
            ({}, []),
            ({"user_id": "alice"}, ["bob s1 0"]),
            ({"session_id": "s1"}, ["alice s2 0"]),
            ({"user_id": "alice", "session_id": "s1"}, ["alice s2 0", "bob s1 0"]),
            ({"user_id": "bob", "session_id": "s2"}, HEARD),
            ({"user_id": "nobody"}, HEARD),
        ],
        ids=["all", "user", "session", "both", "neither's", "no match"],
    )
    def test_turns_are_dropped_by_every_condition_given(
        self, store: Store, acme: Scribe, conditions: dict[str, str], left: list[str]
    ) -> None:
        """Dropping removes the turns that match all conditions, and returns their number."""
        hear(acme)
        with store.write("acme") as transaction:
            assert transaction.drop_turns(**conditions) == 4 - len(left)
            assert transaction.drop_turns(**conditions) == 0
        with store.read("acme") as reader:
            assert heard(reader) == left

    def test_a_rollback_takes_turns_back(self, store: Store, acme: Scribe) -> None:
        """Turns that were put, replaced or dropped are as before after an exception."""
        hear(acme)
        with store.read("acme") as reader:
            before = reader.turns("alice", "s1", 9)

        def fail() -> None:
            with store.write("acme") as transaction:
                transaction.put_turn("alice", turn(acme, 0, ref="other"))
                transaction.put_turn("alice", turn(acme, 5, ref="same"))
                transaction.put_turn("eve", turn(acme, 0, ref="same"))
                transaction.drop_turns(session_id="s1")
                transaction.put_turn("bob", turn(acme, 1, ref="same"))
                raise RuntimeError("half way")

        with pytest.raises(RuntimeError, match="half way"):
            fail()
        with store.read("acme") as reader:
            assert heard(reader) == HEARD
            assert reader.turns("alice", "s1", 9) == before
            assert reader.turns_called("alice", "other") == []
            assert reader.turns("eve", "s1", 9) == []

    def test_turns_of_organizations_do_not_meet(self, store: Store, acme: Scribe) -> None:
        """The same user, session, index and ref in two organizations are different turns."""
        globex = Scribe(store, "globex")
        ours, theirs = turn(acme, ref="m"), turn(globex, ref="m", speaker="of globex")
        keep(acme, ours)
        keep(globex, theirs)
        for scribe, own in ((acme, ours), (globex, theirs)):
            with store.read(scribe.organization) as reader:
                assert reader.turns("alice", "s1", 9) == [own]
                assert reader.turns_called("alice", "m") == [own]
        with store.write("acme") as transaction:
            assert transaction.drop_turns() == 1
        with store.read("globex") as reader:
            assert reader.turns("alice", "s1", 9) == [theirs]

    def test_erasing_facts_leaves_of_turns_all_but_their_words(
        self, store: Store, acme: Scribe
    ) -> None:
        """A turn keeps the ids of its facts. The part of its digest that tells of its words goes,
        and so does that of every other turn of its user: one may have said the same."""
        fact = acme.establish("Bern", source=TOLD, owner="carol")
        brought = turn(acme, 4, ref="m-4", fact_ids=("x", fact.id))
        brought = replace(brought, digest="m4$words$more")
        other = replace(turn(acme, 5, session_id="s2"), digest="m5$")
        short = replace(turn(acme, 6, session_id="s3"), digest="a1b2")
        keep(acme, brought, other, short)
        owned = replace(turn(acme, 7), digest="m7$words")
        keep(acme, owned, user="carol")
        theirs = replace(turn(acme, 8, fact_ids=("x",)), digest="m8$words")
        keep(acme, theirs, user="bob")
        with store.write("acme") as transaction:
            transaction.erase([fact.id], Erasure("e1", "acme", acme.clock(), (fact.id,)))
        with store.read("acme") as reader:
            assert reader.turns("alice", "s1", 9) == [replace(brought, digest="m4$")]
            assert reader.turns_called("alice", "m-4") == [replace(brought, digest="m4$")]
            assert reader.turns("alice", "s2", 9) == [other]
            assert reader.turns("alice", "s3", 9) == [replace(short, digest="")]
            assert reader.turns("carol", "s1", 9) == [replace(owned, digest="m7$")]
            assert reader.turns("bob", "s1", 9) == [theirs]

    def test_digests_come_back_when_an_erasure_does_not(self, store: Store, acme: Scribe) -> None:
        """An erasure that is rolled back has changed nothing."""
        fact = acme.establish("Bern", source=TOLD)
        brought = replace(turn(acme, 4, ref="m-4", fact_ids=(fact.id,)), digest="m4$words")
        keep(acme, brought)
        with suppress(RuntimeError), store.write("acme") as transaction:
            transaction.erase([fact.id], Erasure("e1", "acme", acme.clock(), (fact.id,)))
            raise RuntimeError("half way")
        with store.read("acme") as reader:
            assert reader.turns("alice", "s1", 9) == [brought]

    def test_turns_are_no_part_of_a_dump(self, store: Store, acme: Scribe) -> None:
        """Turns belong to sessions: they are neither in the log nor in a dump."""
        hear(acme)
        with store.write("acme") as transaction:
            said = WorkingItem("k", "v", acme.clock(), spots=(Spot("f1", "v", 0, 1),))
            transaction.put_item("alice", "s1", said)
        assert store.organizations() == []
        assert list(store.dump("acme")) == []

    # spots

    def test_an_item_keeps_where_it_states_facts(self, store: Store, acme: Scribe) -> None:
        """The spots of an item come back as they were given; an item without spots has none."""
        spots = (Spot("z", "Zürich 🗼", 10, 18), Spot("a", '"3"\n', 0, 4), Spot("a", "", 7, 7))
        said = WorkingItem("turn", "text", acme.clock(), states=("z", "a"), spots=spots)
        plain = WorkingItem("note", "text", acme.clock(), states=("z",))
        with store.write("acme") as transaction:
            transaction.put_item("alice", "s1", said)
            transaction.put_item("alice", "s1", plain)
        with store.read("acme") as reader:
            found = reader.working_items("alice", "s1")
            assert found == [said, plain]
            assert [item for _, _, item in reader.desks()] == found
            assert [spot.fact_id for spot in found[0].spots] == ["z", "a", "a"]
            assert found[1].spots == ()

    def test_a_replaced_item_has_its_own_spots(self, store: Store, acme: Scribe) -> None:
        """Nothing of the spots of an item is left when another is put under its key."""
        said = WorkingItem("turn", "text", acme.clock(), spots=(Spot("a", "text", 0, 4),))
        for spots in ((Spot("b", "ext", 1, 4),), ()):
            with store.write("acme") as transaction:
                transaction.put_item("alice", "s1", said)
                transaction.put_item("alice", "s1", replace(said, spots=spots))
            with store.read("acme") as reader:
                (found,) = reader.working_items("alice", "s1")
                assert found.spots == spots

    # where facts came from

    def test_a_source_comes_back_from_every_read(self, store: Store, acme: Scribe) -> None:
        """Span, quote, parts, earlier turns and inferred fields are equal, and of their types."""
        first = acme.establish("Bern", source=TOLD)
        ended, _ = acme.supersede(first, "Basel", source=Source("conversation", quote="Basel"))
        with store.read("acme") as reader:
            assert reader.fact(first.id) == ended
            assert reader.known(EVERYTHING, 1) == [first]
            assert reader.timeline(EVERYTHING)[0] == ended
            found = reader.known(EVERYTHING, 1)[0].source
        check_source(found)

    def test_a_source_comes_along_in_a_dump(
        self, store: Store, other_store: Store, acme: Scribe
    ) -> None:
        """After a dump as text and a restore, a fact has the very source it had."""
        fact = acme.establish("Bern", source=TOLD)
        acme.supersede(fact, "Basel")
        records = json.loads(json.dumps(list(store.dump("acme"))))
        with other_store.write("acme") as transaction:
            transaction.restore(records)
        with store.read("acme") as reader, other_store.read("acme") as restored:
            assert restored.fact(fact.id) == reader.fact(fact.id)
            assert restored.known(EVERYTHING, 1) == [fact]
            check_source(restored.known(EVERYTHING, 1)[0].source)

    @pytest.mark.parametrize(
        "fields",
        [{"span": (0, 0)}, {"quote": ""}, {"parts": TOLD.parts}, {"earlier": TOLD.earlier}],
        ids=lambda fields: next(iter(fields)),
    )
    def test_each_field_of_a_source_is_kept_alone(
        self, store: Store, acme: Scribe, fields: dict[str, Any]
    ) -> None:
        """A field does not need the others, and an empty one is not a missing one."""
        fact: Fact = acme.establish("Bern", source=Source(**fields))
        with store.read("acme") as reader:
            assert reader.fact(fact.id) == fact


def check_source(found: Source) -> None:
    """Check that it is the source TOLD, down to the types of its fields."""
    assert found == TOLD
    assert isinstance(found.span, tuple)
    assert [type(part) for part in found.parts] == [Part, Part]
    assert [type(said) for said in found.earlier] == [Said, Said]
