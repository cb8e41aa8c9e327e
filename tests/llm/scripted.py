"""A model that answers by a script, and short ways to write its answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import incumbent
from incumbent.language.detection import Judged, Pair, Relation
from incumbent.language.learned import model as learned
from incumbent.language.learned.kinds import KINDS
from incumbent.language.learned.weighing import Read
from incumbent.language.llm import Answer, Ask
from tests.conftest import QUICK
from tests.patience import PATIENCE

Script = dict[str, Any] | BaseException | Callable[[Ask], dict[str, Any]]


class Scripted:
    """Gives its answers in order, then nothing to propose, and keeps what it was asked."""

    name = "scripted:model"

    def __init__(self, *answers: Script, tokens: tuple[int, int] = (100, 20)) -> None:
        self.answers = list(answers)
        self.asked: list[Ask] = []
        self.tokens = tokens
        self._lock = threading.Lock()

    def complete(self, ask: Ask, *, timeout: float) -> Answer:
        with self._lock:
            self.asked.append(ask)
            given = self.answers.pop(0) if self.answers else answer()
        if isinstance(given, BaseException):
            raise given
        content = given(ask) if callable(given) else given
        return Answer(content, *self.tokens)

    def then(self, *answers: Script) -> None:
        """Answer like this next."""
        self.answers.extend(answers)


class Gate:
    """Holds a scripted model's answer back until it is opened."""

    def __init__(self, *candidates: dict[str, Any]) -> None:
        self.asked = threading.Event()
        self.open = threading.Event()
        self.candidates = candidates

    def __call__(self, ask: Ask) -> dict[str, Any]:
        self.asked.set()
        assert self.open.wait(PATIENCE)
        return answer(*self.candidates)


def told(ask: Ask) -> dict[str, Any]:
    """The data that a request carries."""
    first, data, last = ask.data.split("\n")
    assert first.strip("<>") == last.strip("</>")
    found: dict[str, Any] = json.loads(data)
    return found


def shown(ask: Ask, says: str) -> str:
    """The name under which a fact that says this was shown."""
    data = told(ask)
    for fact in (*data["known"], *data["replaced"]):
        if fact.get("says", fact.get("was")) == says:
            return str(fact["id"])
    raise AssertionError(f"{says!r} was not shown: {data}")


def candidate(turn: int, quote: str, attribute: str, value: str, **more: Any) -> dict[str, Any]:
    """A candidate in the form that is asked for."""
    replaces = more.pop("replaces", ())
    return {
        "turn": turn,
        "quote": quote,
        "about": "",
        "attribute": attribute,
        "value": value,
        "commitment": "stated",
        "scope": "global",
        "confidence": 0.9,
        "replaces": [{"fact": fact, "old": old} for fact, old in replaces],
        **more,
    }


def answer(
    *candidates: dict[str, Any],
    objections: Sequence[dict[str, Any]] = (),
    keeps: Sequence[dict[str, Any]] = (),
    fates: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """A whole answer."""
    return {
        "fates": list(fates),
        "keeps": list(keeps),
        "candidates": list(candidates),
        "objections": list(objections),
    }


def keep(turn: int, quote: str) -> dict[str, Any]:
    """A stretch that is to be kept, in the form that is asked for."""
    return {"turn": turn, "quote": quote}


def fate(
    fact: str, turn: int, quote: str, becomes: str, old: str = "", since: str = ""
) -> dict[str, Any]:
    """What becomes of a fact, in the form that is asked for."""
    named = {"fact": fact, "turn": turn, "quote": quote}
    return {**named, "becomes": becomes, "old": old, "from": since}


def fated(
    turn: int,
    quote: str,
    becomes: str,
    *,
    says: str,
    old: str = "",
    since: str = "",
    keeps: Sequence[str] = (),
) -> Script:
    """An answer that tells what becomes of the fact which says this."""

    def script(ask: Ask) -> dict[str, Any]:
        return answer(
            fates=[fate(shown(ask, says), turn, quote, becomes, old, since)],
            keeps=[keep(turn, one) for one in keeps],
        )

    return script


def replacing(
    turn: int, quote: str, attribute: str, value: str, *, says: str, old: str = "", **more: Any
) -> Script:
    """An answer with one candidate that replaces the fact which says this."""

    def script(ask: Ask) -> dict[str, Any]:
        return answer(
            candidate(turn, quote, attribute, value, replaces=[(shown(ask, says), old)], **more)
        )

    return script


class Unseeing:
    """A detector that sees no correction, so that there is something left for the model to see."""

    name = "unseeing"
    reach = Relation.NEARBY

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judged]:
        return [Judged(0.0, "") for _ in pairs]


class Suspicious(Unseeing):
    """A detector that reads, and takes every earlier statement to be so likely out of date."""

    name = "suspicious"

    def __init__(self, chance: float) -> None:
        self._chance = chance

    def read(
        self, statement: str, marked: Sequence[tuple[int, int]], previous: str, turn: str
    ) -> tuple[learned.Opinion | None, ...]:
        over = self._chance
        return tuple(learned.Opinion(1 - over, over, 0.0, 0.0, None, False) for _ in marked)

    def weigh(self, turn: str, reads: Sequence[Read], *, follows: bool) -> Sequence[float]:
        return [self._chance for _ in reads]

    def kind(self, stretch: str, context: str, role: str) -> Mapping[str, float]:
        return {kind: float(kind == "states") for kind in KINDS}

    def begins(self, turn: str, words: Sequence[tuple[int, int]]) -> tuple[float, ...]:
        return tuple(0.0 for _ in words)


def settings(model: Any, **options: Any) -> incumbent.Settings:
    """Settings with a scripted model that is waited for, and no pause between attempts."""
    llm = incumbent.LLM(model, **{"mode": "inline", "backoff": 0.0, "timeout": 20.0, **options})
    return incumbent.Settings(
        durability=QUICK.durability, embedder=None, detector=Unseeing(), llm=llm
    )


def opinion(observation: incumbent.Observation) -> incumbent.Opinion:
    assert observation.opinion is not None
    return observation.opinion


def reasons(observation: incumbent.Observation) -> list[tuple[str, str]]:
    """What became of each proposal, and why."""
    return [(one.outcome, one.reason) for one in opinion(observation).proposals]
