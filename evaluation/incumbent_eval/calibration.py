"""Calibration: how well probabilities tell a yes from a no, and whether they are accurate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from incumbent_eval.figures import Detection, rounded

BINS = 10
_WIDTH = 40
"""The number of signs of the longest bar in a plot."""


@dataclass(frozen=True)
class Bin:
    """The answers whose probability lies between two bounds."""

    low: float
    high: float
    count: int = 0
    said: float | None = None
    """The mean of their probabilities."""
    came: float | None = None
    """The share of them that came true."""

    @property
    def gap(self) -> float:
        """The difference between the mean probability and the share that came true."""
        return 0.0 if self.said is None or self.came is None else abs(self.said - self.came)

    def record(self) -> dict[str, Any]:
        return {
            "from": rounded(self.low),
            "to": rounded(self.high),
            "count": self.count,
            "mean_probability": rounded(self.said),
            "share": rounded(self.came),
        }


@dataclass(frozen=True)
class Cut:
    """The result of counting everything from a threshold up as a yes."""

    threshold: float
    found: Detection

    def record(self) -> dict[str, Any]:
        return {"threshold": rounded(self.threshold), **self.found.record()}


def reliability(chances: Sequence[float], gold: Sequence[bool], bins: int = BINS) -> list[Bin]:
    """Answers in bins of the same width; one may be empty."""
    held: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for chance, is_so in zip(chances, gold, strict=True):
        held[min(int(chance * bins), bins - 1)].append((chance, is_so))
    return [_bin(number / bins, (number + 1) / bins, inside) for number, inside in enumerate(held)]


def _bin(low: float, high: float, inside: Sequence[tuple[float, bool]]) -> Bin:
    if not inside:
        return Bin(low, high)
    count = len(inside)
    said, came = sum(chance for chance, _ in inside), sum(is_so for _, is_so in inside)
    return Bin(low, high, count, said / count, came / count)


def expected_error(bins: Sequence[Bin]) -> float | None:
    """The mean gap, each bin weighted by its number of answers; None without any."""
    count = sum(one.count for one in bins)
    return sum(one.count * one.gap for one in bins) / count if count else None


def at(chances: Sequence[float], gold: Sequence[bool], threshold: float) -> Cut:
    """The result at a threshold."""
    pairs = zip(chances, gold, strict=True)
    each = (Detection.one(predicted=chance >= threshold, gold=is_so) for chance, is_so in pairs)
    return Cut(threshold, sum(each, Detection()))


def best(chances: Sequence[float], gold: Sequence[bool]) -> Cut:
    """The threshold with the best F1; if several share it, the highest."""
    cuts = list(_cuts(chances, gold))
    if not cuts:
        return Cut(1.0, Detection(missed=sum(gold)))
    return max(cuts, key=lambda cut: (cut.found.f1 or 0.0, cut.threshold))


def average_precision(chances: Sequence[float], gold: Sequence[bool]) -> float | None:
    """The mean of the precision over the recall; None if there is nothing to find."""
    total = sum(gold)
    if not total:
        return None
    steps = [Detection(missed=total), *(cut.found for cut in _cuts(chances, gold))]
    return sum(
        (after.right - before.right) / total * (after.precision or 0.0)
        for before, after in pairwise(steps)
    )


def _cuts(chances: Sequence[float], gold: Sequence[bool]) -> Iterator[Cut]:
    """The result at every probability that was given, from the highest down."""
    total = sum(gold)
    right = taken = 0
    ordered = sorted(zip(chances, gold, strict=True), key=lambda pair: -pair[0])
    for chance, same in groupby(ordered, key=lambda pair: pair[0]):
        for _, is_so in same:
            taken += 1
            right += is_so
        yield Cut(chance, Detection(right, taken - right, total - right))


# plots


def bars(bins: Sequence[Bin]) -> Iterator[str]:
    """The bins as bars of the share that came true, with a sign at the mean probability."""
    for one in bins:
        if one.said is None or one.came is None:
            bar = ""
        else:
            filled, meant = round(one.came * _WIDTH), round(one.said * _WIDTH)
            signs = ["█" if at < filled else " " for at in range(_WIDTH + 1)]
            signs[meant] = "│"
            bar = "".join(signs).rstrip()
        yield f"{one.low:.1f}–{one.high:.1f}  {one.count:>7,}  {bar}".rstrip()


_PLOT, _EDGE = 320, 48


def svg(bins: Sequence[Bin], title: str) -> str:
    """A drawing: a bar for the share that came true in each bin, a dot at the mean probability, and
    the diagonal."""
    whole = _PLOT + 2 * _EDGE
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}" '
        f'font-family="sans-serif" font-size="11" text-anchor="middle">',
        f'<rect width="{whole}" height="{whole}" fill="white"/>',
        f'<text x="{whole / 2}" y="24" font-size="14">{_plain(title)}</text>',
    ]
    for one in bins:
        left, width = _EDGE + one.low * _PLOT, (one.high - one.low) * _PLOT
        drawn.append(f'<text x="{left:.1f}" y="{_EDGE + _PLOT + 16}">{one.low:.1f}</text>')
        if one.said is not None and one.came is not None:
            top, height = _EDGE + (1 - one.came) * _PLOT, one.came * _PLOT
            x, y = _EDGE + one.said * _PLOT, _EDGE + (1 - one.said) * _PLOT
            drawn += [
                f'<rect x="{left + 1:.1f}" y="{top:.1f}" width="{width - 2:.1f}" '
                f'height="{height:.1f}" fill="#7aa6d8"/>',
                f'<text x="{left + width / 2:.1f}" y="{top - 4:.1f}">{one.count:,}</text>',
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#b03030"/>',
            ]
    low, high = _EDGE, _EDGE + _PLOT
    drawn += [
        f'<path d="M{low} {high}L{high} {low}M{low} {low}V{high}H{high}" '
        f'stroke="black" fill="none"/>',
        f'<text x="{high}" y="{high + 16}">1.0</text>',
        f'<text x="{whole / 2}" y="{high + 36}">probability (dots: the mean of each bin)</text>',
        f'<text transform="translate(18 {whole / 2}) rotate(-90)">share replaced</text>',
        "</svg>",
    ]
    return "\n".join(drawn) + "\n"


def _plain(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
