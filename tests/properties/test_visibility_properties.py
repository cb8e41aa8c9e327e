"""Who reads what, through every read, against a rule of one line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incumbent
from incumbent import Memory, Session
from incumbent.testing import SteppingClock
from tests.conftest import QUICK, SOAK, STORES, THOROUGH, examples
from tests.properties.contexts import PROFILES, a_memory, told
from tests.properties.world import RUNGS
from tests.selection import sampled

USERS = ("ann", "ben", "cid")
ORGANIZATIONS = ("acme", "globex")
PERMISSIONS = ("hr", "pay")


@dataclass(frozen=True)
class Spec:
    """What is to be written, and with what conditions on its readers."""

    author: str
    organization: str
    memory_type: str
    requires: tuple[str, ...]
    min_authority: str | None
    shape: str
    key: str = ""


@dataclass(frozen=True)
class Reader:
    user: str
    organization: str
    authority: str
    permissions: tuple[str, ...]


specs = st.builds(
    Spec,
    author=st.sampled_from(USERS),
    organization=st.sampled_from(ORGANIZATIONS),
    memory_type=st.sampled_from(["user", "capability", "organizational", "organizational"]),
    requires=st.lists(st.sampled_from(PERMISSIONS), unique=True).map(tuple),
    min_authority=st.none() | st.sampled_from(RUNGS),
    shape=st.sampled_from(["plain", "changed", "retracted", "contested", "stale"]),
)
readers = st.builds(
    Reader,
    user=st.sampled_from(USERS),
    organization=st.sampled_from(ORGANIZATIONS),
    authority=st.sampled_from(RUNGS),
    permissions=st.lists(st.sampled_from(PERMISSIONS), unique=True).map(tuple),
)


def may_read(reader: Reader, spec: Spec) -> bool:
    """The whole rule."""
    return (
        spec.organization == reader.organization
        and (spec.memory_type == "organizational" or spec.author == reader.user)
        and set(spec.requires) <= set(reader.permissions)
        and RUNGS.index(reader.authority) >= RUNGS.index(spec.min_authority or RUNGS[0])
    )


def enact(memory: Memory, spec: Spec) -> list[str]:
    """Write what a spec says, as its author with every right; returns the ids of its facts."""
    author = memory.session(
        user_id=spec.author,
        authority="policy",
        organization=spec.organization,
        permissions=PERMISSIONS,
        session_id="writing",
    )
    terms: dict[str, Any] = {
        "memory_type": spec.memory_type,
        "requires": spec.requires,
        "min_authority": spec.min_authority,
    }
    base = author.write(f"{spec.key}_base", f"base-{spec.key}", **terms)
    main = author.write(spec.key, f"value-{spec.key}", depends_on=[base.fact_id], **terms)
    ids = [base.fact_id, main.fact_id]
    if spec.shape == "changed":
        ids.append(author.write(spec.key, f"newer-{spec.key}", **terms).fact_id)
    elif spec.shape == "retracted":
        author.retract(main.fact_id, f"reason-{spec.key}")
    elif spec.shape == "contested":
        ids.append(author.write(spec.key, f"doubt-{spec.key}", confidence=0.1, **terms).fact_id)
    elif spec.shape == "stale":
        ids.append(author.write(f"{spec.key}_base", f"other-{spec.key}", **terms).fact_id)
    return ids


def as_reader(memory: Memory, reader: Reader) -> Session:
    return memory.session(
        user_id=reader.user,
        authority=reader.authority,
        organization=reader.organization,
        permissions=reader.permissions,
        session_id="reading",
    )


def explained(session: Session, key: str) -> Any:
    try:
        return session.explain(key)
    except incumbent.UnknownFact:
        return None


def everything(session: Session, keys: list[str], ids: list[str]) -> dict[str, Any]:
    """What a session gets from every read there is."""
    context = session.context("what is there?", budget=100_000)
    return {
        "current": {key: session.current(key) for key in keys},
        "is_current": {name: session.is_current(name) for name in (*keys, *ids)},
        "facts": session.facts(),
        "get": {fact_id: session.get(fact_id) for fact_id in ids},
        "history": {key: session.history(key) for key in keys},
        "explain": {key: explained(session, key) for key in keys},
        "reviews": session.reviews(),
        "context": (context.text, context.lines, context.omissions),
        "past": session.as_of(session.environment.current_time + timedelta(hours=1)).facts(),
    }


_OF_ONES_OWN = ("out of scope", "not permitted")


def but_ones_own(omissions: tuple[incumbent.Omission, ...]) -> tuple[incumbent.Omission, ...]:
    """An account without what it says of the reader's own facts elsewhere, or out of reach."""
    return tuple(one for one in omissions if one.reason not in _OF_ONES_OWN)


