"""Which contexts are kept for the next who asks, and for how long."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from datetime import timedelta
from typing import Any

import pytest

import incumbent
from incumbent.composing import kept_contexts
from incumbent.composing.kept_contexts import KeptContexts, size_of
from incumbent.testing import SteppingClock
from tests.conftest import QUICK


def opened(clock: SteppingClock) -> incumbent.Memory:
    return incumbent.open(":memory:", clock=clock, settings=QUICK)


def ask(memory: incumbent.Memory, query: str = "Which desk?", **given: object) -> incumbent.Context:
    session = memory.session(user_id="ann", session_id="s", organization="acme")
    return session.context(query, **given)  # type: ignore[arg-type]


def ask_in(memory: incumbent.Memory, organization: str) -> incumbent.Context:
    session = memory.session(user_id="ann", session_id="s", organization=organization)
    return session.context("Which desk?")


def is_kept(before: incumbent.Context, after: incumbent.Context) -> bool:
    """Whether the facts of a context were not looked for again: its lines are the very same."""
    return all(any(one is other for other in before.lines) for one in after.lines[:4])


class TestKeeping:
    """A context is kept while nothing changes."""

    def test_the_same_question_is_not_worked_out_twice(self) -> None:
        """Each answer has its own moment, and so its own receipt."""
        clock = SteppingClock()
        with opened(clock) as memory:
            memory.session(user_id="ann", organization="acme").write("desk", 4)
            first = ask(memory)
            clock.advance(seconds=2)
            again = ask(memory)
        assert is_kept(first, again)
        assert again.text == first.text
        assert again.at - first.at == timedelta(seconds=2)
        assert again.receipt_id != first.receipt_id

    def test_nobody_changes_what_others_are_given(self) -> None:
        """A copy is one's own; a context can be copied and sent to another process."""
        with opened(SteppingClock()) as memory:
            memory.session(user_id="ann", organization="acme").write("desk", 4)
            first = ask(memory)
            parts: Any = next(line.parts for line in first.lines if line.parts)
            told = dict(parts)
            for change in ("parts['text'] = 9", "parts.clear()", "parts.update(text=9)"):
                with pytest.raises(TypeError, match="copy"):
                    exec(change)
            assert parts == told
            assert repr(ask(memory).lines) == repr(first.lines)
            assert pickle.loads(pickle.dumps(first)) == copy.deepcopy(first) == first
            again = ask(memory)
            assert pickle.dumps(again) == pickle.dumps(dataclasses.replace(again))
            assert dataclasses.asdict(first)["lines"][0]["text"] == first.lines[0].text

    def test_the_clock_is_told_anew(self) -> None:
        """In another minute of the same day only its line differs, and is kept for that minute."""
        clock = SteppingClock()
        with opened(clock) as memory:
            memory.session(user_id="ann", organization="acme").write("desk", 4)
            first = ask(memory)
            clock.advance(minutes=3)
            again = ask(memory)
            clock.advance(seconds=1)
            assert ask(memory).lines is again.lines
        assert is_kept(first, again)
        before, after = first.text.splitlines(), again.text.splitlines()
        changed = [line for line, other in zip(before, after, strict=True) if line != other]
        assert changed == [line for line in before if line.startswith("Current time: ")]
        assert again.tokens == first.tokens

    def test_a_signal_that_reads_like_the_clock_stays_as_it_is(self) -> None:
        """Also once the clock has come to read like the signal, and goes on."""
        clock = SteppingClock()
        with opened(clock) as memory:
            memory.session(user_id="ann", organization="acme").write("desk", 4)
            soon = clock.now + timedelta(minutes=3)
            memory.environment.provide("Current time", lambda: f"{soon:%H:%M} UTC")
            texts = [ask(memory).text]
            for minutes in (3, 1, 1):
                clock.advance(minutes=minutes)
                texts.append(ask(memory).text)
        signal = f"Current time: {soon:%H:%M} UTC"
        assert [text.count(signal) for text in texts] == [1, 2, 1, 1]
        assert all(text.count("Current time: ") == 2 for text in texts)

    def test_any_entry_of_the_log_ends_it(self) -> None:
        """Also one of another person: whom it concerns is not asked."""
        with opened(SteppingClock()) as memory:
            memory.session(user_id="ann", organization="acme").write("desk", 4)
            first = ask(memory)
            memory.session(user_id="bob", organization="acme").write("lamp", "blue")
            assert not is_kept(first, ask(memory))

    def test_another_organization_ends_nothing(self) -> None:
        """What is written elsewhere concerns nobody here."""
        with opened(SteppingClock()) as memory:
            memory.session(user_id="ann", organization="acme").write("desk", 4)
            first = ask(memory)
            memory.session(user_id="bob", organization="other").write("lamp", "blue")
            assert is_kept(first, ask(memory))

    def test_the_end_of_a_term_ends_it(self) -> None:
        """Although nobody writes anything then."""
        clock = SteppingClock()
        with opened(clock) as memory:
            soon = clock.now + timedelta(minutes=5)
            memory.session(user_id="ann", organization="acme").write("desk", 4, valid_until=soon)
            first = ask(memory)
            clock.advance(minutes=4)
            assert is_kept(first, ask(memory))
            clock.advance(minutes=1)
            after = ask(memory)
        assert not is_kept(first, after)
        assert "desk: 4" not in after.text

    def test_what_tells_an_age_is_made_anew(self) -> None:
        """Its words and its rank change with every moment."""
        with opened(SteppingClock()) as memory:
            memory.declare("desk", time_sensitive=True)
            memory.session(user_id="ann", organization="acme").write("desk", 4)
            assert not is_kept(ask(memory), ask(memory))

    def test_an_erasure_drops_all(self) -> None:
        """Of every organization, as it drops everything that a process keeps of texts."""
        with opened(SteppingClock()) as memory:
            memory.session(user_id="ann", organization="acme").write("desk", 4)
            first = ask(memory)
            memory.session(user_id="bob", organization="other").write("lamp", "blue")
            memory.forget(organization="other", user_id="bob")
            assert not is_kept(first, ask(memory))

    def test_only_so_many_are_kept(self) -> None:
        """Those that were asked for longest ago go first."""
        with opened(SteppingClock()) as memory:
            memory.session(user_id="ann", organization="acme").write("desk", 4)
            least = ask(memory)
            memory.resources.contexts = KeptContexts(most=2 * size_of(least))
            first, second = ask(memory, "Which desk?"), ask(memory, "The desk?")
            assert is_kept(first, ask(memory, "Which desk?"))
            ask(memory, "What desk?")
            assert is_kept(first, ask(memory, "Which desk?"))
            assert not is_kept(second, ask(memory, "The desk?"))

    def test_long_lines_count_for_what_they_are(self) -> None:
        """A few contexts of very long texts take no more memory than many of short ones."""
        with opened(SteppingClock()) as memory:
            session = memory.session(user_id="ann", organization="acme")
            session.write("desk", "by the window " * 2_000)
            long = ask(memory, budget=100_000)
            assert len(long.text) > 20_000
            memory.resources.contexts = KeptContexts(most=10 * len(long.lines))
            first = ask(memory, budget=100_000)
            assert not is_kept(first, ask(memory, budget=100_000))

    def test_only_so_many_organizations_are_known(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """One that was not asked about for longest is forgotten, and its contexts are made anew."""
        monkeypatch.setattr(kept_contexts, "_MOST_ORGANIZATIONS", 2)
        with opened(SteppingClock()) as memory:
            for organization in ("acme", "other", "third"):
                memory.session(user_id="ann", organization=organization).write("desk", 4)
            first, other = ask(memory), ask_in(memory, "other")
            assert is_kept(first, ask(memory))
            ask_in(memory, "third")
            assert len(memory.resources.contexts._revisions) == 2
            assert is_kept(first, ask(memory))
            assert not is_kept(other, ask_in(memory, "other"))

    def test_a_receipt_is_kept_for_each(self) -> None:
        """Also for a context that was made before."""
        clock = SteppingClock()
        with opened(clock) as memory:
            memory.session(user_id="ann", organization="acme").write("desk", 4)
            first = ask(memory, record=True)
            clock.advance(seconds=1)
            again = ask(memory, record=True)
            assert is_kept(first, again)
            for one in (first, again):
                assert memory.replay(one.receipt_id, organization="acme").text == one.text
