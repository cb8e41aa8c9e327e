"""A page: lines under headings, and a count of tokens that is never more than the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from operator import attrgetter, itemgetter
from typing import NamedTuple

from incumbent.context.document import OVER_BUDGET, Context, Line, Omission
from incumbent.context.reach import longest_line
from incumbent.context.rendering import CUT, CUT_MARK, HEADINGS, SAID, UNKNOWN, heading_line
from incumbent.context.request import Request
from incumbent.context.said_lines import TurnOfLine, continued
from incumbent.context.sheets import Stands
from incumbent.context.tokens import Count
from incumbent.model.identity import Identity

Place = Stands | tuple[int]
"""The place of a line in its section: that of its fact, or a number."""
_RANK = {section: place for place, section in enumerate(HEADINGS)}


class _Kept(NamedTuple):
    """A line that was taken, with its cost and place."""

    line: Line
    cost: int
    place: Place
    """Its place among the lines of its section."""
    item: str | None = None
    """The note or signal that it shows."""
    turn: TurnOfLine | None = None
    """The turn that it quotes, whose day it shares with its other lines."""


Sections = Sequence[Sequence[_Kept]]
"""The lines of each section, in order."""

_line, _cost, _place = (itemgetter(number) for number in (0, 1, 2))
_text = attrgetter("line.text")


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
        self._turns: set[tuple[str, TurnOfLine]] = set()
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
        place: Place | None = None,
        turn: TurnOfLine | None = None,
    ) -> bool:
        """Add a line if it fits; `tokens` is its cost, if it is known.

        Lines stand in the order in which they came, unless `place` says otherwise. `item` is the
        note or signal that the line shows, `turn` the turn that it quotes.
        """
        most = self.budget if ceiling is None else ceiling
        if tokens is None:
            if len(line.text) > longest_line(most - self.used):
                return False  # which need not be counted
            tokens = self.count(f"{line.text}\n")
        if not self.has_room(line.section, tokens, most):
            return False
        self.place(line, tokens, place, item, turn)
        return True

    def place(
        self,
        line: Line,
        tokens: int,
        place: Place | None = None,
        item: str | None = None,
        turn: TurnOfLine | None = None,
    ) -> None:
        """Add a line, for which there is room."""
        kept = self._lines.get(line.section)
        if kept is None:
            kept = self._lines[line.section] = []
            self.used += self._heading(line.section)
        new = _Kept(line, tokens, (len(kept),) if place is None else place, item, turn)
        self.used += tokens
        if turn is not None:
            if (line.section, turn) in self._turns:
                self.used += self._under(new).cost - tokens
            self._turns.add((line.section, turn))
        kept.append(new)

    def _under(self, kept: _Kept) -> _Kept:
        """A line that stands under another one of its turn."""
        if kept.turn is None:
            return kept
        line = replace(kept.line, text=continued(kept.line.text, kept.turn.label))
        return kept._replace(line=line, cost=self.count(f"{line.text}\n"))

    def has_room(self, section: str, tokens: int, ceiling: int) -> bool:
        """Whether a line of that section would fit."""
        if section not in self._lines:
            tokens += self._heading(section)
        return self.used + tokens <= ceiling

    @property
    def facts_shown(self) -> set[str]:
        """The facts that have a line."""
        lines = (kept.line for section in self._lines.values() for kept in section)
        return {line.fact_id for line in lines if line.fact_id is not None}

    def leave_out(self, fact_id: str | None = None, item: str | None = None) -> None:
        """Account for something that did not fit."""
        self.omissions.append(Omission(OVER_BUDGET, fact_id, item))

    def say_so(self, section: str, text: str) -> None:
        """Tell the reader that something was left out, if there is room. What was told before is
        taken back; "" tells nothing instead."""
        if self._says_so:
            line = self._lines[section].pop()
            self.used -= line.cost
            if not self._lines[section]:
                del self._lines[section]
                self.used -= self._heading(section)
        self._says_so = bool(text) and self.add(section, text)

    def _heading(self, section: str) -> int:
        known = self._headings.get(section)
        if known is None:
            known = self._headings[section] = self.count(f"\n{heading_line(section)}\n")
        return known

    def add_first(self, section: str, texts: list[str]) -> None:
        """Add lines that must be there; if the budget is too small, cut them visibly."""
        self._first = (section, texts)
        if (
            not all(self.add(section, text) for text in texts)
            or self._total(self._sections()) > self.budget
        ):
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
                self._lines.setdefault(line.section, []).append(_Kept(line, 0, (place,)))
            self.used = self.count(_rendered(self._sections()))
            if self.used <= self.budget:
                return

    def _sections(self) -> Sections:
        names = sorted(self._lines, key=_RANK.__getitem__)
        return [self._by_turn(sorted(self._lines[name], key=_place)) for name in names]

    def _by_turn(self, lines: Sequence[_Kept]) -> Sequence[_Kept]:
        """The lines in order, each under the first one of its turn that stands directly above."""
        turns = [None, *(kept.turn for kept in lines)]
        return [
            self._under(kept) if kept.turn == above else kept
            for kept, above in zip(lines, turns, strict=False)
        ]

    def _total(self, sections: Sections) -> int:
        """The cost of the rendered text. Only lines before a blank line are counted again."""
        if self.is_cut or not self.count.adds_up:
            return self.count(_rendered(sections))
        total = 0
        for number, kept in enumerate(sections, start=1):
            line, cost, *_ = kept[-1]
            heading = heading_line(line.section)
            total += self.count(f"{heading}\n") if heading else 0
            total += sum(map(_cost, kept)) - cost
            total += self.count(line.text if number == len(sections) else f"{line.text}\n\n")
        return total

    def finish(self, request: Request, *, at: datetime, seq: int, identity: Identity) -> Context:
        """The context. If it is a little too long, the least important lines are taken back."""
        sections, total = self._fit()
        if not self.is_cut and not self._says_so and self._is_short:
            mark = Line(CUT, CUT_MARK)
            self._lines = {CUT: [_Kept(mark, self.count(f"{CUT_MARK}\n"), (0,))], **self._lines}
            sections, total = self._fit()
        return Context(
            text=_rendered(sections),
            tokens=total,
            budget=self.budget,
            query=request.query,
            profile=request.profile.name,
            style=request.style,
            at=at,
            lines=tuple(map(_line, chain.from_iterable(sections))),
            omissions=tuple(self.omissions),
            seq=seq,
            organization=identity.organization,
            user_id=identity.user_id,
            tokenizer=self.count.name,
        )

    @property
    def _is_short(self) -> bool:
        return any(omission.reason == OVER_BUDGET for omission in self.omissions)

    def _fit(self) -> tuple[Sections, int]:
        """Take lines back until the text is within the budget. The first lines are cut as needed.

        Returns the lines that are left, and their cost.
        """
        sections = self._sections()
        total = self._total(sections)
        while not self.is_cut and total > self.budget:
            last = next(reversed(self._lines))
            if last in (CUT, self._first[0]):
                self._cut()
            else:
                self._take_back(last)
            sections = self._sections()
            total = self._total(sections)
        return sections, total

    def _take_back(self, section: str) -> None:
        """Take back the last line of a section that was added."""
        line, _, _, item, _ = self._lines[section].pop()
        if not self._lines[section]:
            del self._lines[section]
        if section == SAID:
            return  # which is found, and not owed
        if line.section != UNKNOWN:
            self.leave_out(line.fact_id, item)
            return
        self._says_so = False  # that line is the last one of its section
        if item is not None:
            self.leave_out(item=item)


def _rendered(sections: Sections) -> str:
    """What `render` makes of these lines."""
    texts: list[str] = []
    for kept in sections:
        heading = heading_line(kept[0].line.section)
        texts.append("\n".join([*([heading] if heading else ()), *map(_text, kept)]))
    return "\n\n".join(texts)
