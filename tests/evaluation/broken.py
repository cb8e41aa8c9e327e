"""Systems that are wrong on purpose, one law each, to show that the evaluations can tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import incumbent
from incumbent_eval.ours import IncumbentSystem
from incumbent_eval.systems import Entry, Who

QUICK = incumbent.Settings(embedder=None, reader="rules")
"""Without the models: what is tried here are laws, and not how well a text is understood."""


class Sound(IncumbentSystem):
    """Nothing wrong with it."""

    def __init__(self) -> None:
        super().__init__(QUICK)


class Silent(Sound):
    """Takes everything, and says nothing."""

    def context(self, who: Who, query: str, budget: int, **when: Any) -> str:
        return ""


class ShowsEverything(Sound):
    """Puts all that was ever written where this person may look into every context."""

    def __init__(self) -> None:
        super().__init__()
        self._all: list[tuple[Who, Entry]] = []

    def write(self, who: Who, entry: Entry) -> str:
        self._all.append((who, entry))
        return super().write(who, entry)

    def context(self, who: Who, query: str, budget: int, **when: Any) -> str:
        shown = [
            f"- {entry.key}: {entry.value}"
            for writer, entry in self._all
            if writer.organization == who.organization
            and (writer.user == who.user or not entry.is_private)
        ]
        text = "\n".join([super().context(who, query, budget, **when), *shown])
        while self.tokens(text) > budget:  # it is wrong in one way only
            text = text[: len(text) * 3 // 4]
        return text


class IgnoresAuthority(Sound):
    """Takes everybody for equals."""

    def _session(self, who: Who, *rest: Any, **more: Any) -> incumbent.Session:
        more.pop("speaks_for", None)
        return super()._session(replace(who, authority="employee"), *rest, **more)

    def write(self, who: Who, entry: Entry) -> str:
        return super().write(who, replace(entry, authority=None))


class IgnoresBudget(Sound):
    """Says all that it knows, whatever there is room for."""

    def context(self, who: Who, query: str, budget: int, **when: Any) -> str:
        return super().context(who, query, 1_000_000, **when)


class _As(Sound):
    """Takes some people for others."""

    taken_for: Callable[[Who], Who]

    def _session(self, who: Who, *rest: Any, **more: Any) -> incumbent.Session:
        return super()._session(type(self).taken_for(who), *rest, **more)


class MixesOrganizations(_As):
    """Keeps all organizations in one."""

    taken_for = staticmethod(lambda who: replace(who, organization="everybody"))


class MixesSessions(_As):
    """Takes all sessions of a person for one."""

    taken_for = staticmethod(lambda who: replace(who, session="always the same"))


class _Terms(Sound):
    """Changes the terms of what is written."""

    changed: ClassVar[dict[str, Any]]

    def write(self, who: Who, entry: Entry) -> str:
        return super().write(who, replace(entry, **self.changed))


class MixesPersons(_Terms):
    """Takes what is private for everybody's, and what is said for said by everybody."""

    changed: ClassVar[dict[str, Any]] = {"is_private": False}

    def _session(self, who: Who, *rest: Any, **more: Any) -> incumbent.Session:
        return super()._session(replace(who, user="everybody"), *rest, **more)


class DraftsAreReal(_Terms):
    """Takes every draft and supposition for a decision."""

    changed: ClassVar[dict[str, Any]] = {"scope": "global"}


class IgnoresTerms(_Terms):
    """Does not know from when or until when something holds."""

    changed: ClassVar[dict[str, Any]] = {"valid_from": None, "valid_until": None}


class GoesByArrival(_Terms):
    """Takes what comes last for what was said last."""

    changed: ClassVar[dict[str, Any]] = {"said_at": None}


class IgnoresDependencies(_Terms):
    """Does not know what follows from what."""

    changed: ClassVar[dict[str, Any]] = {"depends_on": ()}


class IgnoresTargets(_Terms):
    """Does not hear what a value is to replace."""

    changed: ClassVar[dict[str, Any]] = {"supersedes": None}


class NeverReplaces(Sound):
    """Keeps every value beside the ones before, unless a target is named."""

    _count = 0

    def write(self, who: Who, entry: Entry) -> str:
        self._count += 1
        return super().write(who, replace(entry, key=f"{entry.key} {self._count}"))


