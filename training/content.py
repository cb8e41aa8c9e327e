"""Content: the hand-written records that pairs are made of, read from files and checked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.values import MAKERS, Maker, from_list

FOLDER = Path(__file__).parent / "content"
HOLE = re.compile(r"\{(\w+)(\.old)?\}")

LEAVING = (
    "near", "maybe", "question", "reported", "past", "denied", "addition", "narrower", "joke",
)  # fmt: skip
"""Lists of sentences that name another value and leave the standing one alone."""
LISTS = frozenset(
    (
        "statement", "update", "fragment", "confirm", "retract", "readback", "fail", "offer",
        "accept", "decline", *LEAVING,
    )
)  # fmt: skip


class BadContent(Exception):
    """A content file does not follow the schema."""


@dataclass(frozen=True)
class Template:
    """A sentence with holes for values."""

    text: str
    slots: tuple[str, ...]
    """The slots whose value it names."""
    old: tuple[str, ...]
    """The slots whose old value it names."""


@dataclass(frozen=True)
class Record:
    """One thing that people state and later change."""

    name: str
    domain: str
    subject: str | None
    slots: Mapping[str, Maker]
    kinds: Mapping[str, str]
    """The name of each slot's maker: slots of one kind take values of the same sort."""
    lists: Mapping[str, tuple[Template, ...]]
    asks: Mapping[str, tuple[str, ...]]

    def __getitem__(self, name: str) -> tuple[Template, ...]:
        return self.lists.get(name, ())


def load(paths: Sequence[Path] | None = None) -> list[Record]:
    """The records of all content files, or of these."""
    chosen = sorted(FOLDER.glob("*.toml")) if paths is None else paths
    return [
        record for path in chosen if path.stem not in ("talk", "example") for record in read(path)
    ]


def read(path: Path) -> list[Record]:
    """The records of a file; BadContent where it does not follow the schema."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise BadContent(f"{path.name}: {error}") from None
    makers = {**MAKERS, **{n: from_list(v) for n, v in content.get("values", {}).items()}}
    return [_record(entry, makers, path) for entry in content["record"]]


def _record(entry: Mapping[str, Any], makers: Mapping[str, Maker], path: Path) -> Record:
    where = f"{path.name}, {entry.get('name')!r}"
    kinds = dict(entry["slots"])
    for slot, kind in kinds.items():
        if kind not in makers:
            raise BadContent(f"{where}: slot {slot!r} wants {kind!r}, which nobody makes")
    subject = entry.get("subject")
    if subject is not None and subject not in kinds:
        raise BadContent(f"{where}: subject {subject!r} is no slot")
    text = dict(entry["text"])
    asks = {slot: tuple(found) for slot, found in text.pop("ask", {}).items()}
    if unknown := (set(text) - LISTS) | (set(asks) - set(kinds)):
        raise BadContent(f"{where}: {', '.join(sorted(unknown))} mean nothing here")
    lists = {n: tuple(_template(t, kinds, where) for t in found) for n, found in text.items()}
    if not all(set(t.slots) - {subject} for t in lists["statement"]):
        raise BadContent(f"{where}: a statement names no value")
    made = {slot: makers[kind] for slot, kind in kinds.items()}
    return Record(entry["name"], entry["domain"], subject, made, kinds, lists, asks)


def _template(text: str, slots: Mapping[str, str], where: str) -> Template:
    named: list[str] = []
    old: list[str] = []
    for slot, is_old in HOLE.findall(text):
        if slot not in slots:
            raise BadContent(f"{where}: {text!r} names {slot!r}, which is no slot")
        (old if is_old else named).append(slot)
    if re.search(r"[{}]", HOLE.sub("", text)):
        raise BadContent(f"{where}: {text!r} has a brace that is no hole")
    return Template(text, tuple(dict.fromkeys(named)), tuple(dict.fromkeys(old)))


def are_alike(one: Record, other: Record) -> bool:
    """Whether two records may be about one errand: they draw on the same list of values."""
    lists = {*one.kinds.values()} & {*other.kinds.values()} - set(MAKERS)
    return bool(lists) or bool({*one.name.split()} & {*other.name.split()} - {"of", "a", "the"})


def talk() -> dict[str, list[str]]:
    """What belongs to no record: openings, acknowledgements, small talk."""
    found: dict[str, list[str]] = tomllib.loads((FOLDER / "talk.toml").read_text(encoding="utf-8"))
    return found
