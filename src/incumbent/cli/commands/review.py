"""Commands for the review queue: reviews, resolve."""

from __future__ import annotations

from typing import Any

from rich.console import RenderableType

import incumbent
from incumbent.cli.commands.write import JSON_VALUE, REASON
from incumbent.cli.declaring import argument, command, flag
from incumbent.cli.options import Asker, Common, parse_value
from incumbent.cli.root import remark
from incumbent.cli.tables import is_narrow, print_json, show, table, with_id
from incumbent.cli.verdicts import print_verdict
from incumbent.model.errors import InvalidInput
from incumbent.stores.codec import fact_record
from incumbent.words import because, told


@command("reviews", "reviews --user alice --org acme --json")
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
            remark("settle one with: incumbent resolve ID VALUE, --still-right or --retract")
        else:
            remark("nothing needs review")


@command(
    "resolve FACT_ID 11600 --json-value",
    "resolve FACT_ID --still-right --reason 'price is per box'",
    "resolve FACT_ID --retract",
)
def resolve(
    fact_id: str = argument("FACT_ID", "As `reviews` prints it."),
    value: str | None = argument("VALUE", "The new value, taken as a string.", default=None),
    *,
    json_value: bool = JSON_VALUE,
    still_right: bool = flag("It stands; what is contested or waits takes office."),
    retract: bool = flag("Take it back."),
    reason: str | None = REASON,
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
    return "; ".join(because(review, session.get))
