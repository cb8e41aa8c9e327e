"""The regression gate: a small fixed sample of each evaluation, held against `baselines.json`.

    python -m tests.evaluation.gate            measure, and say what has changed
    python -m tests.evaluation.gate --write    the same, and write the baselines anew

A figure may drop by its noise, which is two standard deviations of a share of that size; figures
that are laws may not drop at all. Samples of public data are read from the folder that
INCUMBENT_BENCH_DATA names. A change of the baselines is there to be read in the commit that makes
it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import incumbent
from incumbent_eval import (
    asof,
    cases,
    conformance,
    isolation,
    pairs,
    peers,
    repair,
    retrieval,
    scope,
    scoped,
    statebench,
)
from incumbent_eval.figures import Share
from incumbent_eval.ours import IncumbentSystem
from incumbent_eval.repair import EpisodeForm, Half, Task
from incumbent_eval.talks import talks_of

BASELINES = Path(__file__).with_name("baselines.json")
VARIABLE = "INCUMBENT_BENCH_DATA"
QUICK = incumbent.Settings(embedder=None)
"""Without vectors: what is measured with these fits into its budget as a whole."""
SEED = 0
PROBES = ASKED = 200
EPISODES = 6
CASES, PAIRS, SENTENCES, TIMELINES, QUESTIONS = 120, 800, 300, 120, 40
GENERATED = 8
"""Timelines of each newer track of StateBench."""


@dataclass(frozen=True)
class Figure:
    """A share that was measured on a sample. A law allows for no noise."""

    share: Share
    at_least: bool = True
    is_law: bool = False

    @property
    def noise(self) -> float:
        """How far it may move: two standard deviations of a share of this size.

        A share of 0 or 1 would have none, so one hit and one miss are counted to it.
        """
        if self.is_law:
            return 0.0
        likely = (self.share.hits + 1) / (self.share.of + 2)
        return 2 * math.sqrt(likely * (1 - likely) / self.share.of)

    def record(self) -> dict[str, Any]:
        return {
            "share": round(self.share.value or 0.0, 4),
            "of": self.share.of,
            "noise": round(self.noise, 4),
            "better": "higher" if self.at_least else "lower",
        }


Figures = dict[str, Figure]


def law(share: Share) -> Figure:
    return Figure(share, is_law=True)


# what needs no data


def laws() -> Figures:
    """What must hold always."""
    make = partial(IncumbentSystem, QUICK)
    kept = conformance.run(make)
    passed = kept.counted()[conformance.CheckOutcome.PASSED]
    walls = isolation.run(make, probes=PROBES, seed=SEED)
    return {
        "conformance: checks passed": law(Share(passed, len(kept.results))),
        "isolation: probes without a leak": law(Share(PROBES - len(walls.leaks), PROBES)),
        "scope: right values": law(scoped.run(make, questions=ASKED, seed=SEED).all),
        "as of: right answers": law(asof.run(make, questions=ASKED, seed=SEED).all),
    }


def repaired() -> Figures:
    """Repair: all of what is structured, and plain language in phrasings held out."""
    episodes = repair.episodes(EPISODES, SEED, halves=[Half.HELD_OUT])
    told = repair.run("incumbent", partial(IncumbentSystem, QUICK), episodes)
    structured = told.share(EpisodeForm.STRUCTURED, Half.KNOWN, tuple(Task))
    plain = told.share(EpisodeForm.PLAIN, Half.HELD_OUT, tuple(Task))
    return {
        "repair, structured": law(structured),
        "repair, in plain language": Figure(plain),
    }


def generated_timelines() -> Figures:
    """StateBench 2.0.0, as the package makes it."""
    report = statebench.run(statebench.generated(count=GENERATED), settings=QUICK)
    return _suite(report)


def _suite(report: statebench.SuiteReport) -> Figures:
    ours = report.total(statebench.OURS)
    name = f"StateBench {report.suite}"
    return {
        f"{name}: joint": Figure(Share(ours.both, ours.of)),
        f"{name}: nothing forbidden": Figure(Share(ours.clean, ours.of)),
    }


# what needs data


def dialogues(folder: Path) -> Figures:
    """The first dialogues of both collections."""
    found: Figures = {}
    for name in ("sgd/cases_dev", "multiwoz/cases_val"):
        told = cases.run(folder / f"{name}.jsonl.gz", settings=QUICK, limit=CASES)
        found[f"{name}: current and not stale"] = Figure(Share(told.joint.both, told.joint.of))
        found[f"{name}: wrongly retired"] = Figure(told.retired, at_least=False)
    return found


def detector(folder: Path) -> Figures:
    """The first pairs: how many of the decisions are right."""
    told = pairs.run(folder / "sgd/pairs_dev.jsonl.gz", limit=PAIRS)
    wrong = told.even.found.wrong + told.even.found.missed
    return {"sgd/pairs_dev: decided rightly": Figure(Share(PAIRS - wrong, PAIRS))}


def sentences(folder: Path) -> Figures:
    """What is said without being claimed."""
    told = scope.run(folder / "scope", settings=QUICK, limit=SENTENCES)
    open_or_denied = [told.stored.get(n, Share()) for n in ("uncommitted", "committed_false")]
    counted = told.counterfactual
    f1 = Share(2 * counted.right, 2 * counted.right + counted.wrong + counted.missed)
    return {
        "sentences: counterfactual F1": Figure(f1),
        "sentences: stored though not meant": Figure(sum(open_or_denied, Share()), at_least=False),
        "sentences: stored and meant": Figure(told.stored.get("committed_true", Share())),
    }


def timelines(folder: Path) -> Figures:
    """The first timelines of StateBench 1.0 dev."""
    dev = next(one for one in statebench.published(folder) if one.name.endswith("dev"))
    sample = statebench.Suite(dev.name, dev.timelines[:TIMELINES])
    return _suite(statebench.run(sample, settings=QUICK))


def found(folder: Path) -> Figures:
    """Evidence in the first questions of a long conversation, with the default embedder."""
    talk = talks_of(folder)[0]
    sample = [replace(talk, questions=talk.questions[:QUESTIONS])]
    told = retrieval.run_talks(sample, ["incumbent"], updates=False).systems["incumbent"]
    budget = max(retrieval.BUDGETS)
    figures = {}
    for what, shares in told.evidence.items():
        if what.endswith(f"@{budget}"):
            figures[f"retrieval, {what}"] = Figure(Share(round(sum(shares)), len(shares)))
    kept = Share(len(told.tokens) - told.over, len(told.tokens))
    return {**figures, "retrieval: budgets held": law(kept)}


ALWAYS: dict[str, Callable[[], Figures]] = {"laws": laws, "repair": repaired}
WITH_PACKAGE: dict[str, Callable[[], Figures]] = {"generated timelines": generated_timelines}
WITH_DATA: dict[str, Callable[[Path], Figures]] = {
    "dialogues": dialogues,
    "detector": detector,
    "sentences": sentences,
    "timelines": timelines,
    "retrieval": found,
}


def data() -> Path | None:
    """The folder that the environment names, where it is there."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named and Path(named).is_dir() else None


