"""Printing a verdict: the answer of every command that changes something."""

from __future__ import annotations

from typing import Any

from rich.text import Text

import tenure
from tenure.cli.tables import account_lines, print_json, show, word
from tenure.stores.codec import fact_record, verdict_record
from tenure.words import account, told, why


def verdict_document(verdict: tenure.Verdict) -> dict[str, Any]:
    """A verdict as JSON, with the fact it decided on."""
    fact = verdict.fact
    return {**verdict_record(verdict), "fact": fact_record(fact) if fact is not None else None}


def print_verdict(session: tenure.Session, verdict: tenure.Verdict, *, as_json: bool) -> None:
    """Print the outcome, the reason, the facts concerned, the ids, and the consequences."""
    if as_json:
        print_json(verdict_document(verdict))
        return
    about = told(verdict.fact) if verdict.fact is not None else verdict.fact_id
    show(Text.assemble(word(verdict.outcome.value), f"  {about}"))
    show(
        account_lines(
            [
                ("why", f"{why(verdict)} (rule: {verdict.rule})"),
                *account(verdict, session.get),
                ("fact", verdict.fact_id),
                ("verdict", verdict.id),
            ]
        )
    )
