"""A page: lines under headings, and a count of tokens that is never more than the budget."""

from __future__ import annotations

from datetime import datetime

from tenure.context.document import Context, Line, Omission
from tenure.context.reach import longest_line
from tenure.context.rendering import HEADINGS, heading_line, render
from tenure.context.request import Request
from tenure.context.tokens import Count
from tenure.model.identity import Identity

_CUT = " [cut]"
_RANK = {section: place for place, section in enumerate(HEADINGS)}


class Page:
    """Takes lines as long as they fit. A line that does not is passed over, not a wall.

    The cost of a line is counted with the line break after it. No tokenizer that counts here joins
    characters across a line break and the beginning of a line, so costs add up; what stands at the
    end of a section is counted again at the end, because a blank line follows it.
    """

    def __init__(self, budget: int, count: Count) -> None:
        self.budget = budget
        self.count = count
        self.used = 0
        self.is_cut = False
        self.omissions: list[Omission] = []
        self._lines: dict[str, list[tuple[Line, int]]] = {}

    def add(self, section: str, text: str, *, ceiling: int | None = None) -> bool:
        """Add a line that no fact stands behind, if it fits."""
        return self.put(Line(section, text), ceiling=ceiling)

    def put(self, line: Line, tokens: int | None = None, *, ceiling: int | None = None) -> bool:
        """Add a line if it fits; `tokens` is what it costs, where that is known."""
        most = self.budget if ceiling is None else ceiling
        if tokens is None and len(line.text) > longest_line(most - self.used):
            return False  # which need not be counted
        cost = self.count(f"{line.text}\n") if tokens is None else tokens
        if not self.has_room(line.section, cost, most):
            return False
        self.used += cost + (0 if line.section in self._lines else self._heading(line.section))
        self._lines.setdefault(line.section, []).append((line, cost))
        return True

    def has_room(self, section: str, tokens: int, ceiling: int) -> bool:
        """Whether a line of that section would fit."""
        heading = 0 if section in self._lines else self._heading(section)
        return self.used + tokens + heading <= ceiling

    def turn_around(self, section: str) -> None:
        """Show the lines of a section in the reverse of the order in which they came."""
        if section in self._lines:
            self._lines[section].reverse()

    def _heading(self, section: str) -> int:
        return self.count(f"\n{heading_line(section)}\n")

    def add_cut(self, section: str, texts: list[str]) -> None:
        """Add lines that must be there; where the budget is too small, cut visibly."""
        if all(self.add(section, text) for text in texts) and self._total() <= self.budget:
            return
        self.is_cut = True
        whole = "\n".join(texts)
        low, high = 0, len(whole)
        while low < high:
            middle = (low + high + 1) // 2
            if self.count(f"{heading_line(section)}\n{whole[:middle]}{_CUT}") <= self.budget:
                low = middle
            else:
                high = middle - 1
        cut = [Line(section, text) for text in f"{whole[:low].rstrip()}{_CUT}".split("\n")]
        self._lines = {section: [(line, 0) for line in cut]}
        if self.count(self._text()) > self.budget:
            self._lines = {}
        self.used = self.count(self._text())

    def _ordered(self) -> list[tuple[Line, int]]:
        return [
            kept
            for section in sorted(self._lines, key=lambda name: _RANK[name])
            for kept in self._lines[section]
        ]

    def _text(self) -> str:
        return render([(line.section, line.text) for line, _ in self._ordered()])

    def _total(self) -> int:
        """What the rendered text costs, counting again only where lines meet a blank line."""
        if self.is_cut or not self.count.adds_up:
            return self.count(self._text())
        total, kept = 0, self._ordered()
        for place, (line, cost) in enumerate(kept):
            following = kept[place + 1][0].section if place + 1 < len(kept) else None
            if place == 0 or kept[place - 1][0].section != line.section:
                total += self.count(f"{heading_line(line.section)}\n")
            if following == line.section:
                total += cost
            else:
                total += self.count(line.text if following is None else f"{line.text}\n\n")
        return total

    def finish(self, request: Request, *, at: datetime, seq: int, identity: Identity) -> Context:
        """The context, with the least important lines taken back should it be a little too long."""
        total = self._total()
        while total > self.budget:
            self._take_back()
            total = self._total()
        text = self._text()
        return Context(
            text=text,
            tokens=total,
            budget=self.budget,
            query=request.query,
            profile=request.profile.name,
            style=request.style,
            at=at,
            lines=tuple(line for line, _ in self._ordered()),
            omissions=tuple(self.omissions),
            seq=seq,
            organization=identity.organization,
            user_id=identity.user_id,
            tokenizer=self.count.name,
        )

    def _take_back(self) -> None:
        last = next(section for section in reversed(self._lines) if self._lines[section])
        line, _ = self._lines[last].pop()
        if not self._lines[last]:
            del self._lines[last]
        item = None if line.fact_id else line.text.partition(":")[0].removeprefix("- ")
        self.omissions.append(Omission("over budget", line.fact_id, item))
