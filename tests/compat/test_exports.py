"""Exports of other memories: what is read, what comes of it, and what is told of the rest."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

import incumbent
from incumbent.compat.exports import from_langgraph, from_mem0, from_zep
from incumbent.compat.exports.importing import Importer, ImportTally
from incumbent.compat.exports.things import Surroundings, Thing
from incumbent.compat.mem0 import Memory
from incumbent.model.errors import InvalidInput

MEM0: dict[str, Any] = {
    "results": [
        {
            "id": "8c1f7b1e-0001-4000-8000-000000000001",
            "memory": "Lives in Berlin",
            "hash": "cafe",
            "metadata": {"topic": "home"},
            "created_at": "2026-01-01T10:00:00-07:00",
            "updated_at": None,
            "user_id": "alice",
            "agent_id": "bot",
        },
        {
            "id": "8c1f7b1e-0001-4000-8000-000000000002",
            "memory": "Likes tea",
            "created_at": "2026-01-02T10:00:00+00:00",
            "updated_at": "2026-01-03T10:00:00+00:00",
            "user_id": "bob",
            "expiration_date": "2099-05-05",
        },
    ],
    "relations": [{"source": "alice", "relationship": "lives_in", "target": "berlin"}],
}
EDGE = {
    "uuid": "5a2e0000-0000-4000-8000-000000000001",
    "name": "LIVES_IN",
    "fact": "Alice lives in Berlin",
    "created_at": "2026-01-05T09:00:00Z",
    "valid_at": "2025-03-01T00:00:00Z",
    "invalid_at": None,
    "user_id": "alice",
    "source_node_name": "Alice",
    "target_node_name": "Berlin",
}
ENDED = {
    **EDGE,
    "uuid": "5a2e0000-0000-4000-8000-000000000002",
    "fact": "Alice lives in Rome",
    "valid_at": "2024-03-01T00:00:00Z",
    "invalid_at": "2025-03-01T00:00:00Z",
}
ITEM = {
    "namespace": ["memories", "alice"],
    "key": "prefs",
    "value": {"theme": "dark", "n": 3},
    "created_at": "2026-01-01T10:00:00+00:00",
    "updated_at": "2026-01-02T10:00:00+00:00",
}


def bring(
    memory: incumbent.Memory, things: Iterator[Thing], **options: Any
) -> tuple[ImportTally, list[str]]:
    """Import things; gives the tally and what was bad."""
    wrong: list[str] = []

    def bad(place: str, error: Exception) -> None:
        wrong.append(f"{place}: {error}")

    importer = Importer(memory, organization="default", bad=bad, **options)
    importer.take(things)
    importer.finish()
    return importer.tally, wrong


def read_mem0(record: Any) -> Iterator[Thing]:
    return from_mem0.read("the document", record, Surroundings())


def read_zep(record: Any, **around: Any) -> Iterator[Thing]:
    return from_zep.read("the document", record, Surroundings(**around))


def read_langgraph(record: Any, part: int | None = None, **around: Any) -> Iterator[Thing]:
    return from_langgraph.read("the document", record, Surroundings(**around), part)


class TestMem0:
    """Memories of mem0 become facts, each at an address of its own."""

    @pytest.mark.on_every_store
    def test_a_memory_becomes_a_fact_that_says_where_it_is_from(
        self, memory: incumbent.Memory
    ) -> None:
        """Its id, its text, its time, and that a model worded it."""
        tally, wrong = bring(memory, read_mem0(MEM0))
        assert (tally.facts, tally.users, wrong) == (2, {"alice", "bob"}, [])
        fact = memory.session(user_id="alice").get("8c1f7b1e-0001-4000-8000-000000000001")
        assert fact is not None
        assert fact.value == "Lives in Berlin"
        assert fact.timestamp == datetime(2026, 1, 1, 17, tzinfo=UTC)
        source = fact.source
        assert (source.name, source.ref) == ("mem0", "mem0:8c1f7b1e-0001-4000-8000-000000000001")
        assert source.composed
        assert source.by_machine

    def test_the_drop_in_finds_it_under_its_old_id(self, memory: incumbent.Memory) -> None:
        """Ids that an application keeps go on working, and so do metadata and agents."""
        bring(memory, read_mem0(MEM0))
        mem = Memory(memory)
        found = mem.get("8c1f7b1e-0001-4000-8000-000000000001")
        assert found is not None
        assert (found["memory"], found["metadata"]) == ("Lives in Berlin", {"topic": "home"})
        assert mem.get_all(filters={"agent_id": "bot"})["results"] == [
            {name: value for name, value in found.items() if name != "score"}
        ]
        ends = mem.get("8c1f7b1e-0001-4000-8000-000000000002")
        assert ends is not None
        assert ends["expiration_date"] == "2099-05-05"

    def test_one_memory_does_not_replace_another(self, memory: incumbent.Memory) -> None:
        """They were told apart where they come from; nothing is read into them."""
        told = ["Lives in Berlin", "Works at Acme", "Moved to Paris", "Likes Paris"]
        records = [{"id": str(n), "memory": text, "user_id": "a"} for n, text in enumerate(told)]
        bring(memory, read_mem0(records))
        assert sorted(f.value for f in memory.session(user_id="a").facts()) == sorted(told)

    def test_a_relation_of_a_graph_is_counted_and_not_lost_in_silence(
        self, memory: incumbent.Memory
    ) -> None:
        """Graphs are not taken over, and the tally says so."""
        tally, _ = bring(memory, read_mem0(MEM0))
        assert dict(tally.not_taken) == {"1 relation(s) of a graph": 1}

    @pytest.mark.parametrize(
        "record", [MEM0, MEM0["results"], {"memories": MEM0["results"]}, MEM0["results"][0]]
    )
    def test_every_shape_of_a_listing_is_read(self, record: Any) -> None:
        """A document with `results` or `memories`, a bare list, a single memory."""
        assert any(getattr(one, "value", "") == "Lives in Berlin" for one in read_mem0(record))

    @pytest.mark.parametrize(
        ("record", "told"),
        [
            ({"id": "1"}, "it has no 'memory'"),
            ("text", "it is a text"),
            ({"memory": 3}, "must be a string"),
            ({"memory": "x", "created_at": "yesterday"}, "ISO 8601"),
            ({"memory": "x", "user_id": "two words"}, "names nobody"),
            ({"memory": "x", "metadata": []}, "metadata must be a mapping"),
        ],
    )
    def test_a_bad_memory_is_told(self, record: Any, told: str) -> None:
        """In words that say what is wrong with it."""
        with pytest.raises(InvalidInput, match=told):
            list(read_mem0(record))


class TestTwice:
    """A second run brings only what changed."""

    @pytest.mark.on_every_store
    def test_the_same_export_again_changes_nothing(self, memory: incumbent.Memory) -> None:
        """Facts and turns are known by their ids."""
        bring(memory, read_mem0(MEM0))
        bring(memory, read_zep([EDGE, ENDED]))
        before = list(memory.export("default"))
        for things in (read_mem0(MEM0), read_zep([EDGE, ENDED])):
            tally, _ = bring(memory, things)
            assert (tally.facts, tally.updated, tally.before) == (0, 0, 2)
        assert list(memory.export("default")) == before

    def test_a_memory_that_changed_there_is_superseded_here(self, memory: incumbent.Memory) -> None:
        """The new text takes office, and the chain tells both."""
        bring(memory, read_mem0(MEM0))
        later = {**MEM0["results"][1], "memory": "Likes coffee"}
        later["updated_at"] = "2026-02-01T10:00:00+00:00"
        tally, _ = bring(memory, read_mem0([later]))
        assert tally.updated == 1
        rows = Memory(memory).history("8c1f7b1e-0001-4000-8000-000000000002")
        assert [row["new_memory"] for row in rows] == ["Likes tea", "Likes coffee"]
        assert bring(memory, read_mem0([later]))[0].before == 1
        assert bring(memory, read_mem0(MEM0))[0].before == 2

    def test_what_was_corrected_here_stays_corrected(self, memory: incumbent.Memory) -> None:
        """An old export does not bring an old value back."""
        bring(memory, read_mem0(MEM0))
        mem = Memory(memory)
        mem.update("8c1f7b1e-0001-4000-8000-000000000001", "Lives in Paris")
        bring(memory, read_mem0(MEM0))
        found = mem.get("8c1f7b1e-0001-4000-8000-000000000001")
        assert found is not None
        assert found["memory"] == "Lives in Paris"
        mem.delete("8c1f7b1e-0001-4000-8000-000000000001")
        bring(memory, read_mem0(MEM0))
        assert mem.get("8c1f7b1e-0001-4000-8000-000000000001") is None

    def test_a_fact_that_ended_there_ends_here(self, memory: incumbent.Memory) -> None:
        """An edge that Zep invalidated since is retracted as of that time."""
        bring(memory, read_zep([EDGE]))
        tally, _ = bring(memory, read_zep([{**EDGE, "invalid_at": "2026-01-04T00:00:00Z"}]))
        assert tally.ended == 1
        assert memory.session(user_id="alice").facts() == []

    def test_an_import_goes_on_where_it_stopped(self, memory: incumbent.Memory) -> None:
        """What was written before an interruption is there, and is passed over."""
        many = [{"id": f"m{n}", "memory": f"note {n}", "user_id": "a"} for n in range(120)]

        def interrupted() -> Iterator[Thing]:
            for number, thing in enumerate(read_mem0(many)):
                if number == 70:
                    raise KeyboardInterrupt
                yield thing

        with pytest.raises(KeyboardInterrupt):
            bring(memory, interrupted())
        kept = len(memory.session(user_id="a").facts())
        assert kept == 50
        tally, _ = bring(memory, read_mem0(many))
        assert (tally.facts, tally.before) == (70, 50)


class TestZep:
    """Edges become facts with their times, messages are observed."""

    def test_an_edge_holds_while_it_held_there(self, memory: incumbent.Memory) -> None:
        """What was invalidated is past: seen as of then, and not now."""
        tally, wrong = bring(memory, read_zep({"edges": [EDGE, ENDED]}))
        assert (tally.facts, wrong) == (2, [])
        alice = memory.session(user_id="alice")
        assert [fact.value for fact in alice.facts()] == ["Alice lives in Berlin"]
        then = alice.as_of(datetime(2024, 6, 1, tzinfo=UTC))
        assert [fact.value for fact in then.facts()] == ["Alice lives in Rome"]
        assert alice.facts()[0].key.startswith("lives_in.")

    def test_messages_are_observed_in_their_session(self, memory: incumbent.Memory) -> None:
        """A person's words become facts; the assistant's and the application's do not."""
        session = {
            "session_id": "s1",
            "user_id": "alice",
            "messages": [
                {"uuid": "m0", "role": "system", "content": "Be brief."},
                {"uuid": "m1", "role": "Alice", "role_type": "user", "content": "I have a dog."},
                {"uuid": "m2", "role_type": "assistant", "content": "Lovely."},
                {"uuid": "m3", "role": "user", "content": "The shipping address is 1 Elm Row."},
            ],
            "summary": {"content": "A talk."},
        }
        tally, _ = bring(memory, read_zep(session))
        assert (tally.turns, tally.before) == (3, 0)
        assert dict(tally.not_taken) == {
            "1 of 'summary'": 1,
            "a message of the application itself": 1,
        }
        found = memory.session(user_id="alice").facts("shipping_address")[0]
        assert (found.value, found.source.ref) == ("1 Elm Row", "zep:m3")
        assert bring(memory, read_zep(session))[0].before == 3

    @pytest.mark.parametrize(
        "record",
        [
            {"items": [EDGE], "next_cursor": None},
            [EDGE],
            EDGE,
            {"facts": ["Alice lives in Berlin"], "user_id": "alice"},
            {"relevant_facts": [{"fact": "Alice lives in Berlin", "uuid": "x"}]},
        ],
    )
    def test_every_shape_is_read(self, record: Any) -> None:
        """Pages, lists, single edges, and the facts of older sessions."""
        [found] = read_zep(record)
        assert getattr(found, "value", "") == "Alice lives in Berlin"

    @pytest.mark.parametrize(
        ("record", "told"),
        [
            ({**EDGE, "invalid_at": "2020-01-01T00:00:00Z"}, "before it begins"),
            ({"name": "LIVES_IN"}, "it has no 'fact' or 'content'"),
            ({"fact": 3}, "must be a string"),
            (7, "it is a number"),
        ],
    )
    def test_a_bad_edge_is_told(self, record: Any, told: str) -> None:
        """In words that say what is wrong with it."""
        with pytest.raises(InvalidInput, match=told):
            list(read_zep(record))


