"""The observer: one turn of conversation, from its text to what is stored of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from incumbent.engine.registrar import Registrar
from incumbent.language.detection import Detector, same_part
from incumbent.language.frames import frame_of
from incumbent.language.learned.cutting import Cuts, cut
from incumbent.language.speakers import is_machine, plain_name
from incumbent.language.statements import Kind, Statement
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Fact, Part
from incumbent.model.identity import check_name
from incumbent.model.records import Spot, Turn, WorkingItem, item_key
from incumbent.model.times import moment
from incumbent.model.values import check_text, text_of
from incumbent.observing.anchoring import anchored
from incumbent.observing.circumstances import Circumstances, Speaker
from incumbent.observing.clerk import Clerk
from incumbent.observing.desk import Desk, ForeseenSwaps, Record
from incumbent.observing.filing import title_in
from incumbent.observing.observation import Observation
from incumbent.observing.recognising import digest_of
from incumbent.observing.repeating import Received, observed_before, told_again
from incumbent.observing.situation import Situation
from incumbent.observing.touching import Likeness, is_reading
from incumbent.observing.understanding import Understood, typed, understand
from incumbent.settings import Settings

WINDOW = 40
"""How many turns of a session stay at hand: on its desk, and for comparing new ones with."""
ECHOING = 20_000
"""An assistant's turn is searched for values that were said before up to this many characters."""
_SHORTEST = 2


@dataclass(frozen=True)
class Heard(Received):
    """A turn as it came in, checked and read."""

    digest: str
    said: tuple[Understood, ...]

    @property
    def is_context(self) -> bool:
        """Whether it only helps to understand others."""
        return is_machine(self.speaker.name)

    @property
    def statements(self) -> tuple[Statement, ...]:
        return tuple(one.statement for one in self.said)


def receive(
    text: str,
    *,
    speaker: str,
    at: datetime | None,
    ref: str | None,
    authority: str | None,
    settings: Settings,
) -> Received:
    """Check a turn; raises InvalidInput that names the argument and the fix."""
    if not isinstance(text, str):
        raise InvalidInput(f"text must be a string, not {type(text).__name__}")
    check_text(text, "text")
    size = len(text) if text.isascii() else len(text.encode("utf-8"))
    if size > settings.max_turn_bytes:
        raise InvalidInput(
            f"the turn takes {size:,} bytes and the limit is {settings.max_turn_bytes:,}; split it "
            f"into turns, write() it as a document, or raise Settings.max_turn_bytes"
        )
    who = speaking(speaker, authority)
    if authority is not None:
        settings.ladder.resolve(authority)  # refuses what is no title
    at = None if at is None else moment(at, "at")
    if ref is not None:
        check_name(ref, "ref")
    if is_machine(who.name):
        # Whatever a machine says is below anybody's word.
        who = replace(who, authority=settings.ladder.rungs[0])
    return Received(text, who, at, ref)


def hear(came: Received, *, now: datetime, settings: Settings, cuts: Cuts | None = None) -> Heard:
    """Read a turn."""
    text, who, at, ref = came.text, came.speaker, came.at, came.ref
    read = cut(text, cuts) if cuts is not None else text
    said = tuple(
        understand(read, at or now, lambda name: title_in(name, settings.ladder) is not None)
    )
    if read != text:
        said = tuple(_as_written(one, text) for one in said)
    return Heard(text, who, at, ref, digest_of(who.name, text, ref), said)


def _as_written(one: Understood, text: str) -> Understood:
    """A statement in the turn's own letters: where it was cut to be read, people wrote a space."""
    whole = text[one.statement.start : one.statement.end]
    if len(whole) != len(one.statement.text) or "\n" not in one.statement.text:
        return one
    said = whole[one.begin : one.begin + len(one.text)]
    is_same = said.split() == one.text.split()
    statement = replace(one.statement, text=whole)
    return replace(one, statement=statement, text=said if is_same else one.text)


def speaking(name: str, authority: str | None) -> Speaker:
    """Whoever is called so; raises InvalidInput where nobody can be."""
    name = check_name(name, "speaker").strip()
    seen = plain_name(name)
    if not seen:
        raise InvalidInput(
            f"speaker {name!r:.80} shows nothing; give a name that can be read, or leave it out"
        )
    # As it is written, and not as it looks: nobody becomes the user by a likeness.
    is_self = name.lower() in ("user", "human", "me")
    if is_self or is_machine(name):
        name = name.lower() if is_self else seen
    return Speaker(name, is_self, authority)


def in_situation(heard: Heard, situation: Situation, *, reads: bool) -> Heard:
    """A turn as it is to be read after what was said before it."""
    if heard.is_context:
        return heard
    said = anchored(heard.text, heard.said, situation, in_own_words=reads)
    return replace(heard, said=tuple(said))


class Foreseen(NamedTuple):
    """A turn as it was read before the transaction that files it."""

    situation: Situation
    heard: Heard
    """The turn in that situation."""
    in_own_words: Sequence[Understood]
    """Its statements as they were said."""
    swaps: Sequence[ForeseenSwaps]
    sentences: tuple[str, ...]
    """What it probably brings, as its meaning is looked up."""


