"""Who reads instead of asking at once: an exchange that is over first, or a model that tells.

A `Deferred` has its turns read by whom the exchange names, once that is over. A `Told` asks nobody:
a model that works with the memory has said how the turn reads, and its words go through the same
checks as any model's reading, and take the place of the offline one in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from incumbent.reading.asked import answer
from incumbent.reading.asked.answer import Answered
from incumbent.reading.asked.asking import Completion, Nobody
from incumbent.reading.asked.config import LLM
from incumbent.reading.asked.grounds import placed
from incumbent.turns.observation import Observation
from incumbent.turns.rereading.rereader import Rereader, Taken
from incumbent.turns.rereading.sitting import TOUCHED, Sitting
from incumbent.turns.rereading.waiting import Conversation


class _OfOneSession(Rereader):
    """A rereader as one session has it: the same line and judgements, and somebody else asked."""

    def __init__(self, rereader: Rereader, asks: Completion) -> None:
        vars(self).update(vars(rereader))
        self.asks = asks


class Deferred(_OfOneSession):
    """Has nothing asked before `release()`."""

    def __init__(self, rereader: Rereader, asks: Completion) -> None:
        super().__init__(rereader, asks)
        self._held: list[Taken] = []

    def follow(self, taken: Sequence[Taken]) -> list[Observation]:
        """Hold turns until the exchange is over."""
        self._held += taken
        return [observation for observation, _ in taken]

    def release(self) -> None:
        """Have them read."""
        held, self._held = self._held, []
        super().follow(held)

    def drop(self, reason: str) -> None:
        """Let their offline reading stand."""
        held, self._held = self._held, []
        for _, waiting in held:
            if waiting is not None:
                waiting.opinion.fail(reason)


QUOTE: Final = "quote"
"""Where a statement has the words that it is about."""


def telling(name: str) -> LLM:
    """The setting of a rereader for what a model of this name tells."""
    return LLM(Nobody(name), mode="inline")


class Told(_OfOneSession):
    """A rereader for one turn whose reading is at hand.

    Each statement is in the form of an answer, with a quote for the name of a sentence, and ids of
    facts for the names of facts.
    """

    def __init__(self, rereader: Rereader, statements: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(rereader, _Statements(rereader.llm.name, statements))
        self._pointed = {link["to"] for one in statements for link in one.get("does", ())}

    def taken(self, conversation: Conversation, *of_turn: Any) -> Taken:
        """A turn with its opinion to come; the facts that are pointed to are looked at."""
        *others, found = of_turn
        found = {**found, **dict.fromkeys(self._pointed, TOUCHED)}
        return super().taken(conversation, *(*others, found))


class _Statements(Nobody):
    """What a model has told of a turn."""

    def __init__(self, name: str, statements: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(name)
        self._statements = statements

    def read_sitting(self, sitting: Sitting) -> Answered:
        """The answer, in the names of a sitting. Whose quote is not there is told of no
        sentence."""
        names = {fact_id: name for name, fact_id in sitting.known.items()}
        found: dict[str, dict[str, Any]] = {}
        for statement in self._statements:
            does = [{**link, "to": names.get(link["to"], link["to"])} for link in statement["does"]]
            name = _sentence(statement[QUOTE], sitting)
            if name in found:
                found[name]["does"] += does
            else:
                rest = {key: value for key, value in statement.items() if key != QUOTE}
                found[name] = {**rest, "s": name, "does": does}
        return answer.read({"statements": [*found.values()]})


def _sentence(quote: str, sitting: Sitting) -> str:
    """The sentence that has most of a quote."""
    best, most = quote[:20] or "nothing", 0
    for name, (index, number) in sitting.sentences.items():
        turn = sitting.turns[index]
        said = turn.reading.statements[number]
        if (span := placed(quote, turn.came.text)) is not None:
            shared = min(span[1], said.end) - max(span[0], said.start)
            if shared > most:
                best, most = name, shared
    return best
