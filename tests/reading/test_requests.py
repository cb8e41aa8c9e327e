"""Requests to the memory: genuine ones in ordinary wordings, and words that only look like one."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent.language.reading import BlockKind
from incumbent.reading.acts import acts
from incumbent.reading.segments import Segment
from incumbent.reading.terms import claim_and_term
from incumbent.testing import SteppingClock

TOLD: dict[str, Any] = tomllib.loads((Path(__file__).parent / "requests.toml").read_text("utf-8"))
KNOWN: list[str] = TOLD["known"]
MONDAY = datetime(2026, 1, 5, 9, tzinfo=UTC)


def opened(path: Path) -> incumbent.Memory:
    settings = incumbent.Settings(embedder="static")
    return incumbent.open(path, clock=SteppingClock(MONDAY), settings=settings)


def ann(memory: incumbent.Memory) -> incumbent.Session:
    return memory.session(user_id="ann", organization="acme", session_id="here")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory to which everything was told that the requests are about."""
    path = tmp_path_factory.mktemp("requests") / "known.db"
    with opened(path) as memory:
        for said in KNOWN:
            ann(memory).observe(said)
    return path


@pytest.fixture
def session(prepared: Path, tmp_path: Path) -> Iterator[incumbent.Session]:
    path = tmp_path / "known.db"
    shutil.copy(prepared, path)
    with opened(path) as memory:
        yield ann(memory)


def values(session: incumbent.Session) -> set[str]:
    return {str(fact.value) for fact in session.facts()}


def test_the_memory_knows_what_it_was_told(session: incumbent.Session) -> None:
    """Each sentence became one fact."""
    assert len(values(session)) == len(KNOWN)


@pytest.mark.parametrize("text", TOLD["hostile"])
def test_words_that_only_look_like_a_request_do_nothing(
    session: incumbent.Session, text: str
) -> None:
    """Nothing is erased, taken back or ended by them."""
    before = values(session)
    observed = session.observe(text)
    assert observed.erasures == ()
    assert observed.erasure_requested is None
    assert before <= values(session)


@pytest.mark.parametrize("case", TOLD["genuine"], ids=lambda case: case["text"])
def test_a_request_in_ordinary_words_is_done(
    session: incumbent.Session, case: dict[str, Any]
) -> None:
    """What it names goes and nothing else; who wants all of it gone is asked once more."""
    for said in case.get("told", ()):
        session.observe(said)
    before = values(session)
    observed = session.observe(case["text"])
    if case["gone"] == "*":
        assert observed.erasure_requested is not None
        return
    gone = before - values(session)
    assert [case["gone"] in one for one in gone] == [True]
    assert case.get("back", "") in " ".join(values(session))


@pytest.mark.parametrize("case", TOLD["free"], ids=lambda case: case["text"])
def test_a_request_in_free_words_is_asked_about(
    session: incumbent.Session, case: dict[str, Any]
) -> None:
    """Nothing is done before the person confirms it, and nothing else is touched."""
    before = values(session)
    observed = session.observe(case["text"])
    assert observed.erasures == ()
    assert before <= values(session)
    [review] = session.reviews()
    assert case["asks"] in str(review.fact.value)


@pytest.mark.parametrize(
    "unit", ["a", "please ", "forget my ", "my the ", "please translate ", ", "]
)
def test_a_long_turn_of_nothing_but_repetition_asks_for_nothing(unit: str) -> None:
    """Whatever it repeats."""
    text = unit * 20_000
    whole = Segment(text, 0, len(text), BlockKind.PROSE)
    short = Segment(text[:240], 0, 240, BlockKind.PROSE)
    assert not any(one.is_sure for one in acts(text, [whole]))
    assert not any(one.is_sure for one in acts(text[:240], [short]))
    assert claim_and_term(text[:400], MONDAY, (), lambda _: None) == (None, None)
