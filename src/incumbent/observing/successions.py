"""Successions: statements in office with some of their values replaced."""

from __future__ import annotations

from collections.abc import Container, Sequence
from datetime import datetime

from incumbent.engine.proposal import Proposal
from incumbent.language.detection import WORDS, Relation
from incumbent.model.fact import Fact
from incumbent.model.verdict import Outcome, Rule
from incumbent.observing.circumstances import history_of
from incumbent.observing.desk import Desk
from incumbent.observing.replacing import is_statement
from incumbent.observing.rewriting import (
    UNCLEAR,
    Rewritten,
    Swap,
    in_words_of,
    renamed,
    rewritten,
)
from incumbent.observing.understanding import Understood, typed

DOUBTED = 0.5
"""How sure of a statement one is that seems not to be said in earnest: it has to be asked about."""
_TOOK_OVER = (Outcome.SUPERSEDED, Outcome.PROMOTED, Outcome.REVERTED)


def is_unsure(said: Understood) -> bool:
    """Whether it is said with so little conviction that who said otherwise should be asked."""
    return said.cues.is_unsure and not said.is_request and not said.corrects


def is_far_fetched(said: Understood, swap: Swap) -> bool:
    """Whether names stand for each other that nothing ties together.

    "We're in Luton" after "Ramadan mubarak. Which city?": one name is as good as any other.
    """
    if said.corrects or not is_statement(swap.fact) or swap.relation >= Relation.SAME_THING:
        return False
    return swap.old.kind in WORDS


class Successions:
    """Puts statements in the place of those whose values a turn replaces."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def put_in_place(
        self,
        said: Understood,
        key: str,
        subject: str | None,
        rule: Rule | None = None,
        spared: Container[str] = (),
    ) -> list[bool]:
        """Replace the values that the statement puts out of office; tells of each if it did.

        What it follows from is `spared`.
        """
        # Of what is said with little conviction it is enough to know what it would be against, and
        # what was only proposed in its own words has been settled on in others.
        # Who comes back from an aside names what they come back to.
        plainly = is_unsure(said) or rule is Rule.COMMIT or said.cues.comes_back
        desk = self._desk
        look_up = desk.by_rules.swaps if plainly else desk.swaps
        swaps = look_up(said, key, subject)
        kept = [s for s in swaps if s.fact.id not in spared and not is_far_fetched(said, s)]
        return [self.rewrite(said, found, rule) for found in rewritten(kept)]

    def replace_elsewhere(self, said: Understood, proposal: Proposal, held: Sequence[Fact]) -> None:
        """Replace what these facts said also where statements of the conversation say it."""
        new = typed(proposal.source.parts)
        if len(new) == 1 and all(fact.id not in self._desk.situation.facts for fact in held):
            for found in rewritten(self._desk.replacing.elsewhere(held, new[0])):
                self.rewrite(said, found, None)

    def rewrite(self, said: Understood, found: Rewritten, rule: Rule | None) -> bool:
        """Put a statement in the place of one with another value; tells whether it took over."""
        at, branch = self._desk.around.at, self._desk.around.branch
        # Whoever walks in binds nobody, not even where they speak to what binds.
        binds = self._desk.registrar.identity.authority.rank > 0
        found = in_words_of(said, found)
        fact = found.fact
        if at is not None and at < fact.order:
            # It was said before the statement that it would correct.
            self._desk.record.outdated.append((said.statement.start, said.statement.end))
            return False
        place = branch or fact.place
        proposal = Proposal(
            key=renamed(found),
            value=found.text,
            subject=fact.subject,
            supersedes=fact.id,
            scope=place[0],
            scope_id=place[1] or None,
            source=self._desk.filing.source(
                said,
                found.parts,
                earlier=history_of(fact),
                wording=found.text if found.is_composed else None,
            ),
            authority=self._desk.filing.authority(said),
            memory_type=self._desk.filing.speaks_to(said, fact),
            is_constraint=(binds and fact.is_constraint) or None,
            constraint_type=fact.constraint_type if binds else None,
            requires=fact.requires,
            min_authority=fact.min_authority,
            valid_until=fact.valid_until if _is_ahead(fact, at) else None,
            at=at,
            confidence=self._confidence(said, found),
            multi_valued=fact.multi_valued,
            spoken=True,
        )
        verdict = self._desk.registrar.propose(
            proposal,
            rule=rule or (Rule.EXPLICIT if said.corrects else Rule.IMPLICIT),
            evidence={"detector": self._desk.detector.name, "kinds": list(found.because)},
        )
        took = verdict.outcome in _TOOK_OVER
        self._desk.note(verdict, [fact] if took else (), found.retired if took else ())
        return took

    def _confidence(self, said: Understood, found: Rewritten) -> float:
        if is_unsure(said):
            return DOUBTED
        sure = found.confidence
        if said.corrects and UNCLEAR not in found.because:
            # Who says that they correct something is not asked whether they do.
            sure = max(sure, self._desk.registrar.settings.contest_below)
        return self._desk.filing.confidence(said, [found.fact], sure)


def _is_ahead(fact: Fact, at: datetime | None) -> bool:
    """Whether the term of a fact still has an end to come."""
    return fact.valid_until is not None and (at is None or fact.valid_until > at)


def is_doubted(desk: Desk, said: Understood, held: Sequence[Fact]) -> bool:
    """Whether a statement has to be asked about before it takes over from these.

    What is to be worked out again is said again without a word about that.
    """
    if not is_unsure(said) and not desk.replacing.is_doubted(said, held):
        return False
    lens, reader = desk.registrar.lens, desk.registrar.transaction
    seen = [lens.by_id(reader, fact.id) for fact in held]
    return not all(fact is not None and fact.needs_review for fact in seen)


def rule_for(desk: Desk, said: Understood, held: Sequence[Fact]) -> Rule | None:
    """The rule by which a statement takes over from these, where its words tell."""
    if not held:
        return None
    if said.by is not None:
        return Rule.AUTHORITY
    ladder = desk.registrar.ladder
    own = ladder.rank(desk.filing.rung(said))
    equal = all(ladder.rank(fact.standing) == own for fact in held)
    return Rule.EXPLICIT if said.corrects and equal else None
