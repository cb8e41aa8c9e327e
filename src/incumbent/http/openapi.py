"""The OpenAPI document, made from the list of operations and the types of their methods."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic.json_schema import models_json_schema

import incumbent
from incumbent.client import encoding
from incumbent.http import audit_stream, problems
from incumbent.http.admission import SessionForm
from incumbent.http.audit_stream import AuditRequest
from incumbent.http.operations import request_form
from incumbent.http.streams import NDJSON, ForOrganization
from incumbent.operations import OPERATIONS, Operation

_TEMPLATE = "#/components/schemas/{model}"
_ABOUT = """State for AI agents: facts hold office until a better one supersedes them.

Every operation is a POST with a JSON body: its arguments, and `session`, which says who is asking.
Personal data therefore never stand in an address. What a credential fixes, a body cannot change."""
_PROBLEMS = {
    "400": "The body is not JSON.",
    "401": "No credential, or one that is not known.",
    "403": "The credential or the identity does not reach that far.",
    "404": "No such fact, verdict or receipt, or none that this identity may see.",
    "408": "The body did not arrive in time.",
    "409": "It does not fit how things stand.",
    "413": "The body is too large.",
    "415": "The body is of another type.",
    "422": "A field is missing, unknown or of the wrong form; `fields` says which.",
    "429": "Too many requests; see Retry-After.",
    "503": "The store does not answer; see Retry-After.",
    "507": "The store is full.",
}
_EXAMPLE_SESSION = {"user_id": "alice", "session_id": "chat-17"}
_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "request_id"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string", "description": "The name of the error, as in Python."},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "request_id": {"type": "string"},
        "fields": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "problem"],
                "properties": {"field": {"type": "string"}, "problem": {"type": "string"}},
            },
        },
    },
}


@cache
def document() -> dict[str, Any]:
    """The whole document."""
    schemas = _requests()
    paths: dict[str, Any] = {
        f"/v1/{operation.path}": {"post": _operation(operation, schemas)}
        for operation in OPERATIONS
    }
    paths |= _streams() | _probes()
    return {
        "openapi": "3.1.0",
        "info": {"title": "Incumbent", "version": incumbent.__version__, "description": _ABOUT},
        "paths": paths,
        "components": {
            "schemas": {**schemas, "Problem": _PROBLEM},
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key (incumbent_...) or a signed token (JWT).",
                }
            },
        },
        "security": [{"bearer": []}, {}],
    }


def _requests() -> dict[str, Any]:
    """The schemas of all requests, with their common parts stated once."""
    forms: list[Any] = [(request_form(operation), "validation") for operation in OPERATIONS]
    forms += [(form, "validation") for form in (SessionForm, ForOrganization, AuditRequest)]
    _, made = models_json_schema(forms, ref_template=_TEMPLATE)
    return dict(made["$defs"])


def _operation(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    form = request_form(operation).__name__
    example: dict[str, Any] = {"session": _EXAMPLE_SESSION, **operation.example}
    answer = encoding.adapter(operation.returns).json_schema(
        mode="serialization", ref_template=_TEMPLATE
    )
    for name, schema in answer.pop("$defs", {}).items():
        schemas.setdefault(name, schema)
    return {
        "operationId": operation.path.replace("/", "_"),
        "summary": operation.summary,
        "description": operation.description + f"\n\nTakes the scope `{operation.scope.value}`.",
        "tags": [operation.owner],
        "parameters": _IDEMPOTENT if operation.changes else [],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"$ref": _TEMPLATE.format(model=form)},
                    "example": example,
                }
            },
        },
        "responses": {
            "200": {"description": "Done.", "content": {"application/json": {"schema": answer}}},
            **_refusals(),
        },
    }


_IDEMPOTENT = [
    {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "A name of your own for this request: sent again, it is not done again.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
    }
]


def _refusals(*statuses: str) -> dict[str, Any]:
    content = {problems.MEDIA_TYPE: {"schema": {"$ref": _TEMPLATE.format(model="Problem")}}}
    return {
        status: {"description": told, "content": content}
        for status, told in _PROBLEMS.items()
        if not statuses or status in statuses
    }


def _streams() -> dict[str, Any]:
    lines = {NDJSON: {"schema": {"type": "string"}}}
    organization = {
        "application/json": {"schema": {"$ref": _TEMPLATE.format(model="ForOrganization")}}
    }
    counted = {
        "type": "object",
        "required": ["records"],
        "properties": {"records": {"type": "integer"}},
    }

    def post(name: str, summary: str, takes: Any, gives: Any) -> dict[str, Any]:
        return {
            "post": {
                "operationId": name,
                "summary": summary,
                "tags": ["streams"],
                "requestBody": {"required": True, "content": takes},
                "responses": {"200": {"description": "Done.", "content": gives}, **_refusals()},
            }
        }

    return {
        "/v1/observe/stream": post(
            "observe_stream",
            'Observe turns line by line. The first line is {"session": {...}}, each other one a '
            "turn; an observation comes back for each as soon as it is durable.",
            lines,
            lines,
        ),
        audit_stream.PATH: post(
            "audit",
            "The log of decisions, an entry a line; with follow, also what is added to it.",
            {"application/json": {"schema": {"$ref": _TEMPLATE.format(model="AuditRequest")}}},
            lines,
        ),
        "/v1/export": post("export", "Everything of an organization.", organization, lines),
        "/v1/import": post(
            "import",
            "Load an export into an organization that has no facts yet. All or nothing.",
            lines,
            {"application/json": {"schema": counted}},
        ),
    }


def _probes() -> dict[str, Any]:
    status = {
        "type": "object",
        "required": ["status"],
        "properties": {"status": {"type": "string"}, "version": {"type": "string"}},
    }

    def get(name: str, summary: str) -> dict[str, Any]:
        answer = {"description": "Yes.", "content": {"application/json": {"schema": status}}}
        return {
            "get": {
                "operationId": name,
                "summary": summary,
                "tags": ["operations"],
                "security": [{}],
                "responses": {"200": answer, **_refusals("503", "403")},
            }
        }

    return {
        "/health": get("health", "Whether the process answers."),
        "/ready": get("ready", "Whether the store answers too."),
    }
