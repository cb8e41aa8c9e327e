"""Dialogues in which people change their mind: is the current value there, and no stale one?

A case is a dialogue, a query and the values that the context must and must not say. Every dialogue
is fed turn by turn to a person of its own in an empty memory; cases that share a dialogue share its
run. The clock is set to the time of each turn, which begins at `BASE`, so every run gives the same
contexts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from time import perf_counter
from typing import Any

import incumbent
from incumbent.model.errors import IncumbentError, InvalidInput
from incumbent.model.fact import Fact, Status
from incumbent.model.values import text_of
from incumbent.model.verdict import Outcome
from incumbent.turns.observation import Observation
from incumbent_eval.figures import Detection, Joint, Share, records
from incumbent_eval.running import HeldClock, each, read_records
from incumbent_eval.spoken import SpokenText, same_value
from incumbent_eval.systems import Progress

BUDGET = 2_000
BASE = datetime(2019, 3, 1, 9, 0, tzinfo=UTC)
"""The start of a dialogue: the day on which the Schema-Guided ones are set, so that "the 4th of
this month" and "next Monday" mean the same."""
LAST_TURNS = 3
_DEAD = (Status.SUPERSEDED, Status.RETRACTED)

Value = tuple[str, ...]
"""The ways to write one value; any of them says it."""


@dataclass(frozen=True)
class ValueChange:
    """A value that a turn adds, or puts in the place of another."""

    slot: str
    new: Value
    old: Value = ()


@dataclass(frozen=True)
class Event:
    """One turn, and its changes to the values of the dialogue."""

    speaker: str
    text: str
    minutes: float
    changes: tuple[ValueChange, ...] = ()
    adds: tuple[ValueChange, ...] = ()


@dataclass(frozen=True)
class Case:
    """A query about a dialogue, and the conditions for a right context."""

    id: str
    query: str
    must_contain_any: Value
    must_not_contain: Value

    @property
    def slot(self) -> str:
        """The slot that the query asks about: the last part of the id names it."""
        return self.id.rpartition("-")[2]


@dataclass(frozen=True)
class Dialogue:
    """The turns of a conversation, and the cases about it."""

    events: tuple[Event, ...]
    cases: tuple[Case, ...]


# reading


def read_dialogues(path: Path, limit: int | None = None) -> list[Dialogue]:
    """The dialogues of a file of cases; with a limit, those of its first cases."""
    rows = list(islice(read_records(path), limit))
    try:
        return [
            Dialogue(tuple(map(_event, events)), tuple(map(_case, cases)))
            for events, cases in _grouped(rows)
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"{path} is no file of cases ({type(error).__name__}: {error}); a line has id, events, "
            f"query, must_contain_any and must_not_contain"
        ) from None


def _grouped(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Any, list[Mapping[str, Any]]]]:
    for events, cases in groupby(rows, key=lambda row: row["events"]):
        yield events, list(cases)


def _case(row: Mapping[str, Any]) -> Case:
    return Case(
        str(row["id"]),
        str(row["query"]),
        _value(row["must_contain_any"]),
        _value(row["must_not_contain"]),
    )


def _event(row: Mapping[str, Any]) -> Event:
    return Event(
        "user" if row["speaker"] == "user" else "assistant",
        str(row["text"]),
        float(row["time"]),
        tuple(
            ValueChange(_slot(told), _value(told["new"]), _value(told["old"]))
            for told in row.get("changes") or ()
        ),
        tuple(ValueChange(_slot(told), _value(told["value"])) for told in row.get("adds") or ()),
    )


def _slot(told: Mapping[str, Any]) -> str:
    return f"{told.get('service', '')}/{told['slot']}"


def _value(given: str | Sequence[str]) -> Value:
    return (given,) if isinstance(given, str) else tuple(map(str, given))


# running


@dataclass(frozen=True)
class CaseScore:
    """The result of one case; the context is kept for people to read."""

    case: Case
    joint: Joint
    transcript: Joint
    last_turns: Joint
    stale: Value
    context: str


