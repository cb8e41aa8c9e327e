"""Pairs: statements with marked values, new turns, and what these do to the values.

The generator draws records of the content files, states them, and lets a turn follow that changes,
confirms, ends or leaves alone what was stated. Everything comes from one seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from training.content import LEAVING, Record, Template, are_alike, load, talk
from training.examples import Example, Label, Mark, joined
from training.filling import Text, Values, draw, fill, plainly
from training.speaking import Speaker, ended, lowered
from training.values import Said


class Generator:
    """Makes examples out of records."""

    def __init__(self, records: Sequence[Record], seed: int, noise: float = 0.3) -> None:
        self._records = records
        self._by_domain: dict[str, list[Record]] = {}
        for record in records:
            self._by_domain.setdefault(record.domain, []).append(record)
        self._r = Random(seed)
        self._talk = talk()
        self._speaker = Speaker(self._talk, self._r, noise)

    def examples(self, each: int) -> Iterator[Example]:
        """So many tries for each record; forms for which a record has no words are left out."""
        for record in self._records:
            for _ in range(each):
                made = self._example(record)
                if made is not None:
                    yield made

    def _example(self, record: Record) -> Example | None:
        r = self._r
        old = draw(record, r)
        stated = self._stated(record, old)
        form = r.choices(list(_FORMS), list(_FORMS.values()))[0]
        if form in LEAVING:
            follows = self._leaving(record, old, form)
        else:
            follows = getattr(self, f"_{form}")(record, old, stated)
        if follows is None:
            return None
        return self._finished(record, stated, follows, form)

    # what was stated

    def _stated(self, record: Record, values: Values) -> Text:
        r = self._r
        text = fill(r.choice(record["statement"]), values, values, r)
        if record.subject is not None:
            text.spots.pop(record.subject, None)
        if r.random() < 0.2:
            other = self._another(record)
            more = fill(r.choice(other["statement"]), draw(other, r), {}, r).text
            if r.random() < 0.5:
                return text.shifted(f"{ended(more)} ")
            return Text(ended(text.text), text.spots).shifted("", f" {more}")
        if r.random() < 0.15 and len(text.spots) == 1:
            # as a value that was written down reads
            slot = next(iter(text.spots))
            alone = len(record.slots) - (record.subject is not None) == 1
            what = record.name if alone else slot.replace("_", " ")
            whose = f"{values[record.subject][0]}'s " if record.subject is not None else ""
            value = r.choice(values[slot])
            return Text(value, {slot: (0, len(value))}).shifted(f"{whose}{what}: ")
        return text

    def _another(self, record: Record) -> Record:
        r = self._r
        pool = self._by_domain[record.domain] if r.random() < 0.5 else self._records
        found = r.choice(pool)
        for _ in range(20):
            if not are_alike(found, record):
                break
            found = r.choice(self._records)
        return found

    # what follows

    def _implicit(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        return self._update(record, old, stated)

    def _cued(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        follows = self._update(record, old, stated)
        return None if follows is None else follows.with_turn(self._speaker.cued(follows.turn))

    def _update(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        r = self._r
        fitting = [t for t in record["update"] if set(t.slots) & set(stated.spots)]
        if not fitting:
            return None
        template = r.choice(fitting)
        new = self._new(record, old)
        turn = fill(template, new, old, r)
        previous = self._failure(record, old, template) if r.random() < 0.3 else None
        changed: dict[str, Label] = {s: "replace" for s in template.slots if s != record.subject}
        return _Follows(turn, changed, previous)

    def _failure(self, record: Record, old: Values, update: Template) -> str | None:
        """What the assistant says when it cannot be as it was: people then try something else."""
        fitting = [t for t in record["fail"] if not t.slots or set(t.slots) & set(update.slots)]
        return fill(self._r.choice(fitting), old, old, self._r).text if fitting else None

    def _new(self, record: Record, old: Values) -> dict[str, Said]:
        new = draw(record, self._r, old)
        if record.subject is not None:
            new[record.subject] = old[record.subject]
        return new

    def _fragment(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        r = self._r
        fitting = [
            t
            for t in record["fragment"]
            if len(t.slots) == 1 and t.slots[0] in stated.spots and t.slots[0] in record.asks
        ]
        if not fitting:
            return None
        template = r.choice(fitting)
        turn = fill(template, self._new(record, old), old, r)
        slot = template.slots[0]
        previous = r.choice(record.asks[slot])
        if r.random() < 0.4:
            previous = self._readback(record, old, slot) or previous
            if r.random() < 0.7:
                turn = turn.shifted(
                    r.choice(["No, ", "no ", "Nope, ", "Actually ", "Sorry, ", "Wait, "])
                )
        return _Follows(turn, {slot: "replace"}, previous)

    def _elliptical(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        """A correction of few words, about what was said last."""
        r = self._r
        kinds = [record.kinds[s] for s in stated.spots]
        fitting = [s for s in stated.spots if kinds.count(record.kinds[s]) == 1]
        named = not fitting or r.random() < 0.3
        slot = r.choice(list(stated.spots) if named else fitting)
        pattern = r.choice(self._talk["contrast" if named else "elliptical"])
        value, gone = r.choice(self._new(record, old)[slot]), r.choice(old[slot])
        begin = pattern.index("{x}")
        before = pattern[:begin].replace("{old}", gone)
        after = pattern[begin + 3 :].replace("{old}", gone)
        turn = Text(value, {slot: (0, len(value))}).shifted(before, after)
        return _Follows(turn, {slot: "replace"}, "" if r.random() < 0.5 else None)

    def _readback(self, record: Record, old: Values, slot: str | None = None) -> str | None:
        fitting = [t for t in record["readback"] if slot is None or slot in t.slots]
        if fitting:
            return fill(self._r.choice(fitting), old, old, self._r).text
        return None

    def _answer_elsewhere(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        """A bare value that answers a question about something else."""
        r = self._r
        fitting = [t for t in record["fragment"] if len(t.slots) == 1]
        if not fitting:
            return None
        template = r.choice(fitting)
        slot = template.slots[0]
        kind = record.kinds[slot]
        # Where a stated value is of the kind, a bare question of another record may well mean it.
        alike = any(record.kinds[s] == kind for s in stated.spots)
        pool = (record,) if alike else (record, *self._by_domain[record.domain])
        asks = [
            (s if other is record else None, ask)
            for other in pool
            for s, found in other.asks.items()
            if other.kinds[s] == kind and not (other is record and s == slot)
            for ask in found
        ]
        if not asks:
            return None
        asked, previous = r.choice(asks)
        turn = fill(template, self._new(record, old), old, r)
        if asked is not None and asked in stated.spots:
            value = turn.text[slice(*turn.spots[slot])]
            if plainly(value) in map(plainly, old[asked]):
                return None
            turn.spots[asked] = turn.spots.pop(slot)
            return _Follows(turn, {asked: "replace"}, previous)
        turn.spots.clear()
        return _Follows(turn, {}, previous)

    def _other_subject(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        subject, r = record.subject, self._r
        if subject is None or not any(said in stated.text for said in old[subject]):
            return None
        fitting = [t for t in record["update"] if subject in t.slots]
        if not fitting:
            return None
        turn = fill(r.choice(fitting), draw(record, r, old), old, r)
        turn.spots.clear()
        return _Follows(self._speaker.cued(turn) if r.random() < 0.2 else turn, {})

    def _other_record(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        r, other = self._r, self._another(record)
        if r.random() < 0.5:  # preferably one that takes values of the same sort
            kinds = {record.kinds[s] for s in stated.spots}
            alike = [
                o
                for o in self._records
                if not are_alike(o, record)
                and kinds & {o.kinds[s] for s in o.kinds if s != o.subject}
            ]
            other = r.choice(alike) if alike else other
        values = draw(other, r)
        source = "update" if r.random() < 0.5 else "statement"
        fitting = [t for t in other[source] if not t.old]
        if source == "update":  # one that names nothing would be about what was stated
            fitting = [
                t for t in fitting if len(t.text.split()) > 6 and other.subject in (None, *t.slots)
            ]
        if not fitting:
            return None
        turn = fill(r.choice(fitting), values, values, r)
        turn.spots.clear()
        asks = [ask for found in other.asks.values() for ask in found]
        previous = r.choice(asks) if asks and r.random() < 0.3 else None
        return _Follows(self._speaker.cued(turn) if r.random() < 0.15 else turn, {}, previous)

    def _same_value(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        r = self._r
        fitting = [
            t
            for t in record["update"]
            if set(t.slots) & set(stated.spots) and not t.old and not _TURNING.search(t.text)
        ]
        if not fitting:
            return None
        template = r.choice(fitting)
        turn = fill(template, old, old, r)
        turn.spots.clear()
        return _Follows(turn, {s: "confirm" for s in template.slots if s != record.subject})

    def _confirm(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        r = self._r
        fitting = [t for t in record["confirm"] if not t.slots or set(t.slots) & set(stated.spots)]
        if not fitting:
            return None
        template = r.choice(fitting)
        turn = fill(template, old, old, r)
        turn.spots.clear()
        named = [s for s in template.slots if s != record.subject]
        return _Follows(turn, dict.fromkeys(named or stated.spots, "confirm"))

    def _retract(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        if not record["retract"]:
            return None
        template = self._r.choice(record["retract"])
        turn = fill(template, old, old, self._r)
        turn.spots.clear()
        named = [s for s in (*template.old, *template.slots) if s != record.subject]
        ended = [s for s in named if s in stated.spots]
        if named and not ended:  # it ends something that was not stated
            return None
        return _Follows(turn, dict.fromkeys(ended or stated.spots, "retract"))

    def _leaving(self, record: Record, old: Values, form: str) -> _Follows | None:
        if not record[form]:
            return None
        template = self._r.choice(record[form])
        turn = fill(template, self._new(record, old), old, self._r)
        turn.spots.clear()
        return _Follows(turn, {})

    def _small_talk(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        return _Follows(Text(self._r.choice(self._talk["small"])), {})

    def _offer(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        r = self._r
        fitting = [t for t in record["offer"] if len(t.slots) == 1 and t.slots[0] in stated.spots]
        if not fitting or not record["accept"] or not record["decline"]:
            return None
        template = r.choice(fitting)
        offered = fill(template, self._new(record, old), old, r)
        taken = r.random() < 0.6
        reply = r.choice(record["accept" if taken else "decline"])
        if reply.slots or reply.old:
            return None
        if not taken:
            return _Follows(Text(reply.text), {}, offered.text)
        slot = template.slots[0]
        follows = _Follows(Text(reply.text), {slot: "replace"}, offered.text)
        follows.offered[slot] = offered.spots[slot]
        return follows

    # making it one

    def _finished(
        self, record: Record, stated: Text, follows: _Follows, form: str
    ) -> Example | None:
        turn = follows.turn
        if follows.previous is None or self._r.random() < 0.1:
            turn = self._speaker.rounded(turn)
        told = follows.previous
        previous = self._previous(record, stated) if told is None else told
        turn = self._speaker.typed(turn)
        marks = self._marks(stated, follows, turn, previous)
        if not marks:
            return None
        return Example(stated.text, previous, turn.text, marks, form, record.domain)

    def _previous(self, record: Record, stated: Text) -> str:
        r = self._r
        dice = r.random()
        if dice < 0.35:
            return ""
        if dice < 0.43 and record["fail"]:
            found = [t for t in record["fail"] if not t.slots and not t.old]
            if found:
                return r.choice(found).text
        if dice < 0.47:
            return r.choice(self._talk["failure"])
        if dice < 0.6:
            other = self._another(record)
            asks = [ask for found in other.asks.values() for ask in found]
            if asks:
                return r.choice(asks)
        said = r.choice(self._talk["acknowledgement"])
        return said.replace("{x}", lowered(stated.text))

    def _marks(
        self, stated: Text, follows: _Follows, turn: Text, previous: str
    ) -> tuple[Mark, ...]:
        offset = len(joined(previous, turn.text)) - len(turn.text)
        found = []
        for slot, (start, end) in stated.spots.items():
            label: Label = follows.labels.get(slot, "leave")
            new = None
            if label == "replace":
                if slot in follows.offered:
                    new = follows.offered[slot]
                elif slot in turn.spots:
                    a, b = turn.spots[slot]
                    new = (a + offset, b + offset)
                else:
                    return ()
            found.append(Mark(start, end, label, new))
        return tuple(sorted(found, key=lambda mark: mark.start))


_TURNING = re.compile(
    r"\b(rather|better|instead|moved|switched|changed|bumped|raised|cut|dropped|went|new|no longer"
    r"|not|replaced|left|joined|became|turned|swapped|traded)\b",
    re.IGNORECASE,
)
"""Words of a turn that would not be said of what was so already."""


@dataclass
class _Follows:
    """A turn and what it does to slots; the turn before it, and where that offers a value."""

    turn: Text
    labels: dict[str, Label]
    previous: str | None = None
    offered: dict[str, tuple[int, int]] = field(default_factory=dict)

    def with_turn(self, turn: Text) -> _Follows:
        return _Follows(turn, self.labels, self.previous, self.offered)


_FORMS: Mapping[str, float] = {
    "implicit": 24,
    "cued": 9,
    "elliptical": 7,
    "fragment": 6,
    "offer": 4,
    "answer_elsewhere": 5,
    "other_subject": 8,
    "other_record": 10,
    "same_value": 4,
    "confirm": 5,
    "retract": 6,
    "near": 7,
    "maybe": 6,
    "question": 5,
    "reported": 5,
    "past": 5,
    "denied": 4,
    "addition": 5,
    "narrower": 4,
    "joke": 2,
    "small_talk": 4,
}


def generate(seed: int, each: int) -> list[Example]:
    """Examples of all content files."""
    return list(Generator(load(), seed).examples(each))
