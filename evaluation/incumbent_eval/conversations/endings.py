"""Which values hold when a conversation is over, as its annotation has it.

Statements are taken in order. `replaces` and `ends` end every value of a statement, `part` one of
them. `later` ends, once its day has come, what the new statement speaks of, else all of it.
`reverts` brings back what a statement said and ends what had taken its place. What `confirms` a
statement says it again: it ends with it, as far as both speak of the same attribute of the same
subject. `adds`, `depends` and `doubts` end nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date

from incumbent_eval.conversations.format import (
    LineRelation,
    MarkedConversation,
    MarkedLine,
    RelationKind,
    Triple,
)
from incumbent_eval.spoken import SpokenText, same_value


@dataclass(frozen=True)
class StatedValue:
    """A value of a statement, and whether it holds in the end."""

    number: int
    turn: int
    """The place of its turn in the conversation."""
    triple: Triple
    holds: bool
    ever_ended: bool
    """Whether it was over at some time, though it may hold again."""
    homes: frozenset[int]
    """The turns that say it of the same thing: its own, and those that say it again."""
    again: frozenset[int] = frozenset()
    """Statements that confirm it, or that it confirms."""

    @property
    def about(self) -> tuple[str, str]:
        """What it is a value of: a subject and an attribute."""
        return _about(self.triple)


@dataclass
class StandingValue:
    """A value while the statements after it are being taken."""

    line: MarkedLine
    turn: int
    triple: Triple
    holds: bool = True
    ever_ended: bool = False
    ended_by: int | None = None
    """The statement that ended it."""

    @property
    def about(self) -> tuple[str, str]:
        return _about(self.triple)

    def end(self, by: MarkedLine) -> None:
        if self.holds:
            self.holds, self.ever_ended, self.ended_by = False, True, by.number

    def revive(self) -> None:
        self.holds, self.ended_by = True, None


@dataclass
class StatementCourse:
    """What was stated so far, statement by statement."""

    asked: date
    stated: dict[int, list[StandingValue]] = field(default_factory=dict)
    said_again: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Statements that say each other again, by number, both ways."""

    def take(self, line: MarkedLine, turn: int) -> None:
        assert line.number is not None
        for relation in line.relations:
            self._apply(relation, line)
        own = [StandingValue(line, turn, triple) for triple in line.triples]
        self.stated[line.number] = own

    def _apply(self, relation: LineRelation, line: MarkedLine) -> None:
        assert line.number is not None
        earlier = self.stated[relation.to]
        match relation.kind:
            case RelationKind.CONFIRMS:
                group = {line.number, relation.to, *self.said_again[relation.to]}
                for number in group:
                    self.said_again[number] |= group - {number}
            case RelationKind.REPLACES | RelationKind.ENDS:
                self._end(relation.to, earlier, line)
            case RelationKind.LATER if relation.since is None or relation.since <= self.asked:
                self._end(relation.to, _spoken_of(earlier, line), line)
            case RelationKind.PART:
                self._end_part(relation, line)
            case RelationKind.REVERTS:
                self._revert(_spoken_of(earlier, line), line)

    def _end(self, number: int, ended: Iterable[StandingValue], by: MarkedLine) -> None:
        """End values of a statement, and what says them again."""
        about = set()
        for one in ended:
            one.end(by)
            about.add(one.about)
        for again in self.said_again[number]:
            for one in self.stated.get(again, ()):
                if one.about in about:
                    one.end(by)

    def _end_part(self, relation: LineRelation, by: MarkedLine) -> None:
        """End the value that a part replaces; where that is a piece of a value, the piece alone."""
        stated = self.stated[relation.to]
        meant = [one for one in stated if same_value(one.triple.value, relation.old)]
        for one in _spoken_of(meant, by):
            if SpokenText(relation.old).says(one.triple.value):
                self._end(relation.to, [one], by)
            else:  # the rest of it stands, and nobody has said what that comes to
                stated.remove(one)
                piece = replace(one, triple=replace(one.triple, value=relation.old))
                piece.end(by)
                stated.append(piece)

    def _revert(self, back: Iterable[StandingValue], by: MarkedLine) -> None:
        """Bring back what a statement said; what had taken its place is over."""
        for one in back:
            if one.ended_by is not None:
                successors = self.stated[one.ended_by]
                for successor in successors:
                    if successor.about == one.about or len(successors) == 1:
                        successor.end(by)
            one.revive()

    def standing(self) -> Iterator[StandingValue]:
        """The values that hold so far."""
        for stated in self.stated.values():
            yield from (one for one in stated if one.holds)

    def values(self) -> Iterator[StatedValue]:
        """Every value that was stated, and whether it holds."""
        everything = [one for stated in self.stated.values() for one in stated]
        for one in everything:
            assert one.line.number is not None
            homes = {
                other.turn
                for other in everything
                if other.about == one.about and same_value(other.triple.value, one.triple.value)
            }
            if one.triple.accepted:
                homes |= {turn - 1 for turn in homes if turn}
            yield StatedValue(
                one.line.number,
                one.turn,
                one.triple,
                one.holds,
                one.ever_ended,
                frozenset({one.turn, *homes}),
                frozenset(self.said_again[one.line.number]),
            )


def _spoken_of(values: list[StandingValue], line: MarkedLine) -> list[StandingValue]:
    """Those of some values that a new statement has the attribute of; all, if it has none."""
    own = {_about(triple) for triple in line.triples}
    return [one for one in values if one.about in own] or list(values)


def _about(triple: Triple) -> tuple[str, str]:
    return (triple.subject.casefold(), triple.attribute.casefold())


def stated_values(conversation: MarkedConversation, asked: date) -> list[StatedValue]:
    """Every value of every statement, and whether it holds on the day of asking."""
    course = StatementCourse(asked)
    for turn, said in enumerate(conversation.turns):
        for line in said.lines:
            if line.number is not None:
                course.take(line, turn)
    return list(course.values())