class Observer:
    """Takes in one turn."""

    def __init__(
        self,
        registrar: Registrar,
        detector: Detector,
        around: Circumstances,
        found: Mapping[str, Likeness],
        foreseen: Foreseen | None = None,
    ) -> None:
        self._registrar = registrar
        self._found = found
        self._detector = detector
        self._around = around
        self._foreseen = foreseen
        self._session_id = around.session_id
        self._user_id = registrar.identity.user_id

    def observe(self, heard: Heard) -> tuple[Observation, Record]:
        """File a turn, unless it was filed before."""
        registrar = self._registrar
        reader, lens = registrar.transaction, registrar.lens
        # Once more: it may have been filed since somebody looked.
        known = observed_before(reader, lens, self._session_id, heard)
        if known is not None:
            return told_again(reader, lens, known), Record()
        foreseen = self._foreseen
        before = None if foreseen is None else foreseen.situation
        situation = Situation(reader, lens, self._session_id, WINDOW, before)
        if foreseen is not None and not situation.is_as(foreseen.situation):
            foreseen = None
        if foreseen is not None:
            heard = foreseen.heard
        else:
            heard = in_situation(heard, situation, reads=is_reading(self._detector))
        index = situation.next_index
        now = registrar.now
        around = replace(self._around, turn_index=index)
        swaps = () if foreseen is None else foreseen.swaps
        clerk = Clerk(Desk(registrar, situation, self._detector, around, swaps), self._found)
        if heard.is_context:
            clerk.take_report(heard.said)
        else:
            clerk.take_turn(heard.said, None if foreseen is None else foreseen.in_own_words)
        record = clerk.record
        record.said = heard.said
        turn = Turn(
            self._session_id,
            index,
            heard.speaker.name,
            heard.at or now,
            heard.digest,
            heard.ref,
            tuple(dict.fromkeys(fact.id for fact in record.facts)),
            tuple(verdict.id for verdict in record.verdicts),
        )
        self._put_down(turn, heard, situation, record, now)
        observation = Observation(
            turn_index=index,
            speaker=turn.speaker,
            at=turn.at,
            ref=turn.ref,
            statements=heard.statements,
            facts=tuple({fact.id: fact for fact in record.facts}.values()),
            verdicts=tuple(record.verdicts),
            retired=tuple(dict.fromkeys(record.retired)),
        )
        return observation, record

    # the desk

    def _put_down(
        self, turn: Turn, heard: Heard, situation: Situation, record: Record, now: datetime
    ) -> None:
        """Put the turn on the desk, with where it says what."""
        transaction = self._registrar.transaction
        transaction.put_turn(self._user_id, turn)
        if not heard.text.strip():
            return
        lifetime = self._registrar.settings.working_set_ttl
        expires = None if lifetime is None else now + lifetime
        spots = (
            *own_spots(heard.text, turn.turn_index, record.facts),
            *_unreal_spots(heard),
            *(Spot("", "", start, end) for start, end in record.outdated),
            *_echoes(heard, situation.facts.values()),
        )
        states = tuple(dict.fromkeys((*turn.fact_ids, *(s.fact_id for s in spots if s.fact_id))))
        self._retrace(situation, record)
        item = WorkingItem(item_key(turn), heard.text, now, expires, states, spots)
        transaction.put_item(self._user_id, self._session_id, item)
        if len(situation.turns) >= WINDOW:
            oldest = item_key(situation.turns[0])
            transaction.drop_items(user_id=self._user_id, session_id=self._session_id, key=oldest)
        transaction.drop_items(expired_at=now)

    def _retrace(self, situation: Situation, record: Record) -> None:
        """Note in the last turn where it had already said what was stated just now.

        Whoever says "yes, that one" states what the other has just offered.
        """
        if not situation.turns or not record.facts:
            return
        item = situation.items.get(item_key(situation.turns[-1]))
        if item is None or not isinstance(item.value, str):
            return
        known = {(spot.fact_id, spot.start) for spot in item.spots}
        spots = [
            spot
            for spot in _spots(item.value, record.facts)
            if (spot.fact_id, spot.start) not in known
        ]
        if spots:
            states = tuple(dict.fromkeys((*item.states, *(spot.fact_id for spot in spots))))
            again = WorkingItem(
                item.key,
                item.value,
                item.created_at,
                item.expires_at,
                states,
                (*item.spots, *spots),
            )
            self._registrar.transaction.put_item(self._user_id, self._session_id, again)


def own_spots(text: str, turn_index: int, facts: Sequence[Fact]) -> list[Spot]:
    """Where a turn says what it stated: each statement, and each value in it."""
    found = []
    for fact in facts:
        span = _span(text, turn_index, fact)
        if span is None:
            continue
        found.append(Spot(fact.id, text_of(fact.value), *span))
        for part in fact.parts:
            start = text.find(part.text, *span)
            if start >= 0:
                found.append(Spot(fact.id, part.text, start, start + len(part.text)))
    return found


def _span(text: str, turn_index: int, fact: Fact) -> tuple[int, int] | None:
    """Where a turn says a fact. One that it confirms was said first in another turn."""
    if fact.source.turn_index == turn_index:
        return fact.source.span
    told = text_of(fact.value).rstrip(" .!")
    start = text.find(told)
    return (start, start + len(told)) if start >= 0 else None


def _unreal_spots(heard: Heard) -> list[Spot]:
    """Where a turn supposes, wishes or proposes: no context but a branch's own shows that."""
    return [
        Spot("", "", one.statement.start, one.statement.end)
        for one in heard.said
        if one.kind in (Kind.HYPOTHETICAL, Kind.DRAFT)
    ]


def _echoes(heard: Heard, facts: Iterable[Fact]) -> list[Spot]:
    """Where a turn says again, in whatever form, what a fact in office says."""
    return _spots(heard.text[:ECHOING], facts)


def _spots(text: str, facts: Iterable[Fact]) -> list[Spot]:
    standing = [(fact, part) for fact in facts for part in typed(fact.parts)]
    if not standing:
        return []
    found = []
    for part in typed(frame_of(text).parts):
        for fact, held in standing:
            if part.kind == held.kind and _is_echo(part, held):
                found.append(Spot(fact.id, held.text, part.start, part.end))
    return found


def _is_echo(part: Part, held: Part) -> bool:
    return len(part.text) >= _SHORTEST and same_part(part, held)
