"""The context playground: a question, its settings, and what a model would read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from incumbent.context.document import APIS, Context, Omission
from incumbent.context.request import PROFILES, STYLES
from incumbent.context.tokens import counter
from incumbent.http.problems import Refusal, refusal_of
from incumbent.inspector import accounting, asking, differing
from incumbent.inspector.asking import OTHER, ContextAsk
from incumbent.inspector.marking import inert_json
from incumbent.inspector.rendering import choices
from incumbent.inspector.visit import (
    Redirect,
    Result,
    Route,
    Visit,
    WebPage,
    address,
    is_whole,
)
from incumbent.model.errors import IncumbentError
from incumbent.model.fact import Fact
from incumbent.session import Session
from incumbent.words import shown as line

_FEW = 6
_MANY = 200
_MOST_FACTS = 12
_CHOICES = 50
_SLIDER = 8_000
_EXPLAINED = 2_000


@dataclass(frozen=True)
class OmittedFact:
    """An omission beside its fact, where that may be seen."""

    omission: Omission
    fact: Fact | None


def _playground(visit: Visit) -> Result:
    ask = ContextAsk.of(visit.asked, visit.looking)
    other = ask.beside(visit.asked) if visit.asked.get("compare") else None
    fill: dict[str, Any] = {"here": "playground", "ask": ask, "other": other, "problem": ""}
    status = 200
    try:
        fill |= _answer(visit, ask, other)
    except (IncumbentError, Refusal) as error:
        refusal = refusal_of(error)
        if refusal.status >= 500:
            raise
        fill |= {"problem": refusal.detail, "context": None}
        status = refusal.status
    return WebPage("context.html", fill | _choices(visit, ask, other), status)


def _answer(visit: Visit, ask: ContextAsk, other: ContextAsk | None) -> dict[str, Any]:
    session = asking.session_of(visit, ask)
    context = asking.composed(visit, ask, session, record=False)
    fill: dict[str, Any] = {
        "context": context,
        **shown(context),
        "groups": list(_groups(context, session, visit.asked.get("reason", ""))),
        "asked_fact": visit.asked.get("fact", "").strip(),
        "answers": _answers(visit, ask, session, context),
        "pairs": [],
    }
    if other is not None:
        beside = asking.composed(visit, other, asking.session_of(visit, other), record=False)
        pairs = differing.difference(context.lines, beside.lines)
        fill |= {
            "beside": beside,
            "beside_shares": accounting.shares(beside, counter(beside.tokenizer)),
            "pairs": differing.by_section(pairs),
            "counted": differing.counts(pairs),
            "changed": other.changes_from(ask),
        }
    return fill


def shown(context: Context) -> dict[str, Any]:
    """What the page needs to show a context."""
    scores = [line.score for line in context.lines if line.score is not None]
    return {
        "shares": accounting.shares(context, counter(context.tokenizer)),
        "best": max(scores, default=0.0) or 1.0,
        "cuts": sum(cut for line in context.lines for _, cut in accounting.pieces(line.text)),
        "pieces": accounting.pieces,
        "messages": {api: _as_json(context.messages(api)) for api in APIS},
    }


def _as_json(messages: list[dict[str, Any]]) -> str:
    return inert_json(json.dumps(messages, indent=2, ensure_ascii=False))


def _groups(
    context: Context, session: Session, opened: str
) -> Iterator[tuple[accounting.ReasonGroup, list[OmittedFact]]]:
    """The omissions by reason: a few of each, and more of the one that was opened."""
    for group in accounting.by_reason(context.omissions):
        named = group.named[: _MANY if group.reason == opened else _FEW]
        yield (
            group,
            [OmittedFact(one, session.get(one.fact_id) if one.fact_id else None) for one in named],
        )


def _answers(
    visit: Visit, ask: ContextAsk, session: Session, context: Context
) -> list[accounting.FactAnswer]:
    """Whether the facts that somebody asks for are in it, by key or by id.

    To name every omission takes long where there are very many; then the fact itself tells why.
    """
    wanted = visit.asked.get("fact", "").strip()
    if not wanted:
        return []
    facts = _facts(session, wanted)
    if not facts:
        return []
    unnamed = sum(one.count for one in context.omissions if not (one.fact_id or one.item))
    if 0 < unnamed <= _EXPLAINED:
        context = asking.composed(visit, ask, session, explain=True, record=False)
    wide = asking.wide(visit, ask, session)
    return [accounting.answer_on(fact, context, wide, _reason(session, fact)) for fact in facts]


def _reason(session: Session, fact: Fact) -> str:
    """Why a fact may be left out that a context is too large to name."""
    if not fact.is_valid:
        return fact.status.value
    held = session.facts(fact.key, subject=fact.subject)
    return accounting.IRRELEVANT if any(one.id == fact.id for one in held) else "out of scope"


def _facts(session: Session, wanted: str) -> list[Fact]:
    """The facts with that id, or at that key, those in office first."""
    found = session.get(wanted)
    if found is not None:
        return [found]
    listed = session.list_facts(key=wanted, states=(), limit=_MOST_FACTS)
    return sorted(listed, key=lambda fact: not fact.is_valid)


def _choices(visit: Visit, ask: ContextAsk, other: ContextAsk | None) -> dict[str, Any]:
    chosen = other or ask
    rungs = visit.memory.settings.ladder.rungs
    return {
        "profiles": choices(((one, one) for one in PROFILES), ask.profile),
        "styles": choices(((one, one) for one in STYLES), ask.style),
        "rungs": choices((("", "as it is"), *((one, one) for one in rungs)), ask.authority),
        "other_profiles": _others(PROFILES, ask.profile, chosen.profile),
        "other_styles": _others(STYLES, ask.style, chosen.style),
        "other_rungs": _others(rungs, ask.authority, chosen.authority),
        "others": {} if other is None else other.changes_from(ask),
        "sessions": [one.session_id for one in visit.session.list_sessions(limit=_CHOICES)],
        "branches": _branches(visit, ask.branch),
        "other_branches": [
            {"value": "", "label": "the same", "on": chosen.branch == ask.branch},
            *_branches(visit, "" if chosen.branch == ask.branch else chosen.branch)[1:],
        ],
        "most": min(visit.max_budget, max(_SLIDER, _number(ask))),
        "moment": asking.for_field,
        "link": _link(visit, ask, other),
        "prefix": OTHER,
    }


def _number(ask: ContextAsk) -> int:
    return int(ask.budget) if is_whole(ask.budget) else 0


def _others(names: Any, same: str, chosen: str) -> list[Any]:
    """The options of the second context, the first of which is to be like the first."""
    picked = "" if chosen == same else chosen
    return choices((("", "the same"), *((one, one) for one in names)), picked)


def _branches(visit: Visit, chosen: str) -> list[Any]:
    listed = visit.session.list_branches(limit=_CHOICES)
    names = [(f"{one.kind}:{one.name}", f"{one.kind} {line(one.name)}") for one in listed]
    if chosen and chosen not in dict(names):
        names.append((chosen, line(chosen.replace(":", " ", 1))))
    return choices((("", "none: reality"), *names), chosen)


def _link(visit: Visit, ask: ContextAsk, other: ContextAsk | None) -> str:
    """The address of what is shown, to come back to or pass on."""
    beside = {} if other is None else other.changes_from(ask)
    return address(
        "context",
        **ask.fields(),
        **{f"{OTHER}{name}": said or "-" for name, said in beside.items()},
        compare="1" if other is not None else "",
        fact=visit.asked.get("fact", "").strip(),
    )


def _kept(visit: Visit) -> Result:
    """Keep the receipt of the context that the form asks for."""
    ask = ContextAsk.of(visit.form, visit.looking)
    context = asking.composed(visit, ask, asking.session_of(visit, ask), record=True)
    to = address("context", **ask.fields())
    if ask.user == visit.looking.user_id:
        to = address("receipt", id=context.receipt.id)
    return Redirect(to, said="The receipt was kept. It can be replayed byte for byte.")


ROUTES = (Route("context", _playground), Route("context/keep", _kept, action=True))
