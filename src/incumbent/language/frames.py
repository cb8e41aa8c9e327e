"""Frames: the values of a statement, what each is there for, and what the statement is about.

No grammar is parsed. A statement is cut at its function words; what is left are runs of content
words and the values among them, and the word before each tells what it is there for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from incumbent.language.lexicon import Lexicon, lexicon
from incumbent.language.tokens import Token, stem, tokens
from incumbent.language.values.finding import find
from incumbent.language.values.kinds import Value, ValueKind
from incumbent.model.fact import Part
from incumbent.model.text_cache import remembering
from incumbent.search.analysis import is_common

TERM = "term"
"""A free-form value: a word or two that only their place in the statement makes a value."""

_NAMING = frozenset({ValueKind.NAME, ValueKind.ADDRESS, ValueKind.QUOTED})
_PLACING = frozenset({"from", "to", "in", "at", "on"})
_LOOK_BACK = 6
_SHORT = 500
"""The frame of a longer text is not worth the memory."""
_MOST_PARTS = 40
"""A statement with more values than this is a table; its first ones stand for it."""
_LABEL = 3
"""From so many digits on, a number after a noun names a thing rather than counts."""
_NOT_LABELLED = frozenset({"is", "are", "was", "were", "to", "of", "for", "the", "a", "an"})


class Run(NamedTuple):
    """Content words in a row, with the function words that introduce them."""

    tokens: tuple[Token, ...]
    preposition: str
    determiner: str
    after: Value | None
    """The value that stands right before it: "German" in "German restaurant"."""

    @property
    def head(self) -> str:
        return stem(self.tokens[-1].low)

    @property
    def start(self) -> int:
        return self.tokens[0].start

    @property
    def end(self) -> int:
        return self.tokens[-1].end


@dataclass(frozen=True)
class Frame:
    """What a statement says of what."""

    text: str
    parts: tuple[Part, ...] = ()
    heads: tuple[str, ...] = ()
    """The stems of the things it names, in order."""
    asks_for: str | None = None
    """The thing that it asks for as something new, if it does."""
    thing: str | None = None
    """The first thing that it names."""
    opening: frozenset[str] = frozenset()
    """The stems of that thing with all that qualifies it: the "design team" of two teams."""
    order: tuple[str, ...] = ()
    """Its content words outside of values, in order."""
    is_named: bool = False
    """Whether that thing is pointed out: "the meeting", "our team"."""
    subject: str | None = None
    """The name that tells the thing it is about from others of its kind."""
    label: str | None = None
    """The number that does: "order 1180"."""

    @cached_property
    def words(self) -> frozenset[str]:
        """The stems of its content words outside of values."""
        return frozenset(map(stem, self.order))

    @property
    def is_fragment(self) -> bool:
        """Whether it says values and hardly anything else: "no, only 3 people"."""
        return len(self.order) <= 1


def frame_of(text: str, at: datetime | None = None, language: str = "en") -> Frame:
    """The frame of a statement. That of a short one is looked at several times in a turn."""
    if len(text) > _SHORT:
        return Framing(text, find(text, at), lexicon(language)).frame()
    # Moments of two zones can be equal, and be on different days.
    return _frame_of(text, at, at.utcoffset() if at is not None else None, language)


@remembering(1_024)
def _frame_of(text: str, at: datetime | None, offset: timedelta | None, language: str) -> Frame:
    return Framing(text, find(text, at), lexicon(language)).frame()


@remembering(4_096)
def frame_again(text: str) -> Frame:
    """The frame of a statement that was read before; its relative dates are not resolved."""
    return frame_of(text)


def telling_words(text: str, language: str = "en") -> list[str]:
    """The words of a text that tell one end of something from the other, each once."""
    words = lexicon(language)
    found: dict[str, None] = {}
    listed = tokens(text)
    for index, token in enumerate(listed):
        known = stem(token.low)
        if known in words.telling:
            after = listed[index + 1].low if index + 1 < len(listed) else ""
            found[f"{known} {after}" if after in words.particles else known] = None
    return list(found)


def _with_regions(text: str, values: Sequence[Value], words: Lexicon) -> list[Value]:
    """Values with a place and its region taken together: "in London, UK"."""
    found: list[Value] = []
    for value in values:
        last = found[-1] if found else None
        if (
            last is not None
            and last.kind is value.kind is ValueKind.NAME
            and text[last.end : value.start].strip() == ","
            and _is_place(text[: last.start], words)
            and not _LISTED.match(text, value.end)
        ):
            whole = text[last.start : value.end]
            normal = f"{last.normal} {value.normal}"
            found[-1] = replace(last, text=whole, end=value.end, normal=normal)
        else:
            found.append(value)
    return found


_LISTED = re.compile(r"\s*(?:,|and\b|or\b|&)", re.IGNORECASE)


def _is_place(before: str, words: Lexicon) -> bool:
    spoken = before.split()
    return bool(spoken) and words.prepositions.get(spoken[-1].lower()) in _PLACING


class Framing:
    """Reads one statement."""

    def __init__(self, text: str, values: Sequence[Value], words: Lexicon) -> None:
        self._text = text
        self._values = _with_regions(text, values, words)
        self._lexicon = words
        self._definite = words.determiners - words.indefinite
        self._tokens = tokens(text)
        self._places = {token.start: index for index, token in enumerate(self._tokens)}
        self._inside = self._of_tokens()
        self._runs = self._cut()

    def frame(self) -> Frame:
        parts = [*self._typed(), *self._terms()]
        parts.sort(key=lambda part: part.start)
        del parts[_MOST_PARTS:]
        heads = tuple(dict.fromkeys(run.head for run in self._runs))
        things = [run.tokens[-1].low for run in self._runs]
        outside = [
            token.low.replace("-", "_")
            for index, token in enumerate(self._tokens)
            if self._inside[index] is None
            and token.is_word
            and (self._is_anchoring(token.low) or self._is_noun(index))
            and token.low not in self._lexicon.fresh
        ]
        return Frame(
            self._text,
            tuple(parts),
            heads,
            self._asked_for(),
            things[0] if things else None,
            self._opening(),
            tuple(dict.fromkeys(outside)),
            bool(self._runs) and self._runs[0].determiner in self._definite,
            self._subject(),
            self._numbered(),
        )

    def _opening(self) -> frozenset[str]:
        """The stems of the first thing with all that qualifies it."""
        for run in self._runs[:1]:
            named = run.after.text.split() if run.after is not None else ()
            return frozenset(map(stem, (*named, *(token.low for token in run.tokens))))
        return frozenset()

    def _subject(self) -> str | None:
        """The name that qualifies the first thing: the "Berlin" of "the Berlin office"."""
        for run in self._runs[:1]:
            if run.after is not None and run.after.kind is ValueKind.NAME and not run.preposition:
                return run.after.normal
        return self._possessor()

    def _possessor(self) -> str | None:
        """The pronoun that says whose thing it is, if it begins with one: "his salary"."""
        first = self._tokens[0].low if self._tokens else ""
        return first if first in self._lexicon.possessors else None

    def _numbered(self) -> str | None:
        """The number that tells the first thing from others of its kind: "order 1180"."""
        value = self._values[0] if self._values else None
        if value is None or value.kind not in (ValueKind.NUMBER, ValueKind.CODE):
            return None
        before = [token for token in self._tokens if token.end <= value.start]
        begins = len(before) in (1, 2) and before[-1].is_word
        begins = begins and any(t.start >= value.end and t.is_word for t in self._tokens)
        if begins and len(value.normal) >= _LABEL and before[-1].low not in _NOT_LABELLED:
            return f"{before[-1].low} {value.normal}".lower()
        return None

    # cutting

    def _of_tokens(self) -> list[Value | None]:
        """For each token the value it is part of."""
        found: list[Value | None] = []
        values = iter(self._values)
        value = next(values, None)
        for token in self._tokens:
            while value is not None and value.end <= token.start:
                value = next(values, None)
            inside = value is not None and value.start <= token.start
            found.append(value if inside else None)
        return found

    def _is_content(self, token: Token) -> bool:
        return token.is_word and not self._is_function(token.low)

    def _is_noun(self, index: int) -> bool:
        """Whether a word that can be a verb is a thing here: "the call", "a second order"."""
        before = self._tokens[index - 1].low if index else ""
        return self._tokens[index].low in self._lexicon.verbs and (
            before in self._lexicon.determiners and before not in self._lexicon.pronouns
        )

    def _is_function(self, low: str) -> bool:
        known = self._lexicon.function_words
        return low in known or low.partition("'")[0] in self._lexicon.pronouns

    def _cut(self) -> list[Run]:
        runs: list[Run] = []
        current: list[Token] = []
        began = 0
        for index, token in enumerate(self._tokens):
            if self._inside[index] is None and (self._is_content(token) or self._is_noun(index)):
                if not current:
                    began = index
                current.append(token)
            elif current:
                runs.append(self._run(current, began))
                current = []
        if current:
            runs.append(self._run(current, began))
        return runs

    def _run(self, words: list[Token], began: int) -> Run:
        before = self._inside[began - 1] if began else None
        first = began
        while first and self._inside[first - 1] is not None:
            first -= 1
        preposition, determiner = self._introduced(first)
        return Run(tuple(words), preposition, determiner, before)

    def _introduced(self, index: int) -> tuple[str, str]:
        """The preposition and the determiner right before a token."""
        determiner = ""
        at = index - 1
        while at >= 0 and self._tokens[at].low in self._lexicon.determiners:
            determiner = self._tokens[at].low
            at -= 1
        if at >= 0:
            return self._lexicon.prepositions.get(self._tokens[at].low, ""), determiner
        return "", determiner

    # values

    def _typed(self) -> list[Part]:
        """The values with a form of their own: dates, money, names."""
        found = []
        position = 0
        for value in self._values:
            while position < len(self._tokens) and self._tokens[position].start < value.start:
                position += 1
            found.append(
                Part(
                    str(value.kind),
                    value.text,
                    value.normal,
                    self._role(value, position),
                    value.start,
                    value.end,
                )
            )
        return found

    def _role(self, value: Value, position: int) -> str:
        """What a value is there for: the preposition before it, and the word that it goes with."""
        preposition, _ = self._introduced(position)
        following = next((run for run in self._runs if run.after is value), None)
        if following is not None and value.kind in _NAMING:
            return f"mod|{following.head}"
        counted = value.unit or (following.tokens[0].low if following is not None else "")
        if value.kind is ValueKind.NUMBER and counted:
            return f"{preposition}|{self._anchor(position)}|{stem(counted)}"
        anchor = self._anchor(position)
        if preposition == "to" and self._is_changed(position):
            return "|"  # "switch to X" says that X is the new one, not where to
        return f"{preposition}|{anchor}"

    def _is_changed(self, position: int) -> bool:
        """Whether the verb before the preposition of a value is one of change."""
        at = position - 1
        while at >= 0 and self._tokens[at].low in self._lexicon.determiners:
            at -= 1
        before = self._tokens[at - 1].low if at > 0 else ""
        if before in self._lexicon.pronouns and at > 1:
            before = self._tokens[at - 2].low
        return stem(before) in self._lexicon.changing

    def _anchor(self, position: int) -> str:
        """The nearest word before a value that says what it is the value of."""
        for index in range(position - 1, max(-1, position - 1 - _LOOK_BACK), -1):
            token = self._tokens[index]
            if self._inside[index] is not None or not token.is_word:
                if not token.is_word and token.text in ".;:!?":
                    break
                continue
            low = token.low
            if low in self._lexicon.particles and index:
                verb = stem(self._tokens[index - 1].low)
                if verb in self._lexicon.telling:
                    return f"{verb} {low}"
            if self._is_anchoring(low):
                return stem(low)
        return ""

    def _is_anchoring(self, low: str) -> bool:
        return not self._is_function(low) or stem(low) in self._lexicon.telling

    def _terms(self) -> list[Part]:
        """Free-form values: what qualifies a noun, and what follows a preposition of place."""
        found = []
        for run in self._runs:
            if self._is_vague(run.tokens):
                continue
            if run.after is not None and run.after.kind in _NAMING and len(run.tokens) == 1:
                continue
            if self._is_placed(run):
                found.append(self._term(run.start, run.end, f"{run.preposition}|"))
            elif len(run.tokens) > 1:
                if not self._is_vague(run.tokens[:-1]):
                    found.append(self._term(run.start, run.tokens[-2].end, f"mod|{run.head}"))
                found.append(self._term(run.tokens[-1].start, run.end, "np|"))
            elif run.after is None:
                found.append(self._term(run.start, run.end, self._bare_role(run)))
        return found

    def _bare_role(self, run: Run) -> str:
        """Whether a word by itself is what something is, or only names it."""
        index = self._places[run.start]
        before = self._tokens[index - 1].low if index else ""
        said = not before or before in self._lexicon.copulas or not self._tokens[index - 1].is_word
        return "is|" if said and not run.determiner else "np|"

    def _is_vague(self, words: Sequence[Token]) -> bool:
        vague = self._lexicon
        return all(word.low in vague.vague or word.low in vague.fresh for word in words)

    def _is_placed(self, run: Run) -> bool:
        """Whether a run tells where: "in the centre", "to cambridge", but not "to hear"."""
        if run.preposition not in _PLACING or run.after is not None:
            return False
        if run.determiner:
            return run.determiner not in self._lexicon.indefinite
        return run.preposition != "to" or not is_common(run.tokens[0].low)

    def _term(self, start: int, end: int, role: str) -> Part:
        text = self._text[start:end]
        return Part(TERM, text, " ".join(text.lower().split()), role, start, end)

    # topics

    def _asked_for(self) -> str | None:
        """The head of the first indefinite thing after a verb that asks."""
        asking = False
        by_start = {run.tokens[0].start: run for run in self._runs}
        for token in self._tokens:
            if token.low in self._lexicon.intent:
                asking = True
            run = by_start.get(token.start)
            if run is not None and asking and self._is_new_thing(run):
                return run.tokens[-1].low
        return None

    def _is_new_thing(self, run: Run) -> bool:
        if run.preposition and run.preposition not in ("for", "in"):
            return False
        return run.determiner in self._lexicon.indefinite or (
            not run.determiner and run.tokens[-1].low.endswith("s")
        )
