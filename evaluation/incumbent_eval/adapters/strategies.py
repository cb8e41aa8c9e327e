"""The memory strategies of the statebench package, memgine among them, as systems.

A strategy takes events one by one and is made with its budget, so the events are kept, and each
budget and person that asks gets a strategy of its own that has seen them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from incumbent.model.authority import Ladder
from incumbent_eval import peers
from incumbent_eval.adapters.base import Adapter, tokenizer
from incumbent_eval.systems import Ability, CannotDo, Entry, Who

_HEARS = frozenset({Ability.OBSERVE, Ability.BUDGET})
_TAKES = _HEARS | {Ability.WRITE}
_REPLACES = _TAKES | {Ability.SUPERSEDE, Ability.DEPEND}
_GOVERNS = _REPLACES | {Ability.DRAFT, Ability.AUTHORITY}
ABILITIES = {
    "no_memory": _TAKES,
    "transcript_replay": _HEARS,
    "transcript_latest_wins": _HEARS,
    "flat_file": _TAKES,
    "dialectic": _REPLACES,
    "state_based_no_supersession": _TAKES,
    "state_based": _REPLACES | {Ability.DRAFT},
    "memgine": _GOVERNS,
    "memgine_safe_supersession": _GOVERNS,
}
"""The abilities of each strategy, by its own account or by the content of its events. No event
retracts a value, undoes one or limits its term, and each strategy holds the state of one person."""
_ENCODING = "cl100k_base"
_LADDER = Ladder()
_LEVELS = {"guest": "unverified", "employee": "peer"}


class Strategy(Adapter):
    """A strategy of the package under its own name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.can = ABILITIES[name]
        self._timeline = peers.module("schema.timeline")
        self._state = peers.module("schema.state")
        self._events: list[Any] = []
        self._made: dict[tuple[int, Who], tuple[Any, int]] = {}
        self._met: set[tuple[str, str]] = set()
        self._has_private = False
        self._count = 0

    def write(self, who: Who, entry: Entry) -> str:
        self._meet(who, private=entry.is_private)
        self._check(who, replace(entry, is_private=False))
        self._count += 1
        fact_id = f"F-{self._count:04d}"
        level = _LADDER.resolve(entry.authority or who.authority).rung
        write = self._timeline.Write(
            id=fact_id,
            layer="persistent_facts",
            key=f"{entry.subject}.{entry.key}" if entry.subject else entry.key,
            value=entry.value,
            source=self._state.Source(type="user", authority=_LEVELS.get(level, level)),
            scope=entry.scope,
            supersedes=entry.supersedes,
            depends_on=list(entry.depends_on),
            is_constraint=entry.is_constraint,
        )
        kind = self._timeline.Supersession if entry.supersedes else self._timeline.StateWrite
        self._events.append(kind(ts=self._now, writes=[write]))
        return fact_id

    def observe(self, who: Who, text: str, speaker: str = "user") -> None:
        self._meet(who)
        heard = "user" if speaker == "user" else "assistant"
        self._events.append(self._timeline.ConversationTurn(ts=self._now, speaker=heard, text=text))

    def tokens(self, text: str) -> int:
        return len(tokenizer(_ENCODING).encode_ordinary(text))

    def _context(self, who: Who, query: str, budget: int) -> str:
        self._meet(who)
        strategy, seen = self._made.get((budget, who)) or (self._fresh(who, budget), 0)
        for event in self._events[seen:]:
            strategy.process_event(event)
        self._made[budget, who] = (strategy, len(self._events))
        return str(strategy.build_context(query).context)

    def _meet(self, who: Who, *, private: bool = False) -> None:
        """Note a person. A strategy holds one person's state, so private values are refused as soon
        as there is somebody else."""
        met = self._met | {(who.organization, who.user)}
        if len(met) > 1 and (self._has_private or private):
            raise CannotDo(Ability.PERSON)
        self._met = met
        self._has_private |= private

    def _fresh(self, who: Who, budget: int) -> Any:
        strategy = peers.baseline(self.name, budget)
        if strategy.expects_initial_state:
            identity = self._state.IdentityRole(
                user_name=who.user, authority=who.authority, organization=who.organization
            )
            strategy.initialize_from_state(self._timeline.InitialState(identity_role=identity))
        return strategy
