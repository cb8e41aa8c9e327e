"""The model: an 8-bit transformer that reads a turn beside the statements that it may be about.

One run says what every stretch of the turn is, where statements begin in it, which words are
values, what becomes of each statement beside it, which of its words are over, and what takes their
place.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import onnxruntime

from incumbent.model.errors import DamagedModel
from incumbent.model.text_cache import remembering
from incumbent.reading.learned.pieces import Beside, Encoded, Span, encode

WEIGHTS: Final = Path(__file__).parent / "weights"
FORMAT: Final = 3
"""What the files must say they are; a model of another format reads its input differently."""
KINDS: Final = ("states", "chats", "asks", "supposes", "reports", "recalls", "orders")
"""What a stretch can be."""
BECOMES: Final = (
    "leaves",
    "replaces",
    "ends",
    "part",
    "confirms",
    "adds",
    "depends",
    "doubts",
    "later",
)
"""What a turn can do to a statement."""
TAGS: Final = ("none", "begins", "goes_on", "subject", "attribute")
"""What a word can be in a statement: a value begins with it or goes on, or it names of what."""
_OVER, _KINDS, _CUT, _TAGS = 0, slice(1, 8), 8, slice(9, 14)
_WIDE = 64
_STARTS, _ENDS, _BY, _GROUND = (slice(n * _WIDE, (n + 1) * _WIDE) for n in range(4))
_LONGEST_SPAN = 16
_REMEMBERED = 256
_MEND = (
    "install Incumbent anew with: pip install --force-reinstall incumbent, or use "
    'Settings(reader="rules"), which needs no model'
)

Floats = npt.NDArray[np.float32]


class Card(NamedTuple):
    """What is known of a model file: its hash, and how its scores are to be read."""

    name: str
    sha256: str
    sharpness: float
    """What becomes of a statement: scores are multiplied by this, then they mean what they say."""
    slope: float
    shift: float
    """Whether a word is over: chances are what `slope * score + shift` comes to."""


def read_card(folder: Path, mend: str) -> Card:
    """The card beside a model."""
    path = folder / "reader.json"
    try:
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if told["format"] != FORMAT:
            raise DamagedModel(
                f"{path} describes a model of format {told['format']!r}, and this Incumbent reads "
                f"format {FORMAT}; {mend}"
            )
        numbers = [float(told["calibration"][name]) for name in ("sharpness", "slope", "shift")]
        if not all(map(math.isfinite, numbers)):
            raise ValueError("the calibration is no numbers")
        return Card(str(told["name"]), str(told["sha256"]), *numbers)
    except FileNotFoundError:
        raise DamagedModel(f"{path} is missing; {mend}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        told_as = f"{type(error).__name__}: {error}"
        raise DamagedModel(f"{path} cannot be read ({told_as}); {mend}") from None


@dataclass(frozen=True)
class Read:
    """What the model makes of a turn and of the statements beside it."""

    encoded: Encoded
    becomes: tuple[Mapping[str, float], ...]
    """Of each statement how likely each thing becomes of it."""
    _pieces: Floats
    _asks: Floats
    _keys: Floats
    _card: Card

    @property
    def model(self) -> str:
        """The name of the model that says it."""
        return self._card.name

    def kinds(self, span: Span) -> Mapping[str, float] | None:
        """How likely a stretch of the turn is of each kind; None where it was not read."""
        here = self.encoded.in_turn(span)
        if not here:
            return None
        chances = _shares(self._pieces[here.start : here.stop, _KINDS].mean(0))
        return dict(zip(KINDS, map(float, chances), strict=True))

    def begins(self, word: Span) -> float:
        """How likely a statement begins with a word of the turn."""
        here = self.encoded.in_turn(word)
        return _chance(float(self._pieces[here.start, _CUT])) if here else 0.0

    def over(self, number: int, span: Span) -> float:
        """How likely a stretch of a statement is over."""
        here = self.encoded.in_known(number, span)
        if not here:
            return 0.0
        score = float(self._pieces[here.start : here.stop, _OVER].mean())
        return _chance(self._card.slope * score + self._card.shift)

    def new(self, number: int, span: Span | None = None) -> tuple[Span, bool] | None:
        """What takes the place of a statement, or of a stretch of it: where that is, and whether
        it is in the turn before."""
        encoded = self.encoded
        asker = encoded.signs[number]
        if span is not None:
            here = encoded.in_known(number, span)
            if not here:
                return None
            asker = here.start
        best, found = -np.inf, None
        for first, places, in_previous in (
            (1, encoded.previous, True),
            (encoded.turn_first, encoded.turn, False),
        ):
            if not places:
                continue
            starts = self._answers(asker, _STARTS, first, len(places))
            ends = self._answers(asker, _ENDS, first, len(places))
            scores = starts + _best_within_reach(ends)
            begin = int(scores.argmax())
            if scores[begin] > best:
                best = float(scores[begin])
                end = begin + int(ends[begin : begin + _LONGEST_SPAN].argmax())
                found = (places[begin][0], places[end][1]), in_previous
        return found

    def by(self, number: int) -> int:
        """Where in the turn that begins which does something to a statement."""
        encoded = self.encoded
        if not encoded.turn:
            return 0
        scores = self._answers(encoded.signs[number], _BY, encoded.turn_first, len(encoded.turn))
        return encoded.turn[int(scores.argmax())][0]

    def _answers(self, asker: int, pointer: slice, first: int, count: int) -> Floats:
        asked = self._asks[asker, pointer]
        scores: Floats = self._keys[first : first + count, pointer] @ asked / math.sqrt(_WIDE)
        return scores


class Model:
    """Reads one turn at a time. Safe to share between threads.

    Every text is a run of its own: the scales of 8-bit activations are taken over the whole input,
    so in a batch an answer would depend on its neighbours.
    """

    def __init__(self, folder: Path = WEIGHTS, mend: str = _MEND) -> None:
        card = read_card(folder, mend)
        self.name: Final = card.name
        self._card = card
        self._session = _session(folder / "reader.onnx", card.sha256, mend)
        self._remembered = remembering(_REMEMBERED)(self._run)

    def read(self, previous: str, turn: str, beside: Sequence[Beside] = ()) -> Read:
        """What a turn is, and what it does to the statements beside it."""
        return self._remembered(previous, turn, tuple(beside))

    def _run(self, previous: str, turn: str, beside: tuple[Beside, ...]) -> Read:
        encoded = encode(previous, turn, beside)
        given = {
            "ids": np.array([encoded.ids], np.int64),
            "signs": np.array(encoded.signs, np.int64),
        }
        becomes, pieces, asks, keys = self._session.run(None, given)
        chances = tuple(
            dict(zip(BECOMES, map(float, _shares(row * self._card.sharpness)), strict=True))
            for row in becomes
        )
        return Read(encoded, chances, pieces, asks, keys, self._card)


def _chance(odds: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, odds))))


def _shares(row: Floats) -> Floats:
    chances = np.exp(row - row.max())
    shares: Floats = chances / chances.sum()
    return shares


def _best_within_reach(ends: Floats) -> Floats:
    """For each place, the largest of the ends that a stretch from there can have."""
    best, reach = ends.copy(), 1
    while reach < min(_LONGEST_SPAN, len(ends)):
        # Twice as far each time. What is read here has not been written yet in the same step.
        np.maximum(best[:-reach], best[reach:], out=best[:-reach])
        reach *= 2
    return best


def _session(path: Path, sha256: str, mend: str) -> onnxruntime.InferenceSession:
    # A larger model lies in pieces, because no host of code takes a file of its size.
    pieces = sorted(path.parent.glob(f"{path.name}.[1-9]")) or [path]
    try:
        content = b"".join(one.read_bytes() for one in pieces)
    except FileNotFoundError:
        raise DamagedModel(f"the model {path} is missing; {mend}") from None
    except OSError as error:
        raise DamagedModel(f"the model {path} cannot be read ({error}); {mend}") from None
    if (found := hashlib.sha256(content).hexdigest()) != sha256:
        raise DamagedModel(
            f"the model {path} is damaged or of another version: its SHA-256 is {found[:12]}…, "
            f"expected {sha256[:12]}…; {mend}"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own errors share no base
        raise DamagedModel(f"the model {path} cannot be run ({error}); {mend}") from None


_loaded: dict[Path, Model] = {}
_lock = threading.Lock()


def load(folder: Path = WEIGHTS, mend: str = _MEND) -> Model:
    """A model, read once per process; where it cannot be, it is said what mends that."""
    with _lock:
        if folder not in _loaded:
            _loaded[folder] = Model(folder, mend)
        return _loaded[folder]
