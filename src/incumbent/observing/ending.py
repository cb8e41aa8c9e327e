"""Ending: what a statement takes back, with nothing in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from incumbent.language import loosely
from incumbent.language.cues import Cues
from incumbent.language.detection import same_part
from incumbent.language.everything import asks_for_everything
from incumbent.language.lexicon import lexicon
from incumbent.language.statements import Kind
from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent.observing import limiting, overtaking, resolving, ties, voices
from incumbent.observing.desk import Desk, tells_of_an_end
from incumbent.observing.labels import voice_of, without_label
from incumbent.observing.situation import is_request
from incumbent.observing.sorting import REAL
from incumbent.observing.understanding import Understood, typed

_PRIVATE = ("phone", "email", "address", "code", "url")
"""Kinds of values that are the same wherever they are said."""


class Ending:
    """Takes back, or marks for erasure, what a statement says is over.

    Only what is meant does: see `Desk.is_meant`.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def is_in_vain(self, said: Understood) -> bool:
        """Whether a statement asks for something to go in words that are not meant."""
        words = Cues(said.statement.text.rpartition(": ")[2])
        asks = words.erasure is not None or words.removes is not None
        return asks and not self._desk.is_meant(said)

    def asks_for_everything(self, said: Understood) -> bool:
        """Whether somebody wants all gone that is theirs: noted, and for them to confirm."""
        if not asks_for_everything(said.statement.text) or not self._desk.is_meant(said):
            return False
        self._desk.record.wants_all_gone |= self._may_erase(said)
        return True

    def erase(self, said: Understood, what: str) -> None:
        """Mark for erasure what somebody wants gone, with all that it was before."""
        if not self._may_erase(said):
            return
        lens, reader = self._desk.registrar.lens, self._desk.registrar.transaction
        facts = list(self._desk.situation.known.values())
        named = ties.about(what, resolving.named(what, facts, self._desk.last(), all_of=True))
        named = _closest(named or self._named_in(what), what) or self._pointed_at(said, what)
        private = [part for fact in named for part in fact.parts if part.kind in _PRIVATE]
        again = [f for f in facts if any(same_part(p, q) for p in f.parts for q in private)]
        for fact in (*named, *again):
            for one in lens.chain(reader, [fact]).facts:
                if self._is_theirs(one) and self._is_earlier(one):
                    self._desk.record.doomed.append(one.id)

    def _pointed_at(self, said: Understood, what: str) -> list[Fact]:
        """The fact that "it" means: about the thing that the turn named last."""
        if what.strip().lower() not in lexicon().pronouns:
            return []
        things = loosely.things(self._desk.around.text[: said.statement.end])
        return ties.found(self._desk.situation, [things[-1].name]) if things else []

    def _may_erase(self, said: Understood) -> bool:
        """Whether it is one's own that goes, by one's own words, and for real."""
        around = self._desk.around
        return (
            around.speaker.is_self
            and around.branch is None
            and voice_of(around.text) is None
            and self._desk.is_meant(said)
        )

    def _is_theirs(self, fact: Fact) -> bool:
        """Whether a fact is the speaker's own, and not somebody's word who ranks above them."""
        registrar = self._desk.registrar
        above = registrar.ladder.rank(fact.standing) > registrar.identity.authority.rank
        return fact.owner == registrar.identity.user_id and not above

    def _is_earlier(self, fact: Fact) -> bool:
        """Whether a fact had been said by the time of the turn."""
        at = self._desk.around.at
        return at is None or at >= fact.timestamp

    def remove(self, said: Understood) -> bool:
        """Take back what somebody wants removed, if it is something that is known."""
        if said.kind not in (*REAL, Kind.RETRACTION):
            return False
        if not self._desk.is_meant(said):
            return False
        what = said.removes or said.cues.removes or loosely.removed(said.statement.text)
        fact = ties.meant(self._desk.situation, what) if what is not None else None
        found = [] if fact is None or is_request(fact) else self._desk.within_reach(said, [fact])
        along: list[Fact] = []
        if said.cues.what_is_over is not None:
            facts = self._desk.within_reach(said, self._desk.situation.facts.values())
            along = [one for gone in found for one in overtaking.leaning(gone, facts)]
        for one in {one.id: one for one in (*found, *along)}.values():
            self._desk.take_back(one, said.statement.text)
        return bool(found)

    def drop_mistakes(self, said: Understood) -> None:
        """Take back what somebody said who, as a statement tells, was wrong."""
        found = voices.was_wrong(said.statement.text, self._desk.situation)
        if found and not self._desk.is_meant(said):
            return
        for fact in self._desk.within_reach(said, found):
            self._desk.take_back(fact, said.statement.text)

    def rule_out(self, said: Understood) -> None:
        """Take back what asks for more than a limit allows that a statement sets."""
        beyond = limiting.ruled_out(said, self._desk.situation.facts.values())
        if beyond and not self._desk.is_meant(said):
            return
        for fact in self._desk.within_reach(said, beyond):
            self._desk.take_back(fact, said.statement.text)

    def retract(self, said: Understood) -> None:
        """Take back what a statement names, or points back to, as over or wrong."""
        if not self._desk.is_meant(said):
            return
        # What tells that something is over is not what is called off once more.
        standing = [f for f in self._desk.situation.facts.values() if not tells_of_an_end(f)]
        facts = self._desk.within_reach(said, standing)
        last = [
            f for f in self._desk.within_reach(said, self._desk.last()) if not tells_of_an_end(f)
        ]
        if self._desk.situation.has_asked or (
            said.kind is not Kind.RETRACTION and not said.points_back
        ):
            last = []  # "never mind" is about what was asked
        is_over = said.cues.what_is_over is not None
        words = without_label(said.cues.meant())
        found = ties.about(words, resolving.named(words, facts, last, every=is_over))
        if not self._names_what_it_ends(words, found):
            found = self._desk.within_reach(said, self._named_in(words)) or found
        along = [one for fact in found for one in overtaking.leaning(fact, facts) if is_over]
        for fact in {one.id: one for one in (*found, *along)}.values():
            self._desk.take_back(fact, said.statement.text)

    def end(self, said: Understood) -> None:
        """Take back what a statement ends without a word about that: "we broke up"."""
        for fact, judged in self._desk.replacing.ended(said):
            if self._desk.within_reach(said, [fact]) and self._desk.is_meant(said, whole=True):
                how = {"detector": self._desk.detector.name, "confidence": judged.confidence}
                self._desk.take_back(fact, said.statement.text, how)

    def _named_in(self, words: str) -> list[Fact]:
        """The fact about the thing that words name, however long ago it was said."""
        name = ties.thing_in(words)
        return ties.found(self._desk.situation, [name]) if name is not None else []

    def _names_what_it_ends(self, words: str, found: Sequence[Fact]) -> bool:
        named = {fact.id for fact in self._named_in(words)}
        return not named or any(fact.id in named for fact in found)


def _closest(found: Sequence[Fact], what: str) -> list[Fact]:
    """Of what words name, all but what was said of somebody else's: "my sister's birthday"."""
    thing = re.escape((re.findall(r"\w+", what) or [""])[-1])
    theirs = re.compile(rf"\w['’]s (?:\w+ )?{thing}\b", re.IGNORECASE)
    named = [fact for fact in found if not fact.multi_valued]
    return [f for f in found if not named or f in named or not theirs.search(text_of(f.value))]


def only_opens(desk: Desk, said: Understood, after: Sequence[Understood]) -> bool:
    """Whether "scratch that" only opens what says, in the same breath, what is so instead."""
    if said.kind is not Kind.RETRACTION or not after or after[0].kind not in REAL:
        return False
    told = ties.stated(after[0].text)
    if told is None:
        return False
    if typed(said.frame.parts):
        # "Not Lisbon any more, the office is in Porto": what goes is what the office was.
        fact = ties.meant(desk.situation, told.thing)
        gone = [part.text for part in typed(said.frame.parts)]
        return fact is not None and any(ties.says(fact, text) for text in gone)
    # Where it names what is to go, that goes.
    return not resolving.named(said.cues.meant(), list(desk.situation.facts.values()), [])
