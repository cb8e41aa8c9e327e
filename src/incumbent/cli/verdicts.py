"""Printing a verdict: the answer of every command that changes something."""

from __future__ import annotations

from typing import Any

from rich.text import Text

import incumbent
from incumbent.cli.tables import account_lines, print_json, show, word
from incumbent.stores.codec import fact_record, verdict_record
from incumbent.words import Find, account, told, why


def verdict_document(verdict: incumbent.Verdict) -> dict[str, Any]:
    """A verdict as JSON, with the fact it decided on."""
    fact = verdict.fact
    return {**verdict_record(verdict), "fact": fact_record(fact) if fact is not None else None}


def rehearsed_document(session: incumbent.Session) -> dict[str, Any]:
    """What the last call of a rehearsal would change, as JSON."""
    changes = [
        {
            "before": None if one.before is None else fact_record(one.before),
            "after": None if one.after is None else fact_record(one.after),
        }
        for one in session.changes
    ]
    return {"dry_run": True, "changes": changes}


def print_verdict(
    session: incumbent.Session, verdict: incumbent.Verdict, *, as_json: bool, dry_run: bool = False
) -> None:
    """Print the outcome, the reason, the facts concerned, the ids, and the consequences.

    After a dry run, of which the session is the rehearsal, ids of what would be new are left out.
    """
    if as_json:
        foreseen = rehearsed_document(session) if dry_run else {}
        print_json({**verdict_document(verdict), **foreseen})
        return
    about = told(verdict.fact) if verdict.fact is not None else verdict.fact_id
    begin = "dry run: " if dry_run else ""
    show(Text.assemble(begin, word(verdict.outcome.value), f"  {about}"))
    ids = [("fact", verdict.fact_id), ("verdict", verdict.id)]
    show(
        account_lines(
            [
                ("why", f"{why(verdict)} (rule: {verdict.rule})"),
                *account(verdict, _finder(session)),
                *([] if dry_run else ids),
            ]
        )
    )


def _finder(session: incumbent.Session) -> Find:
    """Looks facts up, also those that a rehearsal would bring."""
    foreseen = {one.after.id: one.after for one in session.changes if one.after is not None}
    return lambda fact_id: foreseen.get(fact_id) or session.get(fact_id)
