"""Facts, verdicts and declarations outside Python: plain JSON objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any, NamedTuple

from incumbent.model.fact import Basis, Cause, Fact, MemoryType, Part, Said, Source, Status
from incumbent.model.keys import ApiKey
from incumbent.model.records import Declaration, Erasure, KeptPassage, Passage, Spot
from incumbent.model.scope import Scope
from incumbent.model.verdict import Action, Outcome, Repair, Rule, Verdict

_MOMENTS = (
    "timestamp",
    "recorded_at",
    "valid_from",
    "valid_until",
    "started_at",
    "ended_at",
    "confirmed_at",
)
_APART = frozenset({"basis", "causes", "acknowledged", "doubts", "source", "derived_facts"})
"""The fields of a fact that are no fields of its record: they are elsewhere in it, or not kept."""
_TUPLES = ("requires", "depends_on", "predecessors")


def _iso(value: datetime | None) -> str | None:
    return value.isoformat() if value is not None else None


def _moment(value: str | None) -> datetime | None:
    return datetime.fromisoformat(value) if value is not None else None


def source_record(source: Source) -> dict[str, Any]:
    """A source without the fields it leaves empty."""
    values = zip(_SOURCE_FIELDS, _source_values(source), strict=True)
    return {
        name: _listed(value) if isinstance(value, tuple) else value
        for name, value in values
        if value is not None and value != () and value is not False
    }


def _listed(values: tuple[Any, ...]) -> list[Any]:
    """The tuples of a source as JSON lists, so that a record is equal to its copy that was read
    back."""
    return [list(value) if isinstance(value, tuple) else value for value in values]


_SOURCE_FIELDS = tuple(field.name for field in fields(Source))
_source_values = attrgetter(*_SOURCE_FIELDS)
_PLAIN = frozenset(_SOURCE_FIELDS) - {"parts", "span", "earlier", "inferred", "becomes"}
"""The fields of a source that JSON holds unchanged."""


def source_from_record(record: dict[str, Any]) -> Source:
    """The reverse of `source_record`."""
    if not _PLAIN.issuperset(record):
        record = dict(record)
        record["parts"] = tuple(Part(*part) for part in record.get("parts", ()))
        record["earlier"] = tuple(Said(*said) for said in record.get("earlier", ()))
        record["inferred"] = tuple(record.get("inferred", ()))
        record["becomes"] = tuple(record.get("becomes", ()))
        if record.get("span") is not None:
            start, end = record["span"]
            record["span"] = (start, end)
    return Source(**record)


def review_record(fact: Fact) -> dict[str, Any] | None:
    """The legs, causes and acknowledgements of a fact, and what it doubts; None where it has none.

    What it doubts is here, and only where there is something, so that code which does not know of
    doubts reads these records too.
    """
    if not (fact.basis or fact.acknowledged or fact.doubts):
        return None
    record: dict[str, Any] = {
        "basis": [list(leg) for leg in fact.basis],
        "causes": [[cause.base, cause.now, list(cause.path)] for cause in fact.causes],
        "acknowledged": sorted(fact.acknowledged),
    }
    return {**record, "doubts": list(fact.doubts)} if fact.doubts else record


def review_fields(record: dict[str, Any] | None) -> dict[str, Any]:
    """The reverse of `review_record`, as fields of a fact."""
    if record is None:
        return {"basis": (), "causes": (), "acknowledged": frozenset(), "doubts": ()}
    return {
        "basis": tuple(Basis(base, stands_on) for base, stands_on in record["basis"]),
        "causes": tuple(Cause(base, now, tuple(path)) for base, now, path in record["causes"]),
        "acknowledged": frozenset(record["acknowledged"]),
        "doubts": tuple(record.get("doubts", ())),
    }


def fact_record(fact: Fact) -> dict[str, Any]:
    """Every field of a fact as JSON."""
    record: dict[str, Any] = {}
    for field in fields(fact):
        if field.name in _APART:
            continue
        value = getattr(fact, field.name)
        if field.name in _MOMENTS:
            value = _iso(value)
        elif field.name in _TUPLES:
            value = list(value)
        elif isinstance(value, StrEnum):
            value = value.value
        record[field.name] = value
    record["source"] = source_record(fact.source)
    record["review"] = review_record(fact)
    return record


def fact_from_record(record: dict[str, Any]) -> Fact:
    """The reverse of `fact_record`."""
    given = dict(record)
    review = given.pop("review")
    for name in _MOMENTS:
        given[name] = _moment(given[name])
    for name in _TUPLES:
        given[name] = tuple(given[name])
    given["source"] = source_from_record(given["source"])
    given["memory_type"] = MemoryType(given["memory_type"])
    given["scope"] = Scope(given["scope"])
    given["status"] = Status(given["status"])
    return Fact(**given, **review_fields(review))


def repair_record(repair: Repair) -> dict[str, Any] | None:
    if not repair:
        return None
    return {
        "marked": {fact: list(path) for fact, path in repair.marked.items()},
        "lifted": list(repair.lifted),
        "took_office": list(repair.took_office),
        "stepped_back": list(repair.stepped_back),
    }


def repair_from_record(record: dict[str, Any] | None) -> Repair:
    if record is None:
        return Repair()
    return Repair(
        {fact: tuple(path) for fact, path in record["marked"].items()},
        tuple(record["lifted"]),
        tuple(record["took_office"]),
        tuple(record["stepped_back"]),
    )


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """Every field of a verdict but the fact as JSON."""
    return {
        "id": verdict.id,
        "organization": verdict.organization,
        "seq": verdict.seq,
        "action": verdict.action.value,
        "outcome": verdict.outcome.value,
        "rule": verdict.rule.value,
        "fact_id": verdict.fact_id,
        "superseded": list(verdict.superseded),
        "targets": list(verdict.targets),
        "evidence": dict(verdict.evidence),
        "confidence": verdict.confidence,
        "by": verdict.by,
        "authority": verdict.authority,
        "at": _iso(verdict.at),
        "recorded_at": _iso(verdict.recorded_at),
        "reason": verdict.reason,
        "repair": repair_record(verdict.repair),
        "undone_by": verdict.undone_by,
    }


def verdict_from_record(record: dict[str, Any]) -> Verdict:
    """The reverse of `verdict_record`."""
    return Verdict(
        **{
            **record,
            "action": Action(record["action"]),
            "outcome": Outcome(record["outcome"]),
            "rule": Rule(record["rule"]),
            "superseded": tuple(record["superseded"]),
            "targets": tuple(record["targets"]),
            "at": datetime.fromisoformat(record["at"]),
            "recorded_at": datetime.fromisoformat(record["recorded_at"]),
            "repair": repair_from_record(record["repair"]),
        }
    )


def declaration_record(declaration: Declaration) -> dict[str, Any]:
    return {**asdict(declaration), "requires": list(declaration.requires)}


def declaration_from_record(record: dict[str, Any]) -> Declaration:
    return Declaration(**{**record, "requires": tuple(record["requires"])})


def erasure_record(erasure: Erasure) -> dict[str, Any]:
    return {
        "id": erasure.id,
        "organization": erasure.organization,
        "at": _iso(erasure.at),
        "fact_ids": list(erasure.fact_ids),
        "quoted_in": list(erasure.quoted_in),
        "removed": dict(erasure.removed),
    }


def erasure_from_record(record: dict[str, Any]) -> Erasure:
    return Erasure(
        **{
            **record,
            "at": datetime.fromisoformat(record["at"]),
            "fact_ids": tuple(record["fact_ids"]),
            "quoted_in": tuple(record["quoted_in"]),
        }
    )


def passage_record(kept: KeptPassage) -> dict[str, Any]:
    """A passage as JSON, without its terms and vector, which are made anew from its text."""
    passage = kept.passage
    return {
        "user_id": kept.user_id,
        "session_id": passage.session_id,
        "turn_index": passage.turn_index,
        "place": passage.place,
        "speaker": passage.speaker,
        "at": _iso(passage.at),
        "text": passage.text,
        "states": list(passage.states),
        "spots": [list(spot) for spot in passage.spots],
    }


def passage_from_record(record: dict[str, Any]) -> KeptPassage:
    """The reverse of `passage_record`."""
    given = dict(record)
    user_id = given.pop("user_id")
    given["at"] = datetime.fromisoformat(given["at"])
    given["states"] = tuple(given["states"])
    given["spots"] = tuple(Spot(*spot) for spot in given["spots"])
    return KeptPassage(0, user_id, Passage(**given))


def key_record(key: ApiKey) -> dict[str, Any]:
    """A key as JSON, for those who manage keys: without its digest.

    Keys are no part of an export.
    """
    return {
        "id": key.id,
        "organization": key.organization,
        "name": key.name,
        "scopes": [scope.value for scope in key.scopes],
        "max_authority": key.max_authority,
        "user_id": key.user_id,
        "permissions": list(key.permissions),
        "created_at": _iso(key.created_at),
        "expires_at": _iso(key.expires_at),
        "revoked_at": _iso(key.revoked_at),
    }


def erased(fact: Fact, blank: datetime) -> Fact:
    """The tombstone of an erased fact: its id and its links, none of its content.

    Even the moments go: the time of a statement can tell what it was.
    """
    return Fact(
        id=fact.id,
        organization=fact.organization,
        key="",
        value=None,
        timestamp=blank,
        recorded_at=blank,
        valid_from=blank,
        authority="",
        status=Status.ERASED,
        superseded_by=fact.superseded_by,
        predecessors=fact.predecessors,
    )


class KeptFact(NamedTuple):
    """A fact of an export, with the entries that brought it and its present tenure."""

    fact: Fact
    born: int
    since: int
    changed_at: datetime
    """The moment at which the present tenure was recorded."""


class KeptTenure(NamedTuple):
    """An earlier tenure of a fact of an export."""

    fact: Fact
    since: int
    until: int


Kept = Declaration | KeptFact | KeptTenure | KeptPassage | Verdict | Erasure


def read_dump(records: Iterable[dict[str, Any]], organization: str) -> Iterator[Kept]:
    """The values in a dump, for an organization of another name if need be.

    Raises KeyError, TypeError or ValueError for a malformed record.
    """
    times: dict[int, datetime] = {}
    for record in records:
        given = {**record, "organization": organization}
        kind = given.pop("kind")
        if kind == "declaration":
            del given["organization"]
            yield declaration_from_record(given)
        elif kind == "verdict":
            verdict = verdict_from_record(given)
            times[verdict.seq] = verdict.recorded_at
            yield verdict
        elif kind == "fact":
            born, since = given.pop("seq"), given.pop("since")
            yield KeptFact(fact_from_record(given), born, since, times[since])
        elif kind == "tenure":
            since, until = given.pop("since"), given.pop("until")
            yield KeptTenure(fact_from_record(given), since, until)
        elif kind == "passage":
            del given["organization"]
            yield passage_from_record(given)
        elif kind == "erasure":
            yield erasure_from_record(given)
        else:
            raise ValueError(f"a record of unknown kind {kind!r}")
