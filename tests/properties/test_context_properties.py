"""Contexts of random histories: never too long, always the same bytes, all accounted for."""

from __future__ import annotations

import re
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import incumbent
from incumbent import Context
from incumbent.context.rendering import HISTORY, UNKNOWN, WORKING_SET
from incumbent.model.fact import Fact, Status
from incumbent.search import retrieval
from incumbent.testing import SteppingClock
from tests.conftest import QUICK, STORES, examples
from tests.properties.contexts import (
    FAST,
    PROFILES,
    QUERIES,
    STYLES,
    Story,
    a_memory,
    a_place,
    a_story,
    encoder,
    histories,
    quiet_histories,
    told,
)
from tests.properties.world import ORGANIZATION

TOKENIZERS = ("o200k_base", "cl100k_base", "gemma3", "mistral_v1")
"""Two whose lines cost as much together as apart, and two of which that is not so."""

FEW = settings(max_examples=examples(60, soak=500), deadline=None)
FEWER = settings(max_examples=examples(25, soak=300), deadline=None)
queries = st.sampled_from(QUERIES)


# the ceiling

SCRAPS = (
    "\n|\r\n|\n\n|\t|/|//|/n|)|).|!?|...|: |- |# |\n# Facts|\n- |  | |\u00a0|\u3000|\u2028|é|日本語"
    f"|🜁|👩‍👩‍👧|\u0301|\u200b|\ufeff|12|3,456|0|a|The|x|{'w' * 30}"
).split("|")
"""Where tokenizers cut, and where they are tempted to join."""

untidy = st.lists(st.sampled_from(SCRAPS), max_size=12).map("".join)
values = st.one_of(
    untidy,
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), max_size=20),
    st.lists(untidy, max_size=3),
    st.dictionaries(st.sampled_from(["a", "/", "b c"]), untidy, max_size=2),
    st.integers(),
)
names = st.sampled_from(
    ["plan", "/tmp", "/", "(x)", "a:b", "- a", "# a", "日本", "🜁", "!", "...", "n\u00a0b"]
)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@FEW
@given(
    facts=st.lists(st.tuples(names, values), max_size=6),
    notes=st.lists(st.tuples(names, values), max_size=4),
    signals=st.lists(st.tuples(names, values), max_size=4),
    user=names,
    shown=st.tuples(st.sampled_from(PROFILES), st.sampled_from(STYLES), st.booleans()),
    budgets=st.lists(st.integers(0, 250), min_size=1, max_size=6),
)
@example(
    facts=[],
    notes=[],
    signals=[("(x)", "fine!)"), ("/", "fine!)"), ("/tmp", "fine!)")],
    user="plan",
    shown=("balanced", "plain", False),
    budgets=[100],
)
def test_the_ceiling_holds_for_any_text(
    tokenizer: str,
    facts: list[tuple[str, Any]],
    notes: list[tuple[str, Any]],
    signals: list[tuple[str, Any]],
    user: str,
    shown: tuple[str, str, bool],
    budgets: list[int],
) -> None:
    """A context counts what the tokenizer counts for its text, and stays within the budget."""
    profile, style, history = shown
    with a_memory("memory", settings=replace(FAST, tokenizer=tokenizer)) as memory:
        session = memory.session(user_id=user, organization=ORGANIZATION, session_id="s")
        for name, value in facts:
            session.write(name, value)
        for name, value in notes:
            session.note(name, value)
        for name, value in signals:
            memory.environment.provide(name, partial(copy, value))
        for budget in (*budgets, 100_000):
            context = session.context(
                "what now?", budget=budget, profile=profile, style=style, history=history
            )
            assert context.tokens == len(encoder(tokenizer)(context.text))
            assert context.tokens <= budget


