"""The graph around a fact: two steps to either side, and the way that a change took."""

from __future__ import annotations

from typing import Any

import incumbent
from incumbent.inspector.graph import GraphDrawing, graph_around

WHO = {"user_id": "alice", "organization": "acme"}


def _written(session: incumbent.Session, key: str, value: Any, **more: Any) -> incumbent.Fact:
    fact = session.write(key, value, **more).fact
    assert fact is not None
    return fact


def _drawn(session: incumbent.Session, fact_id: str) -> GraphDrawing:
    fact = session.get(fact_id)
    assert fact is not None
    drawing = graph_around(fact, session.get)
    assert drawing is not None
    return drawing


def test_bases_stand_left_and_derived_facts_right(memory: incumbent.Memory) -> None:
    """Two steps each way and no more; no two facts in one place."""
    alice = memory.session(**WHO)
    chain = [_written(alice, "k0", 0)]
    for step in range(1, 7):
        chain.append(_written(alice, f"k{step}", step, depends_on=[chain[-1].id]))
    drawing = _drawn(alice, chain[3].id)
    by_x = sorted((node.x, node.fact.key) for node in drawing.nodes)
    assert [key for _, key in by_x] == ["k1", "k2", "k3", "k4", "k5"]
    assert len({(node.x, node.y) for node in drawing.nodes}) == 5
    assert all(node.x + drawing.node_width <= drawing.width for node in drawing.nodes)
    assert [node.fact.key for node in drawing.nodes if node.is_centre] == ["k3"]
    assert not any(edge.spreads for edge in drawing.edges)


def test_a_change_is_seen_to_spread(memory: incumbent.Memory) -> None:
    """From the base that changed, along every step that it took, and along no other."""
    alice = memory.session(**WHO)
    price = _written(alice, "price", 12)
    count = _written(alice, "count", 40)
    total = _written(alice, "total", 480, depends_on=[price.id, count.id])
    offer = _written(alice, "offer", "480 in all", depends_on=[total.id])
    alice.write("price", 15)
    drawing = _drawn(alice, total.id)
    spread = {(edge.base.key, edge.derived.key) for edge in drawing.edges if edge.spreads}
    assert spread == {("price", "total"), ("price", "price"), ("total", "offer")}
    assert [node.fact.id for node in drawing.nodes if node.is_cause] == [price.id]
    assert {node.fact.value for node in drawing.nodes} == {12, 15, 40, 480, offer.value}


def test_what_hung_on_the_dead_is_found_from_its_successor(memory: incumbent.Memory) -> None:
    """The new price has nothing derived from it yet; the old one has."""
    alice = memory.session(**WHO)
    price = _written(alice, "price", 12)
    _written(alice, "total", 480, depends_on=[price.id])
    new = _written(alice, "price", 15)
    assert "total" in {node.fact.key for node in _drawn(alice, new.id).nodes}


def test_a_crowd_is_cut_and_counted(memory: incumbent.Memory) -> None:
    """A fact with many dependents is drawn with a few, and says how many are not."""
    alice = memory.session(**WHO)
    base = _written(alice, "base", 1)
    for number in range(30):
        alice.write(f"d{number}", number, depends_on=[base.id])
    drawing = _drawn(alice, base.id)
    assert len(drawing.nodes) == 8
    assert drawing.left_out == 23


def test_a_fact_alone_has_no_graph(memory: incumbent.Memory) -> None:
    """Nor has one that only replaced another."""
    alice = memory.session(**WHO)
    alice.write("city", "Bern")
    fact = _written(alice, "city", "Basel")
    assert graph_around(alice.get(fact.id) or fact, alice.get) is None


def test_a_crowd_of_bases_is_cut_too(memory: incumbent.Memory) -> None:
    """Those that are there and not drawn are counted."""
    alice = memory.session(**WHO)
    bases = [_written(alice, f"b{number}", number).id for number in range(9)]
    total = _written(alice, "total", 36, depends_on=bases)
    drawing = _drawn(alice, total.id)
    assert len(drawing.nodes) == 8
    assert drawing.left_out == 2
