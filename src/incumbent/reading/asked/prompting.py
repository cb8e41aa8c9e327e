"""Prompting: what a model is asked, from versioned files, with what was said fenced in as data."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from incumbent.reading.asked.asking import Ask

VERSION: Final = 1
"""Of the instructions and the form of the answer. A change of either is a new pair of files."""
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


class Shown(NamedTuple):
    """A turn or a fact as a model is shown it, under names that hold for one request."""

    day: date
    told: dict[str, Any]


def ask_for(
    known: Iterable[Shown],
    turns: Iterable[Shown],
    max_output_tokens: int,
    token: Callable[[int], str] = secrets.token_hex,
) -> Ask:
    """The request for a sitting.

    What was said is encoded as JSON, between lines that nobody who spoke could have known.
    """
    chosen = prompt()
    fence = f"data-{token(_FENCE_BYTES)}"
    told = {"known": _dated(known), "turns": _dated(turns)}
    data = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    text = f"<{fence}>\n{data}\n</{fence}>"
    return Ask(chosen.instructions, text, chosen.schema, max_output_tokens)


def _dated(shown: Iterable[Shown]) -> list[dict[str, Any]]:
    """What is shown in order, each with its day where that is another than before."""
    found: list[dict[str, Any]] = []
    before: date | None = None
    for day, told in shown:
        found.append(told if day == before else {"day": day.isoformat(), **told})
        before = day
    return found


def cut(text: str, longest: int) -> str:
    """As much of a text as is shown."""
    return text if len(text) <= longest else f"{text[:longest]} …"
