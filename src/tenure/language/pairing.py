"""Pairing: which value of a turn is said of which of its things."""

from __future__ import annotations

from dataclasses import dataclass

from tenure.language.skeleton import Mark, Skeleton, patterns_of


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
    return found


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
    before = next((m for m in reversed(bones.marks[:index]) if m.is_thing), None)
    if before is not None:
        gap = bones.between(before, value)
        if patterns.saying.match(gap):
            return before, gap
        if patterns.enclosed.match(gap) or (before not in bases and patterns.beside.match(gap)):
            return before, ""
    follows = bones.marks[index + 1] if index + 1 < len(bones.marks) else None
    if (
        follows is not None
        and follows.is_thing
        and patterns.attaching.match(bones.between(value, follows))
    ):
        return follows, ""
    if before is not None and gap.strip().lower() == "to":
        changed = patterns.moving.search(bones.masked[: bones.place(before)])
        return (before, "") if changed else (None, "")  # "the train to Porto"
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
    return (left[-1] if left else right[0] if right else None), ""


def _is_direct(bones: Skeleton, thing: Mark, value: Mark) -> bool:
    if thing.end > value.start:
        return False
    gap = bones.between(thing, value)
    return bool(patterns_of().beside.match(gap)) or gap.strip() in ("to", "into")


def _is_attached(bones: Skeleton, thing: Mark, value: Mark) -> bool:
    patterns = patterns_of()
    if value.end <= thing.start:
        return patterns.attaching.match(bones.between(value, thing)) is not None
    before, after = bones.masked[: bones.place(thing)], bones.between(thing, value)
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
