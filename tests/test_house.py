"""The house: names, sizes and places that a newcomer can rely on."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = (ROOT / "src" / "incumbent", ROOT / "evaluation" / "incumbent_eval")
MODULES = [path for package in PACKAGES for path in sorted(package.rglob("*.py"))]
LONGEST = 400
# Longer than that, and why.
LONG: dict[str, str] = {}
# The reading half: its own words for language are many, and it is looked through by itself.
READING = ("language", "observing", "reading", "turns")


def name_of(path: Path) -> str:
    """A module as people name it."""
    base = next(package.parent for package in PACKAGES if package in path.parents)
    return path.relative_to(base).as_posix()


def is_reading(path: Path) -> bool:
    return name_of(path).split("/")[1] in READING


def test_no_class_name_exists_twice() -> None:
    """One word, one meaning: whoever looks a class up finds one."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in MODULES:
        if not is_reading(path):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    found[node.name].append(name_of(path))
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_a_module_is_read_in_one_sitting() -> None:
    """Under 400 lines; exceptions are listed with a reason, and are taken off the list again."""
    lengths = {
        name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES
    }
    assert {name for name, length in lengths.items() if length > LONGEST} == LONG.keys()


def compared_ranks(path: Path) -> Iterator[int]:
    """The lines where a module compares ranks of authority by itself."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare):
            inside = (*ast.walk(node.left), *(n for one in node.comparators for n in ast.walk(one)))
            if any(isinstance(one, ast.Attribute) and one.attr == "rank" for one in inside):
                yield node.lineno


def test_ranks_are_compared_in_one_place() -> None:
    """`Ladder.outranks` decides; nobody else has to know which end of the ladder is up."""
    found = [
        f"{name_of(path)}:{line}"
        for path in MODULES
        if not is_reading(path) and name_of(path) != "incumbent/model/authority.py"
        for line in compared_ranks(path)
    ]
    assert found == []