def numbered(found: list[Spec], prefix: str) -> list[Spec]:
    return [replace(spec, key=f"{prefix}{number}x") for number, spec in enumerate(found)]


FEW = settings(max_examples=examples(50, soak=400), deadline=None)


@pytest.mark.parametrize("store", STORES)
@FEW
@given(found=st.lists(specs, min_size=1, max_size=6), reader=readers, declared=st.booleans())
def test_every_read_follows_the_rule(
    store: str, found: list[Spec], reader: Reader, declared: bool
) -> None:
    """A session gets a fact from any read exactly when the rule says that it may know of it."""
    with a_memory(store) as memory:
        written = numbered(found, "k")
        ids = {spec.key: enact(memory, spec) for spec in written}
        if declared:
            memory.declare("k0x*", requires=["hr"])
            more = tuple(sorted({*written[0].requires, "hr"}))
            written = [replace(written[0], requires=more), *written[1:]]
        session = as_reader(memory, reader)
        keys = [name for spec in written for name in (spec.key, f"{spec.key}_base")]
        got = everything(session, keys, [fact_id for of in ids.values() for fact_id in of])
        told = _told(got)
        for spec in written:
            known = may_read(reader, spec)
            both = (spec.key, f"{spec.key}_base")
            live = {
                "plain": f"value-{spec.key}",
                "changed": f"newer-{spec.key}",
                "retracted": None,
                "contested": f"value-{spec.key}",
                "stale": f"value-{spec.key}",
            }[spec.shape]
            assert got["current"][spec.key] == (live if known else None)
            assert got["is_current"][spec.key] is (known and live is not None)
            assert any(fact.key in both for fact in got["facts"]) is known
            assert any(fact.key in both for fact in got["past"]) is known
            for fact_id in ids[spec.key]:
                assert (got["get"][fact_id] is not None) is known
                assert (fact_id in told) is known
            assert (len(got["history"][spec.key]) > 0) is known
            assert (got["explain"][spec.key] is not None) is known
            waits = spec.shape in ("contested", "stale")
            reviewed = any(review.fact.key == spec.key for review in got["reviews"])
            assert reviewed is (known and waits)
            assert (spec.key in got["context"][0]) is known


def _told(got: dict[str, Any]) -> str:
    """Everything that was answered, without the questions."""
    answers = {
        name: list(found.values()) if isinstance(found, dict) else found
        for name, found in got.items()
    }
    return repr(answers)


@pytest.mark.parametrize("store", STORES)
@FEW
@given(
    found=st.lists(specs, max_size=4),
    unseen=st.lists(specs, min_size=1, max_size=4),
    reader=readers,
)
def test_the_unseen_changes_nothing(
    store: str, found: list[Spec], unseen: list[Spec], reader: Reader
) -> None:
    """Adding facts that a reader may not see changes not a byte of what the reader gets."""
    with a_memory(store) as memory:
        written = numbered(found, "k")
        ids = [fact_id for spec in written for fact_id in enact(memory, spec)]
        keys = [spec.key for spec in written] + ["h0x", "h1x", "h2x", "h3x"]
        session = as_reader(memory, reader)
        before = everything(session, keys, ids)
        is_own = False
        for number, spec in enumerate(unseen):
            if may_read(reader, spec):
                continue
            # Another person's or organization's fact may have the very key of a visible one.
            elsewhere = spec.organization != reader.organization
            theirs = spec.memory_type != "organizational" and spec.author != reader.user
            shares = (elsewhere or theirs) and number < len(written)
            enact(memory, replace(spec, key=written[number].key if shares else f"h{number}x"))
            owned = spec.author == reader.user and spec.memory_type != "organizational"
            is_own = is_own or (owned and not elsewhere)
        after = everything(session, keys, ids)
        if is_own:  # that they have something there is theirs to know
            for got in (before, after):
                *rest, omissions = got["context"]
                got["context"] = (*rest, but_ones_own(omissions))
        assert after == before


