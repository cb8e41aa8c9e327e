"""Databases as earlier versions of Incumbent made them, and the code of those versions.

An earlier version is this one without its latest migrations: its statements are its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg

from incumbent.stores.postgres import schema
from tests.patience import PATIENCE
from tests.postgres import journal

ROOT = Path(__file__).parents[2]
MIGRATIONS = Path("incumbent", "stores", "postgres", "migrations")


def make(url: str, version: int, *, partitions: int = 2) -> str:
    """Make the schema of an earlier version in a database; gives back its address."""
    with psycopg.connect(url, autocommit=True) as connection:
        schema.prepare(connection, "the test", partitions=partitions, up_to=version)
    return url


def sources(folder: Path, *, up_to: int | None = None, more: dict[str, str] | None = None) -> Path:
    """The sources of an Incumbent that knows the migrations up to some version, or more than we
    do."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(
        ROOT / "src" / "incumbent", folder / "incumbent", ignore=ignored, copy_function=os.symlink
    )
    for file in (folder / MIGRATIONS).iterdir():
        if up_to is not None and int(file.name[:4]) > up_to:
            file.unlink()
    for name, script in (more or {}).items():
        (folder / MIGRATIONS / name).write_text(script)
    return folder


def process(source: Path, program: str, *arguments: str) -> subprocess.Popen[str]:
    """A program that runs on some sources."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{ROOT}", "PYTHONUTF8": "1"},
        cwd=source,  # not where our own sources could be found first
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def told(running: subprocess.Popen[str], code: int = 0) -> str:
    """What a program printed, once it is done."""
    out, complaints = running.communicate(timeout=PATIENCE)
    assert running.returncode == code, complaints or out
    return out


def command(source: Path, *arguments: str) -> subprocess.Popen[str]:
    """The command line of some sources."""
    return process(source, "from incumbent.cli import main; main()", *arguments)


_CLIENT = """
import json, sys, time
from pathlib import Path
from incumbent.stores.postgres import schema
from tests.postgres.journal import DURABLE, Journal
import incumbent

url, organization, seed, folder = sys.argv[1:]
stop, ready = Path(folder, "stop"), Path(folder, f"ready {organization}")
slowest = 0.0
with incumbent.open(url, settings=DURABLE) as memory:
    journal = Journal(memory, organization, int(seed))
    while not stop.exists():
        began = time.monotonic()
        journal.go_on()
        journal.session.current("status")
        journal.session.context("what is the status?")
        slowest = max(slowest, time.monotonic() - began)
        ready.touch()
    journal.go_on()
print(json.dumps({
    "knows": schema.latest(),
    "slowest": slowest,
    "entries": [entry._asdict() for entry in journal.entries],
}))
"""


class Clients:
    """Processes that write and read, each with an organization of its own, until stopped."""

    def __init__(self, url: str, folder: Path, codes: dict[str, Path]) -> None:
        self.folder = folder
        self._running = {
            name: process(source, _CLIENT, url, name, str(seed), str(folder))
            for seed, (name, source) in enumerate(codes.items())
        }

    def until_at_work(self) -> None:
        """Wait until each of them has gone once around, from now on."""
        for name in self._running:
            (self.folder / f"ready {name}").unlink(missing_ok=True)
        deadline = time.monotonic() + PATIENCE
        while not all((self.folder / f"ready {name}").exists() for name in self._running):
            gone = [told(each) for each in self._running.values() if each.poll() is not None]
            assert not gone, gone
            assert time.monotonic() < deadline, "a client does nothing"
            time.sleep(0.02)

    def finish(self) -> dict[str, Any]:
        """Let them stop; what each was told, by its organization."""
        (self.folder / "stop").touch()
        reports = {name: json.loads(told(each)) for name, each in self._running.items()}
        for report in reports.values():
            report["entries"] = [
                journal.Entry(
                    entry["kind"],
                    tuple(entry["values"]),
                    entry["target"],
                    None if entry["verdicts"] is None else tuple(entry["verdicts"]),
                    entry["is_unsure"],
                )
                for entry in report["entries"]
            ]
        return reports

    def __enter__(self) -> Clients:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._running.values():
            each.kill()
            each.communicate()


def structure(url: str) -> dict[str, Any]:
    """All that a migration can leave otherwise than another: tables, indexes, functions, rights."""
    asked = {
        "columns": "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), "
        "a.attnotnull, a.attcollation::regcollation::text, a.attstattarget, "
        "pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute AS a "
        "JOIN pg_class AS c ON c.oid = a.attrelid LEFT JOIN pg_attrdef AS d "
        "ON d.adrelid = a.attrelid AND d.adnum = a.attnum WHERE c.relnamespace = %(schema)s"
        "::regnamespace AND a.attnum > 0 AND NOT a.attisdropped",
        "relations": "SELECT relname, relkind::text, relrowsecurity, relispartition, "
        "(SELECT array_agg(x::text ORDER BY x::text) FROM unnest(relacl) AS x) "
        "FROM pg_class WHERE relnamespace = %(schema)s::regnamespace",
        "indexes": "SELECT indexdef FROM pg_indexes WHERE schemaname = %(schema)s",
        "constraints": "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) "
        "FROM pg_constraint WHERE connamespace = %(schema)s::regnamespace",
        "policies": "SELECT tablename, policyname, cmd, qual, with_check FROM pg_policies "
        "WHERE schemaname = %(schema)s",
        "functions": "SELECT oid::regprocedure::text, prosrc, prosecdef, proconfig, "
        "(SELECT array_agg(x::text ORDER BY x::text) FROM unnest(proacl) AS x) FROM pg_proc "
        "WHERE pronamespace = %(schema)s::regnamespace",
        "versions": f"SELECT * FROM {schema.SCHEMA}.schema_versions",
    }
    with psycopg.connect(url, autocommit=True) as connection:
        return {
            name: sorted(
                str(row) for row in connection.execute(query.encode(), {"schema": schema.SCHEMA})
            )
            for name, query in asked.items()
        }
