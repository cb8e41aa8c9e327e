"""Exports of other memories on the command line: read twice, first to find what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from enum import StrEnum
from functools import partial
from typing import Any

import incumbent
from incumbent.cli.declaring import flag, option, options
from incumbent.cli.options import Common
from incumbent.cli.progress import ProgressLine
from incumbent.cli.root import FirstWarnings
from incumbent.cli.tables import account_lines, print_json, show
from incumbent.cli.transcripts import STDIN, TranscriptFile, opened
from incumbent.cli.trials import opened_or_tried
from incumbent.model.errors import InvalidInput, NotPermitted

_FOREIGN = "Exports of other memories"


class Origin(StrEnum):
    """The memories whose exports are read."""

    MEM0 = "mem0"
    ZEP = "zep"
    LANGGRAPH = "langgraph"


@options(_FOREIGN)
class Foreign:
    """What to do with an export of another memory."""

    origin: Origin | None = option(
        None, "FILE is an export of this memory, and not one of Incumbent.", "--from", shown=False
    )
    user: str | None = option("ID", "Whose it is, where the export does not say.")
    rename_user: list[str] | None = option(
        "OLD=NEW", "A user of the export has another id here; repeatable."
    )
    user_part: int | None = option(
        "N", "Which part of a LangGraph namespace names the user, from 1."
    )
    authority: str | None = option(
        "TITLE", "The rung or title that it is written with.", shown="employee"
    )
    skip_bad: bool = flag("Pass over what cannot be read, and go on.")
    dry_run: bool = flag("Show what would come of it, and keep nothing.")

    @property
    def is_asked(self) -> bool:
        """Whether an option was given that only exports of others have."""
        return self != Foreign()

    def renamed(self) -> dict[str, str]:
        """The new ids of users, by their old ones."""
        pairs = [one.partition("=") for one in self.rename_user or ()]
        for old, mark, new in pairs:
            if not (old and mark and new):
                raise InvalidInput(f"--rename-user {old!r} is not of the form OLD=NEW")
        return {old: new for old, _, new in pairs}


Record = tuple[str, Any, str | None]
"""A place, a record, and what is wrong with it."""


class _Source:
    """A file that can be read more than once."""

    def __init__(self, file: str, stream: Any, origin: Origin) -> None:
        from incumbent.compat.exports import databases

        beginning = stream.peek(len(databases.MAGIC)) if hasattr(stream, "peek") else b""
        self._is_database = beginning.startswith(databases.MAGIC)
        self._path = file
        if self._is_database and (origin is not Origin.LANGGRAPH or file == STDIN):
            raise InvalidInput(
                f"{file} is a SQLite file, which is read with --from langgraph and by its name; "
                f"an export is JSON or JSON Lines"
            )
        self._file = None if self._is_database else TranscriptFile(file, stream, "item")

    def records(self) -> Iterator[Record]:
        from incumbent.compat.exports import databases

        if self._file is None:
            yield from databases.records(self._path)
            return
        for found in self._file.records():
            yield found.place, found.record, found.trouble


class _ExportReader:
    """Reads an export, and tells of what cannot be taken."""

    def __init__(self, source: _Source, options: Foreign, file: str) -> None:
        self._source = source
        self._options = options
        self._file = file
        self._warnings = FirstWarnings()
        self.passed_over = 0
        self.is_checked = False
        """Whether everything was looked at once, and what is wrong was told."""

    def things(self) -> Iterator[Any]:
        """Everything in the export that can be read."""
        from incumbent.compat.exports.things import Surroundings

        read = _reader(self._options)
        around = Surroundings()
        for place, record, trouble in self._source.records():
            try:
                if trouble is not None:
                    raise InvalidInput(trouble)
                yield from read(place, record, around)
            except InvalidInput as error:
                self.bad(place, error)
            except RecursionError:
                self.bad(place, InvalidInput("it is nested too deeply"))

    def bad(self, place: str, error: Exception) -> None:
        """Told of what cannot be taken; ends the import unless such things are passed over."""
        if not self._options.skip_bad:
            kind = NotPermitted if isinstance(error, NotPermitted) else InvalidInput
            before = "What came before it was" if self.is_checked else "Nothing was"
            raise kind(
                f"{self._file}, {place}: {error}. {before} imported; mend it and run this again, "
                f"or pass over what cannot be read with --skip-bad"
            ) from None
        self.passed_over += 1
        if self.is_checked:
            return
        self._warnings.add(f"{self._file}, {place} passed over: {error}")


def _reader(options: Foreign) -> Any:
    from incumbent.compat.exports import from_langgraph, from_mem0, from_zep

    if options.origin is Origin.LANGGRAPH:
        return partial(from_langgraph.read, user_part=options.user_part)
    if options.user_part is not None:
        raise InvalidInput("--user-part goes with --from langgraph")
    return from_mem0.read if options.origin is Origin.MEM0 else from_zep.read


def import_foreign(file: str, options: Foreign, organization: str, common: Common) -> None:
    """Read an export of another memory, bring it into the store, and print what came of it."""
    renamed = options.renamed()
    with opened(file) as stream:
        assert options.origin is not None
        clerk = _ExportReader(_Source(file, stream, options.origin), options, file)
        total = _checked(clerk, options)
        with opened_or_tried(common, organization if options.dry_run else None) as memory:
            _bring(memory, clerk, options, renamed, organization, total, common.json)


def _checked(clerk: _ExportReader, options: Foreign) -> int:
    """Look at everything once, so that what is wrong is told before anything is changed; returns
    how many things there are."""
    count = 0
    has_user = options.user is not None
    with closing(ProgressLine()) as telling:
        for thing in clerk.things():
            count += 1
            if not has_user and getattr(thing, "user", "") is None:
                error = InvalidInput("it names no user; say whose it is with --user")
                clerk.bad(thing.place, error)
            telling("reading the export", count, None)
    clerk.is_checked = True
    return count


def _bring(
    memory: incumbent.Memory,
    clerk: _ExportReader,
    options: Foreign,
    renamed: dict[str, str],
    organization: str,
    total: int,
    as_json: bool,
) -> None:
    from incumbent.compat.exports.importing import Importer

    told = clerk.passed_over
    importer = Importer(
        memory,
        organization=organization,
        bad=clerk.bad,
        user=options.user,
        renamed=renamed,
        authority=options.authority or "employee",
    )
    with closing(ProgressLine()) as telling:
        for count, thing in enumerate(clerk.things(), start=1):
            importer.take([thing])
            telling("importing", count, total)
        importer.finish()
    importer.tally.skipped = clerk.passed_over - told
    _print(importer.tally, options, organization, as_json=as_json)


def _print(tally: Any, options: Foreign, organization: str, *, as_json: bool) -> None:
    if as_json:
        counts = {name: getattr(tally, name) for name in _COUNTS}
        document = {
            "from": options.origin,
            "organization": organization,
            "dry_run": options.dry_run,
            **counts,
            "not_taken": dict(tally.not_taken),
            "users": sorted(tally.users),
        }
        print_json(document)
        return
    begin = "would have imported" if options.dry_run else "imported"
    show(f"{begin}  {tally.facts:,} fact(s) and {tally.turns:,} turn(s) from {options.origin}")
    lines = [(_COUNTS[name], f"{getattr(tally, name):,}") for name in list(_COUNTS)[2:]]
    lines = [(label, count) for label, count in lines if count != "0"]
    lines += [("not taken", f"{what}, {n:,}x") for what, n in sorted(tally.not_taken.items())]
    lines.append(("users", f"{len(tally.users):,} in organization {organization!r}"))
    show(account_lines(lines))


_COUNTS = {
    "facts": "facts",
    "turns": "turns",
    "from_turns": "facts from turns",
    "updated": "updated",
    "ended": "ended",
    "before": "there before",
    "skipped": "passed over",
}
"""The counts of a tally, and what they are called."""
