"""Receipts: the proof of a context, and the way back to its text.

A receipt keeps the lines of facts as ids, because the value of a fact never changes. It keeps
everything else (identity, notes, signals, lines whose wording depended on the moment) as text, with
the ids of the facts it quotes. Erasing a fact therefore takes it out of every context that ever
showed it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from incumbent.context.rendering import (
    AHEAD,
    CONTESTED,
    DOUBTED,
    HISTORY,
    RECALCULATE,
    UNKNOWN,
    note_on,
    plain_line,
    quotable,
    render,
)
from incumbent.context.said_lines import UNDER, continued, label_of
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Fact, Status

FORMAT = 1
QUOTING = 2
"""The format of a receipt with lines that quote facts besides their own."""
ERASED = "[erased]"
_ERASED_LINE = f"- {ERASED}"

Quotes = Callable[[str], bool]
"""Tells whether a text repeats something."""


@dataclass(frozen=True, slots=True)
class ReceiptLine:
    """A line: its fact, and its text if the fact alone does not give it."""

    section: str
    text: str | None
    fact_id: str | None = None
    score: float | None = None
    quoted: tuple[str, ...] = ()
    """The other facts whose text is in the line: the successor of a base, a fact that a note
    states."""

    @property
    def fact_ids(self) -> tuple[str, ...]:
        """Every fact whose text is in the line, as far as it names them."""
        return self.quoted if self.fact_id is None else (self.fact_id, *self.quoted)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The question, the asker, the time, the facts that were shown, and a hash of the text."""

    id: str
    organization: str
    user_id: str
    at: datetime
    seq: int
    """The last entry of the log that was known."""
    query: str
    budget: int
    profile: str
    style: str
    tokenizer: str
    tokens: int
    digest: str
    """SHA-256 of the text."""
    lines: tuple[ReceiptLine, ...]
    format: int = FORMAT

    @property
    def fact_ids(self) -> set[str]:
        """Every fact whose text is in the receipt, as far as it names them."""
        return {fact_id for line in self.lines for fact_id in line.fact_ids}

    def record(self) -> dict[str, Any]:
        """Every field as JSON."""
        return {
            "format": self.format,
            "id": self.id,
            "organization": self.organization,
            "user_id": self.user_id,
            "at": self.at.isoformat(),
            "seq": self.seq,
            "query": self.query,
            "budget": self.budget,
            "profile": self.profile,
            "style": self.style,
            "tokenizer": self.tokenizer,
            "tokens": self.tokens,
            "digest": self.digest,
            "lines": [list(line) for line in _records(self.lines, self.format)],
        }

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> Receipt:
        """The reverse of `record`."""
        if record.get("format") not in (FORMAT, QUOTING):
            raise InvalidInput(
                f"the receipt has format {record.get('format')!r}, this Incumbent reads {FORMAT} "
                f"and "
                f"{QUOTING}; a newer one does with: pip install --upgrade incumbent"
            )
        try:
            given = {
                **record,
                "at": datetime.fromisoformat(record["at"]),
                "lines": tuple(
                    ReceiptLine(*line[:4], *map(tuple, line[4:])) for line in record["lines"]
                ),
            }
            return Receipt(**given)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"this is not a receipt: {error}") from None


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def receipt_of(*, text: str, lines: Sequence[ReceiptLine], **given: Any) -> Receipt:
    """The receipt of a context; its id is made of its content, so that equal contexts agree."""
    told = LinesTold.of(lines)
    return Receipt(
        id=id_of(text, told, **given),
        digest=digest_of(text),
        lines=tuple(lines),
        format=told.format,
        **given,
    )


class LinesTold(NamedTuple):
    """The lines of a context as they are in the record of its receipt."""

    format: int
    json: str

    @staticmethod
    def of(lines: Sequence[Any]) -> LinesTold:
        """Of the lines of a context or a receipt."""
        kind = QUOTING if any(map(_QUOTED, lines)) else FORMAT
        return LinesTold(kind, json.dumps(_records(lines, kind)))


