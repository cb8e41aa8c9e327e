"""Anthropic's memory tool on Incumbent: files as the model knows them, and no dead value in any."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incumbent
from tests.conftest import QUICK, examples

anthropic = pytest.importorskip("anthropic", reason="anthropic is not installed: make dropin")

from anthropic.lib.tools import ToolError  # noqa: E402

from incumbent.integrations.anthropic_memory import (  # noqa: E402
    AsyncIncumbentMemoryTool,
    IncumbentMemoryTool,
)

CUSTOMER = "/memories/customer.md"
TODO = "/memories/todo.md"


@pytest.fixture
def tool(memory: incumbent.Memory) -> IncumbentMemoryTool:
    return IncumbentMemoryTool(memory, user_id="alice")


def create(tool: IncumbentMemoryTool, path: str, text: str) -> str:
    return str(tool.call({"command": "create", "path": path, "file_text": text}))


def view(tool: IncumbentMemoryTool, path: str, **more: Any) -> str:
    return str(tool.call({"command": "view", "path": path, **more}))


def replace(tool: IncumbentMemoryTool, path: str, old: str, new: str) -> str:
    edit = {"command": "str_replace", "path": path, "old_str": old, "new_str": new}
    return str(tool.call(edit))


def two_files(tool: IncumbentMemoryTool) -> None:
    create(tool, CUSTOMER, "# Customer\n- ship to: 123 Main St\n- size: 40 desks\n")
    create(tool, TODO, "Ask the courier to deliver at 123 Main St before noon\nBuy milk\n")


@pytest.mark.on_every_store
def test_a_correction_in_one_file_cuts_the_dead_value_out_of_another(
    tool: IncumbentMemoryTool,
) -> None:
    """The other file keeps its lines, and says that something no longer holds."""
    two_files(tool)
    replace(tool, CUSTOMER, "123 Main St", "456 Oak Ave")
    assert "     2\t- ship to: 456 Oak Ave" in view(tool, CUSTOMER)
    assert view(tool, TODO).splitlines()[1:] == [
        "     1\tAsk the courier to deliver at [no longer current] before noon",
        "     2\tBuy milk",
        "     3\t",
    ]


class TestCorrections:
    """What counts as a correction, and what does not."""

    @pytest.fixture
    def filled(self, tool: IncumbentMemoryTool) -> IncumbentMemoryTool:
        two_files(tool)
        return tool

    def test_what_a_person_corrected_in_talk_is_cut_as_well(self, memory: incumbent.Memory) -> None:
        """The files follow what the memory was told, with no edit at all."""
        tool = IncumbentMemoryTool(memory, user_id="alice")
        two_files(tool)
        alice = memory.session(user_id="alice")
        alice.observe("The shipping address is 123 Main St.")
        assert "123 Main St" in view(tool, TODO)
        alice.observe("The shipping address is 456 Oak Ave now.")
        assert "123 Main St" not in view(tool, TODO) + view(tool, CUSTOMER)

    def test_a_value_in_running_text_is_a_value(self, filled: IncumbentMemoryTool) -> None:
        """A line without a label is compared word by word."""
        replace(filled, TODO, "at 123 Main St before", "at 9 Elm Row before")
        assert "123 Main St" not in view(filled, CUSTOMER)
        assert "9 Elm Row before noon" in view(filled, TODO)

    def test_a_value_that_is_put_back_is_no_longer_dead(self, filled: IncumbentMemoryTool) -> None:
        """Back to an earlier value, also over another in between."""
        for old, new in [("123 Main St", "456 Oak Ave"), ("456 Oak Ave", "7 Pine Rd")]:
            replace(filled, CUSTOMER, old, new)
        replace(filled, CUSTOMER, "7 Pine Rd", "123 Main St")
        assert "ship to: 123 Main St" in view(filled, CUSTOMER)
        assert "deliver at 123 Main St" in view(filled, TODO)

    def test_what_is_added_takes_nothing_away(self, filled: IncumbentMemoryTool) -> None:
        """A longer value says the shorter one still."""
        replace(filled, CUSTOMER, "123 Main St", "123 Main St, floor 4")
        assert "deliver at 123 Main St before" in view(filled, TODO)
        assert "123 Main St, floor 4" in view(filled, CUSTOMER)

    def test_what_is_taken_away_is_not_dead_elsewhere(self, filled: IncumbentMemoryTool) -> None:
        """A task that is done, or a file that is gone, makes nothing untrue."""
        replace(filled, TODO, "Ask the courier to deliver at 123 Main St before noon\n", "")
        assert "123 Main St" in view(filled, CUSTOMER)
        filled.call({"command": "delete", "path": TODO})
        assert "123 Main St" in view(filled, CUSTOMER)

    def test_what_the_file_still_says_is_not_dead(self, filled: IncumbentMemoryTool) -> None:
        """One of two lines with the same value changed; the value holds for the other."""
        create(filled, "/memories/a.md", "- billing: 5 Dock Rd\n- ship to: 5 Dock Rd\n")
        replace(filled, "/memories/a.md", "- ship to: 5 Dock Rd", "- ship to: 6 Dock Rd")
        assert "billing: 5 Dock Rd" in view(filled, "/memories/a.md")

    def test_two_lines_that_begin_alike_are_two_matters(self, filled: IncumbentMemoryTool) -> None:
        """The new value of the one is not replaced by that of the other."""
        create(filled, "/memories/a.md", "- contact: Ann Lee\n- contact: Bob Ray\n")
        replace(filled, "/memories/a.md", "Ann Lee", "Cleo Fox")
        replace(filled, "/memories/a.md", "Bob Ray", "Dan Orr")
        shown = view(filled, "/memories/a.md")
        assert "Cleo Fox" in shown
        assert "Dan Orr" in shown

    def test_the_model_can_edit_what_it_was_shown(self, filled: IncumbentMemoryTool) -> None:
        """It quotes the line with its gap, and the gap is filled."""
        replace(filled, CUSTOMER, "123 Main St", "456 Oak Ave")
        replace(filled, TODO, "deliver at [no longer current]", "deliver at 456 Oak Ave")
        assert "deliver at 456 Oak Ave before noon" in view(filled, TODO)

    def test_the_name_of_a_dead_value_stays(self, memory: incumbent.Memory) -> None:
        """The model sees what it no longer knows; a name that is dead itself goes with the line."""
        tool = IncumbentMemoryTool(memory, user_id="alice")
        create(tool, TODO, "- ship to: 123 Main St\n- 123 Main St: ring twice\n")
        alice = memory.session(user_id="alice")
        alice.write("shipping_address", "123 Main St")
        alice.write("shipping_address", "456 Oak Ave")
        assert view(tool, TODO).splitlines()[1:3] == [
            "     1\t- ship to: [no longer current]",
            "     2\t[no longer current]",
        ]

    def test_files_stand_in_no_context(self, memory: incumbent.Memory) -> None:
        """They are the model's notes, and nobody's word."""
        tool = IncumbentMemoryTool(memory, user_id="alice")
        two_files(tool)
        replace(tool, CUSTOMER, "123 Main St", "456 Oak Ave")
        session = memory.session(user_id="alice")
        assert "Oak Ave" not in session.context("Where do we ship?").text
        assert session.facts() == []

    def test_people_do_not_share_files(self, memory: incumbent.Memory) -> None:
        """Bob sees none of Alice's, and her corrections are not his."""
        two_files(IncumbentMemoryTool(memory, user_id="alice"))
        bobs = IncumbentMemoryTool(memory, user_id="bob")
        create(bobs, TODO, "Meet at 123 Main St tonight\n")
        replace(
            IncumbentMemoryTool(memory, user_id="alice"), CUSTOMER, "123 Main St", "456 Oak Ave"
        )
        assert "Meet at 123 Main St tonight" in view(bobs, TODO)
        with pytest.raises(ToolError, match="does not exist"):
            view(bobs, CUSTOMER)

    def test_to_forget_a_person_is_to_forget_their_files(self, memory: incumbent.Memory) -> None:
        """Nothing of them is left in an export of the organization."""
        two_files(IncumbentMemoryTool(memory, user_id="alice"))
        memory.forget(organization="default", user_id="alice")
        assert "Main St" not in str(list(memory.export("default")))
        assert CUSTOMER not in view(IncumbentMemoryTool(memory, user_id="alice"), "/memories")


