"""Retrieval in long conversations: LoCoMo and BEAM, at a token budget, systems side by side.

Evidence: every turn is stored as a value of its own and every question asked. The figure is the
share of the turns answering a question that are in its context. Updates: the turns of a BEAM chat
are taken as turns, and a question about a change must find the new value and not the old one.
Incumbent's own ranking is measured too, at k turns, with BM25 alone beside it.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import incumbent
from incumbent.model.errors import InvalidInput
from incumbent_eval import adapters
from incumbent_eval.adapters.base import cut
from incumbent_eval.bm25 import Bm25
from incumbent_eval.figures import Joint, rounded
from incumbent_eval.ours import BEGINNING, IncumbentSystem
from incumbent_eval.running import each
from incumbent_eval.spoken import SpokenText
from incumbent_eval.systems import Ability, Entry, Progress, Refused, System, Who
from incumbent_eval.talks import Talk, TalkQuestion, TalkTurn, talks_of

BUDGETS = (1_000, 2_000, 4_000)
"""Tokens of a context."""
AT = (5, 10, 20)
"""The numbers of best turns that count, for the measure of the ranking."""
_TELLING = 10
"""The k for the figures by kind of question."""
SYSTEMS = ("incumbent", "bm25", "langgraph", "mem0", "memgine")
"""The default systems."""
_ALL = 200_000
"""A budget that leaves nothing out."""
_READER = Who("reader")
_MINUTE = timedelta(minutes=1)
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_SIGNS = {"n": "\n", "t": "\t", "r": "\r"}


Found = dict[str, list[float]]
"""Shares of single questions, by measure."""


@dataclass
class SystemReport:
    """The findings of a system: evidence by collection, budget and kind of question, and
    updates."""

    evidence: Found = field(default_factory=dict)
    kinds: Found = field(default_factory=dict)
    updates: Joint = Joint()
    tokens: list[int] = field(default_factory=list)
    over: int = 0
    """Contexts that were larger than their budget, as the system itself counts."""

    def record(self) -> dict[str, Any]:
        return {
            "evidence": _means(self.evidence),
            "kinds": _means(self.kinds),
            "updates": self.updates.record() if self.updates.of else None,
            "contexts": len(self.tokens),
            "over_budget": self.over,
            "largest_context": max(self.tokens, default=None),
        }


@dataclass
class RetrievalReport:
    """All systems of a run, the reasons why some are missing, and the ranking by itself."""

    systems: dict[str, SystemReport] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    ranking: dict[str, Found] = field(default_factory=dict)
    questions: dict[str, int] = field(default_factory=dict)
    missed: list[Miss] = field(default_factory=list)
    """Questions for which Incumbent's largest context had no evidence at all."""

    def record(self) -> dict[str, Any]:
        return {
            "budgets": list(BUDGETS),
            "questions": self.questions,
            "systems": {name: told.record() for name, told in self.systems.items()},
            "left_out": self.left_out,
            "ranking": {name: _means(found) for name, found in self.ranking.items()},
        }


@dataclass(frozen=True)
class Miss:
    """A question that went wrong, with the turns that answer it and the text that was shown."""

    talk: str
    question: TalkQuestion
    evidence: tuple[str, ...]
    context: str


def mean_of(found: Mapping[str, Sequence[float]], what: str) -> float | None:
    """The mean of a measure over the questions; None if there were none."""
    shares = found.get(what)
    return statistics.mean(shares) if shares else None