def id_of(text: str, lines: LinesTold, *, at: datetime, **given: Any) -> str:
    """The id of a receipt: a digest of its record, with names sorted and an empty id."""
    told = {**given, "at": at.isoformat(), "digest": digest_of(text), "format": lines.format}
    body = json.dumps({**told, "id": "", "lines": []}, sort_keys=True)
    # Nobody can have said this: a quotation mark in a text has a backslash before it.
    whole = body.replace('"lines": []', f'"lines": {lines.json}', 1)
    return f"rc-{hashlib.sha256(whole.encode()).hexdigest()[:32]}"


def _records(lines: Sequence[Any], kind: int) -> list[tuple[Any, ...]]:
    if kind == FORMAT:
        return list(map(_PLAIN, lines))
    return [(*_PLAIN(line), list(line.quoted)) for line in lines]


_PLAIN = attrgetter("section", "text", "fact_id", "score")
_QUOTED = attrgetter("quoted")


def condensed(receipt: Receipt, facts: Mapping[str, Fact]) -> Receipt:
    """The receipt without the texts that its facts give by themselves, for keeping."""

    def kept(line: ReceiptLine) -> ReceiptLine:
        fact = facts.get(line.fact_id or "")
        if fact is None:
            return line
        whole = wording(fact, receipt.style)
        if line.text == whole:
            return replace(line, text=None)
        return replace(line, text=UNDER) if line.text == _under(fact, whole) else line

    return replace(receipt, lines=tuple(map(kept, receipt.lines)))


def wording(fact: Fact, style: str) -> str:
    """The text of a fact in office in that style, the same at any moment."""
    return plain_line(fact) + (note_on(fact) if style == "annotated" else "")


def _under(fact: Fact, line: str) -> str:
    """The line of a fact where it stands under another one of its turn."""
    return continued(line, label_of(fact, UTC))


def reproduced(receipt: Receipt, facts: Mapping[str, Fact]) -> tuple[str, tuple[ReceiptLine, ...]]:
    """The text of a receipt, and its lines."""

    gone = gone_of(receipt, facts)

    def text_of(line: ReceiptLine) -> str:
        if not gone.isdisjoint(line.fact_ids):
            return _ERASED_LINE
        if line.text is not None and line.text != UNDER:
            return line.text
        fact = facts[line.fact_id or ""]
        whole = wording(fact, receipt.style)
        return whole if line.text is None else _under(fact, whole)

    lines = tuple(replace(line, text=text_of(line)) for line in receipt.lines)
    return render([(line.section, line.text or "") for line in lines]), lines


def gone_of(receipt: Receipt, facts: Mapping[str, Fact]) -> set[str]:
    """The facts in a receipt that were erased since; `facts` are those that are left."""
    left = {fact.id for fact in facts.values() if fact.status is not Status.ERASED}
    return receipt.fact_ids - left


def redacted(
    receipt: Receipt, erased: Collection[str], quotes: Quotes | None = None
) -> Receipt | None:
    """The receipt without erased content; None if it has none.

    Lines are recognized by the ids of their facts. Words are compared only in text of a person or a
    system besides facts, and in lines that do not name the facts they quote. The asker and the
    clock are nobody's statement.
    """

    def kept(line: ReceiptLine) -> ReceiptLine:
        if line.fact_id in erased:
            return replace(line, text=None)
        if any(fact_id in erased for fact_id in line.quoted):
            return replace(line, text=_ERASED_LINE)
        if quotes is not None and _is_loose(line) and quotes(quotable(line.section, line.text)):
            return replace(line, text=_ERASED_LINE)
        return line

    lines = tuple(map(kept, receipt.lines))
    query = ERASED if quotes is not None and quotes(receipt.query) else receipt.query
    if lines == receipt.lines and query == receipt.query:
        return None
    return replace(receipt, lines=lines, query=query)


