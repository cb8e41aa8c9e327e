"""What a call of mem0 asks for: whose memories, under which conditions, in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from incumbent.compat.mem0 import filters as conditions
from incumbent.compat.mem0.details import Details
from incumbent.compat.mem0.refusals import NotCarriedOver, refuse
from incumbent.compat.mem0.scoping import IDS, Ids, ids_of, ids_of_owner
from incumbent.compat.mem0.shapes import check_top_k
from incumbent.context.quotes import GONE
from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent.session import Session

_TOKENS = 150
"""About what a memory takes in a context, at most of the time."""
_MOST_TOKENS = 100_000
_DOUBTED = "Possibly outdated"


class HeldMemory(NamedTuple):
    """A fact in office with everything that is told of it."""

    fact: Fact
    line: list[Fact]
    """The fact and what it came to replace, oldest first."""
    details: Details
    payload: dict[str, Any]
    more: dict[str, Any]
    is_cut: bool | None = None
    """Whether a context cut it; None where none was made."""

    @property
    def root(self) -> Fact:
        return self.line[0]


def details_of(ids: Ids, about: dict[str, Any], turn: dict[str, Any], *, infer: bool) -> Details:
    """What is kept beside the memories that come of a turn; the owner is known without it."""
    own = ids_of_owner(ids.owner)
    found: Details = {}
    if ids.agent_id and "agent_id" not in own:
        found["agent_ids"] = [ids.agent_id]
    if ids.run_id and "run_id" not in own:
        found["run_ids"] = [ids.run_id]
    if about:
        found["metadata"] = about
    if turn["name"]:
        found["actor_id"] = str(turn["name"])
    if not infer:
        found["role"] = turn["role"]
    return found


def speaker_of(turn: Mapping[str, Any], ids: Ids) -> str:
    """Who speaks: the person whose memory it is, the model, or somebody else by name."""
    name, role = turn["name"], turn["role"]
    if role == "user" and name and str(name).casefold() != (ids.user_id or "").casefold():
        return str(name)
    return str(role)


def belongs(ids: Ids, owner: str, details: Details) -> bool:
    """Whether a memory has every id that is asked for."""
    own = ids_of_owner(owner)
    return all(
        own.get(name) == wanted or wanted in details.get(f"{name}s", ())
        for name, wanted in ids.given().items()
    )


def selection_of(
    filters: Mapping[str, Any] | None, older: dict[str, Any], top_k: int, call: str
) -> tuple[Ids, conditions.Filter, int]:
    """What is asked for: the ids, the conditions besides, and how many."""
    named, rest = conditions.split(filters)
    for name in IDS:
        if older.get(name) is not None:
            named.setdefault(name, older[name])
    if older.get("limit") is not None:
        top_k = older["limit"]
    if older.get("enable_graph"):
        raise refuse("enable_graph")
    unknown = sorted(set(older) - {*IDS, "limit", "enable_graph"})
    if unknown:
        raise NotCarriedOver(f"{call} takes no {unknown[0]!r}; leave it out")
    return ids_of(named, call), conditions.compiled(rest), check_top_k(top_k)


def ranked(
    session: Session, query: str, top_k: int, least: float, *, explain: bool
) -> Iterator[tuple[Fact, dict[str, Any], bool]]:
    """The facts in office that a query asks for, best first, with their scores, and whether
    something was cut out of them."""
    # More than are asked for: filters may leave some out.
    budget = min(_MOST_TOKENS, _TOKENS * max(4 * top_k, 60))
    context = session.context(query, budget=budget, conversation=False, record=False)
    lines = {line.fact_id: line for line in context.lines if line.fact_id and line.score}
    for line in sorted(lines.values(), key=lambda line: -(line.score or 0.0)):
        if (line.score or 0.0) < least:
            return
        fact = session.get(line.fact_id or "")
        if fact is None or not fact.is_valid:
            continue
        more: dict[str, Any] = {"score": line.score}
        if explain:
            more["score_details"] = dict(line.parts)
        if line.section == _DOUBTED:
            more["possibly_outdated"] = True
        is_cut = GONE in line.text and GONE not in text_of(fact.value)
        yield fact, more, is_cut


def listed(session: Session) -> Iterator[tuple[Fact, dict[str, Any], None]]:
    """The facts in office, newest first."""
    return ((fact, {}, None) for fact in session.facts())
