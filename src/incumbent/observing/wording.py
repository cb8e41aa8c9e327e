"""Wording: the statements of a turn in the words that they were said in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from incumbent.engine.proposal import Proposal
from incumbent.language.attributes import Attribute
from incumbent.language.cues import Cues
from incumbent.language.detection import are_comparable
from incumbent.language.frames import frame_again, frame_of
from incumbent.language.lexicon import lexicon
from incumbent.language.reasoning import value_told
from incumbent.language.skeleton import names_a_thing
from incumbent.language.statements import Kind
from incumbent.language.things import opens_with_bare_thing, says_more
from incumbent.language.tokens import stems
from incumbent.model.fact import Fact
from incumbent.observing import ties
from incumbent.observing.relating import opens_with_pronoun
from incumbent.observing.situation import STATEMENT
from incumbent.observing.understanding import CUT, Understood, typed, understood

_MUCH = 4
"""So many words tell something by themselves."""
_SOMETHING = 2
_FEW = 6
_TELLING = 4
"""Words of fewer letters tell little."""


def as_said(said: Understood, text: str, kind: Kind) -> Understood:
    """Other words as if they had been said in a statement."""
    statement = replace(said.statement, text=text, kind=kind, cues=())
    again = understood(statement, said.at, lambda _: False)
    return replace(again, statement=replace(said.statement, kind=kind), lead="")


def all_in_own_words(heard: Sequence[Understood]) -> list[Understood]:
    """The statements of a turn as they were said; what several were read off is read in full."""
    read: dict[tuple[int, int], list[str]] = {}
    heard = together(heard)
    for said in heard:
        place = (said.statement.start, said.statement.end)
        read.setdefault(place, []).extend((said.text, *said.bases))
    return [
        in_own_words(said, " ".join(read[said.statement.start, said.statement.end]))
        for said in heard
    ]


def together(heard: Sequence[Understood]) -> list[Understood]:
    """The statements of a turn, with what only names a thing joined to what tells of it.

    "The printer? That one is the Vulcan 5" says nothing in two.
    """
    joined: list[Understood] = []
    for said in heard:
        before = joined[-1] if joined else None
        if before is not None and _only_names(before) and _tells_of_what_was_named(said):
            begin, end = before.statement, said.statement
            text = f"{begin.text} {end.text}"
            if begin.end + 1 == end.start and len(text) == end.end - begin.start:
                whole = replace(end, text=text, start=begin.start)
                joined[-1] = replace(
                    said, statement=whole, text=text, begin=0, frame=frame_of(text, said.at)
                )
                continue
        joined.append(said)
    return joined


def _only_names(said: Understood) -> bool:
    """Whether a statement names a thing, and says no value of it."""
    text = said.text.strip(" .?!:")
    if said.is_anchored or said.bases or said.by is not None or typed(said.frame.parts):
        return False
    return said.text.rstrip().endswith("?") and len(text.split()) <= _FEW and names_a_thing(text)


def _tells_of_what_was_named(said: Understood) -> bool:
    """Whether a statement says a value of what "it" or "that one" means."""
    if said.is_anchored or said.kind in (Kind.QUESTION, Kind.RETRACTION, Kind.VERBATIM):
        return False
    return said.attribute is None and opens_with_pronoun(said.text)


def in_own_words(said: Understood, read: str = "") -> Understood:
    """A statement as it was said, where it was read in other words.

    What follows from what stays as it was read. `read` is all that was read off the statement.
    """
    if said.kind is Kind.REQUEST and opens_with_bare_thing(said.text):
        # "Order status is approved" asks for nothing.
        said = replace(said, statement=replace(said.statement, kind=Kind.ASSERTION, cues=()))
    if said.waiting or said.relation or (said.is_anchored and not _is_cut_short(said, read)):
        return said
    if said.is_anchored and said.outdated and said.is_change:
        return _renewing(said)
    if said.attribute is not None and (_is_no_name(said.attribute) or _tells_more(said)):
        said = replace(said, attribute=None)
    if said.text in said.statement.text and not _leaves_out(said, read):
        return _with_its_thing(said)
    if _is_under_its_name(said) and not _is_cut_short(said, read, _SOMETHING):
        return said
    again = _with_its_thing(as_said(said, said.statement.text, said.kind))
    return replace(
        again,
        statement=said.statement,
        cues=Cues(said.statement.text),
        by=said.by,
        derives=said.derives,
        lead=said.lead,
        bases=said.bases,
        is_presumed=said.is_presumed,
        is_change=said.is_change,
        returns=said.returns,
        outdated=said.outdated,
    )


def _is_under_its_name(said: Understood) -> bool:
    """Whether a thing and its value are in a statement, which puts them otherwise: "the fee? 5"."""
    attribute, text = said.attribute, said.statement.text
    if attribute is None or not attribute.is_sure or attribute.value not in text:
        return False
    return not _goes_on(said) and stems(attribute.key.replace("_", " ")) <= stems(text)


def _goes_on(said: Understood) -> bool:
    """Whether a statement tells more after the value of it that was read: "that one is Ines, she
    has the keys"."""
    told = value_told(said.text)
    _, found, after = said.statement.text.rpartition(told.value) if told is not None else ("",) * 3
    return bool(found) and says_more(f". {after}")


