"""The graph around a fact: what it rests on, what rests on it, and where a change spreads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from incumbent.inspector.speech import named
from incumbent.model.fact import Fact
from incumbent.words import shown, standing

Find = Callable[[str], Fact | None]

_STEPS = 2
_MOST = 7
"""The facts in a column."""
_LOOKED = 30
"""The bases of a fact that are looked up."""
_WIDTH, _HEIGHT = 186, 62
_ACROSS, _DOWN = 58, 18
_EDGE = 6
_LETTERS = 24


@dataclass(frozen=True)
class GraphNode:
    """A fact with its place in the drawing."""

    fact: Fact
    x: int
    y: int
    name: str
    value: str
    state: str
    is_centre: bool
    is_cause: bool
    """Whether its change is why others need review."""


@dataclass(frozen=True)
class GraphEdge:
    """A line between two facts: the second rests on the first, or took its place."""

    base: Fact
    derived: Fact
    replaced: bool
    spreads: bool
    """Whether the need for review came along it."""
    line: str


@dataclass(frozen=True)
class GraphDrawing:
    """The graph, laid out from left to right."""

    width: int
    height: int
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    left_out: int
    node_width: int = _WIDTH
    node_height: int = _HEIGHT


def graph_around(fact: Fact, find: Find) -> GraphDrawing | None:
    """The facts two steps to either side; None if it stands alone."""
    gathered = _Gathered(fact, find)
    gathered.gather()
    if len(gathered.facts) < 2 or not any(column for column, _ in gathered.facts.values()):
        return None
    return _drawn(gathered)


@dataclass
class _Gathered:
    """The facts by id, each with its column: bases to the left, what is derived to the right."""

    centre: Fact
    find: Find
    facts: dict[str, tuple[int, Fact]] = field(default_factory=dict)
    replaced: set[tuple[str, str]] = field(default_factory=set)
    left_out: int = 0

    def gather(self) -> None:
        """Walk the bases, then what is derived."""
        self._place(0, self.centre)
        middle = [self.centre, *self._next_in_chain(self.centre)]
        self._walk([self.centre], -1)
        self._walk(middle, 1)

    def _next_in_chain(self, fact: Fact) -> list[Fact]:
        """The fact that it replaced and the one that replaced it: others may rest on those."""
        found = []
        for fact_id in fact.predecessors[-1:]:
            found += self._reached(0, fact_id)
            self.replaced.add((fact_id, fact.id))
        if fact.superseded_by is not None:
            found += self._reached(0, fact.superseded_by)
            self.replaced.add((fact.id, fact.superseded_by))
        return found

    def _walk(self, wave: list[Fact], way: int) -> None:
        for step in range(1, _STEPS + 1):
            following: list[Fact] = []
            for fact in wave:
                for fact_id in fact.depends_on[:_LOOKED] if way < 0 else fact.derived_facts:
                    following += self._reached(way * step, fact_id)
                    if way < 0:
                        following += self._standing_in(way * step, fact, fact_id)
            wave = following

    def _standing_in(self, column: int, fact: Fact, base: str) -> list[Fact]:
        """The present end of a base's chain, where that is another fact."""
        ends = [leg.stands_on for leg in fact.basis if leg.base == base != leg.stands_on]
        ends += [cause.now for cause in fact.causes if cause.base == base and cause.now]
        found: list[Fact] = []
        for end in dict.fromkeys(ends):
            found += self._reached(column, end)
            self.replaced.add((base, end))
        return found

    def _reached(self, column: int, fact_id: str) -> list[Fact]:
        """The fact, if it may be seen and was not there before."""
        if fact_id in self.facts:
            return []
        full = sum(1 for there, _ in self.facts.values() if there == column) >= _MOST
        # What is derived is named only to those who may see it; a base may be hidden.
        if full and column > 0:
            self.left_out += 1
            return []
        fact = self.find(fact_id)
        if fact is None:
            return []
        if full:
            self.left_out += 1
            return []
        self._place(column, fact)
        return [fact]

    def _place(self, column: int, fact: Fact) -> None:
        self.facts[fact.id] = (column, fact)

    def columns(self) -> list[list[Fact]]:
        """The columns from left to right, the fact that replaced another right below it."""
        found: dict[int, list[Fact]] = {}
        for column, fact in self.facts.values():
            found.setdefault(column, []).append(fact)
        return [_ordered(found[column], self.replaced) for column in sorted(found)]

    def links(self) -> Iterator[tuple[Fact, Fact, bool]]:
        """Every line: base, derived, and whether it is one of replacement."""
        for _, fact in self.facts.values():
            for base in fact.depends_on:
                if base in self.facts:
                    yield self.facts[base][1], fact, False
        for before, after in sorted(self.replaced):
            if before in self.facts and after in self.facts:
                yield self.facts[before][1], self.facts[after][1], True


