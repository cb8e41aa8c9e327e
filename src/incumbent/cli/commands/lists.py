"""Commands that list what an organization has: list users, sessions, subjects, keys and so on.

Those that list facts, branches and turns are in `fact_lists`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import typer

import incumbent
from incumbent.cli.commands import fact_lists
from incumbent.cli.options import Asker, Common, Organization
from incumbent.cli.paging import WHICH, Paging, Span, print_page
from incumbent.cli.root import command
from incumbent.cli.tables import clock
from incumbent.context.quotes import inline
from incumbent.words import cut, shown

_ABOUT = """List what an organization has, by pages.

\b
Examples:
  incumbent list sessions
  incumbent list subjects --prefix order-
  incumbent list facts --text oak --any-state
  incumbent list users --org acme
  incumbent list sessions --org acme --all
  incumbent list receipts --org acme --of alice --since 2026-03-02T00:00:00+00:00

Sessions, turns and receipts are your own; facts, their subjects, keys and branches are those that
you may see. With --all, sessions, receipts, subjects and keys are everybody's, as users and audit
are always: that is for those who answer for an organization, and takes the scope admin behind a
service.
"""
_LONGEST = 60


@dataclass(frozen=True)
class Whose:
    """One's own lines, or everybody's."""

    everybody: Annotated[
        bool, typer.Option("--all", help="Those of everybody.", rich_help_panel=WHICH)
    ] = False
    of: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Those of one user, whoever asks; for subjects and keys, '' is the "
            "organization's own.",
            rich_help_panel=WHICH,
        ),
    ] = None

    @property
    def is_wide(self) -> bool:
        return self.everybody or self.of is not None


Prefix = Annotated[
    str,
    typer.Option(metavar="TEXT", help="Only names that begin with this.", rich_help_panel=WHICH),
]


def users(
    *,
    prefix: Prefix = "",
    paging: Paging,
    organization: Organization = "default",
    common: Common,
) -> None:
    """List the users of an organization, in the order of their ids.

    Whoever owns a fact, brought a decision about, was observed, or has a receipt.
    """
    with common.open() as memory:
        page = memory.list_users(organization, prefix=prefix, **paging.asked)
    columns = ("user", "facts in office", "sessions", "last decision (UTC)")
    print_page(page, common, columns, _user_row)


def sessions(*, span: Span, reach: Whose, paging: Paging, who: Asker, common: Common) -> None:
    """List the sessions in which a turn was observed, the last begun first.

    --since and --until go by the beginning of a session.
    """
    asked = {**span.asked, **paging.asked}
    with common.open() as memory:
        if reach.is_wide:
            page = memory.list_sessions(who.organization, user_id=reach.of, **asked)
        else:
            page = who.at(memory).list_sessions(**asked)
    columns = ("session", "user", "began (UTC)", "last turn (UTC)", "turns")
    print_page(page, common, columns, _session_row)


def subjects(
    *, prefix: Prefix = "", reach: Whose, paging: Paging, who: Asker, common: Common
) -> None:
    """List the subjects of facts in office, by owner and name."""
    asked = {"prefix": prefix, **paging.asked}
    with common.open() as memory:
        if reach.is_wide:
            page = memory.list_subjects(who.organization, owner=reach.of, **asked)
        else:
            page = who.at(memory).list_subjects(**asked)
    columns = ("subject", "of", "facts in office", "keys", "newest (UTC)")
    print_page(page, common, columns, _subject_row)


def keys(*, prefix: Prefix = "", reach: Whose, paging: Paging, who: Asker, common: Common) -> None:
    """List the keys of facts in office, by owner and name.

    Facts that were kept as they were said have none: they are counted as (as said).
    The keys that let programs in are another matter: incumbent keys list.
    """
    asked = {"prefix": prefix, **paging.asked}
    with common.open() as memory:
        if reach.is_wide:
            page = memory.list_keys(who.organization, owner=reach.of, **asked)
        else:
            page = who.at(memory).list_keys(**asked)
    columns = ("key", "of", "facts in office", "subjects", "newest (UTC)")
    print_page(page, common, columns, _key_row)


def receipts(*, span: Span, reach: Whose, paging: Paging, who: Asker, common: Common) -> None:
    """List the receipts of contexts, the last kept first.

    --since and --until go by the moment at which a receipt was kept.
    """
    asked = {**span.asked, **paging.asked}
    with common.open() as memory:
        if reach.is_wide:
            page = memory.list_receipts(who.organization, user_id=reach.of, **asked)
        else:
            page = who.at(memory).list_receipts(**asked)
    columns = ("id", "kept (UTC)", "for", "query", "tokens", "facts")
    print_page(page, common, columns, _receipt_row)


def audit(
    *,
    values: Annotated[
        bool, typer.Option("--values", help="Include keys, values and reasons.")
    ] = False,
    paging: Paging,
    organization: Organization = "default",
    common: Common,
) -> None:
    """List the decisions of an organization, the last first.

    The whole log in its order, and what comes: incumbent audit.
    """
    with common.open() as memory:
        page = memory.list_audit(organization, values=values, **paging.asked)
    columns = ["entry", "recorded (UTC)", "by", "action", "outcome", "rule", "fact"]
    print_page(page, common, [*columns, *(["key and value"] if values else [])], _entry_row)


def _user_row(one: incumbent.ListedUser) -> list[str]:
    return [shown(one.user_id), f"{one.facts:,}", f"{one.sessions:,}", clock(one.last_at, "never")]


def _session_row(one: incumbent.ListedSession) -> list[str]:
    began, last = clock(one.started_at), clock(one.last_at)
    return [shown(one.session_id), shown(one.user_id), began, last, f"{one.turns:,}"]


def _subject_row(one: incumbent.ListedSubject) -> list[str]:
    return _name_row(one.subject, one.owner, one.facts, one.keys, one.last_at)


def _key_row(one: incumbent.ListedKey) -> list[str]:
    return _name_row(one.key, one.owner, one.facts, one.subjects, one.last_at)


def _name_row(name: str, owner: str, facts: int, others: int, last_at: datetime) -> list[str]:
    whose = shown(owner) if owner else "(organization)"
    return [
        shown(name) if name else "(as said)",
        whose,
        f"{facts:,}",
        f"{others:,}",
        clock(last_at),
    ]


def _receipt_row(one: incumbent.ListedReceipt) -> list[str]:
    tokens = f"{one.tokens:,} of {one.budget:,}"
    query = cut(inline(one.query), _LONGEST)
    return [one.id, clock(one.kept_at), shown(one.user_id), query, tokens, f"{one.facts:,}"]


def _entry_row(one: incumbent.AuditEntry) -> list[str]:
    told = [one.action.value, one.outcome.value, one.rule.value, one.fact_id]
    row = [str(one.seq), clock(one.recorded_at), shown(one.by), *told]
    if one.content is None:
        return row
    about = "(erased)" if one.content.erased else _content(one.content.key, one.content.value)
    return [*row, cut(inline(about), _LONGEST)]


def _content(key: str | None, value: Any) -> str:
    return f"{key}: {shown(value)}" if key else shown(value)


def register(app: typer.Typer) -> None:
    """Add this group of commands to the command line."""
    group = typer.Typer(
        name="list",
        help=_ABOUT,
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"max_content_width": 100, "help_option_names": ["-h", "--help"]},
    )
    commands: list[tuple[str, Any, list[str]]] = [
        ("users", users, ["list users --org acme", "list users --org acme --prefix al --json"]),
        (
            "sessions",
            sessions,
            ["list sessions --user alice --org acme", "list sessions --org acme --all --limit 20"],
        ),
        (
            "subjects",
            subjects,
            ["list subjects --prefix order-", "list subjects --org acme --of alice --json"],
        ),
        ("keys", keys, ["list keys --prefix order_", "list keys --org acme --all --json"]),
        (
            "receipts",
            receipts,
            ["list receipts", "list receipts --org acme --all --since 2026-03-02T00:00:00+00:00"],
        ),
        ("audit", audit, ["list audit --org acme --limit 20", "list audit --values --json"]),
        *fact_lists.COMMANDS,
    ]
    for name, function, examples in commands:
        command(group, name, function, examples)
    app.add_typer(group, name="list")
