"""Scrutiny: whether a model's proposal has grounds in its turn, and whether it may touch a fact."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from incumbent.language.detection import same_part
from incumbent.language.frames import frame_of
from incumbent.language.lexicon import agreeing
from incumbent.language.llm.checking import Span, is_supported, names, place_in, places_of
from incumbent.language.llm.reading import Candidate, Commitment, Objection, Replaced
from incumbent.language.statements import Kind
from incumbent.language.voice import Voice
from incumbent.model.fact import Fact, Part, Source
from incumbent.model.scope import Scope
from incumbent.model.values import text_of
from incumbent.observing.labels import label_end
from incumbent.observing.relating import parts_in
from incumbent.observing.sorting import REAL
from incumbent.observing.understanding import Understood, typed
from incumbent.observing.waiting import Waiting
from incumbent.rules.classification import classify_constraint

_SAID = frozenset({*REAL, Kind.RETRACTION, Kind.CONFIRMATION})
"""Kinds of statements whose speakers stand by them."""
_UNREAL = {Kind.DRAFT: Scope.DRAFT, Kind.HYPOTHETICAL: Scope.HYPOTHETICAL}
_NO_CLAIM = frozenset({Commitment.REPORTED, Commitment.QUESTION, Commitment.NONE})
_SPEAKER = frozenset({"", "user", "speaker", "me", "i", "self", "human"})
_LEADS = ("the ", "my ", "our ", "his ", "her ", "their ", "your ")
_PLAIN = Source(type="conversation")
_FAMILIES = (
    frozenset({"number", "quantity", "money", "percent"}),
    frozenset({"date", "time", "duration"}),
    frozenset({"name", "address", "quoted", "code"}),
)


class Declined(Exception):
    """A proposal is dropped; the message says why."""


@dataclass(frozen=True)
class Grounds:
    """What a proposal rests on: the statement that its quote is from, and how that was read."""

    waiting: Waiting
    said: Understood
    kind: Kind
    quote: str
    """As the turn has it."""

    @property
    def widest(self) -> Scope | None:
        """The only scope it can be filed in, where its speaker does not say that it is so."""
        return _UNREAL.get(self.kind)


@dataclass(frozen=True)
class Target:
    """A fact that a proposal replaces, or the part of it that it replaces."""

    fact: Fact
    old: Part | None = None
    """None for all of it."""
    takes_over: bool = True
    """Whether what replaces it sits where it sat; a sentence's place is no place for a value."""

    def rewritten(self, value: str, parts: tuple[Part, ...]) -> tuple[str, tuple[Part, ...]]:
        """What stands once the value has replaced the old one: its text, and the values in it."""
        if self.old is None:
            return value, parts
        whole = text_of(self.fact.value)
        before = agreeing(whole[: self.old.start], value)
        moved = len(before) + len(value) - self.old.end
        kept = [part for part in parts_in(self.fact) if part.end <= self.old.start]
        new = [
            part._replace(
                role=self.old.role, start=len(before) + part.start, end=len(before) + part.end
            )
            for part in parts
        ]
        after = [
            part._replace(start=part.start + moved, end=part.end + moved)
            for part in parts_in(self.fact)
            if part.start >= self.old.end
        ]
        return before + value + whole[self.old.end :], (*kept, *new, *after)


def check_is_meant(grounds: Grounds) -> None:
    """Raise Declined where nobody takes something back in their own words, said straight out."""
    text, statement = grounds.waiting.heard.text, grounds.said.statement
    if not Voice(text, begin=label_end(text)).is_own(statement.start, statement.end):
        raise Declined("the turn does not take it back in the speaker's own words")


# what it rests on


