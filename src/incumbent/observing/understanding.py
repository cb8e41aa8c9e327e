"""Understanding: what a turn says, worked out before anything is looked up."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from incumbent.language.attributes import Attribute, attribute_of, without_lead_in
from incumbent.language.cues import Cues
from incumbent.language.frames import Frame, frame_of
from incumbent.language.lexicon import lexicon
from incumbent.language.reasoning import Relation, Waiting, value_told
from incumbent.language.statements import Kind, Statement
from incumbent.language.validity import Validity, find_validity
from incumbent.model.fact import Part
from incumbent.observing.labels import label_end
from incumbent.observing.unfolding import Unfolded, unfolded

IsTitle = Callable[[str], bool]

CUT = "…"
"""What stands in a statement for words of it that no longer hold."""
_LONGEST_KEY_WORDS = 4
_LONGEST_LEAD = 40
_UNSAID = " \t\r\n-*•·>\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff"
_LOOKING_AGAIN = re.compile(
    r"on (?:[\w-]+ )?[\w-]*(?:tion|sion|look|thought|thoughts|review|reading|checking), ",
    re.IGNORECASE,
)
_TOLD = "told|"
"""The role of a value in plain words that was told of a thing, and does not only frame others."""
_CLAUSE_END = re.compile(r"\s*(?:$|[.,;:!?)\"”—–-]|and\b|but\b|or\b)", re.IGNORECASE)
_OPENING = (Kind.SMALL_TALK, Kind.RETRACTION, Kind.CONFIRMATION, Kind.DRAFT)


@dataclass(frozen=True)
class Understood:
    """A statement of a turn, and what it says of what."""

    statement: Statement
    at: datetime
    text: str
    """What it says, without what opens it: "actually", "per the CEO"."""
    begin: int
    """Where in the statement that begins."""
    frame: Frame
    cues: Cues
    """The cues of the whole statement."""
    attribute: Attribute | None = None
    validity: Validity | None = None
    by: str | None = None
    """The title whose word it says it is."""
    narrowed_to: str | None = None
    """The thing or the case that it is limited to."""
    derives: bool = False
    """Whether it draws a conclusion from what was said before."""
    lead: str = ""
    """What opened the sentence before it: "Actually", "No"."""
    bases: tuple[str, ...] = ()
    """The things that it says it follows from."""
    is_presumed: bool = False
    """Whether it takes for granted what it says, so that it tells nothing against what is known."""
    is_change: bool = False
    """Whether it says that what it tells was otherwise before."""
    waiting: Waiting | None = None
    """What it says is to be so once something else becomes this."""
    relation: Relation | None = None
    """What it says that a thing follows from, without saying what that thing is."""
    removes: str = ""
    """The thing that it takes off the record."""
    returns: bool = False
    """Whether it says that something is again what it was before."""
    outdated: tuple[tuple[int, int], ...] = ()
    """Where in the turn it names what is no longer so."""
    renews: str = ""
    """The thing on record that it says a new value of, in words of its own that tell more."""
    is_reworded: bool = False
    """Whether its text puts what its statement says in other words."""
    is_anchored: bool = False
    """Whether it was read by the things that it names, so that its other words tell no more."""

    @property
    def kind(self) -> Kind:
        return self.statement.kind

    @property
    def is_request(self) -> bool:
        return self.kind is Kind.REQUEST

    @cached_property
    def corrects(self) -> bool:
        """Whether it says, or what opened it said, that it replaces something."""
        if self.is_change:
            return True
        return self.cues.corrects or (bool(self.lead) and Cues(f"{self.lead}, so").corrects)

    @cached_property
    def is_added(self) -> bool:
        """Whether it says that it comes on top of what there is."""
        return lexicon().additive.search(self.text) is not None

    @property
    def is_fragment(self) -> bool:
        """Whether it says values and hardly anything else, so that it is about what was said."""
        if self.kind is Kind.COMMITMENT and not self.corrects:
            return False
        return self.frame.is_fragment

    @property
    def points_back(self) -> bool:
        """Whether it names nothing itself, and speaks of what was named before."""
        if lexicon().pointing.match(self.text) is not None:
            return True
        return not self.frame.heads and self.kind is not Kind.COMMITMENT

    @cached_property
    def denied(self) -> tuple[Part, ...]:
        """The values that it names as what is not so."""
        cues = Cues(self.text)
        found: list[Part] = []
        for part in self.frame.parts:
            goes_on = bool(found) and part.start - found[-1].end == 1
            test = cues.is_contrasted if is_framing(part) else cues.is_denied
            # "But not going to Rome" denies a whole clause, and no word of it alone.
            whole = is_framing(part) and not _CLAUSE_END.match(self.text, part.end)
            if goes_on or (test(part.start) and not whole):
                found.append(part)
        return tuple(found)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The values that it says are so."""
        return tuple(part for part in self.frame.parts if part not in self.denied)

    @cached_property
    def affirmed(self) -> str:
        """Its words without those that say what is not so."""
        text = self.text
        for part in reversed(self.denied):
            begin = Cues(text).denial_before(part.start)
            text = text[:begin].rstrip(" ,;") + text[part.end :]
        return text.strip(" ,;")

    @property
    def own_words(self) -> str:
        """The words that it was said in, but for those that name what is no longer so."""
        text, first = self.statement.text, self.statement.start
        if self.text in text or not self.is_reworded:
            return self.text
        for begin, end in sorted(self.outdated, reverse=True):
            if first <= begin and end <= self.statement.end:
                text = f"{text[: begin - first]}{CUT}{text[end - first :]}"
        return text

    @property
    def told(self) -> tuple[str, tuple[Part, ...]]:
        """The same with the values in it."""
        text = self.own_words.strip()
        parts = self.parts if text == self.text.strip() else frame_of(text, self.at).parts
        return text, parts

    @cached_property
    def key(self) -> str:
        """What it is about, where it names no attribute: its own words but for the values."""
        return "_".join(self.frame.order[:_LONGEST_KEY_WORDS]) or "statement"

    @cached_property
    def tells_of_a_thing(self) -> bool:
        """Whether it names a thing and says what it is, and so does not need what was said."""
        return self.kind is Kind.ASSERTION and value_told(self.text) is not None

    @property
    def thing_key(self) -> str:
        """The same without what it says of the thing, for that may come to be in doubt."""
        told = value_told(self.text)
        if told is None:
            return self.key
        words = frame_of(self.text[: told.start]).order[:_LONGEST_KEY_WORDS]
        return "_".join(words) or self.key


