"""Reporting: what of a machine's words is kept, as its own and below anybody else's."""

from __future__ import annotations

from incumbent.language.detection import same_part
from incumbent.language.lexicon import data, word_set
from incumbent.language.statements import Kind
from incumbent.language.things import tells_alike
from incumbent.language.tokens import stems
from incumbent.model.fact import Part
from incumbent.model.values import text_of
from incumbent.observing import offering
from incumbent.observing.relating import speaks_of_oneself
from incumbent.observing.situation import Situation, is_request
from incumbent.observing.understanding import Understood, typed

_TELLING = frozenset({Kind.ASSERTION, Kind.COMMITMENT, Kind.REPORT})


_SURELY = 0.8
"""How likely it must be that a machine tells something, where its words and values are known."""


def is_news(said: Understood, situation: Situation, *, chance: float, tells: bool) -> bool:
    """Whether a machine tells something that nobody has told before, and does not only offer it.

    `tells` is whether the model takes it for something that lasts, `chance` how likely it is that.
    """
    if "?" in said.text:
        return False
    if not tells and (said.kind not in _TELLING or _is_unreal(said)):
        return False
    if offering.is_offer(said.text):
        return False
    if _is_for_people(said, situation) or _is_against_people(said, situation):
        return False
    values = typed(said.parts)
    if tells and _is_echo(said, situation, surely=chance >= _SURELY):
        return False
    if tells and (not values or chance >= _SURELY):
        return True
    return any(not _is_known(part, situation) for part in values)


def _is_unreal(said: Understood) -> bool:
    """Whether it tells what would be so: "could find" tells what was found."""
    words = set(said.text.lower().split())
    return "irrealis" in said.statement.cues and not word_set(data("desk")["unreal"]).isdisjoint(
        words
    )


def _is_for_people(said: Understood, situation: Situation) -> bool:
    """Whether it is said of what only people say: whose something is, and what has a name.

    "Your budget is 900" reads back what somebody said, rightly or wrongly.
    """
    attribute = said.attribute
    if attribute is None:
        return False
    if attribute.is_own and speaks_of_oneself(said.text):
        return True
    peoples = [fact for fact in situation.known.values() if not fact.source.by_machine]
    return any(fact.key == attribute.key for fact in peoples)


def _is_against_people(said: Understood, situation: Situation) -> bool:
    """Whether somebody says otherwise of the very thing that a machine speaks of."""
    told = [f for f in situation.known.values() if not f.source.by_machine and not is_request(f)]
    return any(tells_alike(said.text, text_of(fact.value)) for fact in told)


def _is_known(part: Part, situation: Situation) -> bool:
    known = situation.known.values()
    if any(same_part(part, old) for fact in known for old in typed(fact.parts)):
        return True
    return any(part.text.casefold() in text_of(fact.value).casefold() for fact in known)


def _is_echo(said: Understood, situation: Situation, *, surely: bool) -> bool:
    """Whether it says nothing that a fact does not say.

    What surely tells something is no echo of a request for having a word of it: "90-D: voided" says
    that "void D, please" was done.
    """
    words = frozenset(word for word in stems(said.text) if word.isalpha())
    for fact in situation.known.values():
        theirs = stems(text_of(fact.value))
        is_done = surely and is_request(fact) and 2 * len(words) < len(theirs)
        if words <= theirs and not is_done:
            return True
    return False
