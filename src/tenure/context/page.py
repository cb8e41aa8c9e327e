"""A page: lines under headings, and a count of tokens that is never more than the budget."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple

from tenure.context.document import OVER_BUDGET, Context, Line, Omission
from tenure.context.reach import longest_line
from tenure.context.rendering import CUT, CUT_MARK, HEADINGS, UNKNOWN, heading_line, render
from tenure.context.request import Request
from tenure.context.tokens import Count
from tenure.model.identity import Identity

_RANK = {section: place for place, section in enumerate(HEADINGS)}


class _Kept(NamedTuple):
    """A line that was taken, with its cost and place."""

    line: Line
    cost: int
    place: int
    """Its place among the lines of its section."""
    item: str | None
    """The note or signal that it shows."""


class Page:
    """Takes lines as long as they fit. A line that does not fit is passed over; later ones may
    still fit.

    The cost of a line is counted with the line break after it. No tokenizer used here joins
    characters across a line break and the beginning of a line, so costs add up. The last line of a
    section is counted again at the end, because a blank line follows it.

    Invariant: if something was left out for lack of room, an omission records it, and the text says
    so if there is room for that.
    """

    def __init__(self, budget: int, count: Count) -> None:
        self.budget = budget
        self.count = count
        self.used = 0
        self.is_cut = False
        self.omissions: list[Omission] = []
        self._lines: dict[str, list[_Kept]] = {}
        self._headings: dict[str, int] = {}
        self._first: tuple[str, list[str]] = ("", [])
        self._says_so = False

    def add(self, section: str, text: str, *, ceiling: int | None = None) -> bool:
        """Add a line without a fact behind it, if it fits."""
        return self.put(Line(section, text), ceiling=ceiling)

    def put(
        self,
        line: Line,
        tokens: int | None = None,
        *,
        ceiling: int | None = None,
        item: str | None = None,
        place: int | None = None,
    ) -> bool:
        """Add a line if it fits; `tokens` is its cost, if it is known.

        Lines stand in the order in which they came, unless `place` says otherwise. `item` is the
        note or signal that the line shows.
        """
        most = self.budget if ceiling is None else ceiling
        if tokens is None:
            if len(line.text) > longest_line(most - self.used):
                return False  # which need not be counted
            tokens = self.count(f"{line.text}\n")
        section = line.section
        kept = self._lines.get(section)
        needed = tokens if kept is not None else tokens + self._heading(section)
        if self.used + needed > most:
            return False
        self.used += needed
        if kept is None:
            kept = self._lines[section] = []
        kept.append(_Kept(line, tokens, len(kept) if place is None else place, item))
        return True

    def has_room(self, section: str, tokens: int, ceiling: int) -> bool:
        """Whether a line of that section would fit."""
        if section not in self._lines:
            tokens += self._heading(section)
        return self.used + tokens <= ceiling

    def leave_out(self, fact_id: str | None = None, item: str | None = None) -> None:
        """Account for something that did not fit."""
        self.omissions.append(Omission(OVER_BUDGET, fact_id, item))

    def say_so(self, section: str, text: str) -> None:
        """Tell the reader that something was left out, if there is room."""
        self._says_so = self.add(section, text)

    def _heading(self, section: str) -> int:
        known = self._headings.get(section)
        if known is None:
            known = self._headings[section] = self.count(f"\n{heading_line(section)}\n")
        return known

    def add_first(self, section: str, texts: list[str]) -> None:
        """Add lines that must be there; if the budget is too small, cut them visibly."""
        self._first = (section, texts)
        if not all(self.add(section, text) for text in texts) or self._total() > self.budget:
            self._cut()

    def _cut(self) -> None:
        """As much of the first lines as fits, with a mark at their end; or the mark alone."""
        self.is_cut = True
        section, texts = self._first
        self.leave_out(item=section.lower())
        whole = "\n".join(texts)
        low, high = 0, len(whole)
        while low < high:
            middle = (low + high + 1) // 2
            if self.count(f"{heading_line(section)}\n{whole[:middle]} {CUT_MARK}") <= self.budget:
                low = middle
            else:
                high = middle - 1
        said = f"{whole[:low].rstrip()} {CUT_MARK}".split("\n")
        for lines in ([Line(section, text) for text in said], [Line(CUT, CUT_MARK)], []):
            self._lines = {}
            for place, line in enumerate(lines):
                self._lines.setdefault(line.section, []).append(_Kept(line, 0, place, None))
            self.used = self.count(self._text())
            if self.used <= self.budget:
                return

    def _ordered(self) -> list[_Kept]:
        return [
            kept
            for section in sorted(self._lines, key=lambda name: _RANK[name])
            for kept in sorted(self._lines[section], key=attrgetter("place"))
        ]

    def _text(self) -> str:
        return _rendered(self._ordered())

    def _total(self, kept: Sequence[_Kept] | None = None) -> int:
        """The cost of the rendered text. Only lines before a blank line are counted again.

        `kept` are the lines in order, where somebody has them.
        """
        kept = self._ordered() if kept is None else kept
        if self.is_cut or not self.count.adds_up:
            return self.count(_rendered(kept))
        total, section = 0, None
        for place, (line, cost, *_) in enumerate(kept):
            if line.section != section:
                section = line.section
                heading = heading_line(section)
                total += self.count(f"{heading}\n") if heading else 0
            following = kept[place + 1].line.section if place + 1 < len(kept) else None
            if following == section:
                total += cost
            else:
                total += self.count(line.text if following is None else f"{line.text}\n\n")
        return total

    def finish(self, request: Request, *, at: datetime, seq: int, identity: Identity) -> Context:
        """The context. If it is a little too long, the least important lines are taken back."""
        kept, total = self._fit()
        if not self.is_cut and not self._says_so and self._is_short:
            mark = Line(CUT, CUT_MARK)
            self._lines = {CUT: [_Kept(mark, self.count(f"{CUT_MARK}\n"), 0, None)], **self._lines}
            kept, total = self._fit()
        return Context(
            text=_rendered(kept),
            tokens=total,
            budget=self.budget,
            query=request.query,
            profile=request.profile.name,
            style=request.style,
            at=at,
            lines=tuple([one.line for one in kept]),
            omissions=tuple(self.omissions),
            seq=seq,
            organization=identity.organization,
            user_id=identity.user_id,
            tokenizer=self.count.name,
        )

    @property
    def _is_short(self) -> bool:
        return any(omission.reason == OVER_BUDGET for omission in self.omissions)

    def _fit(self) -> tuple[list[_Kept], int]:
        """Take lines back until the text is within the budget. The first lines are cut as needed.

        Returns the lines that are left, in order, and their cost.
        """
        kept = self._ordered()
        total = self._total(kept)
        while not self.is_cut and total > self.budget:
            last = next(reversed(self._lines))
            if last in (CUT, self._first[0]):
                self._cut()
            else:
                self._take_back(last)
            kept = self._ordered()
            total = self._total(kept)
        return kept, total

    def _take_back(self, section: str) -> None:
        """Take back the last line of a section that was added."""
        line, _, _, item = self._lines[section].pop()
        if not self._lines[section]:
            del self._lines[section]
        if line.section != UNKNOWN:
            self.leave_out(line.fact_id, item)
            return
        self._says_so = False  # that line is the last one of its section
        if item is not None:
            self.leave_out(item=item)


def _rendered(kept: Sequence[_Kept]) -> str:
    return render([(one.line.section, one.line.text) for one in kept])
