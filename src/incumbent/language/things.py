"""Things: whether two statements are put alike, and each of another thing of its kind.

"Server alpha has 32 GB" and "Server beta has 64 GB" have all in common but what they are about and
what they say of it. What only corrected the other would change one of the two.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from incumbent.language.lexicon import DEFAULT_LANGUAGE, data, lexicon, word_set
from incumbent.language.tokens import stem
from incumbent.model.text_cache import remembered, remembering

_LONGEST = 200
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W_]+(?:-[^\W_]+)*|['’][a-z]{1,2}\b|[,;.!?:]")
_BARE = 4
_ENDS = frozenset(",;.!?:")
_KEPT = 2_048


class _Halves(NamedTuple):
    """What a clause is about, and what it says of it: the stems of the words of both."""

    thing: frozenset[str]
    told: frozenset[str]


class _ThingWords(NamedTuple):
    linking: frozenset[str]
    passed_over: frozenset[str]
    joints: frozenset[str]


@lru_cache(maxsize=8)
def _words(language: str = DEFAULT_LANGUAGE) -> _ThingWords:
    told = data("stances", language)
    fresh = lexicon(language).fresh
    return _ThingWords(
        word_set(told["linking"]),
        word_set(told["passed_over"]) | fresh,
        frozenset(lexicon(language).prepositions),
    )


def tells_of_another(new: str, old: str) -> bool:
    """Whether a statement is about another thing of the kind that an older one is about."""
    ours, theirs = _first_clause(new), _first_clause(old)
    if not ours or not theirs:
        return False
    one, other = _halved(ours), _halved(theirs)
    if one is None or other is None:
        verb = _shared_verb(ours, theirs)
        one, other = _halved(ours, verb), _halved(theirs, verb)
    if one is not None and other is not None and _differ(one.told, other.told):
        shared = one.thing & other.thing
        if _differ(one.thing, other.thing) and (shared or _are_names(ours, theirs)):
            return True
    return _placed_apart(ours, theirs) or _do_alike(ours, theirs, one, other)


def tells_alike(new: str, old: str) -> bool:
    """Whether a statement says something else of the very thing that an older one is about."""
    ours, theirs = _first_clause(new), _first_clause(old)
    verb = _shared_verb(ours, theirs)
    one, other = _halved(ours, verb), _halved(theirs, verb)
    if one is None or other is None or one.thing != other.thing:
        return False
    return bool(one.told) and bool(other.told) and one.told != other.told


def opens_with_bare_thing(text: str) -> bool:
    """Whether a few plain words and a verb open a statement, as "order status is" does.

    What asks for something has its thing behind an article or a pronoun before any such verb.
    """
    for at, word in enumerate(_first_clause(text)[:_BARE]):
        if word.lower() in _words().linking:
            return at > 1
        if word.lower() in lexicon().determiners | lexicon().pronouns | _words().joints:
            return False
    return False


def is_linking(word: str) -> bool:
    """Whether a word links a thing with what is said of it: "is", "costs"."""
    return word.lower() in _words().linking


def says_more(value: str) -> bool:
    """Whether what was taken for a value goes on to say something of another thing."""
    words = _WORD.findall(value[:_LONGEST])[1:]
    return ";" in words or any(word.lower() in _words().linking for word in words)


@remembered
def _first_clause(text: str) -> tuple[str, ...]:
    """The words of a statement up to where its first clause ends."""
    found: list[str] = []
    for word in _WORD.findall(text[:_LONGEST]):
        if word in _ENDS:
            if len(found) > 1:
                break
            found = []
            continue
        found.append(word)
    return tuple(found)


def _differ(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether each has something that the other has not."""
    return bool(one - other) and bool(other - one)


def _telling(words: tuple[str, ...]) -> frozenset[str]:
    passed = _words().passed_over
    return frozenset(stem(w) for w in words if w.lower() not in passed and w[0] not in "'’")


@remembering(_KEPT)
def _halved(words: tuple[str, ...], verb: str | None = None) -> _Halves | None:
    """A clause cut at its verb; None where no verb is found with something before it."""
    for at, word in enumerate(words):
        is_verb = word.lower().replace("’", "'") in _words().linking or stem(word) == verb
        if is_verb and (thing := _telling(words[:at])):
            return _Halves(thing, _telling(words[at + 1 :]))
    return None


def _shared_verb(ours: tuple[str, ...], theirs: tuple[str, ...]) -> str | None:
    """The first word that both have after something that tells: "costs", "reports"."""
    known = {stem(word) for at, word in enumerate(theirs) if _telling(theirs[:at])}
    for at, word in enumerate(ours):
        low = word.lower()
        if low in _words().joints or low in _words().passed_over:
            continue
        if stem(word) in known and _telling(ours[:at]):
            return stem(word)
    return None


def _are_names(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether both begin with somebody's name, and not with a thing."""
    return all(
        words[0][:1].isupper()
        and words[0].lower() not in lexicon().determiners
        and words[0].lower() not in _words().passed_over
        for words in (ours, theirs)
    )


def _do_alike(
    ours: tuple[str, ...], theirs: tuple[str, ...], one: _Halves | None, other: _Halves | None
) -> bool:
    """Whether two things, each with its article, are said to do the same to the same: "The cat
    gets half a cup of food", "Our dog gets two cups of food"."""
    determiners = lexicon().determiners
    if one is None or other is None or not {ours[0].lower(), theirs[0].lower()} <= determiners:
        return False
    return one.thing.isdisjoint(other.thing) and bool(one.told & other.told)


def _placed_apart(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether both begin with one thing, told apart by a name: "the contract with Meyer"."""
    one, other = _placed(ours), _placed(theirs)
    if one is None or other is None:
        return False
    return one[:2] == other[:2] and one[2] != other[2]


def _placed(words: tuple[str, ...]) -> tuple[str, str, str] | None:
    """The thing that a clause begins with, and by which name it is told apart."""
    determiners, joints = lexicon().determiners, _words().joints
    begin = 1 if words and words[0].lower() in determiners else 0
    if len(words) < begin + 3:
        return None
    thing, joint, name = words[begin : begin + 3]
    if joint.lower() not in joints or not name[:1].isupper():
        return None
    return stem(thing), joint.lower(), stem(name)
