"""Keeping: stretches of turns that a model would keep, filed in their own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from incumbent.engine.proposal import Proposal
from incumbent.language.llm.checking import Span
from incumbent.language.llm.reading import Keep
from incumbent.language.statements import Kind
from incumbent.model.fact import Fact, MemoryType
from incumbent.model.scope import Scope
from incumbent.model.values import check_text
from incumbent.model.verdict import Verdict
from incumbent.observing.answering import question_in
from incumbent.observing.drafting import SUREST
from incumbent.observing.hearing import Hearing
from incumbent.observing.opinions import Proposed
from incumbent.observing.quoting import Quoted, quoted_in
from incumbent.observing.relating import is_restated, restated
from incumbent.observing.rewriting import JOINT
from incumbent.observing.scrutiny import Declined, speaks_of_policy
from incumbent.observing.situation import STATEMENT
from incumbent.observing.wording import as_said

_LONGEST_TOLD = 500
_SHORT = 5
"""So many words say something only as an answer to what was asked before."""
_FEW_WORDS = 3
"""What is left of a stretch that is on record already tells nothing in fewer words."""


class Keeping:
    """Files what a model would keep, as the offline reading files what it keeps."""

    def __init__(self, hearing: Hearing) -> None:
        self._hearing = hearing

    def take(self, keep: Keep) -> None:
        """Have a stretch kept that is not on record."""
        about = (STATEMENT, None, keep.quote[:_LONGEST_TOLD])
        self._hearing.attempt(keep.turn, about, lambda: self._take(keep))

    def _take(self, keep: Keep) -> list[Proposed]:
        quoted = quoted_in(keep, self._hearing.turns)
        brought = self._hearing.brought_by(quoted.waiting)
        spans = [fact.source.span for fact in brought if self._lasts(fact) and fact.source.span]
        left = [
            replace(piece, span=span)
            for piece in quoted.to_be_kept()
            for span in _uncovered(piece, spans)
        ]
        if not left:
            return [Proposed(keep.turn, STATEMENT, None, quoted.text, "agreed", "on record")]
        done = []
        for piece in left:
            verdict = self.file(piece)
            done.append(Proposed(keep.turn, STATEMENT, None, piece.text, "accepted", "", verdict))
        return done

    def _lasts(self, fact: Fact) -> bool:
        """Whether a fact is there beyond the session: an order with its values is not."""
        is_of_branch = fact.place == self._hearing.conversation.branch
        return is_of_branch or fact.scope in (Scope.GLOBAL, Scope.TASK)

    def file(
        self,
        quoted: Quoted,
        *,
        doubts: Iterable[str] = (),
        takes: Sequence[Fact] = (),
        since: datetime | None = None,
    ) -> Verdict:
        """File a stretch under no name, with the authority and in the scope of who says it.

        It binds nobody, and is the speaker's own memory: nothing that a model brings is more.
        """
        if speaks_of_policy(quoted.text):
            raise Declined("it speaks of policy, which is not for a model to set; use write()")
        hearing = self._hearing
        proposal = replace(self._proposal(quoted), doubts=tuple(doubts))
        if since is not None:
            proposal = replace(proposal, valid_from=since)
        if not proposal.doubts and not takes:
            for fact in self._near(quoted):
                if fact.key == STATEMENT and is_restated(proposal, fact):
                    proposal = restated(proposal, fact)
        verdict = hearing.registrar.propose(proposal, takes=takes, evidence=hearing.evidence)
        return hearing.decided(quoted.waiting, verdict)

    def _proposal(self, quoted: Quoted) -> Proposal:
        text = check_text(quoted.text.strip(), "value")
        told = self._with_question(quoted, text)
        place = replace(
            quoted.said.statement, text=quoted.text, start=quoted.span[0], end=quoted.span[1]
        )
        said = as_said(replace(quoted.said, statement=place), told, Kind.ASSERTION)
        # Its opening words ("actually", "per Ann") are what was said, too.
        opening = told.index(said.text) if said.text in told else 0
        parts = tuple(
            part._replace(start=part.start + opening, end=part.end + opening) for part in said.parts
        )
        filing = self._hearing.drafting.filing(quoted.waiting)
        return replace(
            filing.proposal(replace(said, attribute=None)),
            key=STATEMENT,
            subject=None,
            value=told,
            depends_on=(),
            source=filing.source(said, parts),
            constraint_type=None,
            is_constraint=False,
            memory_type=MemoryType.USER,
            confidence=SUREST,
            multi_valued=True,
        )

    def _with_question(self, quoted: Quoted, text: str) -> str:
        """A short answer with what it answers, as the offline reading keeps one."""
        is_answer = quoted.span[0] == 0 and len(text.split()) <= _SHORT
        before = self._hearing.drafting.text_before(quoted.waiting) if is_answer else ""
        asked = question_in(before) if "?" in before else ""
        return f"{asked}{JOINT}{text}" if asked else text

    def _near(self, quoted: Quoted) -> Iterator[Fact]:
        """The facts that may say the same: those that were shown, and those of the turn."""
        yield from self._hearing.brought_by(quoted.waiting)
        for handle in self._hearing.known:
            fact = self._hearing.current(handle)
            if fact is not None and fact.order <= quoted.waiting.moment:
                yield fact


def _uncovered(quoted: Quoted, spans: Sequence[Span]) -> list[Span]:
    """The stretches of a quote that no fact of its turn was read off.

    What is left of it has to have a few words, or as many as the quote has.
    """
    left, begin, end = [], *quoted.span
    for start, stop in sorted(spans):
        if start < end and stop > begin:
            left.append((begin, max(begin, start)))
            begin = min(max(begin, stop), end)
    left.append((begin, end))
    shortest = min(_FEW_WORDS, _words(quoted.text))
    text = quoted.waiting.heard.text
    return [(begin, end) for begin, end in left if _words(text[begin:end]) >= shortest]


def _words(text: str) -> int:
    return len(re.findall(r"\w+", text))
