"""A few organizations with a few people each, who have left something in every table."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any

import psycopg

import incumbent
from incumbent.model.records import Usage

ORGANIZATIONS = ("acme", "globex", "initech")
PEOPLE = ("ann", "ben", "cleo")
SCHEMA = "incumbent"


def secret_of(organization: str, person: str = "all") -> str:
    """What stands in everything that is for one person of an organization, or for all of it."""
    return f"{organization}{person}only"


@dataclass
class Owned:
    """What one person of one organization has: names that others may try."""

    facts: list[str] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    receipts: list[str] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)


def populate(memory: incumbent.Memory) -> dict[tuple[str, str], Owned]:
    """Let everybody do a bit of everything."""
    return {
        (organization, person): _live(memory, organization, person)
        for organization in ORGANIZATIONS
        for person in PEOPLE
    }


def _live(memory: incumbent.Memory, organization: str, person: str) -> Owned:
    owned, mine, ours = Owned(), secret_of(organization, person), secret_of(organization)
    session = session_of(memory, organization, person)
    session.write("mood", f"calm {mine}")
    base = session.write("mood", f"happy {mine}")
    derived = session.write("plan", f"dance {mine}", depends_on=["mood"])
    named = session.write("hobby", f"chess {mine}", supersedes=derived.fact_id)
    rule = session.write("rule", f"tidy {ours}", memory_type="organizational")
    gone = session.write("gone", f"forgotten {mine}")
    memory.forget(organization=organization, fact_id=gone.fact_id)
    session.note("desk", f"note {mine}")
    session.observe(f"My badge number is {mine}.", ref=f"turn {mine}")
    context = session.context("what is the mood, the plan and the rule?", record=True)
    assert context.receipt is not None
    owned.facts = [verdict.fact_id for verdict in (base, derived, named)]
    owned.verdicts = [verdict.id for verdict in (base, derived, named)]
    owned.receipts = [context.receipt.id]
    owned.turns = [f"turn {mine}"]
    assert rule.took_office
    with memory.store.write(organization) as transaction:
        transaction.count_usage(Usage(date(2026, 5, 1), f"model {ours}", 1, 0, 1, 10, 1, 0))
    return owned


def session_of(memory: incumbent.Memory, organization: str, person: str) -> incumbent.Session:
    return memory.session(
        user_id=person,
        authority="manager",
        organization=organization,
        session_id=f"s {organization} {person}",
    )


def tables(administrator: psycopg.Connection[Any]) -> dict[str, list[str]]:
    """Every table of organizations, with its partitions."""
    found = administrator.execute(
        "SELECT parent.relname, part.relname FROM pg_inherits AS i "
        "JOIN pg_class AS parent ON parent.oid = i.inhparent "
        "JOIN pg_class AS part ON part.oid = i.inhrelid "
        "WHERE parent.relnamespace = %s::regnamespace AND parent.relkind = 'p' ORDER BY 1, 2",
        (SCHEMA,),
    ).fetchall()
    parts: dict[str, list[str]] = {}
    for parent, part in found:
        parts.setdefault(parent, []).append(part)
    return parts


def columns(administrator: psycopg.Connection[Any], table: str) -> list[str]:
    found = administrator.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 "
        "AND NOT attisdropped ORDER BY attnum",
        (f"{SCHEMA}.{table}",),
    ).fetchall()
    return [name for (name,) in found]


def everything(administrator: psycopg.Connection[Any]) -> dict[str, list[str]]:
    """Every row there is, to compare."""
    return {
        table: sorted(
            str(row) for row in administrator.execute(f"SELECT * FROM {SCHEMA}.{table}".encode())
        )
        for table in [*tables(administrator), "declarations"]
    }
