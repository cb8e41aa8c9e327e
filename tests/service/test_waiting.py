"""Nobody waits for another organization who need not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import incumbent
from tests.conftest import QUICK
from tests.patience import PATIENCE
from tests.service.running import Running


def test_readers_do_not_wait_behind_writers(tmp_path: Path) -> None:
    """A file has one writer at a time. While one is at it for long, those who queue behind it do
    not take up all threads: who only reads is answered."""
    with incumbent.open(tmp_path / "agent.db", settings=QUICK) as memory:
        memory.session(user_id="ann", organization="reading").write("desk", 4)
        with Running(memory, threads=4) as running, ThreadPoolExecutor(8) as pool:

            def write(number: int) -> int:
                session = {"user_id": "bob", "organization": f"writing-{number}"}
                body = {"session": session, "key": "lamp", "value": number}
                return running.post("write", body).status_code

            with memory.store.write("long") as _:
                writing = [pool.submit(write, number) for number in range(8)]
                session = {"user_id": "ann", "organization": "reading"}
                for _ in range(20):  # while more and more of the others have arrived
                    body = {"session": session, "query": "Which desk?"}
                    assert "desk: 4" in running.post("context", body).json()["text"]
                assert not any(one.done() for one in writing)
            assert [one.result(PATIENCE) for one in writing] == [200] * 8