@pytest.mark.parametrize("store", STORES)
@FEW
@given(shape=st.sampled_from(["derive", "wait", "beside"]), count=st.integers(1, 4))
def test_secret_conclusions_from_open_facts_do_not_show(store: str, shape: str, count: int) -> None:
    """What is drawn from a visible fact, or waits for it, in secret, leaves no trace at it."""
    with a_memory(store) as memory:
        open_fact = enact(memory, Spec("ann", "acme", "organizational", (), None, "plain", "k"))
        session = as_reader(memory, Reader("ben", "acme", "employee", ()))
        before = everything(session, ["k"], open_fact)
        writer = memory.session(
            user_id="ann", authority="policy", organization="acme", permissions=["hr"]
        )
        kinds: dict[str, dict[str, Any]] = {
            "derive": {"depends_on": [open_fact[1]]},
            "wait": {"when_superseded": open_fact[1]},
            "beside": {},
        }
        links = kinds[shape]
        for number in range(count):
            writer.write(
                f"secret_{number}", "x", requires=["hr"], memory_type="organizational", **links
            )
        assert everything(session, ["k"], open_fact) == before


# The same world with and without what a reader may not know of.


def _author(memory: Memory, user: str = "hana", organization: str = "acme", **more: Any) -> Session:
    return memory.session(
        user_id=user,
        authority="policy",
        organization=organization,
        permissions=PERMISSIONS,
        session_id=more.pop("session_id", "writing"),
        **more,
    )


ORGANIZATIONAL = {"memory_type": "organizational"}

FENCES: dict[str, tuple[Callable[[Memory], Session], dict[str, Any], str]] = {
    "requires": (_author, {**ORGANIZATIONAL, "requires": ["hr"]}, ""),
    "requires two": (_author, {**ORGANIZATIONAL, "requires": ["hr", "pay"]}, ""),
    "authority": (_author, {**ORGANIZATIONAL, "min_authority": "executive"}, ""),
    "declared": (_author, ORGANIZATIONAL, "vault_"),
    "declared, own": (lambda memory: _author(memory, "ben"), {"memory_type": "user"}, "vault_"),
    "own, requires": (
        lambda memory: _author(memory, "ben"),
        {"memory_type": "user", "requires": ["hr"]},
        "",
    ),
    "another person": (lambda memory: _author(memory, "ann"), {"memory_type": "user"}, ""),
    "organization": (lambda memory: _author(memory, "ben", "globex"), {}, ""),
    "session": (
        lambda memory: _author(memory, "ben", session_id="elsewhere"),
        {"memory_type": "user", "scope": "session"},
        "",
    ),
    "task": (
        lambda memory: _author(memory, "ben", task_id="other task"),
        {"memory_type": "user", "scope": "task"},
        "",
    ),
    "draft": (
        lambda memory: _author(memory, "ben").draft("proposal"),
        {"memory_type": "user"},
        "",
    ),
    "what-if": (
        lambda memory: _author(memory, "ben").hypothetical("what if"),
        {"memory_type": "user"},
        "",
    ),
}
"""Who writes what a plain employee called ben may not know of here, on what terms, at what keys."""

OWN = frozenset({"declared, own", "own, requires", "session", "task", "draft", "what-if"})
"""The fences behind which ben has something himself: that it is there, he is told."""


