"""A model that answers by a script, and short ways to write its answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import incumbent
from incumbent.reading.asked import Answer, Ask
from tests.conftest import QUICK
from tests.patience import PATIENCE

Script = dict[str, Any] | BaseException | Callable[[Ask], dict[str, Any]]


class Scripted:
    """Gives its answers in order, then keeps every sentence, and keeps what it was asked."""

    name = "scripted:model"

    def __init__(self, *answers: Script, tokens: tuple[int, int] = (100, 20)) -> None:
        self.answers = list(answers)
        self.asked: list[Ask] = []
        self.tokens = tokens
        self._lock = threading.Lock()

    def complete(self, ask: Ask, *, timeout: float) -> Answer:
        with self._lock:
            self.asked.append(ask)
            given = self.answers.pop(0) if self.answers else keeping
        if isinstance(given, BaseException):
            raise given
        content = given(ask) if callable(given) else given
        return Answer(content, *self.tokens)

    def then(self, *answers: Script) -> None:
        """Answer like this next."""
        self.answers.extend(answers)


class Gate:
    """Holds a scripted model's answer back until it is opened."""

    def __init__(self, script: Callable[[Ask], dict[str, Any]]) -> None:
        self.asked = threading.Event()
        self.open = threading.Event()
        self.script = script

    def __call__(self, ask: Ask) -> dict[str, Any]:
        self.asked.set()
        assert self.open.wait(PATIENCE)
        return self.script(ask)


def told(ask: Ask) -> dict[str, Any]:
    """The data that a request carries."""
    first, data, last = ask.data.split("\n")
    assert first.strip("<>") == last.strip("</>")
    found: dict[str, Any] = json.loads(data)
    return found


def names(ask: Ask) -> dict[str, str]:
    """What was shown under a name: known facts and sentences to read."""
    data = told(ask)
    return {
        name: text
        for one in (*data["known"], *data["turns"])
        for name, text in one.items()
        if name[0] in "ks" and name[1:].isdigit()
    }


def sentences(ask: Ask) -> list[str]:
    """The sentences that are to be read."""
    return [text for name, text in names(ask).items() if name.startswith("s")]


def shown(ask: Ask, says: str) -> str:
    """The name under which this was shown; the last where there are several."""
    found = [name for name, text in names(ask).items() if says in text]
    assert found, f"{says!r} was not shown: {ask.data}"
    return found[-1]


def answer(*entries: dict[str, Any]) -> dict[str, Any]:
    """A whole answer."""
    return {"statements": list(entries)}


def entry(sentence: str, *does: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """What a model says of a sentence, by its name."""
    return {"s": sentence, "does": list(does), **fields}


def link(to: str, kind: str, *, sure: bool = True, **fields: Any) -> dict[str, Any]:
    """What that does to something, by its name."""
    return {"to": to, "is": kind, "sure": sure, **fields}


def reading(
    *told_of: tuple[str, tuple[dict[str, Any], ...], dict[str, Any]],
) -> Callable[[Ask], dict[str, Any]]:
    """An answer in which everything goes by its words: see `said` and `does`."""

    def script(ask: Ask) -> dict[str, Any]:
        entries = []
        for text, links, fields in told_of:
            resolved = [{**one, "to": shown(ask, one["to"])} for one in links]
            entries.append(entry(shown(ask, text), *resolved, **fields))
        return answer(*entries)

    return script


def said(
    text: str, *links: dict[str, Any], **fields: Any
) -> tuple[str, tuple[dict[str, Any], ...], dict[str, Any]]:
    """A sentence that is worth keeping, by its words, and what it does."""
    return text, links, {name.rstrip("_"): value for name, value in fields.items()}


does = link
"""What a sentence does to what has these words."""


def keeping(ask: Ask) -> dict[str, Any]:
    """Keeps every sentence, and relates it to nothing."""
    return answer(*(entry(name) for name in names(ask) if name.startswith("s")))


def settings(model: Any, **options: Any) -> incumbent.Settings:
    """Settings with a scripted model that is waited for, and no pause between attempts. It is
    asked one thing after the other, so that its answers are for what they were written for."""
    given = {"mode": "inline", "backoff": 0.0, "timeout": PATIENCE, "at_once": 1, **options}
    llm = incumbent.LLM(model, **given)
    return incumbent.Settings(durability=QUICK.durability, embedder=None, llm=llm)


def opinion(observation: incumbent.Observation) -> incumbent.Opinion:
    assert observation.opinion is not None
    return observation.opinion


def reasons(observation: incumbent.Observation) -> list[tuple[str, str]]:
    """What became of each entry, and why."""
    return [(one.outcome, one.reason) for one in opinion(observation).proposals]


def values(session: incumbent.Session) -> list[str]:
    """What is known, in order."""
    return sorted(str(fact.value) for fact in session.facts())
