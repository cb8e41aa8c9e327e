"""StateBench timelines, played into a memory: their events as calls of ours.

A timeline comes as plain records, as in the suite's files: an initial state of four layers, then
turns, writes and supersessions in a list. Nothing here looks at a ground truth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import incumbent
from incumbent.model.authority import DEFAULT_RUNGS, DEFAULT_TITLES, Ladder
from incumbent.model.errors import IncumbentError
from incumbent.reading.terms import term_in
from incumbent_eval.running import HeldClock

Record = Mapping[str, Any]

_BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
_LEVELS = {
    "peer": "employee",
    "system": "employee",  # a machine's entry; nobody outranks a colleague by using one
    "subordinate": "guest",
    "unverified": "guest",
}
_SOURCES = {"policy": "policy", "system": "system"}
_SCOPES = {
    "task": "session",  # there is one task to a timeline
    "session": "session",
    "draft": "draft",
    "hypothetical": "hypothetical",
}
_MOMENT = timedelta(microseconds=1)
_CHIEF = re.compile(r"c\w{1,3}o|chief")
_RESTRICTED = re.compile(r"\[RESTRICTED:\s*([^\]]*)\]\s*")
_SCOPED = re.compile(r"\[SCOPE:\s*([^\]]*)\]\s*")


class TimelinePlayer:
    """Plays one timeline into a memory of its own, and asks it.

    Events are taken up when a question comes, the earliest first: the list of a timeline need not
    be in the order of its times. The clock shows the time of the latest event.
    """

    def __init__(self, *, budget: int, settings: incumbent.Settings | None = None) -> None:
        self._budget = budget
        self._settings = settings or incumbent.Settings()
        self._clock = HeldClock(_BEGINNING)
        self._waiting: list[Record] = []
        self._by_key: dict[str, str] = {}
        self._by_id: dict[str, str | None] = {}
        self._signals: Mapping[str, Any] = {}
        self.written: dict[str, Record] = {}
        """The writes of the timeline by the ids of the facts that they became."""
        self.refused: list[str] = []
        """Turns that were refused, each with the reason."""
        self._open({})

    def begin(self, state: Record) -> None:
        """Take up the initial state: the identity, the facts and the environment."""
        self.close()
        self._open(state.get("identity_role") or {})
        for fact in sorted(state.get("persistent_facts") or (), key=_time_of):
            if fact.get("is_valid", True):
                self._write(fact, _time_of(fact))
        signals = dict(state.get("environment") or {})
        self._clock.move_to(_moment(signals.pop("now", None)))
        self._sense(signals)
        for number, item in enumerate(state.get("working_set") or (), start=1):
            self._put_down(number, item)

    def take(self, event: Record) -> None:
        """Keep an event until the next question."""
        self._waiting.append(event)

    def ask(self, question: str) -> incumbent.Context:
        """Take up the events so far, and give the context for a question."""
        happened = sorted(self._waiting, key=_time_of)
        self._waiting.clear()
        for event in happened:
            self._clock.move_to(_time_of(event))
            self._take_up(event)
        return self._reader.context(question, budget=self._budget)

    def close(self) -> None:
        """Let go of the memory."""
        self._memory.close()

    # who is asking

    def _open(self, identity: Record) -> None:
        title = str(identity.get("authority") or "employee")
        ladder = Ladder(titles={**DEFAULT_TITLES, title: rung_of(title)})
        name = str(identity.get("user_name") or "user")
        settings = replace(self._settings, ladder=ladder)
        self._memory = incumbent.open(":memory:", clock=self._clock, settings=settings)
        who: dict[str, Any] = {
            "user_id": name,
            "user_name": name,
            "organization": str(identity.get("organization") or "default"),
            "department": identity.get("department") or None,
            "session_id": "timeline",
        }
        self._reader = self._memory.session(authority=title, **who)
        self._who, self._speaker = who, self._reader
        # The same person's state, entered with the authority that each write names.
        self._writer = self._memory.session(authority=DEFAULT_RUNGS[-1], **who)

    # what happens

    def _take_up(self, event: Record) -> None:
        at = _time_of(event)
        if event["type"] == "conversation_turn":
            self._hear(event, at)
            return
        signals = {}
        for write in event.get("writes") or ():
            if write["layer"] == "environment":
                signals[write["key"]] = write["value"]
            elif write["layer"] == "working_set":
                self._reader.note(write["key"], write["value"])
            else:
                self._write(write, at)
        if signals:
            self._sense(signals)

    def _hear(self, turn: Record, at: datetime) -> None:
        try:
            self._speaker.observe(turn["text"], speaker=turn["speaker"], at=at)
        except IncumbentError as error:  # nothing was taken in, which the figures then show
            self.refused.append(f"{turn['text']}: {error}")

    def _write(self, write: Record, at: datetime) -> None:
        """Make a structured write.

        Pointers hold ids or keys, and an id that several writes share points nowhere. A pointer to
        something that was never written is left out: we refuse such writes, and the suite has them.
        """
        value, for_whom = _unmarked(str(write["value"]))
        source = write.get("source") or {}
        level = source.get("authority") or "peer"
        verdict = self._writer.write(
            write["key"],
            value,
            supersedes=self._incumbent(write.get("supersedes")),
            depends_on=[
                known for base in write.get("depends_on") or () if (known := self._known(base))
            ],
            scope=_SCOPES.get(write.get("scope") or "", "global"),
            source=_SOURCES.get(source.get("type") or ""),
            authority=_LEVELS.get(level, level),
            # A timeline has one state, and not one of the person beside one of the organization.
            memory_type="user",
            is_constraint=write.get("is_constraint") or None,
            at=at,
            **for_whom,
            **_term(value, at),
        )
        self._speaks_as(source, level)
        self.written[verdict.fact_id] = write
        self._by_key[write["key"]] = verdict.fact_id
        shared = write["id"] in self._by_id
        self._by_id[write["id"]] = None if shared else verdict.fact_id

    def _speaks_as(self, source: Record, level: str) -> None:
        """Raise the speaker's authority to that of an entry: users also retract with the authority
        of their entries."""
        rung = _LEVELS.get(level, level)
        own = self._speaker.identity.authority
        if source.get("type") != "user" or rung not in DEFAULT_RUNGS:
            return
        if DEFAULT_RUNGS.index(rung) > DEFAULT_RUNGS.index(own.rung):
            self._speaker = self._memory.session(authority=rung, **self._who)

    def _incumbent(self, pointer: str | None) -> str | None:
        """The fact that a write supersedes, unless a turn has retracted it already."""
        known = self._known(pointer)
        if known is None:
            return None
        return known if self._writer.explain(known).chain.live is not None else None

    def _known(self, pointer: str | None) -> str | None:
        if pointer is None:
            return None
        return self._by_id.get(pointer) or self._by_key.get(pointer)

    def _put_down(self, number: int, item: Record) -> None:
        """Put an item on the desk; an item with a scope goes to a branch of that name."""
        kind, content = item.get("item_type") or "item", item["content"]
        scoped = _SCOPED.match(content)
        if scoped is None:
            self._reader.note(f"{kind}_{number}", content)
        else:
            branch = self._reader.hypothetical(scoped[1].strip() or None)
            branch.write(f"{kind}_{number}", content[scoped.end() :])

    def _sense(self, signals: Mapping[str, Any]) -> None:
        """Read the environment. The reading replaces the one before, which is stale."""
        for name in self._signals:
            self._memory.environment.withdraw(name)
        self._signals = signals
        for name, value in signals.items():
            self._memory.environment.provide(name, partial(str, value))


def rung_of(title: str) -> str:
    """The rung of a job title: by the whole of it, else by its last or its first word.

    A user's word counts at least as an employee's, because the suite records it so.
    """
    plain = " ".join(title.replace("_", " ").lower().split())
    known = {**DEFAULT_TITLES, "manager": "manager"}
    words = plain.split()
    if plain in DEFAULT_RUNGS:
        return max(plain, "employee", key=DEFAULT_RUNGS.index)
    for part in (plain, *words[-1:], *words[:1]):
        rung = known.get(part) or ("executive" if _CHIEF.fullmatch(part) else None)
        if rung is not None:
            return max(rung, "employee", key=DEFAULT_RUNGS.index)
    return "employee"


def _unmarked(text: str) -> tuple[str, dict[str, Any]]:
    """A value without its mark of restriction, and the mark's conditions on readers."""
    mark = _RESTRICTED.search(text)
    if mark is None:
        return text, {}
    bare = f"{text[: mark.start()]}{text[mark.end() :]}".strip()
    whom = " ".join(mark[1].lower().split())
    if whom in DEFAULT_RUNGS:
        return bare, {"min_authority": whom}
    return bare, {"requires": [f"restricted: {whom}"]}


def _term(value: str, at: datetime) -> dict[str, Any]:
    """The term of a value, if it states one. A value that ended before it was written has a term in
    the past."""
    found = term_in(value, at)
    if found is None or found.is_bare:
        return {}
    begins, ends = found.term
    if ends is not None and ends <= (begins or at):
        begins = ends - _MOMENT
    return {"valid_from": begins, "valid_until": ends}


def _time_of(record: Record) -> datetime:
    return _moment(record.get("ts"))


def _moment(given: object) -> datetime:
    """A moment of the suite. It names no zone: all times of a timeline are in the same one."""
    if given is None:
        return _BEGINNING
    moment = given if isinstance(given, datetime) else datetime.fromisoformat(str(given))
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