# holding against the baselines


def baselines() -> dict[str, dict[str, Any]]:
    """What is written down: the figures of each sample, by its name."""
    kept: dict[str, dict[str, Any]] = json.loads(BASELINES.read_text(encoding="utf-8"))
    return kept


def drops(kept: Mapping[str, Mapping[str, Any]], measured: Figures) -> Iterator[str]:
    """The figures that are worse than what is written down by more than their noise."""
    for name, before in kept.items():
        now = measured.get(name)
        if now is None or now.share.value is None:
            yield f"{name}: no longer measured"
            continue
        sign = 1 if before["better"] == "higher" else -1
        worse = sign * (before["share"] - now.share.value)
        if worse > before["noise"] + 5e-5:  # shares are written down with four places
            yield (
                f"{name}: {now.share.value:.1%}, was {before['share']:.1%} "
                f"(noise {before['noise']:.1%}, {now.share.of} tried)"
            )


def measured() -> Iterator[tuple[str, Figures]]:
    """Every sample that can be measured here."""
    for name, sample in ALWAYS.items():
        yield name, sample()
    for name, sample in WITH_PACKAGE.items() if peers.installed_version() else ():
        yield name, sample()
    folder = data()
    for name, of_data in WITH_DATA.items() if folder is not None else ():
        assert folder is not None
        yield name, of_data(folder)


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """What differs between two records of a sample, a line each."""
    for name in sorted({*before, *now}):
        old, new = before.get(name), now.get(name)
        if old != new:
            yield f"  {name}: {_short(old)} -> {_short(new)}"


def _short(told: Mapping[str, Any] | None) -> str:
    return "none" if told is None else f"{told['share']:.1%} of {told['of']} ± {told['noise']:.1%}"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.evaluation.gate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--write", action="store_true", help="write the baselines anew")
    options = parser.parse_args()
    kept = baselines() if BASELINES.exists() else {}
    written, failed, seen = dict(kept), False, set()
    for name, figures in measured():
        told = {what: figure.record() for what, figure in figures.items()}
        lines = list(changes(kept.get(name, {}), told))
        print(f"{name}: {'changed' if lines else 'as before'}", *lines, sep="\n", flush=True)
        failed |= any(drops(kept.get(name, {}), figures))
        written[name] = told
        seen.add(name)
    for names, needed in ((WITH_PACKAGE, peers.INSTALL), (WITH_DATA, VARIABLE)):
        for name in names:
            if name not in seen:
                print(f"{name}: not measured; it needs {needed}")
    if options.write:
        BASELINES.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    return int(failed and not options.write)


if __name__ == "__main__":
    sys.exit(main())
