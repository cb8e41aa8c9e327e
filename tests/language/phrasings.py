"""A hand-written table of what people say and what must be so afterwards: `phrasings/*.toml`.

An entry is a short dialogue. `before` are the earlier turns, `turn` is the one under test; both are
the user's unless they begin with "assistant: " or name a speaker. What must be so afterwards is
told by the values alone, so that it is fair whatever keys the facts have. "a|b" is either of them.

    retires   values that were in office and are not any more; no context has them either
    brings    values that were not in office and are now; the context has them
    together  values that one single fact in office says: what is left of a corrected statement
    keeps     values that were in office and still are; the context has them, unless `hidden`
    unreal    values that no new fact in office says
    retold    values that new facts say only in the words of the turn: hearsay, a machine's word
    holds     further words that the context has
    lacks     further words that the context does not have
    outcome   what was recorded (see `OUTCOMES`)

A fact that leaves office without being named in `retires` is a failure too, unless all that it said
is still said. `asked` is when the context is asked for; `authority` and `task` are the session's.
An entry with `sure = false` takes common sense: it is reported, not required.

`python -m tests.language.phrasings` tells how many of each form are right; with part of the name of
a form or an entry, it tells which of those are wrong and why.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import incumbent
from incumbent.model.values import text_of
from incumbent.testing import SteppingClock

FOLDER = Path(__file__).with_suffix("")
QUICK = incumbent.Settings(durability="process", embedder="static")
ASSISTANT = "assistant: "
# What may be recorded of a turn that changes nothing.
HARMLESS = (None, "overruled", "contested", "confirmed", "draft")
# What a session may write as when its turns name the authority of their speakers.
RAISED = ("authority:manager", "authority:executive", "authority:policy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a dialogue."""

    text: str
    speaker: str = "user"
    authority: str | None = None
    at: str | None = None

    @classmethod
    def read(cls, given: str | dict[str, str]) -> Turn:
        if isinstance(given, dict):
            return cls(**given)
        if given.startswith(ASSISTANT):
            return cls(text=given.removeprefix(ASSISTANT), speaker="assistant")
        return cls(text=given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A dialogue and what must be so after its last turn."""

    form: str
    name: str
    before: tuple[Turn, ...]
    turn: Turn
    query: str
    retires: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    unreal: tuple[str, ...] = ()
    retold: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    outcome: str | None = None
    authority: str = "manager"
    task: str | None = None
    asked: str | None = None
    hidden: bool = False
    sure: bool = True

    @classmethod
    def read(cls, form: str, given: dict[str, Any]) -> Entry:
        lists = {key: tuple(value) for key, value in given.items() if isinstance(value, list)}
        before = tuple(map(Turn.read, given["before"]))
        turn = Turn.read(given["turn"])
        return cls(**{**given, **lists, "form": form, "before": before, "turn": turn})

    @property
    def id(self) -> str:
        return f"{self.form}: {self.name}"

    @property
    def changes_nothing(self) -> bool:
        """Whether all that was in office before the turn must be so after it, and for good."""
        expected = self.retires or self.brings or self.together or (self.asked and self.lacks)
        return not expected and self.outcome in HARMLESS


@cache
def entries() -> tuple[Entry, ...]:
    """The whole table, in the order of its files."""
    return tuple(
        Entry.read(form, given)
        for path in sorted(FOLDER.glob("*.toml"))
        for form, rows in tomllib.loads(path.read_text(encoding="utf-8")).items()
        for given in rows
    )


def says(text: str, value: str) -> bool:
    """Whether a text has a value, or one of its "a|b", as whole words and whole numbers."""
    return _pattern(value).search(text) is not None


@cache
def _pattern(value: str) -> re.Pattern[str]:
    either = "|".join(map(re.escape, value.split("|")))
    # "$4" is not in "$4,500", and "5" is not in "5:30".
    return re.compile(rf"(?<!\w)(?<!\d[.,:])(?:{either})(?!\w)(?![.,:]\d)", re.IGNORECASE)


def parts_of(fact: incumbent.Fact) -> list[str]:
    """The values that a fact is about, as words: its parts, or its whole value."""
    return [part.text for part in fact.parts] or [text_of(fact.value)]


def words_of(fact: incumbent.Fact) -> str:
    """All that a fact says, whichever of key and value it says it in."""
    named = f"{fact.subject or ''} {fact.key}".replace("_", " ")
    return " ".join([named, text_of(fact.value), *parts_of(fact)])


def said_by(facts: Iterable[incumbent.Fact], value: str) -> bool:
    return any(says(words_of(fact), value) for fact in facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """A dialogue that was played: how things stood right before its last turn, and after it."""

    entry: Entry
    observation: incumbent.Observation
    before: tuple[incumbent.Fact, ...]
    later: tuple[incumbent.Fact | None, ...]
    """The facts of `before` as they stand afterwards; None where there is nothing left of one."""
    after: tuple[incumbent.Fact, ...]
    brought: tuple[incumbent.Fact, ...]
    """What the turn brought, of whatever scope and standing, as it stands afterwards."""
    context: str

    @property
    def in_office(self) -> tuple[incumbent.Fact, ...]:
        """What holds office afterwards, and also what is only shadowed in this session."""
        return (*self.after, *(fact for fact in self.later if fact is not None and fact.is_valid))


def play(entry: Entry) -> Aftermath:
    """Say the turns of a dialogue to a memory of its own, and look before and after the last."""
    clock = SteppingClock(step=timedelta(seconds=1))
    tagged = any(turn.authority for turn in (*entry.before, entry.turn))
    with incumbent.open(":memory:", clock=clock, settings=QUICK) as memory:
        session = memory.session(
            user_id="sam",
            authority=entry.authority,
            organization="acme",
            task_id=entry.task,
            permissions=RAISED if tagged else (),
        )
        for turn in entry.before:
            _say(session, clock, turn)
        before = tuple(session.facts())
        observation = _say(session, clock, entry.turn)
        later = tuple(session.get(fact.id) for fact in before)
        after = tuple(session.facts())
        brought = tuple(session.get(fact.id) or fact for fact in observation.facts)
        if entry.asked is not None:
            clock.move_to(datetime.fromisoformat(entry.asked))
        return Aftermath(
            entry=entry,
            observation=observation,
            before=before,
            later=later,
            after=after,
            brought=brought,
            context=session.context(entry.query, budget=2000).text,
        )


def _say(session: incumbent.Session, clock: SteppingClock, turn: Turn) -> incumbent.Observation:
    at = None if turn.at is None else datetime.fromisoformat(turn.at)
    if at is not None and at > clock.now:
        clock.move_to(at)
    return session.observe(turn.text, speaker=turn.speaker, at=at, authority=turn.authority)


def _recorded(outcome: str) -> Callable[[Aftermath], bool]:
    return lambda seen: any(v.outcome == outcome for v in seen.observation.verdicts)


def _is_erased(seen: Aftermath) -> bool:
    """Nothing is left of any fact that said what had to go."""
    return all(
        now is None or now.status == "erased"
        for was, now in zip(seen.before, seen.later, strict=True)
        if any(says(words_of(was), value) for value in seen.entry.retires)
    )


OUTCOMES: dict[str, Callable[[Aftermath], bool]] = {
    "overruled": _recorded("overruled"),
    "contested": _recorded("contested"),
    "confirmed": _recorded("confirmed"),
    "reverted": _recorded("reverted"),
    "shadowed": lambda seen: any(fact.is_valid for fact in seen.brought),
    "draft": lambda seen: any(fact.scope == "draft" for fact in seen.brought),
    "waiting": lambda seen: any(fact.status == "waiting" for fact in seen.brought),
    "expires": lambda seen: any(fact.valid_until is not None for fact in seen.after),
    "review": lambda seen: any(fact.needs_review for fact in seen.after),
    "constraint": lambda seen: any(fact.is_constraint for fact in seen.brought),
    "erased": _is_erased,
}


def wrongs(entry: Entry) -> list[str]:
    """All that is not as the entry says, in words; empty where it is right."""
    seen = play(entry)
    return [*_premises(seen), *_offices(seen), *_retirements(seen), *_texts(seen)]


def _premises(seen: Aftermath) -> Iterator[str]:
    """Without these an entry could be right for no reason."""
    for value in (*seen.entry.retires, *seen.entry.keeps):
        if not said_by(seen.before, value):
            yield f"{value!r} was not in office to begin with"
    # What a machine has offered or found is nobody's word yet.
    peoples = [fact for fact in seen.before if not fact.source.by_machine]
    for value in seen.entry.brings:
        if said_by(peoples, value):
            yield f"{value!r} was in office already"


def _offices(seen: Aftermath) -> Iterator[str]:
    entry = seen.entry
    for value in entry.retires:
        if said_by(seen.in_office, value):
            yield f"{value!r} is still in office"
    for value in (*entry.brings, *entry.keeps):
        if not said_by(seen.in_office, value):
            yield f"{value!r} is not in office"
    if entry.together and not any(
        all(says(words_of(fact), value) for value in entry.together) for fact in seen.after
    ):
        yield f"no fact in office says all of {', '.join(entry.together)}"
    old = {fact.id for fact in seen.before}
    fresh = [fact for fact in seen.after if fact.id not in old]
    for value in entry.unreal:
        if said_by(fresh, value):
            yield f"{value!r} became a real fact"
    for value in entry.retold:
        if said_by([fact for fact in fresh if not _is_as_said(fact, entry.turn)], value):
            yield f"{value!r} became more than hearsay"
    if entry.outcome is not None and not OUTCOMES[entry.outcome](seen):
        yield f"nothing is {entry.outcome}"


def _is_as_said(fact: incumbent.Fact, turn: Turn) -> bool:
    """Whether a fact keeps what a turn says in its own words, and under no name."""
    return fact.is_unnamed and text_of(fact.value) in turn.text


def _retirements(seen: Aftermath) -> Iterator[str]:
    """Facts that left office although the entry does not say so."""
    for was, now in zip(seen.before, seen.later, strict=True):
        if now is not None and now.is_valid:
            continue
        if any(says(words_of(was), value) for value in seen.entry.retires):
            continue
        lost = [part for part in parts_of(was) if not said_by(seen.in_office, part)]
        if lost:
            yield f"{was} left office, and nothing says {', '.join(lost)} now"


def _texts(seen: Aftermath) -> Iterator[str]:
    entry = seen.entry
    kept = () if entry.hidden else entry.keeps
    for value in (*entry.brings, *entry.together, *kept, *entry.holds):
        if not says(seen.context, value):
            yield f"the context has no {value!r}"
    for value in (*entry.retires, *entry.lacks):
        if says(seen.context, value):
            yield f"the context still has {value!r}"


def report(part: str = "") -> str:
    """How many entries of each form are right; with part of an id, which are wrong."""
    found = {entry: wrongs(entry) for entry in entries() if part in entry.id}
    lines = [
        "\n    ".join([entry.id if entry.sure else f"{entry.id} (to come)", *wrong])
        for entry, wrong in found.items()
        if wrong and part
    ]
    lines.append(f"{'form':45}{'required':>12}{'to come':>12}")
    forms = dict.fromkeys(entry.form for entry in found)
    lines.extend(_tally(form, {e: found[e] for e in found if e.form == form}) for form in forms)
    return "\n".join([*lines, _tally("all", found)])


def _tally(name: str, found: dict[Entry, list[str]]) -> str:
    cells = []
    for sure in (True, False):
        those = [wrong for entry, wrong in found.items() if entry.sure is sure]
        cells.append(f"{those.count([])} of {len(those)}" if those else "")
    return f"{name:45}{cells[0]:>12}{cells[1]:>12}".rstrip()


if __name__ == "__main__":
    print(report(*sys.argv[1:2]))
