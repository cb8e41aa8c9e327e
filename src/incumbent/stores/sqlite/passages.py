"""Passages in a SQLite file, with an FTS5 table for their postings."""

from __future__ import annotations

from collections.abc import Sequence

from incumbent.model.records import KeptPassage, Passage
from incumbent.stores.sql.passages import SQLPassages, passage_parameters
from incumbent.stores.sqlite.connection import SQLiteConnection


class SQLitePassages(SQLiteConnection, SQLPassages):
    """The passages of one connection, bound to an organization."""

    def passages_under(self, user_id: str, terms: Sequence[str], limit: int) -> list[list[int]]:
        posted = self.posted_as(user_id, terms)
        return [
            [row[0] for row in self.rows("passages_under", {"match": f'"{token}"', "limit": limit})]
            if term.isalnum()  # nothing else is a term, and much means something here
            else []
            for term, token in zip(terms, posted, strict=True)
        ]

    def put_passages(self, user_id: str, passages: Sequence[Passage]) -> None:
        for passage in passages:
            given = passage_parameters(user_id, passage)
            known = self.rows("passage_at", given)
            if known:
                self.drop_passages([number := known[0][0]])
            else:
                number = self.rows("next_passage", {})[0][0]
            self.run("put_passage", {**given, "number": number})
            self.insert("post_passage", (number, self._tokens(user_id, passage)))

    def drop_passages(self, numbers: Sequence[int]) -> int:
        gone: list[KeptPassage] = self.passages_numbered(numbers)
        for number, user_id, passage in gone:
            self.insert("unpost_passage", (number, self._tokens(user_id, passage)))
            self.run("drop_passage", {"number": number})
        return len(gone)

    def _tokens(self, user_id: str, passage: Passage) -> str:
        return " ".join(self.posted_as(user_id, list(dict.fromkeys(passage.terms.split()))))
