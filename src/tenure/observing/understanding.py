"""Understanding: what a turn says, worked out before anything is looked up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from tenure.language.attributes import Attribute, attribute_of
from tenure.language.cues import Cues
from tenure.language.frames import Frame, frame_of
from tenure.language.lexicon import lexicon
from tenure.language.statements import Kind, Statement, statements
from tenure.language.validity import Validity, find_validity
from tenure.model.fact import Part

_LONGEST_KEY_WORDS = 4
_LONGEST_LEAD = 40
_OPENING = (Kind.SMALL_TALK, Kind.RETRACTION, Kind.CONFIRMATION)


@dataclass(frozen=True)
class Understood:
    """A statement of a turn, and what it says of what."""

    statement: Statement
    at: datetime
    frame: Frame
    cues: Cues
    attribute: Attribute | None
    validity: Validity | None
    lead: str = ""
    """What opened the sentence before it: "Actually", "No"."""

    @property
    def text(self) -> str:
        return self.statement.text

    @property
    def kind(self) -> Kind:
        return self.statement.kind

    @property
    def is_request(self) -> bool:
        return self.kind is Kind.REQUEST

    @cached_property
    def corrects(self) -> bool:
        """Whether it says, or what opened it said, that it replaces something."""
        return self.cues.corrects or (bool(self.lead) and Cues(f"{self.lead}, so").corrects)

    @cached_property
    def is_added(self) -> bool:
        """Whether it says that it comes on top of what there is."""
        return lexicon().additive.search(self.text) is not None

    @cached_property
    def key(self) -> str:
        """What it is about, where it names no attribute: its own words but for the values."""
        words = self.frame.order[:_LONGEST_KEY_WORDS]
        return "_".join(words) or "statement"


def understand(text: str, at: datetime) -> list[Understood]:
    """The statements of a turn."""
    found: list[Understood] = []
    lead = ""
    for statement in statements(text):
        said = understood(statement, at)
        found.append(replace(said, lead=lead) if lead else said)
        opens = statement.kind in _OPENING or "rejection" in statement.cues
        lead = statement.text if opens and len(statement.text) <= _LONGEST_LEAD else ""
    return found


def understood(statement: Statement, at: datetime) -> Understood:
    """One statement, read."""
    text = statement.text
    if statement.kind is Kind.VERBATIM:
        return Understood(statement, at, Frame(text), Cues(""), None, None)
    frame = frame_of(text, at)
    return Understood(
        statement,
        at,
        frame,
        Cues(text),
        attribute_of(text, frame.parts),
        find_validity(text, at),
    )


def typed(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts that have a form of their own."""
    return tuple(part for part in parts if part.kind != "term")
