"""Passages in a database. Each database posts their terms in a way of its own."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from incumbent.model.records import KeptPassage, Passage, Spot
from incumbent.model.times import from_micros, to_micros
from incumbent.stores.sql.connection import BoundConnection
from incumbent.stores.sql.rows import Row, readable


class SQLPassages(BoundConnection):
    """The passages of one organization."""

    def passages(
        self,
        user_id: str | None,
        after: int,
        limit: int,
        *,
        session_id: str | None = None,
        turn_index: int | None = None,
    ) -> list[KeptPassage]:
        where, given = self.dialect.matching(
            user_id=user_id, session_id=session_id, turn_index=turn_index
        )
        rows = self.rows("passages", {**given, "after": after, "limit": limit}, where)
        return list(map(passage_of, rows))

    def passages_numbered(self, numbers: Sequence[int]) -> list[KeptPassage]:
        return list(map(passage_of, self.rows_of("passages_numbered", numbers)))

    def passage_count(self, user_id: str) -> int:
        return int(self.rows("passage_count", {"user_id": user_id})[0][0])

    @abstractmethod
    def passages_under(self, user_id: str, terms: Sequence[str], limit: int) -> list[list[int]]: ...

    @abstractmethod
    def put_passages(self, user_id: str, passages: Sequence[Passage]) -> None: ...

    @abstractmethod
    def drop_passages(self, numbers: Sequence[int]) -> int: ...

    def drop_passages_of(self, user_id: str | None, session_id: str | None) -> None:
        """Remove the passages of these turns."""
        where, given = self.dialect.matching(user_id=user_id, session_id=session_id)
        self.drop_passages([row[0] for row in self.rows("passage_numbers", given, where)])

    def posted_as(self, user_id: str, terms: Sequence[str]) -> list[str]:
        """What terms of a person's passages are posted under: a mark of the person and the term.

        So that only the passages of that person are gone through, however many others have it.
        """
        named = f"{self._organization}\0{user_id}".encode("utf-8", "surrogatepass")
        mark = blake2b(named, digest_size=8).hexdigest()
        return [f"{mark}x{term}" for term in terms]


@readable
def passage_of(row: Row) -> KeptPassage:
    """A passage from its number and the PASSAGE columns."""
    number, user_id, session, turn, place, speaker, at, text, states, spots, terms, vector = row
    stated = tuple(Spot(*spot) for spot in json.loads(spots)) if spots else ()
    ids = tuple(json.loads(states)) if states else ()
    said = (speaker, from_micros(at), text, ids, stated)
    return KeptPassage(number, user_id, Passage(session, turn, place, *said, terms, vector))


def passage_parameters(user_id: str, passage: Passage) -> dict[str, Any]:
    """The PASSAGE columns of a passage, by name."""
    return {
        "user_id": user_id,
        "session_id": passage.session_id,
        "turn_index": passage.turn_index,
        "place": passage.place,
        "speaker": passage.speaker,
        "at": to_micros(passage.at),
        "text": passage.text,
        "states": json.dumps(passage.states) if passage.states else None,
        "spots": json.dumps(passage.spots, ensure_ascii=False) if passage.spots else None,
        "terms": passage.terms,
        "vector": passage.vector,
    }
