"""Taking up: what an answer makes of what was asked, offered or proposed right before it.

An answer alone says nothing the next day: "4", "The second one.", "go ahead". The question is kept
beside it, whole and as its speaker's word, and a draft that is settled on takes office as it was
said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from incumbent.engine.registrar import Registrar
from incumbent.engine.reviews import again
from incumbent.language.attributes import is_attribute_noun, key_of
from incumbent.language.cues import Cues
from incumbent.model.fact import Fact
from incumbent.model.records import Turn
from incumbent.model.scope import Scope
from incumbent.model.values import text_of
from incumbent.model.verdict import Outcome, Rule, Verdict
from incumbent.reading.comparing import stems_of
from incumbent.reading.form import Claim, Statement, StatementKind
from incumbent.reading.things import name_of
from incumbent.turns.circumstances import Circumstances, Speaker
from incumbent.turns.proposals import Proposals
from incumbent.turns.situation import Situation

_LONGEST_ANSWER: Final = 6
_LONGEST_QUESTION: Final = 300
_STILL_OPEN: Final = 4
"""A draft can be settled on for so many turns."""
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*\s*")
_OFFERS: Final = re.compile(
    r"\?|\b(?:or|options?|instead|suggest|recommend|propose|could|would|there (?:is|are))\b|"
    r"\bi['’]d\b",
    re.IGNORECASE,
)
_REFUSES: Final = re.compile(
    r"\W*(?:no,? thank|nope|nah|rather not|i['’]d rather not|let['’]s not|not (?:now|really)|"
    r"i['’]m (?:fine|good) )",
    re.IGNORECASE,
)
"""What is turned down need not be known."""
_CHOOSES: Final = re.compile(
    r"\b(?:ones?|first|second|third|last|former|latter|option|both|either|(?-i:[A-D]))\b",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    r"\b(?:anything|something|what) else\b|\bhow (?:can|may) i help\b", re.IGNORECASE
)
_YOUR: Final = re.compile(
    r"\b(?:what|which)(?:['’]s| is| are) your ([a-z ]{2,40})\?\s*$", re.IGNORECASE
)


class TakingUp:
    """Looks at what stands right before one turn, inside one transaction."""

    def __init__(self, registrar: Registrar, situation: Situation, around: Circumstances) -> None:
        self._registrar = registrar
        self._situation = situation
        self._around = around

    def named(self, said: Statement) -> Statement:
        """A bare answer to "What is your …?" under the name that was asked for."""
        found = _YOUR.search(self._question()) if self._is_bare(said) else None
        noun = found[1].strip().lower() if found is not None else ""
        if not noun or not is_attribute_noun(noun.split()[-1]):
            return said
        value = said.text.strip().rstrip(".!")
        start = said.start + said.text.index(value)
        claim = Claim(None, key_of(noun), value, start, start + len(value), is_own=True)
        return replace(said, kind=StatementKind.STATES, claim=claim)

    def asked(self, said: Statement) -> Verdict | None:
        """Keep the question that a short answer answers, as the word of who asked."""
        start, text = self._span()
        answers = said.kind is StatementKind.AGREES or Cues(said.text).settles
        answers |= self._is_bare(said) and (
            text.endswith("?") or _CHOOSES.search(said.text) is not None
        )
        if not answers or said.claim is not None or not text or _REFUSES.match(said.text):
            return None
        if _OPEN.search(text) or len(text) > _LONGEST_QUESTION:
            return None
        turn = self._situation.turns[-1]
        proposals = Proposals(self._registrar, self._around_of(turn))
        question = Statement(text, start, start + len(text), StatementKind.STATES)
        return self._registrar.propose(proposals.of(question, None))

    def settled(self, said: Statement) -> list[Verdict]:
        """Put into office what was proposed a moment ago, where this settles on it."""
        around = self._around
        settles = said.kind is StatementKind.AGREES or Cues(said.text).settles
        if not settles or said.parts or around.branch is not None:
            return []
        drafts = [one for one in self._situation.open.values() if self._is_fresh(one)]
        last = drafts[-1].source.turn_index if drafts else None
        return [self._in_office(one) for one in drafts if one.source.turn_index == last]

    def _is_fresh(self, draft: Fact) -> bool:
        at, turn = self._around.at, draft.source.turn_index
        here = turn is not None and self._around.turn_index - turn <= _STILL_OPEN
        return here and (at is None or at >= draft.order)

    def _in_office(self, draft: Fact) -> Verdict:
        proposal = again(
            draft,
            scope=Scope.GLOBAL,
            scope_id=None,
            doubts=tuple(fact.id for fact in self._named_in(text_of(draft.value))),
            at=self._around.at,
            asks_first=self._around.asks_first,
        )
        return self._registrar.propose(
            proposal, rule=Rule.COMMIT, outcome=Outcome.PROMOTED, replaces=draft
        )

    def _named_in(self, text: str) -> Iterable[Fact]:
        """The facts whose name is in a text, and whose value is not."""
        said = stems_of(text)
        for fact in self._situation.facts.values():
            name = name_of(fact.key, fact.subject)
            if name and name <= said and text_of(fact.value).lower() not in text.lower():
                yield fact

    def _is_bare(self, said: Statement) -> bool:
        return (
            said.claim is None
            and len(said.text.split()) <= _LONGEST_ANSWER
            and said.kind in (StatementKind.STATES, StatementKind.ORDERS)
            and bool(self._question())
        )

    def _question(self) -> str:
        """What a machine asked or offered right before, with what it needs to be understood."""
        return self._span()[1]

    def _span(self) -> tuple[int, str]:
        told = self._situation.previous.rstrip()
        if not self._situation.previous_by_machine or _OFFERS.search(told) is None:
            return 0, ""
        if len(told) <= _LONGEST_QUESTION:
            return 0, told
        first = list(_SENTENCE.finditer(told))[-2:][0]
        start = first.start() + len(first.group()) - len(first.group().lstrip())
        return start, told[start:]

    def _around_of(self, turn: Turn) -> Circumstances:
        rungs = self._registrar.ladder.rungs
        speaker = Speaker(turn.speaker, False, rungs[0])
        return replace(
            self._around,
            speaker=speaker,
            turn_index=turn.turn_index,
            ref=turn.ref,
            at=self._around.at and turn.at,
            text=self._situation.previous,
        )
