"""Contexts of past moments through the index: byte for byte what reading all facts gives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incumbent
from incumbent import Memory, Session, Source
from incumbent.composing import doubts as doubts_module
from incumbent.composing import history as history_module
from incumbent.composing import inquiry as inquiry_module
from incumbent.composing import material as material_module
from incumbent.composing import omissions as omissions_module
from incumbent.composing.dead_values import DeadValueFinder
from incumbent.composing.material import MaterialBuilder
from incumbent.engine import doubts as engine_doubts
from incumbent.engine.lens import Lens
from incumbent.language.values.forms import forms
from incumbent.model.fact import Fact, Status
from incumbent.search import analysis, retrieval
from incumbent.search import places as places_module
from incumbent.search import tenures as tenures_module
from incumbent.search.space import SearchSpace
from incumbent.stores.port import Reader, Selection
from incumbent.testing import SteppingClock
from tests.conftest import STORES, examples
from tests.properties.contexts import FAST, a_place, told
from tests.servers import SERVER

KEYS = ("plan", "venue", "q3_budget", "secret_plan")
SUBJECTS = (None, None, "Ann Lee")
QUERIES = ("Which venue, and what is the plan?", "word of Ann Lee", "secret budget", "now?", "")
WORDS = ("amber", "basalt", "cedar", "delta", "ember", "fjord")

OPTIONS: dict[str, tuple[Any, ...]] = {
    "authority": ("employee", "executive"),
    "valid_until": (5, 50),
    "valid_from": (-30, 20),
    "at": (-40, -3),
    "depends_on": (0, 1, 2),
    "doubts": (0, 1),
    "supersedes": (0, 1, 2),
    "is_constraint": (True,),
    "scope": ("session", "task"),
    "requires": (["hr"],),
    "memory_type": ("organizational",),
    "said": (True,),
    "confidence": (0.1,),
    "quotes": (0, 1, 2, 3),
}
"""What a write may say besides; numbers of facts count back from the last."""


def a_history(chance: Random) -> list[tuple[Any, ...]]:
    """A history of writes, mostly: most of them plain, at few addresses."""

    def written() -> tuple[Any, ...]:
        names = [name for name in OPTIONS if chance.random() < 0.12]
        more = {name: chance.choice(OPTIONS[name]) for name in names}
        return "write", chance.choice(KEYS), {"subject": chance.choice(SUBJECTS), **more}

    def step() -> tuple[Any, ...]:
        if chance.random() < 0.6:
            return written()
        number = chance.randrange(6)
        others: list[tuple[Any, ...]] = [
            ("many", chance.choice(KEYS), number % 3 + 2),
            ("arrange", chance.choice(KEYS)),
            ("tag",),
            ("retract", number),
            ("undo", number),
            ("try_out", chance.choice(KEYS), chance.random() < 0.5),
            ("erase", number),
            ("look", number),
            ("wait", chance.choice((1, 10))),
        ]
        return chance.choice(others)

    return [step() for _ in range(chance.randrange(2, 40))]


class Chronicle:
    """Plays a history, and asks for contexts in between, so that the index has to follow."""

    def __init__(self, memory: Memory, clock: SteppingClock) -> None:
        self.memory = memory
        self.clock = clock
        self.moments: list[datetime] = [clock.now]
        self.ids: list[str] = []
        self.verdicts: list[incumbent.Verdict] = []
        memory.declare("tag", multi_valued=True)
        memory.declare("secret_*", requires=["hr"])

    def session(self, user: str = "eve", *, task: str | None = None, **more: Any) -> Session:
        permissions = more.pop("permissions", ("hr", "organization:write"))
        return self.memory.session(
            user_id=user,
            authority=more.pop("authority", "executive"),
            organization="acme",
            session_id=f"desk-of-{user}",
            task_id=task,
            permissions=permissions,
        )

    def play(self, history: list[tuple[Any, ...]]) -> None:
        for step, *details in history:
            self.clock.advance(minutes=1)
            with suppress(incumbent.IncumbentError):
                getattr(self, step)(*details)
            self.moments.append(self.clock.now)

    def value(self) -> dict[str, Any]:
        """A value that is hardly anywhere else, and an id whose order is not that of writing."""
        number = len(self.ids)
        word = f"{WORDS[number % len(WORDS)]} {number} word"
        self.ids.append(f"{(number * 7) % 31:02}-fact-{number}")
        return {"value": word, "id": self.ids[-1]}

    def named(self, number: int) -> str:
        """The fact that was written so many writes ago."""
        return self.ids[-1 - number % len(self.ids)] if self.ids else "plan"

    def write(self, key: str, more: dict[str, Any]) -> None:
        given = dict(more)
        for name in ("valid_until", "valid_from", "at"):
            if name in given:
                given[name] = self.clock.now + timedelta(minutes=given[name])
        for name in ("depends_on", "doubts"):
            if name in given:
                given[name] = [self.named(given[name])]
        if "supersedes" in given:
            given["supersedes"] = self.named(given["supersedes"])
        if given.pop("said", False):
            given["source"] = Source(type="conversation", turn_index=1, speaker="user")
        task = "move" if given.get("scope") == "task" else None
        rung = given.pop("authority", "executive")
        quoted = given.pop("quotes", None)
        if quoted is not None:
            quoted = max(0, len(self.ids) - 1 - quoted)
        told = self.value()
        if quoted is not None:
            told["value"] += f", and {WORDS[quoted % len(WORDS)]} {quoted} word as before"
        session = self.session(task=task, authority=rung)
        self.verdicts.append(session.write(key, **told, **given))

    def many(self, key: str, count: int) -> None:
        made = [{"key": key, **self.value()} for _ in range(count)]
        self.verdicts.extend(self.session().write_many(made))

    def arrange(self, key: str) -> None:
        self.verdicts.append(self.session().write(key, **self.value(), when_superseded=key))

    def tag(self) -> None:
        self.verdicts.append(self.session().write("tag", **self.value()))

    def retract(self, number: int) -> None:
        self.verdicts.append(self.session().retract(self.named(number)))

    def undo(self, number: int) -> None:
        if self.verdicts:
            chosen = self.verdicts[-1 - number % len(self.verdicts)]
            self.verdicts.append(self.session().undo(chosen))

    def try_out(self, key: str, adopts: bool) -> None:
        branch = self.session().draft(f"draft-{len(self.ids)}")
        branch.write(key, **self.value())
        branch.commit() if adopts else branch.discard()

    def erase(self, number: int) -> None:
        if self.ids:
            self.memory.forget(organization="acme", fact_id=self.named(number))

    def look(self, number: int) -> None:
        self.session().context(QUERIES[0], at=self.moments[number % len(self.moments)])

    def wait(self, minutes: int) -> None:
        self.clock.advance(minutes=minutes)


def _stored(lens: Lens, reader: Reader, fact_id: str) -> Fact | None:
    fact = reader.fact(fact_id)
    if fact is None or not lens.past or fact.status is Status.ERASED:
        return fact
    selection = Selection((fact.owner,), None, fact.key, fact.subject or "")
    return next((one for one in lens.known(reader, selection) if one.id == fact_id), None)


def _doubters(reader: Reader, lens: Lens, facts: Any) -> dict[str, list[Fact]]:
    held = {fact.id: fact for fact in facts if fact.is_valid}
    statements = [fact for fact in lens.held(reader, marks=False) if fact.doubts]
    return engine_doubts._found(held, statements, lens.settings.ladder) if held else {}


@contextmanager
def reading_all() -> Iterator[None]:
    """Contexts of the past as they were made before: every fact is read."""

    @contextmanager
    def space(builder: MaterialBuilder) -> Iterator[SearchSpace]:
        yield SearchSpace.ad_hoc(builder._rows())

    def suspects(finder: DeadValueFinder, words: set[str], _: Any) -> list[Fact]:
        # Everything that a probe tells, which is what contexts of the present go by.
        return [
            fact
            for fact in finder._inquiry.everything
            if not words.isdisjoint(analysis.probes(fact.value, fact.parts, forms))
        ]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DeadValueFinder, "_suspects", suspects)
        patch.setattr(MaterialBuilder, "_space", space)
        patch.setattr(doubts_module, "doubters", _doubters)
        patch.setattr(Lens, "_stored", _stored)
        yield


@contextmanager
def as_in_a_large_memory(small: int) -> Iterator[None]:
    """So many facts are few, and everything else that begins with many begins with some."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (inquiry_module, material_module, omissions_module):
            patch.setattr(module, "SMALL", small)
        patch.setattr(material_module, "_FEWEST", 1)
        patch.setattr(history_module, "_MOST", 2)
        patch.setattr(retrieval, "_FREQUENT", 2)
        patch.setattr(retrieval, "_FEW", 2)
        patch.setattr(retrieval, "_BINDING", 1)
        patch.setattr(places_module, "_FRESH", 4)
        patch.setattr(tenures_module, "_PORTION", 3)
        yield


