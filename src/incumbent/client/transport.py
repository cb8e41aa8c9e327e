"""Calls of a service: requests, repeated where that is safe, and errors by their names."""

from __future__ import annotations

import json
import random
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

try:
    import httpx
    from pydantic import ValidationError
except ImportError as error:  # pragma: no cover - an environment without the extra
    raise ImportError(f"{error}; install it with: pip install 'incumbent[client]'") from error

from incumbent.client import encoding
from incumbent.clock import system_clock
from incumbent.model import errors
from incumbent.model.errors import (
    IncumbentError,
    InvalidInput,
    NotPermitted,
    StoreError,
    StoreUnavailable,
)
from incumbent.model.ids import new_id
from incumbent.operations import Operation

_ATTEMPTS = 4
_PAUSE = 0.2
_LONGEST_PAUSE = 30.0
_RETRIED = (429, 502, 503, 504)
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
"""Errors after which a request was certainly not carried out."""


class Calls:
    """One service, by its address and a credential."""

    def __init__(self, address: str, key: str | None, timeout: float) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=20)
        self.address = address.rstrip("/")
        self._client = httpx.Client(
            base_url=self.address,
            headers=headers,
            timeout=timeout,
            limits=limits,
            trust_env=False,
            verify=_certificates(self.address),
        )

    def call(self, operation: Operation, body: Mapping[str, Any]) -> Any:
        """Call an operation.

        If its answer is lost, it is sent again under the same name, provided that this cannot carry
        it out twice. Otherwise the error says that the fate of the call is unknown.
        """
        content = _json(body)
        headers = {"Content-Type": "application/json"}
        if operation.changes:
            headers["Idempotency-Key"] = new_id(system_clock())
        response = self._patiently(operation, content, headers)
        try:
            return encoding.loaded(operation.returns, response.content)
        except ValidationError as error:
            raise StoreError(
                f"{self.address} gave an answer that this Incumbent does not understand "
                f"({error.error_count()} faults); do both have the same version?"
            ) from None

    def _patiently(
        self, operation: Operation, content: bytes, headers: Mapping[str, str]
    ) -> httpx.Response:
        path = f"/v1/{operation.path}"
        for attempt in range(_ATTEMPTS):
            last = attempt == _ATTEMPTS - 1
            try:
                response = self._client.post(path, content=content, headers=dict(headers))
            except httpx.InvalidURL as error:
                raise InvalidInput(f"{self.address!r} is no address: {error}") from None
            except httpx.HTTPError as error:
                if not operation.repeatable and not isinstance(error, _UNSENT):
                    raise self._lost(operation, error) from None
                if last:
                    raise self._unreachable(error) from None
                self._pause(attempt, None)
                continue
            if response.status_code == 200:
                return response
            if last or not _may_pass(response, operation):
                raise _error_of(response, self.address)
            self._pause(attempt, response.headers.get("Retry-After"))
        raise AssertionError("unreachable")

    def _pause(self, attempt: int, told: str | None) -> None:
        least = min(float(told), _LONGEST_PAUSE) if told is not None and told.isdigit() else 0.0
        time.sleep(max(least, _PAUSE * 2**attempt * random.uniform(0.5, 1.5)))

    def _lost(self, operation: Operation, error: Exception) -> StoreUnavailable:
        return StoreUnavailable(
            f"{self.address} was asked to {operation.name}, and its answer got lost "
            f"({type(error).__name__}): look whether it was done before you ask again"
        )

    def _unreachable(self, error: Exception) -> StoreUnavailable:
        return StoreUnavailable(
            f"{self.address} does not answer ({type(error).__name__}); is `incumbent serve` "
            f"running?"
        )

    def lines(self, path: str, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The lines of a stream, as they come."""
        headers = {"Content-Type": "application/json"}
        try:
            with self._client.stream("POST", path, content=_json(body), headers=headers) as found:
                if found.status_code != 200:
                    found.read()
                    raise _error_of(found, self.address)
                for line in found.iter_lines():
                    record = json.loads(line)
                    if "problem" in record:
                        raise _error_told(record["problem"], found.status_code, self.address)
                    yield record
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None

    def send_lines(
        self, path: str, records: Iterable[Mapping[str, Any]], named: Mapping[str, str]
    ) -> Any:
        """Send records line by line; the answer."""
        headers = {"Content-Type": "application/x-ndjson"}
        lines = (_json(record) + b"\n" for record in records)
        try:
            response = self._client.post(path, content=lines, headers=headers, params=dict(named))
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None
        if response.status_code != 200:
            raise _error_of(response, self.address)
        return response.json()

    def close(self) -> None:
        self._client.close()


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"this cannot be sent as JSON: {error}") from None


def _certificates(address: str) -> ssl.SSLContext | bool:
    """The certificates to trust.

    A plain address needs none, and reading all those of a machine takes longer than a call. If a
    plain address leads to an encrypted one after all, nobody is trusted there.
    """
    if address.lower().startswith("https:"):
        return True
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _may_pass(response: httpx.Response, operation: Operation) -> bool:
    """Whether another attempt makes sense and cannot carry the call out twice."""
    in_progress = response.status_code == 409 and "InProgress" in response.text
    if operation.repeatable:
        return response.status_code in _RETRIED or in_progress
    refused = response.status_code == 503 and "StoreUnavailable" not in response.text
    return response.status_code == 429 or refused or in_progress


def _error_of(response: httpx.Response, address: str) -> IncumbentError:
    """The error that a problem document stands for."""
    try:
        problem = response.json()
    except ValueError:
        problem = None
    return _error_told(problem, response.status_code, address)


def _error_told(problem: Any, status: int, address: str) -> IncumbentError:
    try:
        title, detail = str(problem["title"]), str(problem["detail"])
    except (KeyError, TypeError):
        return StoreUnavailable(f"{address} answered with status {status}")
    kind = getattr(errors, title, None)
    if isinstance(kind, type) and issubclass(kind, IncumbentError):
        return kind(detail)
    if status in (401, 403):
        return NotPermitted(f"{address}: {detail}")
    if status in (400, 404, 408, 409, 413, 415, 422):
        return InvalidInput(f"{address}: {detail}")
    return StoreUnavailable(f"{address}: {detail} ({problem.get('request_id')})")
