"""Conversions between rows and values."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from json.encoder import encode_basestring as _quoted
from typing import Any, TypeVar

from incumbent.model.errors import StoreDamaged
from incumbent.model.fact import Address, Fact, MemoryType, Source, Status
from incumbent.model.keys import ApiKey, KeyScope
from incumbent.model.records import Declaration, Spot, Turn, WorkingItem
from incumbent.model.scope import Scope
from incumbent.model.text_cache import also_forget, remembering
from incumbent.model.times import from_micros, to_micros
from incumbent.model.verdict import Action, Outcome, Rule, Verdict
from incumbent.stores import codec
from incumbent.stores.sql.columns import INDEX, KEY, TENURE

Row = tuple[Any, ...]
Made = TypeVar("Made")

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
_MEMORY_TYPES = {kind.value: kind for kind in MemoryType}
_SCOPES = {scope.value: scope for scope in Scope}
_STATUSES = {status.value: status for status in Status}
_OFFICE, _CONTESTED = Status.OFFICE, Status.CONTESTED  # looked up once: every row asks for them
_last_source: tuple[Source | None, str] = (None, "")
_REMEMBERED = 2048
_MOST_FACTS = 8192
_LONG = 4096  # characters; a source that quotes more than a paragraph is not worth the memory


# What values are made of is checked before it is stored: where it does not fit, a row is not what
# was written.
_UNFIT = (ValueError, KeyError, TypeError, IndexError, OverflowError, AttributeError)


def _damaged(error: Exception) -> StoreDamaged:
    return StoreDamaged(
        f"a row of the store is damaged ({type(error).__name__}); see what can still be read with: "
        f"incumbent doctor. Then restore a backup, or import an export into a new store"
    )


def readable(make: Callable[[Row], Made]) -> Callable[[Row], Made]:
    """Make a value of a row, or report that the row is damaged."""

    @wraps(make)
    def made(row: Row) -> Made:
        try:
            return make(row)
        except _UNFIT as error:
            raise _damaged(error) from None

    return made


def micros_of(value: datetime | None) -> int | None:
    """A moment as a column, or None."""
    return None if value is None else to_micros(value)


def moment_of(value: int | None) -> datetime | None:
    """A moment from its column, or None."""
    return None if value is None else from_micros(value)


def _list(text: str | None) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text else ()


def _source(text: str) -> Source:
    """A source. Sources repeat from row to row; decoding each once saves most of the cost."""
    return _remembered(text) if len(text) <= _LONG else _decoded(text)


def _decoded(text: str) -> Source:
    return codec.source_from_record(json.loads(text))


_remembered = remembering(_REMEMBERED)(_decoded)


@also_forget
def _forget_rows() -> None:
    """Drop the remembered rows: an erased one has people's words."""
    global _last_source
    _facts.clear()
    _last_source = (None, "")


def _source_text(source: Source) -> str:
    global _last_source
    known, text = _last_source
    if source is not known:
        text = _encode(codec.source_record(source))
        _last_source = (source, text)
    return text


_NO_REVIEW = codec.review_fields(None)


_facts: dict[str, tuple[Row, Fact]] = {}
"""The last facts that were made, by their ids, each with its row."""


def fact_of(row: Row) -> Fact:
    """A fact from the columns CONTENT and TENURE, in that order.

    Contexts read the same facts again and again. If its row is still the same, so is the fact:
    comparing two rows takes a tenth of the time of making a fact.
    """
    known = _facts.get(row[0])
    if known is not None and known[0] == row:
        return known[1]
    try:
        fact = _fact_of(row)
    except _UNFIT as error:
        raise _damaged(error) from None
    if is_worth_keeping(row):
        if len(_facts) >= _MOST_FACTS:
            _facts.clear()
        _facts[row[0]] = (row, fact)
    return fact


def is_worth_keeping(row: Row) -> bool:
    """Not a fact whose value could be changed from outside, nor one that is too long."""
    return row[6][0] not in "[{" and len(row[6]) + len(row[7]) <= _LONG


