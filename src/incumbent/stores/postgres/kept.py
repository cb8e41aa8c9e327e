"""What a process has read of organizations, good for as long as their revision stays the same.

Every transaction that writes gives its organization a new revision and leaves a random mark with
it. The beginning of a transaction tells both, from the snapshot that it reads: if they are those of
an earlier one, what was read then is what would be read now. After a write, whoever's, a fact is
good if the entry of the log that last changed it is still the same one, which is looked up for many
facts at once.

A revision alone would not do: a replica that takes over, or a backup that is restored, may have
lost some, and gives their numbers to others. Only if the mark of the revision that was seen last is
still among the marks does the one history go on from the other; otherwise all is read anew.

What is kept was read for one person, and is handed out to that person alone: the database decides
who sees what. Only for reading: within a transaction that writes, nothing is kept and nothing of it
is used.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, NamedTuple

from incumbent.model.fact import Fact
from incumbent.model.text_cache import when_forgetting
from incumbent.stores.postgres.posted import KeptPostings
from incumbent.stores.sql.rows import Row, fact_of, is_worth_keeping

_MOST = 16_384
_MOST_PEOPLE = 1_024
_MOST_ANSWERS = 256
_LONG = 4_096  # characters
_A_FACT = 64  # rows of an answer or entries in postings, which take as much memory
MOST_ROWS = 1_024
"""The most rows of an answer that is kept."""
REPOSTED = "reposted"
MOST_REPOSTED = 1_000
"""Entries that are put in their places in the postings; if more have changed, all is read anew."""


class StandingFact(NamedTuple):
    """A fact, with what tells whether its row has changed."""

    since: int
    status: str
    fact: Fact | None
    """None where its value could be changed by whoever is given it: it is made of its row again."""
    row: Row

    @classmethod
    def of(cls, row: Row, since: int) -> tuple[Fact, StandingFact | None]:
        """A fact, and what is kept of it; None if it is too long to be worth the memory."""
        fact = fact_of(row)
        if len(row[6]) + len(row[7]) > _LONG:
            return fact, None
        kept = (fact, ()) if is_worth_keeping(row) else (None, row)
        return fact, cls(since, fact.status.value, *kept)

    def made(self) -> Fact:
        return self.fact if self.fact is not None else fact_of(self.row)


class Asked(NamedTuple):
    """A question that has a short answer."""

    name: str
    where: str
    given: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, name: str, where: str, given: dict[str, Any]) -> Asked:
        return cls(
            name,
            where,
            tuple((one, tuple(v) if type(v) is list else v) for one, v in given.items()),
        )

    @property
    def is_usual(self) -> bool:
        """Whether the next context will ask it too: it is about no one matter or moment."""
        return self.name != REPOSTED and dict(self.given).get("key") is None

    def parameters(self) -> dict[str, Any]:
        return {one: list(v) if type(v) is tuple else v for one, v in self.given}


class Revision(NamedTuple):
    """The revision of an organization, as the beginning of a transaction tells it."""

    number: int
    mark: int | None
    known: int
    """The revision that was known before it began."""
    mark_of_known: int | None
    """The mark of that, if it is among the last ones."""


class RevisionReads:
    """What was read of an organization for one person, at one revision."""

    def __init__(self, number: int, mark: int | None, older: dict[str, StandingFact]) -> None:
        self.number = number
        self.mark = mark
        self.older = older
        """The facts that are as they were read if nothing has changed them since. Shared by all
        revisions: who takes one from here compares."""
        self.sure: dict[str, StandingFact] = {}
        """The facts that are as they were read."""
        self.undoubted: set[str] = set()
        """The facts that no other puts in doubt."""
        self.answers: dict[Asked, list[Row]] = {}
        self._answered = 0
        self.posted = KeptPostings()
        self.is_posted = True
        """Whether the postings are those of this revision, and not of the one before."""
        self.expected: tuple[Asked, ...] = ()
        """What was asked at the revision before, and will be asked again."""

    def begin_with(self, before: RevisionReads) -> None:
        """Begin with what is known of the revision before."""
        self.older = before.older
        self.posted = before.posted.copy()
        self.is_posted = not self.posted.versions
        again = [asked for asked in list(before.answers) if asked.is_usual]
        self.expected = (*again, *(() if self.is_posted else (self.reposting(),)))

    def reposting(self) -> Asked:
        """The question for what has changed in the postings."""
        seen = sorted(self.posted.versions.items())
        shelves, versions = zip(*seen, strict=True)
        given = {"shelves": shelves, "versions": versions, "limit": MOST_REPOSTED}
        return Asked(REPOSTED, "", tuple(given.items()))

    def shelf_versions(self) -> dict[int, int]:
        """The versions of the shelves that were looked at."""
        shelves = [rows for asked, rows in list(self.answers.items()) if asked.name == "shelves"]
        return {row[0]: row[-1] for rows in shelves for row in rows}

    @property
    def weight(self) -> int:
        """What it takes, in facts."""
        return len(self.older) + (self._answered + self.posted.size) // _A_FACT

    def keep(self, fact_id: str, kept: StandingFact) -> None:
        if len(self.older) >= _MOST:
            self.older.clear()
            self.sure.clear()
        self.older[fact_id] = kept
        self.sure[fact_id] = kept

    def answer(self, asked: Asked, rows: list[Row]) -> None:
        """Keep an answer, if it is short."""
        if len(rows) > MOST_ROWS:
            return
        if self._answered + len(rows) > _MOST or len(self.answers) >= _MOST_ANSWERS:
            self.answers.clear()
            self._answered = 0
        self.answers[asked] = rows
        self._answered += len(rows)


class Kept:
    """What one store has read, for each organization and person. Shared by all threads."""

    def __init__(self) -> None:
        self.generation = 0
        """Grows with every erasure: who began to read before one adds nothing after it."""
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str | None], RevisionReads] = OrderedDict()
        when_forgetting(self.forget)

    def forget(self) -> None:
        """Drop everything: it has people's words."""
        with self._lock:
            self.generation += 1
            self._kept.clear()

    def revision_of(self, organization: str, person: str | None) -> int:
        """The revision that was seen last; 0 if none was."""
        known = self._kept.get((organization, person))
        return 0 if known is None else known.number

    def is_of_another_history(
        self, organization: str, person: str | None, revision: Revision
    ) -> bool:
        """Whether the server has lost what was seen last, and something else has come since."""
        known = self._kept.get((organization, person))
        if known is None or known.number != revision.known:
            return False
        return revision.mark_of_known is not None and revision.mark_of_known != known.mark

    def look(
        self, organization: str, person: str | None, revision: Revision, generation: int
    ) -> RevisionReads:
        """What is kept of a revision, to read from and to add to.

        `generation` is that from before the transaction began which tells the revision.
        """
        with self._lock:
            known = self._kept.get((organization, person))
            if known is not None and (known.number, known.mark) == revision[:2]:
                self._kept.move_to_end((organization, person))
                return known
            found = RevisionReads(revision.number, revision.mark, {})
            if generation != self.generation:
                return found  # it may read what was erased meanwhile
            if known is not None:
                if known.number != revision.known or known.number > revision.number:
                    return found  # others have looked meanwhile, and see more: nothing to add
                if revision.mark_of_known is not None and revision.mark_of_known == known.mark:
                    found.begin_with(known)
            self._kept[organization, person] = found
            self._kept.move_to_end((organization, person))
            self._make_room()
            return found

    def _make_room(self) -> None:
        held = sum(one.weight for one in self._kept.values())
        while len(self._kept) > 1 and (held > _MOST or len(self._kept) > _MOST_PEOPLE):
            held -= self._kept.popitem(last=False)[1].weight