STEPS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories/none.md"},
    {"command": "create", "path": "/memories/a.md", "file_text": "one\ntwo\nthree\nfour\nfive"},
    {"command": "create", "path": "/memories/a.md", "file_text": "again"},
    {"command": "create", "path": "/memories/sub/b.md", "file_text": "b\n"},
    {"command": "create", "path": "/memories/empty.md", "file_text": ""},
    {"command": "create", "path": "/etc/passwd", "file_text": "x"},
    {"command": "create", "path": "/memories/../x", "file_text": "x"},
    {"command": "view", "path": "/memories/a.md"},
    {"command": "view", "path": "/memories/a.md", "view_range": [2, 3]},
    {"command": "view", "path": "/memories/a.md", "view_range": [4, -1]},
    {"command": "view", "path": "/memories/empty.md"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "three", "new_str": "3\n3b"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "none", "new_str": "x"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "o", "new_str": "x"},
    {"command": "str_replace", "path": "/memories/no.md", "old_str": "o", "new_str": "x"},
    {"command": "str_replace", "path": "/memories/sub", "old_str": "o", "new_str": "x"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "zero\n"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 99, "insert_text": "x"},
    {"command": "insert", "path": "/memories/no.md", "insert_line": 0, "insert_text": "x"},
    {"command": "view", "path": "/memories/a.md"},
    {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/sub/b.md"},
    {"command": "rename", "old_path": "/memories/sub", "new_path": "/memories/other"},
    {"command": "rename", "old_path": "/memories/gone", "new_path": "/memories/x"},
    {"command": "rename", "old_path": "/memories", "new_path": "/memories/x"},
    {"command": "view", "path": "/memories/other/b.md"},
    {"command": "delete", "path": "/memories/other"},
    {"command": "delete", "path": "/memories/other"},
    {"command": "delete", "path": "/memories"},
    {"command": "view", "path": "/memories/other/b.md"},
]