@pytest.mark.parametrize("store", STORES)
@FEWER
@given(
    history=histories,
    query=queries,
    shown=st.tuples(st.sampled_from(PROFILES), st.sampled_from(STYLES), st.booleans()),
    budgets=st.lists(st.integers(0, 300), min_size=1, max_size=6),
)
def test_the_budget_is_never_exceeded(
    store: str,
    history: list[tuple[Any, ...]],
    query: str,
    shown: tuple[str, str, bool],
    budgets: list[int],
) -> None:
    """Invariant 4: counted again from outside, on the whole text, whatever happened before."""
    profile, style, past = shown
    encode = encoder("o200k_base")
    with a_story(store, history) as (story, _):
        for budget in (*budgets, 100_000):
            context = story.reader.context(
                query, budget=budget, profile=profile, style=style, history=past
            )
            assert len(encode(context.text)) == context.tokens <= budget


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_every_small_budget_is_kept(tokenizer: str) -> None:
    """Invariant 4 for every budget from 0 to 300, with text that tokenizers find awkward."""
    encode = encoder(tokenizer)
    with a_memory("memory", settings=replace(FAST, tokenizer=tokenizer)) as memory:
        session = memory.session(user_id="eve", organization=ORGANIZATION, session_id="s")
        awkward = ["é" * 9, "日本語のテキスト", "🜁🜂🜃", "a\nb", "    ", "x" * 70, "1" * 40, "ﬀ́"]
        for number, value in enumerate(awkward * 3):
            session.write(f"key_{number}", f"{value}{number}")
            session.note(f"note_{number}", f"{number}{value}")
        sizes = []
        for budget in (*range(301), 1000, 10_000):
            context = session.context("what now?", budget=budget)
            assert len(encode(context.text)) == context.tokens <= budget
            sizes.append(context.tokens)
        assert sizes[-1] > 300


@FEWER
@given(history=histories, query=queries, budgets=st.lists(st.integers(0, 400), min_size=2))
def test_more_budget_loses_no_room(
    history: list[tuple[Any, ...]], query: str, budgets: list[int]
) -> None:
    """With enough for everything nothing is over budget, and at 0 there is no text at all."""
    with a_story("memory", history) as (story, _):
        for budget in sorted(budgets):
            context = story.reader.context(query, budget=budget)
            assert bool(context.text) == bool(context.tokens)
        nothing = story.reader.context(query, budget=0)
        assert (nothing.text, nothing.tokens, nothing.lines) == ("", 0, ())
        whole = story.reader.context(query, budget=100_000)
        assert all(omission.reason != "over budget" for omission in whole.omissions)


# the same bytes


@pytest.mark.parametrize("store", STORES)
@FEWER
@given(history=histories, query=queries, budget=st.integers(0, 400), style=st.sampled_from(STYLES))
def test_same_state_same_bytes(
    store: str, history: list[tuple[Any, ...]], query: str, budget: int, style: str
) -> None:
    """Invariant 5: asked again, by another session, and from an index made anew."""

    def ask(session: incumbent.Session) -> Context:
        return session.context(query, budget=budget, style=style)

    with a_story(store, history) as (story, _):
        first = ask(story.reader)
        assert ask(story.reader) == first
        assert ask(story.session("employee")) == first
        story.memory.reindex(ORGANIZATION)
        assert told(ask(story.reader)) == told(first)


@FEW
@given(histories, queries, queries)
def test_the_same_facts_stand_in_the_same_order_for_every_question(
    history: list[tuple[Any, ...]], one: str, other: str
) -> None:
    """Questions decide what is shown, never in which order."""
    with a_story("memory", history) as (story, _):
        shown = [
            [(line.section, line.fact_id) for line in context.lines if line.fact_id]
            for context in map(story.reader.context, (one, other))
        ]
    common = set(shown[0]) & set(shown[1])
    first, second = ([line for line in lines if line in common] for lines in shown)
    assert first == second


@FEWER
@given(history=histories, query=queries, budget=st.integers(0, 400))
def test_another_process_gets_the_same_bytes(
    history: list[tuple[Any, ...]], query: str, budget: int
) -> None:
    """A second memory on the file, before and after the first is closed, gives the same."""
    with a_story("sqlite", history) as (story, where):
        first = story.reader.context(query, budget=budget)
        with incumbent.open(where, clock=story.clock, settings=FAST) as beside:
            assert story.resumed(beside).context(query, budget=budget) == first
        story.memory.close()
        with incumbent.open(where, clock=story.clock, settings=FAST) as again:
            assert story.resumed(again).context(query, budget=budget) == first