def _means(found: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    return {
        what: {"share": rounded(statistics.mean(shares)), "of": len(shares)}
        for what, shares in sorted(found.items())
        if shares
    }


# a run


def run(
    folder: Path,
    systems: Sequence[str] | None = None,
    *,
    settings: incumbent.Settings | None = None,
    limit: int | None = None,
    updates: bool = True,
    workers: int = 1,
    progress: Progress | None = None,
) -> RetrievalReport:
    """Ask all questions about the conversations of a folder, and count the findings.

    `limit` takes the first questions of each conversation.
    """
    talks = [replace(talk, questions=talk.questions[:limit]) for talk in talks_of(folder)]
    return run_talks(
        talks, systems, settings=settings, updates=updates, workers=workers, progress=progress
    )


def run_talks(
    talks: Sequence[Talk],
    systems: Sequence[str] | None = None,
    *,
    settings: incumbent.Settings | None = None,
    updates: bool = True,
    workers: int = 1,
    progress: Progress | None = None,
) -> RetrievalReport:
    """Ask all questions about these conversations, and count the findings."""
    report = RetrievalReport()
    jobs: list[_Job] = []
    for name in systems or SYSTEMS:
        why = _why_not(name, named=systems is not None)
        if why is None:
            report.systems[name] = SystemReport()
            jobs += _jobs_of(name, talks, updates=updates)
        else:
            report.left_out[name] = why
    play = partial(_play, settings=settings)
    for done in each(play, jobs, what="retrieval", workers=workers, progress=progress):
        _add(report, done)
    for talk in talks:
        asked = [one for one in talk.questions if one.evidence]
        report.questions[talk.collection] = report.questions.get(talk.collection, 0) + len(asked)
    return report


def _why_not(name: str, *, named: bool) -> str | None:
    """The reason why a system is left out; refused if it was asked for by name."""
    if name not in adapters.PEERS:
        known = ", ".join(adapters.PEERS)
        raise InvalidInput(f"there is no system {name!r}; there are {known}")
    why = adapters.missing(name)
    if why is not None and named:
        raise adapters.PeerMissing(why)
    return why


class _Job(NamedTuple):
    system: str
    part: str
    talk: Talk


@dataclass(frozen=True)
class _Done:
    job: _Job
    report: SystemReport
    missed: Sequence[Miss] = ()
    ranking: Found = field(default_factory=dict)


def _jobs_of(name: str, talks: Sequence[Talk], *, updates: bool) -> Iterator[_Job]:
    """The jobs, the longest first, so that no process is left alone with one at the end."""
    for talk in talks if updates else ():
        if any(one.tells_values for one in talk.questions):
            yield _Job(name, "updates", talk)
    for talk in talks:
        yield _Job(name, "evidence", talk)
        if name in _RANKERS:
            yield _Job(name, "ranking", talk)


def _add(report: RetrievalReport, done: _Done) -> None:
    into = report.systems[done.job.system]
    _extend(into.evidence, done.report.evidence)
    _extend(into.kinds, done.report.kinds)
    into.updates += done.report.updates
    into.tokens += done.report.tokens
    into.over += done.report.over
    report.missed += done.missed
    if done.ranking:
        _extend(report.ranking.setdefault(done.job.system, {}), done.ranking)


def _extend(into: Found, more: Mapping[str, Sequence[float]]) -> None:
    for what, shares in more.items():
        into.setdefault(what, []).extend(shares)


def _play(job: _Job, *, settings: incumbent.Settings | None) -> _Done:
    if job.part == "ranking":
        return _Done(job, SystemReport(), ranking=_ranking(job, settings))
    system = _made(job.system, settings)
    try:
        if job.part == "updates":
            return _Done(job, _updates(system, job.talk))
        return _evidence(system, job)
    finally:
        system.close()


def _made(name: str, settings: incumbent.Settings | None) -> System:
    return IncumbentSystem(settings) if name == adapters.OURS else adapters.makers()[name]()


# evidence within a budget


def _evidence(system: System, job: _Job) -> _Done:
    texts = {turn.id: turn.text for turn in job.talk.turns}
    for turn in job.talk.turns:
        _store(system, turn)
    told, missed = SystemReport(), []
    for one in job.talk.questions:
        wanted = [texts[id] for id in sorted(one.evidence) if id in texts]
        if not wanted:
            continue
        for budget in BUDGETS:
            context = _asked(system, one, budget, told)
            said = SpokenText(unescaped(context))
            share = sum(map(said.says, wanted)) / len(one.evidence)
            told.evidence.setdefault(f"{job.talk.collection} @{budget}", []).append(share)
        what = f"{job.talk.collection} @{budget}, {one.kind}"
        told.kinds.setdefault(what, []).append(share)
        if share == 0 and job.system == adapters.OURS:
            missed.append(Miss(job.talk.name, one, tuple(wanted), context))
    return _Done(job, told, missed)


def _store(system: System, turn: TalkTurn) -> None:
    """Store a turn as a value; systems that take no values get it as a turn."""
    if Ability.WRITE in system.can:
        system.write(_READER, Entry(f"turn_{turn.id}", turn.text, subject=turn.speaker))
    else:
        system.observe(_READER, turn.text, _speaker(turn))


def _speaker(turn: TalkTurn) -> str:
    return "assistant" if turn.speaker == "assistant" else "user"


def _asked(system: System, one: TalkQuestion, budget: int, told: SystemReport) -> str:
    """A context, cut at the budget if it is larger: a model would get no more."""
    context = system.context(_READER, one.text, budget)
    told.tokens.append(system.tokens(context))
    told.over += told.tokens[-1] > budget
    return cut(context, budget) if told.tokens[-1] > budget else context


def unescaped(text: str) -> str:
    """A context without the escapes that quoting has put in."""
    return _ESCAPED.sub(_sign, text)


def _sign(found: re.Match[str]) -> str:
    sign = found[1]
    return chr(int(sign[1:], 16)) if len(sign) > 1 else _SIGNS.get(sign, sign)


# updates


def _updates(system: System, talk: Talk) -> SystemReport:
    for number, turn in enumerate(talk.turns):
        system.move_to(BEGINNING + number * _MINUTE)
        try:
            system.observe(_READER, turn.text, _speaker(turn))
        except Refused:  # nothing was taken in, which the figures then show
            continue
    told = SystemReport()
    for one in talk.questions:
        if one.tells_values:
            said = SpokenText(unescaped(_asked(system, one, max(BUDGETS), told)))
            told.updates += Joint.one(
                present=all(map(said.says, one.current)), clean=not said.says_any(one.stale)
            )
    return told


# the ranking by itself


def _ranking(job: _Job, settings: incumbent.Settings | None) -> Found:
    found: Found = {}
    asked = [one for one in job.talk.questions if one.evidence]
    ranked = _RANKERS[job.system](job.talk, asked, settings)
    for one, best in zip(asked, ranked, strict=True):
        for k in AT:
            share = len(one.evidence.intersection(best[:k])) / len(one.evidence)
            found.setdefault(f"{job.talk.collection} @{k}", []).append(share)
            if k == _TELLING:
                found.setdefault(f"{job.talk.collection} @{k}, {one.kind}", []).append(share)
    return found


def _by_incumbent(
    talk: Talk, questions: Sequence[TalkQuestion], settings: incumbent.Settings | None
) -> Iterator[list[str]]:
    """For each question the turns of its context, the highest score first."""
    with incumbent.open(":memory:", settings=settings) as memory:
        session = memory.session(user_id=_READER.user)
        session.write_many(
            {"key": f"turn_{turn.id}", "value": turn.text, "subject": turn.speaker, "id": turn.id}
            for turn in talk.turns
        )
        for one in questions:
            lines = session.context(one.text, budget=_ALL, profile="comprehensive").lines
            scored = [line for line in lines if line.fact_id and line.score is not None]
            scored.sort(key=lambda line: -(line.score or 0))
            yield [line.fact_id or "" for line in scored[: max(AT)]]


def _by_bm25(
    talk: Talk, questions: Sequence[TalkQuestion], settings: incumbent.Settings | None
) -> Iterator[list[str]]:
    """For each question the turns by BM25, speakers included."""
    texts = Bm25([f"{turn.speaker}: {turn.text}" for turn in talk.turns])
    for one in questions:
        yield [talk.turns[place].id for place in texts.ranked(one.text)[: max(AT)]]


_Ranker = Callable[[Talk, Sequence[TalkQuestion], incumbent.Settings | None], Iterator[list[str]]]
_RANKERS: dict[str, _Ranker] = {adapters.OURS: _by_incumbent, "bm25": _by_bm25}
