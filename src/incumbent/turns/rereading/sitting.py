"""The sitting: what a model is shown of the turns that it reads, and what its names stand for."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from incumbent.engine.doubts import doubters
from incumbent.engine.lens import Lens, matching
from incumbent.language.speakers import is_machine
from incumbent.model.fact import Fact
from incumbent.model.records import item_key
from incumbent.model.values import text_of
from incumbent.model.verdict import Outcome
from incumbent.reading.asked.asking import Ask
from incumbent.reading.asked.grounds import Grounds
from incumbent.reading.asked.prompting import Shown, ask_for, cut
from incumbent.reading.form import StatementKind
from incumbent.stores.port import Reader
from incumbent.turns.observer import WINDOW
from incumbent.turns.rereading.waiting import Standing, Waiting
from incumbent.turns.situation import FoundBySearch, Situation, looked_at
from incumbent.turns.worth import is_done

_BEFORE: Final = 2
"""So many turns before the first are shown, to understand the others by."""
_LONGEST_FACT: Final = 300
_LONGEST_SENTENCE: Final = 1_000
_LONGEST_BEFORE: Final = 400
_ROOM: Final = 2_000
"""So many characters of known facts are shown, the likeliest first."""
_LONG: Final = 400
"""Of a longer turn of a machine only the sentences are read that report something."""
_MOST_READ: Final = 6_000
"""So many characters of sentences are read; those after them stay as they were read offline."""
TOUCHED: Final = 10.0
"""What the turns were taken to do something to is always shown."""
_JUST_SAID: Final = 0.15


@dataclass(frozen=True)
class Sitting:
    """A few turns of one conversation, as a model is asked to read them."""

    turns: Mapping[int, Waiting]
    sentences: Mapping[str, tuple[int, int]]
    """Which turn and which statement of its offline reading a name stands for."""
    known: Mapping[str, str]
    """Which fact one stands for."""
    shown_turns: list[Shown]
    shown_facts: list[Shown]
    grounds: Grounds = field(compare=False)

    def ask(self, max_output_tokens: int) -> Ask:
        return ask_for(self.shown_facts, self.shown_turns, max_output_tokens)


def sitting_of(
    reader: Reader, lens: Lens, standing: Sequence[Standing], most_facts: int
) -> Sitting:
    """What is sent for a few turns of one conversation, in order."""
    kept = [one.waiting for one in standing]
    session_id = kept[0].conversation.session_id
    found = {i: FoundBySearch(s, s) for one in kept for i, s in one.found.items()}
    situation = looked_at(reader, lens, session_id, WINDOW, found)
    turns = {one.turn.turn_index: one for one in kept}
    names = _sentences(kept)
    shown_turns = _shown_turns(situation, turns, names)
    chosen = _known(reader, lens, situation, standing, most_facts)
    known = {f"k{number}": fact.id for number, fact in enumerate(chosen, 1)}
    said = [(one.came.text, one.moment) for one in kept]
    said += [(one.told.get("before", ""), kept[0].moment) for one in shown_turns]
    return Sitting(
        turns,
        names,
        known,
        shown_turns,
        _shown_facts(reader, lens, chosen, {i for one in standing for i in one.brought}),
        Grounds(said, (text for fact in chosen for text in (text_of(fact.value), _name(fact)))),
    )


# turns


def _sentences(kept: Iterable[Waiting]) -> dict[str, tuple[int, int]]:
    """The sentences that are to be read, under names that hold for one request."""
    found: list[tuple[int, int]] = []
    room = _MOST_READ
    for one in kept:
        by_machine = is_machine(one.came.speaker.name)
        in_part = by_machine and len(one.came.text) > _LONG
        for number, said in enumerate(one.reading.statements):
            if said.kind is StatementKind.VERBATIM and not by_machine:
                continue
            if room > 0 and (not in_part or is_done(said, one.came.speaker.name, one.came.text)):
                room -= len(said.text)
                found.append((one.turn.turn_index, number))
    return {f"s{number}": place for number, place in enumerate(found, 1)}


def _shown_turns(
    situation: Situation, turns: Mapping[int, Waiting], names: Mapping[str, tuple[int, int]]
) -> list[Shown]:
    """The turns to read, with those between them and the last before, as far as on the desk."""
    found: dict[int, Shown] = {}
    for turn in situation.turns:
        item = situation.items.get(item_key(turn))
        if item is not None and min(turns) - _BEFORE <= turn.turn_index < max(turns):
            told = _told_by(turn.speaker) | {"before": cut(text_of(item.value), _LONGEST_BEFORE)}
            found[turn.turn_index] = Shown(turn.at.date(), told)
    for index, one in turns.items():
        told = _told_by(one.came.speaker.name)
        said = one.reading.statements
        numbers = {name: number for name, (at, number) in names.items() if at == index}
        if len(numbers) < len(said):
            told["before"] = cut(one.came.text, _LONGEST_BEFORE)
        told |= {name: cut(said[place].text, _LONGEST_SENTENCE) for name, place in numbers.items()}
        found[index] = Shown(one.moment.date(), told)
    return [found[index] for index in sorted(found)]


def _told_by(speaker: str) -> dict[str, Any]:
    return {} if speaker == "user" else {"by": speaker}


# what is known


def _known(
    reader: Reader, lens: Lens, situation: Situation, standing: Sequence[Standing], most: int
) -> list[Fact]:
    """What was on record before the turns and may concern them, oldest first.

    What the offline reading of the turns brought is no part of it, and what it put out of office
    is: it is taken back before the model's reading is filed.
    """
    scores: dict[str, float] = {}
    brought: set[str] = set()
    for one in standing:
        brought |= one.brought
        gone = {i for verdict in one.offline for i in verdict.superseded}
        gone |= {v.fact_id for v in one.offline if v.outcome is Outcome.RETRACTED}
        gone |= {i for fact in reader.facts(one.brought) for i in fact.doubts}
        scores |= dict.fromkeys(gone, TOUCHED)
        for fact_id, score in one.waiting.found.items():
            scores[fact_id] = max(score, scores.get(fact_id, 0.0))
    touched = {i for i, score in scores.items() if score >= TOUCHED}
    for age, fact_id in enumerate(reversed([*situation.here])):
        scores[fact_id] = scores.get(fact_id, 0.0) + _JUST_SAID / (1 + age)
    seen = (lens.glimpse(reader, fact_id) for fact_id in scores.keys() - brought)
    held = [
        fact
        for fact in seen
        if fact is not None
        and (fact.id in touched or fact.id in situation.facts)
        and _may_be_sent(reader, fact)
    ]
    held.sort(key=lambda fact: (-scores[fact.id], -fact.recorded_at.timestamp()))
    return sorted(_fitting(held[:most]), key=lambda fact: (fact.order, fact.recorded_at))


def _fitting(facts: Iterable[Fact]) -> Iterator[Fact]:
    room = _ROOM
    for fact in facts:
        room -= min(len(text_of(fact.value)), _LONGEST_FACT)
        if room < 0:
            return
        yield fact


def _may_be_sent(reader: Reader, fact: Fact) -> bool:
    """Whether a fact may be shown to a model.

    Not if reading it takes a permission or a rank: the provider has neither. Nor if it binds
    others, since no model may change that.
    """
    told = matching(reader.declarations(), fact.key)
    return not (
        fact.requires
        or fact.min_authority is not None
        or any(declared.requires for declared in told)
        or (fact.is_constraint and (not fact.owner or fact.constraint_type == "policy"))
    )


def _shown_facts(
    reader: Reader, lens: Lens, facts: Sequence[Fact], read: Container[str]
) -> list[Shown]:
    names = {fact.id: f"k{number}" for number, fact in enumerate(facts, 1)}
    doubted = doubters(reader, lens, facts)
    found = []
    for fact in facts:
        told: dict[str, Any] = {names[fact.id]: cut(text_of(fact.value), _LONGEST_FACT)}
        if name := _name(fact):
            told["name"] = name
        told |= _told_by(fact.source.speaker or "user")
        if rests := [names[base] for base in fact.depends_on if base in names]:
            told["rests"] = rests
        if any(one.id not in read for one in doubted.get(fact.id, ())):
            told["doubted"] = True
        found.append(Shown(fact.order.date(), told))
    return found


def _name(fact: Fact) -> str:
    if fact.is_unnamed:
        return ""
    return f"{fact.subject} {fact.key}" if fact.subject else fact.key
