"""The common part of the adapters: refusing entries that a peer cannot take, and filling a
budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

from incumbent_eval.systems import Ability, CannotDo, Entry, Who

BEGINNING = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""The time until it is set."""
ENCODING = "o200k_base"
"""Counts the tokens for systems that have no tokenizer of their own."""
_SHORT = 20
"""The tokens of a short result, for estimating how many fit into a budget."""
_FEWEST = 50
KEEPS_ITEMS = frozenset(
    {
        Ability.WRITE,
        Ability.OBSERVE,
        Ability.SUPERSEDE,
        Ability.RETRACT,
        Ability.PERSON,
        Ability.ORGANIZATION,
    }
)
"""The abilities of a store of items that are put, exchanged and deleted by name, in rooms of their
own. It knows only the text of an item, and its search has no budget: the adapter fills that."""


class Room(NamedTuple):
    """The place of an item: the organization's own, or a person's in it."""

    organization: str
    user: str | None

    @classmethod
    def of(cls, who: Who, *, private: bool) -> Room:
        return cls(who.organization, who.user if private else None)


def rooms_of(who: Who) -> tuple[Room, Room]:
    """The rooms that somebody may look into: the shared one, and their own."""
    return Room.of(who, private=False), Room.of(who, private=True)


def demanded(who: Who, entry: Entry) -> Iterator[Ability]:
    """The abilities that a system needs to take an entry for what it is."""
    yield Ability.WRITE
    if entry.supersedes is not None:
        yield Ability.SUPERSEDE
    if entry.depends_on:
        yield Ability.DEPEND
    if entry.when_superseded is not None:
        yield Ability.AWAIT
    if entry.scope in ("draft", "hypothetical"):
        yield Ability.DRAFT
    if entry.scope == "session":
        yield Ability.SESSION
    if entry.authority not in (None, who.authority):
        yield Ability.AUTHORITY
    if entry.is_private:
        yield Ability.PERSON
    if entry.valid_from is not None or entry.valid_until is not None:
        yield Ability.VALIDITY
    if entry.said_at is not None:
        yield Ability.LATE


class Adapter:
    """A system without abilities. A call that a subclass does not implement raises CannotDo."""

    name = ""
    can: frozenset[Ability] = frozenset()

    def __init__(self) -> None:
        self._now = BEGINNING
        self._moved = False

    def move_to(self, moment: datetime) -> None:
        self._now = max(self._now, moment) if self._moved else moment
        self._moved = True

    def write(self, who: Who, entry: Entry) -> str:
        raise CannotDo(Ability.WRITE)

    def retract(self, who: Who, written: str) -> None:
        raise CannotDo(Ability.RETRACT)

    def undo(self, who: Who, written: str) -> None:
        raise CannotDo(Ability.UNDO)

    def observe(self, who: Who, text: str, speaker: str = "user") -> None:
        raise CannotDo(Ability.OBSERVE)

    def context(
        self,
        who: Who,
        query: str,
        budget: int,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        history: bool = False,
    ) -> str:
        if as_of is not None or known_at is not None:
            raise CannotDo(Ability.AS_OF)
        return self._context(who, query, budget)

    def tokens(self, text: str) -> int:
        return len(tokenizer(ENCODING).encode_ordinary(text))

    def close(self) -> None:
        pass

    def _context(self, who: Who, query: str, budget: int) -> str:
        raise NotImplementedError

    def _check(self, who: Who, entry: Entry) -> None:
        """Refuse an entry that would be taken for something else than it is."""
        for ability in demanded(who, entry):
            if ability not in self.can:
                raise CannotDo(ability)

    def _first_that_fit(self, lines: Iterable[str], budget: int) -> list[str]:
        """Lines as long as there is room. A line that is too long is left out; the next may fit."""
        kept, spent = [], 0
        for line in lines:
            cost = self.tokens(f"{line}\n")
            if spent + cost <= budget:
                kept.append(line)
                spent += cost
        return kept


@cache
def tokenizer(name: str) -> Any:
    """A tokenizer that carries its own files."""
    import splintr

    return splintr.Tokenizer.from_pretrained(name)


def cut(text: str, budget: int) -> str:
    """As much of a text as a budget holds."""
    parts = tokenizer(ENCODING).encode_ordinary(text)
    return text if len(parts) <= budget else str(tokenizer(ENCODING).decode_lossy(parts[:budget]))


def text_of(entry: Entry) -> str:
    """An entry as one line, for those that keep lines."""
    named = f"{entry.key} ({entry.subject})" if entry.subject else entry.key
    return f"{named}: {entry.value}"


def results_for(budget: int) -> int:
    """The number of results to ask a search for, so that short ones could fill a budget."""
    return max(_FEWEST, budget // _SHORT)
