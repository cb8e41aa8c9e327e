"""Letter case: what is looked for in a database is found wherever folding finds it."""

from __future__ import annotations

import sys

from incumbent.model.folding import cases_of, folded


def test_every_character_is_a_case_of_what_it_folds_to() -> None:
    """Of all characters there are, so that a pattern of cases never misses one."""
    for number in range(sys.maxunicode + 1):
        character = chr(number)
        assert character in cases_of(folded(character)[0]), hex(number)


def test_folding_is_settled() -> None:
    """What was folded once is not changed again, sigma at the end of a word included."""
    for text in ("ΟΔΟΣ", "οδος", "İstanbul", "STRASSE", "Ǆ", "K"):
        assert folded(folded(text)) == folded(text)
    assert folded("ΟΔΟΣ") == folded("οδος")
