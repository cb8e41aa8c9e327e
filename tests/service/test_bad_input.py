"""Bad input at every edge: a 4xx that points to the field, and nothing changed."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import incumbent
from incumbent.operations import OPERATIONS, Operation
from tests.conftest import QUICK
from tests.patience import PATIENCE, eventually
from tests.service.conftest import Start
from tests.service.running import PLAIN, Running, problem, read_all

WHO: dict[str, Any] = {"user_id": "alice", "organization": "acme"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path = tmp_path_factory.mktemp("bad") / "agent.db"
    with incumbent.open(path, settings=QUICK) as memory, Running(memory) as running:
        memory.session(**WHO).write("ship_to", "123 Main St")
        yield running


def state(service: Running) -> list[Any]:
    return [list(service.memory.export(name)) for name in ("acme", "default")]


@pytest.fixture
def unchanged(service: Running) -> Iterator[None]:
    """Whatever a test sends, all is as before."""
    before = state(service)
    yield
    assert state(service) == before


HEADER = b'{"kind": "header", "format": "incumbent-export", "version": 2, "organization": "new"}\n'
NESTED = "[" * 5000 + "]" * 5000
MALFORMED = {
    "nothing but a brace": b"{",
    "no JSON": b"hello",
    "two values": b"{} {}",
    "a comma too many": b'{"key": "a",}',
    "invalid UTF-8": b'{"key": "\xff\xfe", "value": 1}',
    "half a character": b'{"key": "\\ud800", "value": 1}',
    "half a character in a value": b'{"session": {"user_id": "a"}, "key": "a", "value": "\\ud800"}',
    "nested without end": b'{"key": "a", "value": ' + NESTED.encode() + b"}",
    "UTF-16": '{"key": "a"}'.encode("utf-16"),
    "compressed": b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
}


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_json_is_refused(service: Running, name: str) -> None:
    """With 400, and a hint at the place."""
    told = problem(service.post("write", MALFORMED[name]), 400, "InvalidInput")
    assert "JSON" in told["detail"]


def wrong(**changes: Any) -> dict[str, Any]:
    return {"session": WHO, "key": "a", "value": 1, **changes}


FIELDS: dict[str, tuple[str, Any, str]] = {
    "a number for a key": ("write", wrong(key=5), "/key"),
    "no key": ("write", {"session": WHO, "value": 1}, "/key"),
    "an unknown field": ("write", wrong(colour="red"), "/colour"),
    "an unknown field of the session": (
        "write",
        wrong(session={**WHO, "admin": True}),
        "/session/admin",
    ),
    "a session that is a text": ("write", wrong(session="alice"), "/session"),
    "a session that is a list": ("write", wrong(session=[1]), "/session"),
    "a person who is a number": ("write", wrong(session={"user_id": 5}), "/session/user_id"),
    "permissions that are a text": (
        "write",
        wrong(session={**WHO, "permissions": "a"}),
        "/session/permissions",
    ),
    "a branch of no kind": (
        "write",
        wrong(session={**WHO, "branches": [{"kind": "x", "name": "n"}]}),
        "/session/branches/0/kind",
    ),
    "branches without end": (
        "write",
        wrong(session={**WHO, "branches": [{"kind": "draft", "name": "n"}] * 50}),
        "/session/branches",
    ),
    "a day that is none": ("write", wrong(at="2026-02-30T00:00:00Z"), "/at"),
    "a moment without a zone": ("write", wrong(at="2026-02-03T00:00:00"), "/at"),
    "a moment that is a number": ("write", wrong(at=True), "/at"),
    "a list for a text": ("observe", {"session": WHO, "text": ["a"]}, "/text"),
    "nothing for a text": ("observe", {"session": WHO, "text": None}, "/text"),
    "a text for a number": ("context", {"session": WHO, "query": "?", "budget": "many"}, "/budget"),
    "a part for a number": ("context", {"session": WHO, "query": "?", "budget": 1.5}, "/budget"),
    "yes for a number": ("context", {"session": WHO, "query": "?", "budget": True}, "/budget"),
    "a number for yes": ("context", {"session": WHO, "query": "?", "history": 1}, "/history"),
    "turns that are no list": ("observe_many", {"session": WHO, "turns": {"text": "a"}}, "/turns"),
    "a turn that is a text": ("observe_many", {"session": WHO, "turns": ["a"]}, "/turns/0"),
    "a bad second write": (
        "write_many",
        {"session": WHO, "writes": [{"key": "a", "value": 1}, {"key": 2, "value": 1}]},
        "/writes/1/key",
    ),
    "a write with a field too many": (
        "write_many",
        {"session": WHO, "writes": [{"key": "a", "value": 1, "x": 1}]},
        "/writes/0/x",
    ),
    "too many turns": (
        "observe_many",
        {"session": WHO, "turns": [{"text": ""}] * 10_001},
        "/turns",
    ),
    "a source with a field too many": ("write", wrong(source={"type": "x", "y": 1}), "/source"),
    "a source with a text for a number": (
        "write",
        wrong(source={"type": "x", "turn_index": "5"}),
        "/source",
    ),
    "a day that is a text": ("usage", {"session": WHO, "since": "soon"}, "/since"),
}


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("name", FIELDS)
def test_a_field_of_the_wrong_form_is_pointed_at(service: Running, name: str) -> None:
    """With 422, and a JSON pointer to it."""
    operation, body, pointer = FIELDS[name]
    told = problem(service.post(operation, body), 422, "InvalidInput")
    assert pointer in [one["field"][: len(pointer)] for one in told["fields"]]


MEANINGS: dict[str, tuple[str, Any]] = {
    "not a number": ("write", b'{"session": {"user_id": "a"}, "key": "a", "value": NaN}'),
    "infinity": ("write", b'{"session": {"user_id": "a"}, "key": "a", "value": -Infinity}'),
    "beyond any float": ("write", b'{"session": {"user_id": "a"}, "key": "a", "value": 1e999}'),
    "a number of 5000 digits": (
        "write",
        b'{"session": {"user_id": "a"}, "key": "a", "value": ' + b"9" * 5000 + b"}",
    ),
    "NUL in a value": ("write", wrong(value="a\0b")),
    "NUL in a key": ("write", wrong(key="a\0b")),
    "NUL in a name": ("write", wrong(session={"user_id": "a\0"})),
    "NUL in a turn": ("observe", {"session": WHO, "text": "My desk is \0."}),
    "an empty key": ("write", wrong(key="")),
    "a key without end": ("write", wrong(key="k" * 100_000)),
    "a value too large": ("write", wrong(value="v" * 1_500_000)),
    "nested too deep": ("write", wrong(value=json.loads("[" * 100 + "]" * 100))),
    "nobody": ("write", {"key": "a", "value": 1}),
    "an empty name": ("write", wrong(session={"user_id": ""})),
    "an unknown title": ("write", wrong(session={**WHO, "authority": "emperor"})),
    "an unknown scope": ("write", wrong(scope="universe")),
    "an unknown type": ("write", wrong(memory_type="rumour")),
    "it ends before it begins": (
        "write",
        wrong(valid_from="2026-02-01T00:00:00Z", valid_until="2026-01-01T00:00:00Z"),
    ),
    "a certainty above one": ("write", wrong(confidence=7)),
    "a budget below nothing": ("context", {"session": WHO, "query": "?", "budget": -1}),
    "a budget beyond all": ("context", {"session": WHO, "query": "?", "budget": 10**30}),
    "an unknown profile": ("context", {"session": WHO, "query": "?", "profile": "x"}),
    "a limit beyond all": ("receipts", {"session": WHO, "limit": 10**30}),
    "a limit below nothing": ("receipts", {"session": WHO, "limit": -1}),
    "a note for ever": ("note", {"session": WHO, "key": "a", "value": 1, "ttl": 1e300}),
    "a note for no time": ("note", {"session": WHO, "key": "a", "value": 1, "ttl": -1}),
    "forget nothing": ("forget", {"session": WHO}),
    "both at once": ("resolve", {"session": WHO, "fact_id": "x", "value": 1, "retract": True}),
}


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("name", MEANINGS)
def test_what_makes_no_sense_is_refused_with_its_reason(service: Running, name: str) -> None:
    """With a 4xx in our own words."""
    operation, body = MEANINGS[name]
    answer = service.post(operation, body)
    assert answer.status_code in (400, 422), answer.text
    told = problem(answer, answer.status_code, "InvalidInput")
    assert len(told["detail"]) < 500


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.path)
@pytest.mark.usefixtures("unchanged")
def test_every_operation_refuses_nonsense(service: Running, operation: Operation) -> None:
    """A list, a text, a number, and a field that nobody knows."""
    for body in (b"[]", b'"x"', b"5", b"null", b'{"nobody_knows": 1}'):
        problem(service.post(operation.path, body), 422)


def test_clocks_may_differ(service: Running) -> None:
    """What was said tomorrow or long ago is taken with its time; a moment that no calendar has is
    refused."""
    who = {"session": {**WHO, "organization": "skew"}}
    for at in ("2037-01-01T00:00:00Z", "1971-01-01T00:00:00+14:00"):
        said = service.post("observe", {**who, "text": f"My desk is {at[:4]}.", "at": at})
        assert said.status_code in (200, 422), said.text
        assert said.status_code == 200 or "at" in said.json()["detail"]
    for at in ("10000-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "99999999999999999999"):
        problem(service.post("write", {**who, "key": "a", "value": 1, "at": at}), 422)


def test_an_id_is_used_once(service: Running) -> None:
    """The same id again is refused with 409, and the first fact stays as it was."""
    who = {"session": {**WHO, "organization": "twice"}}
    service.post("write", {**who, "key": "a", "value": 1, "id": "mine"})
    problem(
        service.post("write", {**who, "key": "a", "value": 2, "id": "mine"}), 409, "DuplicateId"
    )
    assert service.post("current", {**who, "key": "a"}).json() == 1


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "*/*"]
)
def test_another_type_of_body_is_refused(service: Running, kind: str) -> None:
    """A form of a web page, above all, which a browser sends without asking anybody."""
    body = json.dumps(wrong()).encode()
    problem(service.post("write", body, Content_Type=kind), 415)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/write", 405),
        ("PUT", "/v1/write", 405),
        ("DELETE", "/v1/forget", 405),
        ("OPTIONS", "/v1/write", 405),
        ("POST", "/v1/nothing", 404),
        ("POST", "/v1/write/", 404),
        ("POST", "/v1//write", 404),
        ("POST", "//v1/write", 404),
        ("POST", "/v1/../v1/write", 404),
        ("POST", "/v1%2Fwrite", 200),
        ("POST", "/v1/write%00", 404),
        ("POST", "/v1/_check_open", 404),
        ("POST", "/v1/session", 404),
        ("POST", "/v1/hypothetical", 404),
        ("POST", "/health", 405),
        ("GET", "/docs", 404),
        ("GET", "/v1/%2e%2e/%2e%2e/etc/passwd", 404),
    ],
)
def test_nothing_else_is_there(service: Running, method: str, path: str, status: int) -> None:
    """Other paths and methods are told as problems too; none of them leads anywhere."""
    body = json.dumps(wrong(key=5)).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    sent = f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
    answer = service.raw(sent)
    told = int(answer.split(b" ")[1])
    # An encoded slash is a slash to the server; what it leads to is refused for its own fault.
    assert told == (422 if status == 200 else status)
    assert b"application/problem+json" in answer
    assert b"location:" not in answer.lower()


@pytest.mark.usefixtures("unchanged")
def test_a_method_is_what_the_request_line_says(service: Running) -> None:
    """No header makes another one of it."""
    for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        answer = httpx.get(f"{service.address}/v1/write", headers={name: "POST"}, **PLAIN)
        assert answer.status_code == 405


def request_head(path: str = "/v1/write", **headers: str) -> bytes:
    said = {"Host": "localhost", "Content-Type": "application/json", **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in said.items())
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode()


def test_a_body_that_is_too_large_is_refused_before_it_is_read(start: Start) -> None:
    """By what its head says, or as soon as it is too much."""
    service = start(max_body_bytes=10_000)
    with service.connect() as connection:
        connection.sendall(request_head(Content_Length=str(10**12)))
        assert b" 413 " in connection.recv(65536).split(b"\r\n")[0] + b" "
    with service.connect() as connection:
        connection.sendall(request_head(Transfer_Encoding="chunked"))
        for _ in range(20):
            connection.sendall(b"400\r\n" + b" " * 1024 + b"\r\n")
        assert b" 413 " in connection.recv(65536).split(b"\r\n")[0] + b" "
    problem(service.post("write", b" " * 20_000), 413, "TooLarge")


def test_a_body_without_end_is_cut_off(start: Start) -> None:
    """Who goes on sending after the answer is left alone before long."""
    service = start(max_body_bytes=10_000)
    with service.connect() as connection:
        connection.sendall(request_head(Transfer_Encoding="chunked"))
        ends = time.monotonic() + PATIENCE
        with pytest.raises(OSError):
            while time.monotonic() < ends:
                connection.sendall(b"400\r\n" + b" " * 1024 + b"\r\n")
                time.sleep(0.01)


def test_a_slow_body_is_not_waited_for(start: Start) -> None:
    """It is refused with 408 when its time is over; others are served meanwhile."""
    service = start(body_timeout=3)
    with service.connect() as connection:
        connection.sendall(request_head(Content_Length="100") + b"{")
        assert service.post("current", {"session": WHO, "key": "a"}).status_code == 200
        assert b" 408 " in connection.recv(65536).split(b"\r\n")[0] + b" "


def test_a_slow_head_is_not_waited_for(start: Start) -> None:
    """Byte after byte of it does not keep the connection open."""
    service = start(header_timeout=0.5)
    with service.connect() as connection, pytest.raises(OSError):
        for byte in request_head() * 50:
            connection.sendall(bytes([byte]))
            time.sleep(0.05)
            connection.setblocking(False)
            try:
                if connection.recv(1) == b"":
                    raise ConnectionResetError
            except BlockingIOError:
                pass
            connection.setblocking(True)
    with service.connect() as silent:
        assert read_all(silent) == b""


def test_a_head_without_end_is_refused(service: Running) -> None:
    """Neither one long header nor many small ones fill the memory."""
    for piece in (b"a" * 8192, b"x-a: b\r\n" * 1000):
        with service.connect() as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nx-long: ")
            try:
                for _ in range(40):
                    connection.sendall(piece)
            except OSError:
                continue
            answer = read_all(connection)
            assert answer == b"" or b" 431 " in answer


def test_too_many_connections_are_told_to_come_back(start: Start) -> None:
    """One more than there may be gets 503, and the others go on."""
    service = start(waiting=5, header_timeout=PATIENCE)
    held = [service.connect() for _ in range(6)]
    asked = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    try:  # it counts them when it comes to them
        assert eventually(lambda: service.raw(asked).startswith(b"HTTP/1.1 503"))
    finally:
        for connection in held:
            connection.close()
    assert eventually(lambda: service.raw(asked).startswith(b"HTTP/1.1 200"))


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"POST /v1/write HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
        b"Content-Length: 6\r\n\r\nhello!",
        b"POST /v1/write HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\n\r\n",
        b"POST /v1/write HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/write HTTP/1.1\r\nHost : a\r\n\r\n",
        b"GET /health HTTP/9.9\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
    ],
    ids=["TLS", "two lengths", "a length and pieces", "below nothing", "a gap", "version", "NUL"],
)
def test_what_is_no_http_is_refused(service: Running, data: bytes) -> None:
    """A request that two readers could understand in two ways above all."""
    with service.connect() as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        assert read_all(connection).startswith((b"HTTP/1.1 400", b"")) is True
    answer = service.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")


def test_a_line_of_a_stream_may_not_be_without_end(start: Start) -> None:
    """The stream may be; a line is refused when it is too long, and so is one that never comes."""
    service = start(max_body_bytes=10_000, idle_timeout=0.5)
    opening = json.dumps({"session": WHO}).encode() + b"\n"
    kind = {"Content-Type": "application/x-ndjson"}
    long = httpx.post(
        f"{service.address}/v1/observe/stream",
        content=opening + b"x" * 200_000,
        headers=kind,
        **PLAIN,
    )
    assert "TooLarge" in long.text
    with service.connect() as connection:
        said = request_head(
            "/v1/observe/stream", Content_Length="999", **{"Content-Type": kind["Content-Type"]}
        )
        connection.sendall(said + opening)
        assert b"Timeout" in read_all(connection)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "lines",
    [
        b"",
        b"{}\n",
        b"nonsense\n",
        b'{"kind": "header", "format": "incumbent-export", "version": 99}\n',
        HEADER + b"{\n",
        HEADER + b"[1]\n",
        HEADER + b'{"kind": "fact"}\n',
        HEADER + b'{"kind": "fact", "id": 5, "depends_on": 5}\n',
    ],
)
def test_an_import_that_is_none_brings_nothing(service: Running, lines: bytes) -> None:
    """All or nothing, with the reason."""
    answer = service.post("import", lines, Content_Type="application/x-ndjson")
    problem(answer, 422, "InvalidInput")
    assert "new" not in service.memory.store.organizations()
