"""Sorting: what a statement is in the situation in which it is made."""

from __future__ import annotations

from incumbent.language.lexicon import lexicon
from incumbent.language.statements import Kind
from incumbent.observing import offering
from incumbent.observing.addressing import REQUEST
from incumbent.observing.filing import Filing
from incumbent.observing.replacing import Replacing
from incumbent.observing.situation import Situation, is_request
from incumbent.observing.understanding import Understood, typed

REAL = (Kind.ASSERTION, Kind.REQUEST, Kind.COMMITMENT)
"""Kinds of statements whose speakers stand by what they say."""
_VOUCHED = frozenset({"factive", "hedge"})
"""Cues of a statement that its speaker stands by, however it is put."""


class Sorting:
    """Tells real statements from those that are tried out, proposed or somebody else's."""

    def __init__(self, situation: Situation, filing: Filing, replacing: Replacing) -> None:
        self._situation = situation
        self._filing = filing
        self._replacing = replacing

    def kind_of(self, said: Understood) -> Kind:
        """What a statement is, in this situation.

        "How about Friday?" asks for Friday where something is being asked for, and proposes it
        where Wednesday is a fact.
        """
        cues = said.statement.cues
        if said.kind in REAL and self._is_tried_out(said):
            return Kind.HYPOTHETICAL
        if self._is_hearsay(said):
            return Kind.REPORT
        if said.kind is Kind.REQUEST and "suggestion" in cues:
            # "Why don't we use MySQL?" asks for nothing where nothing is being asked for.
            asks = "question" in cues and self._situation.matter is None
            return Kind.DRAFT if asks or self._is_against_a_fact(said) else Kind.REQUEST
        if said.kind is Kind.QUESTION and self._asks_again(said):
            return Kind.REQUEST
        if said.kind is Kind.ASSERTION and self._is_proposal(said):
            asked = self._situation.matter is not None or self._situation.previous.endswith("?")
            return Kind.REQUEST if asked else Kind.DRAFT
        if said.kind in (Kind.ASSERTION, Kind.COMMITMENT) and self._goes_on(said):
            return Kind.REQUEST
        if said.kind in REAL and offering.quotes_a_statement(said.frame.parts):
            return Kind.REPORT
        return said.kind

    @staticmethod
    def _is_hearsay(said: Understood) -> bool:
        """Whether a statement is somebody else's who has no office to decide it."""
        if said.kind not in (Kind.ASSERTION, Kind.COMMITMENT) or said.by is not None:
            return False
        cues = said.statement.cues
        return "report" in cues and not _VOUCHED.intersection(cues)

    def _is_tried_out(self, said: Understood) -> bool:
        """Whether a statement is no more than a possibility, or part of an exploration."""
        if said.cues.is_in_earnest:
            return False
        if self._situation.is_exploring:
            return True
        return said.cues.explores or said.cues.is_possibly or said.cues.is_dreamt

    @staticmethod
    def _is_proposal(said: Understood) -> bool:
        cues = said.statement.cues
        return "irrealis" in cues and not _VOUCHED.intersection(cues) and said.cues.proposes

    def _asks_again(self, said: Understood) -> bool:
        """Whether a question asks for the same with another value: "But on Friday?"."""
        if self._situation.matter is None or not said.frame.is_fragment or not typed(said.parts):
            return False
        begin = min(part.start for part in said.parts)
        before = said.text[:begin].lower().replace(",", " ").split()
        words = lexicon()
        return all(word in words.prepositions or word in words.joining for word in before)

    def _goes_on(self, said: Understood) -> bool:
        """Whether a statement answers what the assistant asked about the request at hand."""
        return (
            self._situation.matter is not None
            and "?" in self._situation.previous
            and said.attribute is None
            and said.frame.subject is None
            and not said.frame.is_named
        )

    def _is_against_a_fact(self, said: Understood) -> bool:
        """Whether a statement would replace something that is so, not only asked for."""
        address = self._filing.address(said)
        held = self._situation.holding(address.key.removesuffix(REQUEST), address.subject)
        if any(not is_request(fact) for fact in held):
            return True
        swaps = self._replacing.swaps(said, said.key, said.frame.subject)
        return any(not is_request(swap.fact) for swap in swaps)
