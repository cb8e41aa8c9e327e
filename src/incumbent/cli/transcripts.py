"""Transcripts: conversations as people keep them in files, turn by turn.

A file has a turn on each line (JSON Lines), or is one JSON document: an array of turns, or an
object with `messages`. Where lines or elements have `messages`, each is a conversation of its own.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from incumbent.language.speakers import is_machine
from incumbent.model.errors import InvalidInput
from incumbent.turns.transcripts import turn_arguments

STDIN = "-"
_LONGEST_LINE = 32 * 1024 * 1024
"""The length of the longest line in a transcript. A longer one is not read into memory."""
_LONGEST_NAME = 100
_PORTION = 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_DIGITS = 4
"""Digits of a digest: enough to tell turns apart, too few to confirm a guess at a forgotten
text."""
_DOCUMENT = "the document"
_MOST_OPENING = 100
"""The most turns that are searched for the first that distinguishes a conversation."""
_TEXTS = ("content", "text", "message")


class TranscriptRecord(NamedTuple):
    """A record of a file, or the error in it."""

    place: str
    """Its place in the file: "line 3", "turn 3", "line 3, message 2"."""
    number: str
    """The place in short, for refs."""
    record: Any = None
    trouble: str | None = None


@dataclass(frozen=True)
class TranscriptConversation:
    """A conversation of a file. Its records are read on demand, once."""

    file: str
    session_id: str
    """Made of the file's name, the place in it and the beginning of the conversation. It stays the
    same when the conversation grows or lies in another folder."""
    records: Iterator[TranscriptRecord]


class TranscriptFile:
    """A file that was opened."""

    def __init__(self, file: str, stream: IO[bytes], unit: str = "turn") -> None:
        """`unit` is what an element of a document is called."""
        self.name = _name_of(file)
        self._unit = unit
        self.total: int | None = None
        """The number of turns, as far as it is known once reading has begun."""
        self._stream = stream if stream.seekable() else io.BytesIO(stream.read())
        self._start = len(_BOM) if self._stream.read(len(_BOM)) == _BOM else 0
        # What comes through a pipe has no name of its own to tell it from the next.
        self._apart = self._digest() if file == STDIN else None

    def _portions(self) -> Iterator[bytes]:
        self._stream.seek(0)
        return iter(lambda: self._stream.read(_PORTION), b"")

    def _digest(self) -> str:
        digest = hashlib.sha256()
        for portion in self._portions():
            digest.update(portion)
        return digest.hexdigest()[:_DIGITS]

    def conversations(self) -> Iterator[TranscriptConversation]:
        """The conversations in it, each to be read before the next one is asked for."""
        records = self.records()
        first = []
        for found in records:
            first.append(found)
            if found.trouble is None:
                break
        everything = chain(first, records)
        if not first or not _is_conversation(first[-1].record):
            yield self._conversation(everything)
            return
        for found in everything:
            messages = _messages(found)
            self.total = len(messages) if found.place == _DOCUMENT else None
            yield self._conversation(iter(messages), found.number)

    def _conversation(
        self, records: Iterator[TranscriptRecord], number: str = ""
    ) -> TranscriptConversation:
        opening, telling = [], ""
        for found in records:
            opening.append(found)
            telling = _telling(found)
            if telling or len(opening) == _MOST_OPENING:
                break
        said, called = telling[:_DIGITS], self._apart or telling[_DIGITS:]
        place = f":{number}" if number else ""
        session_id = f"{self.name}{place}#{said}{called}"
        return TranscriptConversation(self.name, session_id, chain(opening, records))

    def records(self) -> Iterator[TranscriptRecord]:
        """The lines of the file, or the elements of the document that it is. Each call begins
        anew."""
        self._stream.seek(self._start)
        for line in iter(lambda: self._stream.readline(_LONGEST_LINE), b""):
            if line.strip():
                break
        else:
            return
        opening = line.lstrip()[:1]
        if opening == b"[" or (opening == b"{" and _parsed(line)[1] is not None):
            # It begins like a document and does not end on its first line.
            self._stream.seek(self._start)
            document, trouble = _parsed(self._stream.read())
            if trouble is None or opening == b"[":
                self.total = len(document) if isinstance(document, list) else 1
                yield from _of_document(document, trouble, self._unit)
                return
        self.total = sum(portion.count(b"\n") for portion in self._portions())
        yield from self._of_lines()

    def _of_lines(self) -> Iterator[TranscriptRecord]:
        self._stream.seek(self._start)
        number = 0
        while line := self._stream.readline(_LONGEST_LINE):
            number += 1
            whole = line.endswith(b"\n") or len(line) < _LONGEST_LINE
            if not whole:
                self._pass_line()
                trouble = f"it is longer than {_LONGEST_LINE:,} bytes"
                yield TranscriptRecord(f"line {number}", str(number), trouble=trouble)
            elif line.strip():
                record, wrong = _parsed(line)
                yield TranscriptRecord(f"line {number}", str(number), record, wrong)

    def _pass_line(self) -> None:
        while (rest := self._stream.readline(_PORTION)) and not rest.endswith(b"\n"):
            pass


def _parsed(text: bytes) -> tuple[Any, str | None]:
    """The JSON in a text, or the error in it."""
    try:
        return json.loads(text.decode("utf-8")), None
    except UnicodeDecodeError as error:
        return None, f"it is not text in UTF-8 (byte {error.start + 1})"
    except (ValueError, RecursionError) as error:
        return None, f"it is not JSON ({error})"


def _of_document(document: Any, trouble: str | None, unit: str) -> Iterator[TranscriptRecord]:
    if trouble is not None:
        yield TranscriptRecord(_DOCUMENT, "", trouble=trouble)
    elif isinstance(document, list):
        for number, record in enumerate(document, start=1):
            yield TranscriptRecord(f"{unit} {number}", str(number), record)
    else:
        yield TranscriptRecord(_DOCUMENT, "", document)


def _is_conversation(record: Any) -> bool:
    return isinstance(record, Mapping) and isinstance(record.get("messages"), list)


def _messages(found: TranscriptRecord) -> list[TranscriptRecord]:
    """The turns of a record that holds a conversation."""
    if found.trouble is not None:
        return [found]
    if not _is_conversation(found.record):
        return [found._replace(trouble="it has no 'messages', as the records before it have")]
    at = "" if found.place == _DOCUMENT else f"{found.place}, "
    dot = "." if found.number else ""
    return [
        TranscriptRecord(f"{at}message {number}", f"{found.number}{dot}{number}", record)
        for number, record in enumerate(found.record["messages"], start=1)
    ]


def _telling(found: TranscriptRecord) -> str:
    """The digests that distinguish a conversation: of a turn, and of its id and time.

    Empty for a record that cannot be read, and for turns of machines: many conversations begin with
    the same instructions.
    """
    try:
        given = _given(found.record)
    except InvalidInput:
        return ""
    if is_machine(str(given.get("speaker"))):
        return ""
    return _digest_of(given["text"]) + _digest_of(f"{given.get('ref')} {given.get('at')}")


def _given(record: Any) -> dict[str, Any]:
    """A record as arguments of `observe`."""
    if isinstance(record, Mapping):
        # A message that only calls a tool says nothing, and is written as null.
        record = {k: "" if v is None and k in _TEXTS else v for k, v in record.items()}
    return turn_arguments(record)


def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def arguments_of(found: TranscriptRecord, file: str, speaker: str) -> dict[str, Any]:
    """The arguments of `observe` for a record; a ref is made if the record has none."""
    given = _given(found.record)
    given.setdefault("speaker", speaker)
    given.setdefault("ref", f"{file}:{found.number}:{_digest_of(given['text'])}")
    return given


def _name_of(file: str) -> str:
    """The name of a file in refs and session ids: without its folder."""
    if file == STDIN:
        return "stdin"
    name = os.fsencode(Path(file).name).decode("utf-8", "replace")
    printable = "".join(sign if sign.isprintable() else "_" for sign in name)
    return printable[-_LONGEST_NAME:]


def check_readable(files: Iterable[str]) -> None:
    """Refuse a file that cannot be read before anything is done with the others."""
    for file in files:
        with opened(file):
            pass


@contextmanager
def opened(file: str) -> Iterator[IO[bytes]]:
    """A file, or stdin."""
    if file == STDIN:
        yield sys.stdin.buffer
        return
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(open(file, "rb"))
        except OSError as error:
            raise InvalidInput(f"cannot read {file}: {error.strerror}") from None
        yield stream
