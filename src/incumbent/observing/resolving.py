"""Resolving: which facts are meant by "that", "the deadline" or "plan A"."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from incumbent.language.frames import frame_again
from incumbent.language.tokens import tokens
from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent.search.analysis import name_terms, terms

_ENOUGH = 0.6
_NAMING = ("name", "code")


def key_for(words: str) -> str:
    """The key that a thing would have."""
    skipped = ("the", "my", "our", "a", "an")
    return "_".join(token.low for token in tokens(words) if token.low not in skipped)


def _told(fact: Fact) -> set[str]:
    """The terms a fact can be meant by: its key, its subject, its words."""
    words = {*name_terms(fact.key), *terms(text_of(fact.value)[:2_000])}
    return words | set(name_terms(fact.subject) if fact.subject else ())


def named(
    words: str,
    facts: Sequence[Fact],
    last: Sequence[Fact],
    *,
    loosely: bool = False,
    all_of: bool = False,
    every: bool = False,
) -> list[Fact]:
    """The facts that somebody means, the latest first; `last` where no thing is named.

    One as a rule; `every` one that fits best, or `all_of` those that fit.
    """
    frame = frame_again(words[:400])
    wanted = set(terms(" ".join([*frame.order, *(part.text for part in frame.parts)])))
    if not wanted:
        return list(last)
    found: list[tuple[float, int, Fact]] = []
    for age, fact in enumerate(reversed(facts)):
        if fact.subject and not wanted.intersection(name_terms(fact.subject)):
            continue  # somebody else's
        key = set(name_terms(fact.key))
        told = _told(fact)
        share = len(wanted & told) / len(wanted)
        if key and key <= wanted:
            share = max(share, 1.0)
        if share >= (0.5 if loosely else _ENOUGH):
            found.append((-share, age, fact))
    found.sort(key=lambda one: one[:2])
    if not found:
        return []
    best = found[0][0]
    fitting = [fact for share, _, fact in found if all_of or share == best]
    # Without a name it is one of a kind that is meant, and not all of them.
    is_named = frame.label or frame.subject or any(p.kind in _NAMING for p in frame.parts)
    return fitting if all_of or (every and is_named) else fitting[:1]


def earlier(
    what: str,
    facts: Sequence[Fact],
    chain_of: Callable[[Fact], Sequence[Fact]],
    *,
    anything: bool,
) -> tuple[Fact, Fact] | None:
    """The fact in office and the earlier one of its chain that somebody goes back to."""
    wanted = set(terms(what))
    for fact in reversed(facts):
        if not fact.predecessors:
            continue
        before = [old for old in chain_of(fact) if old.id != fact.id]
        about = set(name_terms(fact.key))
        for old in reversed(before):
            said = set(terms(text_of(old.value)))
            now = set(terms(text_of(fact.value)))
            if (said - now) & wanted and len(wanted - said - about) <= 1:
                return fact, old
        if anything and before:
            return fact, before[0] if "origin" in wanted or "first" in wanted else before[-1]
    return None


def is_task(narrowed: str | None, task_id: str) -> bool:
    """Whether the thing that a statement is limited to is the task at hand."""
    if narrowed is None:
        return False
    thing = set(terms(narrowed))
    return bool(thing) and thing <= set(name_terms(task_id))
