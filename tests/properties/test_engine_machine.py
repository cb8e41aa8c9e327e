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

import incumbent
from incumbent import Outcome, Verdict
from incumbent.testing import SteppingClock
from tests.behaviour.people import FOR_ALL
from tests.conftest import QUICK, SOAK, examples
from tests.properties.world import (
    ORGANIZATION,
    all_facts,
    check_links,
    check_marks,
    differences,
    rank,
    tenures,
)
from tests.servers import SERVER, needs_server

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
        """Play everything that counts, in order, and see who holds what at the end."""
        gone = self.undone()
        stage = Stage()
        for entry in self.said:
            if entry.verdict not in gone and entry.undoes is None and not entry.turned_away:
                stage.play(entry)
        return stage.holders


@dataclass
class Stage:
    """The play: holders of the keys, heirs who wait for a fact to leave, and who followed whom."""

    holders: dict[str, Holder] = field(default_factory=dict)
    heirs: list[tuple[str, Said]] = field(default_factory=list)
    followed: dict[str, str] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    left: dict[str, Holder] = field(default_factory=dict)
    """Who held a key last and was taken back: what is older than that comes late to it."""

    def play(self, entry: Said) -> None:
        if entry.kind == "confirm":
            for holder in self.holders.values():
                if holder.fact == entry.fact and entry.rank >= holder.rank:
                    holder.rank = entry.rank
                    holder.time = max(holder.time, entry.time)
        elif entry.kind == "retract":
            left = {k: h for k, h in self.holders.items() if h.fact == entry.fact}
            for key, holder in left.items():
                del self.holders[key]
                before = self.left.get(key)
                if before is None or before.time < holder.time:
                    self.left[key] = holder
            self.hand_over([(holder, None, entry.time) for holder in left.values()])
        elif entry.kind == "wait":
            self.known.add(entry.fact)
            assert entry.base is not None
            self.heirs.append((entry.base, entry))
            base_left = entry.base in self.known and not self.holds(self.end_of(entry.base))
            if base_left:
                gone = Holder(entry.base, object(), 0, entry.time)
                self.hand_over([(gone, None, entry.time)])
        elif entry.kind == "assert":
            self.known.add(entry.fact)
            self.hand_over(self.seat(entry, entry.time))

    def holds(self, fact: str) -> bool:
        return any(holder.fact == fact for holder in self.holders.values())

    def end_of(self, fact: str) -> str:
        while fact in self.followed:
            fact = self.followed[fact]
        return fact

    def seat(self, entry: Said, time: Any) -> list[tuple[Holder, Any, Any]]:
        """Let somebody in, if nobody above is in the way. Returns who had to leave."""
        target = self.end_of(entry.target) if entry.target else None
        targeted = [key for key, holder in self.holders.items() if holder.fact == target]
        wanted = [*targeted, *(k for k in (entry.key,) if k in self.holders and k not in targeted)]
        rivals = [self.holders[key] for key in wanted]
        if any(rival.rank > entry.rank for rival in rivals):
            return []
        last = self.holders.get(entry.key) or self.left.get(entry.key)
        is_late = last and time < last.time and entry.rank <= last.rank
        if last and is_late and not targeted:
            self.followed[entry.fact] = last.fact
            return []
        for key in wanted:
            self.followed[self.holders.pop(key).fact] = entry.fact
        self.holders[entry.key] = Holder(entry.fact, entry.value, entry.rank, time)
        return [(rival, entry.value, time) for rival in rivals]

    def hand_over(self, left: list[tuple[Holder, Any, Any]]) -> None:
        """Let those who waited take office, breadth first, in the order of their ids."""
        queue = list(left)
        while queue:
            holder, value, time = queue.pop(0)
            waiting = sorted((h for b, h in self.heirs if b == holder.fact), key=lambda h: h.fact)
            self.heirs = [(b, h) for b, h in self.heirs if b != holder.fact]
            for heir in waiting:
                if value is not None and value == holder.value:
                    self.heirs.append((self.followed[holder.fact], heir))
                else:
                    queue += self.seat(heir, max(time, heir.time))


