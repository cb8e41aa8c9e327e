"""The files that LangGraph itself writes are read: a store, and checkpoints of a thread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import incumbent
from tests.test_cli_files import Run, run

__all__ = ["run"]  # the fixture

pytest.importorskip("langgraph.checkpoint.sqlite", reason="langgraph is not installed: make dropin")
pytestmark = pytest.mark.filterwarnings("ignore")  # of its packages, not of ours


def talk(path: Path) -> None:
    """Two turns of a person, answered by a graph with a checkpointer."""
    from langchain_core.messages import AIMessage, HumanMessage
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import START, MessagesState, StateGraph

    def answer(state: Any) -> dict[str, Any]:
        return {"messages": [AIMessage("Noted.")]}

    with SqliteSaver.from_conn_string(str(path)) as saver:
        graph = StateGraph(MessagesState)
        graph.add_node("answer", answer)
        graph.add_edge(START, "answer")
        app = graph.compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": "t1", "user_id": "zoe"}}
        for said in ("The shipping address is 123 Main St.", "It is 456 Oak Ave now."):
            app.invoke({"messages": [HumanMessage(said)]}, config)


def test_checkpoints(run: Run, tmp_path: Path) -> None:
    """Every message of the thread is a turn, once, under the user of the thread."""
    talk(tmp_path / "checkpoints.db")
    out = run("import", "--from", "langgraph", "checkpoints.db").stdout
    assert "imported  0 fact(s) and 4 turn(s) from langgraph" in out
    assert "there before  4" in run("import", "--from", "langgraph", "checkpoints.db").stdout
    with incumbent.open("incumbent.db") as memory:
        zoe = memory.session(user_id="zoe")
        assert zoe.current("shipping_address") == "456 Oak Ave"
        assert zoe.history("shipping_address").values == ("123 Main St", "456 Oak Ave")


def test_store(run: Run, tmp_path: Path) -> None:
    """Every item is a fact at its key."""
    from langgraph.store.sqlite import SqliteStore

    with SqliteStore.from_conn_string(str(tmp_path / "store.db")) as store:
        store.setup()
        store.put(("memories", "zoe"), "m1", {"text": "Likes tea"})
        store.put(("memories", "ann"), "prefs", {"theme": "dark"})
    run("import", "--from", "langgraph", "store.db", "--user-part", "2")
    with incumbent.open("incumbent.db") as memory:
        assert memory.session(user_id="zoe").current("m1", "memories") == "Likes tea"
        assert memory.session(user_id="ann").current("prefs", "memories") == {"theme": "dark"}
