"""Playing: a world acted out on a system, and the result of each act."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from incumbent_eval.isolation.acts import SCOPES, IsolationAct, Secret
from incumbent_eval.ours import BEGINNING
from incumbent_eval.systems import (
    Accountable,
    Entry,
    Erasing,
    Maker,
    Refused,
    System,
    TellingSystem,
)

_BUDGET = 2000
_MOMENT = timedelta(minutes=1)


def played(maker: Maker, acts: Sequence[IsolationAct], chosen: Iterable[int]) -> dict[int, str]:
    """The texts that acts gave back, by the number of the act."""
    system = maker()
    try:
        player = ActPlayer(system)
        said = {index: player.do(index, acts[index]) for index in chosen}
    finally:
        system.close()
    return {index: text for index, text in said.items() if text is not None}


class ActPlayer:
    """Carries out acts, and keeps their writes."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._written: dict[Secret, str] = {}

    def do(self, index: int, act: IsolationAct) -> str | None:
        now = BEGINNING + (index + 1) * _MOMENT
        self._system.move_to(now)
        if act.kind == "plant":
            with suppress(Refused):  # its owner will not find it, which the report shows
                self._plant(act)
            return None
        if act.kind == "guess":
            return None  # guesses are made in worlds of their own
        if act.kind == "bait":
            with suppress(Refused):
                self._system.write(act.who, Entry(act.key, "nothing to see"))
            return None
        if act.kind != "ask":
            return self._attempt(act)
        query = f"What is the {act.key}?"
        if act.road == "account" and isinstance(self._system, Accountable):
            return self._system.account(act.who, query, _BUDGET)
        if act.road == "look back":
            then = now - act.back * _MOMENT
            return self._system.context(act.who, query, _BUDGET, as_of=then)
        return self._system.context(act.who, query, _BUDGET)

    def _plant(self, act: IsolationAct) -> None:
        secret = act.secret
        assert secret is not None
        if secret.kind == "said":
            self._system.observe(act.who, f"My {secret.key} is {secret.word}.")
            return
        entry = Entry(
            secret.key,
            secret.word,
            scope=SCOPES.get(secret.kind, "global"),
            is_private=secret.kind not in ("shared", "restricted"),
            requires=secret.owner.permissions if secret.kind == "restricted" else (),
        )
        self._written[secret] = self._system.write(act.who, entry)

    def _attempt(self, act: IsolationAct) -> str:
        """Make an attempt on somebody else's value; return the system's answer."""
        assert act.secret is not None
        aim = self._written.get(act.secret)
        if aim is None:
            return ""
        entry = Entry("decoy", "a harmless thing", is_private=True)
        try:
            if act.kind == "erase":
                if isinstance(self._system, Erasing):
                    self._system.erase(act.who, aim)
            elif act.kind == "retract":
                self._system.retract(act.who, aim)
            elif act.kind == "undo":
                self._system.undo(act.who, aim)
            elif act.kind == "supersede":
                self._system.write(act.who, replace(entry, supersedes=aim))
            else:
                self._system.write(act.who, replace(entry, depends_on=(aim,)))
        except Refused as refusal:
            return str(refusal)
        return ""

    def guess(self, act: IsolationAct, word: str, *, is_private: bool) -> str:
        """The answer to somebody who writes a word where another may have written it."""
        assert act.secret is not None
        try:
            written = self._system.write(
                act.who, Entry(act.secret.key, word, is_private=is_private)
            )
        except Refused as refusal:
            return str(refusal)
        return self._system.told(written) if isinstance(self._system, TellingSystem) else ""


def guessed(
    maker: Maker,
    acts: Sequence[IsolationAct],
    chosen: Iterable[int],
    act: IsolationAct,
    word: str,
    *,
    private: bool,
) -> str:
    """The answer to a guess after these acts."""
    system = maker()
    try:
        player = ActPlayer(system)
        for index in chosen:
            player.do(index, acts[index])
        return player.guess(act, word, is_private=private)
    finally:
        system.close()
