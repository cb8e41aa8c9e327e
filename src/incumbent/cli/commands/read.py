"""Commands that look: current, facts, history, explain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from rich.text import Text

import incumbent
from incumbent.cli.commands.write import KEY_OR_ID, SUBJECT
from incumbent.cli.declaring import argument, command
from incumbent.cli.options import Asker, Common, When, organizations_of
from incumbent.cli.root import remark
from incumbent.cli.tables import (
    account_lines,
    clock,
    console,
    fact_table,
    print_json,
    show,
    word,
)
from incumbent.context.quotes import inline
from incumbent.model.values import text_of
from incumbent.stores.codec import fact_record, verdict_record
from incumbent.words import account, grounds, provenance, shown, standing, told, why

_KEY = argument("KEY", "The key.")


@command("current order_status", "current total --subject 'order 4711'")
def current(
    key: str = _KEY,
    *,
    subject: str | None = SUBJECT,
    when: When,
    who: Asker,
    common: Common,
) -> None:
    """Print the value in office, and nothing else.

    Exit code 1 where there is none. Of a multi-valued key, the JSON list of its values.
    """
    with common.open() as memory:
        session = when.look(memory, who.at(memory))
        value = session.current(key, subject)
        facts = session.facts(key, subject=subject or "")
        found = value is not None or bool(facts)
        if not found and not common.json:
            remark(f"nothing is current at {key!r}{_elsewhere(memory, session)}")
    if common.json:
        document = {"key": key, "subject": subject, "found": found, "value": value}
        print_json({**document, "fact_ids": [fact.id for fact in facts]})
    elif found:
        text = inline(value) if console().is_terminal else text_of(value)
        typer.echo(text)
        if any(fact.needs_review for fact in facts):
            remark(f"{key!r} needs review: a fact it rests on has changed")
    if not found:
        raise typer.Exit(1)


@command("facts", "facts --user alice --org acme --json")
def facts(
    key: str | None = argument(
        "KEY", "Only facts of this key; '' for those kept as they were said.", default=None
    ),
    *,
    subject: str | None = SUBJECT,
    when: When,
    who: Asker,
    common: Common,
) -> None:
    """List the facts you go by, newest first.

    These are in office, visible to you, in scope and not shadowed.
    """
    with common.open() as memory:
        session = when.look(memory, who.at(memory))
        found = session.facts(key, subject=subject)
        hint = "" if found else _elsewhere(memory, session)
    if common.json:
        print_json({"facts": [fact_record(fact) for fact in found]})
    elif found:
        show(fact_table(found, keys=True))
    else:
        remark(f"no facts{hint}")


@command("history order_status", "history order_status --as-of 2026-03-02T09:00:00+00:00")
def history(
    key: str = _KEY,
    *,
    subject: str | None = SUBJECT,
    when: When,
    who: Asker,
    common: Common,
) -> None:
    """Show the chain of a key, oldest first, and what was overruled."""
    with common.open() as memory:
        session = when.look(memory, who.at(memory))
        chain = session.history(key, subject)
        hint = _elsewhere(memory, session) if not (chain.facts or chain.overruled) else ""
    if common.json:
        print_json({"key": key, "subject": subject, **_chain_document(chain)})
    elif chain.facts or chain.overruled:
        listed = [*chain.facts, *chain.overruled]
        show(fact_table(listed, keys=len({fact.key for fact in listed}) > 1))
    else:
        remark(f"{key!r} has no history{hint}")


@command("explain order_status", "explain FACT_ID --json")
def explain(
    key_or_id: str = KEY_OR_ID,
    *,
    subject: str | None = SUBJECT,
    when: When,
    who: Asker,
    common: Common,
) -> None:
    """Tell why a fact stands: its chain, and every verdict on it."""
    with common.open() as memory:
        session = when.look(memory, who.at(memory))
        explanation = session.explain(key_or_id, subject)
        if common.json:
            print_json(_explanation_document(explanation))
        else:
            print_explanation(session, explanation)


def _elsewhere(memory: incumbent.Memory, session: incumbent.Session) -> str:
    """A hint for somebody who asks in the wrong organization."""
    organizations = organizations_of(memory)
    asked = session.identity.organization
    if not organizations or asked in organizations:
        return f" for {session.identity.user_id!r}"
    names = ", ".join(map(repr, organizations[:5]))
    return f" in organization {asked!r}; this store has {names}: choose with --org"


def _chain_document(chain: incumbent.Chain) -> dict[str, Any]:
    return {
        "facts": [fact_record(fact) for fact in chain.facts],
        "overruled": [fact_record(fact) for fact in chain.overruled],
    }


def _explanation_document(explanation: incumbent.Explanation) -> dict[str, Any]:
    return {
        "fact": fact_record(explanation.fact),
        "derived_facts": list(explanation.fact.derived_facts),
        "causes": [cause._asdict() for cause in explanation.causes],
        "chain": _chain_document(explanation.chain),
        "verdicts": [verdict_record(verdict) for verdict in explanation.verdicts],
    }


def print_explanation(session: incumbent.Session, explanation: incumbent.Explanation) -> None:
    """Print why a fact stands, for people."""
    show(Text(told(explanation.fact), style="bold"))
    show(account_lines(_standing_lines(session, explanation)))
    listed = [*explanation.chain.facts, *explanation.chain.overruled]
    if len(listed) > 1:
        show(Text("\nChain, oldest first", style="bold"))
        show(fact_table(listed, keys=len({fact.key for fact in listed}) > 1))
    show(Text("\nVerdicts, oldest first", style="bold"))
    for verdict in explanation.verdicts:
        about = shown(verdict.fact.value) if verdict.fact else verdict.fact_id
        undone = "  (undone)" if verdict.undone_by else ""
        show(Text.assemble("  ", word(verdict.outcome.value), f"  {about}{undone}"))
        show(account_lines(_verdict_lines(session, verdict), indent=4))


def _standing_lines(
    session: incumbent.Session, explanation: incumbent.Explanation
) -> Iterator[tuple[str, str]]:
    fact = explanation.fact
    until = f" until {clock(fact.until)}" if fact.until else ""
    yield "status", f"{standing(fact)}, from {clock(fact.started_at or fact.valid_from)}{until} UTC"
    source = fact.source
    named = f"{source.type} {source.name}" if source.name else source.type
    yield (
        "said by",
        f"{fact.owner or 'the organization'}, authority {fact.standing}, source {named}",
    )
    yield from provenance(fact)
    place = f"{fact.scope.value} {fact.scope_id}" if fact.scope_id else fact.scope.value
    yield (
        "kind",
        f"{fact.memory_type.value} memory, scope {place}"
        + (f", {fact.constraint_type} constraint" if fact.is_constraint else ""),
    )
    yield from grounds(explanation, session.get)
    yield "fact", fact.id


def _verdict_lines(
    session: incumbent.Session, verdict: incumbent.Verdict
) -> Iterator[tuple[str, str]]:
    reader = verdict.evidence.get("reader")
    found = f", found by {reader}" if isinstance(reader, str) else ""
    yield "why", f"{why(verdict)} (rule: {verdict.rule}, confidence {verdict.confidence:g}{found})"
    yield from account(verdict, session.get)
    by = f"{verdict.by or 'the store'} ({verdict.authority or 'erasure'})"
    yield "by", f"{by}, {clock(verdict.recorded_at)} UTC"
    yield "verdict", verdict.id
    if verdict.undone_by:
        yield "undone by", verdict.undone_by
