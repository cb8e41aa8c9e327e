"""A telemetry that keeps what it is told, and one that always fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import incumbent
from incumbent.telemetry import Call, Telemetry


class Witness(Telemetry):
    """Keeps everything, in order."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def named(self, kind: str) -> list[tuple[Any, ...]]:
        return [event[1:] for event in self.events if event[0] == kind]

    @property
    def ended_calls(self) -> list[tuple[str, str]]:
        """(operation, result) of every call, in the order in which they ended."""
        return [
            (call.operation, type(error).__name__ if error else "ok")
            for call, _, error in self.named("ended")
        ]

    def began(self, call: Call) -> Any:
        self.events.append(("began", call))
        return len(self.events)

    def ended(self, call: Call, began: Any, seconds: float, error: BaseException | None) -> None:
        assert self.events[began - 1] == ("began", call)
        self.events.append(("ended", call, seconds, error))

    def decided(self, verdicts: Sequence[incumbent.Verdict]) -> None:
        self.events.append(("decided", tuple(verdicts)))

    def composed(self, context: incumbent.Context) -> None:
        self.events.append(("composed", context))

    def repeated(self, operation: str) -> None:
        self.events.append(("repeated", operation))

    def asked(self, model: str, organization: str, tokens: tuple[int, int], failed: bool) -> None:
        self.events.append(("asked", model, organization, tokens, failed))

    def opined(self, model: str, organization: str, kind: str, seconds: float) -> None:
        self.events.append(("opined", model, organization, kind, seconds))


class Broken(Telemetry):
    """Fails at everything."""

    def __getattribute__(self, name: str) -> Any:
        if name in vars(Telemetry) and not name.startswith("_"):
            raise RuntimeError("the collector is gone")
        return super().__getattribute__(name)