class TestLangGraph:
    """Items of a store become facts at their keys, messages of threads are observed."""

    def test_an_item_is_a_fact_at_its_key(self, memory: incumbent.Memory) -> None:
        """A part of its namespace may name the user; the rest is what it is about."""
        tally, _ = bring(memory, read_langgraph([ITEM], part=2))
        assert tally.facts == 1
        alice = memory.session(user_id="alice")
        assert alice.current("prefs", "memories") == {"theme": "dark", "n": 3}

    @pytest.mark.parametrize(
        ("value", "kept"),
        [
            ({"text": "Likes tea"}, "Likes tea"),
            ({"kind": "Memory", "content": {"content": "Likes tea"}}, "Likes tea"),
            ({"text": "Likes tea", "n": 1}, {"text": "Likes tea", "n": 1}),
            ([1, 2], [1, 2]),
        ],
    )
    def test_an_item_that_is_only_a_text_is_that_text(self, value: Any, kept: Any) -> None:
        """Anything else stays as it is."""
        [found] = read_langgraph({**ITEM, "value": value}, user="alice")
        assert getattr(found, "value", None) == kept

    @pytest.mark.parametrize(
        "thread",
        [
            {"values": {"messages": []}, "config": {"configurable": {"thread_id": "t1"}}},
            {"channel_values": {"messages": []}, "thread_id": "t1"},
            {"messages": [], "thread_id": "t1", "metadata": {"user_id": "alice"}},
        ],
    )
    def test_messages_of_a_thread_are_observed(
        self, memory: incumbent.Memory, thread: dict[str, Any]
    ) -> None:
        """In the shapes in which LangChain dumps them; what only calls a tool says nothing."""
        inner = thread.get("values") or thread.get("channel_values") or thread
        inner["messages"] = [
            {"type": "system", "content": "Be brief."},
            {"type": "human", "data": {"content": "The shipping address is 1 Elm Row.", "id": "a"}},
            {"type": "ai", "content": "", "id": "b", "tool_calls": [{"name": "x"}]},
            {"role": "user", "content": [{"type": "text", "text": "I have a dog."}], "id": "c"},
        ]
        tally, wrong = bring(memory, read_langgraph(thread, user="alice"))
        assert (tally.turns, wrong) == (2, [])
        found = memory.session(user_id="alice").facts("shipping_address")[0]
        assert found.source.ref == "langgraph:t1:a"

    @pytest.mark.parametrize(
        ("record", "told"),
        [
            ({"namespace": 3, "key": "k", "value": 1}, "must be a list of names"),
            ({"namespace": ["a"], "key": "k"}, "it has no 'value'"),
            ({"x": 1}, "it is no item of a store"),
            ("x", "it is no object"),
            ({"messages": ["x"]}, "a message must be an object"),
        ],
    )
    def test_a_bad_record_is_told(self, record: Any, told: str) -> None:
        """In words that say what is wrong with it."""
        with pytest.raises(InvalidInput, match=told):
            list(read_langgraph(record))

    def test_a_namespace_without_that_part_is_told(self) -> None:
        """The part that should name the user is not there."""
        with pytest.raises(InvalidInput, match="has no part 3"):
            list(read_langgraph(ITEM, part=3))