def _with_its_thing(said: Understood) -> Understood:
    """A statement together with the words that tell what it is about: "as for the fee, it's 5"."""
    text = said.statement.text
    if said.narrowed_to is None or said.attribute is not None or not opens_with_pronoun(said.text):
        return said
    return replace(said, text=text, begin=0, frame=frame_of(text, said.at))


def _renewing(said: Understood) -> Understood:
    """A statement that names what was so and what is so now: in its own words but for the former.

    "It used to be … for the school run, but since this week it's 79 minutes."
    """
    told = value_told(said.text)
    again = as_said(said, said.own_words, said.kind)
    return replace(
        again,
        attribute=None,
        is_change=True,
        outdated=said.outdated,
        renews=told.thing if told is not None else "",
        is_anchored=True,
    )


def _is_no_name(attribute: Attribute) -> bool:
    """Whether what was taken for a name, or for a value, is more than that."""
    words, known = attribute.key.split("_"), lexicon()
    loose = known.pronouns | known.speaker | frozenset((*known.prepositions, "as"))
    return says_more(attribute.value) or not loose.isdisjoint(words)


def _tells_more(said: Understood) -> bool:
    """Whether a statement tells much that neither a name nor its value says.

    "Asked with a cake and he's given his blessing in writing, the tram comes Friday" is not only
    about when the tram comes.
    """
    attribute = said.attribute
    if attribute is None:
        return False
    named = stems(f"{attribute.key.replace('_', ' ')} {attribute.subject or ''} {attribute.value}")
    return len(set(said.frame.order) - named) >= _MUCH


def _leaves_out(said: Understood, read: str) -> bool:
    """Whether what is around the words that were read says something of its own: "for the slides
    use 14pt, ..."."""
    if said.by is not None or said.attribute is not None:
        return False
    if said.bases:
        return _is_cut_short(said, read)
    before = said.statement.text[: said.begin]
    return bool(typed(frame_again(before).parts)) or _is_cut_short(said, read)


def _is_cut_short(said: Understood, read: str, much: int = _MUCH) -> bool:
    """Whether much of a statement is in nothing that was read off it."""
    if said.removes or said.returns or said.by is not None:
        return False
    if said.is_anchored and not (said.is_change or said.bases or said.derives) and _goes_on(said):
        return True
    first, whole = said.statement.start, said.statement.text
    gone = (whole[begin - first : end - first] for begin, end in said.outdated)
    known = stems(" ".join((read, said.text, *said.bases, *gone)), shortest=_TELLING)
    return len(stems(said.statement.text, shortest=_TELLING) - known) >= much


def without_gone(said: Understood, proposal: Proposal, gone: Sequence[Fact]) -> Proposal:
    """A statement without the values that it names only to say that they are over.

    "Propane instead of hydrogen", once the hydrogen is gone.
    """
    if proposal.key != STATEMENT or not gone or not isinstance(proposal.value, str):
        return proposal
    over = [part.text for part in said.denied if any(ties.says(fact, part.text) for fact in gone)]
    for told in filter(None, map(ties.stated_by, gone)):
        new = [part for part in typed(said.parts) if part.normal != told.part.normal]
        if any(are_comparable(told.part, part) for part in new):
            over.append(told.part.text)
    text = proposal.value
    for words in sorted(over, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(words)}(?!\w)", CUT, text)
    if text == proposal.value:
        return proposal
    source = replace(proposal.source, parts=frame_of(text, said.at).parts)
    return replace(proposal, value=text, source=source)
