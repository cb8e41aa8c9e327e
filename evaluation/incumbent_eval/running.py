"""Running over many items: in this process or in several, in order, with progress."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from incumbent.model.errors import InvalidInput
from incumbent_eval.systems import Progress

Item = TypeVar("Item")
Result = TypeVar("Result")

DATA_VARIABLE = "INCUMBENT_BENCH_DATA"
_CHUNK = 4


def each(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    what: str,
    workers: int = 1,
    progress: Progress | None = None,
) -> Iterator[Result]:
    """The results of a function for each item, in order.

    With more than one worker it runs in processes of their own, so it must be a function of a
    module, or a partial of one, and items and results must be picklable.
    """
    if workers < 1:
        raise InvalidInput(f"workers must be at least 1, not {workers}")
    for done, result in enumerate(_results(function, items, workers), start=1):
        if progress is not None:
            progress(what, done, len(items))
        yield result


def _results(
    function: Callable[[Item], Result], items: Sequence[Item], workers: int
) -> Iterator[Result]:
    if workers == 1 or len(items) < 2:
        yield from map(function, items)
        return
    # Spawned, not forked: a fork copies the locks of libraries without the threads that hold them.
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(items)), mp_context=fresh) as pool:
        yield from pool.map(function, items, chunksize=_CHUNK)


class HeldClock:
    """A clock that shows the time it was last set to, and is never set back."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def __call__(self) -> datetime:
        return self._now

    def move_to(self, moment: datetime) -> None:
        """Show this moment, unless it is past already."""
        self._now = max(self._now, moment)


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON Lines file, packed with gzip or not."""
    opener: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _parsed(line, path, number)
    except FileNotFoundError:
        raise InvalidInput(
            f"there is no file {path}; give the path of a .jsonl or .jsonl.gz"
        ) from None
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from None


def _parsed(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{path}, line {number}, is not JSON: {error}") from None
    if not isinstance(record, dict):
        raise InvalidInput(f"{path}, line {number}, is no JSON object")
    return record


def data_folder(given: Path | None) -> Path | None:
    """The folder of the data: as given, else from the environment, else None."""
    if given is not None and not given.is_dir():
        raise InvalidInput(f"there is no folder {given}; give the folder that holds the data sets")
    named = os.environ.get(DATA_VARIABLE)
    found = given or (Path(named) if named else None)
    return found if found is not None and found.is_dir() else None
