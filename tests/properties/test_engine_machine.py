"""A stateful test: random histories against a simple model that replays them the long way."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
)

import tenure
from tenure import Outcome, Verdict
from tenure.testing import SteppingClock
from tests.conftest import QUICK, SOAK
from tests.properties.world import (
    ORGANIZATION,
    all_facts,
    check_links,
    check_marks,
    differences,
    rank,
    tenures,
)

KEYS = ("lead", "office", "rate", "vendor")
VALUES = st.integers(1, 3)
PEOPLE = {"gus": "guest", "eve": "employee", "mia": "manager", "exa": "executive"}
TOOK_OFFICE = (Outcome.ESTABLISHED, Outcome.SUPERSEDED, Outcome.SHADOWED, Outcome.REVERTED)


@dataclass
class Said:
    """One thing that was said, as the model remembers it."""

    verdict: str
    kind: str
    fact: str
    key: str
    value: Any = None
    rank: int = 0
    time: Any = None
    turned_away: bool = False
    target: str | None = None
    base: str | None = None
    undoes: str | None = None


@dataclass
class Holder:
    fact: str
    value: Any
    rank: int
    time: Any


@dataclass
class Model:
    """Who holds each key, worked out from scratch from everything said and not undone."""

    said: list[Said] = field(default_factory=list)

    def undone(self) -> set[str]:
        """Verdicts that do not count: undone by an undo that counts itself."""
        gone: set[str] = set()
        for entry in reversed(self.said):
            if entry.undoes is not None and entry.verdict not in gone:
                gone.add(entry.undoes)
        return gone

    def holders(self) -> dict[str, Holder]:
        gone = self.undone()
        holders: dict[str, Holder] = {}
        heirs: dict[str, list[Said]] = {}
        succeeded: dict[str, str] = {}
        for entry in self.said:
            if entry.verdict in gone or entry.undoes is not None or entry.turned_away:
                continue
            self._play(entry, holders, heirs, succeeded)
        return holders

    def _play(
        self,
        entry: Said,
        holders: dict[str, Holder],
        heirs: dict[str, list[Said]],
        succeeded: dict[str, str],
    ) -> None:
        if entry.kind == "acknowledge":
            return
        if entry.kind == "confirm":
            for holder in holders.values():
                if holder.fact == entry.fact:
                    holder.rank = max(holder.rank, entry.rank)
                    holder.time = max(holder.time, entry.time)
        elif entry.kind == "retract":
            for key, holder in list(holders.items()):
                if holder.fact == entry.fact:
                    del holders[key]
                    self._leave(holder, None, entry.time, holders, heirs, succeeded)
        elif entry.kind == "wait":
            assert entry.base is not None
            heirs.setdefault(entry.base, []).append(entry)
            if entry.base in succeeded or not any(h.fact == entry.base for h in holders.values()):
                self._catch_up(entry, holders, heirs, succeeded)
        else:
            self._seat(entry, entry.time, holders, heirs, succeeded)

    def _catch_up(self, entry: Said, *where: Any) -> None:
        """A contingency whose base had left already: it follows the base's present end."""
        holders, heirs, succeeded = where
        end: str | None = entry.base
        while end is not None and end in succeeded:
            end = succeeded[end]
        if any(holder.fact == end for holder in holders.values()):
            return
        if any(said.fact == entry.base for said in self.said_and_standing()):
            heirs[entry.base or ""].remove(entry)
            self._seat(entry, entry.time, holders, heirs, succeeded)

    def said_and_standing(self) -> list[Said]:
        gone = self.undone()
        return [s for s in self.said if s.verdict not in gone and s.kind in ("assert", "wait")]

    def _seat(self, entry: Said, time: Any, *where: Any) -> None:
        holders, heirs, succeeded = where
        holder = holders.get(entry.key)
        target = entry.target
        while target is not None and target in succeeded:
            target = succeeded[target]
        targeted = next((k for k, h in holders.items() if h.fact == target), None)
        for key in {entry.key, targeted} - {None}:
            rival = holders.get(key)
            if rival is not None and rival.rank > entry.rank:
                return
        late = holder is not None and time < holder.time and entry.rank <= holder.rank
        if late and targeted is None:
            assert holder is not None
            succeeded[entry.fact] = holder.fact
            return
        leaving = [holders.pop(k) for k in {entry.key, targeted} - {None} if k in holders]
        holders[entry.key] = Holder(entry.fact, entry.value, entry.rank, time)
        for left in leaving:
            succeeded[left.fact] = entry.fact
        for left in sorted(leaving, key=lambda h: h.fact):
            self._leave(left, entry.value, time, holders, heirs, succeeded)

    def _leave(self, left: Holder, value: Any, time: Any, *where: Any) -> None:
        """Let those who waited for a fact to leave take office."""
        _, heirs, succeeded = where
        for heir in sorted(heirs.pop(left.fact, []), key=lambda s: s.fact):
            if value is not None and value == left.value:
                heirs.setdefault(succeeded[left.fact], []).append(heir)
            else:
                self._seat(heir, max(time, heir.time), *where)


