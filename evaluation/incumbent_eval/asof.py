"""As-of: the values that held, or were known, at a time, on histories with known answers.

A history is drawn from a seed: values of a few keys that are replaced, come in late, are corrected
from an earlier day on, hold for a term, are planned for a later day, are retracted or undone. The
answer to every question follows from the list of deeds, without asking any system.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import NamedTuple

from incumbent_eval import answering
from incumbent_eval.answering import Answers, AnswersReport, Drawn, WrongAnswer
from incumbent_eval.ours import BEGINNING
from incumbent_eval.systems import Ability, Entry, Maker, Progress, Refused, System, Who

_DEEDS = 16
_BUDGET = 2000
_HOUR = timedelta(hours=1)
_KEYS = ("head of sales", "warehouse city", "delivery partner")
_WHO = Who()
_NEEDS = {
    "write": Ability.WRITE,
    "late": Ability.LATE,
    "late to an empty place": Ability.LATE,
    "correct": Ability.VALIDITY,
    "term": Ability.VALIDITY,
    "plan": Ability.VALIDITY,
    "retract": Ability.RETRACT,
    "undo": Ability.UNDO,
}


@dataclass(frozen=True)
class DatedDeed:
    """Something that was done to a key: a value written, or one taken back or undone."""

    kind: str
    key: str
    done_at: datetime
    begins: datetime
    """The start of the value; for a retraction, the end."""
    value: str = ""
    ends: datetime | None = None
    aim: int = -1
    """For a retraction or an undo, the number of the deed that it is about."""


class DatedQuestion(NamedTuple):
    """A key, and the two times of the question; None means now."""

    kind: str
    key: str
    as_of: datetime | None
    known_at: datetime | None


@dataclass(frozen=True)
class History:
    """The deeds, in order, and the questions afterwards."""

    deeds: tuple[DatedDeed, ...]
    questions: tuple[DatedQuestion, ...]
    now: datetime

    def answer(self, question: DatedQuestion) -> str | None:
        """The right answer: of the known deeds, the one that began last before the time asked
        for."""
        when = question.as_of or self.now
        known_at = question.known_at or self.now
        known = [deed for deed in self.deeds if deed.done_at <= known_at]
        undone = {deed.aim for deed in known if deed.kind == "undo"}
        standing = [
            deed
            for number, deed in enumerate(known)
            if deed.key == question.key
            and deed.kind != "undo"
            and deed.begins <= when
            and number not in undone
        ]
        if not standing:
            return None
        last = max(standing, key=lambda deed: deed.begins)
        return None if last.ends is not None and last.ends <= when else last.value or None


def run(
    maker: Maker,
    *,
    questions: int = 2000,
    seed: int = 0,
    without: Collection[str] = (),
    workers: int = 1,
    progress: Progress | None = None,
) -> AnswersReport:
    """Ask a system about the past. The seed decides everything; `without` leaves out some deeds."""
    name, can = answering.abilities(maker)
    cannot = answering.lacking((*_NEEDS.values(), Ability.AS_OF), can)
    report = AnswersReport(name, cannot=cannot)
    if not {Ability.AS_OF, Ability.WRITE} <= can:
        return report
    kinds = tuple(k for k, needs in _NEEDS.items() if needs in can and k not in without)
    return answering.ask(
        report,
        partial(_answered, maker, kinds),
        what="histories",
        questions=questions,
        seed=seed,
        workers=workers,
        progress=progress,
    )


def _answered(maker: Maker, kinds: Sequence[str], drawn: Drawn) -> Answers:
    history = made(Random(drawn.source), kinds, drawn.questions)
    system = maker()
    try:
        _play(system, history)
        return [(q.kind, _mistake(system, history, q)) for q in history.questions]
    finally:
        system.close()


# making


def made(random: Random, kinds: Sequence[str], questions: int) -> History:
    """A history of deeds of some kinds, and questions about it."""
    now = BEGINNING
    deeds: list[DatedDeed] = []
    for _ in range(_DEEDS):
        # No two deeds begin at the same moment, so that the order is never in doubt.
        now += random.randint(5, 40) * _HOUR + timedelta(minutes=len(deeds))
        deeds.append(_deed(random, random.choice(kinds), random.choice(_KEYS), deeds, now))
    now += 60 * _HOUR
    asked = tuple(_question(random, deeds, now) for _ in range(questions))
    return History(tuple(deeds), asked, now)


def _deed(
    random: Random, kind: str, key: str, deeds: Sequence[DatedDeed], now: datetime
) -> DatedDeed:
    """A deed of a kind, or a plain write if that kind would make the answer disputable."""
    value = f"{random.choice(_FIRST)}{random.choice(_LAST)} {len(deeds) + 11}"
    undone = {deed.aim for deed in deeds if deed.kind == "undo"}
    own = [
        (number, deed)
        for number, deed in enumerate(deeds)
        if deed.key == key and deed.kind != "undo" and number not in undone
    ]
    begun = [(number, deed) for number, deed in own if deed.begins <= now]
    last = max(begun, key=lambda pair: pair[1].begins, default=None)
    holds = last is not None and last[1].value and (last[1].ends is None or last[1].ends > now)
    if kind == "late" and begun and _is_plain(deeds, key):
        return DatedDeed(kind, key, now, _before(random, now, deeds), value)
    if kind == "late to an empty place" and begun and not holds:
        # Said before a value that replaced it: nobody can argue that it holds after that one.
        newest = max((deed.begins for _, deed in begun if deed.value), default=BEGINNING)
        return DatedDeed(kind, key, now, _before(random, newest, deeds), value)
    if kind == "correct" and last is not None and holds:
        begins = last[1].begins + (now - last[1].begins) * random.uniform(0.2, 0.9)
        return DatedDeed(kind, key, now, begins, value)
    if kind == "term":
        return DatedDeed(kind, key, now, now, value, ends=now + random.randint(10, 90) * _HOUR)
    if kind == "plan" and len(begun) == len(own):
        return DatedDeed(kind, key, now, now + random.randint(10, 90) * _HOUR, value)
    if kind == "retract" and last is not None and holds and len(begun) == len(own):
        return DatedDeed(kind, key, now, now, aim=last[0])
    if kind == "undo" and last is not None and last[1].value:
        return DatedDeed(kind, key, now, now, aim=last[0])
    return DatedDeed("write", key, now, now, value)


def _before(random: Random, moment: datetime, deeds: Sequence[DatedDeed]) -> datetime:
    """Some time before a moment, at which nothing else begins."""
    begins = BEGINNING + (moment - BEGINNING) * random.random()
    return begins.replace(second=len(deeds), microsecond=0)


def _is_plain(deeds: Sequence[DatedDeed], key: str) -> bool:
    """True if nothing happened to a key yet that makes a late arrival disputable.

    Does a retraction cover a statement made just before it and not yet known? Opinions differ.
    """
    return all(deed.kind in ("write", "late", "correct") for deed in deeds if deed.key == key)


def _question(random: Random, deeds: Sequence[DatedDeed], now: datetime) -> DatedQuestion:
    def moment() -> datetime:
        return BEGINNING + (now - BEGINNING) * random.random()

    key = random.choice(deeds).key
    kind = random.choice(("now", "what was so", "what was known of now", "what was known then"))
    if kind == "now":
        return DatedQuestion(kind, key, None, None)
    if kind == "what was so":
        return DatedQuestion(kind, key, moment(), None)
    if kind == "what was known of now":
        return DatedQuestion(kind, key, None, moment())
    return DatedQuestion(kind, key, moment(), moment())


_FIRST = ("Ash", "Birch", "Clover", "Dew", "Elm", "Fern", "Glen", "Hazel", "Iron", "Juniper")
_LAST = ("bury", "croft", "dale", "field", "gate", "holm", "minster", "ridge", "stead", "wick")


# playing


def _play(system: System, history: History) -> None:
    written: dict[int, str] = {}
    for number, deed in enumerate(history.deeds):
        system.move_to(deed.done_at)
        with suppress(Refused):  # then nothing has changed, which the answers show
            if deed.kind in ("retract", "undo"):
                if deed.aim in written:
                    take = system.retract if deed.kind == "retract" else system.undo
                    take(_WHO, written[deed.aim])
            else:
                written[number] = system.write(_WHO, _entry(deed))
    system.move_to(history.now)


def _entry(deed: DatedDeed) -> Entry:
    if deed.kind.startswith("late"):
        return Entry(deed.key, deed.value, said_at=deed.begins)
    starts = deed.begins if deed.begins != deed.done_at else None
    return Entry(deed.key, deed.value, valid_from=starts, valid_until=deed.ends)


def _mistake(system: System, history: History, question: DatedQuestion) -> WrongAnswer | None:
    """None if the context says the right value of the key, and no other that it ever had."""
    asked = f"What is the {question.key}?"
    if question.as_of is None and question.known_at is None:
        text = system.context(_WHO, asked, _BUDGET)
    else:
        text = system.context(
            _WHO, asked, _BUDGET, as_of=question.as_of, known_at=question.known_at
        )
    wanted = history.answer(question)
    if answering.is_right(text, _values(history, question.key), wanted):
        return None
    return WrongAnswer(f"{question.key} ({question.kind})", _told(history, question, wanted, text))


def _told(history: History, question: DatedQuestion, wanted: str | None, context: str) -> str:
    deeds = [
        f"{deed.done_at:%d %b %H:%M} {deed.kind} {deed.value or f'deed {deed.aim}'}, from "
        f"{deed.begins:%d %b %H:%M}" + (f" until {deed.ends:%d %b %H:%M}" if deed.ends else "")
        for deed in history.deeds
        if deed.key == question.key
    ]
    asked = f"{question.key} as of {question.as_of or 'now'}, known {question.known_at or 'now'}"
    return "\n".join([f"{asked}: {wanted or 'nothing'}", *deeds, context])


def _values(history: History, key: str) -> Iterator[str]:
    return (deed.value for deed in history.deeds if deed.key == key and deed.value)
