"""The gist of a turn: what it makes of the things that it names, however freely it is put.

A turn is read as a whole, with its things and values marked (`tenure.language.skeleton`). Where
what is left cannot be told with some certainty, there is no gist.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Protocol

from tenure.language.cues import Cues
from tenure.language.lexicon import data
from tenure.language.pairing import Pair, bases_in
from tenure.language.pairing import pairs as pairs_in
from tenure.language.skeleton import HELD, MEASURED, THING, VALUE, Skeleton, skeleton
from tenure.language.statements import Kind, Statement, statements

_FLAGS = re.IGNORECASE | re.DOTALL
_LONGEST = 400
_MOST_SENTENCES = 4
_FAR = 60
"""How far a word for a reason may be from the clause that it belongs to."""
_UNMEANT = frozenset({"attitude", "counterfactual", "label", "quote", "quoted", "wish"})
"""Cues of sentences whose speaker does not stand by them."""
_SAID = (Kind.ASSERTION, Kind.REQUEST, Kind.COMMITMENT, Kind.REPORT, Kind.RETRACTION)
_BREAK = re.compile(r"[.!?;:–—]\s|\s-\s")
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


class _Patterns:
    """The patterns of one language."""

    def __init__(self, language: str) -> None:
        told = data("gist", language)

        def words(name: str) -> re.Pattern[str]:
            return re.compile(rf"\b(?:{told[name]})(?!\w)", _FLAGS)

        self.disbelief = words("disbelief")
        self.told = words("told")
        self.unreal = words("unreal")
        self.past_case = re.compile(
            rf"\b(?:{told['past_case']}|(?:when|once|after)\s+{THING}\s+(?:{told['past']}))\b",
            _FLAGS,
        )
        self.removal = re.compile(
            rf"\b(?:{told['removal']})(?!\w)|\b(?:{told['removal_of']})\s+(?:(?:the|any|all|my|our|your)\s+)?"
            rf"(?:(?:{told['meta']})(?:\s+[\w'’]+){{0,2}}?\s+(?:{told['about']})\s+)?{THING}",
            _FLAGS,
        )
        self.kept = words("kept")
        self.elsewhere = re.compile(
            rf"\b(?:{told['removal']})\s+(?:an?|the|my|our|your|his|her|their|some|this|that)\s+"
            rf"(?:\w+\s+)?(?!(?:{told['meta']})\b)\w+|\bnot\s+{THING}",
            _FLAGS,
        )
        self.once = words("once")
        self.weak_once = re.compile(rf"(?:{told['weak_once']})$", _FLAGS)
        self.then = words("then")
        self.mentioning = words("mentioning")
        self.because = re.compile(
            rf"(?:^|(?<=\W))(?:{told['because']})[\s:,?]*(?:(?:{told['granting']})[\s,]+)*$"
            rf"|\b(?:{told['because_of_what']})(?:\s+[\w'’]+){{0,6}}\s*$",
            _FLAGS,
        )
        self.concluding = re.compile(rf"(?:^|(?<=\W))(?:{told['concluding']})(?=\W|$)", _FLAGS)
        self.therefore = words("therefore")
        self.depending = words("depending")
        self.standing = re.compile(rf"{THING}\s+(?:{told['standing']})(?!\w)", _FLAGS)
        self.according = re.compile(rf"\baccording to ({THING})", _FLAGS)
        self.driving = re.compile(rf"({THING})\s+(?:{told['driving']})\s+({THING})", _FLAGS)
        self.tag = re.compile(told["tag"], _FLAGS)
        self.wondering = re.compile(rf"(?:{told['wondering']})\b", _FLAGS)
        self.asking = re.compile(told["asking"], _FLAGS)
        self.returning = words("returning")
        self.changing = words("changing")
        self.would = words("would")
        self.would_mean = words("would_mean")
        self.was = words("was")
        self.noting = words("noting")
        self.not_as_before = words("not_as_before")
        self.politely = words("politely")
        self.vague = re.compile(rf"\b(?:{told['vague']})\s+(?:the\s+)?{VALUE}", _FLAGS)


@lru_cache(maxsize=8)
def _patterns(language: str = "en") -> _Patterns:
    return _Patterns(language)


def gist(text: str, known: Knowing) -> Gist | None:
    """What a turn does with the things that it names, if that can be told."""
    if len(text) > _LONGEST or _is_asked(text):
        return None
    bones = skeleton(text, known.has, known.held(text))
    if not bones.things or _patterns().unreal.search(bones.masked):
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
        return _waits(bones, said, known) or _concludes(bones, said)
    if len(said) == 1:
        if bare:
            return _rests(bones, said[0], bare)
        return _states(bones, said[0], is_known=known.has(said[0].thing.text))
    return None


@lru_cache(maxsize=1_024)
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
    patterns = _patterns()
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
    if case is None or _patterns().past_case.search(bones.masked):
        return None
    then = said[1] if case is said[0] else said[0]
    return Gist(Act.WAITS, (case, then))


def _case(bones: Skeleton, said: list[Pair], known: Knowing) -> Pair | None:
    """Which of two things that are said is the case that the other waits for."""
    patterns = _patterns()
    places = [_place(bones, pair) for pair in said]
    between = bones.masked[places[0][1] : places[1][0]]
    first = said[0].thing.text
    if re.search(r"->|=>|→", between) and known.has(first):
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
    for cue in cues:
        after = [pair for pair, (start, _) in zip(said, places, strict=True) if start >= cue.end()]
        if not after or (patterns.weak_once.match(cue.group()) and not marked):
            continue
        if cue.group().lower() in ("until", "till", "before", "unless") and not marked:
            return None  # it holds as long as the other is not so
        if known.says(after[0].thing.text, after[0].value.text) and not marked:
            return None  # it is so already
        return after[0]
    # "It might become 5. If it does, ...": what is said before that is the case.
    strong = [start for start, end in opened if bones.masked[start:end].lower() != "then"]
    return said[0] if any(places[0][1] <= at < places[1][0] for at in strong) else None


def _place(bones: Skeleton, pair: Pair) -> tuple[int, int]:
    """Where in the masked text a pair begins and ends."""
    one, two = sorted((bones.place(pair.thing), bones.place(pair.value)))
    return one, two + 1


# what follows


def _concludes(bones: Skeleton, said: list[Pair]) -> Gist | None:
    """The office is in Porto, so the rent is 5."""
    if not _is_meant(bones, said):
        return None
    patterns = _patterns()
    (first, end), (start, _) = (_place(bones, pair) for pair in said)
    before, between = bones.masked[max(0, first - _FAR) : first], bones.masked[end:start]
    if patterns.because.search(between):
        return Gist(Act.CONCLUDES, (said[1], said[0]))
    tail = bones.masked[_place(bones, said[1])[1] :][:_FAR]
    drawn = patterns.concluding.search(between) or patterns.therefore.search(said[1].says + tail)
    if patterns.because.search(before) or drawn:
        return Gist(Act.CONCLUDES, (said[0], said[1]))
    return None


def _rests(bones: Skeleton, pair: Pair, bare: list[str]) -> Gist | None:
    """Because of the office, the rent is 5."""
    patterns = _patterns()
    by = [_named(bones, sign) for sign in patterns.according.findall(bones.masked)]
    goes_by = any(name in bare for name in by)
    if not _is_meant(bones, [pair], is_told=goes_by) or not _is_unconditional(bones):
        return None
    for driver, driven in patterns.driving.findall(bones.masked):
        if _named(bones, driver) == pair.thing.normal and _named(bones, driven) in bare:
            return None  # it is the other one that follows
    relied = {mark.normal for mark in bases_in(bones)}
    if not patterns.depending.search(bones.masked) and not relied.intersection(bare):
        return None
    bases = {mark.normal: mark.text for mark in bones.things if mark.normal in bare}
    return Gist(Act.RESTS, (pair,), tuple(bases.values()), is_change=_changes(bones))


def _named(bones: Skeleton, sign: str) -> str:
    """The thing that a sign of the masked text stands for."""
    return bones.marks[bones.places.index(bones.masked.index(sign))].normal


def _states(bones: Skeleton, pair: Pair, *, is_known: bool) -> Gist | None:
    """Under the office you can put Porto."""
    if not _is_meant(bones, [pair]) or not _is_unconditional(bones):
        return None
    if not is_known and not _is_news(bones, pair):
        return None
    returns = _patterns().returning.search(bones.masked) is not None
    changes = _changes(bones) or returns
    outdated = tuple(
        (other.value.start, other.value.end)
        for other in pairs_in(bones)
        if other.thing.normal == pair.thing.normal and other.value.normal != pair.value.normal
    )
    return Gist(Act.STATES, (pair,), is_change=changes, returns=returns, outdated=outdated)


def _is_news(bones: Skeleton, pair: Pair) -> bool:
    """Whether a turn tells of a thing that is not known what it is, and asks for nothing."""
    if not (pair.is_direct or pair.is_attached):
        return False
    asked = any(
        one.kind in (Kind.REQUEST, Kind.COMMITMENT)
        for one in statements(bones.text)
        if one.start <= pair.value.start < one.end
    )
    return not asked or _patterns().noting.search(bones.masked) is not None


def _changes(bones: Skeleton) -> bool:
    return _patterns().changing.search(bones.masked) is not None


def _is_unconditional(bones: Skeleton) -> bool:
    """Whether no condition limits what a turn says; one that only tells why it is said does not."""
    conditional = any("conditional" in one.cues for one in statements(bones.text))
    return not conditional or _is_harmless(bones)


def _is_harmless(bones: Skeleton) -> bool:
    """Whether a condition only tells why something is said, or that a base may not change."""
    patterns = _patterns()
    found = patterns.mentioning.search(bones.masked) or patterns.standing.search(bones.masked)
    return found is not None


def _is_meant(bones: Skeleton, said: Sequence[Pair], *, is_told: bool = False) -> bool:
    """Whether the speaker stands by what is said, also where it was told by somebody else."""
    patterns = _patterns()
    if patterns.disbelief.search(bones.masked):
        return False
    found = [
        one
        for one in statements(bones.text)
        if any(one.start < end and begin < one.end for begin, end in map(_said_at, said))
    ]
    cues = {cue for one in found for cue in one.cues}
    if cues & _UNMEANT or not all(_may_be_meant(bones, one) for one in found):
        return False
    clauses = " ".join(_clause(bones.text, pair) for pair in said)
    around = Cues(patterns.not_as_before.sub("", clauses))
    if (
        around.is_possibly
        or around.is_dreamt
        or around.explores
        or patterns.vague.search(bones.masked)
    ):
        return False
    if not _is_set_off(bones, said) and (around.is_past or any(map(_is_over, said))):
        return False  # it tells what was so
    return is_told or "report" not in cues or patterns.told.search(bones.text) is not None


def _said_at(pair: Pair) -> tuple[int, int]:
    """Where a value is said of its thing; the thing itself may have been named before."""
    return (pair.start, pair.end) if pair.says else (pair.value.start, pair.value.end)


def _clause(text: str, pair: Pair) -> str:
    """The part of a turn that a pair stands in."""
    begin, end = _said_at(pair)
    start = max((m.end() for m in _BREAK.finditer(text, 0, begin)), default=0)
    after = _BREAK.search(text, end)
    return text[start : after.start() if after is not None else len(text)]


def _is_over(pair: Pair) -> bool:
    return _patterns().was.search(pair.says) is not None


def _is_set_off(bones: Skeleton, said: Sequence[Pair]) -> bool:
    """Whether what is said is set off against another value of the same thing."""
    settled = {(pair.thing.normal, pair.value.normal) for pair in said}
    return any(
        (pair.is_denied or pair.was_so) and (pair.thing.normal, pair.value.normal) not in settled
        for pair in pairs_in(bones)
    )


def _may_be_meant(bones: Skeleton, one: Statement) -> bool:
    """Whether a statement, by its kind, can be one that somebody stands by."""
    if one.kind in _SAID:
        politely = _patterns().politely.search(one.text) is not None
        return "irrealis" not in one.cues or politely or not Cues(one.text).proposes
    if one.kind is Kind.QUESTION:
        # Who only asks whether they were understood, or goes on to answer, wants to know nothing.
        relates = one.start > 0 and one.text[-1] != "?"
        return relates or _patterns().wondering.match(one.text) is None
    return one.kind is Kind.HYPOTHETICAL and _is_harmless(bones)


# what goes


def _only_removes(bones: Skeleton, found: Sequence[Pair], named: Sequence[str]) -> bool:
    """Whether a turn takes the one thing that it names off the record, and says no value of it."""
    patterns = _patterns()
    plain = bones.in_plain_words()
    gone = [
        (plain.original(found.start()), plain.original(found.end()))
        for found in patterns.removal.finditer(plain.masked)
    ]
    if not gone or len(named) != 1 or patterns.kept.search(plain.masked):
        return False
    if patterns.elsewhere.search(plain.masked):
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
