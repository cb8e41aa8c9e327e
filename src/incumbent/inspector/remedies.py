"""Remedies: what a person can do about a fact, as a form asks for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from incumbent.model.errors import InvalidInput, UnknownFact
from incumbent.model.fact import Fact
from incumbent.model.scope import Scope
from incumbent.model.verdict import Outcome, Verdict
from incumbent.session import Session
from incumbent.words import told, why


@dataclass(frozen=True)
class Remedy:
    """A request about one fact. The same is rehearsed before it is done."""

    do: str
    fact_id: str
    value: str = ""
    reason: str = ""
    to: str = ""
    """The earlier fact to go back to."""

    @classmethod
    def of(cls, form: Mapping[str, str], kinds: Mapping[str, RemedyKind]) -> Remedy:
        """What a form asks for, if it is one of these kinds."""
        do = form.get("do", "")
        if do not in kinds:
            raise InvalidInput(f"{do!r:.40} is nothing that can be done; go back and choose again")
        return cls(
            do,
            form.get("id", ""),
            form.get("value", "").replace("\r\n", "\n"),
            form.get("reason", "").strip(),
            form.get("to", ""),
        )

    @property
    def fields(self) -> dict[str, str]:
        """What a form must send to ask for the same."""
        given = {
            "do": self.do,
            "id": self.fact_id,
            "value": self.value,
            "reason": self.reason,
            "to": self.to,
        }
        return {name: text for name, text in given.items() if text}


Call = Callable[[Session, Remedy, Fact], Verdict]


@dataclass(frozen=True)
class RemedyKind:
    """A kind of remedy: its words, and the call that carries it out."""

    title: str
    """What the page asks about it, before the name of the fact."""
    button: str
    done: str
    """What is said once it is done, before the fact."""
    call: Call

    def carried_out(self, session: Session, remedy: Remedy) -> Verdict:
        """Do it, in a session or in a rehearsal of one."""
        return self.call(session, remedy, _fact_of(session, remedy.fact_id))

    def said(self, verdict: Verdict) -> str:
        """What came of it, in a sentence."""
        if verdict.fact is None:
            return self.done
        if verdict.outcome in (Outcome.OVERRULED, Outcome.CONTESTED):
            return f"{told(verdict.fact)}: {verdict.outcome}, because {why(verdict)}"
        return f"{self.done}: {told(verdict.fact)}"


def _fact_of(session: Session, fact_id: str) -> Fact:
    fact = session.get(fact_id)
    if fact is None:
        raise no_such_fact(fact_id)
    return fact


def no_such_fact(fact_id: str) -> UnknownFact:
    """The same words for a fact that does not exist and for one that may not be seen."""
    return UnknownFact(f"no fact with id {fact_id!r:.80} exists here; look for it among the facts")


def value_of(text: str, like: Any) -> Any:
    """The value that a person wrote, of the kind that stands there: text, or JSON for the rest."""
    if isinstance(like, str):
        if not text.strip():
            raise InvalidInput("the new value is empty; write one, or take the fact back")
        return text
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise InvalidInput(
            f"{text!r:.40} is not JSON, and the value that stands there is no text: write a "
            f'number as 12, a list as ["a", "b"], a text as "a"'
        ) from None


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _correct(session: Session, remedy: Remedy, fact: Fact) -> Verdict:
    """Write a new value in the fact's place, with its terms: nobody reads it whom it kept out."""
    if not fact.is_valid:
        raise InvalidInput(
            f"{fact.quoted_key} is {fact.status}, and only a fact in office can be corrected; "
            f"open the one that stands now"
        )
    in_branch = not fact.scope.is_real  # there, every write belongs to the branch
    return session.write(
        fact.key,
        value_of(remedy.value, fact.value),
        subject=fact.subject,
        supersedes=fact.id,
        scope=Scope.GLOBAL.value if in_branch else fact.scope.value,
        scope_id=None if in_branch else fact.scope_id,
        depends_on=_bases(session, fact),
        memory_type=fact.memory_type.value,
        is_constraint=fact.is_constraint,
        constraint_type=fact.constraint_type,
        requires=fact.requires,
        min_authority=fact.min_authority,
        valid_until=fact.valid_until,
    )


def _bases(session: Session, fact: Fact) -> list[str]:
    """The bases as they stand now: whoever corrects a derived value has looked at those."""
    ends = dict.fromkeys(leg.stands_on for leg in fact.basis)
    return [end for end in ends if (found := session.get(end)) is not None and found.is_valid]


def _retract(session: Session, remedy: Remedy, fact: Fact) -> Verdict:
    return session.retract(fact.id, remedy.reason or None)


def _revert(session: Session, remedy: Remedy, fact: Fact) -> Verdict:
    return session.revert(fact.id, remedy.to or None)


def _promote(session: Session, remedy: Remedy, fact: Fact) -> Verdict:
    return session.promote(fact.id)


def _still_right(session: Session, remedy: Remedy, fact: Fact) -> Verdict:
    return session.resolve(fact.id, still_right=True, reason=remedy.reason or None)


def _replace(session: Session, remedy: Remedy, fact: Fact) -> Verdict:
    value = value_of(remedy.value, fact.value)
    return session.resolve(fact.id, value, reason=remedy.reason or None)


def _take_back(session: Session, remedy: Remedy, fact: Fact) -> Verdict:
    return session.resolve(fact.id, retract=True, reason=remedy.reason or None)


CORRECTIONS = {
    "correct": RemedyKind("Correct", "Write the new value", "Corrected", _correct),
    "retract": RemedyKind("Take back", "Take it back", "Taken back", _retract),
    "revert": RemedyKind("Go back on", "Put the earlier value back", "Put back", _revert),
    "promote": RemedyKind("Widen", "Let it hold everywhere", "Holds everywhere", _promote),
}
"""What can be done about any fact."""

DECISIONS = {
    "keep": RemedyKind("Keep", "Keep it", "Kept", _still_right),
    "accept": RemedyKind("Accept", "Let it take office", "Accepted", _still_right),
    "approve": RemedyKind("Keep", "Keep it", "Kept", _still_right),
    "dismiss": RemedyKind("Do not keep", "Do not keep it", "Not kept", _take_back),
    "both": RemedyKind("Let both stand", "Let both stand", "Both stand", _still_right),
    "replace": RemedyKind("Replace", "Write the new value", "Replaced", _replace),
    "retract": RemedyKind("Take back", "Take it back", "Taken back", _take_back),
    "drop": RemedyKind("Take back", "Take it back", "Taken back", _retract),
}
"""What can be decided in a review. `drop` takes back a statement that only raised a doubt."""