def as_told(answers: list[Any], fences: Iterable[str]) -> list[Any]:
    """What a reader gets, without the account of their own where it may differ."""
    if OWN.isdisjoint(fences):
        return answers
    return [(*rest, but_ones_own(omissions)) for *rest, omissions in answers]


TOPICS = ("harbour", "parcel", "crane")
SHAPES = ("plain", "repeated", "changed", "retracted", "expired", "binding", "several", "derived")


class World:
    """Plays steps on a clock that moves with every step, whether the step is taken or not."""

    def __init__(self, memory: Memory, clock: SteppingClock) -> None:
        self.memory = memory
        self.clock = clock
        memory.declare("vault_*", requires=["hr"])
        memory.declare("*tags", multi_valued=True)
        self.reader = memory.session(
            user_id="ben",
            authority="employee",
            organization="acme",
            session_id="reading",
            task_id="this task",
        )

    def put(self, session: Session, terms: dict[str, Any], name: str, shape: str) -> None:
        """Write facts of a shape under a name; ids and values come from the name alone."""
        topic = TOPICS[len(name) % len(TOPICS)]
        text = f"the {topic} of {name}"
        self.clock.advance(seconds=10)
        if shape == "repeated":
            session.write(f"{name}_{topic}", f"{topic} " * 30 + name, id=name, **terms)
        elif shape == "binding":
            session.write(name, text, id=name, is_constraint=True, **terms)
        elif shape == "several":
            for number in range(3):
                session.write(f"{name}_tags", f"{text} {number}", id=f"{name}-{number}", **terms)
        elif shape == "expired":
            until = self.clock.now + timedelta(seconds=5)
            session.write(f"{name}_{topic}", text, id=name, valid_until=until, **terms)
        else:
            base = session.write(f"{name}_{topic}", text, id=name, **terms).fact_id
            if shape == "changed":
                session.write(f"{name}_{topic}", f"{topic} now {name}", id=f"{name}-b", **terms)
            elif shape == "retracted":
                session.retract(base)
            elif shape == "derived":
                session.write(f"{name}_d", f"so {text}", id=f"{name}-d", depends_on=[base], **terms)
                session.write(f"{name}_{topic}", f"{topic} now {name}", id=f"{name}-b", **terms)

    def seen(self, name: str, shape: str) -> None:
        own = len(name) % 2
        terms = {"memory_type": "user" if own else "organizational"}
        self.put(_author(self.memory, "ben"), terms, name, shape)

    def unseen(self, fence: str, name: str, shape: str) -> None:
        session_of, terms, prefix = FENCES[fence]
        self.put(session_of(self.memory), terms, f"{prefix}{name}", shape)

    def skip(self) -> None:
        self.clock.advance(seconds=10)

    def quote(self, name: str) -> None:
        """The reader repeats what somebody said, without knowing what has become of it."""
        topic = TOPICS[len(name) % len(TOPICS)]
        self.reader.note(f"turn_{name}", f"I heard them speak of the {topic} of {name} at lunch")

    def answers(self, budgets: tuple[int, ...] = (60, 150, 4000)) -> list[Any]:
        """What the reader gets, asked in many ways."""
        found = []
        for query in ("Where is the harbour?", "crane parcel", "tags vault", "something"):
            for budget in budgets:
                for profile in PROFILES:
                    context = self.reader.context(
                        query,
                        budget=budget,
                        profile=profile,
                        explain=profile == "balanced",
                        history=profile == "comprehensive",
                    )
                    found.append(told(context))
        return found


planned = st.lists(
    st.one_of(
        st.tuples(st.just("seen"), st.just(""), st.sampled_from(SHAPES)),
        st.tuples(st.just("unseen"), st.sampled_from(list(FENCES)), st.sampled_from(SHAPES)),
        st.tuples(st.just("quote"), st.just(""), st.just("")),
    ),
    min_size=2,
    max_size=8,
)


