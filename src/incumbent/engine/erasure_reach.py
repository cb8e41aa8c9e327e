"""The reach of an erasure: the texts that name erased facts, and the people whose texts may repeat
them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from incumbent.model.fact import Fact
from incumbent.model.quotation import Quotations
from incumbent.model.values import leaves

_LONG_ENOUGH = 6
"""A value within a statement counts as quoted from this length on: not "4" or "Monday"."""
_EVERYBODY = "*"
_NOTHING = Quotations(())


class Reach:
    """The facts that go, and the people who may have repeated them.

    A text that names a fact by its id is reached wherever it is. Words are compared only in texts
    of the fact's owner, where a repeated word is more likely a quotation than a coincidence. Facts
    of the organization may have been repeated by everybody: an erasure by those who answer for it
    looks for them everywhere, unless they are a common word.
    """

    def __init__(
        self,
        facts: Iterable[Fact],
        *,
        names: tuple[str, ...] = (),
        everything_of: str | None = None,
        by: str | None = None,
    ) -> None:
        self.facts = tuple(facts)
        self.ids = frozenset(fact.id for fact in self.facts)
        self.everything_of = everything_of
        """The user of whom everything goes, if any."""
        self.by = by
        """The person who asks. Then only this person's texts are searched."""
        self._names = names
        found = {fact.owner for fact in self.facts if fact.owner}
        self.owners = sorted(found if by is None else found & {by})
        shared = [fact for fact in self.facts if not fact.owner] if by is None else []
        telling = [text for text in said_by(shared) if len(text) >= _LONG_ENOUGH]
        self.shared = Quotations((*telling, *names)) if shared else _NOTHING
        """The erased texts of the organization, and the names that go with them."""
        self._told = telling if shared else []
        self._quotes: dict[str, Quotations] = {}

    @property
    def only(self) -> str | None:
        """The one person whose texts can name the erased facts; None if others' can as well.

        Nobody else can have named a fact that is one person's alone.
        """
        alone = self.by is not None and all(fact.owner == self.by for fact in self.facts)
        return self.by if alone else None

    def quotes(self, user_id: str) -> Quotations:
        """Finds the parts of a user's text that repeat erased content."""
        if user_id not in self.owners:
            return self.shared
        if user_id not in self._quotes:
            own = said_by(fact for fact in self.facts if fact.owner == user_id)
            self._quotes[user_id] = Quotations((*own, *self._told, *self._names))
        return self._quotes[user_id]

    def marks(self, erasure_id: str) -> set[str]:
        """Marks of the users whose texts were searched. Only somebody who has a user's name can
        recognize its mark."""
        found = {_mark(erasure_id, owner) for owner in self.owners}
        if self.shared:
            found.add(_EVERYBODY)
        if self.everything_of is not None:
            found.add(_mark(erasure_id, self.everything_of, "all"))
        return found


def reaches(evidence: Mapping[str, Any], user_id: str) -> bool:
    """True if an erasure on the log searched the texts of a user.

    An older erasure that does not say counts as having searched everybody's.
    """
    whose = evidence.get("whose", (_EVERYBODY,))
    return _EVERYBODY in whose or _mark(evidence["erasure"], user_id) in whose


def takes_all(evidence: Mapping[str, Any], user_id: str) -> bool:
    """Whether an erasure on the log was of everything of a user."""
    return _mark(evidence["erasure"], user_id, "all") in evidence.get("whose", ())


def quotations(facts: Iterable[Fact]) -> Quotations:
    """Finds texts that repeat a value of these facts."""
    return Quotations(said_by(facts))


def said_by(facts: Iterable[Fact]) -> set[str]:
    """The values of facts and each telling part of them, also as a context shows them."""
    facts = list(facts)
    told = {leaf for fact in facts for leaf in leaves(fact.value)}
    told |= {p.text for fact in facts for p in fact.parts if len(p.text) >= _LONG_ENOUGH}
    # A receipt has lines as they were shown, where some characters are escaped.
    return told | {json.dumps(leaf, ensure_ascii=False)[1:-1] for leaf in told}


def _mark(erasure_id: str, user_id: str, *more: str) -> str:
    said = "\0".join((erasure_id, user_id, *more))
    return hashlib.sha256(said.encode()).hexdigest()[:16]
