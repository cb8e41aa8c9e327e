"""Doubts: the facts that later statements may have replaced, as one session sees them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from incumbent.engine.lens import Lens
from incumbent.model.authority import Ladder
from incumbent.model.fact import Fact, Status
from incumbent.rules.doubt import doubters_of
from incumbent.stores.port import Reader


def doubters(reader: Reader, lens: Lens, facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    """For each of these facts that is in doubt, the statements that put it there, newest first.

    Only statements count that this session may see and that apply where it looks from.
    """
    held = {fact.id: fact for fact in facts if fact.status is Status.OFFICE}
    if not held:
        return {}
    if lens.past:
        naming = [fact.id for fact in reader.ever_doubting(held)]
        found = lens.known_among(reader, naming) if naming else ()
    else:
        found = reader.doubting(held)
    statements = lens.in_office(reader, found, marks=False)
    return _found(held, statements, lens.settings.ladder)


def in_doubt(reader: Reader, lens: Lens) -> list[tuple[Fact, Fact]]:
    """Every fact in office that is in doubt here, each with the newest statement against it."""
    if lens.past:
        statements = [fact for fact in lens.held(reader, marks=False) if fact.doubts]
    else:
        statements = lens.in_office(reader, reader.doubters(lens.owners), marks=False)
    named = sorted({fact_id for fact in statements for fact_id in fact.doubts})
    known = lens.by_ids(reader, named) if named else {}
    held = {i: fact for i, fact in known.items() if fact.is_valid and fact.place in lens.places}
    return [
        (held[i], those[0]) for i, those in _found(held, statements, lens.settings.ladder).items()
    ]


def doubted_by_anybody(reader: Reader, ladder: Ladder, now: datetime) -> int:
    """How many facts in office of an organization are in doubt, whoever may see them."""
    statements = [fact for fact in reader.doubters(None) if fact.held_at(now)]
    named = {fact_id for fact in statements for fact_id in fact.doubts}
    held = {fact.id: fact for fact in reader.facts(named) if fact.held_at(now)}
    return len(_found(held, statements, ladder))


def _found(held: dict[str, Fact], statements: list[Fact], ladder: Ladder) -> dict[str, list[Fact]]:
    naming: dict[str, list[Fact]] = {}
    for statement in statements:
        for fact_id in statement.doubts:
            if fact_id in held:
                naming.setdefault(fact_id, []).append(statement)
    found = {i: doubters_of(held[i], those, ladder) for i, those in naming.items()}
    return {i: those for i, those in found.items() if those}