class TestPeople:
    """Whose things are."""

    def test_a_user_can_have_another_name_here(self, memory: incumbent.Memory) -> None:
        """Ids of the export are replaced where asked."""
        tally, _ = bring(memory, read_mem0(MEM0), renamed={"alice": "a.smith"})
        assert tally.users == {"a.smith", "bob"}

    def test_a_thing_of_nobody_is_refused_unless_a_user_is_named(
        self, memory: incumbent.Memory
    ) -> None:
        """And goes to that user then."""
        nobody = [{"id": "1", "memory": "Likes tea"}]
        tally, wrong = bring(memory, read_mem0(nobody))
        assert (tally.facts, tally.skipped) == (0, 1)
        assert "names no user" in wrong[0]
        assert bring(memory, read_mem0(nobody), user="alice")[0].facts == 1

    def test_one_that_cannot_be_written_does_not_take_others_with_it(
        self, memory: incumbent.Memory
    ) -> None:
        """A text over the limit is told by its place, and the rest is written."""
        texts = ["Likes tea", "x" * 2_000_000, "Likes coffee"]
        records = [{"id": str(n), "memory": text, "user_id": "a"} for n, text in enumerate(texts)]
        tally, wrong = bring(memory, read_mem0(records))
        assert (tally.facts, tally.skipped) == (2, 1)
        assert wrong[0].startswith("item 2: ")
