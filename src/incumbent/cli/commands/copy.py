"""The command that carries organizations from one store to another: copy."""

from __future__ import annotations

import os
from contextlib import ExitStack, closing
from dataclasses import asdict

import typer

import incumbent
from incumbent.cli.declaring import argument, command, flag, option
from incumbent.cli.options import DEFAULT_EMBEDDER, Common
from incumbent.cli.progress import ProgressLine
from incumbent.cli.root import complain, remark
from incumbent.cli.servers import administration, is_address
from incumbent.cli.tables import print_json, show, table
from incumbent.model.errors import InvalidInput
from incumbent.stores.copying import Copied, Fate, copy_declarations, copy_organization

_PLACE = "A SQLite file, or postgresql://user@host/database"


@command(
    "copy agent.db postgresql://admin@db.example.com/agents",
    "copy postgresql://admin@db.example.com/agents backup.db --org acme",
    "copy agent.db other.db --reindex",
)
def copy(
    source: str = argument("FROM", f"{_PLACE}."),
    target: str = argument("TO", f"{_PLACE}; made if it is missing."),
    *,
    organization: list[str] | None = option(
        "NAME", "Only this one; repeatable.", "--organization", "--org", shown="all of them"
    ),
    reindex: bool = flag("Make the index of what was copied now, not on first use."),
    embedder: str = option(
        "NAME",
        "What --reindex makes vectors with: minilm, static or none.",
        default=DEFAULT_EMBEDDER,
        env="INCUMBENT_EMBEDDER",
    ),
    json: bool = flag("Print one JSON document."),
) -> None:
    """Carry organizations from one store to another, and read them back.

    Facts, history, log and proofs of erasure arrive as they are, each organization whole or not at
    all, and are compared by a digest. Run it again after an interruption: what is there already and
    the same is passed over. What is there and differs is left alone, told, and makes the exit code
    1. Not copied: notes of sessions, observed turns, receipts, usage, keys, the index.
    """
    _check_places(source, target)
    ours = Common(db=source, embedder=embedder)
    theirs = Common(db=target, embedder=embedder)
    with ExitStack() as stack:
        origin = stack.enter_context(ours.open())
        wanted = _chosen(origin.store.organizations(), organization)
        memory = stack.enter_context(theirs.open(create=True))
        declared = copy_declarations(origin.store, memory.store)
        results = [_carry(origin, memory, name) for name in wanted]
        there = [each.organization for each in results if each.fate is not Fate.DIFFERS]
        if is_address(target) and there:
            _count_anew(target)
        for name in there if reindex else ():
            memory.reindex(name)
    if json:
        documents = [asdict(result) for result in results]
        print_json({"declarations": declared, "organizations": documents})
    else:
        _print(results, reindex=reindex)
    if any(result.fate is Fate.DIFFERS for result in results):
        raise typer.Exit(1)


def _check_places(source: str, target: str) -> None:
    if ":memory:" in (source, target):
        raise InvalidInput(":memory: goes away with this command; name a file or an address")
    if source == target or (_is_file(source) and _is_file(target) and _same(source, target)):
        raise InvalidInput("FROM and TO are the same store; name another one to copy to")


def _is_file(where: str) -> bool:
    return not is_address(where)


def _same(source: str, target: str) -> bool:
    return os.path.realpath(source) == os.path.realpath(target)


def _chosen(there: list[str], asked: list[str] | None) -> list[str]:
    missing = [name for name in asked or [] if name not in there]
    if missing:
        names = ", ".join(map(repr, there)) or "none"
        raise InvalidInput(f"FROM has no organization {missing[0]!r}; it has: {names}")
    return list(dict.fromkeys(asked)) if asked else there


def _count_anew(url: str) -> None:
    administration()
    from incumbent.stores.postgres.upkeep import analyze

    analyze(url)


def _carry(origin: incumbent.Memory, memory: incumbent.Memory, organization: str) -> Copied:
    with closing(ProgressLine()) as telling:
        result = copy_organization(origin.store, memory.store, organization, telling)
    if result.fate is Fate.DIFFERS:
        complain(
            f"organization {organization!r} is in TO already, with other facts; it was left alone. "
            f"Copy it into another store, or into this one under another name with: incumbent "
            f"export "
            f"and incumbent import --org",
        )
    return result


def _print(results: list[Copied], *, reindex: bool) -> None:
    rows = [[repr(r.organization), str(r.fate), f"{r.records:,}", r.digest[:16]] for r in results]
    if rows:
        show(table(["organization", "", "records", "digest"], rows))
    copied = [result for result in results if result.fate is Fate.COPIED]
    show(f"copied  {len(copied)} of {len(results)} organizations, verified")
    if copied and not reindex:
        remark("the first context of each makes its index; to do that ahead: incumbent reindex")
