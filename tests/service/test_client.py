"""The client where the network is not to be relied on."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

import incumbent
from tests.service.conftest import Start
from tests.service.running import Running, a_key, read_all


class Lossy:
    """Stands between a client and a service, and loses the answers to some requests."""

    def __init__(self, service: Running) -> None:
        self.to_lose = 0
        self.passed = 0
        self._port = service.port
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                self._pass_on(connection)

    def _pass_on(self, connection: socket.socket) -> None:
        asked = b""
        while b"\r\n\r\n" not in asked:
            asked += connection.recv(65536)
        head, _, body = asked.partition(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        )
        while len(body) < length:
            body += connection.recv(65536)
        head = head.replace(b"Connection: keep-alive", b"Connection: close")
        with socket.create_connection(("127.0.0.1", self._port)) as behind:
            behind.sendall(head + b"\r\n\r\n" + body)
            answer = read_all(behind)
        self.passed += 1
        if self.to_lose:
            self.to_lose -= 1
            return
        connection.sendall(answer)

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def lossy(service: Running) -> Iterator[Lossy]:
    made = Lossy(service)
    yield made
    made.close()


def test_a_write_whose_answer_got_lost_is_done_once(service: Running, lossy: Lossy) -> None:
    """The client asks again under the same name, and gets the verdict of the first time."""
    with incumbent.open(lossy.address) as memory:
        bob = memory.session(user_id="bob")
        lossy.to_lose = 2
        verdict = bob.write("price", 5)
        assert verdict.outcome is incumbent.Outcome.ESTABLISHED
        lossy.to_lose = 1
        bob.observe("My desk is 4.")
        lossy.to_lose = 1
        bob.write_many([{"key": "a", "value": 1}, {"key": "b", "value": 2}])
    assert lossy.passed == 7
    behind = service.memory.session(user_id="bob")
    assert len(behind.facts()) == 4
    assert [len(behind.explain(key).verdicts) for key in ("price", "desk", "a")] == [1, 1, 1]


def test_what_could_be_done_twice_is_not_asked_again(service: Running, lossy: Lossy) -> None:
    """Going back twice would be going forth: the client says that it does not know."""
    with incumbent.open(lossy.address) as memory:
        bob = memory.session(user_id="bob")
        bob.write("price", 5)
        bob.write("price", 6)
        lossy.to_lose = 1
        with pytest.raises(incumbent.StoreUnavailable, match=r"revert.*look whether it was done"):
            bob.revert("price")
        assert bob.current("price") == 5


def test_a_read_whose_answer_got_lost_is_asked_again(lossy: Lossy) -> None:
    """As often as it takes, within reason."""
    with incumbent.open(lossy.address) as memory:
        bob = memory.session(user_id="bob")
        lossy.to_lose = 3
        assert bob.current("price") is None
        lossy.to_lose = 9
        with pytest.raises(incumbent.StoreUnavailable, match="incumbent serve"):
            bob.current("price")


def test_the_key_comes_from_the_call_or_the_environment(
    guarded: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one the service's refusal is told; none of them shows the key in its words."""
    key = a_key(guarded.memory, organization="default")
    with incumbent.open(guarded.address, key=key) as memory:
        assert memory.session(user_id="bob").current("a") is None
        assert key not in repr(memory) + repr(memory.session(user_id="bob"))
    with (
        incumbent.open(guarded.address) as memory,
        pytest.raises(incumbent.NotPermitted, match="show a key or a token"),
    ):
        memory.session(user_id="bob").current("a")
    monkeypatch.setenv("INCUMBENT_KEY", key)
    with incumbent.open(guarded.address) as memory:
        assert memory.session(user_id="bob").current("a") is None


def test_a_client_in_a_hurry_waits(start: Start) -> None:
    """Told to come back later, it does."""
    service = start(credentials=True, rate=20, burst=2)
    key = a_key(service.memory, organization="default")
    with incumbent.open(service.address, key=key) as memory:
        bob = memory.session(user_id="bob")
        assert [bob.current("a") for _ in range(6)] == [None] * 6


def test_an_answer_of_something_else_is_no_answer(tmp_path: object) -> None:
    """A page of a web server is told as what it is."""
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Page(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = b"<html>hello</html>"
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with (
            incumbent.open(f"http://127.0.0.1:{server.server_port}") as memory,
            pytest.raises(incumbent.StoreError, match="same version"),
        ):
            memory.session(user_id="bob").facts()
    finally:
        server.shutdown()
        server.server_close()
