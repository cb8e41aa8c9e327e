"""Ties: what a statement says it rests on.

"The wine is Merlot because of the menu." rests on what is known of the menu; "So the budget is
5,000." rests on what was said right before. A statement that gives a reason and names the thing of
another one rests on that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from incumbent.language.cues import Cues
from incumbent.language.lexicon import data, word_set
from incumbent.language.tokens import stem
from incumbent.model.fact import Part
from incumbent.reading.causes import base_of, begins_at, concludes, ends_at, leans_on, points_back
from incumbent.reading.comparing import fillers, tokens
from incumbent.reading.form import Known, Relation, RelationKind, Span, Statement, StatementKind
from incumbent.reading.telling import told_in
from incumbent.reading.things import Thing, name_of, things

_LONGEST: Final = 4
"""The name of a thing has no more words that tell something."""
_READ: Final = 400
_VARIES = re.compile(
    r"\b(?:would|will|may|might) (?:change|move|vary|shift) (?:with|if|when)\b|\(from\b|"
    r"\bas (?:things|it|they|matters|that) (?:are|is|stands?)\b|\bgoing (?:off|by)\b",
    re.IGNORECASE,
)
_POINTING = re.compile(r"(?:it|this|that|which|straight)\b", re.IGNORECASE)
_ENDED = re.compile(r"[.!?](?=\s)|\n")
_COMMA = re.compile(r"[,;:] ")


class _Words:
    def __init__(self, language: str) -> None:
        told = data("ties", language)
        concluding, reason, following = (
            "".join(told[name].split("\n")) for name in ("concluding", "reason", "following")
        )
        said, but, so = (
            r"(?:and |ok |okay |well,? )?",
            "(?:but |and |only |just )*",
            "(?:and |you see, )*",
        )
        self.resting = frozenset(map(stem, told["resting"].split()))
        self.linking = word_set(told["linking"])
        self.concluding = re.compile(rf"{said}(?:{concluding})\b(?! that you)", re.IGNORECASE)
        self.taking_up = re.compile(rf"{said}(?:{told['taking_up']})\b", re.IGNORECASE)
        self.reason = re.compile(rf"{but}(?:{reason})\b\s*", re.IGNORECASE)
        self.reason_within = re.compile(rf"[,;]? (?={but}(?:{reason})\b)", re.IGNORECASE)
        self.following = re.compile(rf"(?:[,;]| -)? (?={so}(?:{following})\b)", re.IGNORECASE)
        self.follows = re.compile(rf"{so}(?:{following})\b\s*", re.IGNORECASE)


@lru_cache(maxsize=2)
def _words(language: str = "en") -> _Words:
    return _Words(language)


def opening(text: str) -> int:
    """Where a statement begins behind words that make it a reason or a conclusion, or 0."""
    words = _words()
    found = words.reason.match(text) or words.follows.match(text)
    return found.end() if found is not None else 0


def is_reason(text: str) -> bool:
    """Whether a stretch opens as the reason for something: "because the rent is $900"."""
    return _words().reason.match(text) is not None


def reasoned(text: str) -> Iterator[tuple[Span, Span]]:
    """Where a sentence may fall into a reason and what follows from it, whichever comes first."""
    words = _words()
    if len(text) > _READ:
        return
    found = [*words.reason_within.finditer(text), *words.following.finditer(text)]
    if words.reason.match(text) is not None:
        found += _COMMA.finditer(text)
    for one in found:
        if one.start() > 0:
            yield (0, one.start()), (one.end(), len(text))


def resting_words() -> frozenset[str]:
    """The words, as they are compared, by which a statement says that it rests on something."""
    return _words().resting


def rests(text: str) -> bool:
    """Whether a sentence says that it rests on something."""
    stems = {token.stem for token in tokens(text[:_READ])}
    return not resting_words().isdisjoint(stems) or _VARIES.search(text[:_READ]) is not None


def topic(text: str) -> frozenset[str]:
    """The words for the thing that a sentence is about; none where it names no single thing."""
    words = _words()
    found: list[str] = []
    for token in tokens(text[:_READ]):
        low = token.text.lower()
        if low in words.linking or (low.endswith(("'s", "’s")) and found):
            break
        if low not in fillers() and stem(low) not in words.resting:
            found.append(token.stem)
        if len(found) > _LONGEST:
            return frozenset()
    return frozenset(found)


def ties(
    statements: Sequence[Statement], known: Sequence[Known], text: str = ""
) -> Iterator[Relation]:
    """What the statements of a turn rest on: what is known, or what else the turn says."""
    for number, said in enumerate(statements):
        if said.kind is StatementKind.SUPPOSES:
            yield from _waits(number, said, known)
        if said.kind is StatementKind.ORDERS:
            yield from _told_ties(number, statements, known, text)
        if said.kind is not StatementKind.STATES:
            continue
        other = _reasons_for(number, statements, text)
        if other is not None:
            yield _rests(other, statements[other], earlier=number)
            continue
        told = list(_told_ties(number, statements, known, text))
        yield from told or _bases(number, said, statements, known)


def _told_ties(
    number: int, statements: Sequence[Statement], known: Sequence[Known], text: str
) -> Iterator[Relation]:
    """What a statement that gives one thing its value rests on, by the structure of the turn: the
    one before it, the one behind it, or what it names beside that thing."""
    said = statements[number]
    told = told_in(said.text, said.parts)
    if not told and number:
        yield from _explained(number, statements, known)
    if len(told) != 1:
        return
    for place, base in ((number - 1, 0), (number + 1, 1)):
        if _is_base(statements, number, place, base, text):
            yield _rests(number, said, earlier=place)
            return
    named = _with_mentions(said, things(said.text, said.parts), known)
    for name in leans_on(said.text, told, named):
        earlier = [n for n, one in enumerate(statements[:number]) if name in _names_of(one)]
        if earlier:
            yield _rests(number, said, earlier=earlier[-1])
            continue
        for fact in known:
            if name == _name_of(fact) or name in _told_names(fact.text, fact.parts):
                yield _rests(number, said, fact_id=fact.id)


def _with_mentions(said: Statement, named: Sequence[Thing], known: Sequence[Known]) -> list[Thing]:
    """The things that a statement names, and what is known by a name that it has in a row, where a
    verb behind it hides its end."""
    found = list(named)
    words = tokens(said.text[:_READ])
    for fact in known:
        name = _name_of(fact) if fact.key else frozenset()
        for first in range(len(words) - len(name) if len(name) > 1 else 0):
            row = words[first : first + len(name)]
            start, end = row[0].start, row[-1].end
            is_free = all(end <= one.start or one.end <= start for one in found)
            if is_free and {one.stem for one in row} == name:
                found.append(Thing(start, end, fact.key, fact.subject, is_own=False))
    return sorted(found, key=lambda one: one.start)


def _explained(
    number: int, statements: Sequence[Statement], known: Sequence[Known]
) -> Iterator[Relation]:
    """What the statement right before rests on, where this one only says so: "The fee is $95. That
    has to do with the deposit."."""
    said, before = statements[number], statements[number - 1]
    about = told_in(before.text, before.parts)
    if len(about) != 1 or before.kind is not StatementKind.STATES or not points_back(said.text):
        return
    for thing in things(said.text, said.parts):
        name = name_of(thing.key, thing.subject)
        for fact in known if name != about[0].name else ():
            if name == _name_of(fact) or name in _told_names(fact.text, fact.parts):
                yield _rests(number - 1, before, fact_id=fact.id)


