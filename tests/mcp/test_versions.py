"""The package `mcp` in any of its versions that the extra allows.

`make mcp` sets INCUMBENT_TEST_MCP_PYTHON: servers that are processes then run on the oldest of
them, and are asked by the newest client. What is here goes over the wire, past any client.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, MCPError

import incumbent
from tests.conftest import QUICK
from tests.mcp.clients import served, stdio, talk, text_of, with_key
from tests.patience import PATIENCE
from tests.service.running import PLAIN, a_key, problem

ROOT = Path(__file__).parents[2]
HALF = "\\ud800"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "agent.db"


class Line:
    """A server over the standard streams, spoken to line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out = process.stdin, process.stdout

    def send(self, text: str) -> None:
        self._in.write(text + "\n")
        self._in.flush()

    def ask(self, text: str) -> Any:
        """Send a message; what comes back."""
        self.send(text)
        return json.loads(self._out.readline())


@contextmanager
def connected(db: Path) -> Iterator[Line]:
    """A server that has been greeted."""
    started = stdio(db)
    process = subprocess.Popen(
        [started.command, *started.args],
        env=started.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    try:
        line = Line(process)
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        told = line.ask(request("initialize", **hello))
        assert told["result"]["serverInfo"]["name"] == "incumbent"
        assert told["result"]["serverInfo"]["version"] == incumbent.__version__
        line.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        yield line
    finally:
        process.stdin.close()  # type: ignore[union-attr]
        assert process.wait(PATIENCE) == 0
        process.stdout.close()  # type: ignore[union-attr]


def request(method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})


@pytest.mark.slow
def test_what_cannot_be_understood_is_answered(db: Path) -> None:
    """Half of a character, a wrong call and an unknown resource each get an answer with the id of
    the request, and the server goes on."""
    with connected(db) as line:
        half = request("tools/call", name="remember", arguments={"text": "HALF"})
        told = line.ask(half.replace("HALF", HALF))
        assert (told["id"], told["result"]["isError"]) == (7, True)
        told = line.ask(request("prompts/get", name="HALF").replace("HALF", HALF))
        assert (told["id"], told["error"]["code"]) == (7, -32602)
        told = line.ask(request("resources/read", uri="incumbent://nothing/here"))
        assert (told["id"], told["error"]["code"]) == (7, -32602)
        assert "there is no resource" in told["error"]["message"]
        told = line.ask(request("prompts/get", name="nonsense"))
        assert told["error"]["code"] == -32602
        said = {"text": "My cup is red."}
        told = line.ask(request("tools/call", name="remember", arguments=said))
        assert "isError" not in told["result"] or told["result"]["isError"] is False
        assert told["result"]["structuredContent"]["decisions"]
        line.ask(request("tools/call", name="remember", arguments={"key": "city", "value": "Bern"}))
        told = line.ask(
            request(
                "completion/complete",
                ref={"type": "ref/resource", "uri": "incumbent://chains/{key}"},
                argument={"name": "key", "value": ""},
            )
        )
        assert told["result"]["completion"] == {
            "values": ["city"],
            "total": 1,
            "hasMore": False,
        }


@pytest.mark.slow
def test_over_http_every_request_shows_its_key(db: Path, tmp_path: Path) -> None:
    """Without one nobody gets in; with one, a person is offered what it is good for."""
    with incumbent.open(db, settings=QUICK) as memory:
        reader = a_key(memory, "read", user_id="bob")
    with served(db, tmp_path) as running:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        problem(httpx.post(running.address, json=message, **PLAIN), 401)

        async def look(client: Client) -> list[str]:
            refused = await client.call_tool("remember", {"text": "My cup is red."})
            assert refused.is_error
            assert "may only read" in text_of(refused)
            with pytest.raises(MCPError, match="no fact with id"):
                await client.read_resource("incumbent://facts/nothing")
            return [tool.name for tool in (await client.list_tools()).tools]

        assert "remember" not in talk(with_key(running.address, reader), look)
        assert running.stop() == 0


def test_one_module_alone_knows_the_package() -> None:
    """All else is spared its versions."""
    source = ROOT / "src" / "incumbent"
    named = {
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if re.match(r"mcp(_types)?\b", _imported(node))
    }
    assert named == {"mcp/package.py"}


def _imported(node: ast.AST) -> str:
    if isinstance(node, ast.ImportFrom):
        return node.module or ""
    if isinstance(node, ast.Import):
        return node.names[0].name
    return ""


def test_nothing_but_its_own_extra_asks_for_the_package() -> None:
    """An agent's environment takes the rest of Incumbent without it, and `make mcp` tests the
    oldest version that the extra allows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asking = {
        name: [one for one in needs if re.match(r"mcp\b", one)]
        for name, needs in project["optional-dependencies"].items()
    }
    assert {name for name, found in asking.items() if found} == {"mcp", "dev"}
    assert not any(re.match(r"mcp\b", one) for one in project["dependencies"])
    (oldest,) = asking["mcp"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    tried = re.search(r"^MCP \?= ([\d.]+)$", makefile, re.MULTILINE)
    assert tried is not None
    assert tried[1].startswith(oldest.removeprefix("mcp>="))


def test_the_server_takes_nothing_that_only_a_service_takes() -> None:
    """The packages for metrics are in another extra."""
    program = (
        "import sys\n"
        "sys.modules['prometheus_client'] = None\n"
        "import incumbent.mcp.http_server, incumbent.mcp.stdio\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=PATIENCE)