@FEWER
@given(history=histories, query=queries, budget=st.integers(0, 400), past=st.booleans())
def test_every_store_gives_the_same_bytes(
    history: list[tuple[Any, ...]], query: str, budget: int, past: bool
) -> None:
    """The same history on another store gives the same context, ids and scores included."""
    found = []
    for store in STORES:
        with a_story(store, history) as (story, _):
            found.append(story.reader.context(query, budget=budget, history=past))
    assert told(found[0]) == told(found[1])


def without_frame(context: Context) -> tuple[Any, ...]:
    """What a context tells but for the line that it is of another moment."""
    lines = tuple(line for line in context.lines if not line.text.startswith("Looking "))
    return (lines, context.omissions)


@pytest.mark.parametrize("store", STORES)
@FEWER
@given(history=quiet_histories, query=queries, past=st.booleans(), style=st.sampled_from(STYLES))
def test_the_present_as_a_moment_past(
    store: str, history: list[tuple[Any, ...]], query: str, past: bool, style: str
) -> None:
    """Looking at this very moment gives what asking now gives, where no notes are at hand."""
    with a_story(store, history) as (story, _):
        present = story.reader.context(query, budget=10_000, history=past, style=style)
        then = story.reader.as_of(present.at)
        looking = then.context(query, budget=10_000, history=past, style=style)
        assert without_frame(looking) == without_frame(present)


@FEWER
@given(history=histories, query=queries, budget=st.integers(0, 400))
def test_without_an_index_the_same_bytes(
    history: list[tuple[Any, ...]], query: str, budget: int
) -> None:
    """A memory that keeps no index reads everything each time, and gives the same."""
    found = []
    for indexing in (True, False):
        with a_story("memory", history, replace(FAST, indexing=indexing)) as (story, _):
            found.append(story.reader.context(query, budget=budget))
    assert told(found[0]) == told(found[1])


@settings(max_examples=examples(6, soak=60), deadline=None)
@given(history=histories, query=queries, budget=st.integers(40, 400))
def test_the_default_embedder_is_as_steady(
    history: list[tuple[Any, ...]], query: str, budget: int
) -> None:
    """With the embedder that ships as the default: two stores, an index made anew, the same."""
    found = []
    for store in STORES:
        with a_story(store, history, QUICK) as (story, _):
            found.append(told(story.reader.context(query, budget=budget)))
            story.memory.reindex(ORGANIZATION)
            found.append(told(story.reader.context(query, budget=budget)))
    assert all(other == found[0] for other in found)


@pytest.mark.parametrize("live", [250, 450])
def test_the_present_as_a_moment_past_in_a_larger_memory(live: int) -> None:
    """Where there are more facts than are named one by one, the two accounts still agree."""
    with a_memory("memory") as memory:
        session = memory.session(user_id="eve", organization=ORGANIZATION, session_id="s")
        for said in ("first", "second"):
            session.write_many(
                {"key": f"key_{number}", "value": f"{said} saying of matter {number}"}
                for number in range(live)
            )
        for query in ("saying", "matter 17", "something else"):
            present = session.context(query, budget=50_000)
            looking = session.as_of(present.at).context(query, budget=50_000)
            assert without_frame(looking) == without_frame(present)


def test_what_was_frequent_once_is_not_remembered_for_ever() -> None:
    """A memory that has been open for long answers like one that was opened just now."""
    clock = SteppingClock()
    query = "widget on the table"
    with (
        pytest.MonkeyPatch.context() as patch,
        a_place("sqlite") as where,
        incumbent.open(where, clock=clock, settings=FAST) as long_open,
    ):
        patch.setattr(retrieval, "_FREQUENT", 50)
        session = long_open.session(user_id="eve", organization=ORGANIZATION, session_id="s")
        for name, text, count in (
            ("early", "widget", 60),
            ("table", "table and chair", 5),
            ("other", "some other thing", 500),
            ("late", "widget by the table", 1),
            ("early", "something else", 30),
        ):
            session.write_many(
                {"key": f"{name}_{number}", "value": f"{text} {number}"} for number in range(count)
            )
            session.context(query)
            with incumbent.open(where, clock=clock, settings=FAST) as just_opened:
                fresh = just_opened.session(
                    user_id="eve", organization=ORGANIZATION, session_id="s"
                )
                assert told(fresh.context(query)) == told(session.context(query))