def _fact_of(row: Row) -> Fact:
    """A fact, made.

    Written out, because a context makes hundreds of these: most facts were said, recorded, valid
    and in office at one moment, which is then decoded once.
    """
    recorded = from_micros(row[1])

    def moment(value: int | None) -> datetime | None:
        if value is None:
            return None
        return recorded if value == row[1] else from_micros(value)

    review = _NO_REVIEW if row[31] is None else codec.review_fields(json.loads(row[31]))
    return Fact(
        id=row[0],
        recorded_at=recorded,
        organization=row[2],
        owner=row[3],
        subject=row[4] or None,
        key=row[5],
        value=_value(row[6]),
        source=_source(row[7]),
        timestamp=recorded if row[8] == row[1] else from_micros(row[8]),
        valid_from=recorded if row[9] == row[1] else from_micros(row[9]),
        valid_until=moment(row[10]),
        memory_type=_MEMORY_TYPES[row[11]],
        scope=_SCOPES[row[12]],
        scope_id=row[13] or None,
        authority=row[14],
        requires=_list(row[15]),
        min_authority=row[16],
        depends_on=_list(row[17]),
        when_superseded=row[18],
        is_constraint=bool(row[19]),
        constraint_type=row[20],
        multi_valued=bool(row[21]),
        time_sensitive=bool(row[22]),
        status=_STATUSES[row[23]],
        superseded_by=row[24],
        predecessors=_list(row[25]),
        started_at=moment(row[26]),
        ended_at=moment(row[27]),
        standing=row[28],
        confirmed_at=moment(row[29]),
        awaits=row[30],
        **review,
    )


def _value(text: str) -> Any:
    """A stored value. Plain strings, which most are, need no decoder."""
    if text[0] == '"' and "\\" not in text:
        return text[1:-1]
    return json.loads(text)


def value_text(value: Any) -> str:
    """A value as it is stored: the reverse of `_value`. The encoder's own way to a string is
    long."""
    return _quoted(value) if type(value) is str else _encode(value)


def address_values(address: Address) -> Row:
    """An address as columns, without the organization, which a caller may not name."""
    return (address.owner, address.subject, address.key, address.scope._value_, address.scope_id)


def content_values(fact: Fact) -> Row:
    """The CONTENT columns of a fact. (`_value_` is an enum's value without a descriptor call.)"""
    said, recorded, start = fact.timestamp, fact.recorded_at, fact.valid_from
    recorded_at = to_micros(recorded)
    return (
        fact.id,
        recorded_at,
        fact.organization,
        fact.owner,
        fact.subject or "",
        fact.key,
        value_text(fact.value),
        _source_text(fact.source),
        recorded_at if said is recorded else to_micros(said),
        recorded_at if start is recorded else to_micros(start),
        None if fact.valid_until is None else to_micros(fact.valid_until),
        fact.memory_type._value_,
        fact.scope._value_,
        fact.scope_id or "",
        fact.authority,
        _encode(fact.requires) if fact.requires else None,
        fact.min_authority,
        _encode(fact.depends_on) if fact.depends_on else None,
        fact.when_superseded,
        fact.is_constraint,
        fact.constraint_type,
        fact.multi_valued,
        fact.time_sensitive,
    )


def tenure_values(fact: Fact) -> Row:
    """The TENURE columns of a fact."""
    reviewed = fact.basis or fact.acknowledged or fact.doubts
    return (
        fact.status._value_,
        fact.superseded_by,
        _encode(fact.predecessors) if fact.predecessors else None,
        micros_of(fact.started_at),
        None if fact.ended_at is None else to_micros(fact.ended_at),
        fact.standing,
        None if fact.confirmed_at is None else to_micros(fact.confirmed_at),
        fact.awaits,
        _encode(codec.review_record(fact)) if reviewed else None,
    )


def index_values(fact: Fact, now: datetime) -> tuple[bool, str, bool, bool]:
    """The columns for the partial indexes and `glance`: live, slot, flagged, ordinary."""
    in_office = fact.status is _OFFICE
    live = in_office or fact.may_hold_after(now)
    sole = in_office and not fact.multi_valued
    rests, doubts = in_office and bool(fact.depends_on), live and bool(fact.doubts)
    flagged = fact.status is _CONTESTED or fact.is_unapproved or rests or doubts
    return live, fact.audience if sole else fact.id, flagged, sole and fact.is_ordinary(now)


def fact_values(fact: Fact, born: int, since: int, now: datetime) -> Row:
    """The FACT_COLUMNS of a fact; `now` is the moment at which its present tenure was recorded."""
    return (*content_values(fact), *tenure_values(fact), born, since, *index_values(fact, now))


def tenure_parameters(fact: Fact, now: datetime) -> dict[str, Any]:
    index = dict(zip(INDEX, index_values(fact, now), strict=True))
    return {**dict(zip(TENURE, tenure_values(fact), strict=True)), **index}


