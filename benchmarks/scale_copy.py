"""Copies of facts within one SQLite file, which are far quicker to make than facts are to write.

A stretch of facts is written through the public API, and its rows are then put into the file again:
facts, verdicts, tenures, entries and postings, under other ids, places in the log, times, owners,
organizations or subjects. Everything that a call looks at is as writing would have made it, but for
two things: a copy has the vectors of its original, also where its subject has one more word, and
the postings come in larger portions.

Ids begin with their time. A copy is so much later than its original that the first digits of its
ids tell which copy it is, and the stretch is written by a clock that runs far back, so that the
last copy is of the past as well.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from incumbent.context.tokens import counter
from incumbent.search import analysis
from incumbent.settings import Settings

_LATER_MS = 1 << 24
"""How much later a copy is than the one before it: some five hours, more than a stretch takes."""
_DIGITS = 6
"""How many digits of an id that changes."""
_FAR_BACK = timedelta(days=400)
_ID = f":prefix || substr({{}}, {_DIGITS + 1})"
_IDS = """replace({}, '"' || :first, '"' || :prefix)"""
_TIMES = ("timestamp", "recorded_at", "valid_from", "valid_until", "started_at", "ended_at", "at")
_LATER = {name: f"{name} + :later" for name in _TIMES}
_SUBJECT = (
    "trim(subject || CASE WHEN subject <> '' AND :name <> '' THEN ' of ' ELSE '' END || :name)"
)
_PLACED = {"organization": ":organization", **_LATER, "since": "since + :seq"}
_FACTS = {
    **_PLACED,
    "id": _ID.format("id"),
    "seq": "seq + :seq",
    "owner": ":owner",
    "subject": _SUBJECT,
    "superseded_by": _ID.format("superseded_by"),
    "predecessors": _IDS.format("predecessors"),
    "slot": f"CASE slot WHEN '' THEN '' ELSE {_ID.format('slot')} END",
}
_VERDICTS = {
    **_PLACED,
    "id": _ID.format("id"),
    "seq": "seq + :seq",
    "fact_id": _ID.format("fact_id"),
    "superseded": _IDS.format("superseded"),
    "evidence": _IDS.format("evidence"),
    "by_user": ":owner",
}
_TENURES = {
    **_PLACED,
    "fact_id": _ID.format("fact_id"),
    "until": "until + :seq",
    "superseded_by": _ID.format("superseded_by"),
    "predecessors": _IDS.format("predecessors"),
}
_ENTRIES = {
    "organization": ":organization",
    "entry": "entry + :entry",
    "fact_id": _ID.format("fact_id"),
    "shelf": "shelf + :shelf",
    "changed": "changed + :changed",
    "starts": "starts + :later",
    "ends": "ends + :later",
}
_NAMED_ENTRIES = {
    **_ENTRIES,
    "length": "length + 1",
    "tokens": "tokens + :tokens",
    "terms": "terms || ' ' || :term",
    # The mark of the matter is the last of the probes.
    "probes": f"""substr(probes, 1, length(probes) - :mark) || matter(key, (
        SELECT {_SUBJECT} FROM facts WHERE organization = :stretch AND id = entries.fact_id))""",
}


def far_back() -> Callable[[], datetime]:
    """A clock that begins far back, at a moment with which the first digits of ids change."""
    then = int((datetime.now(UTC) - _FAR_BACK).timestamp() * 1e3)
    begun = datetime.fromtimestamp(then // _LATER_MS * _LATER_MS / 1e3, UTC)
    started = time.monotonic()
    return lambda: begun + timedelta(seconds=time.monotonic() - started)


@contextmanager
def copying(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection for copies: what is on its way is not safe before it ends."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.create_function("posted", 2, _posted, deterministic=True)
    connection.create_function("matter", 2, analysis.matter, deterministic=True)
    for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -1000000"):
        connection.execute(f"PRAGMA {setting}")
    yield connection
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()


def _posted(shelf: int, terms: str) -> str:
    return " ".join(f"{shelf}x{term}" for term in dict.fromkeys(terms.split()))


def insert(
    connection: sqlite3.Connection,
    table: str,
    changed: Mapping[str, str],
    which: str,
    given: Mapping[str, Any],
) -> None:
    """Put some rows into their table once more, with some columns changed."""
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    read = ", ".join(changed.get(column, column) for column in columns)
    connection.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {read} FROM {table} WHERE {which}",
        given,
    )


@dataclass(frozen=True)
class Copy:
    """What tells a copy from the stretch: it is this many stretches later, and elsewhere."""

    number: int
    organization: str
    owner: str
    name: str = ""
    """A word that every subject of it has; "" for the same subjects."""


class Stretch:
    """The facts of one person in a file that has no others, and their copies."""

    least = 1
    """The place in the log of the first fact that is copied."""

    def __init__(self, connection: sqlite3.Connection, organization: str, owner: str) -> None:
        self._connection = connection
        self._organization, self._owner = organization, owner
        counted = "SELECT min(id), max(id), count(*) FROM facts"
        ((first, last, self.facts),) = connection.execute(counted)
        if first[:_DIGITS] != last[:_DIGITS]:
            raise RuntimeError("the stretch took longer to write than copies are apart")
        self._first = first[:_DIGITS]
        self.copied = self.facts
        """How many facts a whole copy has."""
        shelves = "SELECT max(id), max(version) FROM shelves"
        ((self._shelves, self._version),) = connection.execute(shelves)

    def copy(self, copy: Copy, facts: int) -> None:
        """Put the first so many of its facts into the file again."""
        given, put = self.given(copy, facts), partial(insert, self._connection)
        self._connection.execute("BEGIN")
        if copy.organization != self._organization:
            put("recipes", {"organization": ":organization"}, "organization = :stretch", given)
        given |= self._shelve(copy, given)
        # The stretch was written first, so that the numbers of its rows are places in the log.
        here = "organization = :stretch AND"
        put("facts", _FACTS, f"+{here} rowid BETWEEN :least AND :most", given)
        put("verdicts", _VERDICTS, f"{here} seq BETWEEN :least AND :most", given)
        of_these = "fact_id < :beyond AND since BETWEEN :least AND :most"
        put("tenures", _TENURES, f"{here} {of_these}", given)
        entries = _NAMED_ENTRIES if copy.name else _ENTRIES
        put("entries", entries, f"+{here} entry BETWEEN :least AND :most", given)
        self._connection.execute(POSTINGS, given)
        self._connection.execute("COMMIT")

    def given(self, copy: Copy, facts: int) -> dict[str, Any]:
        """The parameters of a copy."""
        first, is_elsewhere = int(self._first, 16), copy.organization != self._organization
        return {
            "stretch": self._organization,
            "organization": copy.organization,
            "owner": copy.owner,
            "name": copy.name,
            "term": " ".join(analysis.terms(copy.name)),
            "tokens": counter(Settings().tokenizer)(f" of {copy.name}"),
            "mark": len(analysis.matter("", None)),
            "first": self._first,
            "prefix": f"{first + copy.number:0{_DIGITS}x}",
            "beyond": f"{first + 1:0{_DIGITS}x}",
            "later": 1_000 * _LATER_MS * copy.number,
            "seq": 0 if is_elsewhere else self.copied * copy.number,
            "entry": self.copied * copy.number + self.least - 1,
            "least": self.least,
            "most": self.least - 1 + facts,
        }

    def _shelve(self, copy: Copy, given: dict[str, Any]) -> dict[str, int]:
        """Give a copy shelves of its own, unless it shares those of the stretch; by how much the
        numbers of its shelves and of its changes are higher."""
        if (copy.organization, copy.owner) == (self._organization, self._owner):
            self._connection.execute("UPDATE shelves SET version = version + ?", (self._version,))
            return {"shelf": 0, "changed": self._version * copy.number}
        changed = {"organization": ":organization", "owner": ":owner", "id": "id + :shelf"}
        told = {**given, "shelf": self._shelves * copy.number}
        which = f"organization = :stretch AND id <= {self._shelves}"
        insert(self._connection, "shelves", changed, which, told)
        return {"shelf": told["shelf"], "changed": 0}


class Chain(Stretch):
    """Facts of one address, each in the place of the last.

    What is copied begins with the second and ends with the last but one: all of them have one
    before and one after them. The last one, in office, is moved behind the copies.
    """

    least = 2

    def __init__(self, connection: sqlite3.Connection, organization: str, owner: str) -> None:
        super().__init__(connection, organization, owner)
        self.copied = self.facts - 2
        self._ids: dict[int, str] = dict(connection.execute("SELECT seq, id FROM facts"))

    def lengthen(self, size: int) -> None:
        """Copy until there are so many facts."""
        whole, rest = divmod(size - self.facts, self.copied)
        portions = [self.copied] * whole + [rest] * (rest > 0)
        self._move_last(size, len(portions))
        link = self.facts - 1
        before = self._ids[link]
        for number, portion in enumerate(portions, 1):
            copy = Copy(number, self._organization, self._owner)
            self.copy(copy, portion)
            given = self.given(copy, portion)
            renamed = {seq: given["prefix"] + self._ids[seq][_DIGITS:] for seq in (2, portion + 1)}
            self._tie(before, renamed[2], self.least + given["seq"])
            before = renamed[portion + 1]
        self._tie(before, self._ids[self.facts], size)

    def _move_last(self, size: int, copies: int) -> None:
        """Put what is in office behind all copies."""
        given = {
            "organization": self._organization,
            "id": self._ids[self.facts],
            "was": self.facts,
            "seq": size,
            "later": 1_000 * _LATER_MS * copies,
            "version": self._version * (copies + 1),
        }
        for statement in _MOVE:
            self._connection.execute(statement, given)

    def _tie(self, before: str, after: str, seq: int) -> None:
        """Make one fact the successor of another, at an entry of the log."""
        given = {"organization": self._organization, "before": before, "after": after, "seq": seq}
        for statement in _TIE:
            self._connection.execute(statement, given)


_LATER_ASSIGNED = ", ".join(
    f"{name} = {name} + :later" for name in ("timestamp", "recorded_at", "valid_from", "started_at")
)
_MOVE = (
    f"""UPDATE facts SET seq = :seq, since = :seq, {_LATER_ASSIGNED}
    WHERE organization = :organization AND id = :id""",
    """UPDATE verdicts SET seq = :seq, at = at + :later, recorded_at = recorded_at + :later
    WHERE organization = :organization AND seq = :was""",
    """UPDATE entries SET changed = :version
    WHERE organization = :organization AND fact_id = :id""",
)
_TIE = (
    """UPDATE facts SET superseded_by = :after, since = :seq, ended_at = (
        SELECT started_at FROM facts WHERE organization = :organization AND id = :after)
    WHERE organization = :organization AND id = :before""",
    """UPDATE facts SET predecessors = json_array(:before)
    WHERE organization = :organization AND id = :after""",
    """UPDATE tenures SET until = :seq
    WHERE organization = :organization AND fact_id = :before""",
    """UPDATE entries SET ends = (
        SELECT ended_at FROM facts WHERE organization = :organization AND id = :before)
    WHERE organization = :organization AND fact_id = :before""",
    """UPDATE verdicts SET superseded = json_array(:before),
        evidence = json_object('supersedes', json_array(:before))
    WHERE organization = :organization AND seq = :seq""",
)
POSTINGS = """
INSERT INTO postings (rowid, tokens) SELECT entry, posted(shelf, terms) FROM entries
WHERE entry BETWEEN :entry + :least AND :entry + :most AND live = 1
"""
