"""The command about what models were asked: usage."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

import incumbent
from incumbent.cli.declaring import command, option
from incumbent.cli.options import ORGANIZATION, Common
from incumbent.cli.root import remark
from incumbent.cli.tables import print_json, show, table
from incumbent.model.errors import InvalidInput
from incumbent.words import shown

_COLUMNS = ("day (UTC)", "model", "calls", "failed", "turns", "tokens in", "tokens out", "cost")


@command("usage", "usage --org acme --days 30", "usage --json")
def usage(
    *,
    days: int | None = option("COUNT", "The last days only, today included."),
    organization: str = ORGANIZATION,
    common: Common,
) -> None:
    """Show what models were asked for second opinions, by day: calls, tokens, costs.

    Costs are counted where prices were given, in the currency that they were given in.
    """
    if days is not None and days < 1:
        raise InvalidInput(f"--days must be at least 1, not {days}")
    with common.open() as memory:
        today = memory.now().date()
        since = None if days is None else today - timedelta(days=days - 1)
        found = memory.usage(organization, since=since)
    if common.json:
        print_json({"organization": organization, "usage": [_document(one) for one in found]})
    elif found:
        show(table(_COLUMNS, [*map(_row, found), *_total(found)]))
    else:
        remark(f"no model was asked for organization {organization!r}")


def _document(one: incumbent.Usage) -> dict[str, Any]:
    return {**asdict(one), "day": one.day.isoformat(), "cost": one.cost}


def _row(one: incumbent.Usage) -> list[str]:
    return [one.day.isoformat(), shown(one.model), *_counts([one])]


def _total(found: list[incumbent.Usage]) -> list[list[str]]:
    return [["all", "", *_counts(found)]] if len(found) > 1 else []


def _counts(found: list[incumbent.Usage]) -> list[str]:
    names = ("calls", "failed", "turns", "input_tokens", "output_tokens")
    counts = [f"{sum(getattr(one, name) for one in found):,}" for name in names]
    return [*counts, f"{sum(one.cost for one in found):,.4f}"]