def outcome(tool: Any, step: dict[str, Any]) -> str:
    try:
        return str(tool.call(step))
    except ToolError as error:
        return f"refused: {error}"


def test_it_answers_as_anthropics_own_tool_for_files(
    memory: incumbent.Memory, tmp_path: Path
) -> None:
    """Command by command the same words as the tool that keeps real files, errors included."""
    from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path))
    ours = IncumbentMemoryTool(memory, user_id="alice")
    for step in STEPS:
        assert outcome(ours, step) == outcome(theirs, step), step


def test_a_folder_is_listed_two_levels_deep(tool: IncumbentMemoryTool) -> None:
    """With sizes, in order, and without hidden files."""
    for path in ("b.md", "a/x.md", "a/deep/y.md", "a/deep/er/z.md", ".hidden"):
        create(tool, f"/memories/{path}", "12345")
    assert view(tool, "/memories").splitlines()[1:] == [
        "20B\t/memories",
        "15B\t/memories/a/",
        "10B\t/memories/a/deep/",
        "5B\t/memories/a/x.md",
        "5B\t/memories/b.md",
    ]
    assert "/memories/a/deep/er/" in view(tool, "/memories/a")


def test_a_file_and_a_folder_cannot_have_one_name(tool: IncumbentMemoryTool) -> None:
    """Neither a file within a file nor a file in place of a folder."""
    create(tool, "/memories/a/x.md", "x")
    for path in ("/memories/a", "/memories/a/x.md/y.md"):
        with pytest.raises(ToolError, match=r"/memories/a/x\.md is one already"):
            create(tool, path, "y")
    create(tool, "/memories/b.md", "b")
    for old, new in [("b.md", "a/x.md/y.md"), ("a", "a/b"), ("a", "b.md/a")]:
        move = {"command": "rename", "old_path": f"/memories/{old}", "new_path": f"/memories/{new}"}
        with pytest.raises(ToolError, match=r"is one already|into itself"):
            tool.call(move)


def test_what_the_memory_refuses_is_told_to_the_model(tool: IncumbentMemoryTool) -> None:
    """A file over the limit is an error of the tool, and there is no file."""
    with pytest.raises(ToolError, match="limit"):
        create(tool, TODO, "x" * 2_000_000)
    assert TODO not in view(tool, "/memories")


def test_everything_can_be_cleared(tool: IncumbentMemoryTool) -> None:
    """`clear_all_memory` leaves an empty folder."""
    two_files(tool)
    assert tool.clear_all_memory() == "All memory cleared"
    assert view(tool, "/memories").splitlines()[1:] == ["0B\t/memories"]


def test_files_outlive_the_process(store_path: Path) -> None:
    """And so does what was corrected in them."""
    with incumbent.open(store_path, settings=QUICK) as memory:
        tool = IncumbentMemoryTool(memory, user_id="alice")
        two_files(tool)
        replace(tool, CUSTOMER, "123 Main St", "456 Oak Ave")
    with incumbent.open(store_path, settings=QUICK) as memory:
        tool = IncumbentMemoryTool(memory, user_id="alice")
        assert "456 Oak Ave" in view(tool, CUSTOMER)
        assert "123 Main St" not in view(tool, TODO)


def test_awaited(memory: incumbent.Memory) -> None:
    """The tool for an async client gives what the other gives."""

    async def talk() -> tuple[Any, Any]:
        tool = AsyncIncumbentMemoryTool(memory, user_id="alice")
        await tool.call({"command": "create", "path": TODO, "file_text": "Buy milk\n"})
        shown = await tool.call({"command": "view", "path": TODO})
        await tool.clear_all_memory()
        return shown, tool.to_dict()

    shown, told = asyncio.run(talk())
    assert "Buy milk" in shown
    assert told == {"type": "memory_20250818", "name": "memory"}


