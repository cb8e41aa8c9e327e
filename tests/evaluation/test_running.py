"""Running over many items, and reading the files they come from."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from incumbent.model.errors import InvalidInput
from incumbent_eval.running import HeldClock, data_folder, each, read_records


def test_results_come_in_order_from_any_number_of_workers() -> None:
    """Several processes give what one gives, and how far they are is told on the way."""
    told: list[tuple[str, int, int | None]] = []
    words = ["a", "bb", "ccc", "dddd", "eeeee"]
    alone = list(each(len, words, what="words", progress=lambda *step: told.append(step)))
    assert alone == [1, 2, 3, 4, 5]
    assert told == [("words", done, 5) for done in range(1, 6)]
    assert list(each(len, words, what="words", workers=2)) == alone


def test_no_workers_is_refused() -> None:
    """A run needs somebody to do it."""
    with pytest.raises(InvalidInput, match="at least 1"):
        list(each(len, ["a"], what="words", workers=0))


def test_a_held_clock_never_goes_back() -> None:
    """A turn with an earlier time than the last leaves the clock where it is."""
    clock = HeldClock(datetime(2026, 1, 1, tzinfo=UTC))
    clock.move_to(clock() + timedelta(hours=1))
    clock.move_to(clock() - timedelta(minutes=1))
    assert clock() == datetime(2026, 1, 1, 1, tzinfo=UTC)


def test_packed_and_plain_files_read_alike(tmp_path: Path) -> None:
    """JSON Lines, with gzip or without; empty lines are passed over."""
    lines = "".join(f"{json.dumps({'n': n})}\n\n" for n in range(3))
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    for name in ("a.jsonl", "a.jsonl.gz"):
        assert [row["n"] for row in read_records(tmp_path / name)] == [0, 1, 2]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """The message says which file, which line, and what is wrong with it."""
    with pytest.raises(InvalidInput, match="there is no file"):
        list(read_records(tmp_path / "none.jsonl"))
    (tmp_path / "bad.jsonl").write_text('{"n": 1}\n{"n": \n', encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"bad\.jsonl, line 2, is not JSON"):
        list(read_records(tmp_path / "bad.jsonl"))
    (tmp_path / "list.jsonl").write_text("[1]\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="line 1, is no JSON object"):
        list(read_records(tmp_path / "list.jsonl"))
    (tmp_path / "not.jsonl.gz").write_bytes(b"plain text")
    with pytest.raises(InvalidInput, match="cannot be read"):
        list(read_records(tmp_path / "not.jsonl.gz"))


def test_the_folder_is_given_or_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is given counts first; without either there is none; a wrong one is refused."""
    monkeypatch.delenv("INCUMBENT_BENCH_DATA", raising=False)
    assert data_folder(None) is None
    monkeypatch.setenv("INCUMBENT_BENCH_DATA", str(tmp_path))
    assert data_folder(None) == tmp_path
    inner = tmp_path / "inner"
    inner.mkdir()
    assert data_folder(inner) == inner
    with pytest.raises(InvalidInput, match="there is no folder"):
        data_folder(tmp_path / "none")
