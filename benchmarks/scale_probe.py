"""One process of `scale`: opens a store that was filled, makes calls, and tells what they took.

    python -m benchmarks.scale_probe KIND PATH SIZE

Times are of the processor, in milliseconds: the machine may have other things to do. Memory is the
most that was resident so far. No context is asked for twice: it would be kept from the first time.
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

import incumbent
from benchmarks import corpus

SETTINGS = incumbent.Settings(durability="process", embedder="static")
ORGANIZATION, PERSON = "acme", "ann"
KEY, SUBJECT = "setting", "boiler"
QUESTION = "What is the setting of the boiler?"
PORTION = 100_000
"""Facts of each person, or organization, where there are many of them."""
FEWEST = 10
"""How many people, or organizations, there are at least."""
_BUDGET = 1_000
_ROUNDS = 15
_SYLLABLES = ("ba", "de", "fi", "go", "lu", "ma", "ne", "ri")
Taken = dict[str, float]


# what is in the files


def portion_of(size: int) -> int:
    """Facts of each person, or organization, where there are so many in all."""
    return max(1, min(PORTION, size // FEWEST))


def organization_name(number: int) -> str:
    return f"organization-{number}"


def person_name(number: int) -> str:
    return f"person-{number}"


def branch_name(number: int) -> str:
    """A word for each copy of one person's facts."""
    digits = f"{number:04o}"
    return "".join(_SYLLABLES[int(digit)] for digit in digits).capitalize()


def session_in(
    memory: incumbent.Memory, organization: str = ORGANIZATION, person: str = PERSON
) -> incumbent.Session:
    return memory.session(
        user_id=person, authority="manager", organization=organization, session_id="scale"
    )


# how it is measured


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


def moment_of(memory: incumbent.Memory, place: int, organization: str = ORGANIZATION) -> datetime:
    """The moment at which the log had so many entries."""
    with memory.store.read(organization) as reader:
        return reader.log(place, 1)[0].recorded_at


# what is asked


def of_facts(memory: incumbent.Memory, size: int) -> Taken:
    """A person with very many facts."""
    written = min(size, PORTION)
    copies = -(-size // written)
    asked = []
    for number, one in enumerate(corpus.questions(written)[: _ROUNDS + 1]):
        copy = number * copies // (_ROUNDS + 1)
        asked.append(f"{branch_name(copy)}: {one.question}" if copy else one.question)
    return _of_person(memory, ORGANIZATION, PERSON, asked, size // 2)


def of_people(memory: incumbent.Memory, size: int) -> Taken:
    """An organization of people with very many facts each, of whom one asks."""
    portion, number = portion_of(size), FEWEST // 2
    halfway = portion * number + portion // 2
    return _of_person(memory, ORGANIZATION, person_name(number), _asked(portion), halfway)


def of_store(memory: incumbent.Memory, size: int) -> Taken:
    """Organizations with very many facts each, of which one is asked."""
    organization, portion = organization_name(FEWEST // 2), portion_of(size)
    found = _of_person(memory, organization, PERSON, _asked(portion), portion // 2)
    return {**found, "list_organizations": took(lambda: list(memory.store.organizations()))}


def _asked(facts: int) -> list[str]:
    return [one.question for one in corpus.questions(facts)[: _ROUNDS + 1]]


def _of_person(
    memory: incumbent.Memory, organization: str, person: str, asked: list[str], halfway: int
) -> Taken:
    """`halfway` is the place in the log at which half of the person's facts were written."""
    ann = session_in(memory, organization, person)
    begun = time.perf_counter()
    found = {"first context": took(lambda: ann.context(asked[0], budget=_BUDGET))}
    found["first context, by the clock"] = 1e3 * (time.perf_counter() - begun)
    found["peak MB, one context"] = peak_mb()
    found["context"] = median(lambda q: ann.context(q, budget=_BUDGET), asked[1:])
    found["put"] = median(lambda n: ann.write(KEY, f"probed {n}", subject=SUBJECT))
    again = [corpus.anew(one, "after a write") for one in asked[1:]]
    found["write and context"] = median(lambda q: _write_and_ask(ann, q), again)
    then = moment_of(memory, halfway, organization)
    before = ann.as_of(then, known_at=then)
    found["first of the past"] = took(lambda: ann.context(asked[0], budget=_BUDGET, at=then))
    found["past"] = median(lambda q: ann.context(q, budget=_BUDGET, at=then), asked[1:])
    found["as known then"] = median(lambda q: before.context(q, budget=_BUDGET), asked[1:])
    found["current()"] = median(lambda _: ann.current(KEY, subject=SUBJECT))
    found["list_facts"] = took(lambda: ann.list_facts(limit=50))
    found["list_subjects"] = took(ann.list_subjects)
    found["list_users"] = took(lambda: memory.list_users(organization=organization))
    found["list_audit"] = took(lambda: memory.list_audit(organization=organization))
    found["activity"] = took(lambda: memory.activity(organization=organization))
    found["peak MB, all"] = peak_mb()
    return found


def _write_and_ask(ann: incumbent.Session, question: str) -> None:
    ann.write(KEY, question, subject=SUBJECT)
    ann.context(question, budget=_BUDGET)


def of_history(memory: incumbent.Memory, size: int) -> Taken:
    """One address whose fact was superseded again and again."""
    ann = session_in(memory)
    states = ("office", "superseded")
    then = moment_of(memory, size // 2)
    asked = [corpus.anew(QUESTION, number) for number in range(_ROUNDS)]
    found = {"first context": took(lambda: ann.context(QUESTION, budget=_BUDGET))}
    found["peak MB, one context"] = peak_mb()
    found["put"] = median(lambda n: ann.write(KEY, f"probed {size} {n}", subject=SUBJECT))
    found["current()"] = median(lambda _: ann.current(KEY, subject=SUBJECT))
    found["context"] = median(lambda q: ann.context(q, budget=_BUDGET), asked)
    found["history page"] = median(lambda _: ann.list_facts(key=KEY, states=states, limit=50))
    found["first of the past"] = took(lambda: ann.context(QUESTION, budget=_BUDGET, at=then))
    found["past"] = median(lambda q: ann.context(q, budget=_BUDGET, at=then), asked)
    found["peak MB, all"] = peak_mb()
    return found


def of_organizations(memory: incumbent.Memory, size: int) -> Taken:
    """A store of very many organizations, of which one is asked."""
    organization = organization_name(size // 2)
    ann = session_in(memory, organization)
    asked = [corpus.anew(QUESTION, number) for number in range(_ROUNDS)]
    found = {"first context": took(lambda: ann.context(QUESTION, budget=_BUDGET))}
    found["context"] = median(lambda q: ann.context(q, budget=_BUDGET), asked)
    found["peak MB, one context"] = peak_mb()
    found["put"] = median(lambda n: ann.write(KEY, f"probed {n}", subject=SUBJECT))
    found["list_users"] = took(lambda: memory.list_users(organization=organization))
    found["list_organizations"] = took(lambda: list(memory.store.organizations()))
    found["peak MB, all"] = peak_mb()
    return found


KINDS = {
    "facts": of_facts,
    "history": of_history,
    "organizations": of_organizations,
    "people": of_people,
    "store": of_store,
}


def main(kind: str, path: str, size: int) -> None:
    begun = time.process_time()
    with incumbent.open(Path(path), settings=SETTINGS) as memory:
        opened = 1e3 * (time.process_time() - begun)
        print(json.dumps({"open": opened, **KINDS[kind](memory, size)}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
