"""A turn that comes twice under one ref: in this process, over HTTP, by the client, awaited."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt
import pytest

import incumbent
import incumbent.aio
from incumbent.search.embedders import load
from tests.behaviour.people import someone
from tests.conftest import OpenMemory
from tests.service.running import PLAIN, Running, problem

TURNS = [
    ("My desk is 4.", "user"),
    ("The order 17 was shipped on March 3.", "tool"),
    ('{"order": 17, "status": "shipped"}', "tool_result"),
    ("Noted: the desk is 4, and order 17 is on its way.", "assistant"),
    ("We sail on Friday.", "Bob"),
]
WHO = {"user_id": "ann", "session_id": "s"}


def stored(memory: incumbent.Memory, organization: str = "acme") -> Any:
    """All that a turn can leave: the log, the facts, the desk and the turns themselves."""
    with memory.store.read(organization) as reader:
        turns = reader.turns("ann", "s", 99)
        return [*memory.store.dump(organization), *reader.desks(), *turns]


@pytest.mark.on_every_store
@pytest.mark.parametrize(("text", "speaker"), TURNS, ids=[speaker for _, speaker in TURNS])
def test_the_same_turn_is_done_once(memory: incumbent.Memory, text: str, speaker: str) -> None:
    """Said again, with another time or none, it gives the same facts and verdicts, and changes
    nothing."""
    ann = someone(memory, "ann", session_id="s")
    first = ann.observe(text, speaker=speaker, ref="r1")
    ann.observe("The lamp is blue.", ref="r2")
    before = stored(memory)
    for at in (None, memory.now()):
        again = ann.observe(text, speaker=speaker, at=at, ref="r1")
        assert again.repeated
        assert (again.turn_index, again.speaker, again.at, again.ref) == (
            first.turn_index,
            first.speaker,
            first.at,
            "r1",
        )
        assert [one.id for one in again.verdicts] == [one.id for one in first.verdicts]
        assert [one.id for one in again.facts] == [one.id for one in first.facts]
    assert stored(memory) == before


@pytest.mark.on_every_store
def test_a_conversation_is_given_whole_with_every_step(open_memory: OpenMemory, where: str) -> None:
    """An agent that gives all its messages each time is heard once, also by another process."""
    said = [
        {"id": f"m{number}", "role": speaker, "content": text}
        for number, (text, speaker) in enumerate(TURNS)
    ]
    memory = open_memory()
    for step in range(1, len(said) + 1):
        if where != ":memory:":
            memory = open_memory()
        ann = someone(memory, "ann", session_id="s")
        found = ann.observe_many(said[:step])
        assert [one.repeated for one in found] == [True] * (step - 1) + [False]
        assert [one.turn_index for one in found] == list(range(1, step + 1))


@pytest.mark.on_every_store
@pytest.mark.parametrize("speaker", ["user", "assistant", "tool"])
def test_other_words_under_a_ref_are_refused(memory: incumbent.Memory, speaker: str) -> None:
    """A tool that answers otherwise the second time, or a reply that goes on, is another turn: the
    error says what to do, and nothing is changed."""
    ann = someone(memory, "ann", session_id="s")
    ann.observe("The order was", speaker=speaker, ref="r1")
    before = stored(memory)
    with pytest.raises(incumbent.DuplicateId, match=r"'r1' was used .* once it is whole"):
        ann.observe("The order was shipped on March 3.", speaker=speaker, ref="r1")
    assert stored(memory) == before
    assert not ann.observe("The order was shipped on March 3.", speaker=speaker, ref="r2").repeated


class Listening:
    """The embedder that is quick, with a note of what it was asked for."""

    def __init__(self) -> None:
        self._plain = load("static")
        self.name, self.dimensions = self._plain.name, self._plain.dimensions
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.asked.extend(texts)
        return self._plain.embed(texts)


def test_a_turn_that_comes_twice_is_not_read_again(open_memory: OpenMemory) -> None:
    """Nothing is searched for: an agent may give its whole conversation with every step."""
    embedder = Listening()
    memory = open_memory(settings=incumbent.Settings(durability="process", embedder=embedder))
    ann = someone(memory, "ann")
    ann.observe("My desk is 4.", ref="r0")
    ann.observe("My desk is 5.", ref="r1")
    assert "My desk is 5." in embedder.asked
    embedder.asked.clear()
    assert ann.observe("My desk is 5.", ref="r1").repeated
    assert embedder.asked == []


def test_the_past_takes_no_turn_that_it_knows(memory: incumbent.Memory) -> None:
    """A look at the past takes no turns at all."""
    ann = someone(memory, "ann", session_id="s")
    ann.observe("My desk is 4.", ref="r1")
    with pytest.raises(incumbent.ReadOnlySession):
        ann.as_of(memory.now()).observe("My desk is 4.", ref="r1")


def by_http(service: Running) -> Callable[..., Any]:
    """Observes with plain requests."""

    def observe(text: str, speaker: str) -> tuple[bool, list[str]]:
        body = {"session": WHO, "text": text, "speaker": speaker, "ref": "r1"}
        response = service.post("observe", body)
        if response.status_code != 200:
            told = problem(response, 409, "DuplicateId")
            raise incumbent.DuplicateId(told["detail"])
        found = response.json()
        return found["repeated"], [one["id"] for one in found["verdicts"]]

    return observe


def by_stream(service: Running) -> Callable[..., Any]:
    """Observes with a stream of one turn."""

    def observe(text: str, speaker: str) -> tuple[bool, list[str]]:
        lines = [{"session": WHO}, {"text": text, "speaker": speaker, "ref": "r1"}]
        response = httpx.post(
            f"{service.address}/v1/observe/stream",
            content="\n".join(map(json.dumps, lines)).encode(),
            headers={"Content-Type": "application/x-ndjson"},
            **PLAIN,
        )
        found = httpx.Response(200, content=response.content.splitlines()[0]).json()
        if "problem" in found:
            assert found["problem"]["title"] == "DuplicateId"
            raise incumbent.DuplicateId(found["problem"]["detail"])
        return found["repeated"], [one["id"] for one in found["verdicts"]]

    return observe


def by_client(service: Running) -> Callable[..., Any]:
    """Observes through the client."""

    def observe(text: str, speaker: str) -> tuple[bool, list[str]]:
        with incumbent.open(service.address) as memory:
            found = memory.session(**WHO).observe(text, speaker=speaker, ref="r1")
        return found.repeated, [one.id for one in found.verdicts]

    return observe


def awaited(service: Running) -> Callable[..., Any]:
    """Observes through the client, awaited."""

    async def observed(text: str, speaker: str) -> tuple[bool, list[str]]:
        async with incumbent.aio.open(service.address) as memory:
            found = await memory.session(**WHO).observe(text, speaker=speaker, ref="r1")
        return found.repeated, [one.id for one in found.verdicts]

    return lambda text, speaker: asyncio.run(observed(text, speaker))


@pytest.mark.parametrize("way", [by_http, by_stream, by_client, awaited], ids=lambda w: w.__name__)
@pytest.mark.parametrize(("text", "speaker"), TURNS[1:4], ids=["tool", "json", "assistant"])
def test_it_is_so_from_elsewhere(
    service: Running, way: Callable[[Running], Callable[..., Any]], text: str, speaker: str
) -> None:
    """A framework that tries again gets the verdicts of the first time; other words are refused."""
    observe = way(service)
    repeated, verdicts = observe(text, speaker)
    assert not repeated
    before = stored(service.memory, "default")
    assert observe(text, speaker) == (True, verdicts)
    with pytest.raises(incumbent.DuplicateId, match="once it is whole"):
        observe(f"{text} And more.", speaker)
    assert stored(service.memory, "default") == before


def test_a_turn_is_known_whichever_way_it_came(service: Running) -> None:
    """What the client observed is known over HTTP, and the other way round."""
    text, speaker = TURNS[0]
    _, verdicts = by_client(service)(text, speaker)
    for way in (by_http, by_stream, awaited):
        assert way(service)(text, speaker) == (True, verdicts)
