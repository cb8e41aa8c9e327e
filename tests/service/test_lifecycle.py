"""Starting, stopping and being killed: what was acknowledged is there afterwards."""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import incumbent
from tests.conftest import QUICK, SOAK
from tests.patience import PATIENCE
from tests.servers import needs_own_server
from tests.service.conftest import ON_DISK, Start
from tests.service.running import PLAIN, Process, Running, Talk, problem, serving

WRITERS = 4


class Load:
    """Writers that note what was acknowledged, each with its own numbers, until told to stop."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.acknowledged: list[tuple[int, int]] = []
        self.begun: set[tuple[int, int]] = set()
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._write, args=(writer,)) for writer in range(WRITERS)
        ]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE)

    def wait_for(self, count: int) -> None:
        ends = time.monotonic() + PATIENCE
        while len(self.acknowledged) < count:
            assert time.monotonic() < ends, "no progress"
            time.sleep(0.01)

    def _write(self, writer: int) -> None:
        number = 0
        with httpx.Client(base_url=self.address, **PLAIN, timeout=PATIENCE) as client:
            while not self._stop.is_set():
                number += 1
                body = {
                    "session": {"user_id": f"w{writer}"},
                    "key": f"n{number}",
                    "value": number,
                    "id": f"w{writer}-{number}",
                }
                self.begun.add((writer, number))
                try:
                    answer = client.post("/v1/write", json=body)
                except httpx.HTTPError:
                    return
                if answer.status_code == 200:
                    self.acknowledged.append((writer, number))


def check_whole(where: str, load: Load) -> None:
    """All that was acknowledged is there, nothing that was never asked for is, and the store is
    sound."""
    with incumbent.open(where) as memory:
        for writer in range(WRITERS):
            session = memory.session(user_id=f"w{writer}")
            found = {(writer, fact.value) for fact in session.facts()}
            assert {one for one in load.acknowledged if one[0] == writer} <= found
            assert found <= load.begun
        check = getattr(memory.store, "check", None)
        if check is not None:
            assert list(check()) == []


def where_of(store: str, request: pytest.FixtureRequest, folder: Path) -> str:
    if store == "postgres":
        return str(request.getfixturevalue("databases").empty())
    return str(folder / "agent.db")


@pytest.mark.slow
@pytest.mark.parametrize("store", ON_DISK)
def test_killed_under_load_nothing_acknowledged_is_lost(
    store: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """With kill -9, again and again, each time at another moment; the next one goes on."""
    where = where_of(store, request, tmp_path)
    loads = []
    for round_ in range(8 if SOAK else 2):
        with serving(where, tmp_path) as process, Load(process.address) as load:
            load.wait_for(20 + 7 * round_)
            process.kill()
        loads.append(load)
        merged = Load(load.address)
        for one in loads:
            merged.acknowledged += one.acknowledged
            merged.begun |= one.begun
        check_whole(where, merged)


@pytest.mark.slow
@pytest.mark.parametrize("store", ON_DISK)
def test_stopped_under_load_calls_under_way_are_finished(
    store: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """With SIGTERM: what had begun is answered, the store is closed, and the exit code is 0."""
    where = where_of(store, request, tmp_path)
    with serving(where, tmp_path) as process, Load(process.address) as load:
        load.wait_for(20)
        assert process.stop() == 0
    check_whole(where, load)
    if store == "sqlite":
        left = [path.name for path in tmp_path.iterdir() if path.name.startswith("agent.db")]
        assert left == ["agent.db"], "the log of the store was folded in"


@pytest.mark.slow
def test_a_long_call_is_finished_before_the_service_stops(tmp_path: Path) -> None:
    """Somebody who asked before the signal gets the answer after it."""
    where = str(tmp_path / "agent.db")
    turns = [{"text": f"My desk is {number}.", "ref": str(number)} for number in range(60)]
    body = {"session": {"user_id": "bob"}, "turns": turns}
    answers: list[httpx.Response] = []

    def ask(process: Process) -> None:
        url = f"{process.address}/v1/observe_many"
        answers.append(httpx.post(url, json=body, timeout=PATIENCE, **PLAIN))

    with serving(where, tmp_path) as process:
        asking = threading.Thread(target=ask, args=(process,))
        asking.start()
        with incumbent.open(where) as memory:
            bob = memory.session(user_id="bob")
            ends = time.monotonic() + PATIENCE
            while bob.current("desk") is None and time.monotonic() < ends:
                time.sleep(0.01)
        assert process.stop() == 0
        asking.join(PATIENCE)
    assert answers[0].status_code == 200
    assert len(answers[0].json()) == 60


@pytest.mark.parametrize(
    "how",
    [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_an_idle_service_stops_at_once(tmp_path: Path, how: signal.Signals) -> None:
    """Also where connections are kept open; its last words are no traceback."""
    with serving(str(tmp_path / "agent.db"), tmp_path) as process:
        with httpx.Client(base_url=process.address, **PLAIN) as client:
            assert client.get("/health").json()["status"] == "ok"
            process.process.send_signal(how)
            assert process.process.wait(PATIENCE) == 0
        assert "Traceback" not in process.log


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that another account can enter too: PostgreSQL refuses to run as root."""
    made = Path(tempfile.mkdtemp(prefix="incumbent-test-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@needs_own_server
@pytest.mark.slow
def test_a_database_of_its_own_stops_with_the_service(tmp_path: Path, folder: Path) -> None:
    """`--postgres` leaves no server running."""
    import subprocess
    import sys

    from tests.service.running import PROGRAM, environment

    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "serve", "--port", "0", "--postgres", str(folder)],
        cwd=tmp_path,
        env=dict(environment()),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert " serves a PostgreSQL database at " in line
        address = line.partition(" at ")[2].partition(" ")[0]
        body = {"session": {"user_id": "bob"}, "key": "a", "value": 1}
        assert httpx.post(f"{address}/v1/write", json=body, **PLAIN).status_code == 200
        running = list(folder.rglob("postmaster.pid"))
        assert running
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    assert list(folder.rglob("postmaster.pid")) == []


@pytest.mark.slow
def test_two_services_on_one_file_are_one(tmp_path: Path) -> None:
    """What one of them was told, the other one knows."""
    where = str(tmp_path / "agent.db")
    with serving(where, tmp_path) as one, serving(where, tmp_path) as two:
        body = {"session": {"user_id": "bob"}, "key": "a"}
        httpx.post(f"{one.address}/v1/write", json={**body, "value": 1}, **PLAIN)
        answer = httpx.post(f"{two.address}/v1/current", json=body, **PLAIN)
        assert answer.json() == 1


def test_ready_says_whether_the_store_answers(start: Start, tmp_path: Path) -> None:
    """When the store is gone the process is still healthy, and not ready; calls say 503, without
    saying where the store is."""
    memory = incumbent.open(tmp_path / "gone.db", settings=QUICK)
    service = start(memory)
    get: Callable[[str], httpx.Response] = lambda path: httpx.get(  # noqa: E731
        f"{service.address}/{path}", **PLAIN
    )
    assert get("ready").json() == {"status": "ready"}
    memory.close()
    assert get("health").status_code == 200
    told = get("ready")
    problem(told, 503, "NotReady")
    assert told.headers["retry-after"]
    answer = service.post("current", {"session": {"user_id": "bob"}, "key": "a"})
    assert answer.status_code in (409, 503)
    assert "gone.db" not in answer.text


@needs_own_server
@pytest.mark.slow
def test_a_database_server_that_goes_away_and_comes_back(start: Start, folder: Path) -> None:
    """While it is gone: healthy, not ready, 503 for calls. When it is back, all goes on."""
    from incumbent.stores.postgres.local import LocalServer

    server = LocalServer(folder).start()
    try:
        settings = incumbent.Settings(embedder="static", busy_timeout=1.0)
        with incumbent.open(server.url(), settings=settings) as memory:
            service = start(memory)
            body: dict[str, Any] = {"session": {"user_id": "bob"}, "key": "a", "value": 1}
            assert service.post("write", body).status_code == 200
            server.stop()
            assert httpx.get(f"{service.address}/health", **PLAIN).status_code == 200
            gone = httpx.get(f"{service.address}/ready", **PLAIN, timeout=PATIENCE)
            problem(gone, 503)
            refused = service.post("write", body)
            problem(refused, 503)
            assert "postgres" not in refused.text.lower().replace("postgresql", "")
            assert str(folder) not in refused.text
            server.start()
            ends = time.monotonic() + PATIENCE
            while time.monotonic() < ends:
                back = service.post("write", {**body, "value": 2})
                if back.status_code == 200:
                    break
                time.sleep(0.2)
            assert back.status_code == 200, back.text
    finally:
        server.stop()


def test_the_log_is_a_json_object_a_line(tmp_path: Path) -> None:
    """Each request is one, with its id, and nothing that was said."""
    with serving(str(tmp_path / "agent.db"), tmp_path) as process:
        body = {"session": {"user_id": "bob"}, "key": "CANARY-KEY", "value": "CANARY-VALUE"}
        httpx.post(
            f"{process.address}/v1/write",
            json=body,
            headers={"X-Request-Id": "mine-7"},
            **PLAIN,
        )
        assert process.stop() == 0
        lines = [line for line in process.log.splitlines() if line.startswith("{")]
        told = [json.loads(line) for line in lines]
        assert [one["status"] for one in told if one.get("request_id") == "mine-7"] == [200]
        assert "CANARY" not in process.log
        assert "bob" not in process.log


def test_a_caller_who_hangs_up_leaves_nothing_half_done(service: Running) -> None:
    """A write whose caller is gone is there whole, or not at all."""
    for number in range(20):
        with service.connect() as connection:
            body = {"session": {"user_id": "bob"}, "key": f"k{number}", "value": number}
            data = json.dumps(body).encode()
            head = (
                f"POST /v1/write HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(data)}\r\n\r\n"
            )
            connection.sendall(head.encode() + data[: len(data) if number % 2 else 5])
    time.sleep(1)
    found = {fact.key for fact in service.memory.session(user_id="bob").facts()}
    assert found <= {f"k{number}" for number in range(1, 20, 2)}
    records = list(service.memory.export("default"))
    facts = sum(record["kind"] == "fact" for record in records)
    assert facts == sum(record["kind"] == "verdict" for record in records) == len(found)


def test_a_stream_that_is_idle_does_not_hold_up_a_stop(start: Start) -> None:
    """Who might send another turn some time is told that the service stops."""
    service = start(shutdown_timeout=600)
    with Talk(service) as talk:
        talk.send({"session": {"user_id": "ann"}}, {"text": "I live in Bern."})
        assert talk.next()["verdicts"]
        service.stop()
        told = talk.next()
        assert (told["problem"]["status"], told["problem"]["title"]) == (503, "Stopping")
    service.__exit__()
