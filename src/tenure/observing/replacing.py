"""Replacing: which values in office a statement replaces, and the statement that then stands."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tenure.language.detection import (
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
from tenure.language.frames import Frame, frame_again
from tenure.language.lexicon import agreeing, lexicon
from tenure.language.tokens import stem
from tenure.model.fact import Fact, Part
from tenure.model.values import text_of
from tenure.observing.situation import VERBATIM, Situation, frame_in_office
from tenure.observing.understanding import Understood, typed

_FEW_WORDS = 4
_LONGEST_VALUE = 200
_LONG_TURN = 400
_MOST_ELSEWHERE = 12
_MOST_ASKED = 16
"""How many statements a detector is asked about that looks at those which nothing ties together."""
_LATEST = 2
_SURELY_OVER = 0.97
"""How sure a detector must be that something is over: nothing would be left of it."""
_ONE_MATTER = 8
_MOST_PARTS = 3
_LEAST_TO_REFER = 2
_AKIN = 5
"""Words that begin with so many letters in common are taken to be of one family."""
_MOST_FACTS = 60
"""How many statements a new one is compared with, the latest first."""
_AS_LIKELY = 0.02
_SAID_ELSEWHERE = Judged(0.9, "said elsewhere")
_UNCLEAR = Judged(0.52, "unclear which")


class Swap(NamedTuple):
    """A value that is replaced within one fact."""

    fact: Fact
    old: Part
    new: Part
    judged: Judged
    relation: Relation


@dataclass(frozen=True)
class Rewritten:
    """A statement with some of its values replaced."""

    fact: Fact
    text: str
    parts: tuple[Part, ...]
    retired: tuple[Part, ...]
    confidence: float
    because: tuple[str, ...]
    swapped: tuple[tuple[Part, Part], ...] = ()
    """What was replaced, each with what took its place."""


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
            (self._relation(said, fact, key, subject), age, fact)
            for age, fact in enumerate(reversed(facts[-_MOST_FACTS:]))
        ]
        pairs = [
            (fact, pair)
            for relation, age, fact in self._within_reach(related)
            for pair in self._pairs(said, fact, relation, age, self._is_at_hand(said, fact, key))
        ]
        references = _references(said, facts)
        pairs = [(fact, pair) for fact, pair in pairs if _is_meant(pair, references)]
        judged = self._detector.judge([pair for _, pair in pairs])
        chosen = _chosen(
            [
                Swap(fact, pair.standing.part, pair.candidate, verdict, pair.relation)
                for (fact, pair), verdict in zip(pairs, judged, strict=True)
                if verdict.confidence >= WORTH_ASKING and pair.candidate is not None
            ]
        )
        return [*chosen, *_written_down(chosen, facts)] if said.corrects else chosen

    def elsewhere(self, gone: Sequence[Fact], new: Part) -> list[Swap]:
        """Where statements of this conversation say what these facts said, and a word of theirs.

        The budget of 900 is also what the note about the budget says.
        """
        found = []
        for fact in self._situation.facts.values():
            for old in (typed(parts_in(one)) for one in gone):
                said = [part for part in typed(parts_in(fact)) if old and same_part(part, old[0])]
                named = any(_explains(frame_in_office(fact), one.key) for one in gone)
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
        if not _opens_with_pronoun(said.text) or said.frame.is_named:
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
        if _speaks_of_oneself(said.text):
            facts = [fact for fact in facts if _speaks_of_oneself(fact.source.quote or "")]
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
        judged = self._detector.judge(pairs)
        return any(one.because == DOUBTED for one in judged) and not any(
            one.confidence for one in judged
        )

    def _elsewhere(self, said: Understood, key: str, subject: str | None) -> list[Fact]:
        """Facts of other conversations that a statement may be about, the newest last.

        What was asked for in another conversation is only touched by what says that it corrects.
        """
        found = {fact.id: fact for fact in self._situation.at_key(key, subject)}
        if not said.is_fragment:
            found.update((f.id, f) for f in self._situation.sharing(said.frame.order))
        kept = [fact for fact in found.values() if not fact.multi_valued or said.corrects]
        return sorted(kept, key=lambda fact: fact.id)[-_MOST_ELSEWHERE:]

    def _relation(self, said: Understood, fact: Fact, key: str, subject: str | None) -> Relation:
        if fact.key == VERBATIM:
            return Relation.OTHER
        if subject != fact.subject and (subject or (fact.subject and not _is_bare(said))):
            return Relation.APART if not subject and _speaks_of(said, fact) else Relation.OTHER
        if self._says_denied(said, fact):
            return Relation.SAME_MATTER  # it names the value that is not so
        same_key = fact.key == key
        last = fact.id in self._situation.last_said
        if (same_key and fact.multi_valued) or (
            said.is_request and fact.key == self._situation.matter
        ):
            return Relation.SAME_MATTER
        if (
            not said.is_request
            and not said.corrects
            and _differ_twice(said, fact)
            and not _sets_anew(said, fact)
        ):
            return Relation.OTHER  # two values differ: it is about another thing of the kind
        if same_key:
            return Relation.SAME_WORDS
        if said.is_fragment or said.points_back:
            near = last or fact.key == self._situation.matter
            return Relation.NEARBY if near or said.corrects else Relation.APART
        if _names_the_same(said.frame, fact):
            return Relation.SAME_THING
        if last and said.corrects and _is_loose(said):
            return Relation.NEARBY
        return Relation.OTHER if _names_another(said, fact) else Relation.APART

    @staticmethod
    def _says_denied(said: Understood, fact: Fact) -> bool:
        parts = parts_in(fact)
        return any(same_part(old, no) for old in parts for no in said.denied) or bool(
            said.denied and _denied_words(text_of(fact.value), parts, said.denied)
        )

    def _is_at_hand(self, said: Understood, fact: Fact, key: str) -> bool:
        """Whether a fact was said since the request was made that a statement goes on about."""
        if not said.is_request and not fact.multi_valued:
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
        for old in (*parts, *_denied_words(text, parts, said.denied)):
            if _is_named_again(old, said):
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
        sentence, begin = _sentence(fact, text_of(fact.value))
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


def _sentence(fact: Fact, text: str) -> tuple[str, int]:
    """A fact as a sentence that tells what it is about, and where in it the fact's words begin.

    A statement does; a value at an address does with the name of the address.
    """
    if fact.source.turn_index is not None and " " in text and fact.multi_valued:
        return text, 0
    words = fact.key.replace("_", " ")
    if fact.source.turn_index is not None and _opens_with(text, words):
        return text, 0
    lead = f"{fact.subject}'s {words}: " if fact.subject else f"{words}: "
    return lead + text, len(lead)


def _opens_with(text: str, words: str) -> bool:
    """Whether a statement says itself what its key, which is made of its words, says."""
    said = {stem(word) for word in re.findall(r"\w+", text.lower())}
    return {stem(word) for word in words.split()} <= said


def parts_in(fact: Fact) -> tuple[Part, ...]:
    """The values in a fact: those that were read in its words, or of a written one its value."""
    plain = isinstance(fact.value, str | int | float) and not isinstance(fact.value, bool)
    if fact.parts or not plain or fact.source.turn_index is not None:
        return fact.parts
    text = text_of(fact.value)
    if len(text) > _LONGEST_VALUE:
        return ()
    found = tuple(part for part in frame_again(text).parts if part.kind != "term")
    if not found and len(text.split()) <= _FEW_WORDS:
        found = (Part("term", text, " ".join(text.lower().split()), "is|", 0, len(text)),)
    return found


def _is_named_again(old: Part, said: Understood) -> bool:
    """Whether a plain word is what the statement speaks of, and so nothing that it replaces."""
    if old.kind != "term" or any(same_part(old, no) for no in said.denied):
        return False
    return {stem(word) for word in old.normal.split()} <= said.frame.words


def _is_bare(said: Understood) -> bool:
    """Whether a statement names nothing of which it could be said whose it is."""
    return said.is_fragment and not said.frame.is_named


def _denied_words(text: str, parts: Iterable[Part], denied: Iterable[Part]) -> list[Part]:
    """Words of a statement that are said not to be so, though nothing showed them for values."""
    found = []
    for part in denied:
        hit = re.search(rf"(?<!\w){re.escape(part.text)}(?!\w)", text, re.IGNORECASE)
        inside = hit is not None and any(p.start < hit.end() and hit.start() < p.end for p in parts)
        if hit is not None and not inside:
            found.append(part._replace(start=hit.start(), end=hit.end()))
    return found


def _is_loose(said: Understood) -> bool:
    """Whether a correction names so little that it can only be about what was said last."""
    if said.attribute is not None:
        return "_" not in said.attribute.key and not said.attribute.is_change
    return len(said.frame.order) <= _FEW_WORDS and not said.frame.is_named


def _differ_twice(said: Understood, fact: Fact) -> bool:
    """Whether a statement has two values or more that one in office does not have."""
    ours = [part for part in said.parts if part.kind != "term" or part.role == "is|"]
    theirs = parts_in(fact)
    differing = [new for new in ours if not any(same_part(new, old) for old in theirs)]
    return len(differing) > 1


def _sets_anew(said: Understood, fact: Fact) -> bool:
    """Whether all that a fact says of a thing is said of it anew: another day, another hour.

    "The meeting" is the one that there is; "a meeting" would be another.
    """
    old, new = frame_in_office(fact), said.frame
    kinds = sorted(part.kind for part in typed(said.parts))
    return (
        new.is_named
        and new.thing is not None
        and new.thing == old.thing
        and new.opening <= old.opening
        and (new.subject, new.label) == (old.subject, old.label)
        and kinds == sorted(part.kind for part in typed(parts_in(fact)))
        and len(set(kinds)) == len(kinds)
    )


def _opens_with_pronoun(text: str) -> bool:
    first = re.match(r"\W*(\w+)", text)
    return first is not None and first.group(1).lower() in lexicon().pronouns


def _speaks_of_oneself(text: str) -> bool:
    """Whether a statement is about the one who makes it: what they do ends what is theirs."""
    return not lexicon().speaker.isdisjoint(re.findall(r"\w+", text.lower()))


def _opens_with_thing(text: str) -> bool:
    first = re.match(r"\W*(\w+)", text)
    return first is not None and first.group(1).lower() in lexicon().determiners


def _speaks_of(said: Understood, fact: Fact) -> bool:
    """Whether a statement mentions whom or what a fact is about."""
    words = set(re.findall(r"\w+", said.text.lower()))
    return fact.subject is not None and set(fact.subject.lower().split()) <= words


def _names_another(said: Understood, fact: Fact) -> bool:
    """Whether a statement and one in office each name a thing, and not the same, or its sides."""
    if said.is_request or fact.multi_valued or _opens_with_pronoun(said.text):
        return False
    if not (_opens_with_thing(said.text) and _opens_with_thing(text_of(fact.value))):
        return False
    theirs = frame_in_office(fact)
    if any(
        frozenset((one, other)) in lexicon().contrasts
        for one in said.frame.words - theirs.words
        for other in theirs.words - said.frame.words
    ):
        return True
    named = {
        stem(word) for part in said.parts if part.kind == "name" for word in part.normal.split()
    }
    mine = said.frame.opening - named
    return bool(mine and theirs.opening) and mine.isdisjoint(theirs.words | theirs.opening)


def _names_the_same(frame: Frame, fact: Fact) -> bool:
    """Whether two statements name the same thing, with nothing that tells one from the other."""
    if not frame.opening:
        return False
    theirs = frame_in_office(fact)
    named = {*theirs.words, *theirs.opening, *map(stem, fact.key.split("_"))}
    if not frame.opening <= named:
        return False
    return frame.opening.isdisjoint(theirs.opening) or theirs.opening <= frame.words | frame.opening


def _references(said: Understood, facts: Sequence[Fact]) -> list[Part]:
    """What a statement names only because it is replaced: the 200 of "your 200 is now 140"."""
    parts = typed(said.parts)
    if len(parts) < _LEAST_TO_REFER:
        return []
    held = [part for fact in facts for part in typed(parts_in(fact))]
    known = [part for part in parts if any(same_part(part, old) for old in held)]
    fresh = [part for part in parts if part not in known]
    return [part for part in known if any(are_comparable(part, new) for new in fresh)]


def _is_meant(pair: Pair, references: Sequence[Part]) -> bool:
    """Whether a statement that says what it replaces may mean this value too."""
    new = pair.candidate
    if new is None or new in references:
        return new is None
    named = [part for part in references if are_comparable(part, new)]
    return not named or any(same_part(pair.standing.part, part) for part in named)


def _chosen(found: Sequence[Swap]) -> list[Swap]:
    """Of the values that a new one could replace, the likeliest; and that one wherever it is said.

    Each value replaces one other and is replaced by one other.
    """
    taken: list[tuple[Part, Part]] = []
    chosen: list[Swap] = []
    ranked = sorted(
        found,
        key=lambda swap: (
            swap.relation < Relation.SAME_THING,
            -swap.judged.confidence,
            swap.old.start,
        ),
    )
    for swap in ranked:
        ours = [old for old, new in taken if new == swap.new]
        if any(not same_part(old, swap.old) for old in ours):
            continue
        theirs = [new for old, new in taken if same_part(old, swap.old)]
        if any(not same_part(new, swap.new) for new in theirs):
            continue
        taken.append((swap.old, swap.new))
        unclear = any(_are_rivals(swap, other) for other in found)
        chosen.append(swap._replace(judged=_UNCLEAR) if unclear else swap)
    return chosen


def _written_down(swaps: Sequence[Swap], facts: Sequence[Fact]) -> list[Swap]:
    """The same values where they were also written under a name that the statement explains.

    "Ship it to Porto" was written down as the shipping address.
    """
    found = []
    for fact in facts:
        parts = parts_in(fact)
        if len(parts) != 1 or any(swap.fact.id == fact.id for swap in swaps):
            continue
        found += [
            swap._replace(fact=fact, old=parts[0])
            for swap in swaps
            if _are_the_same(swap.old, parts[0]) and _explains(frame_in_office(swap.fact), fact.key)
        ][:1]
    return found


def _are_the_same(left: Part, right: Part) -> bool:
    """Also "next week", which was said on one day and written down on another."""
    return same_part(left, right) or left.text.casefold() == right.text.casefold()


def _explains(frame: Frame, key: str) -> bool:
    """Whether a word of a statement is of the family of one in a key: deliver, delivery_city."""
    named = {stem(word)[:_AKIN] for word in key.split("_") if len(word) > 2}
    return not named.isdisjoint(word[:_AKIN] for word in frame.words)


def _are_rivals(swap: Swap, other: Swap) -> bool:
    """Whether a new value may as well replace another one, with nothing that tells which."""
    return (
        swap.new == other.new
        and swap.fact.id != other.fact.id
        and not same_part(swap.old, other.old)
        and max(swap.relation, other.relation) < Relation.SAME_THING
        and abs(swap.judged.confidence - other.judged.confidence) < _AS_LIKELY
    )


def rewritten(swaps: Sequence[Swap]) -> list[Rewritten]:
    """The statements that stand once these values are replaced, one per fact."""
    by_fact: dict[str, list[Swap]] = defaultdict(list)
    for swap in swaps:
        if not any(kept.old == swap.old for kept in by_fact[swap.fact.id]):
            by_fact[swap.fact.id].append(swap)
    return [_rewrite(found) for found in by_fact.values()]


def renamed(found: Rewritten) -> str:
    """The key of a statement, if need be without the name of what was replaced.

    Who asks for a museum instead of a cinema no longer asks for a cinema.
    """
    key = found.fact.key
    for old, new in found.swapped:
        words = new.normal.split()
        if (
            found.fact.multi_valued
            and stem(old.normal) == stem(key)
            and 0 < len(words) <= _FEW_WORDS
        ):
            return "_".join(re.findall(r"\w+", " ".join(words))) or key
    return key


def _rewrite(swaps: Sequence[Swap]) -> Rewritten:
    fact = swaps[0].fact
    replaced = {swap.old: swap.new for swap in swaps}
    text, parts, done = "", [], 0
    whole = text_of(fact.value)
    theirs = parts_in(fact)
    known = (*theirs, *(swap.old for swap in swaps if swap.old not in theirs))
    for part in sorted(known, key=lambda part: part.start):
        if part.start < done:
            continue
        text += whole[done : part.start]
        new = replaced.get(part)
        said = new.text if new is not None else whole[part.start : part.end]
        text = agreeing(text, said) if new is not None else text
        kept = part if new is None else new._replace(role=part.role)
        parts.append(kept._replace(start=len(text), end=len(text) + len(said)))
        text += said
        done = part.end
    return Rewritten(
        fact,
        text + whole[done:],
        tuple(parts),
        tuple(replaced),
        min(swap.judged.confidence for swap in swaps),
        tuple(dict.fromkeys(swap.judged.because for swap in swaps)),
        tuple(replaced.items()),
    )
