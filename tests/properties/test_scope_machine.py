"""Scopes and branches: random work in tasks, sessions and branches against a simple model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import incumbent
from incumbent import Memory, Scope, Session
from incumbent.testing import SteppingClock
from tests.conftest import QUICK, SOAK, examples
from tests.properties.world import all_facts, check_links, check_marks, differences, tenures
from tests.servers import SERVER, needs_server

KEYS = {"mood": "user", "style": "user", "room": "organizational"}
VALUES = st.integers(1, 4)
Place = tuple[str, str]
EVERYWHERE: Place = ("global", "")


@dataclass
class Desk:
    """A session or branch, with the places it looks at, narrowest first."""

    session: Session
    user: str
    places: tuple[Place, ...]
    parent: Desk | None = None
    children: int = 0

    @property
    def is_branch(self) -> bool:
        return self.parent is not None

    @property
    def commits_to(self) -> Place:
        assert self.parent is not None
        return self.parent.places[0] if self.parent.is_branch else EVERYWHERE


class Scopes(RuleBasedStateMachine):
    """What every session sees for every key is the narrowest value written where it looks."""

    @initialize()
    def start(self) -> None:
        self.clock = SteppingClock(step=timedelta(seconds=1))
        self.memory = self.open()
        self.model: dict[tuple[str, Place, str], Any] = {}
        self.branches = 0
        self.desks: list[Desk] = []
        for user in ("ann", "ben"):
            for task, name in ((None, "one"), ("t1", "two"), ("t2", "three")):
                session = self.memory.session(
                    user_id=user,
                    authority="manager",
                    organization="acme",
                    session_id=f"{user}-{name}",
                    task_id=task,
                )
                places: list[Place] = [("session", f"{user}-{name}")]
                if task is not None:
                    places.append(("task", task))
                self.desks.append(Desk(session, user, (*places, EVERYWHERE)))

    def open(self) -> Memory:
        return incumbent.open(":memory:", clock=self.clock, settings=QUICK)

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            self.memory.close()

    def pick(self, number: int, *, branch: bool | None = None) -> Desk | None:
        found = [desk for desk in self.desks if branch is None or desk.is_branch is branch]
        return found[number % len(found)] if found else None

    def leaves(self) -> list[Desk]:
        return [desk for desk in self.desks if desk.is_branch and not desk.children]

    def owner(self, desk: Desk, key: str) -> str:
        return desk.user if KEYS[key] == "user" else ""

    def real(self) -> dict[str, tuple[Any, ...]]:
        facts = all_facts(self.memory)
        return tenures(fact for fact in facts.values() if fact.scope.is_real)

    def expected(self, desk: Desk, key: str) -> Any:
        owner = self.owner(desk, key)
        seen = (self.model.get((owner, place, key)) for place in desk.places)
        return next((value for value in seen if value is not None), None)

    @rule(
        number=st.integers(0, 20),
        key=st.sampled_from(sorted(KEYS)),
        value=VALUES,
        scope=st.sampled_from(["global", "global", "task", "session"]),
    )
    def says(self, number: int, key: str, value: int, scope: str) -> None:
        """Somebody states something, in one of the scopes that apply."""
        desk = self.pick(number, branch=False)
        assert desk is not None
        place = next((place for place in desk.places if place[0] == scope), None)
        if place is None:
            return
        verdict = desk.session.write(key, value, scope=scope, memory_type=KEYS[key])
        assert verdict.took_office
        self.model[self.owner(desk, key), place, key] = value

    @rule(number=st.integers(0, 20), key=st.sampled_from(sorted(KEYS)))
    def retracts(self, number: int, key: str) -> None:
        """Somebody takes back what they go by; a branch takes back only its own."""
        desk = self.pick(number)
        assert desk is not None
        owner = self.owner(desk, key)
        held = next((p for p in desk.places if (owner, p, key) in self.model), None)
        before = self.real()
        if held is None or (desk.is_branch and held != desk.places[0]):
            with pytest.raises(incumbent.InvalidInput):
                desk.session.retract(key)
            assert not differences(before, self.real())
        else:
            desk.session.retract(key)
            del self.model[owner, held, key]
            if desk.is_branch:
                assert not differences(before, self.real())

    @rule(number=st.integers(0, 20), kind=st.sampled_from(["hypothetical", "draft"]))
    def branches_off(self, number: int, kind: str) -> None:
        """Somebody starts a branch of a session or of another branch."""
        parent = self.pick(number)
        assert parent is not None
        if len([desk for desk in self.desks if desk.is_branch]) >= 4:
            return
        self.branches += 1
        name = f"branch-{self.branches}"
        session = getattr(parent.session, kind)(name)
        parent.children += 1
        self.desks.append(Desk(session, parent.user, ((kind, name), *parent.places), parent))

    @precondition(lambda self: any(desk.is_branch for desk in self.desks))
    @rule(
        number=st.integers(0, 20),
        key=st.sampled_from(sorted(KEYS)),
        value=VALUES,
        names=st.booleans(),
    )
    def supposes(self, number: int, key: str, value: int, names: bool) -> None:
        """A statement inside a branch, perhaps naming what it replaces, moves nothing real."""
        desk = self.pick(number, branch=True)
        assert desk is not None
        before = self.real()
        target = next((fact.id for fact in desk.session.facts(key)), None) if names else None
        verdict = desk.session.write(key, value, supersedes=target, memory_type=KEYS[key])
        assert verdict.took_office
        assert not differences(before, self.real())
        self.model[self.owner(desk, key), desk.places[0], key] = value

    @precondition(lambda self: bool(self.leaves()))
    @rule(number=st.integers(0, 20))
    def discards(self, number: int) -> None:
        """Dropping a branch leaves everything real as before."""
        desk = self.leaves()[number % len(self.leaves())]
        before = self.real()
        desk.session.discard()
        assert not differences(before, self.real())
        self.close(desk)

    @precondition(lambda self: bool(self.leaves()))
    @rule(number=st.integers(0, 20))
    def commits(self, number: int) -> None:
        """The values of a branch are said where it was branched from."""
        desk = self.leaves()[number % len(self.leaves())]
        before = self.real()
        desk.session.commit()
        if desk.commits_to != EVERYWHERE:
            assert not differences(before, self.real())
        for (owner, place, key), value in list(self.model.items()):
            if place == desk.places[0]:
                self.model[owner, desk.commits_to, key] = value
        self.close(desk)

    def close(self, desk: Desk) -> None:
        assert desk.parent is not None
        desk.parent.children -= 1
        self.desks.remove(desk)
        for address in [address for address in self.model if address[1] == desk.places[0]]:
            del self.model[address]

    @invariant()
    def every_session_sees_what_the_model_says(self) -> None:
        for desk in getattr(self, "desks", []):
            expected = {key: self.expected(desk, key) for key in KEYS}
            assert {key: desk.session.current(key) for key in KEYS} == expected
            listed = {fact.key: fact.value for fact in desk.session.facts()}
            assert listed == {key: value for key, value in expected.items() if value is not None}
            for fact in desk.session.facts():
                assert (fact.scope.value, fact.scope_id or "") in desk.places

    @invariant()
    def links_and_marks_are_sound(self) -> None:
        if hasattr(self, "memory"):
            facts = all_facts(self.memory)
            check_links(facts)
            check_marks(facts)


class ScopesOnSQLite(Scopes):
    """The same on a SQLite file."""

    def open(self) -> Memory:
        self.folder = TemporaryDirectory(prefix="incumbent-")
        path = Path(self.folder.name) / "agent.db"
        return incumbent.open(path, clock=self.clock, settings=QUICK)

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "folder"):
            self.folder.cleanup()


class ScopesOnPostgres(Scopes):
    """The same on a PostgreSQL server."""

    def open(self) -> Memory:
        return incumbent.open(SERVER.databases().emptied(), clock=self.clock, settings=QUICK)


THOROUGH = settings(
    max_examples=examples(50, soak=300),
    stateful_step_count=40 if SOAK else 25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestScopesInMemory = Scopes.TestCase
TestScopesInMemory.settings = THOROUGH
TestScopesOnSQLite = ScopesOnSQLite.TestCase
TestScopesOnSQLite.settings = settings(THOROUGH, max_examples=examples(15, soak=100))
TestScopesOnPostgres = needs_server(ScopesOnPostgres.TestCase)
TestScopesOnPostgres.settings = settings(THOROUGH, max_examples=examples(4, soak=40))


def stands(session: Session) -> dict[str, tuple[Any, ...]]:
    """How a session's facts stand, without what differs between two stores anyway."""
    return {
        fact.key: (fact.value, fact.scope, fact.standing, fact.needs_review)
        for fact in session.facts()
    }


