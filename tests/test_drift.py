"""The pages name things that exist: modules, files, commands, options, settings, calls, paths.

A page that names something by a name it no longer has sends its reader to a place that is not
there. Decisions are left out: they tell of the day on which they were made.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

import incumbent
from incumbent.cli import app
from incumbent.cli.completion import Place, places
from incumbent.operations import OPERATIONS
from incumbent.reading.asked.config import LLM
from tests.pages import FENCE, ROOT
from tests.test_docs import GENERATED, PAGES, name_of

SOURCES = (ROOT / "src", ROOT / "evaluation")
LIVING = [page for page in PAGES if page.parent.name != "decisions"]
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FILES = ("py", "toml", "sql", "md", "css", "json", "txt", "svg")


def spans(page: Path) -> Iterator[str]:
    """The code within the sentences of a page."""
    yield from SPAN.findall(FENCE.sub("", page.read_text(encoding="utf-8")))


def commands_of(page: Path, program: str) -> Iterator[str]:
    """The command lines of a program on a page: within its sentences, and in its blocks."""
    yield from (span for span in spans(page) if span.startswith(f"{program} "))
    text = page.read_text(encoding="utf-8")
    yield from re.findall(rf"^\$ (?:[A-Z_]+=\S+ )*({program} .*)$", text, re.MULTILINE)


@cache
def source_text() -> str:
    """All that our code says, to look names up that are no names of Python."""
    found = [path for root in SOURCES for path in root.rglob("*") if path.suffix in (".py", ".sql")]
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(found))


def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    steps = name.split(".")
    for length in range(len(steps), 0, -1):
        try:
            found: Any = import_module(".".join(steps[:length]))
        except ModuleNotFoundError:
            continue
        try:
            for step in steps[length:]:
                found = getattr(found, step)
        except AttributeError:
            return False
        except ImportError:
            return True  # it is there, and says which package it needs
        return True
    return False


def is_known(name: str) -> bool:
    """Whether a dotted name is one of Python, the span of a call, or written out in our code: the
    name of a metric, a setting or a table of a database, a file."""
    last = name.partition(".")[2]
    is_call = hasattr(incumbent.Memory, last) or hasattr(incumbent.Session, last)
    return is_call or name in written_names() or resolves(name)


@cache
def written_names() -> set[str]:
    """The dotted names that our code has in quotation marks, and the tables of its schema."""
    tables = re.findall(r"\{SCHEMA\}\.(\w+)", source_text())
    quoted = re.findall(r"['\"](incumbent\.[\w.]+)['\"]", source_text())
    return {*quoted, *(f"incumbent.{table}" for table in tables)}


@pytest.mark.parametrize("page", LIVING, ids=name_of)
def test_dotted_names_exist(page: Path) -> None:
    """A name such as `incumbent.stores.port` is a module, something in one, or a name we use."""
    named = {
        found for span in spans(page) for found in re.findall(r"^incumbent(?:_eval)?[\w.]*", span)
    }
    assert [name for name in sorted(named) if "." in name and not is_known(name.rstrip("."))] == []


def is_there(path: str, page: Path) -> bool:
    """Whether a path is a file or folder of the repository, of the package, or beside the page. A
    module may be named without its ending."""
    homes = (ROOT, *(root / name for root, name in zip(SOURCES, ("incumbent", ""), strict=True)))
    homes = (*homes, page.parent)
    return any((home / path).exists() or (home / f"{path}.py").exists() for home in homes)


def is_hidden_elsewhere(path: str) -> bool:
    """Whether it is in a folder such as `.cursor`, which other programs have in other places."""
    folder = path.partition("/")[0]
    return folder.startswith(".") and not (ROOT / folder).exists()


def paths_of(page: Path) -> set[str]:
    """What reads like a path of ours: a folder that we have first, or a file by its ending."""
    parts = {path.name for home in (ROOT, ROOT / "src" / "incumbent") for path in home.iterdir()}
    parts -= {"build", "dist"}  # made by a command, or not yet
    found = set()
    for span in spans(page):
        match = re.fullmatch(r"([\w.-]+)(?:/[\w.-]+)*/?(?:::\w+)*", span)
        ending = span.rpartition(".")[2].partition("::")[0]
        if match and "/" in span and (match[1] in parts or ending in FILES):
            found.add(span.partition("::")[0])
    return found


@pytest.mark.parametrize("page", LIVING, ids=name_of)
def test_paths_exist(page: Path) -> None:
    """A path such as `rules/supersession.py` leads to something."""
    ours = {path for path in paths_of(page) if not is_hidden_elsewhere(path)}
    assert sorted(path for path in ours if not is_there(path, page)) == []


def test_the_architecture_names_every_folder() -> None:
    """docs/architecture.md has a line for every folder of the package, and every module at the top
    that people call is named."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = {path.parent.name for path in (ROOT / "src" / "incumbent").glob("*/*.py")}
    rows = set(re.findall(r"^- `(\w+)/`: ", text, re.MULTILINE))
    assert folders - {"memory", "session"} <= rows
    assert len(paths_of(ROOT / "docs" / "architecture.md")) > 40


@cache
def tree() -> dict[tuple[str, ...], Place]:
    """Every command of the command line, by its words."""
    return {place.path: place for place in places(typer.main.get_command(app))}


def options_of(place: Place) -> set[str]:
    return {name for option in place.options for name in option.names} | {"--help", "-h"}


def wrong_in(command: str) -> list[str]:
    """What a command line says that the program does not know."""
    cut = re.split(r"[|;&]| #", command)[0].replace("…", "")
    words = shlex.split(cut)[1:]
    path: tuple[str, ...] = ()
    while words and (*path, words[0]) in tree():
        path = (*path, words.pop(0))
    if words and tree()[path].commands and not words[0].startswith("-"):
        return [f"no command {words[0]!r} in {command!r}"]
    given = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    known = options_of(tree()[path]) | options_of(tree()[()])
    return [f"no option {option} in {command!r}" for option in given if option not in known]


@pytest.mark.parametrize("page", [*LIVING, GENERATED], ids=name_of)
def test_commands_and_options_exist(page: Path) -> None:
    """Every command line of a page has a command and options that the program knows."""
    assert [wrong for line in commands_of(page, "incumbent") for wrong in wrong_in(line)] == []


@pytest.mark.parametrize("page", LIVING, ids=name_of)
def test_options_by_themselves_exist(page: Path) -> None:
    """An option that a page names alone is one of some command, or of a benchmark."""
    known = {name for place in tree().values() for name in options_of(place)}
    for script in (ROOT / "benchmarks").rglob("*.py"):
        known |= set(re.findall(r"\"(--[a-z-]+)\"", script.read_text(encoding="utf-8")))
    named = {span.split()[0] for span in spans(page) if re.match(r"--[a-z]", span)}
    assert sorted(named - known) == []


@pytest.mark.parametrize("page", LIVING, ids=name_of)
def test_make_targets_exist(page: Path) -> None:
    """Every `make ...` of a page is a target of the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {
        name for line in re.findall(r"^\.PHONY: (.*)$", makefile, re.M) for name in line.split()
    }
    named = {line.split()[1] for line in commands_of(page, "make")}
    assert sorted(named - targets) == []


@pytest.mark.parametrize("page", LIVING, ids=name_of)
def test_settings_exist(page: Path) -> None:
    """Every setting that a page names, of a memory or of a model, is a field there."""
    for kind in (incumbent.Settings, LLM):
        fields = {field.name for field in dataclasses.fields(kind)}
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(rf"\b{kind.__name__}\.(\w+)", text))
        named |= set(re.findall(rf"\b{kind.__name__}\((\w+)=", text))
        assert sorted(named - fields) == []


@pytest.mark.parametrize("page", LIVING, ids=name_of)
def test_calls_exist(page: Path) -> None:
    """`memory.x` and `session.x` are calls or attributes of those; a session has also the fields
    of a request to the service."""
    with incumbent.open(":memory:") as memory:
        owners = {"memory": memory, "session": memory.session(user_id="someone")}
        fields = {"user_id", "session_id", "id"}
        named = {
            match.groups()
            for span in spans(page)
            if (match := re.match(r"(memory|session)\.([a-z]\w*)", span))
        }
        missing = [
            f"{owner}.{name}"
            for owner, name in sorted(named)
            if not hasattr(owners[owner], name) and name not in fields
        ]
    assert missing == []


@pytest.mark.parametrize("page", LIVING, ids=name_of)
def test_paths_of_the_service_exist(page: Path) -> None:
    """Every `/v1/...` of a page is an operation or a stream."""
    known = {f"/v1/{operation.path}" for operation in OPERATIONS}
    known |= set(re.findall(r"\"(/v1/[a-z/]+)\"", source_text()))
    named = set(re.findall(r"/v1/[a-z_/]+[a-z]", page.read_text(encoding="utf-8")))
    assert sorted(named - known) == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("incumbent write key value --user alice", 0),
        ("incumbent wrote key value", 1),
        ("incumbent write key value --usr alice", 1),
        ("incumbent db migrate", 0),
        ("incumbent db migrated", 1),
    ],
)
def test_a_wrong_command_would_be_found(line: str, wrong: int) -> None:
    """The check of command lines tells right from wrong."""
    assert len(wrong_in(line)) == wrong


def test_a_wrong_name_would_be_found() -> None:
    """So do the checks of names and paths."""
    assert resolves("incumbent.stores.port")
    assert resolves("incumbent.testing.StoreContract")
    assert not is_known("incumbent.interfaces.mcp")
    assert is_there("rules/supersession.py", ROOT / "README.md")
    assert not is_there("rules/superseding.py", ROOT / "README.md")
