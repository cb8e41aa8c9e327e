"""The promises of a store about passages: kept, found by words, never anybody else's."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from incumbent.model.records import Passage, Spot
from incumbent.stores.port import Store
from incumbent.testing.contract.observing import keep, turn
from incumbent.testing.contract.scribe import Contract, Scribe


def passage(acme: Scribe, terms: str = "", index: int = 0, **fields: Any) -> Passage:
    """A passage that no store has seen, a little later than the one before."""
    given: dict[str, Any] = {"session_id": "s1", "place": 0, "speaker": "user", "at": acme.clock()}
    given |= {"turn_index": index, "text": f"said: {terms}", "terms": terms}
    return Passage(**{**given, **fields})


def put(acme: Scribe, *passages: Passage, user: str = "alice") -> None:
    """Commit passages of one person."""
    with acme.store.write(acme.organization) as transaction:
        transaction.put_passages(user, passages)


def found(acme: Scribe, term: str, user: str = "alice", limit: int = 9) -> list[str]:
    """The texts of a person's passages that have a term, in the order in which they are found."""
    with acme.store.read(acme.organization, user) as reader:
        numbers = reader.passages_under(user, [term], limit)[0]
        texts = {kept.number: kept.passage.text for kept in reader.passages_numbered(numbers)}
        return [texts[number] for number in numbers]


class PassagesContract(Contract):
    """Passages: the words of turns."""

    def test_a_passage_comes_back_as_it_was_put(self, acme: Scribe) -> None:
        """Whatever is in it, with the person it is of."""
        spots = (Spot("f1", "Zürich 🗼", 0, 8), Spot("", "", 2, 3))
        whole = passage(
            acme,
            "zürich 5000 ü",
            7,
            place=2,
            text='Zürich 🗼,\n"5,000"',
            states=("f1", "f2"),
            spots=spots,
            vector=b"\x00\xff\x7f",
        )
        put(acme, whole, passage(acme))
        with acme.store.read("acme") as reader:
            kept = reader.passages(None, 0, 9)
            again = reader.passages_numbered([kept[0].number, kept[0].number])
        assert [(one.user_id, one.passage.text) for one in kept][1:] == [("alice", "said: ")]
        assert [(one.user_id, one.passage) for one in again] == [("alice", whole)]

    def test_passages_are_found_by_their_terms_the_latest_first(self, acme: Scribe) -> None:
        """At most so many, whole terms alone, and none under what is no term."""
        put(acme, *(passage(acme, f"rain day{n}", n) for n in range(3)), passage(acme, "rainy", 3))
        assert found(acme, "rain") == [f"said: rain day{n}" for n in (2, 1, 0)]
        assert found(acme, "rain", limit=2) == [f"said: rain day{n}" for n in (2, 1)]
        assert found(acme, "day1") == ["said: rain day1"]
        assert found(acme, 'rain" OR "rainy') == found(acme, "snow") == []

    def test_a_person_finds_no_passage_of_another_or_elsewhere(self, store: Store) -> None:
        """Not by a word, and not by a count."""
        acme, globex = Scribe(store, "acme"), Scribe(store, "globex")
        put(acme, passage(acme, "rain"), user="bob")
        put(globex, passage(globex, "rain"))
        assert found(acme, "rain") == []
        with store.read("acme", "alice") as reader:
            assert reader.passage_count("alice") == 0
        with store.read("acme") as reader:
            assert [one.user_id for one in reader.passages(None, 0, 9)] == ["bob"]
            assert reader.passages("alice", 0, 9) == []
            assert reader.passage_count("bob") == 1
            number = reader.passages(None, 0, 9)[0].number
        with store.write("globex") as transaction:
            own = transaction.passages(None, 0, 9)[0].number
            assert transaction.drop_passages([own, number]) == 1
        assert len(found(acme, "rain", "bob")) == 1

    def test_passages_are_told_in_pages(self, acme: Scribe) -> None:
        """In the order in which they were put, of one person or of all, or those of a turn."""
        put(acme, *(passage(acme, f"t{n}", n) for n in range(3)))
        put(acme, passage(acme, "other"), user="bob")
        with acme.store.read("acme") as reader:
            first = reader.passages(None, 0, 2)
            rest = reader.passages(None, first[-1].number, 9)
            hers = reader.passages("alice", first[-1].number, 9)
            turn = reader.passages("alice", 0, 9, session_id="s1", turn_index=1)
            elsewhere = reader.passages("alice", 0, 9, session_id="s2")
        told = [[one.passage.terms for one in page] for page in (first, rest, hers, turn)]
        assert (told, elsewhere) == ([["t0", "t1"], ["t2", "other"], ["t2"], ["t1"]], [])

    def test_a_passage_of_the_same_place_is_replaced(self, acme: Scribe) -> None:
        """It keeps its number, and is found by its new terms alone."""
        put(acme, passage(acme, "rain"), passage(acme, "wind", 1))
        with acme.store.read("acme") as reader:
            before = [one.number for one in reader.passages(None, 0, 9)]
        put(acme, passage(acme, "snow"))
        with acme.store.read("acme") as reader:
            assert [one.number for one in reader.passages(None, 0, 9)] == before
        assert (found(acme, "rain"), found(acme, "snow")) == ([], ["said: snow"])

    def test_what_is_dropped_is_found_no_more(self, acme: Scribe) -> None:
        """Passages by number, and those of turns with their turns."""
        put(acme, *(passage(acme, "rain", n) for n in range(2)))
        put(acme, passage(acme, "rain", session_id="s2"))
        put(acme, passage(acme, "rain"), user="bob")
        keep(acme, turn(acme), turn(acme, session_id="s2"))
        with acme.store.write("acme") as transaction:
            number = transaction.passages("alice", 0, 1)[0].number
            assert transaction.drop_passages([number, number + 999]) == 1
        assert len(found(acme, "rain")) == 2
        with acme.store.write("acme") as transaction:
            assert transaction.drop_turns(user_id="alice", session_id="s2") == 1
        assert len(found(acme, "rain")) == 1
        with acme.store.write("acme") as transaction:
            transaction.drop_turns(user_id="alice")
        assert (found(acme, "rain"), len(found(acme, "rain", "bob"))) == ([], 1)

    def test_passages_that_were_rolled_back_are_not_there(self, acme: Scribe) -> None:
        """Neither new ones, nor the loss of old ones."""
        put(acme, passage(acme, "rain"))
        with suppress(ZeroDivisionError), acme.store.write("acme") as transaction:
            transaction.put_passages("alice", [passage(acme, "snow", 1)])
            transaction.drop_turns(user_id="alice")
            raise ZeroDivisionError
        assert (found(acme, "rain"), found(acme, "snow")) == (["said: rain"], [])

    def test_passages_are_in_a_dump(self, acme: Scribe) -> None:
        """Without what they are found by, in their order, and come with it elsewhere."""
        acme.establish("Oslo")
        whole = passage(acme, "rain", states=("f1",), spots=(Spot("f1", "r", 0, 1),), vector=b"1")
        put(acme, whole, passage(acme, "wind", 1))
        dump = list(acme.store.dump("acme"))
        with acme.store.write("copy") as transaction:
            transaction.restore(dump)
            kept = [one.passage for one in transaction.passages("alice", 0, 9)]
        assert kept[0] == replace(whole, terms="", vector=None)
        assert [one.text for one in kept] == ["said: rain", "said: wind"]
