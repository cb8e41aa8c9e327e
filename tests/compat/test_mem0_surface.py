"""The surface of mem0 beside ours: signatures, defaults, shapes, messages and events.

With mem0ai installed (`make dropin`) the package itself is asked, and has to be what is recorded;
elsewhere ours is held against the record.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent.compat.exports.from_mem0 import read
from incumbent.compat.exports.importing import Importer
from incumbent.compat.exports.things import Surroundings
from incumbent.compat.mem0 import AsyncMemory, Memory
from incumbent.search.embedders.static import Static
from tests.compat import recorded_mem0 as recorded
from tests.conftest import QUICK

os.environ["MEM0_TELEMETRY"] = "False"  # read when the package is imported
HAS_MEM0 = find_spec("mem0") is not None
needs_mem0 = pytest.mark.skipif(not HAS_MEM0, reason="mem0ai is not installed: make dropin")
pytestmark = [
    # Of its dependencies, not of ours.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecatedSince20")
    if HAS_MEM0
    else pytest.mark.filterwarnings("default"),
]


def signature(method: Any) -> list[str]:
    """The parameters of a method, in order."""
    names: list[str] = []
    for one in list(inspect.signature(method).parameters.values())[1:]:
        if one.kind is one.KEYWORD_ONLY and "*" not in names:
            names.append("*")
        names.append("**" if one.kind is one.VAR_KEYWORD else one.name)
    return names


def defaults(kind: Any, call: str) -> dict[str, Any]:
    wanted = recorded.DEFAULTS[call]
    parameters = inspect.signature(getattr(kind, call)).parameters
    return {name: parameters[name].default for name in wanted}


def tour(memory: Any) -> dict[str, Any]:
    """What a memory gives for the same calls, one after the other."""
    who = {"user_id": "alice", "agent_id": "bot", "run_id": "r1"}
    said = [{"role": "user", "content": "I ride a red bicycle to work"}]
    added = memory.add(said, **who, metadata={"topic": "travel"}, infer=False)
    memory_id = added["results"][0]["id"]
    filters = {"user_id": "alice"}
    found = {
        "add": added["results"],
        "get": [memory.get(memory_id)],
        "get_all": memory.get_all(filters=filters)["results"],
        "search": memory.search("bicycle", filters=filters)["results"],
        "update": memory.update(memory_id, "I ride a blue bicycle to work"),
        "delete": memory.delete(memory_id),
        "history": memory.history(memory_id),
        "gone": memory.get(memory_id),
        "left": memory.get_all(filters=filters),
    }
    memory.add(said, **who, infer=False)
    found["delete_all"] = memory.delete_all(user_id="alice")
    for call, given in (("delete", ("no such id",)), ("update", ("no such id", "text"))):
        try:
            getattr(memory, call)(*given)
        except Exception as error:
            found[f"unknown {call}"] = isinstance(error, ValueError)
    return found


def check(found: dict[str, Any]) -> None:
    """Hold what a memory gave against the record."""
    for call, names in recorded.SHAPES.items():
        assert found[call], call
        assert {frozenset(one) for one in found[call]} == {frozenset(names)}, call
    for call, message in recorded.MESSAGES.items():
        assert found[call] == message
    assert [row["event"] for row in found["history"]] == recorded.EVENTS
    assert [row["is_deleted"] for row in found["history"]] == [False, False, True]
    assert found["get"][0]["metadata"] == {"topic": "travel"}
    assert found["gone"] is None
    assert found["left"] == {"results": []}
    assert found["unknown delete"]


class TestOurs:
    """What we have is what is recorded."""

    @pytest.mark.parametrize("call", recorded.SIGNATURES)
    def test_signatures(self, call: str) -> None:
        """Every call takes the parameters that mem0's takes, in the same order."""
        assert signature(getattr(Memory, call)) == recorded.SIGNATURES[call]

    @pytest.mark.parametrize("call", sorted(set(recorded.AWAITED) - {"add"}))
    def test_awaited_signatures(self, call: str) -> None:
        """`AsyncMemory` takes what `Memory` takes, and all but `close` are awaited."""
        method = getattr(AsyncMemory, call)
        assert signature(method) == recorded.AWAITED[call]
        assert inspect.iscoroutinefunction(method) is (call != "close")

    @pytest.mark.parametrize("call", recorded.DEFAULTS)
    def test_defaults(self, call: str) -> None:
        """A caller who gives little gets what mem0 gives."""
        assert defaults(Memory, call) == recorded.DEFAULTS[call]

    def test_shapes(self, memory: incumbent.Memory) -> None:
        """What comes back has the names, messages and events of mem0."""
        check(tour(Memory(memory)))


@needs_mem0
class TestTheirs:
    """What mem0 has is what is recorded, so that the record can be trusted where it is absent."""

    @pytest.fixture
    def theirs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
        """A real mem0 in a folder, with our embedder: it asks nobody."""
        pytest.importorskip("incumbent_eval", reason="the adapters of the evaluation are not there")
        from incumbent_eval.adapters.mem0_memory import opened

        for name in ("MEM0_DIR", "OPENAI_API_KEY"):
            monkeypatch.setenv(name, "")  # put back what it sets
        memory = opened(tmp_path, "qdrant", Static())
        yield memory
        memory.close()

    def test_version(self) -> None:
        """The record is of the version that is installed."""
        assert version("mem0ai") == recorded.VERSION

    @pytest.mark.parametrize("call", recorded.SIGNATURES)
    def test_signatures(self, call: str) -> None:
        """Every parameter is recorded, of the awaited calls as well."""
        mem0 = import_module("mem0")
        assert signature(getattr(mem0.Memory, call)) == recorded.SIGNATURES[call]
        assert signature(getattr(mem0.AsyncMemory, call)) == recorded.AWAITED[call]

    @pytest.mark.parametrize("call", recorded.DEFAULTS)
    def test_defaults(self, call: str) -> None:
        """And so is every default that is relied on."""
        mem0 = import_module("mem0")
        assert defaults(mem0.Memory, call) == recorded.DEFAULTS[call]

    def test_shapes(self, theirs: Any) -> None:
        """The same calls give the same names, messages and events."""
        check(tour(theirs))

    def test_a_real_export_is_imported(self, theirs: Any) -> None:
        """What mem0 lists is read whole, under the ids that it has there."""
        for text in ("I ride a red bicycle to work", "My sister bakes bread"):
            theirs.add(text, user_id="alice", infer=False, metadata={"n": 1})
        exported = theirs.get_all(filters={"user_id": "alice"})
        # With the real clock: mem0 has no other.
        with Memory(":memory:", settings=QUICK) as ours:
            importer = Importer(ours.incumbent, organization="default", bad=_never)
            importer.take(read("the document", exported, Surroundings()))
            importer.finish()
            for one in exported["results"]:
                found = ours.get(one["id"])
                assert found is not None
                assert (found["memory"], found["metadata"]) == (one["memory"], {"n": 1})


def _never(place: str, error: Exception) -> None:
    raise error
