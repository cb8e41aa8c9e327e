"""Judging: what a turn does to something known, by what the model says of both and by the words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from incumbent.language.cues import Cues
from incumbent.language.speakers import as_heard
from incumbent.model.fact import Part
from incumbent.reading import thresholds
from incumbent.reading.amending import amendment
from incumbent.reading.beside import Window, in_common, likest
from incumbent.reading.comparing import Comparison, compared, restates, stems_of
from incumbent.reading.form import (
    Known,
    Relation,
    RelationKind,
    Span,
    Statement,
    StatementKind,
)
from incumbent.reading.learned.model import Read
from incumbent.reading.stretches import stretch_over
from incumbent.reading.things import name_of

_SHORT: Final = 6
_FEW: Final = 3
_HARDLY: Final = 0.1
_NAMING: Final = ("name", "code")
"""Values of which a person or a thing often has several: languages, tickets, banks."""
_NO_AMOUNT: Final = (*_NAMING, "term")
_FOLLOWS: Final = re.compile(
    r"[,;:.–—] *(?:and )?(?:so|therefore|thus|hence|which means|that makes)\b", re.IGNORECASE
)
"""What is said behind these words may change with what stands before them."""
_FORGETS = re.compile(r"\b(?:forget(?:ting)?|erase|disregard|unlearn)\b", re.IGNORECASE)
_REMOVES = re.compile(r"\b(?:delete|remove|wipe|purge|scrub)\b", re.IGNORECASE)
"""What is removed may be something that a fact only mentions."""


class _Over(NamedTuple):
    """A value of something known, and what the model makes of it."""

    part: Part
    chance: float
    number: int
    """Which statement has the new value."""
    new: Part | None


class Judging:
    """Tells what the statements of one window do to what they were read beside."""

    def __init__(self, window: Window, here: Sequence[Statement], numbers: Sequence[int]) -> None:
        self._window = window
        self._here = here
        self._numbers = numbers

    def relations(self) -> Iterator[Relation]:
        """What becomes of each thing that is known; nothing where it is left alone."""
        related = [self._related(number, known) for number, known in enumerate(self._window.near)]
        told = {one.statement for one in related if one is not None and self._is_found(one)}
        for known, found in zip(self._window.near, related, strict=True):
            if found is None or self._only_mentions(known, found):
                continue
            # What it was said of is found: it is not said of something else besides.
            is_other = found.kind is RelationKind.DOUBTS and found.statement in told
            if not is_other or self._shares(found, known):
                yield found

    def _only_mentions(self, known: Known, one: Relation) -> bool:
        """Whether the name in a statement says which fact it changes, and another one only speaks
        of the same thing: what is told of the venue stands when the venue is another."""
        said = self._here[self._numbers.index(one.statement)] if one.statement is not None else None
        if said is None or known.key or one.kind is not RelationKind.DOUBTS:
            return False
        named = [other for other in self._window.near if other.key and _is_at(other, said)]
        return bool(named) and all(other.value not in known.text for other in named)

    def _is_found(self, one: Relation) -> bool:
        """Whether a statement surely speaks of what it changes, by their words."""
        known = next(known for known in self._window.near if known.id == one.fact_id)
        return one.kind is not RelationKind.DEPENDS and self._shares(one, known)

    def _shares(self, one: Relation, known: Known) -> bool:
        said = self._here[self._numbers.index(one.statement)]
        return in_common(known.text, said.text) > 0

    def _related(self, number: int, known: Known) -> Relation | None:
        at = self._by(number, known)
        said = self._here[at]
        how = compared(known.text, said.text)
        if how.is_same or _says_again(known, said):
            return self._relation(RelationKind.CONFIRMS, known, at, 1.0, "the same words")
        told = self._part_told(known)
        if told is not None:
            return told
        found = self._window.told(number)
        if found is None:
            return None
        read, place = found
        becomes = read.becomes[place]
        gone = becomes["replaces"] + becomes["ends"]
        begins_later = said.term is not None and said.term.begins is not None
        if begins_later:
            gone += becomes["later"]
        over = self._values(read, place, known)
        part = self._part(known, over, gone, read.model)
        if part is not None:
            return part
        if said.kind is StatementKind.ASKS or _FORGETS.search(said.text):
            return None  # what is asked of the memory is for `acts` to say
        corrects = "correction" in said.cues
        chance = becomes["part"] + gone
        if restates(how, known.text, said.text):
            chance = max(chance, thresholds.RESTATED)
        alike, is_of_it = _alike(known, said, how), _is_of(known, said)
        lines = thresholds.DOUBTED_VALUE if _says_otherwise(known, said) else thresholds.DOUBTED
        line = lines[known.is_here][0 if is_of_it else alike] - thresholds.CUE * corrects
        if alike == 2 and _of_two_things(how, corrects=corrects):
            return None
        if not alike and _is_far(known, said):
            return None
        is_ended = becomes["ends"] > becomes["replaces"]
        is_told = is_ended or not _leaves_out(known, said)
        is_told = is_told and _REMOVES.search(said.text) is None
        ended = line if is_of_it and begins_later else max(line, thresholds.ENDED[alike])
        if gone >= ended and is_told:
            kind = RelationKind.ENDS if is_ended else RelationKind.REPLACES
            return self._relation(kind, known, at, gone, read.model)
        if Cues(known.text).is_provisional and Cues(said.text).is_definite and chance >= 0.3:
            return self._relation(RelationKind.REPLACES, known, at, chance, read.model)
        doubt = max(chance, becomes["doubts"])
        if doubt >= line:
            is_partly = becomes["part"] > max(gone, becomes["doubts"])
            told = self._partly(known, read, place, over, at) if is_partly else None
            return told or self._relation(RelationKind.DOUBTS, known, at, doubt, read.model)
        if becomes["depends"] >= thresholds.RESTS:
            chance = becomes["depends"]
            return self._relation(RelationKind.DEPENDS, known, at, chance, read.model)
        return None

    def _relation(
        self, kind: RelationKind, known: Known, at: int, chance: float, rests_on: str
    ) -> Relation:
        corrects = "correction" in self._here[at].cues
        return Relation(kind, known.id, self._numbers[at], chance, rests_on, is_told=corrects)

    def _by(self, number: int, known: Known) -> int:
        """Which of the statements speaks of something known."""
        window = self._window
        told = window.told(number)
        if told is None or len(self._here) == 1:
            return likest(known, self._here)
        read, place = told
        at = read.by(place) - window.shift + window.start
        found = [n for n, one in enumerate(self._here) if one.start <= at < one.end]
        return found[0] if found else likest(known, self._here)

    # values

    def _values(self, read: Read, number: int, known: Known) -> list[_Over]:
        """What a model makes of each value of something known."""
        _, shift = as_heard(known.text, known.speaker)
        found = []
        for part in known.parts:
            if part.kind == "term":
                continue
            span = (part.start + shift, part.end + shift)
            at, new = self._new(read.new(number, span), part)
            found.append(_Over(part, read.over(number, span), at, new))
        # What is surely over in part is over in one of its values.
        total, part_of = sum(one.chance for one in found), read.becomes[number]["part"]
        if total < _HARDLY:
            return found
        return [one._replace(chance=max(one.chance, part_of * one.chance / total)) for one in found]

    def _new(self, found: tuple[Span, bool] | None, old: Part) -> tuple[int, Part | None]:
        """The statement that says a new value, and the value where it is one like the old."""
        last = len(self._here) - 1
        if found is None or found[1]:
            return last, None
        place = found[0][0] - self._window.shift + self._window.start
        for number, one in enumerate(self._here):
            for new in one.parts:
                if new.start <= place - one.start < new.end:
                    fits = new.kind == old.kind and not _may_be_same(new, old)
                    return number, new if fits else None
        return last, None

    def _part(
        self, known: Known, over: Sequence[_Over], gone: float, rests_on: str
    ) -> Relation | None:
        """The one value of something known that is over, where another like it is said."""
        again = {part.normal for one in self._here for part in one.parts}
        dead = [
            one
            for one in over
            if one.part.normal not in again
            and one.new is not None
            and one.chance >= thresholds.PART
        ]
        # Of what was said on another day the model is not certain enough.
        is_all = len(over) == 1 and gone >= thresholds.ENDED[0]
        if len(dead) != 1 or is_all or not known.is_here:
            return None
        (value,) = dead
        said = self._here[value.number]
        how = compared(known.text, said.text)
        if _is_of_another(known, how) or _is_at(known, said):
            return None  # or its name decides
        if _is_about_else(known, said, value.part):
            return None
        is_again = how.one_slot is not None and how.adds_nothing and "correction" not in said.cues
        if is_again and value.part.kind in _NAMING:
            return None  # it is said again as a whole: of the same thing, or of one more
        assert value.new is not None
        return self._amends(known, value, value.new, rests_on)

    def _partly(
        self, known: Known, read: Read, place: int, over: Sequence[_Over], at: int
    ) -> Relation | None:
        """The stretch of a statement that is over while the rest of it holds, where the model is
        sure of its words. An amount or a day that is said anew takes its place."""
        chance = read.becomes[place]["part"]
        if known.key or chance < thresholds.PARTLY:
            return None  # what has a name has one value
        old = stretch_over(read, place, known)
        if old is None or _FOLLOWS.search(known.text, old[1]) is not None:
            return None
        within = [v for v in over if v.part.start < old[1] and old[0] < v.part.end]
        if len(within) == 1 and within[0].new is not None and within[0].part.kind not in _NAMING:
            return self._amends(known, within[0]._replace(chance=chance), within[0].new, read.model)
        number = self._numbers[at]
        return Relation(RelationKind.PART, known.id, number, chance, read.model, old=old)

    def _amends(self, known: Known, value: _Over, new: Part, rests_on: str) -> Relation:
        """That one value takes the place of another."""
        said = self._here[value.number]
        return Relation(
            RelationKind.PART,
            known.id,
            self._numbers[value.number],
            value.chance,
            rests_on,
            "correction" in said.cues,
            (value.part.start, value.part.end),
            (new.start + said.start, new.end + said.start),
        )

    def _part_told(self, known: Known) -> Relation | None:
        """The one stretch of something known that surely changes, by the words."""
        for number, said in zip(self._numbers, self._here, strict=True):
            change = amendment(known, said)
            if change is not None:
                new = (change.new[0] + said.start, change.new[1] + said.start)
                return Relation(
                    RelationKind.PART, known.id, number, 0.95, said.text, True, change.old, new
                )
        return None


def _may_be_same(one: Part, other: Part) -> bool:
    """Whether two values can be the same: noon, and a 12:00 of day or night."""
    return not set(one.normal.split("|")).isdisjoint(other.normal.split("|"))


def _says_otherwise(known: Known, said: Statement) -> bool:
    """Whether both say an amount, a day or a time, and the later one says another."""
    ours = {(part.kind, part.normal) for part in said.parts if part.kind not in _NO_AMOUNT}
    kinds = {kind for kind, _ in ours}
    return any(
        part.kind in kinds and (part.kind, part.normal) not in ours
        for part in known.parts
        if part.kind not in _NO_AMOUNT
    )


def _alike(known: Known, said: Statement, how: Comparison) -> int:
    """How alike two statements are in their words: 0, 1 or 2."""
    if how.share >= thresholds.ALIKE:
        return 2
    common = in_common(known.text, said.text)
    return int(how.share >= thresholds.AKIN or common >= thresholds.COMMON)


def _of_two_things(how: Comparison, *, corrects: bool) -> bool:
    """Whether two sentences that are alike differ in two places: in what they tell, and of what."""
    return len(how.slots) > 1 and (how.slots[0].is_first or not corrects)


def _is_about_else(known: Known, said: Statement, part: Part) -> bool:
    """Whether a whole sentence, and no answer, has no word in common with another that is not near
    in meaning."""
    if known.likeness >= thresholds.NEAR or len(said.text.split()) <= _FEW:
        return False
    if "correction" in said.cues and (part.kind != "name" or Cues(said.text).refuses):
        return False
    return not in_common(known.text, said.text)


def _is_far(known: Known, said: Statement) -> bool:
    """Whether a statement is about something else: it has neither a word nor a kind of value in
    common with what is known, and a name of its own or another meaning."""
    if in_common(known.text, said.text):
        return False
    if {part.kind for part in known.parts} & {part.kind for part in said.parts}:
        return False
    is_named = said.claim is not None and not _is_at(known, said)
    return is_named or known.likeness < thresholds.FAR


def _is_of_another(known: Known, how: Comparison) -> bool:
    """Whether two sentences that are alike differ in more than their values: the morning run and
    the evening run."""
    if how.share < thresholds.AKIN:
        return False
    return any(
        not any(slot.old_start < part.end and part.start < slot.old_end for part in known.parts)
        for slot in how.slots
    )


def _is_at(known: Known, said: Statement) -> bool:
    """Whether both give the same name."""
    claim = said.claim
    return claim is not None and (claim.attribute, claim.subject) == (known.key, known.subject)


def _is_of(known: Known, said: Statement) -> bool:
    """Whether a statement says all words of the name of what is known, and another value of that
    kind: however alike the two are, they speak of one thing."""
    name = name_of(known.key, known.subject) if known.key else frozenset()
    return bool(name) and name <= stems_of(said.text) and _says_otherwise(known, said)


def _says_again(known: Known, said: Statement) -> bool:
    if said.claim is None or not _is_at(known, said):
        return False
    if said.claim.value.strip().lower() == known.value.strip().lower():
        return True
    ours = {part.normal for part in said.parts if part.kind != "term"}
    return bool(ours) and ours == {part.normal for part in known.parts if part.kind != "term"}


def _leaves_out(known: Known, said: Statement) -> bool:
    """Whether a short statement says nothing of other values that the known one has, and so cannot
    stand for all of it."""
    if len(said.text.split()) > _SHORT:
        return False
    kinds = {part.kind for part in said.parts}
    return any(part.kind not in kinds and part.kind != "term" for part in known.parts)
