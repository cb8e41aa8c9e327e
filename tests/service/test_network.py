"""Where the service listens, whom it answers there, and what its words give away."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

import incumbent
from incumbent.http.configuration import Service, is_here
from incumbent.telemetry.logs import JsonFormatter
from tests.patience import PATIENCE
from tests.service.conftest import Start
from tests.service.running import (
    PLAIN,
    PROGRAM,
    Running,
    a_key,
    environment,
    problem,
    serving,
)

BODY = {"session": {"user_id": "bob"}, "key": "a", "value": 1}


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "[::]", "192.168.1.5", "example.com", "", "localhost.example.com"]
)
def test_a_public_address_takes_credentials(host: str) -> None:
    """Without any, the service does not start there, and says how to make some."""
    with pytest.raises(incumbent.InvalidInput, match="incumbent keys create"):
        Service(host=host)
    assert Service(host=host, credentials=True).host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.1.2.3"])
def test_this_machine_takes_none(host: str) -> None:
    """On loopback it starts as it is."""
    assert Service(host=host).host == host


@pytest.mark.slow
def test_the_command_refuses_a_public_address_until_there_is_a_key(tmp_path: Path) -> None:
    """The same on the command line; with a key it starts, and asks for it."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, *words, "--db", "a.db"],
            cwd=tmp_path,
            env=dict(environment()),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    refused = run("serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode != 0
    assert "incumbent keys create" in refused.stderr
    made = run("keys", "create", "test", "--scope", "read", "--json")
    key = json.loads(made.stdout)["key"]
    with serving("a.db", tmp_path, "--host", "0.0.0.0") as process:
        address = f"http://127.0.0.1:{process.port}"
        ask = {"session": {"user_id": "bob"}, "key": "a"}
        assert httpx.post(f"{address}/v1/current", json=ask, **PLAIN).status_code == 401
        shown = {"Authorization": f"Bearer {key}"}
        answer = httpx.post(f"{address}/v1/current", json=ask, headers=shown, **PLAIN)
        assert answer.status_code == 200, answer.text
        assert process.stop() == 0
        assert key not in process.log
        assert key.rpartition("_")[2] not in process.log


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example.com", "localhost.evil.example.com", "127.0.0.1.evil.example.com", ""),
        *("localhost:1@evil.example.com", "[::1]evil.example.com", "10.0.0.1", "0.0.0.0", "[::]"),
        *("localhost,evil.example.com", "localhost evil", "127.0.0.1:80:80"),
    ],
)
def test_a_name_that_points_here_is_no_way_in(service: Running, host: str) -> None:
    """A page whose name was made to point at this machine is refused by the name it used."""
    assert not is_here(host)
    data = json.dumps(BODY).encode()
    head = (
        f"POST /v1/write HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    )
    answer = service.raw(head.encode() + data)
    assert answer.split(b" ")[1] in (b"403", b"400")
    assert list(service.memory.store.dump("default")) == []


@pytest.mark.parametrize(
    "origin", ["https://evil.example.com", "null", "http://localhost.evil.com", "file://", "x"]
)
def test_a_web_page_from_elsewhere_may_not_call(service: Running, origin: str) -> None:
    """Its browser says where it is from; and no answer allows it to read anything."""
    answer = service.post("write", BODY, Origin=origin)
    problem(answer, 403, "NotPermitted")
    assert "access-control-allow-origin" not in answer.headers
    asked = httpx.options(
        f"{service.address}/v1/write",
        headers={"Origin": origin, "Access-Control-Request-Method": "POST"},
        **PLAIN,
    )
    assert asked.status_code == 405
    assert "access-control-allow-origin" not in asked.headers


@pytest.mark.parametrize("name", ["X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "X-Real-IP"])
def test_a_proxy_in_front_of_an_open_service_is_noticed(service: Running, name: str) -> None:
    """It would let everybody in: the service wants credentials first."""
    refused = problem(service.post("write", BODY, **{name: "203.0.113.7"}), 403)
    assert "incumbent keys create" in refused["detail"]


def test_what_a_proxy_says_changes_nobody(guarded: Running) -> None:
    """Headers of a proxy are no credential, and with one they change nothing."""
    key = a_key(guarded.memory)
    said = {
        "X-Forwarded-For": "127.0.0.1",
        "X-Forwarded-Host": "localhost",
        "X-Forwarded-User": "root",
        "X-Remote-User": "root",
        "X-Incumbent-Organization": "globex",
        "X-Original-URL": "/v1/forget",
        "X-Rewrite-URL": "/v1/forget",
        "Cookie": f"Authorization=Bearer {key}",
    }
    problem(guarded.post("write", BODY, **said), 401)
    made = guarded.post("write", BODY, key=key, **said).json()
    fact = guarded.post("get", {**BODY_WHO, "fact_id": made["fact_id"]}, key=key).json()
    assert (fact["organization"], fact["owner"]) == ("acme", "bob")


BODY_WHO = {"session": {"user_id": "bob"}}


def test_two_credentials_are_none(guarded: Running) -> None:
    """A request that shows two is refused, in either order: something on the way may have gone by
    the other."""
    good, bad = f"Bearer {a_key(guarded.memory)}", "Bearer nothing"
    for pair in ((good, bad), (bad, good), (good, good)):
        with httpx.Client(**PLAIN) as client:
            headers = [("Content-Type", "application/json")]
            headers += [("Authorization", one) for one in pair]
            url = f"{guarded.address}/v1/write"
            problem(client.post(url, content=json.dumps(BODY), headers=headers), 401)


@pytest.mark.parametrize("way", ["query", "body", "cookie", "basic", "path"])
def test_a_key_is_taken_from_one_place_only(guarded: Running, way: str) -> None:
    """Anywhere else it would get into logs and histories."""
    key = a_key(guarded.memory)
    path = {"query": f"write?key={key}&access_token={key}", "path": f"write/{key}"}.get(
        way, "write"
    )
    body = {**BODY, "authorization": f"Bearer {key}"} if way == "body" else BODY
    said = {"cookie": {"Cookie": f"key={key}"}, "basic": {"Authorization": f"Basic {key}"}}
    answer = guarded.post(path, body, **said.get(way, {}))
    assert answer.status_code == (404 if way == "path" else 401)


def test_a_large_body_of_a_stranger_is_not_read(guarded: Running) -> None:
    """Who shows nothing is refused by the head of a large request."""
    said = (
        b"POST /v1/write HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        b"Content-Length: 1900000\r\n\r\n"
    )
    with guarded.connect() as connection:
        connection.sendall(said)
        assert connection.recv(65536).startswith(b"HTTP/1.1 401")


class Heard(logging.Handler):
    """What the log says, as the service writes it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(JsonFormatter())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


def test_neither_errors_nor_logs_give_anything_away(guarded: Running) -> None:
    """No secret, no value, and nothing of other people is in the log or in a refusal, whatever is
    done wrong."""
    heard = Heard()
    loggers = [logging.getLogger(name) for name in ("incumbent", "uvicorn")]
    levels = [one.level for one in loggers]
    for one in loggers:
        one.addHandler(heard)
        one.setLevel(logging.DEBUG)
    memory = guarded.memory
    ann = memory.session(user_id="ann", organization="acme")
    hers = ann.write("diagnosis", "CANARY-HERS", id="hers-1")
    key = a_key(memory, "read", "write", "review", user_id="bob")
    secret = key.split("_", 2)[2]  # which may have underscores itself
    refusals: list[str] = []
    try:
        asked: list[tuple[str, Any]] = [
            ("write", {"key": "CANARY-KEY", "value": "CANARY-MINE"}),
            ("write", {"key": "diagnosis", "value": "x", "supersedes": hers.fact_id}),
            ("write", {"key": "diagnosis", "value": "x", "id": "hers-1"}),
            ("write", {"key": "diagnosis", "value": "x", "depends_on": ["hers-1"]}),
            ("explain", {"key_or_id": "hers-1"}),
            ("retract", {"key_or_id": "hers-1"}),
            ("undo", {"verdict": hers.id}),
            ("resolve", {"fact_id": "hers-1", "still_right": True}),
            ("note", {"key": "n", "value": 1, "states": ["hers-1"]}),
            ("observe", {"text": "My diagnosis is CANARY-SAID.", "at": "nonsense"}),
            ("observe", {"text": "My diagnosis is CANARY-SAID."}),
            ("write", {"key": "a", "value": 1, "authority": "policy"}),
            ("receipt", {"receipt_id": "rc-0"}),
        ]
        for name, body in asked:
            answer = guarded.post(name, body, key=key, X_Request_Id="mine-1")
            if answer.status_code != 200:
                refusals.append(answer.text)
        wrong = (key[:-1], f"{key[:-1]}!", "CANARY-TOKEN.a.b")
        refusals += [guarded.post("facts", {}, key=shown).text for shown in wrong]
        refusals.append(guarded.post(f"x/{key}", {}).text)
    finally:
        for one, level in zip(loggers, levels, strict=True):
            one.removeHandler(heard)
            one.setLevel(level)
    logged = "\n".join(heard.lines)
    assert '"request_id": "mine-1"' in logged
    for text in ("CANARY", key, secret, "ann"):
        assert text not in logged, text
    for told in refusals:
        for text in ("CANARY-HERS", "CANARY-TOKEN", secret, '"ann"', "'ann'"):
            assert text not in told, told


@pytest.mark.parametrize(
    ("said", "kept"),
    [("abc-1", True), ("x" * 101, False), ("a\tb", False), ("ü", False), ("", False)],
)
def test_a_request_id_is_the_callers_where_it_is_a_decent_one(
    service: Running, said: str, kept: bool
) -> None:
    """It comes back with the answer and in a problem; one that could break a log does not."""
    headers = {b"X-Request-Id": said.encode("latin-1")}
    answer = httpx.get(f"{service.address}/health", headers=headers, **PLAIN)
    assert (answer.headers["x-request-id"] == said) is kept
    assert len(answer.headers["x-request-id"]) > 3


def test_answers_are_not_kept_by_anything_on_the_way(service: Running) -> None:
    """Nor guessed to be of another type."""
    answer = service.post("write", BODY)
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "server" not in answer.headers


def test_threads_are_shared_fairly(start: Start) -> None:
    """Health answers while every thread is at work."""
    import threading

    service = start(threads=1)
    turns = {
        "session": {"user_id": "a"},
        "turns": [{"text": f"My desk is {n}."} for n in range(40)],
    }
    busy = threading.Thread(target=service.post, args=("observe_many", turns))
    busy.start()
    assert httpx.get(f"{service.address}/health", **PLAIN, timeout=5).status_code == 200
    busy.join()
