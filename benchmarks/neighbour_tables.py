"""The figures of `neighbours`, for reading."""

from __future__ import annotations

from rich.table import Table

from benchmarks.neighbours import TOP, Report


def explained(report: Report) -> str:
    """What was asked, and how the columns are to be read."""
    return (
        f"{report.vectors:,} vectors of {report.dimensions} dimensions in {report.organizations} "
        f"organizations on one server; the {TOP} nearest of one organization, one client. recall: "
        "of the exact nearest by float vectors, how many are among those given. Everything is in "
        "memory; embedding the question is not counted. In the process: all of an organization's "
        "vectors compared by their signs, the nearest fetched from the server, ranked by cosine."
    )


def searches(report: Report) -> Table:
    """One row for each size and way."""
    table = Table(title=f"The {TOP} nearest of one organization")
    table.add_column("it has", justify="right")
    table.add_column("way")
    for heading in ("recall", "given", "p50 ms", "p95 ms"):
        table.add_column(heading, justify="right")
    table.add_column("the server's plan")
    last = {way.size: way for way in report.ways}
    for way in report.ways:
        table.add_row(
            f"{way.size:,}",
            way.name,
            f"{way.recall:.3f}",
            f"{way.given:.1f}",
            f"{way.p50:.2f}",
            f"{way.p95:.2f}",
            way.plan,
            end_section=last[way.size] is way,
        )
    return table


def inserts(report: Report) -> Table:
    """What adding a vector costs."""
    table = Table(title="Adding a vector")
    table.add_column("kept as")
    for heading in ("alone, without sync, p50 ms", "in a batch, ms each"):
        table.add_column(heading, justify="right")
    for one in report.inserts:
        table.add_row(one.name, f"{one.single:.2f}", f"{one.batched:.3f}")
    return table


def remarks(report: Report) -> list[str]:
    """What the tables have no room for."""
    return [
        f"HNSW index: {report.index_mb:,.0f} MB over a table of {report.table_mb:,.0f} MB, made in "
        f"{report.build_s:.0f} s; Incumbent's table of bytes with its index: "
        f"{report.own_mb:,.0f} MB",
        *(
            f"until a process has an organization of {size:,} in memory: {ms:.0f} ms, once"
            for size, ms in report.catching_up.items()
        ),
    ]