@contextmanager
def a_chronicle(store: str, history: list[tuple[Any, ...]]) -> Iterator[Chronicle]:
    clock = SteppingClock(step=timedelta(seconds=1))
    with a_place(store) as where:
        if store == "postgres":
            databases = SERVER.databases()
            databases.begin()
            where = databases.empty()
        with incumbent.open(where, clock=clock, settings=FAST) as memory:
            chronicle = Chronicle(memory, clock)
            chronicle.play(history)
            yield chronicle


READERS: tuple[dict[str, Any], ...] = (
    {},
    {"task": "move"},
    {"permissions": ()},
    {"user": "otto", "authority": "employee"},
)
MANY = {"memory": examples(200, soak=4000), "sqlite": examples(100, soak=2000)}
FEW = examples(15, soak=300)


def check(store: str, chance: Random) -> None:
    small = chance.choice((0, 2, 400))
    with as_in_a_large_memory(small), a_chronicle(store, a_history(chance)) as chronicle:
        moments = [*chronicle.moments, chronicle.clock.now + timedelta(hours=1)]
        for _ in range(8):
            looking = chronicle.session(**chance.choice(READERS)).as_of(
                chance.choice(moments), known_at=chance.choice((None, None, *moments))
            )
            request: dict[str, Any] = {
                "query": chance.choice(QUERIES),
                "budget": chance.choice((40, 200, 4000)),
                "profile": chance.choice(("balanced", "comprehensive")),
                "history": chance.random() < 0.5,
                "explain": chance.random() < 0.3,
            }
            found = looking.context(**request)
            with reading_all():
                wanted = looking.context(**request)
            assert found.text == wanted.text
            assert told(found) == told(wanted)


@pytest.mark.parametrize("store", STORES)
def test_the_index_gives_what_reading_all_facts_gives(store: str) -> None:
    """Whatever was written, retired, undone, erased or arrived late, and whatever is asked of
    whichever moment, as known at whichever: the text and the account are the same."""

    @settings(max_examples=MANY.get(store, FEW), deadline=None)
    @given(seed=st.integers(0, 2**32))
    def property_of(seed: int) -> None:
        check(store, Random(seed))

    property_of()