def verdict_values(verdict: Verdict) -> Row:
    """The VERDICT columns of a verdict."""
    recorded_at = to_micros(verdict.recorded_at)
    return (
        verdict.organization,
        verdict.seq,
        verdict.id,
        verdict.action._value_,
        verdict.outcome._value_,
        verdict.rule._value_,
        verdict.fact_id,
        _encode(verdict.superseded) if verdict.superseded else None,
        _encode(verdict.targets) if verdict.targets else None,
        _encode(dict(verdict.evidence)) if verdict.evidence else None,
        verdict.confidence,
        verdict.by,
        verdict.authority,
        recorded_at if verdict.at is verdict.recorded_at else to_micros(verdict.at),
        recorded_at,
        verdict.reason,
        _encode(codec.repair_record(verdict.repair)) if verdict.repair else None,
        verdict.undone_by,
    )


@readable
def verdict_of(row: Row) -> Verdict:
    return Verdict(
        organization=row[0],
        seq=row[1],
        id=row[2],
        action=Action(row[3]),
        outcome=Outcome(row[4]),
        rule=Rule(row[5]),
        fact_id=row[6],
        superseded=_list(row[7]),
        targets=_list(row[8]),
        evidence=json.loads(row[9]) if row[9] else {},
        confidence=row[10],
        by=row[11],
        authority=row[12],
        at=from_micros(row[13]),
        recorded_at=from_micros(row[14]),
        reason=row[15],
        repair=codec.repair_from_record(json.loads(row[16]) if row[16] else None),
        undone_by=row[17],
    )


@readable
def declaration_of(row: Row) -> Declaration:
    return Declaration(row[0], bool(row[1]), bool(row[2]), row[3], _list(row[4]))


@readable
def item_of(row: Row) -> WorkingItem:
    key, value, created_at, expires_at, states, spots = row
    moments = (from_micros(created_at), moment_of(expires_at))
    said = tuple(Spot(*spot) for spot in json.loads(spots)) if spots else ()
    return WorkingItem(key, json.loads(value), *moments, _list(states), said)


def item_parameters(item: WorkingItem) -> dict[str, Any]:
    return {
        "key": item.key,
        "value": json.dumps(item.value, ensure_ascii=False),
        "created_at": to_micros(item.created_at),
        "expires_at": micros_of(item.expires_at),
        "states": json.dumps(item.states) if item.states else None,
        "spots": _encode(item.spots) if item.spots else None,
    }


@readable
def turn_of(row: Row) -> Turn:
    """A turn from the TURN columns."""
    session_id, turn_index, speaker, at, digest, ref, fact_ids, verdict_ids = row
    came = (_list(fact_ids), _list(verdict_ids))
    return Turn(session_id, turn_index, speaker, from_micros(at), digest, ref, *came)


def turn_parameters(turn: Turn) -> dict[str, Any]:
    """The TURN columns of a turn, by name."""
    return {
        "session_id": turn.session_id,
        "turn_index": turn.turn_index,
        "speaker": turn.speaker,
        "at": to_micros(turn.at),
        "digest": turn.digest,
        "ref": turn.ref,
        "fact_ids": _encode(turn.fact_ids) if turn.fact_ids else None,
        "verdict_ids": _encode(turn.verdict_ids) if turn.verdict_ids else None,
    }


@readable
def key_of(row: Row) -> ApiKey:
    """A key from the KEY columns."""
    given = dict(zip(KEY, row, strict=True))
    return ApiKey(
        **{
            **given,
            "scopes": tuple(map(KeyScope, _list(given["scopes"]))),
            "permissions": _list(given["permissions"]),
            "created_at": from_micros(given["created_at"]),
            "expires_at": moment_of(given["expires_at"]),
            "revoked_at": moment_of(given["revoked_at"]),
        }
    )


def key_parameters(key: ApiKey) -> dict[str, Any]:
    """The KEY columns of a key, by name."""
    return {
        "id": key.id,
        "organization": key.organization,
        "name": key.name,
        "scopes": _encode(key.scopes),
        "max_authority": key.max_authority,
        "user_id": key.user_id,
        "permissions": _encode(key.permissions) if key.permissions else None,
        "created_at": to_micros(key.created_at),
        "expires_at": micros_of(key.expires_at),
        "revoked_at": micros_of(key.revoked_at),
        "digest": key.digest,
    }
