"""Encoding: examples as arrays of numbers, so that training needs nothing but numpy and torch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

from incumbent.language.learned.encoding import Encoded, encode_pair, encode_turn
from incumbent.language.learned.kinds import CUTS, KINDS
from training.examples import CUT, TURN, Example, Mark

_WORD = re.compile(r"\w+")
_BESIDE: Final = 2
"""So many words that are no value are asked about where nothing has changed."""

LABELS: Final = ("leave", "replace", "confirm", "retract", "not_replaced", *KINDS, *CUTS)


def arrays(examples: Sequence[Example]) -> dict[str, Any]:
    """Pieces one after the other with where each example begins, and a row for each mark."""
    ids: list[int] = []
    begins = [0]
    firsts: list[int] = []
    rows: list[tuple[int, int, int, int, int]] = []
    sources: list[str] = []
    forms: list[str] = []
    for example in examples:
        marks = example.marks if example.form in (CUT, TURN) else asked(example)
        spans = [(mark.start, mark.end) for mark in marks]
        if example.form in (CUT, TURN):
            encoded = encode_turn(example.turn, spans, example.previous)
        else:
            encoded = encode_pair(example.statement, spans, example.previous, example.turn)
        for mark, place in zip(marks, encoded.marks, strict=True):
            if place >= 0:
                found = (-1, -1) if mark.new is None else pieces_of(encoded, example, mark.new)
                rows.append((len(firsts), place, LABELS.index(mark.label), *found))
        ids.extend(encoded.ids)
        begins.append(len(ids))
        firsts.append(encoded.first)
        sources.append(example.source)
        forms.append(example.form)
    return {
        "ids": np.array(ids, np.int16),
        "begins": np.array(begins, np.int32),
        "firsts": np.array(firsts, np.int16),
        "marks": np.array(rows, np.int32).reshape(-1, 5),
        "sources": np.array(sources),
        "forms": np.array(forms),
    }


def asked(example: Example) -> list[Mark]:
    """What is asked about a statement: the whole, and each word of its values."""
    found: list[Mark] = []
    for mark in example.marks:
        words = [one.span() for one in _WORD.finditer(example.statement, mark.start, mark.end)]
        if len(words) < 2:
            found.append(mark)
            continue
        found += [
            Mark(*word, mark.label, None if number else mark.new)
            for number, word in enumerate(words)
        ]
    if all(mark.label == "leave" for mark in example.marks):
        rest = [
            one.span()
            for one in _WORD.finditer(example.statement)
            if not any(m.start < one.end() and one.start() < m.end for m in example.marks)
        ]
        r = Random(example.statement)
        found += [Mark(*one, "leave") for one in r.sample(rest, min(_BESIDE, len(rest)))]
    return found


def pieces_of(encoded: Encoded, example: Example, span: tuple[int, int]) -> tuple[int, int]:
    """The first and the last piece of a stretch of the reply; -1 where it was cut off."""
    start, end = span
    before = len(example.reply) - len(example.turn)
    in_turn = start >= before
    places, first = (
        (encoded.turn, encoded.turn_first) if in_turn else (encoded.previous, encoded.first)
    )
    by = before if in_turn else 0
    hits = [n for n, (a, b) in enumerate(places) if a + by < end and start < b + by]
    return (first + hits[0], first + hits[-1]) if hits else (-1, -1)


def save(path: Path, examples: Sequence[Example]) -> None:
    """Write examples as `training.train` reads them."""
    np.savez_compressed(path, **arrays(examples))
