"""The gist of a turn: what it makes of the things that it names, however freely it is put.

A turn is read as a whole, with its things and values marked (`incumbent.language.skeleton`). Where
what is left cannot be told with some certainty, there is no gist.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from incumbent.language.meant import heard, is_meant, is_unconditional
from incumbent.language.pairing import Pair, bases_in
from incumbent.language.pairing import pairs as pairs_in
from incumbent.language.signs import signs
from incumbent.language.skeleton import HELD, MEASURED, Skeleton, skeleton
from incumbent.language.statements import Kind, Statement
from incumbent.model.text_cache import remembering

_LONGEST = 400
_MOST_SENTENCES = 4
_FAR = 60
"""How far a word for a reason may be from the clause that it belongs to."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)")


class Knowing(Protocol):
    """What is on record of the things that a turn may name."""

    def has(self, name: str) -> bool:
        """Whether a thing is known by just this name."""
        ...

    def says(self, name: str, value: str) -> bool:
        """Whether a thing is known to be this."""
        ...

    def kind(self, name: str) -> str:
        """What kind of value a thing is known to have, or nothing."""
        ...

    def held(self, text: str) -> Sequence[str]:
        """Values that the things of a turn have, or had."""
        ...


class Act(StrEnum):
    """What a turn does."""

    STATES = "states"
    """It says a value of a thing."""
    CONCLUDES = "concludes"
    """It says two, and that the second follows from the first."""
    RESTS = "rests"
    """It says one that follows from things that are only named."""
    WAITS = "waits"
    """It says what will be so once something else is."""
    LISTS = "lists"
    """It says several, one after the other."""
    REMOVES = "removes"
    """It takes a thing off the record."""


@dataclass(frozen=True)
class Gist:
    """What a turn does, with what."""

    act: Act
    pairs: tuple[Pair, ...] = ()
    """What it says; of two, first the reason or the case."""
    bases: tuple[str, ...] = ()
    removed: str = ""
    is_change: bool = False
    """Whether it says that it was otherwise before."""
    returns: bool = False
    """Whether it says that it is so again."""
    outdated: tuple[tuple[int, int], ...] = ()
    """Where it names what is no longer so."""


def gist(text: str, known: Knowing) -> Gist | None:
    """What a turn does with the things that it names, if that can be told."""
    if len(text) > _LONGEST or _is_asked(text):
        return None
    bones = skeleton(text, known.has, known.held(text))
    if not bones.things or signs().unreal.search(bones.masked):
        return None
    found = pairs_in(bones)
    named = dict.fromkeys(thing.normal for thing in bones.things if known.has(thing.text))
    if _only_removes(bones, found, list(named)):
        return _removes(bones, list(named))
    said = _settled(found, known)
    if said is None or len(_SENTENCE.split(text.strip())) > _MOST_SENTENCES:
        return None
    if len(said) > 2:
        said = [p for p in said if known.has(p.thing.text) or not p.value.is_plain]
    bare = [name for name in named if all(pair.thing.normal != name for pair in said)]
    if len(said) == 2:
        return _waits(bones, said, known) or _concludes(bones, said) or _lists(bones, said)
    if len(said) == 1:
        if bare:
            return _rests(bones, said[0], bare)
        return _states(bones, said[0], is_known=known.has(said[0].thing.text))
    return None


@remembering(1_024)
def told_of_one(text: str) -> Pair | None:
    """The thing and the value of a statement that says one value of one thing, and no more."""
    if len(text) > _LONGEST:
        return None
    bones = skeleton(text, lambda _: False)
    said = pairs_in(bones)
    names = {thing.normal for thing in bones.things}
    return said[0] if len(names) == len(said) == 1 and not said[0].is_denied else None


def _is_asked(text: str) -> bool:
    """Whether a turn ends in a question that wants to know something."""
    text = text.rstrip()
    if not text.endswith("?"):
        return False
    last = _SENTENCE.split(text)[-1]
    patterns = signs()
    return not (patterns.tag.search(last) or patterns.asking.match(last))


