"""A moment of the past through the index: the same answers as over its facts put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import numpy as np
import pytest

from incumbent.composing.material import MaterialBuilder
from incumbent.context.request import check_request
from incumbent.engine.lens import Lens
from incumbent.search import tenures
from incumbent.search.collection import AdHoc
from incumbent.search.moment import PastMoment
from incumbent.search.recent import EntryRow
from tests.properties.test_past_properties import Chronicle, a_chronicle, a_history


@contextmanager
def both(chronicle: Chronicle, chance: Random) -> Iterator[tuple[PastMoment, AdHoc, Lens, Any]]:
    """A moment of a chronicle as the index has it, and its facts put together."""
    session = chronicle.session().as_of(chance.choice(chronicle.moments))
    request = check_request("plan", 400, "balanced")
    with session._reading() as (reader, lens):
        environment = session._resources.environment.clock(lens.when)
        index = session._resources.index
        builder = MaterialBuilder(reader, lens, index, request, environment, [], (), 1.0)
        with builder._space() as space:
            assert space.then is not None
            facts = lens.held(reader)
            put = AdHoc(builder.rows(facts), index.dimensions)
            yield space.then, put, lens, reader


def ids(rows: list[EntryRow]) -> list[str]:
    return [row.fact_id for row in rows]


@pytest.mark.parametrize("seed", range(12))
def test_a_moment_answers_like_its_facts_put_together(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sizes, lengths, postings, shares, neighbours, constraints and rows are the same, in the same
    order, although the order of ids is not that of entries; in portions of any size."""
    monkeypatch.setattr(tenures, "_PORTION", 1 + 3 * (seed % 4))
    chance = Random(seed)
    with (
        a_chronicle("memory", [*a_history(chance), ("many", "plan", 4)]) as chronicle,
        both(chronicle, chance) as (then, put, _, _),
    ):
        assert (then.size, then.mean_length) == (put.size, put.mean_length)
        for limit in (1, 3, 100):
            for term in ("plan", "word", "amber", "nothing", "ann"):
                found, wanted = then.postings(term, limit), put.postings(term, limit)
                assert found.share == wanted.share
                assert (found.entries is None) == (wanted.entries is None)
                assert ids(then.rows(found.entries or [])) == ids(put.rows(wanted.entries or []))
        query = np.random.default_rng(seed).normal(size=256).astype(np.float32)
        for count in (1, 2, 5):
            pairs = (
                (then.nearest(query, count), put.nearest(query, count)),
                (then.binding(query, count), put.binding(query, count)),
                (then.binding(None, count), put.binding(None, count)),
            )
            for one, other in pairs:
                rows, others = then.rows(one), put.rows(other)
                assert [row[1:] for row in rows] == [row[1:] for row in others]
                assert one == [] or sorted(one) == [row.entry for row in rows]


@pytest.mark.parametrize("seed", range(12))
def test_doubled_are_the_facts_that_share_a_matter(seed: int) -> None:
    """They are the facts in office, of single-valued keys, on a matter that has several."""
    chance = Random(seed)
    with (
        a_chronicle("memory", a_history(chance)) as chronicle,
        both(chronicle, chance) as (then, _, lens, reader),
    ):
        held = [fact for fact in lens.held(reader) if not fact.multi_valued]
        counted = Counter((fact.key, fact.subject) for fact in held)
        shared = {fact.id for fact in held if counted[fact.key, fact.subject] > 1}
        assert set(then.doubled()) == shared
