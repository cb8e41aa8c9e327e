"""One client in a process of its own, told what to do line by line.

Each request and each answer is one line of JSON. Times are taken here, around the system's own
calls, so that neither pipes nor JSON are in them.

    open    {"system", "url", "folder"}
    prepare {}                                       makes the tables
    load    {"shares"}
    warm    {"kind", "organization", "first", "facts"}
    run     {"seconds", "log", "anew"}               -> {"times": seconds of each call}
    check   {"organization", "first", "facts"}       -> {"asked", "answered", "given"}
    fetch   {"log"}, replay {}                       -> {"times"}; the bare statements only

A share is the facts of one organization: {"organization", "first", "facts"}.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import corpus
from benchmarks.crowds import KINDS
from benchmarks.peers.worker import answers_apart, serve

WARMING = 4
"""An even number: whatever a timed write takes the place of was written while it was timed."""
_BATCH = 500


class Worker:
    """Carries out requests on the system it opened."""

    def __init__(self) -> None:
        self._system: Any = None
        self._call: Callable[[int], object] = _nothing

    def open(self, system: str, url: str, folder: str) -> dict[str, Any]:
        self.close()
        kind = KINDS[system]
        module = importlib.import_module(f"benchmarks.crowds.{kind.module}")
        self._system = getattr(module, kind.maker)(url, Path(folder))
        return {}

    def prepare(self) -> dict[str, Any]:
        self._system.prepare()
        return {}

    def load(self, shares: list[dict[str, Any]]) -> dict[str, Any]:
        for share in shares:
            first, stop = share["first"], share["first"] + share["facts"]
            for start in range(first, stop, _BATCH):
                told = list(corpus.facts(start, min(start + _BATCH, stop)))
                self._system.load(share["organization"], told)
        return {}

    def warm(self, kind: str, organization: str, first: int, facts: int) -> dict[str, Any]:
        """Get ready for a run: the first calls of it, which are not timed."""
        self._call = (
            self._asking(organization, first, facts)
            if kind == "contexts"
            else self._writing(organization)
        )
        for turn in range(WARMING):
            self._call(turn)
        return {}

    def _asking(self, organization: str, first: int, facts: int) -> Callable[[int], object]:
        asked, begun = questions(first, facts), time.time_ns() % 1_000_000

        def ask(turn: int) -> object:
            question = asked[turn % len(asked)].question
            return self._system.ask(organization, corpus.anew(question, f"{begun}-{turn}"))

        return ask

    def _writing(self, organization: str) -> Callable[[int], object]:
        made = f"bench_{time.time_ns()}"

        def write(turn: int) -> None:
            # Every other write takes the place of the one before it.
            fact = corpus.Fact(-1, None, f"{made}_{turn // 2}", f"the value of turn {turn}", "")
            self._system.write(organization, fact)

        return write

    def run(self, seconds: float, log: str, anew: bool = False) -> dict[str, Any]:
        """Call again and again, each call as soon as the one before it has returned; `anew` where
        nothing is to be left of the one before it."""
        times = []
        turn = WARMING
        self._system.begin()
        end = time.perf_counter() + seconds
        while (begin := time.perf_counter()) < end:
            if anew:
                self._system.begin_anew()
            self._call(turn)
            times.append(time.perf_counter() - begin)
            self._system.called()
            turn += 1
        self._system.keep(Path(log))
        return {"times": times}

    def check(self, organization: str, first: int, facts: int) -> dict[str, Any]:
        """Ask every question once: whether the fact asked about comes back, and how many do."""
        answered, given, asked = 0, 0, questions(first, facts)
        for fact in asked:
            answer = self._system.ask(organization, fact.question)
            answered += self._system.holds(organization, answer, fact)
            given += self._system.count(answer)
        return {"asked": len(asked), "answered": answered, "given": given}

    def fetch(self, log: str) -> dict[str, Any]:
        self._system.fetch(Path(log))
        return {}

    def replay(self) -> dict[str, Any]:
        return {"times": self._system.replay()}

    def close(self) -> None:
        if self._system is not None:
            self._system.close()
            self._system = None


def questions(first: int, facts: int) -> list[corpus.Fact]:
    """The facts that are asked about where those from number `first` on are stored."""
    return [corpus.fact(first + about.number) for about in corpus.questions(facts)]


def _nothing(turn: int) -> None:
    raise ValueError("nothing to call; warm up first")


if __name__ == "__main__":
    serve(Worker(), sys.stdin, answers_apart())
