"""The situation of a turn: what was said before it, and what it may be about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from incumbent.engine.lens import Lens
from incumbent.language.speakers import is_machine
from incumbent.model.fact import Fact, Status
from incumbent.model.records import Turn, WorkingItem, item_key
from incumbent.model.scope import Scope
from incumbent.model.values import text_of
from incumbent.reading.form import Known
from incumbent.stores.port import Reader

_OPEN: Final = (Scope.DRAFT, Scope.HYPOTHETICAL)
_JUST_NOW: Final = 30
"""How far back the log is looked at for what was written beside the conversation."""
_LONGEST: Final = 400
"""So many characters of a fact are read."""


class FoundBySearch(NamedTuple):
    """How a fact was found that a turn may be about."""

    score: float
    meaning: float


@dataclass(frozen=True)
class Situation:
    """A conversation up to a turn, as one person sees it."""

    head: int
    """The last entry of the log when it was looked at."""
    turns: tuple[Turn, ...]
    items: Mapping[str, WorkingItem]
    here: Mapping[str, Fact]
    """Facts in office that came of these turns or were written just now, oldest first."""
    facts: Mapping[str, Fact]
    """The same with those that were found by search."""
    open: Mapping[str, Fact]
    """Drafts and what-ifs of this conversation that are still open."""
    found: Mapping[str, FoundBySearch] = field(default_factory=dict)

    @property
    def next_index(self) -> int:
        return self.turns[-1].turn_index + 1 if self.turns else 1

    @property
    def previous(self) -> str:
        """What was said right before."""
        item = self.items.get(item_key(self.turns[-1])) if self.turns else None
        return text_of(item.value) if item is not None else ""

    @property
    def previous_by_machine(self) -> bool:
        return bool(self.turns) and is_machine(self.turns[-1].speaker)

    def is_as(self, other: Situation) -> bool:
        """Whether nothing has happened since another look at the same conversation."""
        return self.head == other.head or (self.turns == other.turns and self.facts == other.facts)

    def last(self) -> list[Fact]:
        """The facts that the last turn of a person brought, as far as they still hold."""
        for turn in reversed(self.turns):
            if not is_machine(turn.speaker):
                held = (self.here[one] for one in turn.fact_ids if one in self.here)
                return [fact for fact in held if fact.source.turn_index == turn.turn_index]
        return list(self.here.values())[-1:]


def looked_at(
    reader: Reader,
    lens: Lens,
    session_id: str,
    window: int,
    found: Mapping[str, FoundBySearch],
    asks_first: bool = False,
) -> Situation:
    """The situation of a session now. Where its turns are kept only once they are approved, what
    waits for that is talked about as well."""
    user_id = lens.identity.user_id
    head = reader.head()[0]
    turns = tuple(reader.turns(user_id, session_id, window))
    items = {
        item.key: item
        for item in reader.working_items(user_id, session_id)
        if not item.expired(lens.when)
    }
    said = {fact_id for turn in turns for fact_id in turn.fact_ids} | _written(reader, lens, head)
    in_order = sorted(reader.facts(said), key=lambda fact: (fact.recorded_at, fact.id))
    here = {fact.id: fact for fact in in_order if _holds(reader, lens, fact, asks_first)}
    there = lens.in_office(reader, reader.facts([i for i in found if i not in here]), marks=False)
    proposed = {
        fact.id: fact
        for fact in in_order
        if fact.scope in _OPEN and fact.status is Status.OFFICE and fact.owner == user_id
    }
    facts = {**here, **{fact.id: fact for fact in there if fact.scope not in _OPEN}}
    return Situation(head, turns, items, here, facts, proposed, found)


def _written(reader: Reader, lens: Lens, head: int) -> set[str]:
    """Facts that this person has just written without saying them in a turn."""
    entries = reader.log(max(0, head - _JUST_NOW), _JUST_NOW)
    ids = {entry.fact_id for entry in entries if entry.by == lens.identity.user_id}
    return {fact.id for fact in reader.facts(ids) if fact.source.turn_index is None}


def _holds(reader: Reader, lens: Lens, fact: Fact, asks_first: bool) -> bool:
    return (
        fact.scope not in _OPEN
        and (fact.held_at(lens.when) or (asks_first and fact.is_unapproved))
        and fact.place in lens.places
        and lens.sees(reader, fact)
    )


def sentence_of(fact: Fact) -> tuple[str, int]:
    """A fact as a sentence, and where its value begins in it."""
    told = text_of(fact.value)[:_LONGEST]
    if fact.is_unnamed or len(told.split()) > 12:
        return told, 0
    name = fact.key.replace("_", " ").replace(".", " ")
    owner = f"{fact.subject}'s {name}" if fact.subject else f"The {name}"
    opening = f"{owner} is "
    return opening + told, len(opening)


def known_to(situation: Situation, facts: Iterable[Fact] | None = None) -> tuple[Known, ...]:
    """What a turn may be about, as a reader sees it, the newest of this conversation first."""
    latest = list(situation.here)
    age = {fact_id: len(latest) - 1 - place for place, fact_id in enumerate(latest)}
    known = []
    for fact in situation.facts.values() if facts is None else facts:
        text, shift = sentence_of(fact)
        likeness = situation.found.get(fact.id)
        parts = tuple(
            part._replace(start=part.start + shift, end=part.end + shift)
            for part in fact.parts
            if part.end + shift <= len(text)
        )
        known.append(
            Known(
                fact.id,
                text,
                fact.key,
                fact.subject,
                text_of(fact.value),
                parts,
                likeness.meaning if likeness is not None else 0.3,
                age.get(fact.id, len(latest)),
                fact.id in situation.here,
                fact.source.by_machine,
                fact.source.speaker or "user",
            )
        )
    return tuple(known)
