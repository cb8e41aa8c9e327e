"""Scope, structured: drafts, suppositions and sessions, on episodes with known answers.

An episode is drawn from a seed: values of a few keys that are real, drafts, suppositions, or of one
session; drafts that become real, and values that are retracted. The value that a session goes by
follows from the list of deeds: its own value of the key, else the real one, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from random import Random
from typing import NamedTuple

from incumbent_eval import answering
from incumbent_eval.answering import Answers, AnswersReport, Drawn, WrongAnswer
from incumbent_eval.ours import BEGINNING
from incumbent_eval.systems import Ability, Entry, Maker, Progress, Refused, System, Who

_DEEDS = 20
_BUDGET = 2000
_MOMENT = timedelta(minutes=1)
_KEYS = ("holiday place", "car colour", "hotel chain")
_SESSIONS = ("one", "two", "three")
_TOWNS = ("Avila", "Bergamo", "Cadiz", "Delft", "Evora", "Faro", "Ghent", "Hvar", "Ivrea", "Jaca")
_NEEDS = {
    "real": Ability.WRITE,
    "draft": Ability.DRAFT,
    "hypothetical": Ability.DRAFT,
    "session": Ability.SESSION,
    "made real": Ability.DRAFT,
    "taken back": Ability.RETRACT,
}
_TRIED_OUT = ("draft", "hypothetical")


class ScopedDeed(NamedTuple):
    """Something that was done to a key, in a session."""

    kind: str
    key: str
    session: str
    value: str = ""
    aim: int = -1
    """For a retraction, the number of the deed that wrote the value."""


@dataclass(frozen=True)
class ScopedEpisode:
    """The deeds, in order, and the keys and sessions of the questions afterwards."""

    deeds: tuple[ScopedDeed, ...]
    questions: tuple[tuple[str, str], ...]

    def answer(self, key: str, session: str) -> str | None:
        """The value that a session goes by: its own, else the real one."""
        gone = {deed.aim for deed in self.deeds if deed.kind == "taken back"}
        own = real = None
        for number, deed in enumerate(self.deeds):
            if deed.key != key:
                continue
            value = None if number in gone else deed.value
            if deed.kind in ("real", "made real"):
                real = value
            elif deed.kind == "session" and deed.session == session:
                own = value
        return own or real

    def kind(self, key: str, session: str) -> str:
        """The difficulty of a question: the other deeds on the key."""
        about = {deed.kind for deed in self.deeds if deed.key == key}
        if any(d.kind == "session" and d.key == key and d.session == session for d in self.deeds):
            return "in the session of a value"
        if "session" in about:
            return "outside the session of a value"
        if "made real" in about:
            return "a draft made real"
        return "beside drafts" if about & set(_TRIED_OUT) else "real values alone"


def run(
    maker: Maker,
    *,
    questions: int = 1000,
    seed: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
) -> AnswersReport:
    """Ask a system which value holds where. The seed decides everything."""
    name, can = answering.abilities(maker)
    report = AnswersReport(name, cannot=answering.lacking(_NEEDS.values(), can))
    if Ability.WRITE not in can or not can & {Ability.DRAFT, Ability.SESSION}:
        return report
    return answering.ask(
        report,
        partial(_answered, maker, can),
        what="episodes",
        questions=questions,
        seed=seed,
        workers=workers,
        progress=progress,
    )


def _answered(maker: Maker, can: frozenset[Ability], drawn: Drawn) -> Answers:
    """For each question its difficulty, and the mistake in the answer, if any."""
    episode = made(Random(drawn.source), can, drawn.questions)
    system = maker()
    try:
        _play(system, episode)
        return [
            (episode.kind(key, session), _mistake(system, episode, key, session))
            for key, session in episode.questions
        ]
    finally:
        system.close()


def made(random: Random, can: frozenset[Ability], questions: int) -> ScopedEpisode:
    """An episode within a system's abilities, and questions about it."""
    sessions = _SESSIONS if Ability.SESSION in can else _SESSIONS[:1]
    kinds = [kind for kind, needs in _NEEDS.items() if needs in can]
    deeds: list[ScopedDeed] = []
    while len(deeds) < _DEEDS:
        key, session = random.choice(_KEYS), random.choice(sessions)
        deeds.append(_deed(random, random.choice(kinds), key, session, deeds))
    asked = ((random.choice(_KEYS), random.choice(sessions)) for _ in range(questions))
    return ScopedEpisode(tuple(deeds), tuple(asked))


def _deed(
    random: Random, kind: str, key: str, session: str, deeds: Sequence[ScopedDeed]
) -> ScopedDeed:
    own = [(number, deed) for number, deed in enumerate(deeds) if deed.key == key]
    if kind == "made real":
        drafts = [deed.value for _, deed in own if deed.kind in _TRIED_OUT]
        if drafts:
            return ScopedDeed(kind, key, session, drafts[-1])
    elif kind == "taken back":
        # Only the last value of a scope can be: an earlier one has left office already.
        last = {(d.kind == "session" and d.session, d.kind in _TRIED_OUT): n for n, d in own}
        aims = [n for n in last.values() if deeds[n].kind in ("real", "session")]
        if aims:
            aim = random.choice(aims)
            return ScopedDeed(kind, key, deeds[aim].session, aim=aim)
    else:
        return ScopedDeed(kind, key, session, f"{random.choice(_TOWNS)} {len(deeds) + 101}")
    return ScopedDeed("real", key, session, f"{random.choice(_TOWNS)} {len(deeds) + 101}")


def _play(system: System, episode: ScopedEpisode) -> None:
    written: dict[int, str] = {}
    for number, deed in enumerate(episode.deeds):
        system.move_to(BEGINNING + (number + 1) * _MOMENT)
        who = Who(session=deed.session)
        with suppress(Refused):  # then nothing has changed, which the answers show
            if deed.kind != "taken back":
                scope = deed.kind if deed.kind in (*_TRIED_OUT, "session") else "global"
                entry = Entry(deed.key, deed.value, scope=scope, is_private=True)
                written[number] = system.write(who, entry)
            elif deed.aim in written:
                system.retract(who, written[deed.aim])


def _mistake(system: System, episode: ScopedEpisode, key: str, session: str) -> WrongAnswer | None:
    text = system.context(Who(session=session), f"What is my {key}?", _BUDGET)
    wanted = episode.answer(key, session)
    values = {deed.value for deed in episode.deeds if deed.key == key and deed.value}
    if answering.is_right(text, values, wanted):
        return None
    deeds = (
        f"session {deed.session}: {deed.kind} {deed.value or f'deed {deed.aim}'}"
        for deed in episode.deeds
        if deed.key == key
    )
    asked = f"{key} in session {session}: {wanted or 'nothing'}"
    return WrongAnswer(asked, "\n".join([asked, *deeds, text]))
