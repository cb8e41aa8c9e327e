"""What docs/mcp.md says is so: its settings are well formed, and its table has every tool."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import typer

from incumbent.cli import app
from incumbent.cli.completion import places
from incumbent.mcp.tools import TOOLS
from tests.pages import ROOT, blocks

PAGE = ROOT / "docs" / "mcp.md"


def settings() -> Iterator[Any]:
    """The settings for clients on the page."""
    for block in blocks(PAGE):
        if block.language == "" and block.text.startswith("{"):
            yield json.loads(block.text)
        elif block.language == "" and block.text.startswith("["):
            yield tomllib.loads(block.text)


def test_settings_for_clients_name_options_that_exist() -> None:
    """Every client is told to run a command that the command line understands."""
    (place,) = [one for one in places(typer.main.get_command(app)) if one.path == ("mcp",)]
    servers = [
        one for setting in settings() for group in setting.values() for one in group.values()
    ]
    local = [one for one in servers if "command" in one]
    assert len(local) >= 5
    for server in local:
        first, *given = server["args"]
        assert (server["command"], first) == ("incumbent", "mcp")
        assert set(given[::2]) <= set(place.valued)
    assert all("Authorization" in one["headers"] for one in servers if "url" in one)


def test_the_table_has_every_tool_with_what_it_takes() -> None:
    """A row for each tool, in order, that names all of its arguments."""
    page = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    assert [name for name, _ in rows] == [tool.name for tool in TOOLS]
    for tool, (_, takes) in zip(TOOLS, rows, strict=True):
        assert set(re.findall(r"`(\w+)`", takes)) == set(tool.form.model_fields)