class TakesNothingBack(Sound):
    """Agrees to every retraction, and keeps the value."""

    def retract(self, who: Who, written: str) -> None:
        return


class UndoesNothing(Sound):
    """Agrees to every undo, and leaves things as they are."""

    def undo(self, who: Who, written: str) -> None:
        return


class KnowsOnlyNow(Sound):
    """Answers every question about the past with the present."""

    def context(self, who: Who, query: str, budget: int, **when: Any) -> str:
        return super().context(who, query, budget)


class KnowsNoRecordTime(Sound):
    """Takes what was known then for what is known now."""

    def context(self, who: Who, query: str, budget: int, **when: Any) -> str:
        return super().context(who, query, budget, as_of=when.get("as_of"))


class HearsNothing(Sound):
    """Takes every turn, and makes nothing of it."""

    def observe(self, who: Who, text: str, speaker: str = "user") -> None:
        return


class Transcribes(Sound):
    """Makes nothing of what is said, and puts all of it into every context."""

    def __init__(self) -> None:
        super().__init__()
        self._turns: list[tuple[Who, str]] = []

    def observe(self, who: Who, text: str, speaker: str = "user") -> None:
        self._turns.append((who, text))

    def context(self, who: Who, query: str, budget: int, **when: Any) -> str:
        mine = [
            text
            for speaker, text in self._turns
            if (speaker.user, speaker.organization) == (who.user, who.organization)
        ]
        text = super().context(who, query, budget, **when)
        for turn in reversed(mine):
            if self.tokens(f"{text}\n{turn}") > budget:
                break
            text = f"{text}\n{turn}"
        return text


class TellsNoTime(Sound):
    """Leaves out who is asking and what day it is, and answers differently each time."""

    _asked = 0

    def context(self, who: Who, query: str, budget: int, **when: Any) -> str:
        lines = super().context(who, query, budget, **when).splitlines()
        self._asked += 1
        facts = [line for line in lines if line.startswith("- ")]
        return "\n".join([f"({self._asked})", *facts]) if self.tokens(query) < budget else ""


class CutsSilently(Sound):
    """Leaves out what does not fit, and says nothing of it."""

    def context(self, who: Who, query: str, budget: int, **when: Any) -> str:
        text = super().context(who, query, budget, **when)
        lines = text.replace("[cut]", "").splitlines()
        return "\n".join(line for line in lines if "left out" not in line).rstrip()


class BelievesEverything(_Terms):
    """Takes what is doubtful for as good as anything else."""

    changed: ClassVar[dict[str, Any]] = {"is_doubtful": False}


class Paraphrases(Sound):
    """Takes the signs out of what was stated word for word."""

    def write(self, who: Who, entry: Entry) -> str:
        return super().write(who, replace(entry, value=entry.value.replace("_", " ")))


class GivesUp(Sound):
    """Says nothing where much is stored."""

    def context(self, who: Who, query: str, budget: int, **when: Any) -> str:
        text = super().context(who, query, budget, **when)
        return text if self.tokens(text) < budget * 0.6 else ""


class BelievesTheLast(Sound):
    """Forgets all that was said and written before the last thing."""

    def __init__(self) -> None:
        super().__init__()
        self._last = ""

    def write(self, who: Who, entry: Entry) -> str:
        self._last = f"{entry.key}: {entry.value}"
        return super().write(who, entry)

    def observe(self, who: Who, text: str, speaker: str = "user") -> None:
        self._last = text
        super().observe(who, text, speaker)

    def context(self, who: Who, query: str, budget: int, **when: Any) -> str:
        lines = super().context(who, query, budget, **when).splitlines()
        return "\n".join([*(line for line in lines if not line.startswith("- ")), self._last])


BROKEN: tuple[type[Sound], ...] = (
    ShowsEverything,
    IgnoresAuthority,
    IgnoresBudget,
    MixesOrganizations,
    MixesSessions,
    MixesPersons,
    DraftsAreReal,
    IgnoresTerms,
    GoesByArrival,
    IgnoresDependencies,
    IgnoresTargets,
    NeverReplaces,
    TakesNothingBack,
    UndoesNothing,
    KnowsOnlyNow,
    KnowsNoRecordTime,
    HearsNothing,
    Transcribes,
    TellsNoTime,
    CutsSilently,
    BelievesEverything,
    Paraphrases,
    GivesUp,
    BelievesTheLast,
)
