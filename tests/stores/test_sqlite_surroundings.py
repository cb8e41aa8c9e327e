"""The SQLite store among others: rights, space, other processes, and what forgetting leaves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import incumbent
from tests.conftest import QUICK
from tests.patience import PATIENCE
from tests.stores import processes
from tests.stores.invariants import findings
from tests.stores.sample import contents, fill


class TestPermissions:
    """A file that may not be written can still be read."""

    @pytest.mark.parametrize("folder_mode", [0o777, 0o555], ids=["open folder", "closed folder"])
    def test_a_read_only_file(self, public_folder: Path, folder_mode: int) -> None:
        """Without the right to write, reading works and writing raises ReadOnlyStore."""
        path = public_folder / "agent.db"
        fill(path)
        path.chmod(0o444)
        before = path.read_bytes()
        public_folder.chmod(folder_mode)
        told = processes.run_as_nobody(processes.read_and_try_to_write, path)
        assert told["current"] == "Ben"
        assert told["history"] == ["Ann", "Ben"]
        for kind, message in told["refused"]:
            assert kind == "ReadOnlyStore"
            assert "agent.db" in message
        assert len(told["refused"]) == 5
        assert path.read_bytes() == before

    def test_a_read_only_folder(self, public_folder: Path) -> None:
        """A file that may be written in a folder that may not: an error of ours, nothing lost."""
        path = public_folder / "agent.db"
        held = fill(path)
        path.chmod(0o666)
        public_folder.chmod(0o555)
        told = processes.run_as_nobody(processes.read_and_try_to_write, path)
        for kind, message in told["refused"]:
            assert kind in ("ReadOnlyStore", "StoreError")
            assert "agent.db" in message
        public_folder.chmod(0o777)
        path.chmod(0o644)
        with incumbent.open(path) as memory:
            assert contents(memory) == held

    def test_reading_beside_a_writer(self, public_folder: Path) -> None:
        """A reader without the right to write sees what a writer has just committed."""
        path = public_folder / "agent.db"
        fill(path)
        with incumbent.open(path, settings=QUICK) as memory:
            session = memory.session(user_id="alice", authority="manager", organization="acme")
            session.write("lead", "Zoe")
            for file in public_folder.iterdir():
                file.chmod(0o444)
            told = processes.run_as_nobody(processes.read_and_try_to_write, path)
            assert told["current"] == "Zoe"
            assert {kind for kind, _ in told["refused"]} == {"ReadOnlyStore"}
            session.write("lead", "Yan")
            assert session.current("lead") == "Yan"


class TestSpace:
    """A full disk: an error of ours, nothing half written, and work goes on with space."""

    def test_a_full_disk(self, small_disk: Path) -> None:
        """On a disk that is full StoreFull comes out, the state stays, and space brings it back."""
        told = processes.run_alone(processes.fill_the_disk, small_disk)
        assert told["error"] == "StoreFull"
        assert "no space" in told["message"]
        _check_full(told)

    def test_a_limit_on_file_size(self, store_path: Path) -> None:
        """A file that may not grow raises an error of ours, and works again when it may."""
        told = processes.run_alone(processes.fill_the_quota, store_path)
        assert told["error"] == "StoreFull"
        assert "ulimit -f" in told["message"]
        _check_full(told)

    @pytest.mark.parametrize("limit", [1, 4_096, 100_000])
    def test_a_file_that_may_not_even_be_made(self, store_path: Path, limit: int) -> None:
        """It is told as such while it is opened, too, and opens once there is space."""
        told = processes.run_alone(processes.open_within, store_path, limit)
        assert told["error"] == "StoreFull"
        with incumbent.open(store_path) as memory:
            assert memory.store.check() == []


def _check_full(told: dict[str, Any]) -> None:
    assert told["written"] > 0
    assert told["unchanged"], "the failed write left something"
    assert told["readable"], "what was written before can be read while it is full"
    assert told["works again"], "writing works once there is space"
    assert told["findings"] == []


class TestNeighbours:
    """Other processes and threads at the same file."""

    @pytest.fixture
    def held(self, store_path: Path) -> Iterator[Path]:
        """A file whose write lock another process holds."""
        fill(store_path)
        with processes.holding_the_write_lock(store_path):
            yield store_path

    def test_a_lock_held_too_long(self, held: Path) -> None:
        """When another program holds the file longer than the wait, StoreBusy says so."""
        settings = incumbent.Settings(busy_timeout=0.2)
        with incumbent.open(held, settings=settings) as memory:
            session = memory.session(user_id="alice", authority="manager", organization="acme")
            before = contents(memory)
            with pytest.raises(incumbent.StoreBusy, match=r"agent\.db.*busy_timeout"):
                session.write("lead", "Zoe")
            with pytest.raises(incumbent.StoreBusy):
                memory.forget(organization="acme", user_id="alice")
            assert contents(memory) == before
            assert session.current("lead") == "Ben"  # reading waits for nobody

    def test_a_lock_given_back_in_time(self, store_path: Path) -> None:
        """A writer that waits gets its turn when the other lets go."""
        fill(store_path)
        with incumbent.open(store_path) as memory:
            session = memory.session(user_id="alice", authority="manager", organization="acme")
            with processes.holding_the_write_lock(store_path) as release:
                timer = threading.Timer(0.3, release)
                timer.start()
                session.write("lead", "Zoe")
                timer.join()
            assert session.current("lead") == "Zoe"

    def test_a_thread_that_holds_the_store_too_long(self, store_path: Path) -> None:
        """The wait has an end between threads of one process, too."""
        fill(store_path)
        caught: list[BaseException] = []
        with incumbent.open(store_path, settings=incumbent.Settings(busy_timeout=0.2)) as memory:

            def write() -> None:
                session = memory.session(user_id="alice", authority="manager", organization="acme")
                try:
                    session.write("lead", "Zoe")
                except incumbent.IncumbentError as error:
                    caught.append(error)

            waiting = threading.Thread(target=write, daemon=True)
            with memory.store.write("acme"):
                waiting.start()
                waiting.join(timeout=PATIENCE)
            waiting.join(timeout=PATIENCE)
        assert [type(error) for error in caught] == [incumbent.StoreBusy]

    def test_a_forked_process(self, store_path: Path) -> None:
        """A process and its fork both go on with one memory, and nothing is lost or broken."""
        told = processes.run_alone(processes.fork_and_write, store_path)
        assert told == {"child": 0, "values": 41, "findings": []}


SECRETS: dict[str, Any] = {
    "text": "swordfish-open-sesame",
    "unicode": "Schwert-Fïsch-🗼-swordfish",
    "long text": "swordfish " * 20_000,
    "number": 918273645546372819,
    "object": {"name": {"swordfish-name": ["swordfish-a", 918273645546372819]}},
}
MARKS = [b"swordfish", b"918273645546372819", "Schwert-Fïsch".encode(), b"Schwert-F\\u00efsch"]


def remains(path: Path) -> list[tuple[str, bytes]]:
    """Where in the file or beside it something of a secret can still be read."""
    beside = [path, *(Path(f"{path}{end}") for end in ("-wal", "-shm", "-journal"))]
    return [
        (file.name, mark)
        for file in beside
        if file.exists()
        for mark in MARKS
        if mark in file.read_bytes()
    ]


class TestForgetting:
    """Forgetting reaches the bytes of the file."""

    def tell(self, memory: incumbent.Memory, secret: Any) -> incumbent.Session:
        """Say the secret in every way there is, among things that stay."""
        session = memory.session(
            user_id="alice", authority="manager", organization="acme", session_id="s1"
        )
        for number in range(30):
            session.write(f"filler {number}", "x" * 500)
        session.write("code", "first", subject="vault")
        first = session.write(
            "code", secret, subject="vault", source=incumbent.Source(ref="swordfish-ref")
        )
        session.write("code", [secret, secret], subject="vault")
        session.write("copy", {"of": secret}, subject="vault", depends_on=[first.fact_id])
        session.undo(session.write("code", {"new": secret}, subject="vault"))
        session.retract("code", subject="vault", reason="swordfish-reason")
        session.write("swordfish-key", 1, subject="vault")
        session.note("said", f"remember {secret}" if isinstance(secret, str) else secret)
        return session

    @pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
    def test_no_byte_is_left(self, store_path: Path, secret: Any) -> None:
        """After `forget` no byte of an erased value is in the file, its log or its index."""
        with incumbent.open(store_path, settings=QUICK) as memory:
            session = self.tell(memory, secret)
            assert remains(store_path)
            proof = memory.forget(organization="acme", subject="vault")
            assert len(proof.fact_ids) == 6
            assert remains(store_path) == []
            assert session.current("filler 7") == "x" * 500
            assert findings(memory, "acme") == []
        assert remains(store_path) == []

    def test_no_byte_is_left_of_a_user(self, store_path: Path) -> None:
        """Forgetting a user takes everything they said, and their desk."""
        with incumbent.open(store_path, settings=QUICK) as memory:
            self.tell(memory, SECRETS["text"])
            other = memory.session(user_id="bob", organization="acme")
            other.write("city", "Bern")
            memory.forget(organization="acme", user_id="alice")
            assert remains(store_path) == []
            assert other.current("city") == "Bern"

    def test_scrubbing_waits_for_readers(self, store_path: Path) -> None:
        """While somebody reads the old state its bytes must stay; scrubbing later removes them."""
        with incumbent.open(store_path, settings=QUICK) as memory:
            self.tell(memory, SECRETS["text"])
            with memory.store.read("acme") as reader:
                reader.head()
                memory.forget(organization="acme", subject="vault")
                assert memory.store.scrub() is False
            assert memory.store.scrub() is True
            assert remains(store_path) == []
