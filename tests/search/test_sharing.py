"""Batches of an embedder that concurrent queries share."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import incumbent
from incumbent.search.embedders import NAMES, load
from incumbent.search.embedders.sharing import SharedBatches
from tests.conftest import QUICK
from tests.patience import PATIENCE

TEXTS = [f"text {number}" for number in range(6)]


class Slow:
    """An embedder whose first call takes until it is told to go on."""

    shares_batches = True
    name = "slow"
    dimensions = 256

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.goes_on = threading.Event()
        self.began = threading.Event()

    def embed(self, texts: Sequence[str]) -> Any:
        self.calls.append(list(texts))
        if any("bad" in text for text in texts):
            raise ValueError("a bad text")
        if len(self.calls) == 1:
            self.began.set()
            assert self.goes_on.wait(PATIENCE)
        return load("static").embed(texts)


def until_waiting(batches: SharedBatches, count: int) -> None:
    ends = time.monotonic() + PATIENCE
    while len(batches._waiting) < count:
        assert time.monotonic() < ends, "they do not wait"
        time.sleep(0.001)


def asked_together(slow: Slow, texts: Sequence[str]) -> list[Any]:
    """What comes of texts that are asked for while the first one is being embedded."""
    batches = SharedBatches(slow.embed)

    def ask(text: str) -> Any:
        try:
            return batches.vector(text)
        except ValueError as error:
            return error

    with ThreadPoolExecutor(len(texts)) as pool:
        first = pool.submit(ask, texts[0])
        assert slow.began.wait(PATIENCE)
        others = [pool.submit(ask, text) for text in texts[1:]]
        until_waiting(batches, len(others))
        slow.goes_on.set()
        return [one.result(PATIENCE) for one in (first, *others)]


def test_those_who_ask_meanwhile_are_one_batch() -> None:
    """And each gets the very vector that the text has by itself."""
    slow = Slow()
    found = asked_together(slow, [*TEXTS, TEXTS[1]])
    assert [sorted(call) for call in slow.calls] == [TEXTS[:1], TEXTS[1:]]
    alone = [load("static").embed([text])[0] for text in [*TEXTS, TEXTS[1]]]
    assert np.array_equal(found, alone)


def test_who_asks_alone_waits_for_nobody() -> None:
    """One text after the other, each in a call of its own."""
    slow = Slow()
    slow.goes_on.set()
    batches = SharedBatches(slow.embed)
    for text in TEXTS:
        batches.vector(text)
    assert slow.calls == [[text] for text in TEXTS]


def test_one_bad_text_spoils_nothing_for_the_others() -> None:
    """They get their vectors, and who brought it gets the error."""
    slow = Slow()
    found = asked_together(slow, ["fine", "bad", "good"])
    assert isinstance(found[1], ValueError)
    assert np.array_equal(found[2], load("static").embed(["good"])[0])


@pytest.mark.parametrize("name", NAMES)
def test_a_text_has_the_same_vector_in_company(name: str) -> None:
    """Of the models that ship, which make each text a run of its own, to the bit."""
    texts = ["Where do we ship?", "a much longer text about boats and harbours " * 5, "desk"]
    alone = np.stack([load(name).embed([text])[0] for text in texts])
    assert np.array_equal(load(name).embed(texts), alone)


def test_queries_of_a_memory_share_the_batches_of_an_embedder_that_says_so(tmp_path: Path) -> None:
    """Contexts that are asked for at once, of whatever organizations."""
    slow = Slow()
    slow.goes_on.set()
    with incumbent.open(tmp_path / "agent.db", settings=replace(QUICK, embedder=slow)) as memory:
        for name in ("acme", "other"):
            session = memory.session(user_id="ann", organization=name)
            session.write("desk", 4)
            session.context("Which?")
        slow.calls.clear()
        slow.goes_on.clear()

        def ask(number: int) -> str:
            name = ("acme", "other")[number % 2]
            session = memory.session(user_id="ann", organization=name)
            return session.context(f"Which desk, {number}?").text

        with ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(ask, number) for number in range(4)]
            batches = memory.resources.index._batches
            assert batches is not None
            until_waiting(batches, 3)
            slow.goes_on.set()
            assert all("desk: 4" in one.result(PATIENCE) for one in asked)
        assert sorted(map(len, slow.calls)) == [1, 3]
