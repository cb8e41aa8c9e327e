"""The command that examines a file: doctor."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Any

import typer

import incumbent
from incumbent.cli.declaring import argument, command
from incumbent.cli.options import Common
from incumbent.cli.servers import administration, is_address
from incumbent.cli.tables import account_lines, print_json, show, table
from incumbent.context.tokens import counter
from incumbent.model.errors import IncumbentError, InvalidInput, StoreDamaged

_MOST = 20
_PORTION = 500
_ERASED = incumbent.Status.ERASED


@dataclass
class _Office:
    """The data of one fact that the checks need."""

    superseded_by: str | None
    predecessors: tuple[str, ...]
    status: str


@dataclass
class _Census:
    """One organization counted, and what is wrong with its chains."""

    organization: str
    facts: int = 0
    in_office: int = 0
    need_review: int = 0
    verdicts: int = 0
    erased: int = 0
    indexed: int = 0
    index: str = "missing"
    """current, outdated or missing."""
    recipe: str | None = None
    """The recipe of its index, as far as it is known."""
    findings: list[str] = field(default_factory=list)


@command("doctor", "doctor agent.db --json", "doctor postgresql://incumbent@db.example.com/agents")
def doctor(
    store: str | None = argument(
        "[STORE]", "The file or the database, as with --db.", default=None, show_default=False
    ),
    *,
    common: Common,
) -> None:
    """Examine a store: schema, integrity, chains, index, tokenizer, reader.

    Exit code 1 with findings. An index that is not current is none: the next context makes it
    anew. Reads the whole store. Changes nothing, except that a store of an older version is brought
    up to date, as every command does. `incumbent db check` looks at the server and at who may do
    what.
    """
    if store is not None:
        common = replace(common, db=store)
    if common.path == ":memory:":
        raise InvalidInput("doctor examines a file, and :memory: is none; name one with --db PATH")
    if common.path.startswith(("http://", "https://")):
        raise InvalidInput(
            "doctor examines a store, and a service has one; run it where the service runs, with "
            "the same --db"
        )
    findings: list[str] = []
    with common.open() as memory:
        file = _about_server(common.path) if is_address(common.path) else _about_file(common.path)
        censuses = _examined(memory, findings)
        for census in censuses:
            findings += [f"organization {census.organization!r}: {f}" for f in census.findings]
        tokenizer = _tokenizer(memory, findings)
        reader = _reader(memory, findings)
        recipe = memory.index.recipe
    if common.json:
        organizations = [
            {name: value for name, value in vars(census).items() if name != "findings"}
            for census in censuses
        ]
        document = {"healthy": not findings, "findings": findings, "file": file}
        about = {"tokenizer": tokenizer, "reader": reader, "recipe": recipe}
        print_json({**document, **about, "organizations": organizations})
    else:
        _print_report(file, tokenizer, reader, recipe, censuses, findings)
    if findings:
        raise typer.Exit(1)


def _examined(memory: incumbent.Memory, findings: list[str]) -> list[_Census]:
    """The censuses of a store. If part of it is damaged, the rest is still reported."""
    censuses = []
    try:
        findings += [f"integrity: {finding}" for finding in memory.store.check()]
    except StoreDamaged as error:
        findings.append(f"integrity: {error}")
    for name in memory.store.organizations():
        try:
            censuses.append(_census(memory, name))
        except StoreDamaged as error:
            findings.append(f"organization {name!r}: {error}")
    return censuses


def _about_file(path: str) -> dict[str, Any]:
    """The version and journal mode of the file. The port does not offer them, so SQLite is
    asked."""
    connection = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        journal = connection.execute("PRAGMA journal_mode").fetchone()[0]
    finally:
        connection.close()
    return {
        "path": path,
        "bytes": os.path.getsize(path),
        "schema_version": version,
        "journal_mode": journal,
        "sqlite_version": sqlite3.sqlite_version,
        "incumbent_version": incumbent.__version__,
    }


def _about_server(url: str) -> dict[str, Any]:
    """The same for a database."""
    tools = administration()
    about = tools.check(url, quick=True)
    return {
        "path": about.address,
        "bytes": tools.size_of(url),
        "schema_version": about.schema_version,
        "partitions": about.partitions,
        "postgres_version": about.server,
        "incumbent_version": incumbent.__version__,
    }


def _tokenizer(memory: incumbent.Memory, findings: list[str]) -> dict[str, Any]:
    name = memory.settings.tokenizer
    try:
        counter(name)("a word or two")
    except (IncumbentError, ImportError) as error:
        findings.append(f"tokenizer: {error}")
        return {"name": name, "available": False}
    return {"name": name, "available": True}


def _reader(memory: incumbent.Memory, findings: list[str]) -> dict[str, Any]:
    try:
        return {"name": memory.reader.name, "available": True}
    except IncumbentError as error:
        findings.append(f"reader: {error}")
        return {"name": None, "available": False}


def _census(memory: incumbent.Memory, organization: str) -> _Census:
    """Count an organization and check its chains, in one pass that keeps only the links."""
    census = _Census(organization)
    offices: dict[str, _Office] = {}
    incumbents: Counter[tuple[str, ...]] = Counter()
    for record in memory.store.dump(organization):
        if record["kind"] == "verdict":
            census.verdicts += 1
        elif record["kind"] == "fact":
            _count(census, record)
            offices[record["id"]] = _Office(
                record["superseded_by"], tuple(record["predecessors"]), record["status"]
            )
            if record["status"] == incumbent.Status.OFFICE and not record["multi_valued"]:
                incumbents[_address(record)] += 1
    for address, count in incumbents.items():
        if count > 1:
            census.findings.append(f"{count} facts hold office at {' / '.join(address)}")
    census.findings += _broken_links(offices)[:_MOST]
    _examine_index(memory, census, [i for i, o in offices.items() if o.status != _ERASED])
    return census


def _examine_index(memory: incumbent.Memory, census: _Census, fact_ids: list[str]) -> None:
    """Find the recipe of the index, and count the facts that have an entry in it."""
    with memory.store.read(census.organization) as reader:
        recipe = reader.recipe()
        census.recipe = recipe or None  # an empty one says that it is to be made anew
        if recipe is not None:
            census.index = "current" if memory.index.is_current(reader) else "outdated"
        for start in range(0, len(fact_ids), _PORTION):
            census.indexed += len(reader.entries_of(fact_ids[start : start + _PORTION]))
    if census.index == "current" and census.indexed != census.facts:
        census.findings.append(
            f"{census.indexed:,} of {census.facts:,} facts are indexed; make the index anew "
            f"with: incumbent reindex --org {quote(census.organization)}"
        )


def _count(census: _Census, record: dict[str, Any]) -> None:
    if record["status"] == incumbent.Status.ERASED:
        census.erased += 1
        return
    census.facts += 1
    if record["status"] == incumbent.Status.OFFICE:
        census.in_office += 1
        census.need_review += bool(record["review"] and record["review"]["causes"])


def _address(record: dict[str, Any]) -> tuple[str, ...]:
    parts = ("owner", "subject", "key", "scope", "scope_id")
    return tuple(str(record[part] or "-") for part in parts)


def _broken_links(offices: dict[str, _Office]) -> list[str]:
    """The places where `superseded_by` and `predecessors` disagree, or a chain runs in a circle."""
    found = []
    for fact_id, office in offices.items():
        if (office.status == incumbent.Status.SUPERSEDED) and office.superseded_by is None:
            found.append(f"{fact_id} is superseded and names no successor")
        if office.superseded_by is not None:
            successor = offices.get(office.superseded_by)
            if successor is None:
                found.append(f"{fact_id} is superseded by {office.superseded_by}, which is missing")
            elif fact_id not in successor.predecessors:
                found.append(f"{office.superseded_by} does not list {fact_id}, which it superseded")
        for predecessor in office.predecessors:
            before = offices.get(predecessor)
            if before is None or before.superseded_by != fact_id:
                found.append(f"{fact_id} lists {predecessor}, which it did not supersede")
    return found + _circles(offices)


def _circles(offices: dict[str, _Office]) -> list[str]:
    ends: set[str] = set()
    found = []
    for start in offices:
        walked: dict[str, None] = {}
        step: str | None = start
        while step is not None and step not in ends and step not in walked:
            walked[step] = None
            office = offices.get(step)
            step = office.superseded_by if office else None
        if step is not None and step in walked:
            found.append(f"the chain of {step} runs in a circle")
        ends.update(walked)
    return found


def _file_lines(file: dict[str, Any]) -> list[tuple[str, str]]:
    size, version = f"{file['bytes']:,} bytes", f"version {file['schema_version']}"
    ours = f"incumbent {file['incumbent_version']}"
    if "postgres_version" in file:
        return [
            ("database", f"{file['path']}, {size}"),
            ("schema", f"{version}, {file['partitions']} partitions"),
            ("versions", f"{ours}, PostgreSQL {file['postgres_version']}"),
        ]
    return [
        ("file", f"{file['path']}, {size}"),
        ("schema", f"{version}, journal mode {file['journal_mode']}"),
        ("versions", f"{ours}, sqlite {file['sqlite_version']}"),
    ]


def _print_report(
    file: dict[str, Any],
    tokenizer: dict[str, Any],
    reader: dict[str, Any],
    recipe: str,
    censuses: list[_Census],
    findings: list[str],
) -> None:
    available = "available" if tokenizer["available"] else "missing"
    show(
        account_lines(
            [
                *_file_lines(file),
                ("tokenizer", f"{tokenizer['name']}, {available}"),
                ("reader", reader["name"] or "missing"),
                ("index", recipe),
            ],
            indent=0,
        )
    )
    columns = ("facts", "in_office", "need_review", "erased", "verdicts", "indexed")
    rows = [
        [
            repr(census.organization),
            *(f"{getattr(census, name):,}" for name in columns),
            census.index,
        ]
        for census in censuses
    ]
    if rows:
        names = (name.replace("_", " ") for name in columns)
        show("", table(["organization", *names, "index"], rows))
    for census in censuses:
        if census.index != "current":
            made = f" (made as {census.recipe})" if census.recipe else ""
            show(
                f"\nThe index of {census.organization!r} is {census.index}{made}: the next "
                f"context makes it anew, or: incumbent reindex --org {quote(census.organization)}"
            )
    show("")
    for finding in findings:
        show(f"finding: {finding}")
    show("healthy" if not findings else f"{len(findings)} finding(s)")
