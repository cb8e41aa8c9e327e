"""Prompting: what a model is asked, from versioned files, with what was said fenced in as data."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Final

from incumbent.reading.asked.asking import Ask

VERSION: Final = 1
"""Of the instructions and the form of the answer. A change of either is a new pair of files."""
LONGEST_FACT: Final = 300
_LONGEST_SENTENCE: Final = 1_000
_LONGEST_BEFORE: Final = 400
_FENCE_BYTES: Final = 6


@dataclass(frozen=True)
class Prompt:
    """The instructions and the form of the answer, as their files have them."""

    version: int
    instructions: str
    schema: dict[str, Any]
    digest: str
    """The beginning of a hash over both files, so that a verdict names the very words."""

    @property
    def name(self) -> str:
        return f"reading@{self.version} {self.digest}"


@cache
def prompt(version: int = VERSION) -> Prompt:
    """The prompt of a version."""
    folder = files("incumbent.reading.asked") / "prompts"
    words = (folder / f"reading_v{version}.md").read_bytes()
    schema = (folder / f"reading_v{version}.json").read_bytes()
    digest = hashlib.sha256(words + b"\0" + schema).hexdigest()[:12]
    return Prompt(version, words.decode("utf-8"), json.loads(schema), digest)


@dataclass(frozen=True)
class ShownTurn:
    """A turn as a model is shown it: the sentences to read by their names, or what was before."""

    speaker: str
    day: date
    sentences: dict[str, str]
    before: str = ""


@dataclass(frozen=True)
class ShownFact:
    """A fact as a model is shown it, under a name that holds for one request."""

    id: str
    says: str
    day: date
    name: str = ""
    by: str = "user"
    rests: tuple[str, ...] = ()
    """The facts it rests on, as far as they are shown."""
    is_doubted: bool = False


def ask_for(
    known: tuple[ShownFact, ...],
    turns: tuple[ShownTurn, ...],
    max_output_tokens: int,
    token: Callable[[int], str] = secrets.token_hex,
) -> Ask:
    """The request for a sitting.

    What was said is encoded as JSON, between lines that nobody who spoke could have known.
    """
    chosen = prompt()
    fence = f"data-{token(_FENCE_BYTES)}"
    told = {"known": _facts(known), "turns": _turns(turns)}
    data = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    text = f"<{fence}>\n{data}\n</{fence}>"
    return Ask(chosen.instructions, text, chosen.schema, max_output_tokens)


def _facts(facts: tuple[ShownFact, ...]) -> list[dict[str, Any]]:
    """The facts in order, each with its day where that is another than before."""
    found: list[dict[str, Any]] = []
    day: date | None = None
    for fact in facts:
        told: dict[str, Any] = _dated(fact.day, day)
        day = fact.day
        told[fact.id] = _cut(fact.says, LONGEST_FACT)
        if fact.name:
            told["name"] = fact.name
        if fact.by != "user":
            told["by"] = fact.by
        if fact.rests:
            told["rests"] = list(fact.rests)
        if fact.is_doubted:
            told["doubted"] = True
        found.append(told)
    return found


def _dated(day: date, before: date | None) -> dict[str, Any]:
    return {} if day == before else {"day": day.isoformat()}


def _turns(turns: tuple[ShownTurn, ...]) -> list[dict[str, Any]]:
    """The turns in order, each with its day where that is another than before."""
    found: list[dict[str, Any]] = []
    day: date | None = None
    for turn in turns:
        told: dict[str, Any] = _dated(turn.day, day)
        day = turn.day
        if turn.speaker != "user":
            told["by"] = turn.speaker
        if turn.before:
            told["before"] = _cut(turn.before, _LONGEST_BEFORE)
        told |= {name: _cut(text, _LONGEST_SENTENCE) for name, text in turn.sentences.items()}
        found.append(told)
    return found


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]} …"
