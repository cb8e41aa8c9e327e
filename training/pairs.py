"""Pairs: statements with marked values, new turns, and what these do to the values.

The generator draws records of the content files, states them, and lets a turn follow that changes,
confirms, ends or leaves alone what was stated. Everything comes from one seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from training.content import HOLE, LEAVING, Record, Template, load, talk
from training.values import MAKERS, Said

Label = Literal["replace", "confirm", "retract", "leave", "not_replaced"]
"""`not_replaced` is for data that only tells whether a value was replaced."""
Values = Mapping[str, Said]


@dataclass(frozen=True)
class Mark:
    """A value in a statement, and what becomes of it."""

    start: int
    end: int
    label: Label
    new: tuple[int, int] | None = None
    """Where the new value is in `previous ¦ turn`."""


@dataclass(frozen=True)
class Example:
    """A statement, a turn that follows, and what that does to the values of the statement."""

    statement: str
    previous: str
    turn: str
    marks: tuple[Mark, ...]
    form: str
    """The way in which it is said: implicit, cued, maybe, other subject."""
    source: str
    group: str = ""
    """The dialogue that it comes from: what belongs together is held back together."""

    @property
    def reply(self) -> str:
        """What the model reads of the conversation."""
        return joined(self.previous, self.turn)


def joined(previous: str, turn: str) -> str:
    return f"{previous} ¦ {turn}" if previous else turn


@dataclass
class Text:
    """A text that is put together, and where the values are in it."""

    text: str = ""
    spots: dict[str, tuple[int, int]] = field(default_factory=dict)

    def shifted(self, before: str, after: str = "") -> Text:
        by = len(before)
        return Text(
            before + self.text + after, {s: (a + by, b + by) for s, (a, b) in self.spots.items()}
        )


def fill(template: Template, values: Values, old: Values, r: Random) -> Text:
    """A template with values in its holes."""
    out, spots, done = "", {}, 0
    for hole in HOLE.finditer(template.text):
        out += template.text[done : hole.start()]
        slot, is_old = hole.group(1), hole.group(2)
        value = r.choice((old if is_old else values)[slot])
        if not out and value[0].islower() and r.random() < 0.7:
            value = value[0].upper() + value[1:]
        if not is_old:
            spots[slot] = (len(out), len(out) + len(value))
        out += value
        done = hole.end()
    return Text(out + template.text[done:], spots)


def draw(record: Record, r: Random, other_than: Values | None = None) -> dict[str, Said]:
    """A value for each slot, different from others if these are given."""
    found: dict[str, Said] = {}
    taken: dict[str, set[str]] = {}
    for slot, maker in record.slots.items():
        kind = record.kinds[slot]
        used = taken.setdefault(kind, set())
        if other_than is not None:
            used |= set(map(plainly, other_than[slot]))
        for attempt in range(30):
            alike = other_than is not None and attempt == 0 and r.random() < 0.12
            value = misread(other_than[slot], r) if alike and other_than else maker(r)
            if used.isdisjoint(map(plainly, value)):
                break
        used |= set(map(plainly, value))
        found[slot] = value
    return found


def misread(value: Said, r: Random) -> Said:
    """A value that differs from another in one digit, if it has any."""
    plain = r.choice(value)
    digits = [at for at, character in enumerate(plain) if character.isdigit()]
    if not digits:
        return value
    at = r.choice(digits)
    other = r.choice("123456789")
    return (f"{plain[:at]}{other}{plain[at + 1 :]}",)


class Generator:
    """Makes examples out of records."""

    def __init__(self, records: Sequence[Record], seed: int, noise: float = 0.3) -> None:
        self._records = records
        self._by_domain: dict[str, list[Record]] = {}
        for record in records:
            self._by_domain.setdefault(record.domain, []).append(record)
        self._r = Random(seed)
        self._talk = talk()
        self._noise = noise

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
                return text.shifted(f"{_ended(more)} ")
            return Text(_ended(text.text), text.spots).shifted("", f" {more}")
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
            if not _are_alike(found, record):
                break
            found = r.choice(self._records)
        return found

    # what follows: (turn, labels by slot, previous)

    def _implicit(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        return self._update(record, old, stated)

    def _cued(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        follows = self._update(record, old, stated)
        return None if follows is None else follows.with_turn(self._cue(follows.turn))

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
        return _Follows(self._cue(turn) if r.random() < 0.2 else turn, {})

    def _other_record(self, record: Record, old: Values, stated: Text) -> _Follows | None:
        r, other = self._r, self._another(record)
        if r.random() < 0.5:  # preferably one that takes values of the same sort
            kinds = {record.kinds[s] for s in stated.spots}
            alike = [
                o
                for o in self._records
                if not _are_alike(o, record)
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
        return _Follows(self._cue(turn) if r.random() < 0.15 else turn, {}, previous)

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
        return _Follows(turn, {s: "confirm" for s in named or stated.spots})

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
        return _Follows(turn, {s: "retract" for s in ended or stated.spots})

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
        previous = offered.text
        if not taken:
            return _Follows(Text(reply.text), {}, previous)
        slot = template.slots[0]
        follows = _Follows(Text(reply.text), {slot: "replace"}, previous)
        follows.offered[slot] = offered.spots[slot]
        return follows

    # making it one

    def _cue(self, turn: Text) -> Text:
        pattern = self._r.choice(self._talk["cue"])
        hole = re.search(r"\{([xXy])\}", pattern)
        if hole is None:  # pragma: no cover - every cue has one
            return turn
        text = turn.text
        if hole.group(1) == "y":
            text = text.rstrip(".!? ")
        if hole.start() and hole.group(1) != "X" and not re.match(r"I\b|[A-Z]{2}", text):
            starts_with_value = any(start == 0 for start, _ in turn.spots.values())
            text = text if starts_with_value else _lowered(text)
        said = Text(text, {s: span for s, span in turn.spots.items() if span[1] <= len(text)})
        return said.shifted(pattern[: hole.start()], pattern[hole.end() :])

    def _finished(
        self, record: Record, stated: Text, follows: _Follows, form: str
    ) -> Example | None:
        r = self._r
        turn = follows.turn
        if follows.previous is None or r.random() < 0.1:
            if r.random() < 0.15:
                opening = r.choice(self._talk["opening"])
                if opening[-1] not in ".!?" and not any(a == 0 for a, _ in turn.spots.values()):
                    turn = Text(_lowered(turn.text), turn.spots)
                turn = turn.shifted(f"{opening} ")
            if r.random() < 0.12:
                turn = turn.shifted("", f" {r.choice(self._talk['closing'])}")
        previous = follows.previous
        if previous is None:
            previous = self._previous(record, stated)
        turn = self._typed(turn)
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
        return said.replace("{x}", _lowered(stated.text))

    def _typed(self, turn: Text) -> Text:
        """The way people type: without capitals, without a full stop, with a letter missing."""
        r = self._r
        if r.random() > self._noise:
            return turn
        text = turn.text
        dice = r.random()
        if dice < 0.45:
            return Text(text.lower(), turn.spots) if len(text.lower()) == len(text) else turn
        if dice < 0.75:
            cut = text.rstrip(".!")
            return Text(cut, {s: (a, min(b, len(cut))) for s, (a, b) in turn.spots.items()})
        places = [
            i
            for i in range(1, len(text) - 1)
            if text[i - 1 : i + 2].isalpha()
            and not any(a <= i <= b for a, b in turn.spots.values())
        ]
        if not places:
            return turn
        at = r.choice(places)
        return Text(
            text[:at] + text[at + 1 :],
            {s: (a - (a > at), b - (b > at)) for s, (a, b) in turn.spots.items()},
        )

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
_WEEKDAY = re.compile(r"\b(mon|tue|wed|thu|fri|sat|sun)[a-z]*", re.IGNORECASE)


def plainly(said: str) -> str:
    """What two values that may be the same have in common."""
    if hit := _WEEKDAY.search(said):
        return hit.group(1).lower()
    if hit := re.search(r"\b(\d{1,2})(?:st|nd|rd|th)\b", said):
        return hit.group(1)
    return said.lower().replace(",", "")


def _lowered(text: str) -> str:
    """A sentence as it goes on after a comma; names and the like keep their capitals."""
    first = text.split(" ", 1)[0]
    return text if first.startswith("I'") or not first[1:].islower() else text[0].lower() + text[1:]


def _are_alike(one: Record, other: Record) -> bool:
    """Whether two records may be about one errand: they draw on the same list of values."""
    lists = {*one.kinds.values()} & {*other.kinds.values()} - set(MAKERS)
    return bool(lists) or bool({*one.name.split()} & {*other.name.split()} - {"of", "a", "the"})


def _ended(text: str) -> str:
    return text if text.rstrip()[-1:] in ".!?" else f"{text.rstrip()}."


@dataclass
class _Follows:
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


def generate(seed: int, each: int, without: Sequence[str] = ()) -> list[Example]:
    """Examples of all content files; `without` leaves out domains or forms."""
    records = [record for record in load() if record.domain not in without]
    found = Generator(records, seed).examples(each)
    return [example for example in found if example.form not in without]
