"""Fitness: whether a model is of use. One that is not costs, and helps nobody."""

from __future__ import annotations

import logging
from collections import deque
from threading import Lock
from typing import Final

log = logging.getLogger("incumbent.llm")

_LATEST: Final = 12
"""A model is judged by so many of its last answers for an organization,"""
_FEWEST: Final = 6
"""once it gave so many,"""
_BAD: Final = 0.5
"""and set aside where more than this share of them was of no use."""


class Fitness:
    """Sets models aside most of whose answers for an organization are of no use.

    By organization, so that what one of them says turns no model off for another.
    """

    def __init__(self) -> None:
        self._latest: dict[tuple[str, str], deque[bool]] = {}
        self._unfit: set[tuple[str, str]] = set()
        self._judging = Lock()

    def is_unfit(self, organization: str, model: str) -> bool:
        return (organization, model) in self._unfit

    def judge(self, organization: str, model: str, *, is_of_use: bool) -> None:
        """Count an answer."""
        name = (organization, model)
        with self._judging:
            latest = self._latest.setdefault(name, deque(maxlen=_LATEST))
            latest.append(is_of_use)
            bad = latest.count(False)
            if name in self._unfit or len(latest) < _FEWEST or bad <= _BAD * len(latest):
                return
            self._unfit.add(name)
        log.warning(
            "%s was set aside until the memory is opened again: of its last %d answers %d were of "
            "no use; the offline reading stands",
            model,
            len(latest),
            bad,
        )
