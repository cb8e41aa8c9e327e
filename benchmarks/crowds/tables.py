"""The figures of `crowd`, for reading."""

from __future__ import annotations

from rich.table import Table

from benchmarks.crowds import KINDS, OURS
from benchmarks.crowds.report import CONTEXTS, SHARES, WRITES, Crowd, Report


def explained(report: Report) -> str:
    """What the systems do for their figures, and how the columns are to be read."""
    return "\n".join(
        [
            f"One server on this machine, {report.organizations:,} organizations of "
            f"{report.facts:,} facts; clients are "
            "processes, each in an organization of its own, one call after the other for "
            f"{report.seconds:g} s. Same embedder for all; no question is asked twice. What each "
            "does:",
            *(f"  {name}: {kind.about}" for name, kind in KINDS.items()),
        ]
    )


def calls(report: Report) -> Table:
    """One row for each kind of call, number of clients and system."""
    table = Table(title="Calls on one PostgreSQL server")
    for heading in ("calls", "clients"):
        table.add_column(heading)
    table.add_column("system")
    percentiles = (f"p{share * 100:g} ms" for share in SHARES)
    for heading in ("a second", "of ours", "answered a second", *percentiles):
        table.add_column(heading, justify="right")
    counts = sorted({one.clients for one in report.crowds})
    ours = report.of(OURS)
    for kind in (WRITES, CONTEXTS):
        for count in counts:
            found = [one for one in report.crowds if (one.kind, one.clients) == (kind, count)]
            for one in found:
                table.add_row(
                    kind if kind == WRITES or KINDS[one.system].ours else "searches",
                    str(count),
                    one.system,
                    f"{one.per_second:,.0f}",
                    f"{one.per_second / ours[kind, count].per_second:.2f}×",
                    _answered(report, one),
                    *(f"{one.ms(share):,.1f}" for share in SHARES),
                    end_section=one is found[-1],
                )
    return table


def _answered(report: Report, crowd: Crowd) -> str:
    """How many calls a second brought the fact asked about, going by the questions checked."""
    held = report.holdings.get(crowd.system)
    if held is None or crowd.kind == WRITES:
        return ""
    return f"{crowd.per_second * held.answered / held.asked:,.0f}"


def holdings(report: Report) -> Table:
    """What each system held, and what its answers were worth."""
    table = Table(title="What they held, and what came back")
    table.add_column("system")
    for heading in ("organizations", "facts of each", "answered", "facts given"):
        table.add_column(heading, justify="right")
    for name, held in report.holdings.items():
        table.add_row(
            name,
            f"{held.organizations:,}",
            f"{held.facts:,}",
            f"{held.answered}/{held.asked}",
            f"{held.given:.1f}",
        )
    return table


def remarks(report: Report) -> list[str]:
    """What the tables have no room for."""
    found = [
        "answered: the fact asked about is in what came back; facts given: how many come back on "
        "average. Both before the clients began to write."
    ]
    for name, seconds in report.indexed.items():
        held = report.holdings[name]
        fewer = held.organizations < report.organizations
        found.append(
            f"{name} was filled by copying into its tables; making its index then took "
            f"{seconds:,.0f} s"
            + (
                f". It holds {held.organizations} of the {report.organizations} organizations, "
                "which favours it."
                if fewer
                else "."
            )
        )
    if report.organizations < max((one.clients for one in report.crowds), default=0):
        found.append(
            "There are fewer organizations than clients: writers of one organization of "
            "Incumbent's "
            "wait for each other."
        )
    if report.growth is not None:
        found.append(
            f"A context of one organization, p50: {report.growth.alone:.1f} ms alone in the "
            f"database, {report.growth.beside:.1f} ms beside {report.growth.others} others as large"
        )
    return [*found, *(f"{name}: {why}" for name, why in report.missing.items())]