def _is_base(
    statements: Sequence[Statement], number: int, place: int, base: int, text: str
) -> bool:
    """Whether the neighbour of a statement is the reason for it."""
    if not 0 <= place < len(statements):
        return False
    first, second = sorted((number, place))
    one, other = statements[first], statements[second]
    told, then = told_in(one.text, one.parts), told_in(other.text, other.parts)
    if not told or not then or one.kind is not other.kind or told[-1].name == then[0].name:
        return False
    end = one.start + ends_at(told[-1])
    between = text[end : other.start + begins_at(then[0])]
    if _ENDED.search(between) is None:
        return base_of(one.text[: begins_at(told[0])], between) == base
    # Behind the end of a sentence only what points back or draws a conclusion ties the two.
    return base == 0 and concludes(other.text[: begins_at(then[0])])


def _names_of(said: Statement) -> frozenset[frozenset[str]]:
    own = {_name(said)} if said.claim is not None else set()
    return frozenset(own) | _told_names(said.text, said.parts)


def _told_names(text: str, parts: tuple[Part, ...]) -> frozenset[frozenset[str]]:
    return frozenset(one.name for one in told_in(text, parts))


def _bases(
    number: int, said: Statement, statements: Sequence[Statement], known: Sequence[Known]
) -> Iterator[Relation]:
    words = _words()
    own = {token.stem for token in tokens(said.text[:_READ])}
    concluding = words.concluding.match(said.text) is not None
    is_one = number and said.claim is not None and words.follows.match(said.text)
    if number and said.parts and (is_one or words.taking_up.match(said.text)):
        found = list(_named(number, said, own, statements, known)) if rests(said.text) else []
        yield from found or _right_before(number, statements, ())
        return
    if not concluding and not rests(said.text):
        return
    found = list(_named(number, said, own, statements, known))
    if said.claim is None and _POINTING.match(said.text) is not None:
        # "It depends on the menu." speaks of what was said right before it.
        for place in range(number - 1, max(-1, number - 3), -1):
            if statements[place].claim is not None:
                yield from (replace(one, statement=place) for one in found if one.earlier != place)
                return
    if not found and concluding:
        found = list(_right_before(number, statements, known))
    yield from found


