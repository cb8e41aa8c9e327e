"""Reading: values, facts, chains and explanations, as far as the identity may see them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from incumbent.engine.lens import matching
from incumbent.engine.queries import explain, find_any, with_derived
from incumbent.engine.retries import repeated
from incumbent.model.fact import UNNAMED, Fact
from incumbent.model.records import Chain, Declaration, Explanation
from incumbent.session.base import SessionBase
from incumbent.telemetry.traced import traced


@traced()
class SessionReads(SessionBase):
    """The part of a session that reads facts."""

    @repeated
    def current(self, key: str, subject: str | None = None) -> Any:
        """The value in office, or None. Of a key declared multi-valued, the list of its values.

        Follows a chain to its end: a key whose fact was superseded under another key gives that
        one's value. Of several that turns have put side by side at a key that nobody declared so,
        it is the one at the address itself, else the newest; `facts(key)` has them all.
        """
        self._check_named(key, subject)
        if self._when is None and self._closed is None:
            seen = self._resources.store.glance(
                self.identity.organization, self._owners, self._places, key, subject or ""
            )
            if seen is not None and self._is_plain(key, seen.declarations):
                with suppress(ValueError, TypeError):  # the long way says that a row is damaged
                    return json.loads(seen.value_text)
        with self._reading() as (reader, lens):
            found = lens.led_to(reader, key, subject)
            declared = matching(reader.declarations(), key)
        if found and any(traced.multi_valued for traced in declared):
            return [fact.value for fact in sorted(found, key=lambda fact: fact.id)]
        return foremost(found).value if found else None

    def _is_plain(self, key: str, declarations: tuple[Declaration, ...]) -> bool:
        """Whether no declaration makes the value of a key a list, or hides it from us."""
        return not declarations or all(
            not traced.multi_valued and self.identity.permissions.issuperset(traced.requires)
            for traced in matching(declarations, key)
        )

    @repeated
    def is_current(self, key_or_id: str) -> bool:
        """Whether a fact, or any fact at a key, holds office."""
        self._check_named(key_or_id)
        with self._reading() as (reader, lens):
            if lens.view(reader, key_or_id).effective:
                return True
            fact = lens.glimpse(reader, key_or_id)
            return fact is not None and fact.is_valid and fact.place in lens.places

    @repeated
    def get(self, fact_id: str) -> Fact | None:
        """One fact by its id, whatever its status, or None where there is none to be seen."""
        self._check_named(fact_id)
        with self._reading() as (reader, lens):
            fact = lens.by_id(reader, fact_id)
            return with_derived(reader, lens, [fact])[0] if fact is not None else None

    @repeated
    def facts(self, key: str | None = None, *, subject: str | None = None) -> list[Fact]:
        """The facts this session goes by, newest first: valid, visible, in scope, not shadowed.

        A key "" leaves those that were kept as they were said, under no name.
        """
        self._check_named(None if key == UNNAMED else key, subject)
        with self._reading() as (reader, lens):
            found = lens.view(reader, key, subject).effective
            ordered = sorted(found, key=lambda fact: (fact.order, fact.id), reverse=True)
            return with_derived(reader, lens, ordered)

    @repeated
    def history(self, key: str, subject: str | None = None) -> Chain:
        """The chain of a key, oldest first, with what superseded it under other keys."""
        self._check_named(key, subject)
        with self._reading() as (reader, lens):
            return lens.chain(reader, lens.everything(reader, key, subject or ""))

    @repeated
    def explain(self, key_or_id: str, subject: str | None = None) -> Explanation:
        """Why a fact stands as it does: its chain, every verdict on it, what it rests on."""
        self._check_named(key_or_id, subject)
        with self._reading() as (reader, lens):
            return explain(reader, lens, find_any(reader, lens, key_or_id, subject))


def foremost(facts: Iterable[Fact]) -> Fact:
    """The one fact that a single-valued key stands for, among those it leads to.

    One's own fact comes before the organization's. The fact at the address comes before those that
    turns have put beside it; of these, the newest counts.
    """
    return max(facts, key=lambda f: (bool(f.owner), not f.multi_valued, f.order, f.id))
