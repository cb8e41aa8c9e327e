"""The folder is the architecture: which package may import which, and who may read a clock."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "tenure"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Parts of the package, and what each may import of ours besides itself. "memory" and "session"
# here are the modules of those names; "api" is tenure/__init__.py.
ALLOWED = {
    "model": set(),
    "rules": {"model"},
    "settings": {"model", "search", "language", "telemetry"},
    "telemetry": {"model", "stores", "context"},
    "audit": {"model", "stores", "memory"},
    "environment": {"model"},
    "keys": {"model"},
    "stores": {"model"},
    "context": {"model", "rules"},
    "search": {"model", "stores"},
    "language": {"model", "search"},
    "engine": {"model", "rules", "stores", "settings"},
    "composing": {"model", "rules", "stores", "search", "engine", "context", "language"},
    "observing": {
        *("model", "rules", "stores", "settings", "engine", "language", "search", "telemetry")
    },
    "session": {
        *("model", "rules", "stores", "settings", "engine", "context", "memory", "search"),
        *("composing", "observing", "telemetry"),
    },
    "memory": {
        *("model", "rules", "stores", "settings", "engine", "environment", "session", "context"),
        *("search", "language", "observing", "telemetry", "audit", "client", "composing"),
    },
    "api": {
        *("model", "settings", "context", "session", "memory", "search", "observing", "language"),
        *("audit",),
    },
    "operations": {"api", "model", "memory", "session"},
    "client": {
        *("api", "model", "memory", "session", "settings", "context", "observing", "operations"),
        *("audit", "language"),
    },
    "aio": {"api", "model", "memory", "session", "settings", "environment", "audit"},
    "testing": {"api", "model", "rules", "stores", "engine", "settings", "keys"},
}
INTERFACES = {"cli", "http", "mcp"}
# Who may not be imported from where, said once more as sentences.
FORBIDDEN = [
    ("model", {"rules", "stores", "engine", "context", "session", "memory", "settings"}),
    ("rules", {"stores", "engine", "context", "session", "memory", "settings"}),
    ("stores", {"rules", "engine", "session", "context", "memory"}),
    ("engine", {"session", "memory", "context"}),
    ("context", {"stores", "engine", "session", "memory", "search"}),
    ("search", {"rules", "engine", "context", "session", "memory", "settings"}),
    ("language", {"rules", "stores", "engine", "context", "session", "memory", "settings"}),
    ("observing", {"context", "session", "memory"}),
]


def part_of(path: Path) -> str:
    """The part a module belongs to: its folder, or its own name at the top."""
    inside = path.relative_to(PACKAGE)
    if len(inside.parts) > 1:
        return inside.parts[0]
    return "api" if inside.stem == "__init__" else inside.stem


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything of ours that a module imports, wherever it does so."""
    folder = ("tenure", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else ()
            name = ".".join((*base, *([node.module] if node.module else [])))
            # `from tenure import session` names a module as much as `import tenure.session`.
            yield from (
                (node.lineno, f"{name}.{alias.name}" if name == "tenure" else name)
                for alias in node.names
            )


def ours(path: Path) -> Iterator[tuple[int, str]]:
    """(line, part) of what a module imports from other parts of the package."""
    for line, name in imported(path):
        steps = name.split(".")
        if steps[0] != "tenure":
            continue
        target = steps[1] if len(steps) > 1 else "api"
        known = (PACKAGE / target).is_dir() or (PACKAGE / f"{target}.py").exists()
        part = target if known else "api"
        if part != part_of(path):
            yield line, part


def test_there_is_something_to_check() -> None:
    """The checks below look at real modules of every part."""
    assert {part_of(path) for path in MODULES} >= ALLOWED.keys()


@pytest.mark.parametrize("part", ALLOWED)
def test_a_part_imports_only_what_it_may(part: str) -> None:
    """Imports point one way: each part uses only the parts it is built on."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in MODULES
        if part_of(path) == part
        for line, name in ours(path)
        if name not in ALLOWED[part]
    ]
    assert wrong == []


@pytest.mark.parametrize(("part", "never"), FORBIDDEN, ids=[part for part, _ in FORBIDDEN])
def test_the_table_itself_keeps_the_arrows(part: str, never: set[str]) -> None:
    """The table above cannot be widened past the sentences of the design."""
    assert ALLOWED[part].isdisjoint(never | INTERFACES | {"testing", "api"})


def test_nothing_imports_the_interfaces() -> None:
    """Interfaces parse, call and format; nothing else knows that they exist."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in MODULES
        if part_of(path) not in INTERFACES
        for line, name in ours(path)
        if name in INTERFACES
    ]
    assert wrong == []


def test_the_kit_for_backends_is_not_used_by_the_engine() -> None:
    """`tenure.testing` is for tests and for the demonstration, never for the product."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in MODULES
        if part_of(path) not in INTERFACES | {"testing"}
        for line, name in ours(path)
        if name == "testing"
    ]
    assert wrong == []


CLOCKS = {
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
    ("time", "time"),
    ("time", "time_ns"),
    ("time", "localtime"),
    ("time", "gmtime"),
}


def clock_readings(path: Path) -> Iterator[int]:
    """Lines where a module reads the wall clock. A stopwatch (`time.monotonic`) is not one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            owner = node.value
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            if (name, node.attr) in CLOCKS:
                yield node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            yield from (node.lineno for alias in node.names if ("time", alias.name) in CLOCKS)


def test_only_the_system_clock_reads_the_time() -> None:
    """Time is injected: outside the interfaces, one function reads the wall clock."""
    found = [
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if part_of(path) not in INTERFACES
        for _ in clock_readings(path)
    ]
    assert found == ["memory.py"]


def test_sql_reads_no_clock() -> None:
    """No statement asks the database for the time."""
    clock = re.compile(
        r"current_(time|date|timestamp)|\b(now|date|time|datetime|julianday|unixepoch|strftime)"
        r"\s*\(",
        re.IGNORECASE,
    )
    files = sorted(PACKAGE.rglob("*.sql"))
    assert files
    for file in files:
        statements = re.sub(r"--.*", "", file.read_text(encoding="utf-8"))
        assert clock.search(statements) is None, file.name


def test_importing_tenure_is_light() -> None:
    """`import tenure` brings in neither the command line's packages nor the tokenizer."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import tenure; "
        "heavy = {'typer', 'rich', 'click', 'splintr', 'numpy', 'onnxruntime', 'pydantic', "
        "'pydantic_ai', 'opentelemetry', 'prometheus_client'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(ROOT / "src")],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert done.stdout.strip() == "[]"
