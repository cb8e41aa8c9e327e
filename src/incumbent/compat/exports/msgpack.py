"""MessagePack, read as plain data: what a checkpoint of LangGraph is written in.

Nothing is built that the bytes ask for. Where they name a class and what to make it from, only what
it would be made from is read.
"""

from __future__ import annotations

import struct
from typing import Any

from incumbent.model.errors import InvalidInput

_DEEPEST = 100
_NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_SIZES = {1: ">B", 2: ">H", 4: ">I"}


def unpacked(data: bytes) -> Any:
    """The value that the bytes hold."""
    reader = _Unpacker(memoryview(data))
    try:
        return reader.value(0)
    except (struct.error, IndexError, UnicodeDecodeError, TypeError):
        raise InvalidInput("it is not MessagePack, or its end is missing") from None


class _Unpacker:
    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._place = 0

    def value(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise InvalidInput("it is nested too deeply")
        mark = self._data[self._place]
        self._place += 1
        if mark <= 0x7F:
            return mark
        if mark >= 0xE0:
            return mark - 0x100
        if mark in _CONSTANTS:
            return _CONSTANTS[mark]
        if mark in _NUMBERS:
            return self._number(_NUMBERS[mark])
        return self._composed(mark, depth)

    def _composed(self, mark: int, depth: int) -> Any:
        if mark <= 0x8F:
            return self._map(mark & 0x0F, depth)
        if mark <= 0x9F:
            return [self.value(depth + 1) for _ in range(mark & 0x0F)]
        if mark <= 0xBF:
            return self._text(mark & 0x1F)
        if 0xC4 <= mark <= 0xC6:
            return bytes(self._bytes(self._size(1 << (mark - 0xC4))))
        if 0xC7 <= mark <= 0xC9:
            return self._extension(self._size(1 << (mark - 0xC7)), depth)
        if 0xD4 <= mark <= 0xD8:
            return self._extension(1 << (mark - 0xD4), depth)
        if 0xD9 <= mark <= 0xDB:
            return self._text(self._size(1 << (mark - 0xD9)))
        if mark in (0xDC, 0xDD):
            return [self.value(depth + 1) for _ in range(self._size(2 << (mark - 0xDC)))]
        if mark in (0xDE, 0xDF):
            return self._map(self._size(2 << (mark - 0xDE)), depth)
        raise InvalidInput("it is not MessagePack")

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._bytes(struct.calcsize(form)))[0]

    def _size(self, width: int) -> int:
        size: int = self._number(_SIZES[width])
        return size

    def _bytes(self, size: int) -> memoryview:
        if size > len(self._data) - self._place:
            raise IndexError(size)
        found = self._data[self._place : self._place + size]
        self._place += size
        return found

    def _text(self, size: int) -> str:
        return bytes(self._bytes(size)).decode("utf-8", "surrogatepass")

    def _map(self, size: int, depth: int) -> dict[Any, Any]:
        return {self.value(depth + 1): self.value(depth + 1) for _ in range(size)}

    def _extension(self, size: int, depth: int) -> Any:
        """What an object would be made from: the third of module, class, arguments, method."""
        self._place += 1  # the kind of extension
        inner = _Unpacker(self._bytes(size))
        found = inner.value(depth + 1)
        is_object = isinstance(found, list) and len(found) > 2
        return found[2] if is_object else found