def understand(text: str, at: datetime, is_title: IsTitle) -> list[Understood]:
    """The statements of a turn."""
    found: list[Understood] = []
    lead = ""
    tagged = None
    for piece in unfolded(text):
        statement = piece.statement
        if lead and found[-1].kind is Kind.DRAFT and statement.kind is Kind.ASSERTION:
            statement = replace(statement, kind=Kind.DRAFT)
        said = _hanging_together(piece, statement, at, is_title)
        if not found and said.by is not None and Cues(statement.text).is_tagged:
            tagged = said.by  # whose turn it is, and not only whose sentence
        said = replace(said, by=said.by or tagged)
        if lead and found[-1].kind is Kind.CONFIRMATION and not piece.follows:
            said = replace(said, derives=False)  # "ok so" opens a turn, and concludes nothing
        found.append(replace(said, lead=lead) if lead else said)
        opens = statement.kind in _OPENING or "rejection" in statement.cues or _only_corrects(said)
        lead = statement.text if opens and len(statement.text) <= _LONGEST_LEAD else ""
    return found


def _hanging_together(
    piece: Unfolded, statement: Statement, at: datetime, is_title: IsTitle
) -> Understood:
    """A statement, read, with what it follows from and what waits for it."""
    if piece.told is None:
        said = understood(statement, at, is_title)
    else:
        said = understood(replace(statement, text=piece.told), at, is_title)
        # How it was put before is no part of what it says now.
        cues = Cues(piece.told if piece.is_change else statement.text)
        said = replace(said, statement=statement, begin=0, cues=cues, is_reworded=True)
    if piece.follows or piece.bases:
        said = replace(said, frame=_with_value(said.frame, said.text))
    return replace(
        said,
        derives=said.derives or piece.follows,
        bases=piece.bases,
        is_presumed=piece.is_presumed,
        is_change=piece.is_change,
        waiting=piece.waiting,
        relation=piece.relation,
        removes=piece.removes,
        returns=piece.returns,
        outdated=piece.outdated,
    )