def played(store: str, steps: list[tuple[str, str, str]], *, with_unseen: bool) -> list[Any]:
    clock = SteppingClock()
    with a_memory(store, clock) as memory:
        world = World(memory, clock)
        for number, (step, fence, shape) in enumerate(steps):
            name = "n" * (number % 3 + 1) + str(number)
            if step == "seen":
                world.seen(name, shape)
            elif step == "quote":
                # Of what is said next, seen or unseen, and of what was said last.
                world.quote("n" * ((number - 1) % 3 + 1) + str(number - 1))
            elif with_unseen:
                world.unseen(fence, name, shape)
            else:
                world.skip()
        clock.advance(seconds=10)
        return world.answers()


@pytest.mark.parametrize("store", STORES)
@settings(max_examples=examples(15, soak=150), deadline=None)
@given(steps=planned)
def test_a_world_in_which_it_never_existed(store: str, steps: list[tuple[str, str, str]]) -> None:
    """Text, lines, scores and omissions are those of a world without the restricted facts."""
    fences = [fence for _, fence, _ in steps]
    ours, theirs = (played(store, steps, with_unseen=so) for so in (True, False))
    assert as_told(ours, fences) == as_told(theirs, fences)


@pytest.mark.parametrize("fence", FENCES)
@pytest.mark.parametrize("shape", sampled(SHAPES))
def test_no_fence_lets_anything_through(fence: str, shape: str) -> None:
    """Each way to keep a fact from a reader, with each way a fact can be, one by one."""
    steps = [
        ("seen", "", "plain"),
        ("seen", "", "changed"),
        ("unseen", fence, shape),
        ("quote", "", ""),
        ("seen", "", "retracted"),
        ("unseen", fence, "repeated"),
    ]
    ours, theirs = (played("memory", steps, with_unseen=so) for so in (True, False))
    assert as_told(ours, [fence]) == as_told(theirs, [fence])


class Crowd(NamedTuple):
    """How many facts there are, and how many of them out of sight."""

    seen: int
    unseen: int
    dead: bool = False
    """Whether those out of sight were superseded since."""


CROWDS = {
    "few seen": Crowd(30, 1_300),
    "few seen, many dead": Crowd(30, 450, dead=True),
    "named one by one": Crowd(260, 200),
    "too many to name": Crowd(500, 300),
    "all have it": Crowd(1_200, 250),
}
TERM = "harbour"
_WORDS = "alpha boat chair dog engine fish glass house iron juice kite lamp money night"
WORDS = _WORDS.split()