def _settled(found: list[Pair], known: Knowing) -> list[Pair] | None:
    """What is said of each thing in the end; None where that cannot be told."""
    kept: list[Pair] = []
    for name in dict.fromkeys(pair.thing.normal for pair in found):
        same = [pair for pair in found if pair.thing.normal == name]
        different = {pair.value.normal: pair for pair in reversed(same)}
        kind = known.kind(same[0].thing.text)
        of_a_kind = {n: p for n, p in different.items() if p.value.kind == kind}
        if kind in MEASURED and not of_a_kind:
            return None  # it is something else about the thing
        if kind not in ("", HELD) and of_a_kind:
            others = [p for n, p in different.items() if n not in of_a_kind]
            if any(not (p.is_denied or p.was_so or p.value.is_plain) for p in others):
                return None  # it says more than one thing of it
            different = of_a_kind
        if len(different) > 1:
            live = {n: p for n, p in different.items() if not p.is_denied}
            fresh = {n: p for n, p in live.items() if not known.says(p.thing.text, p.value.text)}
            new = {n: p for n, p in (fresh or live).items() if not p.was_so}
            different = new or fresh or live
        if len(different) > 1:
            formed = {n: p for n, p in different.items() if not p.value.is_plain}
            different = formed or different
        if len(different) > 1 and all(pair.value.is_plain for pair in different.values()):
            direct = {n: p for n, p in different.items() if p.is_direct}
            different = direct or different
        if len(different) != 1 or next(iter(different.values())).is_denied:
            return None
        kept.append(next(iter(different.values())))
    return sorted(kept, key=lambda pair: pair.start)


# what waits


def _waits(bones: Skeleton, said: list[Pair], known: Knowing) -> Gist | None:
    """If the office moves to Porto, the rent becomes 5."""
    case = _case(bones, said, known)
    if case is None or signs().past_case.search(bones.masked):
        return None
    then = said[1] if case is said[0] else said[0]
    return Gist(Act.WAITS, (case, then))


def _case(bones: Skeleton, said: list[Pair], known: Knowing) -> Pair | None:
    """Which of two things that are said is the case that the other waits for."""
    patterns = signs()
    places = [_place(bones, pair) for pair in said]
    between = bones.masked[places[0][1] : places[1][0]]
    first = said[0].thing.text
    if re.search(r"->|=>|→|^\s*=\s*$", between) and known.has(first):
        return said[0] if not known.says(first, said[0].value.text) else None
    if patterns.would_mean.search(between) and known.has(first):
        return said[0] if not known.says(first, said[0].value.text) else None
    opened = [(found.start(), found.end()) for found in patterns.then.finditer(bones.masked)]
    skipped = [*opened, *((f.start(), f.end()) for f in patterns.mentioning.finditer(bones.masked))]
    cues = [
        found
        for found in patterns.once.finditer(bones.masked)
        if not any(start <= found.start() < end for start, end in skipped)
    ]
    marked = bool(opened) or patterns.would.search(bones.masked) is not None
    apart = re.search(r"[.?!]\s+(?=[A-Z\ue000-\ue0ff]|$)", between)
    if apart is not None and not opened:
        later = bones.masked[places[0][1] + apart.end() :]
        if not patterns.would.search(later) and not patterns.once.search(later):
            return None  # "What if it were 5? The other one is 6": they are two matters
    for cue in cues:
        after = [pair for pair, (start, _) in zip(said, places, strict=True) if start >= cue.end()]
        if not after or (patterns.weak_once.match(cue.group()) and not marked):
            continue
        if cue.group().lower() in ("until", "till", "before", "unless") and not marked:
            return None  # it holds as long as the other is not so
        if known.says(after[0].thing.text, after[0].value.text) and not marked:
            return None  # it is so already
        return after[0]
    if _is_planned(bones, said, between) and not known.says(first, said[0].value.text):
        return said[0]
    # "It might become 5. If it does, ...": what is said before that is the case.
    strong = [start for start, end in opened if bones.masked[start:end].lower() != "then"]
    return said[0] if any(places[0][1] <= at < places[1][0] for at in strong) else None