def grounds_for(proposal: Candidate | Objection, turns: Mapping[int, Waiting]) -> Grounds:
    """The grounds of a proposal; raises Declined where it has none."""
    waiting = turns.get(proposal.turn)
    if waiting is None:
        raise Declined(f"it is from turn {proposal.turn}, which was not to be read")
    text = waiting.heard.text
    spans = places_of(proposal.quote, text)
    if not spans:
        raise Declined("the quote is not in the turn")
    if isinstance(proposal, Objection):
        return _grounds(waiting, spans[0], spans[0])
    if waiting.heard.is_context:
        raise Declined("an assistant's turn gives no values to names")
    _check_claim(proposal, waiting)
    found = [_grounds(waiting, span, place_in(proposal.value, text, span)) for span in spans]
    # The same words can stand in a question and in the answer to it: one that is meant will do.
    grounds = next((one for one in found if one.kind in _SAID), found[0])
    _check_reading(proposal, grounds)
    return grounds


def _grounds(waiting: Waiting, span: Span, place: Span) -> Grounds:
    """The statement that a place is in; where it is in several, the one that commits to least."""
    read = list(zip(waiting.heard.said, waiting.readings, strict=False))
    near = [
        (said, kind)
        for said, kind in read
        if said.statement.start < place[1] and place[0] < said.statement.end
    ]
    if not near:
        raise Declined("the quote is from no statement of the turn")
    telling = [(said, kind) for said, kind in near if kind is not Kind.SMALL_TALK] or near
    said, kind = next((one for one in telling if one[1] not in _SAID), telling[0])
    return Grounds(waiting, said, kind, waiting.heard.text[slice(*span)])


def _check_claim(candidate: Candidate, waiting: Waiting) -> None:
    if candidate.commitment in _NO_CLAIM:
        raise Declined(f"the model itself takes it for: {candidate.commitment}")
    if candidate.commitment is Commitment.RETRACTED:
        return
    if not candidate.value:
        raise Declined("it has no value")
    if not is_supported(candidate.value, candidate.quote, waiting.moment):
        raise Declined("the quote does not say the value")


def _check_reading(candidate: Candidate, grounds: Grounds) -> None:
    said, kind = grounds.said, grounds.kind
    if kind not in _SAID and kind not in _UNREAL:
        raise Declined(f"the turn does not say that it is so (read as {kind.replace('_', ' ')})")
    if "counterfactual" in said.statement.cues:
        raise Declined("the turn tells of what is not so")
    if speaks_of_policy(candidate.attribute, candidate.value, said.statement.text):
        raise Declined("it speaks of policy, which is not for a model to set; use write()")
    if candidate.commitment is Commitment.RETRACTED:
        return
    if said.cues.is_past:
        raise Declined("the turn tells how things were once")
    ours = frame_of(candidate.value, grounds.waiting.moment).parts
    if any(same_part(part, denied) for part in ours for denied in said.denied):
        raise Declined("the turn says that it is not so")


def speaks_of_policy(*texts: str) -> bool:
    """Whether words speak of what binds others: a policy, a rule."""
    for word in (word for text in texts for word in re.findall(r"[^\W_]+", text.lower())):
        singular = f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")
        if any(classify_constraint(form, "", _PLAIN) == "policy" for form in (word, singular)):
            return True
    return False


def subject_of(
    candidate: Candidate,
    grounds: Grounds,
    known: Iterable[Fact],
    turns: Iterable[Waiting],
) -> str | None:
    """Whom or what a candidate is about: none for the person whose session it is.

    It has to be named in one of the turns, or to be what a fact on record is about.
    """
    speaker = grounds.waiting.heard.speaker
    about = " ".join(candidate.about.lower().split())
    if about in _SPEAKER or about == speaker.name.lower():
        return None if speaker.is_self else speaker.name.lower()
    for lead in _LEADS:
        about = about.removeprefix(lead)
    on_record = {fact.subject for fact in known}
    if about in on_record:
        return about
    if not any(names(about, waiting.heard.text) for waiting in turns):
        raise Declined(f"nobody has spoken of {about!r:.60}")
    return about


# what it may touch


def is_out_of_reach(fact: Fact) -> bool:
    """Whether a fact is none that a model's proposal may replace: a policy, or what binds all."""
    return fact.is_constraint and (not fact.owner or fact.constraint_type == "policy")


