"""Opinions: what a model made of a turn, told on the observation, now or later."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from incumbent.model.schemas import converted_schema
from incumbent.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Proposed:
    """What became of one proposal of a model."""

    turn_index: int
    key: str
    subject: str | None
    value: str
    outcome: Literal["accepted", "agreed", "dropped"]
    """"agreed" where the offline reading had come to the same."""
    reason: str = ""
    """Why it was dropped, or what of it was left out."""
    verdict: Verdict | None = None
    """What the rules decided on it."""

    def __str__(self) -> str:
        about = f" ({self.subject})" if self.subject else ""
        name = f"{self.key}{about} = " if self.key else ""
        told = f": {self.reason}" if self.reason else ""
        return f"{self.outcome} {name}{self.value}{told}"


@dataclass(frozen=True, slots=True)
class OpinionForm:
    """An opinion as far as it has come."""

    model: str
    status: Literal["pending", "given", "failed"]
    reason: str = ""
    proposals: tuple[Proposed, ...] = ()
    verdicts: tuple[Verdict, ...] = ()

    def opinion(self) -> Opinion:
        """The same as a value. One that was pending stays so: it was told by another process."""
        made = Opinion(self.model)
        if self.status != "pending":
            made._settle(self, self.status)
        return made


class Opinion:
    """A model's opinion on a turn. In background mode it arrives later; `wait()` for it.

    `status` is "pending", "given", or "failed" with the `reason`: the offline reading stands then.
    """

    def __init__(self, model: str, told: Callable[[str], None] | None = None) -> None:
        self._told = told  # is told, once, what became of it
        self._settled = threading.Event()
        self._lock = threading.Lock()
        self._form = OpinionForm(model, "pending")

    @property
    def model(self) -> str:
        return self._form.model

    @property
    def status(self) -> Literal["pending", "given", "failed"]:
        return self._form.status

    @property
    def reason(self) -> str:
        """Why there is no opinion, in one line; "" where there is one."""
        return self._form.reason

    @property
    def proposals(self) -> tuple[Proposed, ...]:
        """Everything that the model proposed, with what became of it."""
        return self._form.proposals

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Every decision that it led to, in order. Each can be undone like any other."""
        return self._form.verdicts

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the opinion is there, or will not come; False if that takes longer."""
        return self._settled.wait(timeout)

    def give(self, proposals: Iterable[Proposed], verdicts: Iterable[Verdict]) -> None:
        """Settle it with what came of it. Only the first settlement counts."""
        form = OpinionForm(self.model, "given", "", tuple(proposals), tuple(verdicts))
        self._settle(form, "given")

    def fail(self, reason: str, kind: str = "dropped") -> None:
        """Settle it without an opinion. `kind` is a word for what came between."""
        self._settle(OpinionForm(self.model, "failed", reason), kind)

    def _settle(self, form: OpinionForm, kind: str) -> None:
        with self._lock:
            settles = self.status == "pending"
            if settles:
                self._form = form
        # Told first: who waited for the opinion finds it counted.
        if settles and self._told is not None:
            self._told(kind)
        self._settled.set()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        known = handler.generate_schema(OpinionForm)
        return converted_schema(known, OpinionForm.opinion, lambda one: one._form)

    def forked(self) -> None:
        """In a child process: what the parent is waiting for does not arrive here."""
        self._settled, self._lock = threading.Event(), threading.Lock()
        self.fail("the process was forked; the opinion arrives in the one that observed the turn")

    def __str__(self) -> str:
        if self.status == "failed":
            return f"no opinion of {self.model}: {self.reason}"
        if self.status == "pending":
            return f"the opinion of {self.model} is awaited"
        counts = {
            word: sum(one.outcome == word for one in self.proposals)
            for word in ("accepted", "agreed", "dropped")
        }
        told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        return f"opinion of {self.model}: {told or 'nothing to add'}"

    def __repr__(self) -> str:
        return f"<Opinion: {self}>"
