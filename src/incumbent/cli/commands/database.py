"""Commands for whoever runs a PostgreSQL database: db init, migrate, check, stats, vacuum."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from incumbent.cli.declaring import CommandGroup, command, flag, option
from incumbent.cli.progress import ProgressLine
from incumbent.cli.root import remark, warn
from incumbent.cli.servers import URL, administration, checked
from incumbent.cli.tables import account_lines, print_json, show, table
from incumbent.model.errors import InvalidInput

if TYPE_CHECKING:
    from incumbent.stores.postgres.administration import Examination
    from incumbent.stores.postgres.upkeep import Stats

_PASSWORD = "INCUMBENT_LOGIN_PASSWORD"
_MOST_INDEXES = 5
_ADDRESS = "postgresql://admin@db.example.com/agents"
_UNITS = ("kB", "MB", "GB", "TB")
GROUP = CommandGroup(
    "db",
    """Run a PostgreSQL database: make it, bring it up to date, examine it.

\b
Examples:
  incumbent db init postgresql://admin@db.example.com/agents --login incumbent
  incumbent db migrate postgresql://admin@db.example.com/agents --dry-run
  incumbent db check --quick

URL is the address of the database; left out, the one in INCUMBENT_DB. Passwords are best kept out
of it: PGPASSWORD and ~/.pgpass work as they do for psql. So do sslmode, connect_timeout and the
other parameters of libpq, after a question mark.
""",
)
_JSON = flag("Print one JSON document.")


@command(f"db init {_ADDRESS}", f"db init {_ADDRESS} --login incumbent --partitions 32")
def init(
    url: str | None = URL,
    *,
    partitions: int | None = option("N", "How many parts each table has; chosen once.", shown="16"),
    login: str | None = option(
        "NAME",
        "Make this role too, for the application to connect with. It can become incumbent_app "
        "and nothing else.",
    ),
    no_password: bool = flag("The new role has none: it is let in by certificate or peer."),
    json: bool = _JSON,
) -> None:
    """Make the schema and the roles.

    Run it as an administrator of the database. What is there already is left as it is, so that it
    can be run again. The password of a new role is asked for, or taken from the variable
    INCUMBENT_LOGIN_PASSWORD; it reaches the server hashed.
    """
    if no_password and login is None:
        raise InvalidInput("--no-password is about the role of --login NAME, which is not given")
    made = administration().init(
        checked(url),
        partitions=partitions,
        login=login,
        password=None if no_password else lambda: _password(login or ""),
    )
    if json:
        print_json(asdict(made))
        return
    show(f"ready  {made.address}, schema version {made.after}, {made.partitions} partitions")
    show(account_lines([("done", line) for line in made.done or ["nothing, all was there"]]))


def _password(login: str) -> str:
    given = os.environ.get(_PASSWORD)
    if given is None and sys.stdin.isatty():
        prompt = f"Password for the new role {login}"
        given = typer.prompt(prompt, hide_input=True, confirmation_prompt=True, err=True)
    if not given:
        raise InvalidInput(
            f"the new role {login!r} needs a password: set {_PASSWORD}, or say --no-password"
        )
    return str(given)


@command(f"db migrate {_ADDRESS} --dry-run", f"db migrate {_ADDRESS}")
def migrate(
    url: str | None = URL,
    *,
    dry_run: bool = flag("Show what would run, and change nothing."),
    json: bool = _JSON,
) -> None:
    """Bring the schema up to date.

    Processes of the old version and of the new one work on while it runs, and it can be run before
    the new one is rolled out or after. Each migration is one transaction: it is there whole or not
    at all.
    """
    done = administration().migrate(checked(url), dry_run=dry_run)
    if json:
        print_json({**asdict(done), "dry_run": dry_run})
        return
    if not done.steps:
        show(f"up to date  {done.address}, schema version {done.after}")
        return
    target = max(version for version, _ in administration().migrations())
    word, to = ("would migrate", target) if dry_run else ("migrated", done.after)
    show(f"{word}  {done.address}, schema version {done.before} to {to}")
    show(account_lines([("migration", name) for name in done.steps]))


@command(f"db check {_ADDRESS}", "db check --quick")
def check(
    url: str | None = URL,
    *,
    quick: bool = flag("Only whether the application could work now; for health checks."),
    json: bool = _JSON,
) -> None:
    """Examine a database: server, schema, row-level security, contents.

    Exit code 1 with findings, each of which names what mends it, and 3 where nothing answers.
    Without --quick it reads every organization.
    """
    about = administration().check(checked(url), quick=quick)
    if json:
        print_json({"healthy": not about.findings, **asdict(about)})
    else:
        _print_examination(about)
    if about.findings:
        raise typer.Exit(1)


def _print_examination(about: Examination) -> None:
    kind = "replica" if about.replica else "primary"
    known = f"version {about.schema_version} of {about.known_version}"
    lines = [
        ("database", about.address),
        ("server", f"PostgreSQL {about.server}, {kind}"),
        ("role", about.role),
        ("schema", f"{known}, {about.partitions} partitions" if about.schema_version else "none"),
    ]
    show(account_lines(lines, indent=0), "")
    for finding in about.findings:
        show(f"finding: {finding}")
    show("healthy" if not about.findings else f"{len(about.findings)} finding(s)")


@command(f"db stats {_ADDRESS}", "db stats --org acme --json")
def stats(
    url: str | None = URL,
    *,
    organization: str | None = option(
        "NAME", "Count the facts of this one only.", "--organization", "--org"
    ),
    json: bool = _JSON,
) -> None:
    """Show what a database holds, by organization and by table, and who is connected.

    Reads the rows of every organization, or of the one named. Dead rows are those that vacuuming
    frees; rows and dead rows are the server's own estimates.
    """
    administration()
    from incumbent.stores.postgres.upkeep import stats as count

    with closing(ProgressLine()) as telling:
        counted = count(checked(url), organization=organization, told=telling)
    if json:
        print_json(asdict(counted))
    else:
        _print_stats(counted)


def _print_stats(counted: Stats) -> None:
    here = counted.connections
    lines = [
        ("database", f"{counted.address}, {_size(counted.database_bytes)}"),
        ("server", f"PostgreSQL {counted.server}, {'replica' if counted.replica else 'primary'}"),
        (
            "connections",
            f"{here.here} here ({here.active} active, {here.idle_in_transaction} idle in a "
            f"transaction), {here.server} of {here.most} on the server",
        ),
    ]
    if counted.behind_bytes is not None:
        lines.append(("behind", f"{counted.behind_bytes:,} bytes received and not replayed"))
    for replica in counted.replicas:
        behind = "" if replica.behind_bytes is None else f", {replica.behind_bytes:,} bytes behind"
        behind += "" if replica.behind_seconds is None else f", {replica.behind_seconds:.3f} s"
        lines.append(("replica", f"{replica.name}: {replica.state}, {replica.sync}{behind}"))
    show(account_lines(lines, indent=0))
    if counted.organizations:
        rows = [
            [
                repr(each.organization),
                *(f"{count:,}" for count in (each.facts, each.live, each.log_entries)),
                _size(each.bytes),
            ]
            for each in counted.organizations
        ]
        show("", table(["organization", "facts", "live", "log entries", "size"], rows))
    rows = [
        [t.table, f"{t.rows:,}", f"{t.dead_rows:,}", _size(t.bytes), _size(t.index_bytes)]
        for t in counted.tables
    ]
    show("", table(["table", "rows", "dead rows", "size", "indexes"], rows))
    largest = [
        [i.index, i.table, _size(i.bytes), f"{i.scans:,}"] for i in counted.indexes[:_MOST_INDEXES]
    ]
    show("", table(["largest indexes", "of", "size", "scans"], largest))


def _size(count: int) -> str:
    """A number of bytes as people read it."""
    if count < 1000:
        return f"{count} bytes"
    power = min((len(str(count)) - 1) // 3, len(_UNITS))
    return f"{count / 1000**power:,.1f} {_UNITS[power - 1]}"


@command(f"db vacuum {_ADDRESS}", f"db vacuum {_ADDRESS} --full")
def vacuum(
    url: str | None = URL,
    *,
    full: bool = flag(
        "Write every table anew, so that nothing of a deleted row stays in its files. Locks "
        "each table while it does."
    ),
    yes: bool = flag("Do not ask.", "--yes", "-y"),
    json: bool = _JSON,
) -> None:
    """Free the room of rows that are gone, and count anew for the planner.

    A server does this by itself in time. With --full it is what an erasure needs to be complete:
    what was forgotten leaves the files of the tables. The server's log and backups keep it until
    they are gone themselves.
    """
    administration()
    from incumbent.stores.postgres.upkeep import vacuum as tidy

    address = checked(url)
    if full and not yes:
        question = "Every table is locked while it is written anew, readers included. Go on?"
        if not typer.confirm(question, err=True):
            remark("nothing was done")
            raise typer.Exit(1)
    with closing(ProgressLine()) as telling:
        done = tidy(address, full=full, told=telling)
    if json:
        print_json(asdict(done))
    else:
        before, after = _size(done.bytes_before), _size(done.bytes_after)
        how = "written anew" if full else "vacuumed"
        show(f"{how}  {done.tables} tables of {done.address}, {before} before, {after} now")
    for told in done.skipped:
        warn(told)
    if done.open_transactions:
        warn(
            f"{done.open_transactions} other transaction(s) were open; what was deleted since they "
            f"began is still there. Run this again when they are done"
        )
