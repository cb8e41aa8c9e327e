"""The ways without a memory system: keep the text, and show all, the last or the most similar."""

from __future__ import annotations

from typing import NamedTuple

from incumbent_eval.adapters.base import Adapter, Room, rooms_of, text_of
from incumbent_eval.bm25 import Bm25
from incumbent_eval.systems import Ability, Entry, Who

LAST = 10
"""The number of pieces that `LastTurns` shows."""


class _KeptPiece(NamedTuple):
    room: Room
    line: str


class Transcript(Adapter):
    """Everything said and written, in order; the oldest is dropped for the budget."""

    name = "transcript"
    can = frozenset(
        {Ability.WRITE, Ability.OBSERVE, Ability.PERSON, Ability.ORGANIZATION, Ability.BUDGET}
    )

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[_KeptPiece] = []

    def write(self, who: Who, entry: Entry) -> str:
        self._check(who, entry)
        self._pieces.append(_KeptPiece(Room.of(who, private=entry.is_private), text_of(entry)))
        return f"p{len(self._pieces)}"

    def observe(self, who: Who, text: str, speaker: str = "user") -> None:
        self._pieces.append(_KeptPiece(Room.of(who, private=True), f"{speaker}: {text}"))

    def _context(self, who: Who, query: str, budget: int) -> str:
        return self._newest(self._visible(who), budget)

    def _visible(self, who: Who) -> list[str]:
        rooms = rooms_of(who)
        return [piece.line for piece in self._pieces if piece.room in rooms]

    def _newest(self, lines: list[str], budget: int) -> str:
        """The end of a text, as far back as the budget goes."""
        kept, spent = [], 0
        for line in reversed(lines):
            spent += self.tokens(f"{line}\n")
            if spent > budget:
                break
            kept.append(line)
        return "\n".join(reversed(kept))


class LastTurns(Transcript):
    """The last few pieces alone."""

    name = "last-turns"

    def _context(self, who: Who, query: str, budget: int) -> str:
        return self._newest(self._visible(who)[-LAST:], budget)


class Bm25OverTurns(Transcript):
    """The pieces that share words with the question, the best first, until the budget is full."""

    name = "bm25"

    def _context(self, who: Who, query: str, budget: int) -> str:
        lines = self._visible(who)
        best = (lines[place] for place in Bm25(lines).ranked(query))
        return "\n".join(self._first_that_fit(best, budget))
