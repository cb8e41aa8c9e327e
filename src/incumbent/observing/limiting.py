"""Limiting: what a limit rules out that was said before.

"Hotels are capped at $200" puts no value in the place of the $300 hotel, but it cannot be that one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from incumbent.language.cues import Cues
from incumbent.language.statements import Kind
from incumbent.language.tokens import stem
from incumbent.model.fact import Fact, Part
from incumbent.model.values import text_of
from incumbent.observing.overtaking import things_in
from incumbent.observing.relating import parts_in
from incumbent.observing.situation import frame_in_office
from incumbent.observing.understanding import Understood

_AMOUNT = re.compile(r"(?P<unit>[A-Z]{3} )?(?P<amount>\d+(?:\.\d+)?)(?P<share>%?)(?:/.*)?")
_MEASURED = ("money", "percent", "number")
_IN_COMMON = 2
"""How many words a limit and a statement must share to be about the same, if it has so many."""


class _Amount(NamedTuple):
    kind: str
    unit: str
    amount: float


def ruled_out(said: Understood, facts: Iterable[Fact]) -> list[Fact]:
    """Of these facts, those that ask for more than a limit allows that a statement sets."""
    limits = [
        amount
        for part in said.parts
        if _is_limit(said.text, part) and (amount := _amount(part)) is not None
    ]
    if not limits or said.cues.is_past or said.cues.is_unsure:
        return []
    things = frozenset(word for word in things_in(said.frame) if not Cues(word).limits)
    return [
        fact
        for fact in facts
        if _are_of_one(things, things_in(frame_in_office(fact)))
        and any(_exceeds(fact, limit) for limit in limits)
    ]


def is_limit(said: Understood) -> bool:
    """Whether a statement sets a limit, which is no value in the place of another."""
    return any(_is_limit(said.text, part) for part in said.parts)


def goes_beyond(said: Understood, fact: Fact) -> bool:
    """Whether a statement names, or settles on, more than a limit allows that a fact sets."""
    text = text_of(fact.value)
    if not Cues(f"{fact.key.replace('_', ' ')}: {text}").bounds:
        return False
    limited = [amount for part in parts_in(fact) if (amount := _amount(part)) is not None]
    named = [amount for part in said.parts if (amount := _amount(part)) is not None]
    more = any(
        new[:2] == limit[:2] and new.amount > limit.amount for new in named for limit in limited
    )
    shared = things_in(said.frame) & (things_in(frame_in_office(fact)) | _words_of(fact.key))
    about_it = any(not Cues(word).limits for word in shared)
    return more and (about_it or said.kind is Kind.COMMITMENT or Cues(said.text).bounds)


def _words_of(key: str) -> frozenset[str]:
    return frozenset(stem(word) for word in key.split("_"))


def _are_of_one(limited: frozenset[str], named: frozenset[str]) -> bool:
    shared = limited & named
    return bool(shared) and len(shared) >= min(_IN_COMMON, len(limited))


def _exceeds(fact: Fact, limit: _Amount) -> bool:
    text = text_of(fact.value)
    if Cues(text).is_past:
        return False
    amounts = [_amount(part) for part in parts_in(fact) if not _is_limit(text, part)]
    return any(
        found is not None and found[:2] == limit[:2] and found.amount > limit.amount
        for found in amounts
    )


def _is_limit(text: str, part: Part) -> bool:
    return Cues(text[: part.start]).opens_limit or Cues(text[part.end :]).closes_limit


def _amount(part: Part) -> _Amount | None:
    found = _AMOUNT.fullmatch(part.normal) if part.kind in _MEASURED else None
    if found is None:
        return None
    return _Amount(part.kind, found.group("unit") or "", float(found.group("amount")))
