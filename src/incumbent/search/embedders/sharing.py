"""Batches that concurrent requests share: who asks while a batch is under way is in the next one.

For embedders to which several texts at once are less work than one by one: a model on a graphics
card, a server elsewhere. Nobody waits for company: a lone text is embedded at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from incumbent.search.collection import Vector

_MOST = 64
"""The most texts of one batch."""


class _WaitingText:
    """A text that waits for its vector."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.vector: Vector | None = None
        self.is_over = False
        """Whether its batch is over, with a vector or without."""
        self.told = threading.Event()
        """Set when its batch is over, or when it is its turn to see to the next one."""


class SharedBatches:
    """Embeds single texts of many threads, one batch at a time."""

    def __init__(self, embed: Callable[[Sequence[str]], Vector]) -> None:
        """`embed` gives a row for each text, the same whatever else is in the call."""
        self._embed = embed
        self._lock = threading.Lock()
        self._waiting: list[_WaitingText] = []
        self._is_busy = False

    def vector(self, text: str) -> Vector:
        """The vector of a text."""
        asked = _WaitingText(text)
        with self._lock:
            self._waiting.append(asked)
            leads = not self._is_busy
            self._is_busy = True
        if not leads:
            asked.told.wait()
        if not asked.is_over:
            self._lead()
        # Where a batch failed, each is asked for by itself: the fault is that of one text.
        return self._embed([text])[0] if asked.vector is None else asked.vector

    def _lead(self) -> None:
        """See to the next batch, and then have somebody else see to the one after it."""
        with self._lock:
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
        try:
            texts = list(dict.fromkeys(asked.text for asked in batch))
            if len(batch) > 1:
                rows = dict(zip(texts, self._embed(texts), strict=True))
                for asked in batch:
                    asked.vector = rows[asked.text]
            else:
                batch[0].vector = self._embed(texts)[0]
        except Exception:
            if len(batch) == 1:
                raise
        finally:
            with self._lock:
                self._is_busy = bool(self._waiting)
                following = self._waiting[0] if self._waiting else None
            for asked in batch:
                asked.is_over = True
                asked.told.set()
            if following is not None:
                following.told.set()
