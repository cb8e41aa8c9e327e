"""Anchoring: a turn read by the things that it names, of which some are known.

The plain reading goes by the words of a turn. Where somebody puts it more freely, the things that
are on record are what the rest can be told by: a turn that names one of them and a value is about
that thing, whatever stands around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from incumbent.language import loosely
from incumbent.language.attributes import address_of, attribute_of
from incumbent.language.detection import are_comparable, same_part
from incumbent.language.frames import frame_of
from incumbent.language.gist import Act, Gist, gist
from incumbent.language.pairing import Pair
from incumbent.language.reasoning import Waiting, value_told
from incumbent.language.skeleton import MEASURED, kind_of, skeleton
from incumbent.language.stances import is_for_later, stances
from incumbent.language.statements import Kind, Statement
from incumbent.language.tokens import stem
from incumbent.model.fact import Fact, Part
from incumbent.model.values import text_of
from incumbent.observing import ties
from incumbent.observing.situation import Situation
from incumbent.observing.sorting import REAL
from incumbent.observing.understanding import Understood, reread, typed
from incumbent.observing.unfolding import Unfolded

_LONGEST = 400
_BETWEEN = " \t\r\n,;-–—"
"""What stands between two clauses, and belongs to neither."""
_PLAIN = (Act.STATES, Act.LISTS)
_ASIDE = re.compile(r"[()]")
"""What shows that more was taken for a value than the value."""
_KEPT = (Kind.ASSERTION, Kind.COMMITMENT)
"""Kinds of statements that are kept as they were put, where they say what is so."""


def anchored(
    text: str, heard: Sequence[Understood], situation: Situation, *, in_own_words: bool = False
) -> Sequence[Understood]:
    """The statements of a turn, read by the things that it names where that tells more.

    With `in_own_words` not where it tells that something is not so, or in which state it is.
    """
    if len(text) > _LONGEST or not heard or any(_is_bound(said) for said in heard):
        return heard
    if not loosely.things(text):
        return heard
    known = _Known(situation)
    found = gist(text, known)
    waits = any(said.waiting is not None for said in heard)
    if found is not None and in_own_words and _are_own_words(text, heard, found, known):
        return heard
    if found is None or (waits and found.act in (Act.STATES, Act.LISTS, Act.REMOVES)):
        return heard
    if _is_held_back(found, heard, known) or (
        _is_read(found, heard, known) and not _is_moved(found, heard, known)
    ):
        return heard
    kind = Kind.ASSERTION if heard[0].kind is Kind.ASSERTION else Kind.RETRACTION
    return [reread(piece, heard[0].at) for piece in _pieces(text, found, known, kind)]


def _are_own_words(text: str, heard: Sequence[Understood], found: Gist, known: _Known) -> bool:
    """Whether what a turn tells of a thing is told by its own words alone."""
    begins = [said.validity.valid_from for said in heard if said.validity is not None]
    if is_for_later(text) or any(at is not None and at > heard[0].at for at in begins):
        return True
    if _are_of_other_kinds(text, found, known) or _is_guessed(text, found, known):
        return True
    if found.outdated and all(typed(frame_of(pair.value.text).parts) for pair in found.pairs):
        return False  # it names what is no longer so, and what is
    if any(known.says(found.pairs[0].thing.text, text[a:b]) for a, b in found.outdated):
        return False  # it names what is on record of a thing, and what is so instead
    if found.act is Act.REMOVES:
        return False  # it takes what is on record off it, and is kept beside where it tells of it
    return found.act in _PLAIN and not found.returns and _takes_a_stance(text)


def _are_of_other_kinds(text: str, found: Gist, known: _Known) -> bool:
    """Whether a value is said of a thing that has one of another kind: litres, and not a way."""
    for pair in found.pairs:
        fact = known.fact(pair.thing.text)
        new = typed(frame_of(pair.value.text).parts) if pair.value is not None else ()
        old = typed(fact.parts) if fact is not None else ()
        if not new and _is_a_name(text, pair) and all(part.kind == "name" for part in old):
            continue
        if old and not any(_are_alike(one, other) for one in old for other in new):
            return True
    return False


def _is_a_name(text: str, pair: Pair) -> bool:
    """Whether a value is written as a name where no sentence begins."""
    start = pair.value.start if pair.value is not None else 0
    before = text[:start].rstrip()
    return text[start : start + 1].isupper() and bool(before) and before[-1] not in ".!?:"


def _is_guessed(text: str, found: Gist, known: _Known) -> bool:
    """Whether nothing is on record of a thing, and what is said of it is put in other words.

    A single statement may be, where its value is certain: "put down $1,070 for the rental car".
    """
    new = [pair for pair in found.pairs if not known.has(pair.thing.text)]
    if found.act is Act.STATES and not found.bases:
        return any(not typed(frame_of(pair.value.text).parts) for pair in new)
    return found.act is Act.LISTS and any(_told(pair) not in text for pair in new)


def _are_alike(old: Part, new: Part) -> bool:
    """Whether values can take each other's place: litres not that of kilometres."""
    if old.kind == new.kind == "quantity":
        return stem(old.text.split()[-1]) == stem(new.text.split()[-1])
    return are_comparable(old, new)


