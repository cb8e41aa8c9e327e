"""Pairing: which value of a turn is said of which of its things."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from incumbent.language.skeleton import Mark, Skeleton, patterns_of

_ASIDE_END = re.compile(r",\s+(?!which\b|who\b|that\b)", re.IGNORECASE)
_CLOSED = re.compile(r"[^(]*\)")
"""Between a thing and a value, where the thing was only named in brackets."""
_HEADING = re.compile(r"(?:\s+[\w'’]+){1,4}\s*[:=]\s*$")
_SENTENCE_END = re.compile(r"[.!?]\s")


@dataclass(frozen=True)
class Pair:
    """A value, and the thing that it is said of."""

    thing: Mark
    value: Mark
    says: str
    """What stands between the two, where the thing comes first and the value right after."""
    is_denied: bool = False
    """Whether it is said that it is not so, or no longer."""
    was_so: bool = False
    """Whether it may only have been so before."""
    is_direct: bool = False
    """Whether the value stands right after the thing, with no more than a verb between."""
    is_attached: bool = False
    """Whether it is said to be for the thing, or the thing is what the sentence is about."""

    @property
    def start(self) -> int:
        return min(self.thing.start, self.value.start)

    @property
    def end(self) -> int:
        return max(self.thing.end, self.value.end)


def pairs(bones: Skeleton) -> list[Pair]:
    """Each value with the thing that it is said of."""
    bases = set(bases_in(bones))
    found = []
    for value in bones.values:
        thing, says = _thing_of(bones, value, bases)
        if thing is not None:
            direct = bool(says) or _is_direct(bones, thing, value)
            attached = _is_attached(bones, thing, value)
            found.append(Pair(thing, value, says, *_denials(bones, value), direct, attached))
    return _with_other(bones, found)


def _with_other(bones: Skeleton, found: list[Pair]) -> list[Pair]:
    """The pairs, where "then it will be" is said of the other thing that the turn names."""
    direct = {pair.thing.normal for pair in found if pair.is_direct}
    bare = [m for m in bones.things if all(pair.thing.normal != m.normal for pair in found)]
    if len({mark.normal for mark in bare}) != 1 or not direct:
        return found
    then = patterns_of().then
    return [
        replace(pair, thing=bare[0])
        if pair.thing.normal in direct
        and not pair.is_direct
        and pair.thing.end < pair.value.start
        and then.search(bones.between(pair.thing, pair.value))
        else pair
        for pair in found
    ]


def bases_in(bones: Skeleton) -> list[Mark]:
    """The things before which stands that something goes by them."""
    patterns = patterns_of()
    found: list[Mark] = []
    before: Mark | None = None
    for mark in bones.marks:
        if mark.is_thing:
            listed = before in found and patterns.listing.match(bones.between(before, mark))
            if listed or patterns.relying.search(bones.masked[: bones.place(mark)]):
                found.append(mark)
        before = mark
    return found


def _thing_of(bones: Skeleton, value: Mark, bases: set[Mark]) -> tuple[Mark | None, str]:
    patterns = patterns_of()
    index = bones.marks.index(value)
    before = next(
        (
            mark
            for mark in reversed(bones.marks[:index])
            if mark.is_thing and not _CLOSED.match(bones.between(mark, value))
        ),
        None,
    )
    if before is not None:
        gap = bones.between(before, value)
        if patterns.saying.match(gap):
            around = _around_aside(bones, before, gap) if before in bases else None
            return (around, "") if around is not None else (before, gap)
        has = patterns.having.match(gap) is not None and not _is_for_other(
            bones, index, before, bases
        )
        if has or patterns.enclosed.match(gap):
            return before, ""
        if before not in bases and patterns.beside.match(gap):
            return before, ""
    if before is not None and gap.strip().lower() in ("to", "into") and _is_moved(bones, before):
        return before, ""
    follows = bones.marks[index + 1] if index + 1 < len(bones.marks) else None
    if follows is not None and follows.is_thing:
        gap_after = bones.between(value, follows)
        if patterns.attaching.match(gap_after) or patterns.naming.match(gap_after):
            return follows, ""
    if before is not None and gap.strip().lower() == "to":
        return None, ""  # "the train to Porto"
    if before is not None and gap.strip().lower() in patterns.placing:
        if patterns.verb_after.match(bones.masked, bones.place(value) + 1):
            return None, ""  # "the office in Porto" is an office, and in Porto
        if before in bases:
            return before, ""  # "with the fee at 5"
    if len({mark.normal for mark in bones.things}) == 1:
        return bones.things[0], ""
    if bones.known:
        # What is new is what something new is said of.
        fresh = [m for m in bones.things if m.normal not in bones.known and m not in bases]
        if len({mark.normal for mark in fresh}) == 1:
            return fresh[0], ""
    left = [m for m in bones.marks[:index] if m.is_thing and m not in bases]
    right = [m for m in bones.marks[index + 1 :] if m.is_thing and m not in bases]
    near = [m for m in right[:1] if not _SENTENCE_END.search(bones.between(value, m))]
    return (left[-1] if left else near[0] if near else None), ""


def _is_for_other(bones: Skeleton, index: int, before: Mark, bases: set[Mark]) -> bool:
    """Whether a value that goes by one thing is said to be for another one."""
    if before in bases and any(m.is_thing and m not in bases for m in bones.marks[:index]):
        return True
    follows = bones.marks[index + 1] if index + 1 < len(bones.marks) else None
    if before not in bases or follows is None or not follows.is_thing:
        return False
    return patterns_of().attaching.match(bones.between(bones.marks[index], follows)) is not None


def _around_aside(bones: Skeleton, base: Mark, gap: str) -> Mark | None:
    """The thing of which something is said around an aside: "the fee, driven by the venue, is"."""
    earlier = [mark for mark in bones.marks[: bones.marks.index(base)] if mark.is_thing]
    if not earlier or not _ASIDE_END.match(gap):
        return None
    return earlier[-1] if bones.between(earlier[-1], base).startswith(",") else None


def _is_moved(bones: Skeleton, thing: Mark) -> bool:
    """Whether a thing is said to be changed: "move the office to"."""
    before = bones.masked[: bones.place(thing)]
    opens = thing.normal in bones.known and (not before.strip() or before.rstrip()[-1] in "=>:→")
    return opens or patterns_of().moving.search(before) is not None


def _is_direct(bones: Skeleton, thing: Mark, value: Mark) -> bool:
    if thing.end > value.start:
        return False
    gap = bones.between(thing, value)
    return bool(patterns_of().beside.match(gap)) or gap.strip() in ("to", "into")


def _is_attached(bones: Skeleton, thing: Mark, value: Mark) -> bool:
    patterns = patterns_of()
    if value.end <= thing.start:
        gap = bones.between(value, thing)
        return bool(patterns.attaching.match(gap) or patterns.naming.match(gap))
    before, after = bones.masked[: bones.place(thing)], bones.between(thing, value)
    if patterns.having.match(after) or _HEADING.match(after):
        return True
    if patterns.topic.search(before) or after.startswith("?"):
        return True
    return patterns.anaphoric.search(after) is not None


def _denials(bones: Skeleton, value: Mark) -> tuple[bool, bool]:
    """Whether a value is said not to be so; and whether it is one that only was so."""
    patterns = patterns_of()
    place = bones.place(value)
    before, after = bones.masked[:place], bones.masked[place + 1 :]
    denied = patterns.denied.search(before) or patterns.denied_after.match(after)
    was = patterns.was.search(before) or patterns.gone_from.match(after)
    return bool(denied), bool(was)