# the account


def expected_reasons(fact: Fact, profile: str) -> set[str]:
    """Why a fact may be out; the empty text for one that may be in."""
    if not fact.is_valid:
        return {str(fact.status)}
    if fact.needs_review and profile == "high-stakes":
        return {"needs review", "over budget"}
    return {"", "over budget"}


@pytest.mark.parametrize("store", STORES)
@FEW
@given(
    history=histories,
    query=queries,
    budget=st.sampled_from([0, 40, 120, 4000]),
    profile=st.sampled_from(PROFILES),
)
def test_everything_is_shown_or_accounted_for(
    store: str, history: list[tuple[Any, ...]], query: str, budget: int, profile: str
) -> None:
    """Each fact the reader may know of is a line or an omission with the right reason."""
    with a_story(store, history) as (story, _):
        context = story.reader.context(query, budget=budget, profile=profile)
        shown = [
            line.fact_id
            for line in context.lines
            if line.fact_id and line.section not in (HISTORY, UNKNOWN)
        ]
        reasons = {o.fact_id: o.reason for o in context.omissions if o.fact_id and not o.item}
        assert not reasons.keys() & set(shown)
        assert len(shown) == len(set(shown))
        at_work = {fact.id: fact for fact in story.reader.facts()}
        elsewhere = {i for i, reason in reasons.items() if reason == "out of scope"}
        assert elsewhere == story.elsewhere(context.at)
        disputed = contested_words(context)
        for fact in story.of_reader(context.at):
            reason = reasons.pop(fact.id, "")
            if fact.status is Status.CONTESTED and reason == "":
                assert fact.value in disputed
                continue
            assert (fact.id in shown) == (reason == "")
            if fact.is_valid and fact.id not in at_work:
                assert reason in ("shadowed", "overruled")
            else:
                assert reason in expected_reasons(at_work.get(fact.id, fact), profile)
        assert reasons.keys() == elsewhere, "the account speaks of what the reader may not know"


_MARK = re.compile(r" \[contested: (.*)\]")


def contested_words(context: Context) -> set[str]:
    """What a context says was said against the facts that it shows."""
    marks = [found[1] for line in context.lines if (found := _MARK.search(line.text))]
    return {word for mark in marks for word in re.findall(r'"(\w+)" was said', mark)}


@pytest.mark.parametrize("store", STORES)
@FEWER
@given(history=histories, query=queries, budget=st.sampled_from([0, 60, 90, 120, 4000]))
def test_every_note_is_shown_or_accounted_for(
    store: str, history: list[tuple[Any, ...]], query: str, budget: int
) -> None:
    """Each note is a line, or named among what was left out."""
    with a_story(store, history) as (story, _):
        context = story.reader.context(query, budget=budget)
        lines = [line.text for line in context.lines if line.section == WORKING_SET]
        named = {omission.item for omission in context.omissions}
        for item in story.reader.working_set():
            shown = sum(line.startswith(f"- {item.key}: ") for line in lines)
            assert shown <= 1
            assert shown or item.key in named


def test_a_note_is_named_in_full() -> None:
    """A note left out for want of room goes by its whole key, whatever characters that has."""
    keys = ["a:b", "a: b", "- c", "# d", '"e"', "日本: 語"]
    for tokenizer in TOKENIZERS:
        with a_memory("memory", settings=replace(FAST, tokenizer=tokenizer)) as memory:
            session = memory.session(user_id="eve", organization=ORGANIZATION, session_id="s")
            for key in keys:
                session.note(key, f"some words to fill the line {'! ' * 9}")
            for budget in range(40, 240, 3):
                context = session.context("what now?", budget=budget)
                if any(omission.item == "identity" for omission in context.omissions):
                    continue
                lines = [line for line in context.lines if line.section == WORKING_SET]
                named = {o.item for o in context.omissions} & set(keys)
                assert len(lines) + len(named) == len(keys)


