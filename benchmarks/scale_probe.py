"""One process of `scale`: opens a store that was filled, makes calls, and tells what they took.

    python -m benchmarks.scale_probe KIND PATH SIZE

Times are of the processor, in milliseconds: the machine may have other things to do. Memory is the
most that was resident so far.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import tenure
from benchmarks import corpus

SETTINGS = tenure.Settings(durability="process", embedder="static")
KEY, SUBJECT = "setting", "boiler"
QUESTION = "What is the setting of the boiler?"
_BUDGET = 1_000
_ROUNDS = 15
Taken = dict[str, float]


def session_in(memory: tenure.Memory, organization: str = "acme") -> tenure.Session:
    return memory.session(
        user_id="ann", authority="manager", organization=organization, session_id="scale"
    )


def peak_mb() -> float:
    """The most memory so far. Not that of `getrusage`, which begins with what the parent had."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [x for x in status.read_text().splitlines() if x.startswith("VmHWM")]
        return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def took(call: Callable[[], object]) -> float:
    """Milliseconds of the processor that a call takes."""
    begun = time.process_time()
    call()
    return 1e3 * (time.process_time() - begun)


def median(call: Callable[[Any], object], given: Iterable[Any] = range(_ROUNDS)) -> float:
    """The median of calls, one with each of what is given."""
    return statistics.median([took(partial(call, one)) for one in given])


def middle(memory: tenure.Memory) -> datetime:
    """The moment at which half of the log was written."""
    with memory.store.read("acme") as reader:
        return reader.log(reader.head()[0] // 2, 1)[0].recorded_at


def of_facts(memory: tenure.Memory, size: int) -> Taken:
    """A person with very many facts."""
    ann = session_in(memory)
    asked = [one.question for one in corpus.questions(size)][: _ROUNDS + 1]
    found = {"first context": took(lambda: ann.context(asked[0], budget=_BUDGET))}
    found["peak MB, one context"] = peak_mb()
    found["context"] = median(lambda q: ann.context(q, budget=_BUDGET), asked[1:])
    then = middle(memory)
    before = ann.as_of(then, known_at=then)
    found["first of the past"] = took(lambda: ann.context(asked[0], budget=_BUDGET, at=then))
    found["past"] = median(lambda q: ann.context(q, budget=_BUDGET, at=then), asked[1:])
    found["as known then"] = median(lambda q: before.context(q, budget=_BUDGET), asked[1:])
    found["list_subjects"] = took(ann.list_subjects)
    found["list_users"] = took(lambda: memory.list_users(organization="acme"))
    found["peak MB, all"] = peak_mb()
    return found


def of_history(memory: tenure.Memory, size: int) -> Taken:
    """One address whose fact was superseded again and again."""
    ann = session_in(memory)
    states = ("office", "superseded")
    then = middle(memory)
    found = {"first context": took(lambda: ann.context(QUESTION, budget=_BUDGET))}
    found["peak MB, one context"] = peak_mb()
    found["put"] = median(lambda n: ann.write(KEY, f"probed {size} {n}", subject=SUBJECT))
    found["current()"] = median(lambda _: ann.current(KEY, subject=SUBJECT))
    found["context"] = median(lambda _: ann.context(QUESTION, budget=_BUDGET))
    found["history page"] = median(lambda _: ann.list_facts(key=KEY, states=states, limit=50))
    found["first of the past"] = took(lambda: ann.context(QUESTION, budget=_BUDGET, at=then))
    found["past"] = median(lambda _: ann.context(QUESTION, budget=_BUDGET, at=then))
    return found


def of_organizations(memory: tenure.Memory, size: int) -> Taken:
    """A store of very many organizations, of which one is asked."""
    ann = session_in(memory, f"organization-{size // 2}")
    found = {"first context": took(lambda: ann.context(QUESTION, budget=_BUDGET))}
    found["context"] = median(lambda _: ann.context(QUESTION, budget=_BUDGET))
    found["peak MB, one context"] = peak_mb()
    return found


KINDS = {"facts": of_facts, "history": of_history, "organizations": of_organizations}


def main(kind: str, path: str, size: int) -> None:
    begun = time.process_time()
    with tenure.open(Path(path), settings=SETTINGS) as memory:
        opened = 1e3 * (time.process_time() - begun)
        print(json.dumps({"open": opened, **KINDS[kind](memory, size)}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
