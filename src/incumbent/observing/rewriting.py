"""Rewriting: of the values that could be replaced, which are, and what then stands."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from incumbent.language.detection import Judged, Relation, are_comparable, same_part
from incumbent.language.gist import told_of_one
from incumbent.language.lexicon import agreeing
from incumbent.language.tokens import stem, stems
from incumbent.model.fact import Fact, Part
from incumbent.model.values import text_of
from incumbent.observing.relating import explains, is_kin, parts_in
from incumbent.observing.situation import frame_in_office, is_request
from incumbent.observing.understanding import CUT, Understood, typed

_FEW_WORDS = 4
_MUCH = 4
"""So many words tell something by themselves."""
_TELLING = 4
"""Words of fewer letters tell little."""
_FEW_WORDS_AROUND = 2
_AS_LIKELY = 0.02
_REMARK = re.compile(r"\s?\([^()\n]{1,60}\)(?!:)")
"""What stands in brackets after a value; before a colon it tells who speaks."""
UNCLEAR = "unclear which"
_UNCLEAR = Judged(0.52, UNCLEAR)


class Swap(NamedTuple):
    """A value that is replaced within one fact."""

    fact: Fact
    old: Part
    new: Part
    judged: Judged
    relation: Relation


@dataclass(frozen=True)
class Rewritten:
    """A statement with some of its values replaced."""

    fact: Fact
    text: str
    parts: tuple[Part, ...]
    retired: tuple[Part, ...]
    confidence: float
    because: tuple[str, ...]
    swapped: tuple[tuple[Part, Part], ...] = ()
    """What was replaced, each with what took its place."""
    is_composed: bool = True
    """Whether nobody said it just so."""


def chosen(found: Sequence[Swap]) -> list[Swap]:
    """Of the values that a new one could replace, the likeliest; and that one wherever it is said.

    Each value replaces one other and is replaced by one other.
    """
    taken: list[tuple[Part, Part]] = []
    kept: list[Swap] = []
    ranked = sorted(
        found,
        key=lambda swap: (
            swap.relation < Relation.SAME_THING,
            -swap.judged.confidence,
            swap.old.start,
        ),
    )
    for swap in ranked:
        ours = [old for old, new in taken if new == swap.new]
        if any(not same_part(old, swap.old) for old in ours):
            continue
        theirs = [new for old, new in taken if same_part(old, swap.old)]
        if any(not same_part(new, swap.new) for new in theirs):
            continue
        taken.append((swap.old, swap.new))
        unclear = any(_are_rivals(swap, other) for other in found)
        kept.append(swap._replace(judged=_UNCLEAR) if unclear else swap)
    return kept


def written_down(
    swaps: Sequence[Swap], facts: Sequence[Fact], *, plainly: bool = False
) -> list[Swap]:
    """The same values where they were also written under a name that the statement explains.

    "Ship it to Porto" was written down as the shipping address. Where nobody says that anything is
    corrected, only what says the value and nothing else counts (`plainly`).
    """
    found = []
    for fact in facts:
        parts = parts_in(fact)
        if len(parts) != 1 or any(swap.fact.id == fact.id for swap in swaps):
            continue
        if plainly and (fact.source.turn_index is not None or parts[0].text != fact.value):
            continue
        found += [
            swap._replace(fact=fact, old=parts[0])
            for swap in swaps
            if _are_the_same(swap.old, parts[0]) and _was_of(swap.fact, fact.key)
        ][:1]
    return found


def _was_of(statement: Fact, key: str) -> bool:
    frame = frame_in_office(statement)
    return explains(frame, key) or is_kin(frame, key)


def _are_the_same(left: Part, right: Part) -> bool:
    """Also "next week", which was said on one day and written down on another."""
    return same_part(left, right) or left.text.casefold() == right.text.casefold()


def _are_rivals(swap: Swap, other: Swap) -> bool:
    """Whether a new value may as well replace another one, with nothing that tells which."""
    return (
        swap.new == other.new
        and swap.fact.id != other.fact.id
        and not same_part(swap.old, other.old)
        and max(swap.relation, other.relation) < Relation.SAME_THING
        and abs(swap.judged.confidence - other.judged.confidence) < _AS_LIKELY
    )


def rewritten(swaps: Sequence[Swap]) -> list[Rewritten]:
    """The statements that stand once these values are replaced, one per fact."""
    by_fact: dict[str, list[Swap]] = defaultdict(list)
    for swap in swaps:
        if not any(kept.old == swap.old for kept in by_fact[swap.fact.id]):
            by_fact[swap.fact.id].append(swap)
    return [_rewrite(found) for found in by_fact.values()]


def renamed(found: Rewritten) -> str:
    """The key of a statement, if need be without the name of what was replaced.

    Who asks for a museum instead of a cinema no longer asks for a cinema.
    """
    key = found.fact.key
    for old, new in found.swapped:
        words = new.normal.split()
        if (
            is_request(found.fact)
            and stem(old.normal) == stem(key)
            and 0 < len(words) <= _FEW_WORDS
        ):
            return "_".join(re.findall(r"\w+", " ".join(words))) or key
    return key


def _past_remark(text: str, end: int, replaced: Iterable[Part]) -> int:
    """Where a text goes on after a value that is replaced, and what is remarked on it in brackets.

    "Tuesday (next week)" is a Tuesday of next week, "40 seats (estimated)" an estimate; another
    day and another number are not.
    """
    remark = _REMARK.match(text, end)
    if remark is None or any(remark.start() <= part.start < remark.end() for part in replaced):
        return end
    return remark.end()


def _rewrite(swaps: Sequence[Swap]) -> Rewritten:
    fact = swaps[0].fact
    replaced = {swap.old: swap.new for swap in swaps}
    text, parts, done = "", [], 0
    whole = text_of(fact.value)
    theirs = parts_in(fact)
    known = (*theirs, *(swap.old for swap in swaps if swap.old not in theirs))
    for part in sorted(known, key=lambda part: part.start):
        if part.start < done:
            continue
        text += whole[done : part.start]
        new = replaced.get(part)
        said = new.text if new is not None else whole[part.start : part.end]
        text = agreeing(text, said) if new is not None else text
        kept = part if new is None else new._replace(role=part.role)
        parts.append(kept._replace(start=len(text), end=len(text) + len(said)))
        text += said
        done = part.end if new is None else _past_remark(whole, part.end, replaced)
    return Rewritten(
        fact,
        text + whole[done:],
        tuple(parts),
        tuple(replaced),
        min(swap.judged.confidence for swap in swaps),
        tuple(dict.fromkeys(swap.judged.because for swap in swaps)),
        tuple(replaced.items()),
    )


def in_words_of(said: Understood, found: Rewritten) -> Rewritten:
    """A statement whose values are replaced, as people put it.

    Where somebody says the new value and hardly anything else, it goes where the old one was, and
    is marked as composed; else what they say follows what is left of the older statement.
    """
    fact = found.fact
    if not found.swapped:
        return found  # it is in their words already
    if fact.source.turn_index is None or not fact.multi_valued or _is_bare(said, found):
        return found
    whole = text_of(fact.value)
    gone = [_narrowed(fact, old, new) for old, new in found.swapped]
    if any(old.text.casefold() in said.text.casefold() for old in gone):
        return found  # "not Friday, Saturday" says which goes where
    if any(old.start == 0 and old.end >= len(whole.rstrip(" .!")) for old in gone):
        return found
    told, parts = said.told
    if _is_said_anew(said, fact, gone):
        new = Rewritten(fact, told, parts, tuple(gone), found.confidence, (), is_composed=False)
    else:
        new = amended(fact, gone, told, parts, found.confidence)
    return replace(new, because=found.because, swapped=found.swapped)


def _is_said_anew(said: Understood, fact: Fact, gone: Sequence[Part]) -> bool:
    """Whether a statement says all that is left to say of what an older one was about."""
    left = [part for part in typed(parts_in(fact)) if not any(meet(part, old) for old in gone)]
    if left:
        return False
    frame = frame_in_office(fact)
    if frame.words and frame.words <= said.frame.words:
        return True
    whole, told = text_of(fact.value), told_of_one(said.text)
    if told is None or not stems(told.thing.text) <= stems(whole):
        return False
    known = stems(" ".join((said.own_words, *(old.text for old in gone))))
    return len(stems(whole, shortest=_TELLING) - known) < _MUCH


def _narrowed(fact: Fact, old: Part, new: Part) -> Part:
    """Of a stretch that says several values, the one that a new value can take the place of."""
    inside = [p for p in typed(parts_in(fact)) if old.start <= p.start and p.end <= old.end]
    alike = [part for part in inside if are_comparable(part, new)]
    return alike[0] if len(inside) > 1 and alike else old


def meet(part: Part, other: Part) -> bool:
    return part.start < other.end and other.start < part.end


def _is_bare(said: Understood, found: Rewritten) -> bool:
    """Whether a statement says the values that are put in place, and nothing else that tells."""
    if len(found.swapped) != 1:
        return False
    _, new = found.swapped[0]
    around = said.text.replace(new.text, " ", 1)
    return len(re.findall(r"\w+", around)) <= _FEW_WORDS_AROUND and len(typed(said.parts)) <= 1


JOINT = " → "


def amended(
    fact: Fact, gone: Sequence[Part], said: str, parts: Sequence[Part], chance: float
) -> Rewritten:
    """A statement without the values of it that are over, and what was said instead.

    Nothing in it is put in anybody's mouth: all words are theirs, as they stand.
    """
    whole = text_of(fact.value)
    # What is gone may be more than one of the values that were read in it, or less: "93 people".
    cut = [part for part in gone if whole[part.start : part.end] == part.text != ""]
    apart = [part for part in parts_in(fact) if not any(meet(part, old) for old in cut)]
    text, kept, done = "", [], 0
    for part in sorted((*cut, *apart), key=lambda part: part.start):
        if part.start < done:
            continue
        text += whole[done : part.start]
        if part in cut:
            text += CUT
        else:
            kept.append(part._replace(start=len(text), end=len(text) + part.end - part.start))
            text += whole[part.start : part.end]
        done = part.end if part not in cut else _past_remark(whole, part.end, gone)
    text += whole[done:]
    if said:
        begin = len(text) + len(JOINT)
        text += JOINT + said
        kept += [part._replace(start=part.start + begin, end=part.end + begin) for part in parts]
    return Rewritten(fact, text, tuple(kept), tuple(gone), chance, ("learned",), is_composed=False)