def reread(piece: Unfolded, at: datetime) -> Understood:
    """A statement that was found by more than the words of its turn."""
    said = _hanging_together(piece, piece.statement, at, lambda _: False)
    if piece.told is None:
        return replace(said, is_anchored=True)
    return replace(
        said, cues=Cues(piece.told), frame=_with_value(said.frame, said.text), is_anchored=True
    )


def _with_value(frame: Frame, text: str) -> Frame:
    """A frame in which what a thing is said to be is a value, even in plain words."""
    told = value_told(text)
    if told is None:
        return frame
    end = told.start + len(told.value)
    within = [part for part in frame.parts if part.start >= told.start and part.end <= end]
    if typed(tuple(within)):
        return frame
    normal = " ".join(told.value.lower().split())
    part = Part("term", told.value, normal, _TOLD, told.start, end)
    before = [one for one in typed(frame.parts) if one.end <= told.start]
    return replace(frame, parts=(*before, part))


def understood(statement: Statement, at: datetime, is_title: IsTitle) -> Understood:
    """One statement, read."""
    whole = statement.text
    if statement.kind is Kind.VERBATIM:
        return Understood(statement, at, whole, 0, Frame(whole), Cues(""))
    begin, by, narrowed, derives = _opened(whole, is_title)
    text = whole[begin:]
    frame = _without_label(frame_of(text, at))
    return Understood(
        statement,
        at,
        text,
        begin,
        frame,
        Cues(whole),
        attribute_of(text, frame.parts),
        find_validity(text, at),
        by,
        narrowed,
        derives,
    )


def _without_label(frame: Frame) -> Frame:
    """A frame without the values of the label that tells who speaks: "[Ann (CFO)]:"."""
    begin = label_end(frame.text)
    if not begin:
        return frame
    return replace(frame, parts=tuple(part for part in frame.parts if part.start >= begin))


def _only_corrects(said: Understood) -> bool:
    """Whether it says that something changes, and not what: "Change of plans"."""
    return said.cues.corrects and not typed(said.frame.parts) and said.attribute is None


def _opened(text: str, is_title: IsTitle) -> tuple[int, str | None, str | None, bool]:
    """Pass what opens a statement: whose word it is, what it is limited to, what it follows."""
    by, narrowed, derives = None, None, False
    # Marks that show nothing, or only set off a list, are no part of what is said.
    begin = len(text) - len(text.lstrip(_UNSAID))
    for _ in range(4):
        rest = Cues(text[begin:])
        attribution = rest.attribution()
        step = without_lead_in(text[begin:])
        if by is None and attribution is not None and is_title(attribution[0]):
            by, step = attribution
        elif rest.derivation:
            derives, step = True, rest.derivation
        elif not step and narrowed is None and (limit := rest.narrowed_to) is not None:
            narrowed, step = limit
            if _is_dated(narrowed):
                narrowed, step = None, 0
            elif _LOOKING_AGAIN.match(text, begin):
                narrowed = None  # it tells how it was found out, and limits nothing
        if not step or begin + step >= len(text):
            break
        begin += step
    return begin, by, narrowed, derives


def _is_dated(phrase: str) -> bool:
    """Whether words that open a statement tell when, rather than in which case."""
    return any(part.kind in ("date", "time", "duration") for part in frame_of(phrase).parts)


def is_framing(part: Part) -> bool:
    """Whether a part is a plain word that only may be a value."""
    return part.kind == "term" and part.role in ("np|", "is|")


def typed(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts that have a form of their own."""
    return tuple(part for part in parts if part.kind != "term")