@FEWER
@given(history=histories)
def test_history_is_only_for_the_asking(history: list[tuple[Any, ...]]) -> None:
    """Asked for, the past has a section of its own with facts that were once true; else none."""
    query = "plan venue budget tag"
    with a_story("memory", history) as (story, _):
        without = story.reader.context(query, budget=100_000)
        assert all(line.section != HISTORY for line in without.lines)
        context = story.reader.context(query, budget=100_000, history=True)
        past = {line.fact_id: line.text for line in context.lines if line.section == HISTORY}
        known = {fact.id: fact for fact in story.of_reader(context.at)}
        once = (Status.SUPERSEDED, Status.RETRACTED, Status.EXPIRED)
        for fact in known.values():
            was_true = fact.status in once and fact.started_at is not None
            assert (fact.id in past) == was_true
            if was_true:
                assert str(fact.value) in past[fact.id]
        others = [line for line in context.lines if line.section != HISTORY]
        assert [line.text for line in others] == [line.text for line in without.lines]


def test_a_large_memory_can_name_everything() -> None:
    """In a large memory the account gives counts, and every fact by name when asked to explain."""
    with a_memory("sqlite") as memory:
        session = memory.session(user_id="eve", organization=ORGANIZATION, session_id="s")
        for said in ("first", "second"):
            session.write_many(
                {"key": f"key_{number}", "value": f"{said} saying {number}"}
                for number in range(500)
            )
        brief = session.context("saying 17", budget=600)
        full = session.context("saying 17", budget=600, explain=True)
        assert (full.text, full.lines) == (brief.text, brief.lines)
        facts = {fact.id for fact in session.facts()}
        shown = {line.fact_id for line in full.lines if line.fact_id}
        reasons = {o.fact_id: o.reason for o in full.omissions if o.fact_id and not o.item}
        assert facts == shown | {i for i, why in reasons.items() if why != "superseded"}
        assert sum(why == "superseded" for why in reasons.values()) == 500
        assert not shown & reasons.keys()
        counted = sum(o.count for o in brief.omissions if o.reason != "superseded")
        assert len(shown) + counted == len(facts)


# what is alive


@pytest.mark.parametrize("store", STORES)
@FEW
@given(history=histories, query=queries, profile=st.sampled_from(PROFILES))
@example(
    history=[
        ("write", "employee", "venue", None, False, False),
        ("narrow", "venue", "session"),
        ("quote", 0, "text"),
    ],
    query="what now?",
    profile="balanced",
)
def test_no_dead_value_comes_back(
    store: str, history: list[tuple[Any, ...]], query: str, profile: str
) -> None:
    """Invariant 3: not through a fact, not through a note, in no profile."""
    with a_story(store, history) as (story, _):
        context = story.reader.context(query, budget=100_000, profile=profile)
        alive = living_words(story, context, profile)
        open_ones = {f.value for f in story.of_reader(context.at) if f.status is Status.CONTESTED}
        assert contested_words(context) <= open_ones
        beside = _MARK.sub("", context.text)
        for word in story.words:
            if word in beside:
                assert word in alive, f"{word} came back"
        for fact in story.reader.facts():
            if not fact.needs_review or profile == "comprehensive":
                assert fact.value in context.text


def living_words(story: Story, context: Context, profile: str) -> set[str]:
    """The words that may be said: of facts the session goes by, and of those that wait.

    And of what the reader cannot know: nobody may tell by a note whether somebody else's fact is
    dead.
    """
    known = {fact.id: fact for fact in story.of_reader(context.at)}
    unknown = {word for number, word in enumerate(story.words) if f"fact-{number:03}" not in known}
    waiting = {str(fact.value) for fact in known.values() if fact.status is Status.WAITING}
    gone_by = {
        str(fact.value)
        for fact in story.reader.facts()
        if profile == "comprehensive" or not fact.needs_review
    }
    return unknown | waiting | gone_by