class Upstream(BaseHTTPRequestHandler):
    """Stands in for Anthropic's API: the model looks at a file, and then answers."""

    asked: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        self.asked.append(json.loads(self.rfile.read(length)))
        looking = {"command": "view", "path": TODO}
        use = {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": looking}
        is_first = len(self.asked) == 1
        answer = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "stand-in",
            "content": [use if is_first else {"type": "text", "text": "Done."}],
            "stop_reason": "tool_use" if is_first else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing on stderr."""


@pytest.fixture
def upstream() -> Iterator[str]:
    Upstream.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_official_client_runs_it(tool: IncumbentMemoryTool, upstream: str) -> None:
    """Its tool runner offers the tool, calls it, and sends the model no dead value."""
    two_files(tool)
    replace(tool, CUSTOMER, "123 Main St", "456 Oak Ave")
    with anthropic.Anthropic(api_key="unused", base_url=upstream) as client:
        runner = client.beta.messages.tool_runner(
            model="stand-in",
            max_tokens=100,
            messages=[{"role": "user", "content": "What is to be done?"}],
            tools=[tool],
        )
        last = runner.until_done()
    assert last.content[0].type == "text"
    first, second = Upstream.asked
    assert first["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    result = json.dumps(second["messages"][-1])
    assert "deliver at [no longer current] before noon" in result
    assert "123 Main St" not in json.dumps(second)


# No folders: on a disk an empty one stays, and here there is none.
PATHS = ["/memories/a.md", "/memories/b/c.md", "/memories/b/d/e.md"]
EDITS = st.tuples(
    st.sampled_from(["create", "view", "str_replace", "insert", "delete", "rename"]),
    st.sampled_from(PATHS),
    st.sampled_from(PATHS),
    st.integers(-1, 4),
    st.sampled_from(["", "{0}", "{0}\n", "{0}\n\n{1}", "- name: {0}\n{1} {2}\n"]),
)


def command_of(edit: tuple[str, str, str, int, str], number: int) -> dict[str, Any]:
    """A command whose words are its own, so that no correction touches another file."""
    command, path, other, line, form = edit
    text = form.format(*(f"w{number}{letter}" for letter in "xyz"))
    if command == "create":
        return {"command": command, "path": path, "file_text": text}
    if command == "str_replace":
        old = f"w{max(0, number - 1)}x"  # of the last command, if that wrote anything
        return {"command": command, "path": path, "old_str": old, "new_str": text}
    if command == "insert":
        return {"command": command, "path": path, "insert_line": line, "insert_text": text}
    if command == "rename":
        return {"command": command, "old_path": path, "new_path": other}
    return {"command": command, "path": path}


@settings(max_examples=examples(60, soak=1_000), deadline=None)
@given(st.lists(EDITS, max_size=12))
def test_files_are_what_files_on_a_disk_would_be(edits: list[Any]) -> None:
    """Any sequence of commands leaves the same files as Anthropic's own tool."""
    from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

    with TemporaryDirectory() as folder, incumbent.open(":memory:", settings=QUICK) as memory:
        theirs = BetaLocalFilesystemMemoryTool(folder)
        ours = IncumbentMemoryTool(memory, user_id="alice")
        for number, edit in enumerate(edits):
            step = command_of(edit, number)
            assert outcome(ours, step) == outcome(theirs, step), step
        root = Path(folder) / "memories"
        kept = {
            f"/memories/{file.relative_to(root).as_posix()}": file.read_text(encoding="utf-8")
            for file in root.rglob("*")
            if file.is_file()
        }
        assert ours._files.all() == kept


@pytest.mark.parametrize(
    "given",
    [
        {"command": "view", "path": ["/memories"]},
        {"command": "view"},
        {"command": "view", "path": None},
        {"command": "create", "path": CUSTOMER, "file_text": {"a": 1}},
        {"command": "str_replace", "path": CUSTOMER, "old_str": 4, "new_str": "5"},
        {"command": "insert", "path": CUSTOMER, "insert_line": "one", "insert_text": "a"},
        {"command": "rename", "old_path": CUSTOMER, "new_path": []},
        {"command": "burn"},
        {"command": ["view"], "path": CUSTOMER},
        {},
    ],
    ids=str,
)
def test_whatever_a_model_sends_it_is_told_what_is_wrong(
    tool: IncumbentMemoryTool, given: dict[str, Any]
) -> None:
    """As a tool's error, which it can read and mend; no file changes."""
    create(tool, CUSTOMER, "- size: 40 desks\n")
    with pytest.raises(ToolError, match=r"must be a|Unknown command"):
        tool.call(given)
    assert "40 desks" in view(tool, CUSTOMER, view_range=["a", None])
    assert view(tool, "/memories").count("\n") == 2