@dataclass(frozen=True)
class DialogueScore:
    """The result of one dialogue."""

    cases: tuple[CaseScore, ...]
    turns: Detection
    """Turns of the user: did it retire something, and did the user change something?"""
    values: Detection
    """Values: those that were retired, against those that the user replaced."""
    retired: Share
    """Values still live at the end that only a fact out of office says."""
    held: Share
    """Values still live at the end that a fact in office says."""
    contested: bool
    seconds: tuple[float, ...]
    """The seconds that observing each of the user's turns took."""
    refused: tuple[str, ...] = ()
    """Turns that were refused, each with the reason."""


def run_dialogue(dialogue: Dialogue, settings: incumbent.Settings | None = None) -> DialogueScore:
    """Feed a dialogue to a person of its own, ask its queries, and score the results."""
    clock = HeldClock(BASE)
    with incumbent.open(":memory:", clock=clock, settings=settings) as memory:
        session = memory.session(user_id="person", session_id="dialogue")
        heard = _Heard()
        for number, event in enumerate(dialogue.events):
            at = BASE + timedelta(minutes=event.minutes)
            clock.move_to(at)
            begin = perf_counter()
            try:
                told = session.observe(event.text, speaker=event.speaker, at=at, ref=f"{number}")
            except IncumbentError as error:  # nothing was taken in, which the figures then show
                heard.refused.append(f"{event.text}: {error}")
                continue
            if event.speaker == "user":
                heard.add(event, told, perf_counter() - begin)
        clock.move_to(clock() + timedelta(minutes=1))
        asked = tuple(_ask(session, case, dialogue.events) for case in dialogue.cases)
        retired, held = kept(session, live_values(dialogue.events), heard.fact_ids)
    return DialogueScore(
        cases=asked,
        turns=heard.turns,
        values=heard.values,
        retired=retired,
        held=held,
        contested=heard.contested,
        seconds=tuple(heard.seconds),
        refused=tuple(heard.refused),
    )


@dataclass
class _Heard:
    """The results of one user's turns."""

    turns: Detection = Detection()
    values: Detection = Detection()
    fact_ids: dict[str, None] = field(default_factory=dict)
    contested: bool = False
    seconds: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def add(self, event: Event, observation: Observation, seconds: float) -> None:
        retired = [part.text for part in observation.retired]
        gold = [change.old for change in event.changes]
        self.turns += Detection.one(predicted=bool(retired), gold=bool(gold))
        self.values += compared(retired, gold)
        self.seconds.append(seconds)
        for fact in observation.facts:
            self.fact_ids[fact.id] = None
        for verdict in observation.verdicts:
            self.contested |= verdict.outcome is Outcome.CONTESTED
            for fact_id in (verdict.fact_id, *verdict.superseded):
                self.fact_ids[fact_id] = None


def compared(retired: Sequence[str], gold: Sequence[Value]) -> Detection:
    """Values that were retired against those that should have been, each matched once."""
    left = list(gold)
    right = 0
    for text in retired:
        found = next((old for old in left if any(same_value(text, way) for way in old)), None)
        if found is not None:
            left.remove(found)
            right += 1
    return Detection(right, len(retired) - right, len(left))


def live_values(events: Sequence[Event]) -> dict[str, Value]:
    """The values that stand at the end, by slot: added or put in, and not replaced."""
    live: dict[str, Value] = {}
    for event in events:
        for told in (*event.adds, *event.changes):
            live[told.slot] = told.new
    return live


def kept(
    session: incumbent.Session, live: Mapping[str, Value], fact_ids: Iterable[str]
) -> tuple[Share, Share]:
    """The number of live values that were retired wrongly, and of those that are held."""
    in_office = [SpokenText(_words(fact)) for fact in session.facts()]
    known = [fact for fact_id in fact_ids if (fact := session.get(fact_id)) is not None]
    dead = [SpokenText(_words(fact)) for fact in known if fact.status in _DEAD]
    retired, held = Share(), Share()
    for value in live.values():
        stands = any(said.says_any(value) for said in in_office)
        held += Share.one(stands)
        retired += Share.one(not stands and any(said.says_any(value) for said in dead))
    return retired, held