def _reasons_for(number: int, statements: Sequence[Statement], text: str) -> int | None:
    """Which other statement has this one for its reason: "because the rent is $900"."""
    said = statements[number]
    if said.claim is None or _words().reason.match(said.text) is None:
        return None
    for place in range(number - 1, max(-1, number - 3), -1):
        one = statements[place]
        between = text[one.end : said.start]
        if one.kind is StatementKind.STATES and not one.text.endswith("?"):
            is_asked = number - place == 2 and statements[place + 1].text.endswith("?")
            ended = one.text.endswith((".", "!", "?")) or "\n" in between
            return place if is_asked or not ended else None
    after = number + 1
    if after < len(statements) and statements[after].claim is not None:
        return after if not said.text.endswith((".", "!", "?")) else None
    return None


def _waits(number: int, said: Statement, known: Sequence[Known]) -> Iterator[Relation]:
    """What something is to be once another thing changes: "If James leaves, report to Ada."."""
    for fact in known if said.awaits else ():
        if said.awaits == _name_of(fact):
            yield _rests(number, said, fact_id=fact.id)
            return
    base = Cues(said.text).contingency
    if base is None:
        return
    asked = {stem(word) for word in base.lower().split()}
    for fact in known:
        own = {token.stem for token in tokens(f"{fact.key.replace('_', ' ')} {fact.text}"[:_READ])}
        if asked <= own:
            yield _rests(number, said, fact_id=fact.id)
            return


def _named(
    number: int,
    said: Statement,
    own: set[str],
    statements: Sequence[Statement],
    known: Sequence[Known],
) -> Iterator[Relation]:
    """What has the thing that a statement names as its reason."""
    points = said.claim is None and _POINTING.match(said.text) is not None
    about = frozenset() if points else _name(said)
    for earlier, one in enumerate(statements[:number]):
        thing = _name(one)
        if thing and thing <= own and thing != about and one.kind is StatementKind.STATES:
            yield _rests(number, said, earlier=earlier)
            return
    for fact in known:
        thing = _name_of(fact)
        if thing and thing <= own and not thing <= about:
            yield _rests(number, said, fact_id=fact.id)


def _name_of(fact: Known) -> frozenset[str]:
    """The words for what something known is about."""
    return name_of(fact.key, fact.subject) if fact.key else topic(fact.text)


def _name(said: Statement) -> frozenset[str]:
    """The words for what a statement is about: its name, where it has one."""
    claim = said.claim
    return name_of(claim.attribute, claim.subject) if claim is not None else topic(said.text)


def _right_before(
    number: int, statements: Sequence[Statement], known: Sequence[Known]
) -> Iterator[Relation]:
    for earlier in range(number - 1, -1, -1):
        if statements[earlier].kind is StatementKind.STATES:
            yield _rests(number, statements[number], earlier=earlier)
            return
    last = [one for one in known if one.is_here and one.age == 0]
    for one in last[:1]:
        yield _rests(number, statements[number], fact_id=one.id)


def _rests(
    number: int, said: Statement, *, fact_id: str = "", earlier: int | None = None
) -> Relation:
    return Relation(
        RelationKind.DEPENDS, fact_id, number, 1.0, said.text[:80], is_told=True, earlier=earlier
    )
