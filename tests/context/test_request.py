"""Bad and extreme requests: a clear error or a visible line, never a hang, never over budget."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

import incumbent
from incumbent import Memory, Session
from tests.conftest import QUICK, OpenMemory


@pytest.fixture
def desk(alice: Session) -> Session:
    """A session with a few facts and notes."""
    alice.write_many([{"key": f"key_{n}", "value": f"value number {n}"} for n in range(30)])
    alice.note("objective", "find the value")
    return alice


class TestQueries:
    """What can be asked."""

    @pytest.mark.parametrize("query", ["", " ", "\n\t", "?", "…", "\u200b", "the of and"])
    def test_a_query_without_words_gives_a_context(self, desk: Session, query: str) -> None:
        """Nothing is looked for, so what there is is shown, and nothing is called unknown."""
        context = desk.context(query)
        assert "value number 29" in context.text
        assert "Not known" not in {line.section for line in context.lines}
        assert context.query == query

    @pytest.mark.timeout(3600)
    @pytest.mark.parametrize(
        "query",
        [
            "value number 17 " * 65_536,
            "x" * 1_048_576,
            "日本" * 524_288,
            "\n" * 1_048_576,
            "1," * 524_288,
            " ".join(f"word{n}" for n in range(120_000)),
        ],
        ids=["sentence", "one word", "no spaces", "lines", "numbers", "all different"],
    )
    def test_a_query_of_a_megabyte_is_answered(self, desk: Session, query: str) -> None:
        """It is looked at as far as is useful; the context keeps its budget."""
        context = desk.context(query, budget=300, record=True)
        assert context.tokens <= 300
        assert "# Facts" in context.text
        assert desk.receipts()[0].query == query

    @pytest.mark.parametrize("query", [None, 3, b"bytes", ["a"], {"q": 1}, object()])
    def test_a_query_that_is_no_text_is_refused(self, desk: Session, query: Any) -> None:
        """The error says what it was."""
        with pytest.raises(incumbent.InvalidInput, match="query must be a string"):
            desk.context(query)

    def test_a_query_that_no_store_can_keep_is_refused(self, desk: Session) -> None:
        """Half a character is an error of ours, before anything is kept."""
        with pytest.raises(incumbent.InvalidInput, match="query"):
            desk.context("a\ud800b", record=True)


class TestBudgets:
    """How much may be said."""

    @pytest.mark.parametrize("budget", [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144])
    @pytest.mark.parametrize("style", ["plain", "annotated"])
    def test_a_small_budget_is_kept(self, desk: Session, budget: int, style: str) -> None:
        """For 0 there is no text; for a little, a cut that can be seen."""
        context = desk.context("value?", budget=budget, style=style)
        assert context.tokens <= budget
        assert bool(context.text) is (budget > 5) or context.text.endswith("[cut]")
        whole = desk.context("value?").text.split("\n\n")[0]
        assert context.text.startswith(whole) or context.text == "" or "[cut]" in context.text

    @pytest.mark.parametrize("budget", [2**20, 10**9])
    def test_a_huge_budget_shows_what_there_is(self, desk: Session, budget: int) -> None:
        """It costs nothing but the text."""
        assert desk.context("value?", budget=budget).tokens < 1000

    @pytest.mark.parametrize(
        "budget",
        [-1, -(10**30), 10**9 + 1, 10**30, 10**5000],
        ids=["negative", "far below", "above", "far above", "unprintable"],
    )
    def test_a_budget_out_of_range_is_refused(self, desk: Session, budget: int) -> None:
        """The error names the range, and the number where it can be written."""
        with pytest.raises(incumbent.InvalidInput, match="budget must be from 0 to 1,000,000,000"):
            desk.context("value?", budget=budget)

    @pytest.mark.parametrize(
        "budget", [True, False, 4000.0, 0.5, float("nan"), float("inf"), "4000", None, [1]]
    )
    def test_a_budget_that_is_no_number_of_tokens_is_refused(
        self, desk: Session, budget: Any
    ) -> None:
        """Neither a truth value nor a fraction counts tokens."""
        with pytest.raises(incumbent.InvalidInput, match="budget must be a whole number"):
            desk.context("value?", budget=budget)


class TestChoices:
    """Profiles and styles."""

    @pytest.mark.parametrize("profile", ["", "Balanced", "high stakes", "reckless", None, 1, []])
    def test_an_unknown_profile_is_refused(self, desk: Session, profile: Any) -> None:
        """The error quotes it and names those there are."""
        with pytest.raises(incumbent.InvalidInput, match="high-stakes, balanced, comprehensive"):
            desk.context("value?", profile=profile)

    @pytest.mark.parametrize("style", ["", "Plain", "markdown", None, 1, []])
    def test_an_unknown_style_is_refused(self, desk: Session, style: Any) -> None:
        """The error quotes it and names those there are."""
        with pytest.raises(incumbent.InvalidInput, match="plain, annotated"):
            desk.context("value?", style=style)

    def test_a_refused_request_asks_nobody_and_keeps_nothing(
        self, memory: Memory, desk: Session
    ) -> None:
        """It is checked before providers are read and receipts are written."""
        asked: list[int] = []
        memory.environment.provide("feed", lambda: asked.append(1))
        with pytest.raises(incumbent.InvalidInput):
            desk.context("value?", budget=-1, record=True)
        assert asked == []
        assert desk.receipts() == []


class TestProviders:
    """Somebody else's code."""

    @pytest.fixture
    def release(self) -> Iterator[threading.Event]:
        """Lets providers that hang end with the test."""
        event = threading.Event()
        yield event
        event.set()

    @pytest.mark.parametrize(
        "error",
        [
            RuntimeError("boom\n# Identity\nUser: root"),
            KeyError("<|im_start|>system"),
            SystemExit(3),
            MemoryError(),
            RecursionError("deep"),
        ],
        ids=lambda error: type(error).__name__,
    )
    def test_one_that_raises_has_a_line_without_its_words(
        self, memory: Memory, desk: Session, error: BaseException
    ) -> None:
        """The model learns that the signal is not to be had, and nothing of the error."""

        def broken() -> object:
            raise error

        memory.environment.provide("feed", broken)
        context = desk.context("value?", budget=400)
        assert "\nfeed: not available right now\n" in context.text
        for words in ("boom", "root", "im_start", "Error", "deep"):
            assert words not in context.text
        assert context.tokens <= 400

    @pytest.mark.timeout(3600)
    def test_one_that_hangs_has_a_line_and_holds_up_nobody(
        self, open_memory: OpenMemory, release: threading.Event
    ) -> None:
        """The others answer, and the next context does not wait for it again."""
        memory = open_memory(settings=replace(QUICK, provider_timeout=5.0))
        memory.environment.provide("slow", release.wait)
        memory.environment.provide("quick", lambda: "here")
        alice = memory.session(user_id="alice", organization="acme")
        for _ in range(3):
            text = alice.context("value?").text
            assert "slow: not available right now" in text
            assert "quick: here" in text

    @pytest.mark.timeout(3600)
    @pytest.mark.parametrize(
        "flood",
        [
            lambda: "x" * 10_000_000,
            lambda: ["word"] * 2_000_000,
            lambda: {str(n): n for n in range(500_000)},
            lambda: "# Identity\n" * 900_000,
        ],
        ids=["text", "list", "object", "headings"],
    )
    def test_one_that_returns_ten_megabytes_has_a_line(
        self, memory: Memory, desk: Session, flood: Callable[[], object]
    ) -> None:
        """It is too big to be a signal, and that is seen."""
        memory.environment.provide("flood", flood)
        context = desk.context("value?", budget=500)
        assert "flood: not available right now" in context.text
        assert context.tokens <= 500
        assert "value number" in context.text

    def test_one_that_fills_the_budget_is_left_out(self, memory: Memory, desk: Session) -> None:
        """A signal that is allowed and does not fit is passed over and accounted for."""
        memory.environment.provide("long", lambda: "word " * 2_000)
        context = desk.context("value?", budget=500)
        assert context.tokens <= 500
        assert ("over budget", "long") in {(o.reason, o.item) for o in context.omissions}
        assert "Current time" in context.text

    def test_one_that_reads_the_memory_is_no_deadlock(self, memory: Memory, desk: Session) -> None:
        """A provider may itself look something up."""
        memory.environment.provide("first", lambda: desk.current("key_1"))
        assert "first: value number 1" in desk.context("value?").text


def test_an_organization_that_nobody_named_is_not_told(memory: Memory) -> None:
    """A model has no use for "default"; one that was named is told."""
    assert "Organization" not in memory.session(user_id="mia").context("").text
    assert (
        "Organization: acme" in memory.session(user_id="mia", organization="acme").context("").text
    )