def _is_planned(bones: Skeleton, said: list[Pair], between: str) -> bool:
    """Whether two things are said of a case that may come: "Plan B: ...", "...? Then ..."."""
    if re.match(r"\s*\?", between) and signs().then.search(between):
        return True
    planned = signs().planning.search(bones.masked[: _place(bones, said[0])[0]]) is not None
    follows = re.match(r"[,;:]?\s*(?:and )?then\b", between) is not None
    to_come = all(signs().to_come.search(pair.says) for pair in said)
    return (planned and all(pair.says for pair in said)) or (follows and to_come)


def _place(bones: Skeleton, pair: Pair) -> tuple[int, int]:
    """Where in the masked text a pair begins and ends."""
    one, two = sorted((bones.place(pair.thing), bones.place(pair.value)))
    return one, two + 1


# what follows


def _concludes(bones: Skeleton, said: list[Pair]) -> Gist | None:
    """The office is in Porto, so the rent is 5."""
    if not is_meant(bones, said) or _wants(bones, said):
        return None
    patterns = signs()
    (first, end), (start, last) = (_place(bones, pair) for pair in said)
    before, between = bones.masked[max(0, first - _FAR) : first], bones.masked[end:start]
    tail = bones.masked[last:][:_FAR]
    in_order, turned = Gist(Act.CONCLUDES, (said[0], said[1])), (said[1], said[0])
    if patterns.due_to_that.search(between):
        return in_order
    if patterns.because.search(between) or patterns.thats_why.search(tail):
        return Gist(Act.CONCLUDES, turned)
    if _answers(bones, said):
        return Gist(Act.CONCLUDES, turned)
    drawn = patterns.concluding.search(between) or patterns.therefore.search(said[1].says + tail)
    relied = {mark.normal for mark in bases_in(bones)}
    if said[1].thing.normal in relied and said[0].thing.normal not in relied and not drawn:
        return Gist(Act.CONCLUDES, turned)
    if patterns.because.search(before) or drawn or said[0].thing.normal in relied:
        return in_order
    around = f"{before} . {between} . {tail}"
    if patterns.hanging.search(around):
        is_turned = patterns.reversed.search(around) is not None
        return Gist(Act.CONCLUDES, turned) if is_turned else in_order
    return None


def _wants(bones: Skeleton, said: list[Pair]) -> bool:
    """Whether somebody only says what they would like, and of what kind."""
    told = any(pair.says for pair in said) or any(p.thing.normal in bones.known for p in said)
    return not told and any(
        one.kind is Kind.REQUEST and "imperative" not in one.cues for one in heard(bones.text)
    )


def _lists(bones: Skeleton, said: list[Pair]) -> Gist | None:
    """The office is in Porto and the rent is 5."""
    told = all(pair.says and not pair.is_denied for pair in said)
    if not told or not is_meant(bones, said) or not is_unconditional(bones):
        return None
    return Gist(Act.LISTS, tuple(said))


def _answers(bones: Skeleton, said: list[Pair]) -> bool:
    """Whether the second of two things that are said answers why the first is so."""
    asked = bones.text[: said[0].end]
    begin = max((found.end() for found in _SENTENCE.finditer(asked)), default=0)
    apart = re.search(r"[?:–—]\s|\s-\s", bones.text[said[0].end : said[1].start])
    return apart is not None and signs().presuming.search(asked, begin) is not None