def _writes(prefix: str, count: int, said: str, terms: dict[str, Any]) -> list[dict[str, Any]]:
    def words(number: int) -> str:
        return " ".join(WORDS[(number * step + number // 7) % len(WORDS)] for step in (1, 3, 5))

    return [
        {
            "key": f"{prefix}{number}",
            "value": f"{said} {words(number)} {number}",
            "id": f"{prefix}-{said}-{number}",
            **terms,
        }
        for number in range(count)
    ]


def crowded(crowd: Crowd, fence: str | None) -> list[Any]:
    """What a reader gets among many facts, some of them behind a fence or never said."""
    clock = SteppingClock()
    own = {"memory_type": "user"}
    with a_memory("memory" if crowd.seen > 400 else "sqlite", clock) as memory:
        world = World(memory, clock)
        author = _author(memory, "ben")
        clock.advance(seconds=10)
        author.write_many(_writes("a", crowd.seen // 5, "some", own))
        author.write_many(_writes("a", crowd.seen // 9, "other", own))
        author.write_many(_writes("b", crowd.seen * 4 // 5, TERM, own))
        clock.advance(seconds=10)
        if fence is not None:
            session_of, terms, prefix = FENCES[fence]
            hidden = session_of(memory)
            hidden.write_many(_writes(f"{prefix}h", crowd.unseen, TERM, terms))
            if crowd.dead:
                hidden.write_many(_writes(f"{prefix}h", crowd.unseen, "more", terms))
        clock.advance(seconds=10)
        author.write_many(_writes("c", crowd.seen // 6, TERM, own))
        clock.advance(seconds=10)
        return [
            told(world.reader.context(query, budget=budget))
            for query in (TERM, f"Where is the {TERM} with the boat?", "the vessel in the dark")
            for budget in (150, 900)
        ]


@cache
def alone(crowd: str) -> list[Any]:
    return crowded(CROWDS[crowd], None)


OFTEN = ("requires", "declared", "declared, own", "own, requires", "session")
"""The fences that `make check` tries with every crowd. The others, and `make test`, take a small
one; `make soak` tries everything."""


@pytest.mark.parametrize(
    ("fence", "crowd"),
    [
        (fence, crowd)
        for fence in FENCES
        for crowd in CROWDS
        if SOAK or (THOROUGH and fence in OFTEN) or crowd == "few seen"
    ],
)
def test_a_crowd_out_of_sight_is_not_felt(fence: str, crowd: str) -> None:
    """Thousands of restricted facts with the very words of the query change no rank, no count."""
    with_them = as_told(crowded(CROWDS[crowd], fence), [fence])
    for ours, theirs in zip(with_them, as_told(alone(crowd), [fence]), strict=True):
        assert ours == theirs


@pytest.mark.parametrize("how", ["retracted", "expired"])
@pytest.mark.parametrize("fence", FENCES)
def test_known_unknowns_are_the_reader_s_own(fence: str, how: str) -> None:
    """That something was taken back or ran out is said, however much else was, out of sight."""
    clock = SteppingClock()
    with a_memory(STORES[len(fence) % 2], clock) as memory:
        world = World(memory, clock)
        clock.advance(seconds=10)
        until = clock.now + timedelta(seconds=5) if how == "expired" else None
        world.reader.write("parking_spot", "B12", valid_until=until)
        if how == "retracted":
            world.reader.retract("parking_spot")
        clock.advance(seconds=10)
        before = world.reader.context("Which parking spot?")
        assert "parking_spot: what was known" in before.text
        session_of, terms, prefix = FENCES[fence]
        session = session_of(memory)
        until = clock.now + timedelta(seconds=5) if how == "expired" else None
        written = session.write_many(
            {"key": f"{prefix}h{number}", "value": "x", "valid_until": until, **terms}
            for number in range(220)
        )
        if how == "retracted":
            for verdict in written:
                session.retract(verdict.fact_id)
        clock.advance(seconds=10)
        after = world.reader.context("Which parking spot?")
        assert [line.text for line in after.lines] == [line.text for line in before.lines]
        assert as_told([told(after)], [fence]) == as_told([told(before)], [fence])


@pytest.mark.parametrize("store", STORES)
def test_what_others_talk_about_is_frequent_only_there(store: str) -> None:
    """A word that another organization uses all the time is as telling here as before."""
    with a_memory(store) as memory:
        here = memory.session(user_id="ben", organization="acme", session_id="s")
        here.write("place", "the harbour by the sea")
        here.write("other", "something else entirely")
        before = told(here.context("harbour"))
        there = memory.session(user_id="ben", organization="globex", session_id="s")
        there.write_many(
            {"key": f"k{number}", "value": f"harbour {number}"} for number in range(2_200)
        )
        there.context("harbour")
        assert told(here.context("harbour")) == before


@settings(max_examples=examples(5, soak=40), deadline=None)
@given(found=st.lists(specs, max_size=3), unseen=st.lists(specs, min_size=1), reader=readers)
def test_the_default_embedder_keeps_silent_too(
    found: list[Spec], unseen: list[Spec], reader: Reader
) -> None:
    """With the default embedder the unseen changes nothing either."""
    with a_memory("memory", settings=QUICK) as memory:
        for spec in numbered(found, "k"):
            enact(memory, spec)
        session = as_reader(memory, reader)
        *before, account = told(session.context("what is there?"))
        for spec in numbered([spec for spec in unseen if not may_read(reader, spec)], "h"):
            enact(memory, spec)
        *after, accounted = told(session.context("what is there?"))
        assert after == before
        assert but_ones_own(accounted) == but_ones_own(account)
