"""Replacing: which values in office a statement replaces, and with what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from incumbent.language.detection import (
    DOUBTED,
    WORTH_ASKING,
    Detector,
    Judged,
    Pair,
    Relation,
    Standing,
    are_comparable,
    same_part,
)
from incumbent.language.things import tells_of_another
from incumbent.model.fact import Fact, Part
from incumbent.model.values import text_of
from incumbent.observing.relating import (
    denied_words,
    differ_twice,
    explains,
    is_bare,
    is_loose,
    is_meant,
    is_named_again,
    names_another,
    names_the_same,
    opens_with_pronoun,
    parts_in,
    references,
    sentence_of,
    sets_anew,
    speaks_of,
    speaks_of_oneself,
)
from incumbent.observing.rewriting import Rewritten, Swap, chosen, written_down
from incumbent.observing.situation import (
    STATEMENT,
    VERBATIM,
    Situation,
    frame_in_office,
    is_request,
)
from incumbent.observing.understanding import Understood, typed

_LONG_TURN = 400
_MOST_ELSEWHERE = 12
_MOST_ASKED = 16
"""How many statements a detector is asked about that looks at those which nothing ties together."""
_LATEST = 2
_SURELY_OVER = 0.97
"""How sure a detector must be that something is over: nothing would be left of it."""
_ONE_MATTER = 8
_MOST_PARTS = 3
_SAME_WORDS = 4
_MOST_FACTS = 60
"""How many statements a new one is compared with, the latest first."""
_SAID_ELSEWHERE = Judged(0.9, "said elsewhere")


class Replacing:
    """Compares one statement with those in office."""

    def __init__(self, situation: Situation, detector: Detector, turn: str) -> None:
        self._situation = situation
        self._detector = detector
        self._turn = turn

    def swaps(self, said: Understood, key: str, subject: str | None) -> list[Swap]:
        """The values that a statement replaces, each with what takes its place."""
        situation = self._situation
        facts = [*self._elsewhere(said, key, subject), *situation.facts.values()]
        related = [
            (self.relation(said, fact, key, subject), age, fact)
            for age, fact in enumerate(reversed(facts[-_MOST_FACTS:]))
        ]
        pairs = [
            (fact, pair)
            for relation, age, fact in self._within_reach(related)
            for pair in self._pairs(said, fact, relation, age, self._is_at_hand(said, fact, key))
        ]
        named = references(said, facts)
        pairs = [(fact, pair) for fact, pair in pairs if is_meant(pair, named)]
        judged = self._detector.judge([pair for _, pair in pairs])
        found = chosen(
            [
                Swap(fact, pair.standing.part, pair.candidate, verdict, pair.relation)
                for (fact, pair), verdict in zip(pairs, judged, strict=True)
                if verdict.confidence >= WORTH_ASKING and pair.candidate is not None
            ]
        )
        return [*found, *written_down(found, facts, plainly=not said.corrects)]

    def noted(self, said: Understood, found: Rewritten) -> list[Swap]:
        """Where what a statement replaces in one place was also written down by itself."""
        judged = Judged(found.confidence, "said elsewhere")
        swaps = [
            Swap(found.fact, old, new, judged, Relation.SAME_THING) for old, new in found.swapped
        ]
        facts = list(self._situation.facts.values())
        return written_down(swaps, facts, plainly=not said.corrects)

    def elsewhere(self, gone: Sequence[Fact], new: Part) -> list[Swap]:
        """Where statements of this conversation say what these facts said, and a word of theirs.

        The budget of 900 is also what the note about the budget says.
        """
        found = []
        for fact in self._situation.facts.values():
            for old in (typed(parts_in(one)) for one in gone):
                said = [part for part in typed(parts_in(fact)) if old and same_part(part, old[0])]
                named = any(explains(frame_in_office(fact), one.key) for one in gone)
                if len(old) == 1 and len(said) == 1 and named and are_comparable(said[0], new):
                    found.append(Swap(fact, said[0], new, _SAID_ELSEWHERE, Relation.SAME_THING))
        return found

    def _within_reach(
        self, related: Sequence[tuple[Relation, int, Fact]]
    ) -> list[tuple[Relation, int, Fact]]:
        """The statements that the detector is asked about: of one that reaches far, the closest."""
        found = [one for one in related if one[0] >= self._detector.reach]
        if self._detector.reach >= Relation.NEARBY or len(found) <= _MOST_ASKED:
            return found
        closest = sorted(found, key=lambda one: (-one[0], one[1]))[:_MOST_ASKED]
        return sorted(closest, key=lambda one: one[1])

    def ended(self, said: Understood) -> list[tuple[Fact, Judged]]:
        """The facts that a statement ends, with nothing in their place."""
        if self._detector.reach >= Relation.NEARBY or said.cues.is_unsettled:
            return []
        if not opens_with_pronoun(said.text) or said.frame.is_named:
            return []  # what names a thing is about that, and not about what was said last
        asked = self._open_to_ending(said)
        pairs = [
            (fact, self._about(said, fact, part, Relation.APART))
            for fact in asked
            for part in parts_in(fact)[:_MOST_PARTS]
        ]
        judged = self._detector.judge([pair for _, pair in pairs])
        found: dict[str, list[Judged]] = defaultdict(list)
        for (fact, _), verdict in zip(pairs, judged, strict=True):
            found[fact.id].append(verdict)
        return [
            (fact, min(found[fact.id]))
            for fact in asked
            if found[fact.id] and min(found[fact.id]).confidence >= _SURELY_OVER
        ]

    def _open_to_ending(self, said: Understood) -> list[Fact]:
        """What was said last, and what shares a word with the statement."""
        facts = [fact for fact in self._situation.facts.values() if fact.key != VERBATIM]
        if speaks_of_oneself(said.text):
            facts = [fact for fact in facts if speaks_of_oneself(fact.source.quote or "")]
        # Who says more than that something ended says what did.
        latest = {fact.id for fact in facts[-_LATEST:] if len(said.frame.order) <= 1}
        found = []
        for fact in facts[-_MOST_ELSEWHERE:]:
            if len(text_of(fact.value).split()) > _ONE_MATTER or fact.depends_on:
                # Only one of the things that it says may be over; what follows ends with its base.
                continue
            if fact.id in latest or not said.frame.words.isdisjoint(frame_in_office(fact).words):
                found.append(fact)
        return found

    def is_doubted(self, said: Understood, held: Sequence[Fact]) -> bool:
        """Whether what would replace these facts seems not to be said in earnest."""
        if self._detector.reach >= Relation.NEARBY:
            return False
        pairs = [
            pair
            for fact in held[-_MOST_ASKED:]
            for pair in self._pairs(said, fact, Relation.SAME_WORDS, 0, at_hand=True)
        ]
        may_doubt = getattr(self._detector, "may_doubt", None)
        if may_doubt is not None and not may_doubt(pairs):
            return False
        judged = self._detector.judge(pairs)
        return any(one.because == DOUBTED for one in judged) and not any(
            one.confidence for one in judged
        )

    def _elsewhere(self, said: Understood, key: str, subject: str | None) -> list[Fact]:
        """Facts of other conversations that a statement may be about, the newest last.

        What was asked for in another conversation is only touched by what says that it corrects.
        """
        # Mere statements share a key, which tells nothing of what they are about.
        seated = self._situation.at_key(key, subject) if key != STATEMENT else ()
        found = {fact.id: fact for fact in seated}
        if not said.is_fragment:
            found.update((f.id, f) for f in self._situation.sharing(said.frame.order))
        kept = [fact for fact in found.values() if not is_request(fact) or said.corrects]
        return sorted(kept, key=lambda fact: fact.id)[-_MOST_ELSEWHERE:]

    def relation(self, said: Understood, fact: Fact, key: str, subject: str | None) -> Relation:
        """How a statement and a fact belong together, as far as their words tell."""
        if fact.key == VERBATIM:
            return Relation.OTHER
        if subject != fact.subject and (subject or (fact.subject and not is_bare(said))):
            return Relation.APART if not subject and speaks_of(said, fact) else Relation.OTHER
        if self._says_denied(said, fact):
            return Relation.SAME_MATTER  # it names the value that is not so
        if is_statement(fact) and tells_of_another(said.text, text_of(fact.value)):
            return Relation.OTHER
        same_key = fact.key == key != STATEMENT or _says_alike(said, fact)
        last = fact.id in self._situation.last_said
        if (same_key and is_request(fact)) or (
            said.is_request and fact.key == self._situation.matter
        ):
            return Relation.SAME_MATTER
        if (
            not said.is_request
            and not said.corrects
            and differ_twice(said, fact)
            and not sets_anew(said, fact)
        ):
            return Relation.OTHER  # two values differ: it is about another thing of the kind
        if same_key:
            return Relation.SAME_WORDS
        if said.is_fragment or said.points_back:
            near = last or fact.key == self._situation.matter
            return Relation.NEARBY if near or said.corrects else Relation.APART
        if names_the_same(said.frame, fact):
            return Relation.SAME_THING
        if last and said.corrects and is_loose(said):
            return Relation.NEARBY
        return Relation.OTHER if names_another(said, fact) else Relation.APART

    @staticmethod
    def _says_denied(said: Understood, fact: Fact) -> bool:
        parts = parts_in(fact)
        return any(same_part(old, no) for old in parts for no in said.denied) or bool(
            said.denied and denied_words(text_of(fact.value), parts, said.denied)
        )

    def _is_at_hand(self, said: Understood, fact: Fact, key: str) -> bool:
        """Whether a fact was said since the request was made that a statement goes on about."""
        if not said.is_request and not is_request(fact):
            return True  # neither is a request, so it does not matter which one is at hand
        if said.is_request and key != self._situation.matter:
            return False
        return (fact.source.turn_index or 0) >= self._situation.opened

    def _pairs(
        self, said: Understood, fact: Fact, relation: Relation, age: int, at_hand: bool
    ) -> Iterable[Pair]:
        text = text_of(fact.value)
        parts = parts_in(fact)
        candidates = self._anchored(said)
        for old in (*parts, *denied_words(text, parts, said.denied)):
            if is_named_again(old, said):
                continue
            is_repeated = any(same_part(old, other) for other in said.parts)
            if is_repeated and self._detector.reach >= Relation.NEARBY:
                continue
            about = self._about(said, fact, old, relation, age)
            said_at = min(
                (other.start for other in said.parts if same_part(old, other)), default=-1
            )
            for new in candidates:
                # "left Lisbon for Porto": the new one comes second
                if new.start > said_at and are_comparable(old, new):
                    yield replace(about, candidate=new, is_at_hand=at_hand, is_repeated=is_repeated)

    def _about(
        self, said: Understood, fact: Fact, old: Part, relation: Relation, age: int = 0
    ) -> Pair:
        """The question about a value, without a candidate yet."""
        turn, start, is_offer = self._around(said)
        sentence, begin = sentence_of(fact, text_of(fact.value))
        return Pair(
            Standing(fact.id, sentence, old, begin, age),
            None,
            relation,
            said.text,
            turn,
            start,
            is_offer,
            self._situation.previous,
            is_cued=said.corrects,
            is_denied=any(same_part(old, denied) for denied in said.denied),
            has_failed=self._situation.has_failed,
            is_fragment=said.is_fragment,
            is_added=said.is_added,
            is_request=said.is_request,
            is_same_turn=fact.source.turn_index == self._situation.next_index,
        )

    def _around(self, said: Understood) -> tuple[str, int, bool]:
        """The turn that a statement is part of, or what is around it, and where it is.

        An offer that a turn accepts is in the turn before.
        """
        begin = said.statement.start + said.begin
        end = begin + len(said.text)
        if said.by is not None or said.bases:
            # Whose word it is, or what it follows from, does not change what it says.
            return said.text, 0, False
        if self._turn[begin:end] == said.text:
            first = 0 if end <= _LONG_TURN else max(0, begin - _LONG_TURN // 2)
            return self._turn[first : max(end, first + _LONG_TURN)], begin - first, False
        offered = self._situation.previous.find(said.text)
        if offered >= 0:
            return self._turn[:_LONG_TURN], offered, True
        return said.text, 0, False  # put together from what was said

    def _anchored(self, said: Understood) -> tuple[Part, ...]:
        """The values of a statement; of a bare answer, as answers to what was asked."""
        asked = self._situation.asked_end
        if not asked or not (said.is_fragment or said.points_back):
            return said.parts
        return tuple(
            part._replace(role=f"{part.role.split('|')[0]}|{asked}")
            if part.kind in ("date", "time") and part.role.endswith("|")
            else part
            for part in said.parts
        )


def is_statement(fact: Fact) -> bool:
    """Whether a fact is something that was said, and no request that goes on."""
    return fact.multi_valued and not is_request(fact)


def _says_alike(said: Understood, fact: Fact) -> bool:
    """Whether two statements say the same but for their values."""
    if fact.key != STATEMENT or not said.frame.order:
        return False
    return frame_in_office(fact).order[:_SAME_WORDS] == said.frame.order[:_SAME_WORDS]
