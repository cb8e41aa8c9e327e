"""Commands for the review queue: reviews, resolve."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import RenderableType

import incumbent
from incumbent.cli.commands.write import JsonValue, Reason
from incumbent.cli.options import Asker, Common, parse_value
from incumbent.cli.root import command, complain
from incumbent.cli.tables import is_narrow, print_json, show, table, with_id
from incumbent.cli.verdicts import print_verdict
from incumbent.model.errors import InvalidInput
from incumbent.stores.codec import fact_record
from incumbent.words import asked, called, doubt, told


def reviews(*, who: Asker, common: Common) -> None:
    """List what wants a decision.

    Facts whose bases changed, with the path, facts that a later statement may have replaced,
    contested statements, and what waits for your approval before it is kept.
    """
    with common.open() as memory:
        session = who.at(memory)
        found = session.reviews()
        if common.json:
            print_json({"reviews": [_document(review) for review in found]})
        elif found:
            show(_table(session, found))
            complain(
                "settle one with: incumbent resolve ID VALUE, --still-right or --retract",
                kind="note",
            )
        else:
            complain("nothing needs review", kind="note")


def resolve(
    fact_id: Annotated[str, typer.Argument(metavar="FACT_ID", help="As `reviews` prints it.")],
    value: Annotated[
        str | None, typer.Argument(metavar="VALUE", help="The new value, taken as a string.")
    ] = None,
    *,
    json_value: JsonValue = False,
    still_right: Annotated[
        bool,
        typer.Option("--still-right", help="It stands; what is contested or waits takes office."),
    ] = False,
    retract: Annotated[bool, typer.Option("--retract", help="Take it back.")] = False,
    reason: Reason = None,
    who: Asker,
    common: Common,
) -> None:
    """Settle a review.

    With a new value, as still right, or by taking the fact back: exactly one of them.
    """
    if value is None and json_value:
        raise InvalidInput("--json-value needs a VALUE")
    given: dict[str, Any] = {} if value is None else {"value": parse_value(value, json_value)}
    with common.open() as memory:
        session = who.at(memory)
        verdict = session.resolve(
            fact_id, still_right=still_right, retract=retract, reason=reason, **given
        )
        print_verdict(session, verdict, as_json=common.json)


def _table(session: incumbent.Session, found: list[incumbent.Review]) -> RenderableType:
    if is_narrow():
        narrow = [[r.kind, with_id(told(r.fact), r.fact.id), _because(session, r)] for r in found]
        return table(["review", "fact and id", "because "], narrow)
    rows = [[r.kind, told(r.fact), _because(session, r), r.fact.id] for r in found]
    return table(["review", "fact", "because", "id"], rows)


def _document(review: incumbent.Review) -> dict[str, Any]:
    return {
        "kind": review.kind,
        "fact": fact_record(review.fact),
        "causes": [cause._asdict() for cause in review.causes],
        "rival": fact_record(review.rival) if review.rival else None,
    }


def _because(session: incumbent.Session, review: incumbent.Review) -> str:
    if review.kind == "contested":
        return f"in office is {told(review.rival)}" if review.rival else "nothing is in office"
    if review.kind == "doubted":
        return doubt(review.rival)
    if review.kind == "unapproved":
        return asked(review)
    told_causes = []
    for cause in review.causes:
        steps = [session.get(step) for step in cause.path]
        path = " -> ".join(called(step) for step in steps)
        now = session.get(cause.now) if cause.now else None
        told_causes.append(f"{path} (now {told(now)})" if now else path)
    return "; ".join(told_causes)


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    command(app, "reviews", reviews, ["reviews", "reviews --user alice --org acme --json"])
    command(
        app,
        "resolve",
        resolve,
        [
            "resolve FACT_ID 11600 --json-value",
            "resolve FACT_ID --still-right --reason 'price is per box'",
            "resolve FACT_ID --retract",
        ],
    )
