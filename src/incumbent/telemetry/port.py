"""The port: the reports of a memory. It is its own null implementation, since reports are
optional."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incumbent.context.document import Context
    from incumbent.model.verdict import Verdict

log = logging.getLogger("incumbent.telemetry")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a public method of Memory or Session."""

    operation: str
    """Its name: "observe", "write", "import" ..."""
    organization: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    is_stream: bool = False
    """Whether its result is read bit by bit, so that the call ends with the reading."""


class Telemetry:
    """The receiver of reports on the work of a memory. Every method does nothing: override those
    you want.

    Given as `Settings.telemetry`. Calls come on the thread that does the work, which waits for
    them, so they have to be quick and thread-safe. An exception in one is logged once in
    `incumbent.telemetry` and reaches nobody else. Verdicts and contexts are given whole, with all
    their content; the implementation decides what leaves the process.
    """

    def began(self, call: Call) -> Any:
        """A call began. The result is given back to `ended`."""

    def ended(self, call: Call, began: Any, seconds: float, error: BaseException | None) -> None:
        """A call ended, well or with an error."""

    def decided(self, verdicts: Sequence[Verdict]) -> None:
        """Verdicts of one transaction were committed."""

    def composed(self, context: Context) -> None:
        """A context was made. Called before the end of the call that made it."""

    def repeated(self, operation: str) -> None:
        """An operation is tried again, because of a conflict with another transaction."""

    def asked(self, model: str, organization: str, tokens: tuple[int, int], failed: bool) -> None:
        """A model was asked: tokens in and out, and whether its answer was of no use."""

    def opined(self, model: str, organization: str, kind: str, seconds: float) -> None:
        """A second opinion on a turn was settled, so long after the turn was observed.

        `kind` is "given", or the reason why it was not: "timeout", "budget", "dropped" ...
        """


class Together(Telemetry):
    """Reports to several, in order. An exception in one of them keeps nothing from the others."""

    def __init__(self, *those: Telemetry) -> None:
        self._those = tuple(SafeTelemetry(one) for one in those)

    def began(self, call: Call) -> Any:
        return [one.began(call) for one in self._those]

    def ended(self, call: Call, began: Any, seconds: float, error: BaseException | None) -> None:
        # The last to begin is the first to end, so that spans of several nest.
        for one, token in zip(reversed(self._those), reversed(began), strict=True):
            one.ended(call, token, seconds, error)

    def decided(self, verdicts: Sequence[Verdict]) -> None:
        for one in self._those:
            one.decided(verdicts)

    def composed(self, context: Context) -> None:
        for one in self._those:
            one.composed(context)

    def repeated(self, operation: str) -> None:
        for one in self._those:
            one.repeated(operation)

    def asked(self, model: str, organization: str, tokens: tuple[int, int], failed: bool) -> None:
        for one in self._those:
            one.asked(model, organization, tokens, failed)

    def opined(self, model: str, organization: str, kind: str, seconds: float) -> None:
        for one in self._those:
            one.opined(model, organization, kind, seconds)


class SafeTelemetry(Telemetry):
    """Reports to another, and keeps its exceptions from the code at work."""

    def __init__(self, inner: Telemetry) -> None:
        self._inner = inner
        self._complained: set[str] = set()

    def _tell(self, event: str, *told: Any) -> Any:
        try:
            return getattr(self._inner, event)(*told)
        except Exception as error:
            if event not in self._complained:  # once: the next thousand would say the same
                self._complained.add(event)
                kind, where = type(error).__name__, type(self._inner).__name__
                log.warning("telemetry fails: %s in %s.%s", kind, where, event)
            return None

    def began(self, call: Call) -> Any:
        return self._tell("began", call)

    def ended(self, call: Call, began: Any, seconds: float, error: BaseException | None) -> None:
        self._tell("ended", call, began, seconds, error)

    def decided(self, verdicts: Sequence[Verdict]) -> None:
        self._tell("decided", verdicts)

    def composed(self, context: Context) -> None:
        self._tell("composed", context)

    def repeated(self, operation: str) -> None:
        self._tell("repeated", operation)

    def asked(self, model: str, organization: str, tokens: tuple[int, int], failed: bool) -> None:
        self._tell("asked", model, organization, tokens, failed)

    def opined(self, model: str, organization: str, kind: str, seconds: float) -> None:
        self._tell("opined", model, organization, kind, seconds)
