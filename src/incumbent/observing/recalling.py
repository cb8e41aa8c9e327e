"""Recalling: which facts on record a model is shown with the turns that it reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from incumbent.engine.doubts import doubters
from incumbent.engine.lens import Lens, matching
from incumbent.language.llm.prompting import SentFact
from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent.observing.scrutiny import is_out_of_reach
from incumbent.observing.situation import STATEMENT, VERBATIM, Situation
from incumbent.observing.waiting import Waiting
from incumbent.stores.port import Reader

_BROUGHT = 10.0
"""What the turns brought themselves is always shown."""
_SHARING = 0.3
_JUST_SAID = 0.15
_RECENT = 0.05
_ENTRIES_EACH = 4
"""So many entries of the log are looked at for each fact that may be shown."""


class Recalling:
    """Finds what a person has on record that turns of a conversation may be about."""

    def __init__(self, reader: Reader, lens: Lens, situation: Situation, most: int) -> None:
        self._reader = reader
        self._lens = lens
        self._situation = situation
        self._most = most
        self._scores: dict[str, float] = {}

    def recalled(self, turns: Sequence[Waiting]) -> list[Fact]:
        """The facts in office, or ahead, that may be sent: the likeliest, told oldest first."""
        situation = self._situation
        for waiting in turns:
            self._add(waiting.turn.fact_ids, _BROUGHT)
            for fact_id, likeness in waiting.found.items():
                self._add([fact_id], likeness.score)
            for said in waiting.heard.said:
                self._add((fact.id for fact in situation.sharing(said.frame.order)), _SHARING)
        self._add_aged(reversed(situation.facts), _JUST_SAID)
        self._add_aged(self._last_written(), _RECENT)
        if situation.proposed:
            self._add(situation.proposed, _JUST_SAID)
        held = self._held(list(self._scores))
        held.sort(key=lambda fact: (-self._scores[fact.id], -fact.recorded_at.timestamp()))
        return sorted(held[: self._most], key=_in_order)

    def _add(self, fact_ids: Iterable[str], score: float) -> None:
        for fact_id in fact_ids:
            self._scores[fact_id] = max(score, self._scores.get(fact_id, 0.0))

    def _add_aged(self, newest_first: Iterable[str], score: float) -> None:
        for age, fact_id in enumerate(newest_first):
            # What was found by its words and was said just now is likelier than either.
            self._scores[fact_id] = self._scores.get(fact_id, 0.0) + score / (1 + age)

    def _last_written(self) -> list[str]:
        """What this person said or wrote last, in whichever session, newest first."""
        size = _ENTRIES_EACH * self._most
        entries = self._reader.log(max(0, self._reader.head()[0] - size), size)
        by = self._lens.identity.user_id
        return list(dict.fromkeys(one.fact_id for one in reversed(entries) if one.by == by))

    def _held(self, fact_ids: Sequence[str]) -> list[Fact]:
        reader, lens = self._reader, self._lens
        stored = reader.facts(fact_ids)
        held = lens.in_office(reader, stored, marks=False)
        found = {fact.id: fact for fact in (*held, *lens.not_yet(reader, stored))}
        return [fact for fact in found.values() if may_be_sent(reader, fact)]


def _in_order(fact: Fact) -> tuple[object, ...]:
    """By when it was said, and where in its turn: never by chance, so that a request is the same
    when it is made again."""
    return fact.order, fact.source.turn_index or 0, fact.source.span or (0, 0), fact.recorded_at


def may_be_sent(reader: Reader, fact: Fact) -> bool:
    """Whether a fact may be shown to a model.

    Not if reading it takes a permission or a rank: the provider has neither. Nor if it binds
    others or was given word for word, since no model may change that.
    """
    told = matching(reader.declarations(), fact.key)
    return not (
        fact.requires
        or fact.min_authority is not None
        or any(declared.requires for declared in told)
        or is_out_of_reach(fact)
        or fact.key == VERBATIM
    )


def sent_facts(
    reader: Reader, lens: Lens, named: Mapping[str, Fact], turns: Iterable[Waiting]
) -> tuple[SentFact, ...]:
    """Facts as a model is shown them, under names that hold for one request."""
    brought = {i: one.turn.turn_index for one in turns for i in one.turn.fact_ids}
    against = doubters(reader, lens, named.values())
    return tuple(
        SentFact(
            name,
            # What stands beside others has a key that is made of its words, and no name.
            STATEMENT if fact.multi_valued else fact.key,
            fact.subject or "",
            text_of(fact.value),
            brought.get(fact.id) if _is_of(fact, brought) else None,
            fact.order.date().isoformat(),
            fact.source.speaker or "user",
            any(one.id in brought for one in against.get(fact.id, ())),
            fact.scope.value,
        )
        for name, fact in named.items()
    )


def _is_of(fact: Fact, brought: Mapping[str, int]) -> bool:
    """Whether a turn brought a fact, and did not only say it again."""
    return fact.source.turn_index == brought.get(fact.id)