def without_said(receipt: Receipt, left: Container[str]) -> Receipt:
    """The receipt without text besides facts, except the lines in `left`.

    Once content was erased, nobody can tell which text repeats it.
    """

    def kept(line: ReceiptLine) -> ReceiptLine:
        if line.fact_id is not None or line.text in left:
            return line
        return replace(line, text=_ERASED_LINE) if quotable(line.section, line.text) else line

    return replace(receipt, lines=tuple(map(kept, receipt.lines)), query=ERASED)


def _is_loose(line: ReceiptLine) -> bool:
    """Whether a line has text without a named fact behind it."""
    if line.fact_id is None:
        return True
    return line.section == RECALCULATE and not line.quoted  # as they were kept once


@dataclass(frozen=True, slots=True)
class ReceiptChange:
    """One difference between two contexts, and its reason."""

    kind: Literal["added", "removed", "changed"]
    section: str
    before: str | None
    after: str | None
    why: str
    fact_id: str | None = None
    """The fact behind the later line, or behind the earlier one if there is no later."""


def compared(
    earlier: Sequence[ReceiptLine], later: Sequence[ReceiptLine], facts: Mapping[str, Fact]
) -> list[ReceiptChange]:
    """The changes from one context to another, in the order of the later one.

    Lines about the same matter are paired; a line without a partner was added or removed.
    """
    before = {_matter(line, facts): line for line in earlier}
    after = {_matter(line, facts): line for line in later}
    found = []
    for matter, line in after.items():
        old = before.get(matter)
        if old is None:
            why = _arrival(line, facts)
            found.append(ReceiptChange("added", line.section, None, line.text, why, line.fact_id))
        elif old.text != line.text:
            why = _replacement(old, line, facts)
            found.append(
                ReceiptChange("changed", line.section, old.text, line.text, why, line.fact_id)
            )
    found.extend(
        ReceiptChange(
            "removed", line.section, line.text, None, _departure(line, facts), line.fact_id
        )
        for matter, line in before.items()
        if matter not in after
    )
    return found


def _matter(line: ReceiptLine, facts: Mapping[str, Fact]) -> tuple[str, ...]:
    fact = facts.get(line.fact_id or "")
    if fact is None or fact.status is Status.ERASED or line.section in (HISTORY, AHEAD):
        return (line.section, (line.text or "").partition(":")[0], line.fact_id or "")
    several = fact.id if fact.multi_valued else ""
    return ("fact", fact.key, fact.subject or "", fact.owner, several)


_MOVED = {
    UNKNOWN: "taken back or expired since",
    RECALCULATE: "needs review: what it rests on changed",
    CONTESTED: "contested since",
    DOUBTED: "in doubt: a later statement may have replaced it",
}


def _arrival(line: ReceiptLine, facts: Mapping[str, Fact]) -> str:
    fact = facts.get(line.fact_id or "")
    if fact is None:
        return "not shown before"
    if fact.status is Status.ERASED:
        return "erased since"
    return f"said {fact.timestamp:%Y-%m-%d %H:%M}"


def _replacement(old: ReceiptLine, new: ReceiptLine, facts: Mapping[str, Fact]) -> str:
    if old.fact_id == new.fact_id:
        if new.section != old.section:
            return _MOVED.get(new.section, "shown differently")
        return "shown differently" if new.fact_id else "read anew"
    fact = facts.get(old.fact_id or "")
    return f"{fact.status} since" if fact is not None and not fact.is_valid else "another fact"


def _departure(line: ReceiptLine, facts: Mapping[str, Fact]) -> str:
    fact = facts.get(line.fact_id or "")
    if line.fact_id is None:
        return "gone"
    if fact is None:
        return "erased"
    return "still in office, less relevant or over budget" if fact.is_valid else f"{fact.status}"
