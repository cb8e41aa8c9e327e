"""FactConsolidation of MemoryAgentBench: a long list of plain facts, of which later ones override.

The file is public and no part of Incumbent. A row has a numbered list of sentences, questions and
accepted answers. Each sentence is a turn of one session, without its number. The next day a new
session asks each question with a small budget.

**Which sentence overrides which** is not told, and follows from the wording. A sentence is cut
behind the words of its relation ("Thomas Kyd was born in the city of | London"): the first of the
phrases in `_RELATIONS` that it has, or else its first "is". Sentences whose text before the cut is
the same speak of the same subject and relation. The last of them holds. Its value is the current
one, and the other values of its group are stale. A question belongs to the group whose current
value is an accepted answer and whose words before the cut it shares most of.

**Stale and unmarked** is a live line that says a stale value and comes from a turn which said it.
The same value in a line about something else is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import incumbent
from incumbent.context.document import Line
from incumbent.model.errors import IncumbentError, InvalidInput
from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent_eval.conversations.fates import FateFigures, ValueFate, turns_of
from incumbent_eval.figures import Joint
from incumbent_eval.live_lines import LineText, fact_lines, is_demoted, live_lines, plain
from incumbent_eval.ours import BEGINNING
from incumbent_eval.running import HeldClock
from incumbent_eval.spoken import tokens
from incumbent_eval.systems import Progress

BUDGET = 500
SINGLE_HOP = "factconsolidation_sh_6k"
"""The list that is asked about sentence by sentence, in 6,000 tokens."""
_PERSON = "user"
_TOKENS_OF_A_LINE = 60
"""More than a line of such a sentence takes, so that a context can leave nothing out."""
_NUMBERED = re.compile(r"\d+\. (\S.*)")
_RELATIONS = (
    "is a citizen of",
    "is affiliated with the religion of",
    "is associated with the sport of",
    "is employed by",
    "is famous for",
    "is located in the city of",
    "is located in the continent of",
    "is married to",
    "plays the position of",
    "speaks the language of",
    "was born in the city of",
    "was created by",
    "was created in the country of",
    "was developed by",
    "was founded by",
    "was founded in the city of",
    "was performed by",
    "was written in the language of",
    "works in the field of",
    "worked in the city of",
    "died in the city of",
    "is",
)
_CUT = re.compile(rf"(.+? (?:{'|'.join(_RELATIONS)})) (\S.*?)\.?")


@dataclass(frozen=True)
class ListedFact:
    """A sentence of the list, cut behind its relation."""

    turn: int
    about: str
    """Its subject and its relation."""
    value: str

    @classmethod
    def of(cls, turn: int, sentence: str) -> ListedFact:
        found = _CUT.fullmatch(sentence.strip())
        about, value = found.groups() if found else (sentence.strip(), "")
        return cls(turn, plain(about), value)


@dataclass(frozen=True)
class FactGroup:
    """The sentences about the same subject and relation, in order."""

    facts: tuple[ListedFact, ...]

    @property
    def about(self) -> str:
        return self.facts[-1].about

    @property
    def current(self) -> str:
        """The value that holds."""
        return self.facts[-1].value

    @property
    def current_turns(self) -> frozenset[int]:
        """The turns that said it."""
        return frozenset(fact.turn for fact in self.facts if self._is_current(fact))

    @property
    def stale(self) -> tuple[ListedFact, ...]:
        """The sentences that a later one overrides."""
        return tuple(fact for fact in self.facts if not self._is_current(fact))

    def _is_current(self, fact: ListedFact) -> bool:
        return plain(fact.value) == plain(self.current)


def grouped(sentences: Sequence[str]) -> list[FactGroup]:
    """The groups of a list of sentences, by subject and relation."""
    found: dict[str, list[ListedFact]] = {}
    for turn, sentence in enumerate(sentences):
        fact = ListedFact.of(turn, sentence)
        found.setdefault(fact.about, []).append(fact)
    return [FactGroup(tuple(facts)) for facts in found.values()]


@dataclass(frozen=True)
class ListQuestion:
    """A question about the list, and the answers that are accepted."""

    text: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class FactList:
    """The sentences of a row, and its questions."""

    name: str
    sentences: tuple[str, ...]
    questions: tuple[ListQuestion, ...]

    @cached_property
    def groups(self) -> list[FactGroup]:
        return grouped(self.sentences)

    def group_of(self, question: ListQuestion) -> FactGroup | None:
        """The group that a question asks about; None where no current value is its answer."""
        answers = set(map(plain, question.answers))
        possible = [group for group in self.groups if plain(group.current) in answers]
        asked = set(tokens(question.text))
        return max(possible, key=lambda group: _shared(asked, group), default=None)


def _shared(asked: set[str], group: FactGroup) -> float:
    words = set(tokens(group.about))
    return len(words & asked) / len(words | asked)


def read_list(path: Path, name: str = SINGLE_HOP) -> FactList:
    """The row of a file that has this name."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInput(f"there is no file {path}; give Conflict_Resolution.json") from None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from None
    try:
        for row in rows:
            if str(row["metadata"]["qa_pair_ids"][0]).startswith(f"{name}_"):
                return _list(name, row)
    except (KeyError, IndexError, TypeError) as error:
        raise InvalidInput(
            f"{path} is not as FactConsolidation is ({type(error).__name__}: {error}); a row has "
            f"context, questions, answers and metadata"
        ) from None
    raise InvalidInput(f"{path} has no row {name!r}")


