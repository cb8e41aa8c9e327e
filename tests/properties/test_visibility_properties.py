"""Who reads what, through every read, against a rule of one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenure
from tenure import Memory, Session
from tenure.testing import SteppingClock
from tests.conftest import QUICK, SOAK, STORES
from tests.properties.world import RUNGS

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


@contextmanager
def a_memory(store: str) -> Iterator[Memory]:
    """A memory whose clock stands still, so that two reads differ only by what is stored."""
    with TemporaryDirectory(prefix="tenure-") as folder:
        where = ":memory:" if store == "memory" else str(Path(folder) / "agent.db")
        with tenure.open(where, clock=SteppingClock(), settings=QUICK) as memory:
            yield memory


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
    except tenure.UnknownFact:
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


def numbered(found: list[Spec], prefix: str) -> list[Spec]:
    return [replace(spec, key=f"{prefix}{number}x") for number, spec in enumerate(found)]


FEW = settings(max_examples=400 if SOAK else 50, deadline=None)


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
        for number, spec in enumerate(unseen):
            if may_read(reader, spec):
                continue
            # Another person's or organization's fact may have the very key of a visible one.
            elsewhere = spec.organization != reader.organization
            theirs = spec.memory_type != "organizational" and spec.author != reader.user
            shares = (elsewhere or theirs) and number < len(written)
            enact(memory, replace(spec, key=written[number].key if shares else f"h{number}x"))
        assert everything(session, keys, ids) == before


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
