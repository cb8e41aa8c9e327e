"""Texts that are made to cost more than their length: twice the text takes at most 2.3 times the
steps, in observing, guarding and in a context.

Steps are calls of functions, ours and the interpreter's, so that no machine is too slow. What a
regular expression does within one call is not seen; that is why the tables of the language are gone
through here as texts, and not as patterns.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import incumbent
import incumbent.language
from incumbent.model.text_cache import forget_texts
from tests.trust.texts import NESTED, NUMBERED, REPEATED, numbered, repeated

SETTINGS = incumbent.Settings(durability="process", embedder="static", reader="rules")
MOST = 2.3
AT_ONCE = 400
"""Characters of the shorter text: beyond what is the same for every text, within what is read."""
TABLES = Path(incumbent.language.__file__).parent / "data" / "en"


def phrases(table: Path) -> Iterator[str]:
    """The beginning of every text in a table, as somebody could write it."""

    def texts(found: Any) -> Iterator[str]:
        if isinstance(found, str):
            yield found
        elif isinstance(found, (dict, list)):
            for one in found.values() if isinstance(found, dict) else found:
                yield from texts(one)

    for text in texts(tomllib.loads(table.read_text(encoding="utf-8"))):
        if found := re.search(r"[A-Za-z']+(?: [A-Za-z']+){0,3}", text):
            yield found.group() + " "


def steps(work: Callable[[], object]) -> int:
    """The calls that something takes."""
    count = 0
    forget_texts()  # what another measurement has read

    def counted(frame: object, event: str, given: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def observing(text: str) -> int:
    with incumbent.open(":memory:", settings=SETTINGS) as memory:
        guest = memory.session(user_id="ann", authority="guest", session_id="s")
        guest.observe("My w is q. The desk is 4.")
        return steps(lambda: guest.observe(text))


def guarding(text: str) -> int:
    with incumbent.open(":memory:", settings=SETTINGS) as memory:
        ann = memory.session(user_id="ann", session_id="s")
        for number, value in enumerate(
            ["1 Elm Street", "5", "the a", "5 March 2024", "Alice Smith"]
        ):
            ann.write(f"w{number}", value)
            ann.write(f"w{number}", f"other {number}")
        return steps(lambda: ann.guard([{"role": "user", "content": text}]))


def asking(text: str) -> int:
    with incumbent.open(":memory:", settings=SETTINGS) as memory:
        ann = memory.session(user_id="ann", session_id="s")
        ann.write("w", "5")
        ann.note("plan", text)
        return steps(lambda: ann.context(text))


WORKS = {"observe": observing, "guard": guarding, "context": asking}


def grows(work: Callable[[str], int], made: Callable[[int], str]) -> bool:
    """Whether a text costs more than its length. Something that is done once, from some length on,
    is no growth: it shows at one doubling and not at the next."""
    work(made(40))  # what is made once is not counted
    lengths = (AT_ONCE, 2 * AT_ONCE, 4 * AT_ONCE)
    least, *longer = (work(made(length)) for length in lengths[:2])
    if longer[0] <= MOST * least:
        return False
    return work(made(lengths[2])) > MOST * longer[0]


def nested(begin: str, end: str, length: int) -> str:
    return f"{begin * (length // 2)}a{end * (length // 2)}"


@pytest.mark.parametrize("work", WORKS)
def test_a_repeated_text_costs_what_its_length_costs(work: str) -> None:
    """Whatever is repeated."""
    assert [unit for unit in REPEATED if grows(WORKS[work], repeated(unit))] == []


@pytest.mark.parametrize("work", WORKS)
def test_many_statements_cost_what_their_number_costs(work: str) -> None:
    """Where no two of them are the same, and so also where each is kept."""
    assert [unit for unit in NUMBERED if grows(WORKS[work], numbered(unit))] == []


@pytest.mark.parametrize("work", WORKS)
def test_nested_marks_cost_what_their_number_costs(work: str) -> None:
    """However deep they are, and whether they are closed."""
    for begin, end in map(tuple, NESTED):
        assert not grows(WORKS[work], repeated(f"{begin}a ")), begin
        assert not grows(WORKS[work], partial(nested, begin, end)), begin


@pytest.mark.slow
@pytest.mark.parametrize("table", sorted(TABLES.glob("*.toml")), ids=lambda table: table.stem)
def test_words_of_the_language_cost_what_their_number_costs(table: Path) -> None:
    """Every text of a table, repeated."""
    units = dict.fromkeys(phrases(table))
    assert [unit for unit in units if grows(observing, repeated(unit))] == []