def _list(name: str, row: Mapping[str, Any]) -> FactList:
    lines = map(_NUMBERED.fullmatch, row["context"].splitlines())
    asked = zip(row["questions"], row["answers"], strict=True)
    return FactList(
        name,
        tuple(line[1].strip() for line in lines if line is not None),
        tuple(ListQuestion(text, _answers(answers)) for text, answers in asked),
    )


def _answers(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


# playing


@dataclass(frozen=True)
class ListAnswer:
    """What came of one question; the lines are kept for people to read."""

    question: ListQuestion
    is_found: bool
    stale: tuple[str, ...]
    """The stale values that a live line says of what is asked about."""
    lines: tuple[str, ...]

    @property
    def joint(self) -> Joint:
        return Joint.one(present=self.is_found, clean=not self.stale)

    def record(self) -> dict[str, Any]:
        return {
            "question": self.question.text,
            "answers": self.question.answers,
            "is_found": self.is_found,
            "stale": self.stale,
            "lines": self.lines,
        }


@dataclass
class ConsolidationReport:
    """The figures of a list."""

    name: str
    answers: list[ListAnswer] = field(default_factory=list)
    holding: FateFigures = field(default_factory=FateFigures)
    """What became of the sentences that nothing overrides; the retired ones wrongly left office."""
    over: FateFigures = field(default_factory=FateFigures)
    """What became of those that are overridden."""
    unplaced: int = 0
    """Questions that belong to no group."""

    @property
    def joint(self) -> Joint:
        return sum((one.joint for one in self.answers), Joint())

    @property
    def failures(self) -> list[ListAnswer]:
        return [one for one in self.answers if not one.joint.both]

    def record(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "questions": self.joint.record(),
            "sentences_that_hold": self.holding.record(),
            "sentences_that_are_over": self.over.record(),
            "unplaced_questions": self.unplaced,
        }


def run(
    path: Path,
    name: str = SINGLE_HOP,
    *,
    settings: incumbent.Settings | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> ConsolidationReport:
    """Tell all sentences of a list, and ask its questions; with a limit, the first of them."""
    return play(read_list(path, name), settings=settings, limit=limit, progress=progress)


def play(
    given: FactList,
    *,
    settings: incumbent.Settings | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> ConsolidationReport:
    """The same of a list that was read."""
    clock = HeldClock(BEGINNING)
    report = ConsolidationReport(given.name)
    with incumbent.open(":memory:", clock=clock, settings=settings) as memory:
        known = list(dict.fromkeys(_told(memory, clock, given, progress)))
        clock.move_to(clock() + timedelta(days=1))
        session = memory.session(user_id=_PERSON, session_id="asking")
        for question in given.questions[:limit]:
            group = given.group_of(question)
            report.unplaced += group is None
            report.answers.append(_asked(session, question, group))
        after = _Outcome(session, known, len(given.sentences))
        report.holding = FateFigures.of(
            after.fate_of(group.current, group.current_turns) for group in given.groups
        )
        report.over = FateFigures.of(
            after.fate_of(fact.value, {fact.turn}) for group in given.groups for fact in group.stale
        )
    return report


def _told(
    memory: incumbent.Memory, clock: HeldClock, given: FactList, progress: Progress | None
) -> Iterator[str]:
    """Tell the sentences, a minute between two; gives the ids of all facts that come of it."""
    session = memory.session(user_id=_PERSON, session_id="list")
    for turn, sentence in enumerate(given.sentences):
        clock.move_to(clock() + timedelta(minutes=1))
        with suppress(IncumbentError):  # nothing was taken in, which the figures then show
            observation = session.observe(sentence, ref=f"{turn}")
            yield from (fact.id for fact in observation.facts)
            for verdict in observation.verdicts:
                yield from (verdict.fact_id, *verdict.superseded)
        if progress is not None:
            progress(given.name, turn + 1, len(given.sentences))


def _asked(
    session: incumbent.Session, question: ListQuestion, group: FactGroup | None
) -> ListAnswer:
    live = live_lines(session.context(question.text, budget=BUDGET))
    overridden = group.stale if group is not None else ()
    return ListAnswer(
        question,
        any(LineText(line.text).has_any(question.answers) for line in live),
        tuple(
            dict.fromkeys(
                fact.value for fact in overridden for line in live if _says(line, fact, session)
            )
        ),
        tuple(line.text for line in live),
    )


def _says(line: Line, fact: ListedFact, session: incumbent.Session) -> bool:
    """Whether a line says a value and comes from the turn of its sentence."""
    return fact.turn in _turns(line, session) and LineText(line.text).has(fact.value)


def _turns(line: Line, session: incumbent.Session) -> set[int]:
    """The turns that a line comes from, and those of the facts that it quotes."""
    quoted = (session.get(fact_id) for fact_id in line.quoted)
    sources = (*line.sources, *(fact.source for fact in quoted if fact is not None))
    return {turn for source in sources for turn in turns_of(source)}


class _Outcome:
    """All that a memory holds in the end, in one context that leaves nothing out."""

    def __init__(self, session: incumbent.Session, known: Iterable[str], sentences: int) -> None:
        budget = 1_000 + _TOKENS_OF_A_LINE * sentences
        context = session.context("", budget=budget, profile="comprehensive")
        self._lines: dict[int, list[tuple[bool, LineText]]] = {}
        for line in fact_lines(context):
            for turn in _turns(line, session):
                told = (is_demoted(line), LineText(line.text))
                self._lines.setdefault(turn, []).append(told)
        found = (session.get(fact_id) for fact_id in known)
        self._left: dict[int, list[Fact]] = {}
        for fact in (one for one in found if one is not None and not one.is_valid):
            for turn in turns_of(fact.source):
                self._left.setdefault(turn, []).append(fact)

    def fate_of(self, value: str, turns: Iterable[int]) -> ValueFate:
        """Where a value is that some turns said."""
        places = list(turns)
        told = [one for turn in places for one in self._lines.get(turn, ()) if one[1].has(value)]
        if told:
            demoted = all(is_set_back for is_set_back, _ in told)
            return ValueFate.DEMOTED if demoted else ValueFate.LIVE
        left = (
            LineText(text_of(fact.value)) for turn in places for fact in self._left.get(turn, ())
        )
        return ValueFate.RETIRED if any(text.has(value) for text in left) else ValueFate.UNKEPT