def _takes_a_stance(text: str) -> bool:
    return any(stance.denies or stance.states for stance in stances(text))


def _is_bound(said: Understood) -> bool:
    """Whether a statement is somebody's word, or is to be forgotten, and stays as it was read."""
    if said.by is not None or said.kind is Kind.VERBATIM or said.cues.erasure is not None:
        return True
    if "forgetting" in said.statement.cues:
        return True
    if said.cues.contingency is not None:
        return True
    until = said.validity.valid_until if said.validity is not None else None
    is_limited = until is not None and until > said.at
    return is_limited or said.cues.is_for_session or said.cues.is_for_task


def _is_held_back(found: Gist, heard: Sequence[Understood], known: _Known) -> bool:
    """Whether what is said is not quite sure, or limited to a case that is none of its things."""
    if found.act is Act.WAITS:
        return False
    contradicts = any(known.has(pair.thing.text) for pair in found.pairs)
    if contradicts and any(said.cues.is_unsure for said in heard):
        return True
    named = [pair.thing.normal for pair in found.pairs] + [_low(base) for base in found.bases]
    limits = [_low(said.narrowed_to) for said in heard if said.narrowed_to is not None]
    return any(not any(name in limit or limit in name for name in named) for limit in limits)


class _Known:
    """The things on record that a turn may be about."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self._facts: dict[str, Fact | None] = {}

    def fact(self, name: str) -> Fact | None:
        low = " ".join(name.lower().split())
        if low not in self._facts:
            self._facts[low] = ties.called(self._situation, name)
        return self._facts[low]

    def has(self, name: str) -> bool:
        return self.fact(name) is not None

    def says(self, name: str, value: str) -> bool:
        fact = self.fact(name)
        return fact is not None and ties.says(fact, value)

    def kind(self, name: str) -> str:
        fact = self.fact(name)
        value = _value_of(fact) if fact is not None else ""
        return kind_of(value) if value else ""

    def held(self, text: str) -> list[str]:
        """The values that things of a turn have, and had."""
        named = [thing.text for thing in skeleton(text, self.has).things]
        facts = [fact for name in named if (fact := self.fact(name))]
        seats = {(fact.key, fact.subject) for fact in facts}
        before = [f for f in self._situation.known.values() if (f.key, f.subject) in seats]
        values = (_value_of(fact) for fact in (*facts, *before))
        return list(dict.fromkeys(value for value in values if value))


def _value_of(fact: Fact) -> str:
    told = ties.stated_by(fact)
    return told.part.text if told is not None else text_of(fact.value)[:80]


# what the plain reading has told already


def _is_read(found: Gist, heard: Sequence[Understood], known: _Known) -> bool:
    match found.act:
        case Act.STATES:
            pair = found.pairs[0]
            if found.outdated and known.has(pair.thing.text):
                return False  # what it names as no longer so is no part of what is
            return not found.returns and any(
                _is_told(said, pair, known.fact(pair.thing.text)) for said in heard
            )
        case Act.RESTS:
            wanted = {_low(base) for base in found.bases}
            return any(
                _says(said, found.pairs[0]) and {_low(base) for base in said.bases} == wanted
                for said in heard
            )
        case Act.CONCLUDES:
            reason, then = found.pairs
            says_reason = any(_says(said, reason) for said in heard)
            return says_reason and any(said.derives and _says(said, then) for said in heard)
        case Act.LISTS:
            return all(
                any(_is_alone(said, pair, found.pairs) for said in heard) for pair in found.pairs
            )
        case Act.WAITS:
            case, then = found.pairs
            waits = [said.waiting for said in heard if said.waiting is not None]
            return len(heard) == 1 and any(
                (_low(one.base), _low(one.becomes)) == (case.thing.normal, case.value.normal)
                and _is_said_in(one.then, then)
                for one in waits
            )
    return False


def _is_moved(found: Gist, heard: Sequence[Understood], known: _Known) -> bool:
    """Whether a value changes that sits where the plain reading would not look for it."""
    if found.act is not Act.STATES:
        return False
    pair = found.pairs[0]
    fact = known.fact(pair.thing.text)
    seats = [(said.attribute.key, said.attribute.subject) for said in heard if said.attribute]
    if fact is None or (fact.key, fact.subject) in seats:
        return False
    return _changes(fact, pair, found)


def _is_alone(said: Understood, pair: Pair, among: Sequence[Pair]) -> bool:
    """Whether a statement says a value of a thing, perhaps more of it, and nothing of another."""
    if said.attribute is not None:
        value = _low(said.attribute.value)
        others = (other for other in among if other is not pair)
        return pair.value.normal in value and not any(o.thing.normal in value for o in others)
    told = ties.stated(said.text)
    return said.kind in _KEPT and told is not None and _low(told.thing) == pair.thing.normal


def _is_told(said: Understood, pair: Pair, fact: Fact | None) -> bool:
    """Whether a statement will be kept as it was put, with the thing and its value in it."""
    if said.kind not in _KEPT or said.narrowed_to is not None or said.cues.settles:
        return False
    if "report" in said.statement.cues:
        return False
    if said.attribute is not None and said.attribute.is_sure:
        address = address_of(pair.thing.text)
        if address is not None and said.attribute.subject != address[1]:
            return False
        if address is not None and said.attribute.key.startswith(f"{address[0]}_"):
            return False  # "the guide just" is no other thing than the guide
        told, _, more = _low(said.attribute.value).partition(pair.value.normal)
        return pair.value.normal in _low(said.attribute.value) and not _ASIDE.search(told + more)
    if not pair.says and pair.thing.start < pair.value.start:
        return False
    address = address_of(pair.thing.text)
    if fact is not None and pair.says and (fact.key, fact.subject) == address:
        return False  # it would be kept beside what it is said instead of
    told_of = ties.stated(said.text)
    if told_of is None or address_of(told_of.thing) != address:
        return False  # nobody would find it under the name of the thing
    if pair.value.normal in (said.frame.subject or ""):
        return False
    text = _low(said.text)
    if pair.thing.normal not in text or pair.value.normal not in text:
        return False
    return said.tells_of_a_thing or not said.is_fragment


def _says(said: Understood, pair: Pair) -> bool:
    return said.kind in REAL and _is_said_in(said.text, pair)


def _is_said_in(text: str, pair: Pair) -> bool:
    told = value_told(text)
    return told is not None and (_low(told.thing), _low(told.value)) == (
        pair.thing.normal,
        pair.value.normal,
    )


def _low(text: str) -> str:
    return " ".join(text.lower().split())


# statements


def _pieces(text: str, found: Gist, known: _Known, removing: Kind) -> list[Unfolded]:
    match found.act:
        case Act.REMOVES:
            return [Unfolded(_statement(text, removing), removes=found.removed)]
        case Act.WAITS:
            case, then = found.pairs
            waiting = Waiting(case.thing.text, case.value.text, _told(then), then.start)
            return [Unfolded(_statement(text, Kind.HYPOTHETICAL), waiting=waiting)]
        case Act.LISTS:
            ends = [*(pair.end for pair in found.pairs[:-1]), len(text)]
            starts = [0, *ends[:-1]]
            return [
                _piece(text, pair, span, found, known)
                for pair, span in zip(found.pairs, zip(starts, ends, strict=True), strict=True)
            ]
        case Act.CONCLUDES:
            reason, then = found.pairs
            cut = _cut(text, *found.pairs)
            first, second = (0, cut), (cut, len(text))
            spans = (first, second) if reason.start < then.start else (second, first)
            pieces = [
                _piece(text, pair, span, found, known)
                for pair, span in zip((reason, then), spans, strict=True)
            ]
            if any(_told(p) not in text and not known.has(p.thing.text) for p in found.pairs):
                # What follows from what is told, and each is kept in the words that it was put in.
                pieces = [replace(piece, told=None) for piece in pieces]
            return [pieces[0], replace(pieces[1], follows=True)]
    piece = _piece(text, found.pairs[0], (0, len(text)), found, known)
    return [replace(piece, bases=found.bases)]


def _cut(text: str, one: Pair, two: Pair) -> int:
    """Where what belongs to the first of two pairs ends."""
    earlier, later = sorted((one, two), key=lambda pair: pair.start)
    gap = text[earlier.end : later.start]
    return later.start if not gap else earlier.end


def _piece(text: str, pair: Pair, span: tuple[int, int], found: Gist, known: _Known) -> Unfolded:
    fact = known.fact(pair.thing.text)
    return Unfolded(
        _statement(text, Kind.ASSERTION, *span),
        _told(pair),
        is_change=fact is not None and _changes(fact, pair, found),
        returns=found.returns,
        # Only what is on record is known to be over: of two other values either may be the new one.
        outdated=tuple(s for s in found.outdated if fact and ties.says(fact, text[slice(*s)])),
    )


def _changes(fact: Fact, pair: Pair, found: Gist) -> bool:
    """Whether what is said of a thing can only be instead of what is on record of it."""
    held, now = ties.stated_by(fact), ties.stated(_told(pair))
    if ties.says(fact, pair.value.text) or now is None:
        return False
    if any(same_part(now.part, part) for part in fact.parts):
        return False
    if found.is_change:
        return True
    kinds = {part.kind for part in (fact.parts if held is None else (held.part,))}
    if kinds != {now.part.kind} or now.part.kind not in MEASURED:
        return False
    return held is None or held.verb == now.verb or not (held.verb and now.verb)


def _statement(text: str, kind: Kind, start: int = 0, end: int | None = None) -> Statement:
    said = text[start:end].rstrip()
    start += len(said) - len(said.lstrip(_BETWEEN if start else None))
    said = text[start:end].rstrip(_BETWEEN if end is not None and end < len(text) else None)
    return Statement(said, start, start + len(said), kind)


def _told(pair: Pair) -> str:
    """What is said of a thing, put plainly."""
    plain = f"{pair.thing.text} is {pair.value.text}"
    if not pair.says or not pair.says.isprintable():
        return plain
    told = f"{pair.thing.text}{pair.says}{pair.value.text}"
    read = value_told(told)
    if read is None or not _is_said_in(told, pair):
        return plain
    attribute = attribute_of(told, frame_of(told).parts)
    seat = (attribute.key, attribute.subject) if attribute is not None else None
    return told if seat is None or seat == address_of(pair.thing.text) else plain
