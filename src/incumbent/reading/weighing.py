"""Weighing: what the model makes of something known, beside what the words of a turn show of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from incumbent.model.fact import Part
from incumbent.reading import thresholds
from incumbent.reading.form import Known, Statement
from incumbent.reading.relating import Pairing, Valued, features, value_chances
from incumbent.reading.ties import topic
from incumbent.reading.trees import trees

_SHORT: Final = 6


@dataclass(frozen=True)
class Value:
    """What the model makes of one value of something known."""

    part: Part
    over: float
    number: int
    """Which statement has the new value."""
    new: Part | None
    """The new value, where one of the same kind is said."""
    chance: float = 0.0
    """How likely it is over, all in all."""

    @property
    def is_pointed(self) -> bool:
        """Whether the model by itself holds it to be over, and sees what takes its place."""
        return self.over >= thresholds.EVEN and self.new is not None


@dataclass(frozen=True)
class ReadOpinion:
    """What the model makes of something known."""

    over: float
    is_ended: bool
    values: tuple[Value, ...] = ()

    @property
    def likeliest(self) -> float:
        """How likely the value is over that most likely is."""
        return max((one.over for one in self.values), default=self.over)


class Weighed(NamedTuple):
    """Something known beside a turn, with all that is made of it."""

    known: Known
    pair: Pairing
    opinion: ReadOpinion
    number: int
    """Which statement is likest to it."""
    chance: float = 0.0
    """How likely it is over, all in all."""


def weighed(beside: Sequence[Weighed]) -> list[Weighed]:
    """What a turn may be about, with how likely each is over, and each of its values."""
    told = [[valued(one) for one in known.opinion.values] for known in beside]
    most = max((one.over for of in told for one in of), default=0.0)
    chances = trees().chances(features([one.pair for one in beside], told))
    found = []
    for one, values, chance in zip(beside, told, chances, strict=True):
        each = value_chances(one.pair, values, most, thresholds.VALUE_WEIGHTS)
        pairs = zip(one.opinion.values, each, strict=True)
        opinion = replace(one.opinion, values=tuple(replace(v, chance=c) for v, c in pairs))
        found.append(one._replace(opinion=opinion, chance=chance))
    return found


def valued(one: Value) -> Valued:
    """What of an opinion is weighed."""
    return Valued(one.part, one.over, one.new)


def pairing(known: Known, statement: Statement, opinion: ReadOpinion) -> Pairing:
    return Pairing(
        known.text,
        statement.text,
        opinion.over,
        opinion.likeliest,
        known.likeness,
        known.age,
        known.is_here,
        "correction" in statement.cues,
        known.parts,
        statement.parts,
    )


def of_one_thing(known: Known, statement: Statement) -> bool:
    """Whether both say something of the same thing, by its name."""
    name = topic(known.text)
    return bool(name) and name == topic(statement.text)


def leaves_out(known: Known, statement: Statement) -> bool:
    """Whether a short statement says nothing of other values that the known one has, and so cannot
    stand for all of it."""
    if len(statement.text.split()) > _SHORT:
        return False
    kinds = {part.kind for part in statement.parts}
    return any(part.kind not in kinds and part.kind != "term" for part in known.parts)


def says_again(known: Known, statement: Statement) -> bool:
    claim = statement.claim
    if claim is None or not known.key:
        return False
    same = (claim.attribute, claim.subject) == (known.key, known.subject)
    return same and claim.value.strip().lower() == known.value.strip().lower()