def _words(fact: Fact) -> str:
    return text_of(fact.value)


def _ask(session: incumbent.Session, case: Case, events: Sequence[Event]) -> CaseScore:
    context = session.context(case.query, budget=BUDGET).text
    said = [event.text for event in events if event.speaker == "user"]
    return CaseScore(
        case,
        scored(case, context),
        scored(case, "\n".join(event.text for event in events)),
        scored(case, "\n".join(said[-LAST_TURNS:])),
        tuple(value for value in case.must_not_contain if SpokenText(context).says(value)),
        context,
    )


def scored(case: Case, text: str) -> Joint:
    """A text as the answer to a case."""
    said = SpokenText(text)
    return Joint.one(
        present=said.says_any(case.must_contain_any), clean=not said.says_any(case.must_not_contain)
    )


# reporting


@dataclass
class CasesReport:
    """The figures of a file of cases."""

    name: str
    dialogues: int = 0
    contested: int = 0
    joint: Joint = Joint()
    transcript: Joint = Joint()
    last_turns: Joint = Joint()
    turns: Detection = Detection()
    values: Detection = Detection()
    retired: Share = Share()
    held: Share = Share()
    slots: dict[str, Joint] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    failures: list[CaseScore] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def add(self, score: DialogueScore) -> None:
        """Add the result of one more dialogue."""
        self.dialogues += 1
        self.contested += score.contested
        self.turns += score.turns
        self.values += score.values
        self.retired += score.retired
        self.held += score.held
        self.seconds += score.seconds
        self.refused += score.refused
        for one in score.cases:
            self.joint += one.joint
            self.transcript += one.transcript
            self.last_turns += one.last_turns
            kind = slot_kind(one.case.slot)
            self.slots[kind] = self.slots.get(kind, Joint()) + one.joint
            if not one.joint.both:
                self.failures.append(one)

    @property
    def median_ms(self) -> float | None:
        """The median time of a user's turn, in milliseconds."""
        ordered = sorted(self.seconds)
        return 1_000 * ordered[len(ordered) // 2] if ordered else None

    def record(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "dialogues": self.dialogues,
            "contested_dialogues": self.contested,
            "cases": self.joint.record(),
            "full_transcript": self.transcript.record(),
            "last_three_user_turns": self.last_turns.record(),
            "turns": self.turns.record(),
            "values": self.values.record(),
            "wrongly_retired": self.retired.record(),
            "held": self.held.record(),
            "slots": records(self.slots),
            "refused_turns": self.refused,
            "median_turn_ms": None if self.median_ms is None else round(self.median_ms, 3),
        }


_KINDS = (
    ("date", ("date", "day")),
    ("time", ("time", "leaveat", "arriveby")),
    ("number", ("number", "people", "seats", "stay", "length", "days", "rating", "amount", "year")),
    ("place", ("city", "location", "destination", "origin", "area", "where", "departure")),
    ("name", ("name", "title", "director", "directed", "starring", "actors", "artist", "album")),
)


def slot_kind(slot: str) -> str:
    """The sort of value that a slot takes, by the words of its name."""
    plain = slot.lower()
    parts = plain.split("_")
    for kind, marks in _KINDS:
        if plain in marks or parts[-1] in marks or parts[0] in marks:
            return kind
    return "choice"


def run(
    path: Path,
    *,
    settings: incumbent.Settings | None = None,
    limit: int | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> CasesReport:
    """Run a file of cases and give its figures."""
    dialogues = read_dialogues(path, limit)
    report = CasesReport(path.name.removesuffix(".gz").removesuffix(".jsonl"))
    score = partial(run_dialogue, settings=settings)
    for one in each(score, dialogues, what=report.name, workers=workers, progress=progress):
        report.add(one)
    return report