def targets_of(
    candidate: Candidate,
    grounds: Grounds,
    known: Mapping[str, Fact | None],
    subject: str | None,
) -> tuple[list[Target], tuple[str, ...]]:
    """The facts that a candidate replaces, and why others that it names are left alone.

    `known` has the facts that were shown, as they stand now; None for one that has left office.
    """
    found: dict[str, Target] = {}
    lost: list[str] = []
    for named in candidate.replaces:
        try:
            target = _target(candidate, grounds, named, known, subject)
            found.setdefault(target.fact.id, target)
        except Declined as error:
            lost.append(str(error))
    return list(found.values()), tuple(dict.fromkeys(lost))


def _target(
    candidate: Candidate,
    grounds: Grounds,
    named: Replaced,
    known: Mapping[str, Fact | None],
    subject: str | None,
) -> Target:
    if named.handle not in known:
        raise Declined("it replaces a fact that the model was not shown")
    fact = known[named.handle]
    if fact is None:
        raise Declined("the fact that it replaces has left office in the meantime")
    if is_out_of_reach(fact):
        raise Declined("it replaces what binds others, which is not for a model")
    if fact.order > grounds.waiting.moment:
        raise Declined("the fact that it replaces was said later")
    if fact.subject != subject:
        raise Declined("the fact that it replaces is about something else")
    if grounds.said.is_added:
        raise Declined("the turn says that it comes on top of what there is")
    if candidate.commitment is Commitment.RETRACTED:
        return _taken_back(fact, named.old)
    ours = typed(frame_of(candidate.value, grounds.waiting.moment).parts)
    target = _part_of(fact, named.old, ours)
    if target.old is not None and not _are_alike(ours, typed((target.old,))):
        raise Declined("the value that it replaces is of another kind")
    if target.old is None and not _are_alike(ours, typed(parts_in(fact))):
        raise Declined("the value that it replaces is of another kind")
    return target


def _taken_back(fact: Fact, old: str) -> Target:
    if old and len(typed(parts_in(fact))) > 1 and not _is_all_of(fact, old):
        raise Declined("it would take back more than the turn does")
    return Target(fact)


def _part_of(fact: Fact, old: str, ours: tuple[Part, ...]) -> Target:
    """Which part of a fact is replaced: the one that is named, or the only one of its kind."""
    text = text_of(fact.value)
    theirs = parts_in(fact)
    if old and not _is_all_of(fact, old):
        spans = places_of(old, text)
        if spans:
            return Target(fact, _part_at(theirs, text, spans[0]))
        again = [
            part
            for part in typed(theirs)
            if any(same_part(part, other) for other in typed(frame_of(old).parts))
        ]
        if len(again) != 1:
            raise Declined("the fact does not have the words that it says are replaced")
        return Target(fact, again[0])
    if any(part.end - part.start >= len(text.strip(" .!")) for part in theirs):
        return Target(fact)
    if len(typed(theirs)) < 2 and not (typed(theirs) and ours):
        # A sentence with no value of the kind in it: the value stands by itself from now on.
        return Target(fact, takes_over=fact.source.span is None)
    alike = [part for part in typed(theirs) if _are_alike(ours, (part,)) and ours]
    if len(alike) != 1:
        raise Declined("it does not say which words of the fact are replaced")
    return Target(fact, alike[0])


def _is_all_of(fact: Fact, old: str) -> bool:
    return _bare(old) == _bare(text_of(fact.value))


def _bare(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!")


def _part_at(parts: Iterable[Part], text: str, span: Span) -> Part:
    for part in parts:
        if (part.start, part.end) == span:
            return part
    words = text[slice(*span)]
    return Part("term", words, " ".join(words.lower().split()), "is|", *span)


def _are_alike(ours: tuple[Part, ...], theirs: tuple[Part, ...]) -> bool:
    """Whether values can take each other's place: not a date that of an amount."""
    if not ours or not theirs:
        return True
    return any(
        one.kind == other.kind or any({one.kind, other.kind} <= family for family in _FAMILIES)
        for one in ours
        for other in theirs
    )