class Engine(RuleBasedStateMachine):
    """Four people of different rank, a few shared keys, everything that can happen to them."""

    verdicts = Bundle("verdicts")

    def open(self) -> incumbent.Memory:
        return incumbent.open(":memory:", clock=self.clock, settings=QUICK)

    @initialize()
    def begin(self) -> None:
        self.clock = SteppingClock(step=timedelta(seconds=1))
        self.memory = self.open()
        self.people = {
            name: self.memory.session(
                user_id=name,
                authority=rung,
                organization=ORGANIZATION,
                session_id=f"s-{name}",
                permissions=FOR_ALL,
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
        except incumbent.DependencyCycle:
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

    @rule(
        target=verdicts,
        who=st.sampled_from(sorted(PEOPLE)),
        key=st.sampled_from(KEYS),
        seconds_ago=st.sampled_from([None, None, 0, 1, 4]),
    )
    def retracts(self, who: str, key: str, seconds_ago: int | None) -> Any:
        if key not in self.look():
            return multiple()
        at = None if seconds_ago is None else self.clock.now - timedelta(seconds=seconds_ago)
        before = all_facts(self.memory)
        held = [fact for fact in before.values() if fact.key == key and fact.is_valid]
        is_late = at is not None and any(at < fact.order for fact in held)
        refused = (
            (incumbent.NotPermitted, incumbent.InvalidInput) if is_late else incumbent.NotPermitted
        )
        try:
            verdict = self.people[who].retract(key, at=at)
        except refused:
            assert tenures(before.values()) == tenures(all_facts(self.memory).values())
            return multiple()
        assert not is_late
        self.check_authority(before, rank(PEOPLE[who]))
        return self.note(verdict, kind="retract")

    @rule(target=verdicts, who=st.sampled_from(sorted(PEOPLE)))
    def finds_still_right(self, who: str) -> Any:
        queue = self.people[who].reviews()
        if not (queue):
            return multiple()
        try:
            verdict = self.people[who].resolve(queue[0].fact.id, still_right=True)
        except incumbent.NotPermitted:
            return multiple()
        return self.note(verdict, kind="acknowledge")

    @rule(target=verdicts, verdict=consumes(verdicts), who=st.sampled_from(sorted(PEOPLE)))
    def undoes(self, verdict: Verdict, who: str) -> Any:
        before = all_facts(self.memory)
        try:
            undoing = self.people[who].undo(verdict)
        except (incumbent.NotPermitted, incumbent.NothingToUndo):
            assert tenures(before.values()) == tenures(all_facts(self.memory).values())
            return multiple()
        self.check_authority(before, rank(PEOPLE[who]))
        return self.note(undoing, kind="undo", undoes=verdict.id)

    @rule(verdict=verdicts)
    def undoes_and_redoes(self, verdict: Verdict) -> None:
        before = tenures(all_facts(self.memory).values())
        try:
            undoing = self.people["exa"].undo(verdict)
        except incumbent.NothingToUndo:
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
        """Invariant 6: nobody takes a fact of higher standing out of office.

        What was arranged for in advance acts with the authority of whoever arranged it.
        """
        now = all_facts(self.memory)
        for fact in before.values():
            if fact.is_valid and not now[fact.id].is_valid:
                successor = now.get(now[fact.id].superseded_by or "")
                above = max(actor, rank(successor.standing) if successor else 0)
                assert rank(fact.standing) <= above, f"{fact.key} was taken out from below"

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

    def open(self) -> incumbent.Memory:
        self.folder = Path(mkdtemp(prefix="incumbent-"))
        return incumbent.open(self.folder / "agent.db", clock=self.clock, settings=QUICK)

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "folder"):
            for path in self.folder.iterdir():
                path.unlink()
            self.folder.rmdir()


class EngineOnPostgres(Engine):
    """The same on a PostgreSQL server."""

    def open(self) -> incumbent.Memory:
        return incumbent.open(SERVER.databases().emptied(), clock=self.clock, settings=QUICK)


THOROUGH = settings(
    max_examples=examples(60, soak=400),
    stateful_step_count=40 if SOAK else 25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestEngineInMemory = Engine.TestCase
TestEngineInMemory.settings = THOROUGH
TestEngineOnSQLite = EngineOnSQLite.TestCase
TestEngineOnSQLite.settings = settings(THOROUGH, max_examples=examples(25, soak=150))
TestEngineOnPostgres = needs_server(EngineOnPostgres.TestCase)
TestEngineOnPostgres.settings = settings(THOROUGH, max_examples=examples(6, soak=60))
