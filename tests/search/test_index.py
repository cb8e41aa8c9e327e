"""The index: it lives and dies with the facts, in every process, and makes itself anew."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import incumbent
from incumbent import Memory
from incumbent.search import index as index_module
from incumbent.search import shelf_index as stack_module
from incumbent.search.embedders import load
from incumbent.search.index import Index, quantised
from incumbent.search.shelf_index import ShelfIndex
from incumbent.stores.port import Placed, Reader, Selection, Shelf
from incumbent.testing import SteppingClock
from tests.conftest import QUICK, STORES, examples
from tests.properties.contexts import (
    FAST,
    QUERIES,
    Story,
    a_memory,
    a_place,
    a_story,
    histories,
    told,
)
from tests.properties.world import ORGANIZATION, all_facts
from tests.search.sample import ask_read_only
from tests.stores import processes

FEW = settings(max_examples=examples(25, soak=200), deadline=None)
queries = st.sampled_from(QUERIES)
WITHOUT = replace(FAST, embedder=None)


def all_shelves(reader: Reader) -> list[Shelf]:
    """Every shelf of every owner in every place that a story writes to."""
    facts = reader.timeline(Selection())
    owners = tuple(sorted({fact.owner for fact in facts}))
    places = tuple(sorted({fact.place for fact in facts}))
    return reader.shelves(owners, places)


def check_index(memory: Memory, *, vectors: bool = True) -> None:
    """Entries, postings and stacks say what the facts say."""
    with memory.store.read(ORGANIZATION) as reader:
        head = reader.head()[1]
        facts = {fact.id: fact for fact in reader.timeline(Selection())}
        if not facts:
            return
        assert head is not None
        assert memory.index.is_current(reader)
        assert reader.unindexed(10) == []
        placed: dict[str, tuple[Shelf, Placed]] = {}
        names = {row.entry: row.fact_id for row in reader.entries_of(all_facts(memory))}
        for shelf in all_shelves(reader):
            entries = list(reader.placed(shelf.id, 0))
            stack = ShelfIndex(memory.index.dimensions)
            stack.catch_up(iter(entries), shelf.version)
            assert stack.newest(1_000) == sorted(one.entry for one in entries if one.live)
            placed.update({names[one.entry]: (shelf, one) for one in entries})
        assert facts.keys() <= placed.keys()
        live = {fact.id for fact in reader.live(Selection())}
        assert live == {fact.id for fact in facts.values() if fact.may_hold_after(head)}
        for fact_id, (shelf, one) in placed.items():
            fact = facts.get(fact_id)
            if fact is None:  # erased
                assert (one.live, one.key, one.probes, one.vector) == (False, "", "", None)
                continue
            assert one.live == (fact_id in live), fact
            assert one.key == fact.key
            assert (shelf.owner, shelf.place) == (fact.owner, fact.place)
            assert (shelf.requires, shelf.binding) == (fact.requires, fact.comes_first)
            assert not one.live or not vectors or one.vector is not None
        check_postings(reader, {one.entry: one.live for _, one in placed.values()})


def check_postings(reader: Reader, live: dict[int, bool]) -> None:
    """An entry is posted under each of its terms exactly while it is live."""
    shelves = [shelf.id for shelf in all_shelves(reader)]
    rows = reader.found(sorted(live))
    for row in rows:
        for term in set(row.terms.split()):
            posted = reader.postings(shelves, term, 1_000)
            assert (row.entry in posted) == live[row.entry]


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("embedder", ["static", None])
@FEW
@given(history=histories)
def test_the_index_follows_every_change(
    store: str, embedder: str | None, history: list[tuple[Any, ...]]
) -> None:
    """After writes, supersessions, undos, retractions and erasures, it holds what is live."""
    with a_story(store, history, replace(FAST, embedder=embedder)) as (story, _):
        check_index(story.memory, vectors=embedder is not None)
        story.memory.reindex(ORGANIZATION)
        check_index(story.memory, vectors=embedder is not None)


@FEW
@given(parts=st.lists(histories, min_size=2, max_size=4), query=queries)
def test_a_reader_keeps_up_with_a_writer(parts: list[list[tuple[Any, ...]]], query: str) -> None:
    """Of two memories on one file, one that only reads always agrees with the one that writes."""
    with (
        a_story("sqlite", []) as (story, where),
        incumbent.open(where, clock=story.clock, settings=FAST) as beside,
    ):
        for part in parts:
            story.play(part)
            ours = story.reader.context(query)
            assert told(story.resumed(beside).context(query)) == told(ours)
        story.memory.reindex(ORGANIZATION)
        assert told(story.resumed(beside).context(query)) == told(story.reader.context(query))


def test_a_reader_that_is_far_behind_catches_up() -> None:
    """Changes that come in many portions, new entries and later changes of them, are taken in."""
    clock = SteppingClock()
    with (
        pytest.MonkeyPatch.context() as patch,
        a_place("sqlite") as where,
        incumbent.open(where, clock=clock, settings=FAST) as writing,
        incumbent.open(where, clock=clock, settings=FAST) as reading,
    ):
        patch.setattr(stack_module, "_PORTION", 8)
        writer, reader = (
            memory.session(user_id="eve", organization=ORGANIZATION, session_id="s")
            for memory in (writing, reading)
        )
        writer.write("first", "the first of all")
        reader.context("first")
        writer.write_many(
            {"key": f"key_{number}", "value": f"value {number}"} for number in range(20)
        )
        writer.write("key_1", "another value")
        assert told(reader.context("value")) == told(writer.context("value"))


@FEW
@given(history=histories, later=histories, query=queries, change=st.sampled_from([None, "static"]))
def test_another_embedder_makes_the_index_anew(
    history: list[tuple[Any, ...]],
    later: list[tuple[Any, ...]],
    query: str,
    change: str | None,
) -> None:
    """A file made with one embedder and opened with another is as if made with that one."""
    before = replace(FAST, embedder="static" if change is None else None)
    after = replace(FAST, embedder=change)
    with a_story("sqlite", [*history, *later], after) as (story, _):
        expected = told(story.reader.context(query))
    with (
        a_story("sqlite", history, before) as (story, where),
        incumbent.open(where, clock=story.clock, settings=after) as memory,
    ):
        continued = Story(memory, story.clock)
        continued.words, continued.verdicts = story.words, story.verdicts
        continued.play(later)
        assert told(continued.reader.context(query)) == expected
        check_index(memory, vectors=change is not None)


def test_the_default_embedder_takes_over_from_another() -> None:
    """With the embedder that is the default, too: first none, then that, then none again."""
    clock = SteppingClock()
    found: list[Any] = []
    with a_place("sqlite") as where:
        for settings_of in (WITHOUT, QUICK, WITHOUT, QUICK):
            with incumbent.open(where, clock=clock, settings=settings_of) as memory:
                session = memory.session(user_id="eve", organization=ORGANIZATION, session_id="s")
                if not found:
                    session.write("allergy", "shellfish", id="one")
                    session.write("hotel", "near the station", id="two")
                found.append(told(session.context("Is shrimp a problem?")))
                check_index(memory, vectors=settings_of is QUICK)
    assert found[0] == found[2]
    assert found[1] == found[3]
    assert found[0] != found[1]


@FEW
@given(history=histories, query=queries)
def test_a_memory_that_wrote_without_an_index(history: list[tuple[Any, ...]], query: str) -> None:
    """What was written with indexing off is indexed when a context is first asked for with it."""
    with a_story("sqlite", history, replace(FAST, indexing=False)) as (story, where):
        expected = told(story.reader.context(query))
        with incumbent.open(where, clock=story.clock, settings=FAST) as memory:
            assert told(story.resumed(memory).context(query)) == expected
            check_index(memory)


@pytest.mark.parametrize("folder_mode", [0o777, 0o555], ids=["open folder", "closed folder"])
def test_a_file_that_cannot_be_written_still_gives_a_context(folder_mode: int) -> None:
    """Where the index is outdated and the file is read-only, the facts themselves are searched."""
    history = [("write", "employee", key, None, False, False) for key in ("plan", "venue", "plan")]
    with a_story("sqlite", history, WITHOUT) as (story, where):
        now = story.clock.now
        story.memory.close()
        path, copy = Path(where), Path(where).with_name("copy.db")
        shutil.copy(path, copy)
        with incumbent.open(copy, clock=SteppingClock(now), settings=FAST) as memory:
            expected = told(story.resumed(memory).context("plan"))
        path.chmod(0o444)
        path.parent.chmod(folder_mode)
        found = processes.run_alone(ask_read_only, path, now, "plan")
        path.parent.chmod(0o755)
        assert found["told"] == expected
        assert not found["current"]
        assert found["refused"] == "ReadOnlyStore"


class Guarded:
    """A store in which something happens before each turn to write."""

    def __init__(self, store: Any, before: Callable[[int], None]) -> None:
        self._store = store
        self._before = before
        self._turns = 0

    @contextmanager
    def write(self, organization: str) -> Iterator[Any]:
        self._turns += 1
        self._before(self._turns)
        with self._store.write(organization) as transaction:
            yield transaction

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.mark.parametrize("turn", range(1, 9))
@pytest.mark.parametrize("store", STORES)
def test_two_that_make_the_index_anew_do_not_spoil_it(store: str, turn: int) -> None:
    """Whenever the index says that it is complete, it is, although two are making it at once."""
    with a_memory(store) as memory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_module, "_PORTION", 8)
        session = memory.session(user_id="eve", organization=ORGANIZATION, session_id="s")
        session.write_many(
            {"key": f"key_{number}", "value": f"value {number}"} for number in range(20)
        )
        incomplete = []

        def look(turns: int) -> None:
            if turns == turn:
                memory.index.rebuild(memory.store, ORGANIZATION)
            with memory.store.read(ORGANIZATION) as reader:
                if memory.index.is_current(reader) and reader.unindexed(1):
                    incomplete.append(turns)

        store_with_company: Any = Guarded(memory.store, look)
        memory.index.rebuild(store_with_company, ORGANIZATION)
        assert incomplete == []
        check_index(memory)


@pytest.mark.parametrize("turn", range(1, 9))
def test_writes_while_the_index_is_made_anew_are_in_it(turn: int) -> None:
    """What somebody writes, changes or erases in between is where it belongs in the end."""
    with a_memory("sqlite") as memory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_module, "_PORTION", 8)
        session = memory.session(user_id="eve", organization=ORGANIZATION, session_id="s")
        written = session.write_many(
            {"key": f"key_{number}", "value": f"value {number}"} for number in range(20)
        )

        def meddle(turns: int) -> None:
            if turns == turn:
                session.write("late", "a late value")
                session.write("key_3", "another value")
                session.retract("key_4")
                memory.forget(organization=ORGANIZATION, fact_id=written[5].fact_id)

        store_with_company: Any = Guarded(memory.store, meddle)
        memory.index.rebuild(store_with_company, ORGANIZATION)
        session.context("value")
        check_index(memory)


def test_a_transaction_that_fails_leaves_the_index_as_it_was() -> None:
    """A batch that is refused halfway leaves neither facts nor entries."""
    for store in STORES:
        with a_memory(store) as memory:
            session = memory.session(user_id="eve", organization=ORGANIZATION, session_id="s")
            session.write("plan", "the first plan", id="one")
            before = told(session.context("plan"))
            with pytest.raises(incumbent.IncumbentError):
                session.write_many(
                    [
                        {"key": "plan", "value": "the second plan"},
                        {"key": "venue", "value": "the venue of the plan", "id": "one"},
                    ]
                )
            assert told(session.context("plan")) == before
            check_index(memory)


# what it tells, and what it keeps


def test_progress_is_told() -> None:
    """Making an index anew says how far it is, up to the whole."""
    with a_memory("memory") as memory:
        session = memory.session(user_id="eve", organization=ORGANIZATION, session_id="s")
        session.write_many({"key": f"key_{number}", "value": number} for number in range(300))
        heard: list[tuple[str, int, int | None]] = []
        memory.progress = lambda what, done, total: heard.append((what, done, total))
        assert memory.reindex(ORGANIZATION) == 300
        assert {what for what, _, _ in heard} == {"indexing facts"}
        done = [count for _, count, _ in heard]
        assert done == sorted(done)
        assert heard[0][1] == 0
        assert heard[-1][1:] == (300, 300)
        assert all(total is not None and count <= total for _, count, total in heard)


def test_an_index_is_not_made_twice() -> None:
    """A context on an index that is current makes nothing anew."""
    with a_memory("memory") as memory:
        session = memory.session(user_id="eve", organization=ORGANIZATION, session_id="s")
        session.write("plan", "a plan")
        heard: list[str] = []
        memory.progress = lambda what, done, total: heard.append(what)
        session.context("plan")
        session.write("plan", "another plan")
        session.context("plan")
        assert heard == []


class Counting:
    """An embedder that counts what it is asked for."""

    name = "counting 1"
    dimensions = 4

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.texts.extend(texts)
        rows = [[len(text), text.count("a"), text.count("e"), 1.0] for text in texts]
        table = np.array(rows, np.float32).reshape(len(rows), 4)
        return table / np.linalg.norm(table, axis=1, keepdims=True)


def test_the_meaning_of_a_text_is_worked_out_once() -> None:
    """A statement that is repeated, or of a fact that only changes, costs no embedding again."""
    embedder = Counting()
    with a_memory("memory", settings=replace(FAST, embedder=embedder)) as memory:
        session = memory.session(user_id="eve", organization=ORGANIZATION, session_id="s")
        verdict = session.write("plan", "a plan")
        session.write("plan", "a plan")
        session.undo(verdict)
        session.retract(session.write("plan", "a plan").fact_id)
        assert embedder.texts == ["plan: a plan"]
        memory.reindex(ORGANIZATION)
        assert embedder.texts == ["plan: a plan"]


def test_a_query_without_words_has_no_meaning() -> None:
    """Nothing is asked of the embedder for an empty query, and there is no embedder to ask."""
    embedder = Counting()
    with a_memory("memory", settings=replace(FAST, embedder=embedder)) as memory:
        assert memory.index.meaning(" \n") is None
        assert embedder.texts == []
    with a_memory("memory", settings=WITHOUT) as memory:
        assert memory.index.meaning("plan") is None
        assert memory.index.dimensions == 0


def test_recipes_tell_indexes_apart() -> None:
    """Embedder and tokenizer are part of how an index was made."""
    recipes = set()
    for embedder in (None, load("static"), load("minilm")):
        for tokenizer in ("o200k_base", "cl100k_base"):
            made = Index(embedder, tokenizer=tokenizer, measure=lambda fact: 1)
            recipes.add(made.recipe)
    assert len(recipes) == 6


@FEW
@given(
    rows=st.lists(
        st.lists(st.floats(-1, 1, width=32), min_size=5, max_size=5), min_size=1, max_size=4
    )
)
@example(rows=[[0.0] * 5])
def test_vectors_keep_their_direction_in_bytes(rows: list[list[float]]) -> None:
    """One byte a dimension: the largest part fills it, and the direction is nearly the same."""
    table = np.array(rows, np.float32)
    for row, made in zip(table, quantised(table), strict=True):
        small = np.frombuffer(made, np.int8)
        assert len(small) == 5
        largest = float(np.abs(row).max())
        assert np.abs(small.astype(int)).max() == (127 if largest else 0)
        if largest > 1e-30:
            assert np.allclose(small / 127, row / largest, atol=0.5 / 127 + 1e-3)
        alone = quantised(row[None, :])[0]
        assert alone == made
