"""The position: how far a receiver has got, kept in a file that a killed process leaves whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from incumbent.audit.entries import AuditEntry
from incumbent.model.errors import InvalidInput
from incumbent.stores.port import Store

try:
    import fcntl
except ImportError:  # Windows has no such locks; there two senders are for people to prevent
    fcntl = None  # type: ignore[assignment]

_FORMAT = "incumbent-audit-position"


class AuditPosition(NamedTuple):
    """The last entry that was delivered: its number, and its id to know the log by."""

    organization: str
    seq: int
    id: str | None


class PositionFile:
    """A file with a position. It is replaced whole and synced before the next entry goes out."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> AuditPosition | None:
        """The position, or None where the file does not exist yet."""
        try:
            found: Any = json.loads(self.path.read_bytes())
            if found["format"] != _FORMAT:
                raise ValueError("another format")
            position = AuditPosition(found["organization"], found["seq"], found["id"])
            if type(position.seq) is not int or position.seq < 0:
                raise ValueError("no number")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InvalidInput(f"cannot read {self.path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError):
            raise InvalidInput(
                f"{self.path} holds no position of an audit stream; name another file"
            ) from None
        return position

    def write(self, position: AuditPosition) -> None:
        """Keep a position, durably."""
        text = json.dumps({"format": _FORMAT, **position._asdict()}) + "\n"
        partial = self.path.with_name(f"{self.path.name}.partial")
        try:
            with partial.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, self.path)
            _sync_folder(self.path.parent)
        except OSError as error:
            raise InvalidInput(f"cannot write {self.path}: {error.strerror}") from None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep others from sending from the same position; a killed process lets go by itself."""
        beside = self.path.with_name(f"{self.path.name}.lock")
        try:
            descriptor = os.open(beside, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise InvalidInput(f"cannot write {beside}: {error.strerror}") from None
        try:
            if fcntl is not None:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    raise InvalidInput(
                        f"another process sends from {self.path}; end it, or name another file"
                    ) from None
            yield
        finally:
            os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system can; the rename is there after a kill in any case
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def position_of(entry: AuditEntry) -> AuditPosition:
    """The position right after an entry."""
    return AuditPosition(entry.organization, entry.seq, entry.id)


def check_position(store: Store, organization: str, position: AuditPosition) -> None:
    """Refuse a position of another log: going on from it would skip what this one has."""
    if position.organization != organization:
        raise InvalidInput(
            f"the position is one of organization {position.organization!r}, not "
            f"{organization!r}; name another file"
        )
    if position.seq == 0 or position.id is None:
        return
    with store.read(organization) as reader:
        found = reader.log(position.seq - 1, 1)
    if not found or found[0].id != position.id:
        raise InvalidInput(
            f"entry {position.seq:,} of the log is not the one that was delivered: the store was "
            f"restored or is another one; remove the file and say where to begin with after"
        )
