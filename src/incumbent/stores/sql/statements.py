"""Named statements: every backend keeps its SQL in a file, and fills in lists of columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources.abc import Traversable

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)


def named(file: Traversable) -> Mapping[str, str]:
    """The statements of a file by name, without the comments under it."""
    parts = _NAME.split(file.read_text(encoding="utf-8"))
    return {
        name: _COMMENT.sub("", body).strip().rstrip(";")
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def migrations_in(folder: Traversable) -> list[tuple[int, str]]:
    """The migrations of a folder in order, each with the schema version it leads to."""
    found = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(int(name[:4]), (folder / name).read_text(encoding="utf-8")) for name in found]
