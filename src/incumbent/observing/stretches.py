"""Stretches: what the model takes the statements of a turn for."""

from __future__ import annotations

from collections.abc import Mapping

from incumbent.language.detection import Detector
from incumbent.language.learned.kinds import before, role_of
from incumbent.observing.circumstances import Circumstances
from incumbent.observing.situation import Situation
from incumbent.observing.touching import is_reading
from incumbent.observing.understanding import Understood

MOST_ASKED = 24
"""So many stretches of a turn are read by the model; of a longer turn the rules read the rest."""


class Stretches:
    """Asks the model once for each statement of a turn."""

    def __init__(self, detector: Detector, situation: Situation, around: Circumstances) -> None:
        self._detector = detector
        self._situation = situation
        self._around = around
        self._kinds: dict[tuple[int, int], Mapping[str, float]] = {}

    def kinds(self, said: Understood) -> Mapping[str, float]:
        """How likely a statement is of each kind; nothing where the model is not asked."""
        place = (said.statement.start, said.statement.end)
        if place not in self._kinds:
            if not is_reading(self._detector) or len(self._kinds) >= MOST_ASKED:
                return {}
            context = before(self._situation.last_text, self._around.text[: place[0]])
            role = role_of(self._around.speaker.name)
            self._kinds[place] = self._detector.kind(said.statement.text, context, role)
        return self._kinds[place]

    def chance(self, said: Understood, kind: str, otherwise: float) -> float:
        """How likely a statement is of one kind; `otherwise` where the model is not asked."""
        kinds = self.kinds(said)
        return kinds[kind] if kinds else otherwise
