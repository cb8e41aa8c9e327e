"""The format of the files: conversations, their turns line by line, and questions about the end.

A conversation begins with `== id | register | what happens`. `@ date time speaker` opens a turn. A
line that commits its speaker to something begins with a number and says what in braces; relations
to earlier statements stand in brackets. Other lines begin with a mark, or, where an assistant or a
tool speaks, with none. `== ask` opens the questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path

from incumbent.model.errors import InvalidInput

MARKS = {
    "-": "small talk",
    "?": "question",
    "~": "what-if, wish or proposal",
    '"': "what somebody else says",
    "<": "the past",
    "!": "instruction to the assistant",
}
"""What commits its speaker to nothing, by the mark that its line begins with."""
ACCEPTED = "^"
"""Stands before a value that the turn before names and this one accepts."""

_MARK = re.compile(rf"(\d+|[{re.escape(''.join(MARKS))}]) (.*)")
_TURN = re.compile(r"@ (\d{4}-\d\d-\d\d \d\d:\d\d) (\S.*)")
_TRIPLE = re.compile(r"\{([^{}|]*)\|([^{}|]*)\|([^{}]*)\}")
_RELATION = re.compile(
    r"\[(replaces|part|ends|confirms|adds|depends|reverts|doubts|later) ([^\]]*)\]"
)
_QUESTION = re.compile(r"(.+?)\s*=>\s*([^;]*?)\s*(?:;\s*not\s+(.*))?")

Alternatives = tuple[str, ...]
"""The ways in which one value of a question is put; any of them says it."""


class RelationKind(StrEnum):
    """What a statement does to an earlier one."""

    REPLACES = "replaces"
    PART = "part"
    """Puts one value of it in the place of another; the rest stands."""
    ENDS = "ends"
    CONFIRMS = "confirms"
    ADDS = "adds"
    DEPENDS = "depends"
    REVERTS = "reverts"
    """It holds again."""
    DOUBTS = "doubts"
    LATER = "later"
    """Replaces it from a date on."""


@dataclass(frozen=True)
class LineRelation:
    """A relation of a statement to an earlier one, by its number."""

    kind: RelationKind
    to: int
    old: str = ""
    """Of a part: the value that no longer holds."""
    new: str = ""
    """Of a part: the value that takes its place."""
    since: date | None = None
    """Of what comes later: its first day."""


@dataclass(frozen=True)
class Triple:
    """One thing that a statement says."""

    subject: str
    attribute: str
    value: str
    accepted: bool = False
    """Whether the value is in the turn before, and this statement merely accepts it."""


@dataclass(frozen=True)
class MarkedLine:
    """A sentence or clause of a turn, and what it is."""

    text: str
    place: int
    """The number of its line in the file."""
    mark: str = ""
    """A key of `MARKS`; empty for a statement, and where an assistant says nothing that counts."""
    number: int | None = None
    """Names a statement in its conversation."""
    triples: tuple[Triple, ...] = ()
    relations: tuple[LineRelation, ...] = ()


@dataclass(frozen=True)
class MarkedTurn:
    """What one speaker says at a time."""

    at: datetime
    speaker: str
    lines: tuple[MarkedLine, ...]

    @property
    def text(self) -> str:
        """The turn as it was written, without marks and annotation."""
        return " ".join(line.text for line in self.lines)


@dataclass(frozen=True)
class ConversationQuestion:
    """A question about the end of a conversation, and what makes an answer right."""

    text: str
    must: tuple[Alternatives, ...]
    """Every one of these has to be said."""
    dead: tuple[str, ...] = ()
    """None of these may be said as something that holds."""

    @property
    def is_about_change(self) -> bool:
        return bool(self.dead)


@dataclass(frozen=True)
class MarkedConversation:
    """Turns in order of time, with what holds of them, and questions."""

    id: str
    register: str
    about: str
    turns: tuple[MarkedTurn, ...]
    questions: tuple[ConversationQuestion, ...]

    @property
    def lines(self) -> Iterator[MarkedLine]:
        for turn in self.turns:
            yield from turn.lines


def files_of(given: Iterable[Path]) -> list[Path]:
    """The files that are meant: a folder stands for every `.txt` in it."""
    found: list[Path] = []
    for path in given:
        inside = sorted(path.glob("*.txt")) if path.is_dir() else [path]
        if not inside:
            raise InvalidInput(f"the folder {path} has no conversations; it needs files *.txt")
        found += inside
    return found


def read_conversations(path: Path) -> list[MarkedConversation]:
    """The conversations of a file; a mistake in it is refused with its line."""
    try:
        written = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise InvalidInput(f"there is no file {path}; give a file of conversations") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from None
    reader = _Reader(str(path))
    for place, line in enumerate(written, start=1):
        if line.strip():
            reader.take(line.rstrip(), place)
    found = reader.finish()
    if not found:
        raise InvalidInput(f"{path} has no conversations; one begins with == id | register | about")
    return found


@dataclass
class _Draft:
    """A conversation of which not all lines are read."""

    id: str
    register: str
    about: str
    place: int
    turns: list[tuple[datetime, str, list[MarkedLine]]] = field(default_factory=list)
    questions: list[ConversationQuestion] = field(default_factory=list)
    asking: bool = False
    numbers: set[int] = field(default_factory=set)


class _Reader:
    """Takes the lines of a file one by one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._done: list[MarkedConversation] = []
        self._ids: set[str] = set()
        self._draft: _Draft | None = None

    def take(self, line: str, place: int) -> None:
        if line == "==" or line.startswith("== "):
            self._heading(line[2:].strip(), place)
            return
        draft = self._draft
        if draft is None:
            raise self._wrong(place, "text before the first conversation", line)
        if draft.asking:
            draft.questions.append(self._question(line, place))
        elif line.startswith("@"):
            self._turn(draft, line, place)
        elif not draft.turns:
            raise self._wrong(place, "a line before the first turn, which begins with @", line)
        else:
            draft.turns[-1][2].append(self._line(draft, line, place))

    def finish(self) -> list[MarkedConversation]:
        """All conversations; the last one ends with the file."""
        draft = self._draft
        if draft is not None:
            self._done.append(self._finished(draft))
            self._draft = None
        return self._done

    def _heading(self, text: str, place: int) -> None:
        if text == "ask":
            if self._draft is None:
                raise self._wrong(place, "questions before the first conversation", text)
            self._draft.asking = True
            return
        self.finish()
        name, register, about = (part.strip() for part in (*text.split("|", 2), "", "")[:3])
        if not name:
            raise self._wrong(place, "a conversation needs an id: == id | register | about", text)
        if name in self._ids:
            raise self._wrong(place, "a conversation of this id stands above", name)
        self._ids.add(name)
        self._draft = _Draft(name, register, about, place)

    def _finished(self, draft: _Draft) -> MarkedConversation:
        for what, there in (("turns", draft.turns), ("questions", draft.questions)):
            if not there:
                raise self._wrong(draft.place, f"a conversation without {what}", draft.id)
        turns = tuple(
            MarkedTurn(at, speaker, tuple(lines)) for at, speaker, lines in draft.turns if lines
        )
        asked = tuple(draft.questions)
        return MarkedConversation(draft.id, draft.register, draft.about, turns, asked)

    def _turn(self, draft: _Draft, line: str, place: int) -> None:
        found = _TURN.fullmatch(line)
        if found is None:
            raise self._wrong(place, "a turn begins with @ 2026-03-02 09:10 speaker", line)
        try:
            at = datetime.strptime(found[1], "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
        except ValueError:
            raise self._wrong(place, "there is no such time", found[1]) from None
        if draft.turns and at < draft.turns[-1][0]:
            raise self._wrong(place, "a turn earlier than the one before it", line)
        draft.turns.append((at, found[2].strip(), []))

    def _line(self, draft: _Draft, line: str, place: int) -> MarkedLine:
        found = _MARK.fullmatch(line)
        mark, rest = (found[1], found[2]) if found else ("", line)
        relations = tuple(
            self._relation(draft, told[1], told[2], place) for told in _RELATION.finditer(rest)
        )
        triples = tuple(_triple(*told.groups()) for told in _TRIPLE.finditer(rest))
        text = " ".join(_TRIPLE.sub(" ", _RELATION.sub(" ", rest)).split())
        if not text:
            raise self._wrong(place, "a line that says nothing", line)
        if not mark.isdecimal():
            if relations or triples:
                raise self._wrong(place, "annotation on a line without a number", line)
            return MarkedLine(text, place, mark)
        number = int(mark)
        if number in draft.numbers:
            raise self._wrong(place, f"{draft.id} has two statements of the number", mark)
        draft.numbers.add(number)
        return MarkedLine(text, place, "", number, triples, relations)

    def _relation(self, draft: _Draft, kind: str, told: str, place: int) -> LineRelation:
        written = f"[{kind} {told}]"
        found = re.fullmatch(r"\s*(\d+)\s*(.*?)\s*", told)
        if found is None or int(found[1]) not in draft.numbers:
            raise self._wrong(place, "points to no earlier statement", written)
        to, rest = int(found[1]), found[2]
        if kind == RelationKind.PART:
            change = re.fullmatch(r":\s*(\S.*?)\s*->\s*(.*)", rest)
            if change is None:
                raise self._wrong(place, "a part is written [part 1: old -> new]", written)
            return LineRelation(RelationKind.PART, to, old=change[1], new=change[2])
        if kind == RelationKind.LATER:
            try:
                return LineRelation(RelationKind.LATER, to, since=date.fromisoformat(rest))
            except ValueError:
                why = "what comes later is written [later 1 2026-10-01]"
                raise self._wrong(place, why, written) from None
        if rest:
            raise self._wrong(place, "takes the number of a statement and no more", written)
        return LineRelation(RelationKind(kind), to)

    def _question(self, line: str, place: int) -> ConversationQuestion:
        found = _QUESTION.fullmatch(line)
        must = tuple(filter(None, map(_alternatives, found[2].split(",")))) if found else ()
        if found is None or not must:
            why = "a question is written Question? => value, value | other words ; not dead value"
            raise self._wrong(place, why, line)
        return ConversationQuestion(found[1], must, _listed(found[3] or "", ","))

    def _wrong(self, place: int, why: str, what: str) -> InvalidInput:
        return InvalidInput(f"{self._name}, line {place}: {why}: {what[:120]}")


def _triple(subject: str, attribute: str, value: str) -> Triple:
    given = value.strip()
    return Triple(
        subject.strip(),
        attribute.strip(),
        given.removeprefix(ACCEPTED).strip(),
        given.startswith(ACCEPTED),
    )


def _alternatives(text: str) -> Alternatives:
    return _listed(text, "|")


def _listed(text: str, between: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(between) if part.strip())


def thinned(
    conversations: Sequence[MarkedConversation], *, limit: int | None = None, every: int = 1
) -> list[MarkedConversation]:
    """Every so many of some conversations, and at most so many of those."""
    return list(conversations[::every][:limit])
