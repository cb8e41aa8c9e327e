"""The situation: what a conversation has come to, as far as a new statement may touch it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from incumbent.engine.lens import Lens
from incumbent.language.attributes import is_persons
from incumbent.language.discourse import is_exploring
from incumbent.language.frames import Frame, frame_again, telling_words
from incumbent.language.lexicon import lexicon
from incumbent.language.speakers import is_machine
from incumbent.language.tokens import stem, tokens
from incumbent.model.fact import Fact, Part, Status
from incumbent.model.records import WorkingItem, item_key
from incumbent.model.scope import Scope
from incumbent.model.values import text_of
from incumbent.search.analysis import terms
from incumbent.stores.port import Reader

_JUST_NOW = 30
"""How far back the log is looked at for what was written beside the conversation."""
_LONG = 4_000
_MOST_TERMS = 5
_FEW = 20
"""A word that more facts have than this tells nothing about what a statement is about."""
STATEMENT = "statement"
"""The key of what was said of nothing that has a name: each stands by itself."""
VERBATIM = "verbatim"
"""The key of what was given word for word."""
_PROPOSED = (Scope.DRAFT, Scope.HYPOTHETICAL)


def is_request(fact: Fact) -> bool:
    """Whether a fact is what somebody asked for, beside which others stand."""
    return fact.multi_valued and fact.key != STATEMENT


class Situation:
    """The recent turns of one session, and the facts that came of them and still stand."""

    def __init__(
        self,
        reader: Reader,
        lens: Lens,
        session_id: str,
        window: int,
        before: Situation | None = None,
    ) -> None:
        """`before` is the situation of the same session a moment ago, if somebody has looked."""
        self.is_untouched = True
        self._reader = reader
        self._lens = lens
        self._head = reader.head()[0]
        # What stands in the log up to a point stands there for good.
        is_known = before is not None and before._head == self._head
        self._written: set[str] = (
            before._written if before is not None and is_known else self._look_up()
        )
        user_id = lens.identity.user_id
        self.turns = reader.turns(user_id, session_id, window)
        self.items: dict[str, WorkingItem] = {
            item.key: item
            for item in reader.working_items(user_id, session_id)
            if not item.expired(lens.when)
        }
        said = {fact_id for turn in self.turns for fact_id in turn.fact_ids}
        in_order = sorted(
            reader.facts(said.union(self._written)), key=lambda fact: (fact.recorded_at, fact.id)
        )
        self.facts: dict[str, Fact] = {
            fact.id: fact for fact in in_order if fact.scope not in _PROPOSED and self._holds(fact)
        }
        """Facts in office that came of these turns or were written just now, in order."""
        self._seats: dict[tuple[str, str | None], dict[str, None]] = {}
        for fact in self.facts.values():
            self._seats.setdefault((fact.key, fact.subject), {})[fact.id] = None
        self.known: dict[str, Fact] = {
            fact.id: fact for fact in in_order if fact.status is not Status.ERASED
        }
        """The same with those that have left office."""
        self.proposed: dict[str, Fact] = {
            fact.id: fact
            for fact in in_order
            if fact.scope in _PROPOSED and fact.status is Status.OFFICE
        }
        """Drafts and what-ifs that came of these turns and are still open."""
        self.matter = self._matter(fact for fact in in_order if fact.id in said)
        """The key of the request at hand."""
        self.opened = self._opened(in_order)
        """The turn in which the request at hand was made first."""

    def is_as(self, other: Situation) -> bool:
        """Whether nothing has happened since another look at the same session."""
        return (
            self._head == other._head
            and self.turns == other.turns
            and self.items == other.items
            and self.facts == other.facts
            and self.known == other.known
        )

    def _look_up(self) -> set[str]:
        """Facts that this person has just written without saying them in a turn."""
        entries = self._reader.log(max(0, self._head - _JUST_NOW), _JUST_NOW)
        by = self._lens.identity.user_id
        ids = {entry.fact_id for entry in entries if entry.by == by}
        # What was said in another conversation is no part of this one.
        return {fact.id for fact in self._reader.facts(ids) if fact.source.turn_index is None}

    def _holds(self, fact: Fact) -> bool:
        lens = self._lens
        return (
            fact.status is Status.OFFICE
            and fact.held_at(lens.when)
            and fact.place in lens.places
            and lens.sees(self._reader, fact)
        )

    @staticmethod
    def _matter(facts: Iterable[Fact]) -> str | None:
        keys = [fact.key for fact in facts if is_request(fact) and fact.scope not in _PROPOSED]
        return keys[-1] if keys else None

    def _opened(self, facts: Iterable[Fact]) -> int:
        opened = 0
        for fact in facts:
            if is_request(fact) and fact.scope not in _PROPOSED:
                at = fact.source.turn_index or 0
                opened = (opened or at) if fact.key == self.matter else 0
        return opened

    @property
    def at_hand(self) -> frozenset[str]:
        """The facts in office that were said since the request at hand was made."""
        if self.matter is None:
            return frozenset()
        said = (fact for fact in self.facts.values() if fact.source.turn_index is not None)
        return frozenset(f.id for f in said if (f.source.turn_index or 0) >= self.opened)

    @cached_property
    def is_exploring(self) -> bool:
        """Whether what is said now is only tried out, because somebody said so."""
        said = [item_key(turn) for turn in self.turns if not is_machine(turn.speaker)]
        kept = [self.items[key] for key in said if key in self.items]
        return is_exploring([text_of(item.value)[:400] for item in kept])

    @property
    def next_index(self) -> int:
        return self.turns[-1].turn_index + 1 if self.turns else 1

    @cached_property
    def previous(self) -> str:
        """What the assistant had just said, if it was the last to speak."""
        if not self.turns or not is_machine(self.turns[-1].speaker):
            return ""
        item = self.items.get(item_key(self.turns[-1]))
        return text_of(item.value) if item is not None else ""

    @cached_property
    def last_text(self) -> str:
        """What was said last, by whomever."""
        item = self.items.get(item_key(self.turns[-1])) if self.turns else None
        return text_of(item.value) if item is not None else ""

    @cached_property
    def has_asked(self) -> bool:
        """Whether the last of the people to speak only asked something."""
        own = [turn for turn in self.turns[-2:] if not is_machine(turn.speaker)]
        item = self.items.get(item_key(own[-1])) if own and not own[-1].fact_ids else None
        return item is not None and text_of(item.value).rstrip().endswith("?")

    @cached_property
    def has_failed(self) -> bool:
        """Whether the assistant has just said that it cannot be as it was asked for."""
        return lexicon().failure.search(self.previous[:_LONG]) is not None

    @cached_property
    def asked_end(self) -> str:
        """Which end of something the assistant has just asked about: leaving, or returning."""
        question = self.previous.rpartition("?")[0]
        found = telling_words(question[-400:])
        return found[0] if len(found) == 1 else ""

    @cached_property
    def mentioned(self) -> set[str]:
        """The stems of everything that was named so far, by whomever."""
        texts = [text_of(item.value)[:4_000] for item in self.items.values()]
        texts.extend(text_of(fact.value)[:4_000] for fact in self.facts.values())
        return {stem(token.low) for text in texts for token in tokens(text) if token.is_word}

    @cached_property
    def last_said(self) -> set[str]:
        """Ids of the facts of the last turn that brought any."""
        if not self.facts:
            return set()
        last = next(reversed(self.facts.values()))
        for turn in reversed(self.turns):
            here = {fact_id for fact_id in turn.fact_ids if fact_id in self.facts}
            if last.id in here:
                return here
        return {last.id}

    @property
    def last_named(self) -> str | None:
        """Whoever was named last: the one that "his" and "her" are about."""
        for fact in reversed(self.facts.values()):
            if fact.subject is not None:
                return fact.subject
            for part in reversed(fact.parts):
                if part.kind == "name" and _may_be_somebody(fact, part):
                    return part.normal
        return None

    def at_key(self, key: str, subject: str | None) -> list[Fact]:
        """The facts in office at a key, said in whichever session."""
        lens = self._lens
        held = lens.held(self._reader, key, subject or "", marks=False)
        return [fact for fact in held if fact.id not in self.facts]

    def holding(self, key: str, subject: str | None) -> list[Fact]:
        """Who holds an address: of this conversation, else of another."""
        return self.here(key, subject) or self.at_key(key, subject)

    def here(self, key: str, subject: str | None) -> list[Fact]:
        """Who of this conversation holds an address, in order."""
        return [self.facts[i] for i in self._seats.get((key, subject), ()) if i in self.facts]

    def called_alike(self, key: str, subject: str | None) -> list[Fact]:
        """The one fact of this conversation whose key says more, or less, of the same thing.

        The budget is the approved budget, where there is no other.
        """
        found = [
            fact
            for fact in self.facts.values()
            if fact.subject == subject
            and not fact.multi_valued
            and (fact.key.endswith(f"_{key}") or key.endswith(f"_{fact.key}"))
        ]
        return found if len({fact.key for fact in found}) == 1 else []

    def sharing(self, words: Iterable[str]) -> list[Fact]:
        """Facts in office of whichever session that have one of these words, if few have it."""
        reader, lens = self._reader, self._lens
        if reader.recipe() is None:
            return []
        shelves = [shelf.id for shelf in reader.shelves(lens.owners, lens.places)]
        wanted = terms(" ".join(words))[:_MOST_TERMS]
        posted = reader.many_postings(shelves, wanted, _FEW + 1)
        entries = {entry for found in posted if len(found) <= _FEW for entry in found}
        ids = [row.fact_id for row in reader.found(sorted(entries))]
        held = lens.in_office(reader, reader.facts(ids), marks=False)
        return [fact for fact in held if fact.id not in self.facts]

    def add(self, facts: Iterable[Fact], gone: Iterable[str]) -> None:
        """Bring it up to date with what a statement led to."""
        self.is_untouched = False
        for fact_id in gone:
            self.facts.pop(fact_id, None)
            self.proposed.pop(fact_id, None)
        for fact in facts:
            self.known[fact.id] = fact
            if fact.scope in _PROPOSED:
                self.proposed[fact.id] = fact
            elif fact.status is Status.OFFICE:
                self.facts[fact.id] = fact
                self._seats.setdefault((fact.key, fact.subject), {})[fact.id] = None
                if is_request(fact):
                    self.matter = fact.key


def _may_be_somebody(fact: Fact, part: Part) -> bool:
    """Whether a name may be a person's: who holds a thing that no person is, is none."""
    return part.text != text_of(fact.value) or is_persons(fact.key)


def frame_in_office(fact: Fact) -> Frame:
    """What the statement behind a fact is about."""
    return frame_again(text_of(fact.value)[:2_000])