def _rests(bones: Skeleton, pair: Pair, bare: list[str]) -> Gist | None:
    """Because of the office, the rent is 5."""
    patterns = signs()
    by = [_named(bones, sign) for sign in patterns.according.findall(bones.masked)]
    goes_by = any(name in bare for name in by)
    if not is_meant(bones, [pair], is_told=goes_by) or not is_unconditional(bones):
        return None
    for driver, driven in patterns.driving.findall(bones.masked):
        if _named(bones, driver) == pair.thing.normal and _named(bones, driven) in bare:
            return None  # it is the other one that follows
    relied = {mark.normal for mark in bases_in(bones)}
    others = [m.text for m in bones.things if m.normal not in (*bare, pair.thing.normal)]
    words = " ".join((bones.masked, *others))  # "the deciding factor" is no thing to go by
    if not patterns.depending.search(words) and not relied.intersection(bare):
        return None
    bases = {mark.normal: mark.text for mark in bones.things if mark.normal in bare}
    return Gist(Act.RESTS, (pair,), tuple(bases.values()), is_change=_changes(bones))


def _named(bones: Skeleton, sign: str) -> str:
    """The thing that a sign of the masked text stands for."""
    return bones.marks[bones.places.index(bones.masked.index(sign))].normal


def _states(bones: Skeleton, pair: Pair, *, is_known: bool) -> Gist | None:
    """Under the office you can put Porto."""
    if not is_meant(bones, [pair]) or not is_unconditional(bones):
        return None
    if not is_known and not _is_news(bones, pair):
        return None
    returns = signs().returning.search(bones.masked) is not None
    changes = _changes(bones) or returns
    outdated = tuple(
        (other.value.start, other.value.end)
        for other in pairs_in(bones)
        if other.thing.normal == pair.thing.normal and other.value.normal != pair.value.normal
    )
    return Gist(
        Act.STATES,
        (pair,),
        is_change=changes or bool(outdated),
        returns=returns,
        outdated=outdated,
    )


def _is_news(bones: Skeleton, pair: Pair) -> bool:
    """Whether a turn tells of a thing that is not known what it is, and asks for nothing."""
    if not (pair.is_direct or pair.is_attached):
        return False
    asked = any(
        one.kind in (Kind.REQUEST, Kind.COMMITMENT)
        for one in heard(bones.text)
        if one.start <= pair.value.start < one.end and not _only_asks_politely(bones, pair, one)
    )
    return not asked or signs().noting.search(bones.masked) is not None


def _only_asks_politely(bones: Skeleton, pair: Pair, one: Statement) -> bool:
    """Whether nothing is asked in a statement but for a "please": "the fee is 5, next please"."""
    before = bones.text[one.start : pair.thing.start].strip(" ,.:;-")
    return one.cues == ("polite request",) and bool(pair.says) and len(before.split()) < 2


def _changes(bones: Skeleton) -> bool:
    return signs().changing.search(bones.masked) is not None


# what goes


def _only_removes(bones: Skeleton, found: Sequence[Pair], named: Sequence[str]) -> bool:
    """Whether a turn takes the one thing that it names off the record, and says no value of it."""
    patterns = signs()
    plain = bones.only_known()
    gone = [
        (plain.original(found.start()), plain.original(found.end()))
        for found in patterns.removal.finditer(plain.masked)
    ]
    if not gone or len(named) != 1 or patterns.kept.search(patterns.polite.sub("", plain.masked)):
        return False
    bare = patterns.idioms.sub("gone", plain.masked)
    if patterns.elsewhere.search(bare) or patterns.change_of.search(plain.masked):
        return False  # it is something else that goes
    for pair in found:
        within = any(start <= pair.value.start < end for start, end in gone)
        if not pair.value.is_plain or (pair.is_direct and not within):
            return False
    return True


def _removes(bones: Skeleton, named: Sequence[str]) -> Gist:
    """That thing about the office? Delete it."""
    thing = next(mark for mark in bones.things if mark.normal == named[0])
    return Gist(Act.REMOVES, removed=thing.text)
