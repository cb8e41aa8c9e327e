"""Relating: how a statement stands to one in office, as far as their words tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from incumbent.engine.proposal import Proposal
from incumbent.language import stances
from incumbent.language.detection import Pair, are_comparable, same_part
from incumbent.language.frames import Frame, frame_again
from incumbent.language.kinship import KIN, kinship
from incumbent.language.lexicon import lexicon
from incumbent.language.tokens import stem
from incumbent.model.fact import Fact, Part
from incumbent.model.values import text_of
from incumbent.model.words import said
from incumbent.observing.labels import label_end
from incumbent.observing.situation import frame_in_office, is_request
from incumbent.observing.understanding import Understood, typed

_FEW_WORDS = 4
_LONGEST_VALUE = 200
_LEAST_TO_REFER = 2
_AKIN = 5
_WHEN = ("date", "time")
"""Words that begin with so many letters in common are taken to be of one family."""
_GOES_WITH = KIN + 0.1


def parts_in(fact: Fact) -> tuple[Part, ...]:
    """The values in a fact: those that were read in its words, or of a written one its value."""
    plain = isinstance(fact.value, str | int | float) and not isinstance(fact.value, bool)
    if fact.parts or not plain or fact.source.turn_index is not None:
        return fact.parts
    text = text_of(fact.value)
    if len(text) > _LONGEST_VALUE:
        return ()
    begin = label_end(text)
    parts = (part for part in frame_again(text).parts if part.start >= begin)
    found = tuple(part for part in parts if part.kind != "term")
    if not found and len(text.split()) <= _FEW_WORDS:
        found = (Part("term", text, " ".join(text.lower().split()), "is|", 0, len(text)),)
    return found


def sentence_of(fact: Fact, text: str) -> tuple[str, int]:
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


def is_named_again(old: Part, said: Understood) -> bool:
    """Whether a plain word is what the statement speaks of, and so nothing that it replaces."""
    if old.kind != "term" or any(same_part(old, no) for no in said.denied):
        return False
    return {stem(word) for word in old.normal.split()} <= said.frame.words


def is_bare(said: Understood) -> bool:
    """Whether a statement names nothing of which it could be said whose it is."""
    return said.is_fragment and not said.frame.is_named


def denied_words(text: str, parts: Iterable[Part], denied: Iterable[Part]) -> list[Part]:
    """Words of a statement that are said not to be so, though nothing showed them for values."""
    found = []
    for part in denied:
        hit = re.search(rf"(?<!\w){re.escape(part.text)}(?!\w)", text, re.IGNORECASE)
        inside = hit is not None and any(p.start < hit.end() and hit.start() < p.end for p in parts)
        if hit is not None and not inside:
            found.append(part._replace(start=hit.start(), end=hit.end()))
    return found


def is_loose(said: Understood) -> bool:
    """Whether a correction names so little that it can only be about what was said last."""
    if said.attribute is not None:
        return "_" not in said.attribute.key and not said.attribute.is_change
    return len(said.frame.order) <= _FEW_WORDS and not said.frame.is_named


def differ_twice(said: Understood, fact: Fact) -> bool:
    """Whether a statement has two values or more that one in office does not have.

    A day and an hour are one value: when something is.
    """
    ours = [part for part in said.parts if part.kind != "term" or part.role == "is|"]
    theirs = parts_in(fact)
    differing = [new for new in ours if not any(same_part(new, old) for old in theirs)]
    when = [part for part in differing if part.kind in _WHEN]
    return len(differing) - len(when[1:]) > 1


def sets_anew(said: Understood, fact: Fact) -> bool:
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


def opens_with_pronoun(text: str) -> bool:
    first = re.match(r"\W*(\w+)", text)
    return first is not None and first.group(1).lower() in lexicon().pronouns


def speaks_of_oneself(text: str) -> bool:
    """Whether a statement is about the one who makes it: what they do ends what is theirs."""
    return not lexicon().speaker.isdisjoint(re.findall(r"\w+", text.lower()))


def _opens_with_thing(text: str) -> bool:
    first = re.match(r"\W*(\w+)", text)
    return first is not None and first.group(1).lower() in lexicon().determiners


def speaks_of(said: Understood, fact: Fact) -> bool:
    """Whether a statement mentions whom or what a fact is about."""
    words = set(re.findall(r"\w+", said.text.lower()))
    return fact.subject is not None and set(fact.subject.lower().split()) <= words


def names_another(said: Understood, fact: Fact) -> bool:
    """Whether a statement and one in office each name a thing, and not the same, or its sides."""
    if said.is_request or is_request(fact) or opens_with_pronoun(said.text):
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


def names_the_same(frame: Frame, fact: Fact) -> bool:
    """Whether two statements name the same thing, with nothing that tells one from the other."""
    if not frame.opening:
        return False
    theirs = frame_in_office(fact)
    named = {*theirs.words, *theirs.opening, *map(stem, fact.key.split("_"))}
    if not frame.opening <= named:
        return False
    return frame.opening.isdisjoint(theirs.opening) or theirs.opening <= frame.words | frame.opening


def references(said: Understood, facts: Sequence[Fact]) -> list[Part]:
    """What a statement names only because it is replaced: the 200 of "your 200 is now 140"."""
    parts = typed(said.parts)
    if len(parts) < _LEAST_TO_REFER:
        return []
    held = [part for fact in facts for part in typed(parts_in(fact))]
    known = [part for part in parts if any(same_part(part, old) for old in held)]
    fresh = [part for part in parts if part not in known]
    return [part for part in known if any(are_comparable(part, new) for new in fresh)]


def is_meant(pair: Pair, references: Sequence[Part]) -> bool:
    """Whether a statement that says what it replaces may mean this value too."""
    new = pair.candidate
    if new is None or new in references:
        return new is None
    named = [part for part in references if are_comparable(part, new)]
    return not named or any(same_part(pair.standing.part, part) for part in named)


def explains(frame: Frame, key: str) -> bool:
    """Whether a word of a statement is of the family of one in a key: deliver, delivery_city."""
    named = {stem(word)[:_AKIN] for word in key.split("_") if len(word) > 2}
    # Words that frames pass over, such as the "order" that opens one, name things too.
    spoken = {stem(word) for word in re.findall(r"[a-z]{4,}", frame.text.lower())}
    return not named.isdisjoint(word[:_AKIN] for word in frame.words | spoken)


def is_kin(frame: Frame, key: str) -> bool:
    """Whether a statement names a thing that goes with one in a key: a flight, the airline."""
    named = [word for word in key.split("_") if len(word) > 2]
    return any(kinship(word, thing) >= _GOES_WITH for word in named for thing in frame.order)


def says_the_same(parts: Sequence[Part], fact: Fact) -> bool:
    """Whether a fact says just these values, however it puts them."""
    theirs = typed(fact.parts)
    ours = typed(tuple(parts))
    return (
        bool(ours)
        and len(ours) == len(theirs)
        and all(same_part(new, old) for new, old in zip(ours, theirs, strict=True))
    )


def is_restated(proposal: Proposal, fact: Fact) -> bool:
    """Whether a statement says what a fact says already, and not one word more."""
    new, old = text_of(proposal.value), text_of(fact.value)
    if said(new) == said(old):
        return True
    same_values = says_the_same(proposal.source.parts, fact)
    return same_values and stances.adds_nothing(new, old)


def restated(proposal: Proposal, fact: Fact) -> Proposal:
    """A proposal that says what a fact says already, put as the fact puts it, so that it confirms
    the fact and does not stand beside it; any other as it is."""
    if said(text_of(proposal.value)) == said(text_of(fact.value)):
        several = fact.multi_valued  # the same words in other signs: "The order is approved!"
    elif says_the_same(proposal.source.parts, fact):
        several = proposal.multi_valued
    else:
        return proposal
    return replace(proposal, value=fact.value, source=fact.source, multi_valued=several)
