"""The document says what the service does: a tester that makes requests up from it finds nothing.

Some requests for some operations here; `make check` tries every operation and whatever the document
says of it, and `make soak` looks for longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import hypothesis
import pytest
import schemathesis
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

import incumbent
from incumbent.http import openapi
from incumbent.operations import OPERATIONS
from tests.conftest import QUICK, SOAK, THOROUGH, examples
from tests.patience import PATIENCE
from tests.service.running import PLAIN, Running


@schemathesis.serializer("application/x-ndjson")
def _lines(context: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


DOCUMENT = openapi.document()
schema = schemathesis.openapi.from_dict(DOCUMENT)
SOME = hypothesis.settings(
    max_examples=examples(3, soak=150),
    deadline=None,
    derandomize=not SOAK,
    suppress_health_check=list(hypothesis.HealthCheck),  # they are about how fast a machine is
)
SAMPLE = ("write", "observe", "context", "history", "forget", "audit")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("schema") / "agent.db"
    with (
        incumbent.open(path, settings=QUICK) as memory,
        Running(memory, max_body_bytes=50_000_000) as running,
    ):
        alice = memory.session(user_id="alice", authority="manager")
        alice.write("order_status", "approved")
        yield running.address


def check(case: Any, address: str) -> None:
    """Ask, and hold the answer against the document.

    That a request which fits may still be refused for its meaning (an unknown title, an end before
    the beginning) is no fault; that its form is refused would be one.
    """
    if case.path == "/v1/audit" and isinstance(case.body, dict) and case.body.get("follow") is True:
        case.body["follow"] = False  # an answer that never ends
    answer = case.call_and_validate(
        base_url=address, excluded_checks=[positive_data_acceptance], timeout=PATIENCE
    )
    fits = case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE
    if case.media_type == "application/x-ndjson":
        return  # what lines may hold is more than a schema says
    if fits and "should be a valid integer" in answer.text:
        return  # to a schema 1.0 is an integer, and to us it is not
    if fits and answer.status_code == 422:
        assert "fields" not in answer.json(), answer.text
    assert answer.status_code not in (400, 415) or not fits, answer.text


@pytest.mark.parametrize("operation", SAMPLE)
def test_no_request_that_fits_an_operation_surprises(operation: str, address: str) -> None:
    """Statuses, types and bodies of its answers are as described, and it is not refused as
    malformed."""

    @SOME
    @hypothesis.given(case=schema[f"/v1/{operation}"]["POST"].as_strategy())
    def each(case: Any) -> None:
        check(case, address)

    each()


if THOROUGH:
    # The tester works out what to try while tests are collected, which takes each worker seconds.
    @pytest.mark.slow
    @schema.parametrize()
    @SOME
    def test_no_request_made_up_from_the_document_surprises(case: Any, address: str) -> None:
        """Statuses, types and bodies of all answers are as described; what fits is not refused as
        malformed, and what does not fit is not accepted."""
        check(case, address)


def test_the_document_has_every_operation_with_an_example_and_its_scope() -> None:
    """Nothing of the surface is left out of it."""
    for operation in OPERATIONS:
        told = DOCUMENT["paths"][f"/v1/{operation.path}"]["post"]
        assert told["operationId"] == operation.path.replace("/", "_")
        assert told["summary"]
        assert f"`{operation.scope.value}`" in told["description"]
        assert told["requestBody"]["content"]["application/json"]["example"]["session"]


def test_the_document_is_served(address: str) -> None:
    """At the address that a refusal names."""
    told = httpx.get(f"{address}/openapi.json", **PLAIN)
    assert told.json() == DOCUMENT
