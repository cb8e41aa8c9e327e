"""Reading what this process has not read before: facts, and the short answers of a context."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import psycopg

from incumbent.model.fact import Fact
from incumbent.stores.port import Selection
from incumbent.stores.postgres.index import PostgresIndex
from incumbent.stores.postgres.kept import (
    MOST_REPOSTED,
    MOST_ROWS,
    REPOSTED,
    Asked,
    RevisionReads,
    StandingFact,
)
from incumbent.stores.postgres.posted import KeptPostings, MovedEntry
from incumbent.stores.postgres.sql import statement
from incumbent.stores.sql.connection import Given
from incumbent.stores.sql.facts import SQLFacts
from incumbent.stores.sql.rows import Row

_LISTS = frozenset({"live", "timeline"})
_SHORT = frozenset(
    {
        *(
            "has_passages",
            "passage_count",
            "shelves",
            "retracted",
            "contested",
            "working_items",
            REPOSTED,
        ),
        *("live_since", "timeline_since", "owned_since"),
    }
)
"""Short answers that every context needs, and that nobody changes who is given them."""
_MOST_EXPECTED = 8


class KeptReading(SQLFacts, PostgresIndex):
    """The reads of one connection that are kept."""

    _kept: RevisionReads | None

    def rows(self, name: str, given: Given, where: str = "") -> list[Row]:
        kept = self._kept
        if kept is None or name not in _SHORT:
            return super().rows(name, given, where)
        return self._answer(kept, Asked.of(name, where, given))

    def _answer(self, kept: RevisionReads, asked: Asked) -> list[Row]:
        known = kept.answers.get(asked)
        return self._answered(kept, asked) if known is None else known

    def _answered(self, kept: RevisionReads, asked: Asked) -> list[Row]:
        """The answer to this, and to what is asked next by all experience, in one round trip."""
        missing = [one for one in kept.expected[-_MOST_EXPECTED:] if one not in kept.answers]
        kept.expected = ()
        if asked not in missing:
            missing.append(asked)
        found = self._all_at_once(missing)
        for one, rows in zip(missing, found, strict=True):
            kept.answer(one, rows)
        return found[missing.index(asked)]

    def _all_at_once(self, wanted: Sequence[Asked]) -> list[list[Row]]:
        asking = [(one.name, one.parameters(), one.where) for one in wanted]
        if len(asking) == 1 or not psycopg.Pipeline.is_supported():
            return [super(KeptReading, self).rows(*one) for one in asking]
        with self._connection.pipeline():
            cursors = [
                self._connection.execute(
                    statement(name, where), given | {"organization": self._organization}
                )
                for name, given, where in asking
            ]
        return [cursor.fetchall() for cursor in cursors]

    def facts(self, fact_ids: Iterable[str]) -> list[Fact]:
        kept = self._kept
        if kept is None:
            return super().facts(fact_ids)
        wanted = sorted(set(fact_ids))
        sure = kept.sure
        known = [sure.get(fact_id) for fact_id in wanted]
        if None not in known:
            return [one.made() for one in known if one is not None]
        found = {i: one.made() for i, one in zip(wanted, known, strict=True) if one is not None}
        self._read(kept, [i for i in wanted if i not in found], found)
        return [found[fact_id] for fact_id in wanted if fact_id in found]

    def _read(self, kept: RevisionReads, fact_ids: Sequence[str], found: dict[str, Fact]) -> None:
        """Add these facts as they stand; those that have not changed are not fetched again."""
        older = [fact_id for fact_id in fact_ids if fact_id in kept.older]
        self._take(kept, self.rows_of("changed_since", older), found)
        self._fetch(kept, [fact_id for fact_id in fact_ids if fact_id not in found], found)

    def _take(self, kept: RevisionReads, marks: Iterable[Row], found: dict[str, Fact]) -> None:
        """Add the facts that were read before and are as these marks tell."""
        for fact_id, since, status, doubted in marks:
            known = kept.older.get(fact_id)
            if known is not None and (known.since, known.status) == (since, status):
                self._note(kept, fact_id, known, doubted)
                found[fact_id] = known.made()

    def _fetch(self, kept: RevisionReads, fact_ids: Sequence[str], found: dict[str, Fact]) -> None:
        for row in self.rows_of("facts_since", fact_ids):
            *columns, since, doubted = row
            fact, read = StandingFact.of(tuple(columns), since)
            found[fact.id] = fact
            self._note(kept, fact.id, read, doubted)

    def _note(
        self, kept: RevisionReads, fact_id: str, read: StandingFact | None, doubted: bool
    ) -> None:
        if read is not None:
            kept.keep(fact_id, read)
        if not doubted:
            kept.undoubted.add(fact_id)

    def _select(
        self, name: str, selection: Selection, prefix: str = "", **given: Any
    ) -> list[Fact]:
        if self._kept is None or name not in _LISTS or () in selection[:2]:
            return super()._select(name, selection, prefix, **given)
        where, chosen = self.dialect.where(selection, prefix)
        found = self._listed(self._kept, f"{name}_since", {**chosen, **given}, where)
        return super()._select(name, selection, prefix, **given) if found is None else found

    def owned(self, owner: str, limit: int) -> list[Fact]:
        if self._kept is None:
            return super().owned(owner, limit)
        given = {"owner": owner, "limit": limit}
        found = self._listed(self._kept, "owned_since", given)
        return super().owned(owner, limit) if found is None else found

    def _listed(
        self, kept: RevisionReads, name: str, given: Given, where: str = ""
    ) -> list[Fact] | None:
        """The facts of a short list, in its order; None where it is long."""
        marks = self.rows(name, {**given, "most": MOST_ROWS + 1}, where)
        if len(marks) > MOST_ROWS:
            return None
        found: dict[str, Fact] = {}
        self._take(kept, marks, found)
        self._fetch(kept, [row[0] for row in marks if row[0] not in found], found)
        return [found[row[0]] for row in marks]

    def doubting(self, fact_ids: Iterable[str]) -> list[Fact]:
        kept = self._kept
        if kept is None:
            return super().doubting(fact_ids)
        asked = set(fact_ids).difference(kept.undoubted)
        found = super().doubting(asked) if asked else []
        kept.undoubted |= asked.difference(*(fact.doubts for fact in found))
        return found

    def posted_under(self, lexemes: Sequence[str], limit: int) -> dict[str, list[int]]:
        kept = self._kept
        if kept is None:
            return super().posted_under(lexemes, limit)
        posted = kept.posted if kept.is_posted else self._caught_up(kept)
        known = {lexeme: posted.first(lexeme, limit) for lexeme in lexemes}
        found = {lexeme: entries for lexeme, entries in known.items() if entries is not None}
        missing = [lexeme for lexeme in lexemes if lexeme not in found]
        if missing:
            read = super().posted_under(missing, limit)
            versions = kept.shelf_versions()
            for lexeme in missing:
                found[lexeme] = read.get(lexeme, [])
                posted.keep(lexeme, found[lexeme], limit, versions)
        return found

    def _caught_up(self, kept: RevisionReads) -> KeptPostings:
        """The postings that were kept of the revision before, as they are now."""
        rows = self._answer(kept, kept.reposting())
        if len(rows) < MOST_REPOSTED:
            changed = [
                MovedEntry(entry, live, self.lexemes(shelf, terms))
                for shelf, entry, live, terms in rows
            ]
            kept.posted = kept.posted.after(changed, kept.shelf_versions())
        else:
            kept.posted = KeptPostings()
        kept.is_posted = True
        return kept.posted
