"""The folder is the architecture: which package may import which, and who may read a clock."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "incumbent"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Parts of the package, and what each may import of ours besides itself: folders and modules by
# their names; "api" is incumbent/__init__.py.
ALLOWED = {
    "model": set(),
    "rules": {"model"},
    "settings": {"model", "search", "language", "reading", "telemetry"},
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
    "reading": {"model", "language", "search"},
    "turns": {
        *("model", "rules", "stores", "settings", "engine", "language", "reading"),
        *("search", "telemetry"),
    },
    "clock": set(),
    "resources": {
        *("model", "stores", "settings", "clock", "environment", "engine", "search", "language"),
        *("context", "composing", "telemetry", "audit", "reading", "turns"),
    },
    "listing": {
        *("model", "stores", "engine", "context", "composing", "audit", "resources", "telemetry"),
    },
    "session": {
        *("model", "stores", "engine", "context", "search", "composing", "telemetry"),
        *("resources", "listing", "reading", "turns"),
    },
    "memory": {
        *("model", "rules", "stores", "settings", "clock", "engine", "context", "search"),
        *("language", "composing", "telemetry", "audit", "resources", "session"),
        *("listing", "reading"),
    },
    "operations": {"model", "memory", "session"},
    "words": {"model", "context"},
    "client": {
        *("model", "settings", "clock", "environment", "context", "search", "language"),
        *("audit", "memory", "session", "operations", "turns"),
    },
    "opening": {"model", "stores", "settings", "clock", "reading", "memory", "client"},
    "api": {
        *("model", "settings", "context", "session", "memory", "search", "language"),
        *("audit", "opening", "reading", "turns"),
    },
    "aio": {
        *("model", "settings", "clock", "environment", "audit", "memory", "session", "opening"),
    },
    "compat": {
        *("model", "stores", "settings", "clock", "context", "language", "memory", "turns"),
        *("session", "opening"),
    },
    "integrations": {"model", "context", "memory", "session", "aio", "reading"},
    "testing": {"api", "model", "rules", "stores", "engine", "settings", "keys"},
}
INTERFACES = {"cli", "http", "inspector", "mcp", "proxy"}
# Who may not be imported from where, said once more as sentences.
FORBIDDEN = [
    ("model", {"rules", "stores", "engine", "context", "session", "memory", "settings"}),
    ("rules", {"stores", "engine", "context", "session", "memory", "settings"}),
    ("stores", {"rules", "engine", "session", "context", "memory"}),
    ("engine", {"session", "memory", "context"}),
    ("context", {"stores", "engine", "session", "memory", "search"}),
    ("search", {"rules", "engine", "context", "session", "memory", "settings"}),
    ("language", {"rules", "stores", "engine", "context", "session", "memory", "settings"}),
    ("reading", {"rules", "stores", "engine", "context", "session", "memory", "settings"}),
    ("turns", {"context", "session", "memory"}),
    ("listing", {"session", "memory", "client", "opening"}),
    ("resources", {"session", "memory", "client", "opening"}),
    ("session", {"memory", "client", "opening"}),
    ("memory", {"client", "opening", "operations"}),
    ("client", {"opening"}),
]


def part_of(path: Path) -> str:
    """The part a module belongs to: its folder, or its own name at the top."""
    inside = path.relative_to(PACKAGE)
    if len(inside.parts) > 1:
        return inside.parts[0]
    return "api" if inside.stem == "__init__" else inside.stem


@cache
def imports(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Everything that a module imports, wherever it does so. A file is parsed once."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything of ours that a module imports, wherever it does so."""
    folder = ("incumbent", *path.relative_to(PACKAGE).parts[:-1])
    for node in imports(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        else:
            base = folder[: len(folder) - node.level + 1] if node.level else ()
            name = ".".join((*base, *([node.module] if node.module else [])))
            # `from incumbent import session` names a module as much as `import incumbent.session`.
            yield from (
                (node.lineno, f"{name}.{alias.name}" if name == "incumbent" else name)
                for alias in node.names
            )


def ours(path: Path) -> Iterator[tuple[int, str]]:
    """(line, part) of what a module imports from other parts of the package."""
    for line, name in imported(path):
        steps = name.split(".")
        if steps[0] != "incumbent":
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


def graph() -> dict[str, set[str]]:
    """Every module of the package, and which others it imports, wherever and for whomever."""
    named = {module_name(path): path for path in MODULES}
    return {name: set(imports_of(path, named.keys())) - {name} for name, path in named.items()}


def module_name(path: Path) -> str:
    steps = ("incumbent", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(steps[:-1] if steps[-1] == "__init__" else steps)


def imports_of(path: Path, modules: Collection[str]) -> Iterator[str]:
    """The modules of ours that a module imports, also inside functions and for type checkers."""
    for node in imports(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        else:
            assert node.level == 0, f"{path}:{node.lineno}: name the package that is meant"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield from {whole} & set(modules) or {node.module or ""} & set(modules)


def circles(imports: Mapping[str, Collection[str]]) -> list[set[str]]:
    """The sets of modules that all lead to each other."""

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        ahead = list(imports[start])
        while ahead:
            name = ahead.pop()
            if name not in found:
                found.add(name)
                ahead.extend(imports[name])
        return found

    ways = {name: reached(name) for name in imports}
    found = {
        frozenset(other for other in ways[name] if name in ways[other])
        for name in imports
        if name in ways[name]
    }
    return [set(circle) for circle in found]


def test_no_modules_import_each_other() -> None:
    """Whoever reads a module never comes back to it on the way: not by an import inside a
    function, nor by one for type checkers."""
    assert circles(graph()) == []


def test_a_circle_is_found() -> None:
    """The check above would see one, of two modules or of several."""
    assert circles({"a": ["b"], "b": ["c"], "c": []}) == []
    assert circles({"a": ["b"], "b": ["a", "c"], "c": []}) == [{"a", "b"}]
    assert circles({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]}) == [{"a", "b", "c"}]


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


def test_nothing_imports_the_adapters() -> None:
    """Incumbent knows no framework: whoever has one imports the adapter for it."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in MODULES
        for line, name in ours(path)
        if name == "integrations"
    ]
    assert wrong == []


def test_the_kit_for_backends_is_not_used_by_the_engine() -> None:
    """`incumbent.testing` is for tests and for the demonstration, never for the product."""
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
    assert found == ["clock.py"]


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


def test_importing_incumbent_is_light() -> None:
    """`import incumbent` brings in neither the command line's packages nor the tokenizer."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import incumbent; "
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
