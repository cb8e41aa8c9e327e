"""Overtaking: what an announced update, or a decision, leaves behind.

"Update: the demo is off" speaks for all that was said of the demo before, whatever it was: where a
demo is, when it is and what for are no values of one attribute, so nothing else would tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from incumbent.language.cues import Cues
from incumbent.language.frames import Frame, frame_again
from incumbent.language.kinship import KIN, kinship
from incumbent.language.lexicon import lexicon
from incumbent.language.tokens import stem, tokens
from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent.observing.situation import VERBATIM
from incumbent.observing.understanding import Understood, typed

_IN_COMMON = 2
"""How many things two statements must name in common to be about the same."""
_FEW_WORDS = 4
_SHORT = 6
_OWNER = re.compile(r"\b([A-Z][\w-]*)['’]s\b")
_NAMES = ("name", "code", "url", "email", "phone")


def overtaken(frames: Iterable[Frame], facts: Sequence[Fact]) -> list[Fact]:
    """Of facts that were stated in earlier turns, those that a turn of these statements overtakes.

    With a statement goes what was said along with it and says nothing by itself: "Ready to ship."
    """
    frames = list(frames)
    named = frozenset().union(*map(things_in, frames), *map(_owners, frames))
    about = [f for f in facts if _is_about(f, named) and not _is_anothers(f, named)]
    turns = {fact.source.turn_index for fact in about}
    along = [fact for fact in facts if fact.source.turn_index in turns and _says_little(fact)]
    return [fact for fact in facts if fact in about or fact in along]


def settled(said: Understood, facts: Iterable[Fact]) -> Fact | None:
    """What was on record as not decided yet, and is decided now under another name.

    "The official plan is a soft launch" decides on the approach that was tentative.
    """
    attribute = said.attribute
    if attribute is None or not Cues(said.text[: attribute.start]).is_definite:
        return None
    thing = attribute.key.split("_")[-1]
    found = [
        fact
        for fact in facts
        if fact.subject == attribute.subject
        and Cues(text_of(fact.value)).is_provisional
        and kinship(thing, fact.key.split("_")[-1]) >= KIN
    ]
    return found[0] if len(found) == 1 else None


def leaning(gone: Fact, facts: Sequence[Fact]) -> list[Fact]:
    """What was said right after a fact, and only makes sense with it: "It starts at nine."

    Once there is no order, "proceed with the order" is nothing to go by.
    """
    words = things_in(frame_again(text_of(gone.value)))
    after = [
        fact
        for fact in facts
        if fact.source.turn_index is not None
        and fact.source.turn_index == gone.source.turn_index
        and (fact.source.span or (0, 0)) > (gone.source.span or (0, 0))
    ]
    return [fact for fact in after if _leans(fact, words)]


def _leans(fact: Fact, words: frozenset[str]) -> bool:
    text = text_of(fact.value)
    if lexicon().pointing.match(text):
        return True
    return _says_little(fact, _SHORT) and not words.isdisjoint(frame_again(text).words)


def shares(frame: Frame, fact: Fact) -> bool:
    """Whether a statement names anything that a fact names too."""
    return not things_in(frame).isdisjoint(things_in(frame_again(text_of(fact.value))))


def _is_about(fact: Fact, named: frozenset[str]) -> bool:
    if fact.key == VERBATIM:
        return False
    return len(named & things_in(frame_again(text_of(fact.value)))) >= _IN_COMMON


def _is_anothers(fact: Fact, named: frozenset[str]) -> bool:
    """Whether a fact is about somebody whom the turn does not name: Mia's shift, not Noah's."""
    owner = _OWNER.match(text_of(fact.value))
    about = owner.group(1) if owner is not None else fact.subject or ""
    words = [stem(token.low) for token in tokens(about) if token.is_word]
    return bool(words) and named.isdisjoint(words)


def things_in(frame: Frame) -> frozenset[str]:
    """What a statement names: its content words, names and codes, down to their stems."""
    names = [part.normal for part in frame.parts if part.kind in _NAMES]
    names += [name for name in (frame.subject, frame.label) if name]
    return frame.words.union(frame.opening).union(
        stem(t.low) for name in names for t in tokens(name) if t.is_word
    )


def _owners(frame: Frame) -> frozenset[str]:
    return frozenset(stem(name.lower()) for name in _OWNER.findall(frame.text))


def _says_little(fact: Fact, words: int = _FEW_WORDS) -> bool:
    return not typed(fact.parts) and len(text_of(fact.value).split()) <= words