class Engine(RuleBasedStateMachine):
    """Four people of different rank, a few shared keys, everything that can happen to them."""

    verdicts = Bundle("verdicts")

    def open(self) -> tenure.Memory:
        return tenure.open(":memory:", clock=self.clock, settings=QUICK)

    @initialize()
    def begin(self) -> None:
        self.clock = SteppingClock(step=timedelta(seconds=1))
        self.memory = self.open()
        self.people = {
            name: self.memory.session(
                user_id=name, authority=rung, organization=ORGANIZATION, session_id=f"s-{name}"
            )
            for name, rung in PEOPLE.items()
        }
        self.model = Model()
        self.moments: list[tuple[Any, dict[str, Any]]] = []

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            self.memory.close()

    def look(self) -> dict[str, Any]:
        return {f.key: f.value for f in self.people["exa"].facts()}

    def note(self, verdict: Verdict, **extra: Any) -> Verdict:
        fact = self.people["exa"].get(verdict.fact_id)
        assert fact is not None
        turned_away = verdict.outcome in (Outcome.OVERRULED, Outcome.CONTESTED)
        said = {
            "kind": "confirm" if verdict.outcome is Outcome.CONFIRMED else "assert",
            "value": fact.value,
            "rank": rank(verdict.authority),
            "time": verdict.at,
            "turned_away": turned_away,
            **extra,
        }
        self.model.said.append(Said(verdict.id, fact=fact.id, key=fact.key, **said))
        return verdict

    @rule(
        target=verdicts,
        who=st.sampled_from(sorted(PEOPLE)),
        key=st.sampled_from(KEYS),
        value=VALUES,
        on=st.sets(st.sampled_from(KEYS), max_size=2),
        minutes_ago=st.sampled_from([None, None, None, 0, 1, 5]),
    )
    def says(self, who: str, key: str, value: int, on: set[str], minutes_ago: int | None) -> Any:
        held = self.look()
        bases = sorted(base for base in on if base in held and base != key)
        at = None if minutes_ago is None else self.clock.now - timedelta(minutes=minutes_ago)
        before = all_facts(self.memory)
        try:
            verdict = self.people[who].write(
                key, value, depends_on=bases, memory_type="organizational", at=at
            )
        except tenure.DependencyCycle:
            assert tenures(before.values()) == tenures(all_facts(self.memory).values())
            return multiple()
        self.check_authority(before, rank(PEOPLE[who]))
        return self.note(verdict)

    @rule(
        target=verdicts,
        who=st.sampled_from(sorted(PEOPLE)),
        key=st.sampled_from(KEYS),
        value=VALUES,
        over=st.sampled_from(KEYS),
    )
    def replaces(self, who: str, key: str, value: int, over: str) -> Any:
        held = {f.key: f for f in self.people["exa"].facts()}
        if over not in held:
            return multiple()
        before = all_facts(self.memory)
        verdict = self.people[who].write(
            key, value, supersedes=held[over].id, memory_type="organizational"
        )
        self.check_authority(before, rank(PEOPLE[who]))
        return self.note(verdict, target=held[over].id)

    @rule(
        target=verdicts,
        who=st.sampled_from(sorted(PEOPLE)),
        key=st.sampled_from(KEYS),
        value=VALUES,
        base=st.sampled_from(KEYS),
    )
    def arranges(self, who: str, key: str, value: int, base: str) -> Any:
        held = {f.key: f for f in self.people["exa"].facts()}
        if not (base in held and base != key):
            return multiple()
        verdict = self.people[who].write(
            key, value, when_superseded=held[base].id, memory_type="organizational"
        )
        assert verdict.outcome is Outcome.WAITING
        return self.note(verdict, kind="wait", base=held[base].id)

    @rule(target=verdicts, who=st.sampled_from(sorted(PEOPLE)), key=st.sampled_from(KEYS))
    def retracts(self, who: str, key: str) -> Any:
        if key not in self.look():
            return multiple()
        before = all_facts(self.memory)
        try:
            verdict = self.people[who].retract(key)
        except tenure.NotPermitted:
            assert tenures(before.values()) == tenures(all_facts(self.memory).values())
            return multiple()
        self.check_authority(before, rank(PEOPLE[who]))
        return self.note(verdict, kind="retract")

    @rule(target=verdicts, who=st.sampled_from(sorted(PEOPLE)))
    def finds_still_right(self, who: str) -> Any:
        queue = self.people[who].reviews()
        if not (queue):
            return multiple()
        try:
            verdict = self.people[who].resolve(queue[0].fact.id, still_right=True)
        except tenure.NotPermitted:
            return multiple()
        return self.note(verdict, kind="acknowledge")

    @rule(target=verdicts, verdict=consumes(verdicts), who=st.sampled_from(sorted(PEOPLE)))
    def undoes(self, verdict: Verdict, who: str) -> Any:
        before = all_facts(self.memory)
        try:
            undoing = self.people[who].undo(verdict)
        except (tenure.NotPermitted, tenure.NothingToUndo):
            assert tenures(before.values()) == tenures(all_facts(self.memory).values())
            return multiple()
        self.check_authority(before, rank(PEOPLE[who]))
        return self.note(undoing, kind="undo", undoes=verdict.id)

    @rule(verdict=verdicts)
    def undoes_and_redoes(self, verdict: Verdict) -> None:
        before = tenures(all_facts(self.memory).values())
        try:
            undoing = self.people["exa"].undo(verdict)
        except tenure.NothingToUndo:
            return
        redoing = self.people["exa"].undo(undoing)
        assert not differences(before, tenures(all_facts(self.memory).values()))
        self.note(undoing, kind="undo", undoes=verdict.id)
        self.note(redoing, kind="undo", undoes=undoing.id)

    @rule(key=st.sampled_from(KEYS), value=VALUES)
    def says_and_takes_back(self, key: str, value: int) -> None:
        before = tenures(all_facts(self.memory).values())
        verdict = self.people["exa"].write(key, value, memory_type="organizational")
        undoing = self.people["exa"].undo(verdict)
        after = tenures(all_facts(self.memory).values())
        assert not differences(before, {fact: after[fact] for fact in before})
        self.note(verdict)
        self.note(undoing, kind="undo", undoes=verdict.id)

    @rule()
    def remembers_this_moment(self) -> None:
        moment = self.clock()
        self.moments.append((moment, self.look_at(moment)))

    def look_at(self, moment: Any) -> dict[str, Any]:
        then = self.people["exa"].as_of(moment, known_at=moment)
        return {f.key: (f.value, f.needs_review) for f in then.facts()}

    def check_authority(self, before: dict[str, Any], actor: int) -> None:
        """Invariant 6: nobody takes a fact of higher standing out of office."""
        now = all_facts(self.memory)
        for fact in before.values():
            if fact.is_valid and not now[fact.id].is_valid:
                assert rank(fact.standing) <= actor, f"{fact.key} was taken out from below"

    @invariant()
    def links_and_marks_are_sound(self) -> None:
        if hasattr(self, "memory"):
            facts = all_facts(self.memory)
            check_links(facts)
            check_marks(facts)

    @invariant()
    def the_model_agrees(self) -> None:
        if hasattr(self, "memory"):
            expected = {key: holder.fact for key, holder in self.model.holders().items()}
            held = {f.key: f.id for f in self.people["exa"].facts()}
            assert held == expected

    @invariant()
    def the_past_stays_as_it_was(self) -> None:
        for moment, seen in getattr(self, "moments", []):
            assert self.look_at(moment) == seen


class EngineOnSQLite(Engine):
    """The same on a SQLite file."""

    def open(self) -> tenure.Memory:
        self.folder = Path(mkdtemp(prefix="tenure-"))
        return tenure.open(self.folder / "agent.db", clock=self.clock, settings=QUICK)

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "folder"):
            for path in self.folder.iterdir():
                path.unlink()
            self.folder.rmdir()


THOROUGH = settings(
    max_examples=400 if SOAK else 60,
    stateful_step_count=40 if SOAK else 25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestEngineInMemory = Engine.TestCase
TestEngineInMemory.settings = THOROUGH
TestEngineOnSQLite = EngineOnSQLite.TestCase
TestEngineOnSQLite.settings = settings(THOROUGH, max_examples=150 if SOAK else 25)
