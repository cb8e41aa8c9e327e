"""The model: an 8-bit transformer that says what a turn does to the values of a statement."""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnxruntime

from incumbent.language.learned.encoding import Encoded, Span, encode, encode_pair, encode_turn
from incumbent.language.learned.kinds import KINDS, WORD
from incumbent.language.learned.weighing import FEATURES, Read, Weights
from incumbent.model.errors import DamagedModel
from incumbent.model.text_cache import remembering

WEIGHTS: Final = Path(__file__).parents[2] / "reading" / "weights"
FORMAT: Final = 2
"""What the files must say they are; a model of another format reads its input differently."""
_LONGEST_SPAN = 16
_REMEMBERED = 512
_MEND = (
    "install Incumbent anew with: pip install --force-reinstall incumbent, or use "
    'reader="rules", '
    "which needs no model"
)

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the model makes of one value."""

    leaves: float
    replaces: float
    confirms: float
    retracts: float
    span: Span | None
    """Where the new value is said, if there is one."""
    in_previous: bool
    """Whether that is in the turn before, of an offer that was accepted."""


@dataclass(frozen=True)
class Card:
    """What is known of a model file: its hash, and how its probabilities are to be read."""

    name: str
    sha256: str
    weights: Weights
    """How opinions on the statements that one turn may be about are weighed together."""
    slope: float
    """Probabilities are what `slope * log-odds + shift` comes to: then they mean what they say."""
    shift: float


def read_card(folder: Path) -> Card:
    path = folder / "detector.json"
    try:
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if told["format"] != FORMAT:
            raise DamagedModel(
                f"{path} describes a model of format {told['format']!r}, and this Incumbent reads "
                f"format {FORMAT}; {_MEND}"
            )
        calibration = told["calibration"]
        if not all(math.isfinite(float(calibration[name])) for name in ("slope", "shift")):
            raise ValueError("the calibration is no pair of numbers")
        weights = tuple(float(weight) for weight in told["weights"])
        if len(weights) != FEATURES or not all(map(math.isfinite, weights)):
            raise ValueError(f"there are not {FEATURES} weights")
        return Card(
            str(told["name"]),
            str(told["sha256"]),
            Weights(weights),
            float(calibration["slope"]),
            float(calibration["shift"]),
        )
    except FileNotFoundError:
        raise DamagedModel(f"{path} is missing; {_MEND}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        told_as = f"{type(error).__name__}: {error}"
        raise DamagedModel(f"{path} cannot be read ({told_as}); {_MEND}") from None


class Model:
    """Reads one statement and one turn at a time. Safe to share between threads.

    Every text is a run of its own: the scales of 8-bit activations are taken over the whole input,
    so in a batch an answer would depend on its neighbours.
    """

    def __init__(self, folder: Path = WEIGHTS) -> None:
        card = read_card(folder)
        self.name: Final = card.name
        self._card = card
        self._session = _session(folder / "detector.onnx", card.sha256)
        self._remembered = remembering(_REMEMBERED)(self._run)
        self._paired = remembering(_REMEMBERED)(self._pair)
        self._kinds_of = remembering(_REMEMBERED)(self._kind_of)

    def read(
        self, statement: str, marked: Sequence[Span], previous: str, turn: str
    ) -> tuple[Opinion | None, ...]:
        """What becomes of each marked value; None for one too far from the others to be read."""
        return self._remembered(statement, tuple(marked), previous, turn)

    def _run(
        self, statement: str, marked: tuple[Span, ...], previous: str, turn: str
    ) -> tuple[Opinion | None, ...]:
        encoded = encode(statement, marked, previous, turn)
        read = [number for number, place in enumerate(encoded.marks) if place >= 0]
        found: list[Opinion | None] = [None] * len(marked)
        if read:
            places = np.array([encoded.marks[number] for number in read], np.int64)
            ids = np.array([encoded.ids], np.int64)
            classes, starts, ends, *_ = self._session.run(None, {"ids": ids, "marks": places})
            for number, row, start, end in zip(read, classes, starts, ends, strict=True):
                found[number] = self._opinion(encoded, row, start, end)
        return tuple(found)

    def pair(
        self, statement: str, asked: Sequence[Span], previous: str, turn: str
    ) -> tuple[Opinion | None, ...]:
        """What becomes of each stretch of a statement that is asked about, and of all of it for an
        empty one; None for one too far on to be read."""
        return self._paired(statement, tuple(asked), previous, turn)

    def _pair(
        self, statement: str, asked: tuple[Span, ...], previous: str, turn: str
    ) -> tuple[Opinion | None, ...]:
        words = [_words_in(statement, span) for span in asked]
        encoded = encode_pair(statement, [one for of in words for one in of], previous, turn)
        ids = np.array([encoded.ids], np.int64)
        places = np.array([max(0, place) for place in encoded.marks], np.int64)
        if not len(places):
            return ()
        classes, starts, ends, *_ = self._session.run(None, {"ids": ids, "marks": places})
        found: list[Opinion | None] = []
        first = 0
        for of in words:
            here = slice(first, first + len(of))
            first += len(of)
            if encoded.marks[here.start] < 0:
                found.append(None)
                continue
            leaves, replaces, confirms, retracts = map(
                float, np.mean([_shares(row) for row in classes[here]], axis=0)
            )
            span, in_previous = _span(encoded, starts[here.start], ends[here.start])
            found.append(Opinion(leaves, replaces, confirms, retracts, span, in_previous))
        return tuple(found)

    def weigh(self, turn: str, reads: Sequence[Read], *, follows: bool) -> Sequence[float]:
        """How likely each of the statements that a turn may be about is out of date."""
        return self._card.weights.chances(turn, reads, follows=follows)

    def at_most(
        self, turn: str, reads: Sequence[Read], unread: Sequence[float | None], *, follows: bool
    ) -> Sequence[float]:
        """The most that each can come to beside others that were not read."""
        return self._card.weights.at_most(turn, reads, unread, follows=follows)

    def kind(self, stretch: str, context: str, role: str) -> Mapping[str, float]:
        """How likely a stretch of a turn is of each kind; `context` is what was said before it."""
        return dict(zip(KINDS, self._kinds_of(stretch, context, role), strict=True))

    def _kind_of(self, stretch: str, context: str, role: str) -> tuple[float, ...]:
        encoded = encode(stretch, [(0, len(stretch))], context, role)
        places = np.array([max(0, encoded.marks[0])], np.int64)
        ids = np.array([encoded.ids], np.int64)
        *_, (row,), _ = self._session.run(None, {"ids": ids, "marks": places})
        return tuple(map(float, _shares(row)))

    def begins(self, turn: str, words: Sequence[Span]) -> tuple[float, ...]:
        """How likely a statement begins with each of these words; 0 for those too far on."""
        encoded = encode_turn(turn, words)
        read = [number for number, place in enumerate(encoded.marks) if place >= 0]
        found = [0.0] * len(words)
        if read:
            places = np.array([encoded.marks[number] for number in read], np.int64)
            ids = np.array([encoded.ids], np.int64)
            *_, rows = self._session.run(None, {"ids": ids, "marks": places})
            for number, row in zip(read, rows, strict=True):
                found[number] = float(_shares(row)[1])
        return tuple(found)

    def turn(
        self, turn: str, words: Sequence[Span], previous: str = ""
    ) -> list[tuple[float, tuple[float, ...]]]:
        """For each of these words how likely a statement begins there, and of each kind what
        begins there is: all in one reading of the turn."""
        encoded = encode_turn(turn, words, previous)
        places = np.array([max(0, place) for place in encoded.marks], np.int64)
        if not len(places):
            return []
        ids = np.array([encoded.ids], np.int64)
        *_, kinds, cuts = self._session.run(None, {"ids": ids, "marks": places})
        return [
            (float(_shares(cut)[1]), tuple(map(float, _shares(kind))))
            for kind, cut in zip(kinds, cuts, strict=True)
        ]

    def _opinion(self, encoded: Encoded, row: Floats, start: Floats, end: Floats) -> Opinion:
        leaves, replaces, confirms, retracts = map(float, _shares(row))
        meant = _calibrated(replaces, self._card)
        # The other three share what is left in the proportions that the model gave them.
        rest = (1 - meant) / max(1 - replaces, 1e-9)
        span, in_previous = _span(encoded, start, end)
        return Opinion(leaves * rest, meant, confirms * rest, retracts * rest, span, in_previous)


def _words_in(text: str, span: Span) -> list[Span]:
    """The words of a stretch; an empty one is asked about as it is."""
    return [one.span() for one in WORD.finditer(text, *span)] or [span]


def _shares(row: Floats) -> Floats:
    chances = np.exp(row - row.max())
    shares: Floats = chances / chances.sum()
    return shares


def _calibrated(chance: float, card: Card) -> float:
    chance = min(max(chance, 1e-6), 1 - 1e-6)
    odds = card.slope * float(np.log(chance / (1 - chance))) + card.shift
    return float(1 / (1 + np.exp(-odds)))


def _span(encoded: Encoded, starts: Floats, ends: Floats) -> tuple[Span | None, bool]:
    """The likeliest stretch of the reply, as characters, and whether the turn before has it."""
    best, found = -np.inf, None
    for first, places, in_previous in (
        (encoded.first, encoded.previous, True),
        (encoded.turn_first, encoded.turn, False),
    ):
        if not places:
            continue
        tail = ends[first : first + len(places)]
        scores = starts[first : first + len(places)] + _best_within_reach(tail)
        begin = int(scores.argmax())
        if scores[begin] > best:
            best = float(scores[begin])
            end = begin + int(tail[begin : begin + _LONGEST_SPAN].argmax())
            found = (places[begin][0], places[end][1]), in_previous
    return found if found is not None else (None, False)


def _best_within_reach(ends: Floats) -> Floats:
    """For each place, the largest of the ends that a stretch from there can have."""
    best, reach = ends.copy(), 1
    while reach < min(_LONGEST_SPAN, len(ends)):
        # Twice as far each time. What is read here has not been written yet in the same step.
        np.maximum(best[:-reach], best[reach:], out=best[:-reach])
        reach *= 2
    return best


def _session(path: Path, sha256: str) -> onnxruntime.InferenceSession:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise DamagedModel(f"the model {path} is missing; {_MEND}") from None
    except OSError as error:
        raise DamagedModel(f"the model {path} cannot be read ({error}); {_MEND}") from None
    if (found := hashlib.sha256(content).hexdigest()) != sha256:
        raise DamagedModel(
            f"the model {path} is damaged or of another version: its SHA-256 is {found[:12]}…, "
            f"expected {sha256[:12]}…; {_MEND}"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own errors share no base
        raise DamagedModel(f"the model {path} cannot be run ({error}); {_MEND}") from None


_loaded: dict[Path, Model] = {}
_lock = threading.Lock()


def load(folder: Path = WEIGHTS) -> Model:
    """A model that ships with Incumbent, read once per process."""
    with _lock:
        if folder not in _loaded:
            _loaded[folder] = Model(folder)
        return _loaded[folder]