@settings(THOROUGH, max_examples=examples(40, soak=200))
@given(
    before=st.lists(st.tuples(st.sampled_from("abc"), VALUES, st.booleans()), max_size=4),
    inside=st.lists(st.tuples(st.sampled_from("abc"), VALUES), max_size=4),
    kind=st.sampled_from(["hypothetical", "draft"]),
    committer=st.sampled_from(["employee", "manager"]),
)
def test_a_commit_equals_saying_the_same_directly(
    before: list[tuple[str, int, bool]],
    inside: list[tuple[str, int]],
    kind: str,
    committer: str,
) -> None:
    """What a branch says last about each key is what a direct statement would have come to."""
    seen = []
    for branched in (True, False):
        clock = SteppingClock(step=timedelta(seconds=1))
        with incumbent.open(":memory:", clock=clock, settings=QUICK) as memory:
            boss = memory.session(user_id="ann", authority="manager", organization="acme")
            for key, value, on_a in before:
                rests = ["a"] if on_a and key != "a" and boss.is_current("a") else []
                boss.write(key, value, depends_on=rests)
            speaker = memory.session(user_id="ann", authority=committer, organization="acme")
            if branched:
                branch = getattr(speaker, kind)()
                for key, value in inside:
                    branch.write(key, value)
                branch.commit()
            else:
                last = dict(inside)
                for key in sorted(last, key=lambda key: _last_change(inside, key)):
                    speaker.write(key, last[key])
            seen.append(stands(boss))
            assert all(fact.scope is Scope.GLOBAL for fact in boss.facts())
    assert seen[0] == seen[1]


def _last_change(inside: list[tuple[str, int]], key: str) -> int:
    """When a key took the value that it has at the end."""
    values = [(index, value) for index, (named, value) in enumerate(inside) if named == key]
    index = values[-1][0]
    for earlier, value in reversed(values):
        if value != values[-1][1]:
            break
        index = earlier
    return index
