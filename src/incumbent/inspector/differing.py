"""The difference of two contexts, line by line: what was added, is gone, or changed."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal, NamedTuple

from incumbent.context.document import Line
from incumbent.context.rendering import HEADINGS

Difference = Literal["same", "added", "gone", "changed"]
_RANK = {section: place for place, section in enumerate(HEADINGS)}
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_MOST_TOKENS = 600
# A statement that stands for itself is labelled with its day, which others have as well, or stands
# under one that is.
_DATED = re.compile(r"- (?:\[[^\]]*\] )?(?:from )?\d{4}-\d\d-\d\d|  ")


class WordRun(NamedTuple):
    """Words of a line that the other line has as well, or has not."""

    text: str
    differs: bool


@dataclass(frozen=True, slots=True)
class LinePair:
    """A line of one context beside its partner in the other; None where it has none."""

    kind: Difference
    before: Line | None
    after: Line | None

    @property
    def section(self) -> str:
        """The section it is shown in: that of the later line, where there is one."""
        shown = self.after or self.before
        return shown.section if shown is not None else ""

    @property
    def moved_from(self) -> str:
        """The section of the earlier line, if it is another."""
        if self.before is None or self.after is None or self.before.section == self.after.section:
            return ""
        return self.before.section

    @property
    def words(self) -> tuple[tuple[WordRun, ...], tuple[WordRun, ...]]:
        """Both lines in runs of words, with those marked that differ."""
        earlier = self.before.text if self.before else ""
        later = self.after.text if self.after else ""
        return compared_words(earlier, later)


def difference(before: Sequence[Line], after: Sequence[Line]) -> list[LinePair]:
    """Both contexts as pairs of lines, in the order in which contexts are read.

    Each line of both is in exactly one pair. Lines are paired by the fact they show, by what they
    are about, and last by the fact wherever it stands.
    """
    pairs = _paired(before, after)
    return sorted(_rows(before, after, pairs), key=lambda pair: _RANK.get(pair.section, 0))


def counts(pairs: Sequence[LinePair]) -> dict[str, int]:
    """How many lines are the same, added, gone and changed."""
    return dict(Counter(pair.kind for pair in pairs))


def by_section(pairs: Sequence[LinePair]) -> list[tuple[str, list[LinePair]]]:
    """The pairs under their sections."""
    return [(name, list(group)) for name, group in groupby(pairs, key=lambda pair: pair.section)]


def _paired(before: Sequence[Line], after: Sequence[Line]) -> dict[int, int]:
    """The place of the partner of each later line that has one."""
    found: dict[int, int] = {}
    for matter in (_fact_here, _text_here, _label_here, _fact_anywhere):
        taken = set(found.values())
        left = _places(before, matter, taken)
        right = _places(after, matter, found)
        for key in left.keys() & right.keys():
            found.update(zip(right[key], left[key], strict=False))
    return found


def _places(
    lines: Sequence[Line],
    matter: Callable[[Line, Counter[str]], Hashable | None],
    done: set[int] | dict[int, int],
) -> dict[Hashable, list[int]]:
    """The places of the lines that have no partner yet, by what they are about."""
    labels = Counter(_label(line) for place, line in enumerate(lines) if place not in done)
    found: dict[Hashable, list[int]] = defaultdict(list)
    for place, line in enumerate(lines):
        about = None if place in done else matter(line, labels)
        if about is not None:
            found[about].append(place)
    return found


def _fact_here(line: Line, _: Counter[str]) -> Hashable | None:
    return (line.section, line.fact_id) if line.fact_id is not None else None


def _text_here(line: Line, _: Counter[str]) -> Hashable | None:
    return line.section, line.text


def _label_here(line: Line, labels: Counter[str]) -> Hashable | None:
    """What a line is about by its label, if no other line has it."""
    label = _label(line)
    return label if labels[label] == 1 and not _DATED.match(line.text) else None


def _fact_anywhere(line: Line, _: Counter[str]) -> Hashable | None:
    return line.fact_id


def _label(line: Line) -> str:
    return f"{line.section}\n{line.text.partition(': ')[0]}"


def _rows(
    before: Sequence[Line], after: Sequence[Line], pairs: dict[int, int]
) -> Iterator[LinePair]:
    """The pairs in the order of the later context, what is gone from it where it stood."""
    paired = set(pairs.values())
    gone = [place for place in range(len(before)) if place not in paired]
    for place, line in enumerate(after):
        partner = pairs.get(place)
        while partner is not None and gone and gone[0] < partner:
            yield LinePair("gone", before[gone.pop(0)], None)
        yield _pair(None if partner is None else before[partner], line)
    yield from (LinePair("gone", before[place], None) for place in gone)


def _pair(before: Line | None, after: Line) -> LinePair:
    if before is None:
        return LinePair("added", None, after)
    same = (before.section, before.text) == (after.section, after.text)
    return LinePair("same" if same else "changed", before, after)


def compared_words(before: str, after: str) -> tuple[tuple[WordRun, ...], tuple[WordRun, ...]]:
    """Two texts in runs of words, with those marked that only one of them has."""
    left, right = _TOKEN.findall(before), _TOKEN.findall(after)
    if len(left) + len(right) > _MOST_TOKENS:  # finding it would take longer than reading it
        return _whole(before, after), _whole(after, before)
    runs: tuple[list[WordRun], list[WordRun]] = ([], [])
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for tag, left_from, left_to, right_from, right_to in matcher.get_opcodes():
        for run, words in (
            (runs[0], left[left_from:left_to]),
            (runs[1], right[right_from:right_to]),
        ):
            if words:
                run.append(WordRun("".join(words), tag != "equal"))
    return tuple(runs[0]), tuple(runs[1])


def _whole(text: str, other: str) -> tuple[WordRun, ...]:
    return (WordRun(text, text != other),) if text else ()