def _ordered(facts: list[Fact], replaced: set[tuple[str, str]]) -> list[Fact]:
    """In the order found, but each successor after the fact that it replaced."""
    by_id = {fact.id: fact for fact in facts}
    after = {before: new for before, new in replaced if before in by_id and new in by_id}
    ordered: dict[str, Fact] = {}
    for fact in facts:
        if fact.id in after.values():
            continue
        current: str | None = fact.id
        while current is not None and current not in ordered:
            ordered[current] = by_id[current]
            current = after.get(current)
    return [*ordered.values(), *(fact for fact in facts if fact.id not in ordered)]


def _drawn(gathered: _Gathered) -> GraphDrawing:
    columns = gathered.columns()
    tallest = max(len(column) for column in columns)
    height = tallest * (_HEIGHT + _DOWN) - _DOWN
    places: dict[str, tuple[int, int]] = {}
    for index, column in enumerate(columns):
        top = (height - (len(column) * (_HEIGHT + _DOWN) - _DOWN)) // 2
        for row, fact in enumerate(column):
            x = _EDGE + index * (_WIDTH + _ACROSS)
            places[fact.id] = (x, _EDGE + top + row * (_HEIGHT + _DOWN))
    facts = [fact for column in columns for fact in column]
    spread, causes = _spreading(facts)
    return GraphDrawing(
        width=2 * _EDGE + len(columns) * (_WIDTH + _ACROSS) - _ACROSS,
        height=2 * _EDGE + height,
        nodes=tuple(
            _node(fact, places[fact.id], gathered.centre.id, fact.id in causes) for fact in facts
        ),
        edges=tuple(
            GraphEdge(base, derived, replaced, (base.id, derived.id) in spread, line)
            for base, derived, replaced in gathered.links()
            for line in [_line(places[base.id], places[derived.id])]
        ),
        left_out=gathered.left_out,
    )


def _spreading(facts: Iterable[Fact]) -> tuple[set[tuple[str, str]], set[str]]:
    """The steps along which a change made others need review, and the bases that changed.

    A path names the fact that a chain has come to; the line that is drawn may begin at the base
    that it replaced.
    """
    pairs: set[tuple[str, str]] = set()
    causes: set[str] = set()
    for fact in facts:
        for cause in fact.causes:
            causes.add(cause.base)
            pairs.update(zip(cause.path, cause.path[1:], strict=False))
            if cause.now is not None:
                pairs.add((cause.base, cause.now))
        pairs.update((leg.base, fact.id) for leg in fact.basis if (leg.stands_on, fact.id) in pairs)
    return pairs, causes


def _node(fact: Fact, place: tuple[int, int], centre: str, is_cause: bool) -> GraphNode:
    return GraphNode(
        fact,
        *place,
        name=_short(named(fact)),
        value=_short(shown(fact.value)),
        state=standing(fact),
        is_centre=fact.id == centre,
        is_cause=is_cause,
    )


def _short(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"


def _line(start: tuple[int, int], end: tuple[int, int]) -> str:
    """The path of a line: down within a column, else in a curve to the next."""
    (x, y), (to_x, to_y) = start, end
    if x == to_x:
        middle = x + _WIDTH // 2
        if to_y > y:
            return f"M{middle} {y + _HEIGHT} L{middle} {to_y - 2}"
        return f"M{middle} {y} L{middle} {to_y + _HEIGHT + 2}"
    from_x, from_y, to_y = x + _WIDTH, y + _HEIGHT // 2, to_y + _HEIGHT // 2
    bend = (from_x + to_x) // 2
    return f"M{from_x} {from_y} C{bend} {from_y} {bend} {to_y} {to_x - 2} {to_y}"
