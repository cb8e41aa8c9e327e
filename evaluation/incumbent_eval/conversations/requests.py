"""Requests to a model in a folder: written out, and answered there by whoever can reach it.

A request is a file of JSON with the instructions, the text and the schema of the answer; the answer
is a file beside it. The name of a request has a digest of what is in it. So an answer counts for
the very request that it was given to, and a request that is made again is the same file.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import incumbent
from incumbent.model.errors import InvalidInput
from incumbent.reading.asked import LLM, Answer, Ask, Trouble

REQUEST, ANSWER = ".request.json", ".answer.json"
NAME = "requests"
"""What a model is called that has no name."""
_DIGEST = 12
_LONGEST_SITTING = 24
"""Turns of one request. A sitting that is longer takes several."""
_KNOWN = 40
_LONGEST_ANSWER = 8_000


@dataclass
class RequestFolder:
    """A model that is asked by files, for one conversation."""

    folder: Path
    conversation: str
    name: str = NAME
    asked: int = field(default=0, init=False)
    awaited: list[str] = field(default_factory=list, init=False)
    """Requests that nobody has answered."""
    _made: set[str] = field(default_factory=set, init=False)

    def complete(self, ask: Ask, *, timeout: float) -> Answer:
        """The answer that lies in the folder; else the request is put there."""
        self.asked += 1
        request = _written(ask)
        digest = hashlib.sha256(request.encode("utf-8")).hexdigest()[:_DIGEST]
        stem = f"{_plain(self.conversation)}-{self.asked}"
        path = self.folder / f"{stem}.{digest}{REQUEST}"
        answer = self.folder / f"{stem}.{digest}{ANSWER}"
        self._made.add(path.name)
        if not path.exists():
            path.write_text(request, encoding="utf-8")
        if not answer.exists():
            self._forget_others()
            self.awaited.append(path.name)
            raise Trouble("dropped", "the request waits for its answer")
        try:
            return Answer(json.loads(answer.read_text(encoding="utf-8")))
        except ValueError:
            raise Trouble("malformed", f"{answer.name} is no JSON") from None

    def _forget_others(self) -> None:
        """Take away requests of this conversation that nobody has answered nor will ask for: of an
        earlier form, or made after answers that have changed."""
        name = _plain(self.conversation)
        form = re.compile(rf"{re.escape(name)}-\d+\.[0-9a-f]+{re.escape(REQUEST)}")
        for old in self.folder.glob(f"{name}-*{REQUEST}"):
            answer = old.with_name(old.name.removesuffix(REQUEST) + ANSWER)
            if form.fullmatch(old.name) and old.name not in self._made and not answer.exists():
                old.unlink()


def _written(ask: Ask) -> str:
    """A request as a file, the same whenever it is made.

    The fence around what was said is made of a digest of all that is in it, which nobody who spoke
    could have known.
    """
    _, data, _ = ask.data.split("\n")
    token = hashlib.sha256(f"{ask.instructions}\n{data}".encode()).hexdigest()[: 2 * _DIGEST]
    told = {
        "instructions": ask.instructions,
        "text": f"<data-{token}>\n{data}\n</data-{token}>",
        "schema": ask.schema,
        "max_output_tokens": ask.max_output_tokens,
    }
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"


def _plain(name: str) -> str:
    """A name that is a name of a file everywhere."""
    return re.sub(r"[^\w.-]+", "_", name)


def checked_folder(folder: Path) -> Path:
    """The folder, made if need be; raises InvalidInput where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"--requests {folder} cannot be used: {error}") from None
    return folder


def with_reader(
    settings: incumbent.Settings | None, requests: RequestFolder | None
) -> incumbent.Settings:
    """Settings whose model reads a whole sitting at once, and is waited for."""
    settings = settings or incumbent.Settings()
    given = settings.llm
    llm: LLM | None = given if isinstance(given, LLM) else LLM(given) if given else None
    if requests is not None:
        requests.name = llm.name if llm is not None else NAME
        llm = LLM(requests, retries=0, backoff=0.0)
    if llm is None:
        return settings
    return replace(
        settings,
        llm=replace(
            llm,
            mode="inline",
            batch_turns=_LONGEST_SITTING,
            known_facts=_KNOWN,
            max_output_tokens=_LONGEST_ANSWER,
        ),
    )


@dataclass(frozen=True)
class Opinions:
    """What came of a model's answers, added up."""

    requests: int = 0
    awaited: int = 0
    """Requests that nobody has answered yet: what comes after them was not played."""
    failed: int = 0
    """Turns without an opinion."""
    outcomes: dict[str, int] = field(default_factory=dict)
    """How many proposals were accepted, agreed on, and dropped."""
    dropped: tuple[str, ...] = ()
    """Each of the latter with its reason."""

    def __add__(self, other: Opinions) -> Opinions:
        words = dict.fromkeys((*self.outcomes, *other.outcomes))
        return Opinions(
            self.requests + other.requests,
            self.awaited + other.awaited,
            self.failed + other.failed,
            {word: self.outcomes.get(word, 0) + other.outcomes.get(word, 0) for word in words},
            self.dropped + other.dropped,
        )

    @classmethod
    def of(cls, found: list[incumbent.Opinion], requests: RequestFolder | None) -> Opinions:
        proposals = [one for opinion in found for one in opinion.proposals]
        words = [one.outcome for one in proposals]
        return cls(
            requests.asked if requests is not None else 0,
            len(requests.awaited) if requests is not None else 0,
            sum(opinion.status == "failed" for opinion in found),
            {word: words.count(word) for word in dict.fromkeys(sorted(words))},
            tuple(str(one) for one in proposals if one.outcome == "dropped"),
        )

    def record(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "awaited": self.awaited,
            "turns_without": self.failed,
            "proposals": self.outcomes,
        }
