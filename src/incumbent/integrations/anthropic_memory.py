"""Anthropic's memory tool (`memory_20250818`) on Incumbent: the model's files are kept in a memory,
and a value that was corrected is cut out of every file when it is viewed.

    from incumbent.integrations.anthropic_memory import IncumbentMemoryTool

    tool = IncumbentMemoryTool(memory, user_id="alice")
    client.beta.messages.tool_runner(model=..., messages=[...], tools=[tool])

What counts as dead is what people corrected in talk, and what the model replaced in a file.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from typing import Any

from incumbent.context.quotes import GONE
from incumbent.integrations.edits import LABEL, Correction, changes
from incumbent.memory import Memory
from incumbent.model.errors import IncumbentError
from incumbent.model.fact import Source
from incumbent.session import Session

try:
    from anthropic.lib.tools import (
        BetaAbstractMemoryTool,
        BetaAsyncAbstractMemoryTool,
        ToolError,
    )
    from anthropic.types import beta
except ImportError as error:
    raise ImportError(
        f"Anthropic's memory tool needs its package ({error}); install it with: "
        f"pip install 'incumbent[anthropic]'"
    ) from error

__all__ = ["AsyncIncumbentMemoryTool", "IncumbentMemoryTool"]

_ROOT = "/memories"
_FILE = "memory_file"
"""The key of a file; its subject is the path."""
_SEES_FILES = "memory_tool:files"
"""The permission that files ask for, so that no context shows them."""
_TASK = "memory_tool"
"""The task that corrections in files belong to."""
_BY_MODEL = Source(name="memory_tool", by_machine=True)
_AT_A_TIME = 5_000
_FIELDS: dict[str, dict[str, type]] = {
    "view": {"path": str},
    "create": {"path": str, "file_text": str},
    "str_replace": {"path": str, "old_str": str, "new_str": str},
    "insert": {"path": str, "insert_line": int, "insert_text": str},
    "delete": {"path": str},
    "rename": {"old_path": str, "new_path": str},
}
"""The commands, and what each needs. Nobody has looked at what a model sends as these."""


class _Files:
    """The files of one person. Calls take turns: an edit reads a file and writes it."""

    def __init__(self, memory: Memory, user_id: str, identity: dict[str, Any]) -> None:
        who = {"user_id": user_id, "session_id": _TASK, **identity}
        permissions = (*who.pop("permissions", ()), _SEES_FILES)
        self._shelf: Session = memory.session(**who, permissions=permissions)
        self._reader: Session = memory.session(**who, permissions=permissions[:-1], task_id=_TASK)
        self.turn = threading.RLock()

    def all(self) -> dict[str, str]:
        """Every file, by its path and in order."""
        found = {fact.subject or "": str(fact.value) for fact in self._shelf.facts(_FILE)}
        return dict(sorted(found.items()))

    def text(self, path: str) -> str | None:
        """A file as it was written; None if there is none."""
        found = self._shelf.current(_FILE, path)
        return None if found is None else str(found)

    def write(self, path: str, text: str) -> None:
        self._shelf.write(_FILE, text, subject=path, requires=[_SEES_FILES], source=_BY_MODEL)

    def remove(self, path: str) -> None:
        self._shelf.retract(_FILE, "deleted by the model", subject=path)

    def shown(self, text: str) -> str:
        """A text without what no longer holds; its lines stay where they are."""
        lines = text.split("\n")
        for start in range(0, len(lines), _AT_A_TIME):
            part = lines[start : start + _AT_A_TIME]
            lines[start : start + _AT_A_TIME] = self._guarded(part)
        return "\n".join(lines)

    def _guarded(self, lines: Sequence[str]) -> Iterator[str]:
        guarded = self._reader.guard([{"role": "assistant", "content": one} for one in lines])
        gone = {one.index for one in guarded.account if one.outcome == "left out"}
        left = iter(guarded.messages)
        for number, line in enumerate(lines):
            yield f"{self._name_of(line)}{GONE}" if number in gone else next(left)["content"]

    def _name_of(self, line: str) -> str:
        """The name of what a line tells, unless that is dead, too."""
        label = LABEL.match(line)
        told = [{"role": "assistant", "content": label.group()}] if label else []
        return label.group() if label and not self._reader.guard(told).account else ""

    def correct(self, path: str, change: Correction) -> None:
        """Put on record that one value replaced another in a file."""
        key = self._matter(path, change)
        if self._is_put_back(path, key, change.after):
            return
        for value in (change.before, change.after):
            self._reader.write(
                key, value, subject=path, scope="task", scope_id=_TASK, source=_BY_MODEL
            )

    def _matter(self, path: str, change: Correction) -> str:
        """The key of a value in a file. Two lines that begin alike are two matters: the one must
        not replace the other."""
        more = (f"{change.key}.v{number}" for number in count(2))
        keys = chain([change.key], more)
        return next(k for k in keys if self._reader.current(k, path) in (None, change.before))

    def _is_put_back(self, path: str, key: str, value: str) -> bool:
        """Undo the corrections that a later one takes back, so that the value is dead no more."""
        past = self._reader.history(key, path)
        first = next((fact for fact in past if fact.value == value), None)
        for _ in past:
            if first is None or first.superseded_by is None:
                break
            after = first.superseded_by
            verdicts = self._reader.explain(after).verdicts
            made = [v for v in verdicts if v.fact_id == after and v.undone_by is None]
            if not made:
                break
            self._reader.undo(made[0], reason="the model put it back")
            first = self._reader.get(first.id)
        return first is not None and first.is_valid


class IncumbentMemoryTool(BetaAbstractMemoryTool):
    """Anthropic's memory tool, with its files in a memory of Incumbent.

    Takes a memory, whose files they are, and what else `memory.session` takes to say who that is.
    Answers are worded as those of Anthropic's own tool for files.
    """

    def __init__(
        self, memory: Memory, *, user_id: str, cache_control: Any = None, **identity: Any
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._files = _Files(memory, user_id, identity)

    def execute(self, command: Any) -> Any:
        """Carry out a command. What the memory refuses is told to the model."""
        _check_fields(command)
        try:
            with self._files.turn:
                return super().execute(command)
        except IncumbentError as error:
            raise ToolError(str(error)) from error

    def view(self, command: beta.BetaMemoryTool20250818ViewCommand) -> str:
        """List a folder, or show a file with line numbers, without what no longer holds."""
        path = _checked(command.path)
        text = self._files.text(path)
        if text is None:
            return self._listed(path, command.path)
        lines = self._files.shown(text).split("\n")
        first, last = _range(command.view_range, len(lines))
        told = _numbered(lines[first:last], first + 1)
        return f"Here's the content of {command.path} with line numbers:\n{told}"

    def _listed(self, path: str, asked: str) -> str:
        inside = {p[len(path) + 1 :]: t for p, t in self._files.all().items() if _is_in(p, path)}
        if not inside and path != _ROOT:
            raise ToolError(f"The path {asked} does not exist. Please provide a valid path.")
        sizes = {"": 0}
        for name, text in inside.items():
            parts = name.split("/")
            if not any(part.startswith(".") for part in parts):
                for depth in range(min(2, len(parts)) + 1):
                    shown = "/".join(parts[:depth]) + ("/" if 0 < depth < len(parts) else "")
                    sizes[shown] = sizes.get(shown, 0) + len(text.encode("utf-8"))
        root = asked.rstrip("/")
        ordered = sorted(sizes.items(), key=lambda one: one[0].rstrip("/").split("/"))
        lines = [f"{_size(n)}\t{f'{root}/{name}' if name else asked}" for name, n in ordered]
        head = "Here're the files and directories up to 2 levels deep in"
        return f"{head} {asked}, excluding hidden items:\n" + "\n".join(lines)

    def create(self, command: beta.BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file that is not there yet."""
        path = _checked(command.path)
        if path == _ROOT or self._files.text(path) is not None:
            raise ToolError(f"File {command.path} already exists")
        self._check_free(path, command.path)
        self._files.write(path, command.file_text)
        return f"File created successfully at: {command.path}"

    def _check_free(self, path: str, asked: str) -> None:
        for one in self._files.all():
            if _is_in(one, path) or _is_in(path, one):
                raise ToolError(f"{asked} cannot be a file: {one} is one already")

    def str_replace(self, command: beta.BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text in a file. A value that is replaced by another is dead from then on, in
        every file."""
        path, text = self._existing(command.path)
        if command.old_str not in text:
            text = self._files.shown(text)  # the model may quote what it was shown
        if not command.old_str or text.count(command.old_str) != 1:
            raise ToolError(_not_replaced(command.old_str, command.path, text))
        place = text.index(command.old_str)
        made = text.replace(command.old_str, command.new_str)
        self._files.write(path, made)
        for change in changes(text, place, command.old_str, command.new_str):
            # What the file still says elsewhere, or says with more beside it, is not dead.
            if not re.search(rf"(?<!\w){re.escape(change.before)}(?!\w)", made, re.IGNORECASE):
                self._files.correct(path, change)
        lines = self._files.shown(made).split("\n")
        changed = text[:place].count("\n")
        first = max(0, changed - 2)
        told = _numbered(lines[first : changed + 3], first + 1)
        head = "The memory file has been edited. Here is the snippet showing the change"
        return f"{head} (with line numbers):\n{told}"

    def insert(self, command: beta.BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text after a line."""
        path, text = self._existing(command.path)
        lines = text.removesuffix("\n").split("\n") if text else []
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        self._files.write(path, "\n".join(lines).removesuffix("\n") + "\n")
        return f"The file {command.path} has been edited."

    def delete(self, command: beta.BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file or a folder. Its history stays; `memory.forget` erases for good."""
        path = _checked(command.path)
        if path == _ROOT:
            raise ToolError("Cannot delete the /memories directory itself")
        doomed = self._under(path)
        if not doomed:
            raise ToolError(f"The path {command.path} does not exist")
        for one in doomed:
            self._files.remove(one)
        return f"Successfully deleted {command.path}"

    def rename(self, command: beta.BetaMemoryTool20250818RenameCommand) -> str:
        """Rename or move a file or a folder."""
        old, new = _checked(command.old_path), _checked(command.new_path)
        if old == _ROOT:
            raise ToolError("Cannot rename the /memories directory itself")
        if new == _ROOT or self._under(new):
            raise ToolError(f"The destination {command.new_path} already exists")
        moved = self._under(old)
        if not moved:
            raise ToolError(f"The path {command.old_path} does not exist")
        if _is_in(new, old):
            raise ToolError(f"Cannot move {command.old_path} into itself")
        self._check_free(new, command.new_path)
        for one, text in moved.items():
            self._files.remove(one)
            self._files.write(new + one[len(old) :], text)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Delete every file."""
        with self._files.turn:
            list(map(self._files.remove, self._files.all()))
        return "All memory cleared"

    def _under(self, path: str) -> dict[str, str]:
        return {p: t for p, t in self._files.all().items() if p == path or _is_in(p, path)}

    def _existing(self, asked: str) -> tuple[str, str]:
        path = _checked(asked)
        text = self._files.text(path)
        if text is None:
            if path == _ROOT or self._under(path):
                raise ToolError(f"The path {asked} is not a file.")
            raise ToolError(f"The path {asked} does not exist. Please provide a valid path.")
        return path, text


class AsyncIncumbentMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same tool for an async client. Each command is carried out on a thread."""

    def __init__(
        self, memory: Memory, *, user_id: str, cache_control: Any = None, **identity: Any
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._plain = IncumbentMemoryTool(memory, user_id=user_id, **identity)

    async def execute(self, command: Any) -> Any:
        """Carry out a command."""
        return await asyncio.to_thread(self._plain.execute, command)

    async def view(self, command: Any) -> Any:
        """See `IncumbentMemoryTool`; so for the other commands."""
        return await self.execute(command)

    create = str_replace = insert = delete = rename = view

    async def clear_all_memory(self) -> Any:
        """Delete every file."""
        return await asyncio.to_thread(self._plain.clear_all_memory)


def _check_fields(command: Any) -> None:
    name = getattr(command, "command", None)
    if not isinstance(name, str) or name not in _FIELDS:
        raise ToolError(f"Unknown command: {name!r:.80}. There are {', '.join(_FIELDS)}")
    for field, kind in _FIELDS[name].items():
        if type(given := getattr(command, field, None)) is not kind:
            told = "a text" if kind is str else "a whole number"
            raise ToolError(f"`{field}` of {name} must be {told}, got: {given!r:.80}")


def _checked(path: str) -> str:
    """A path within /memories, in one spelling."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not path.startswith(_ROOT) or not parts or parts[0] != _ROOT[1:]:
        raise ToolError(f"Path must start with /memories, got: {path}")
    if ".." in parts:
        raise ToolError(f"Path {path} would escape /memories directory")
    return "/" + "/".join(parts)


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")


def _range(asked: Sequence[int] | None, lines: int) -> tuple[int, int]:
    if not isinstance(asked, list) or [type(one) for one in asked] != [int, int]:
        return 0, lines
    return max(1, asked[0]) - 1, lines if asked[1] == -1 else asked[1]


def _numbered(lines: Iterable[str], first: int) -> str:
    return "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(lines, start=first))


def _size(length: int) -> str:
    size, units = float(length), ["B", "K", "M", "G"]
    while size >= 1024 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{int(size)}{units[0]}" if size == int(size) else f"{size:.1f}{units[0]}"


def _not_replaced(old: str, path: str, text: str) -> str:
    starts = [found.start() for found in re.finditer(re.escape(old), text)] if old else []
    told = "No replacement was performed"
    if not starts:
        return f"{told}, old_str `{old}` did not appear verbatim in {path}."
    lines = ", ".join(str(text[:start].count("\n") + 1) for start in starts)
    several = f"Multiple occurrences of old_str `{old}` in lines: {lines}"
    return f"{told}. {several}. Please ensure it is unique"
