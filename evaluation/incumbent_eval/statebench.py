"""StateBench: `IncumbentStrategy` for the package's own harness, and a run beside its baselines.

A query is scored on the context alone: every phrase that must be mentioned is there, and none that
must not be. `phrases` decides whether a phrase is there. The joint figure counts queries where both
hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import incumbent
from incumbent.model.errors import InvalidInput
from incumbent_eval import peers
from incumbent_eval.figures import Joint, records
from incumbent_eval.perturbing import perturbed
from incumbent_eval.phrases import mentions, phrase_of
from incumbent_eval.running import DATA_VARIABLE, each, read_records
from incumbent_eval.systems import Progress
from incumbent_eval.timelines import Record, TimelinePlayer

BUDGET = 8_000
"""Tokens of a context: the default of the package's harness."""
COUNT, SEED = 100, 42
"""The number of timelines of each track, and their seed."""
OURS = "incumbent"
_FOLDER = "statebench_v1"
_SPLITS = ("train", "dev")
_INSTRUCTION = (
    "Answer from the context alone. It holds what is current: what was replaced, withdrawn or is "
    "not for this person has been left out of it. Constraints bind. Where a line says that a value "
    "must be recalculated, work it out from the values that are there. Where the context does not "
    "say, say that it is not known. Be brief."
)

if TYPE_CHECKING:
    IncumbentStrategy: Any


def __getattr__(name: str) -> Any:
    if name == "IncumbentStrategy":
        return _strategy()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _strategy() -> Any:
    """The class, made on demand: its base class is the package's."""
    base = peers.module("baselines.base")

    class IncumbentStrategy(base.MemoryStrategy):  # type: ignore[name-defined, misc]
        """Incumbent behind the interface of StateBench's memory strategies."""

        def __init__(
            self,
            token_budget: int = BUDGET,
            *,
            settings: incumbent.Settings | None = None,
            **_: Any,
        ) -> None:
            super().__init__(token_budget)
            self._settings = settings
            self._player: TimelinePlayer | None = None

        @property
        def name(self) -> str:
            return OURS

        @property
        def expects_initial_state(self) -> bool:
            return True

        @property
        def _playing(self) -> TimelinePlayer:
            if self._player is None:
                self._player = TimelinePlayer(budget=self.token_budget, settings=self._settings)
            return self._player

        def initialize_from_state(self, initial_state: Any) -> None:
            self._playing.begin(initial_state.model_dump(mode="json"))

        def process_event(self, event: Any) -> None:
            # The mark of a supersession is for the scorer.
            self._playing.take(event.model_dump(mode="json", exclude={"implicit_supersession"}))

        def build_context(self, query: str) -> Any:
            made = self._playing.ask(query)
            shown = {line.fact_id: line.section for line in made.lines if line.fact_id}
            left_out = {o.fact_id: o.reason for o in made.omissions if o.fact_id not in shown}
            written = self._playing.written
            included = [written[fact_id] for fact_id in shown if fact_id in written]
            excluded = [written[fact_id] for fact_id in left_out if fact_id in written]
            reasons = {fact_id: f"shown under {where}" for fact_id, where in shown.items()}
            reasons |= {fact_id: f"left out: {why}" for fact_id, why in left_out.items() if fact_id}
            return base.ContextResult(
                context=made.text,
                facts_included=[_told(base, write, valid=True) for write in included],
                facts_excluded=[_told(base, write, valid=False) for write in excluded],
                inclusion_reasons={
                    written[fact_id]["id"]: why
                    for fact_id, why in reasons.items()
                    if fact_id in written
                },
                token_count=made.tokens,
            )

        def reset(self) -> None:
            if self._player is not None:
                self._player.close()
            self._player = None

        def get_system_prompt(self) -> str:
            return _INSTRUCTION

    IncumbentStrategy.__module__, IncumbentStrategy.__qualname__ = __name__, "IncumbentStrategy"
    return IncumbentStrategy


def _told(base: Any, write: Record, *, valid: bool) -> Any:
    """A write of the timeline as the package's account of a fact."""
    source = write.get("source") or {}
    return base.FactMetadata(
        fact_id=write["id"],
        key=write["key"],
        value=write["value"],
        layer=2,
        is_valid=valid,
        scope=write.get("scope") or "global",
        authority=source.get("authority") or "peer",
        source=source.get("type") or "user",
        depends_on=list(write.get("depends_on") or ()),
        is_constraint=bool(write.get("is_constraint")),
        constraint_type=write.get("constraint_type"),
    )


def register() -> None:
    """Add `incumbent` to the package's baselines, so that its own harness knows the name."""
    peers.module("baselines").BASELINE_REGISTRY[OURS] = _strategy()


# a run


@dataclass(frozen=True)
class Suite:
    """A set of timelines under a name."""

    name: str
    timelines: Sequence[Record]


@dataclass
class SuiteReport:
    """The results of a suite: for every strategy the figures of each track, or the reason why there
    are none."""

    suite: str
    tracks: dict[str, dict[str, Joint]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    ceiling: Joint = Joint()
    failures: list[QueryScore] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Turns that Incumbent refused, each with the reason."""

    def total(self, strategy: str) -> Joint:
        """The figures of a strategy over all tracks."""
        return sum(self.tracks.get(strategy, {}).values(), Joint())

    def record(self) -> dict[str, Any]:
        return {
            "suite": self.suite,
            "strategies": {
                name: {"all": self.total(name).record(), "tracks": records(tracks)}
                for name, tracks in self.tracks.items()
            },
            "ceiling": self.ceiling.record(),
            "failed": self.failed,
            "refused_turns": self.refused,
        }


@dataclass(frozen=True)
class QueryScore:
    """One query: the question, the phrases that the context lacked, and those it should not
    have."""

    timeline: str
    track: str
    prompt: str
    missing: tuple[str, ...]
    forbidden: tuple[str, ...]
    context: str

    @property
    def joint(self) -> Joint:
        return Joint.one(present=not self.missing, clean=not self.forbidden)


@dataclass(frozen=True)
class _Played:
    """The results of one timeline."""

    scores: Mapping[str, Sequence[QueryScore]]
    failed: Mapping[str, str]
    refused: Sequence[str]
    ceiling: Joint


def published(folder: Path | None) -> list[Suite]:
    """The published v1.0 splits that a folder holds, in `statebench_v1` or directly."""
    if folder is None:
        raise InvalidInput(
            f"the published splits are data; give the folder that holds {_FOLDER} with --data "
            f"FOLDER, or in {DATA_VARIABLE}"
        )
    inside = folder / _FOLDER if (folder / _FOLDER).is_dir() else folder
    found = [
        Suite(f"v1.0 {split}", list(read_records(path)))
        for split in _SPLITS
        for path in sorted(inside.glob(f"{split}.jsonl*"))[:1]
    ]
    if not found:
        raise InvalidInput(
            f"{folder} has no StateBench timelines; give the folder that holds "
            f"{_FOLDER}/train.jsonl.gz and {_FOLDER}/dev.jsonl.gz"
        )
    return found


def generated(count: int = COUNT, seed: int = SEED) -> Suite:
    """The tracks that version 2.0.0 added, as the package generates them."""
    return Suite("v2.0.0", peers.generated(peers.NEWER_TRACKS, count=count, seed=seed))


def copied(suite: Suite, seed: int) -> Suite:
    """A copy of a suite with other names, values, words and order."""
    return Suite(f"{suite.name} perturbed", [perturbed(one, seed) for one in suite.timelines])


def run(
    suite: Suite,
    baselines: Sequence[str] = (),
    *,
    budget: int = BUDGET,
    settings: incumbent.Settings | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> SuiteReport:
    """Play every timeline of a suite through Incumbent and the baselines, and score each query."""
    names = (*baselines, OURS)
    for name in baselines:
        peers.check_baseline(name)
    report = SuiteReport(suite.name, {name: {} for name in names})
    play = partial(_play_all, baselines=tuple(baselines), budget=budget, settings=settings)
    what = f"StateBench {suite.name}"
    for played in each(play, suite.timelines, what=what, workers=workers, progress=progress):
        report.ceiling += played.ceiling
        report.failed.update(played.failed)
        report.refused += played.refused
        for name, scores in played.scores.items():
            tracks = report.tracks[name]
            for score in scores:
                tracks[score.track] = tracks.get(score.track, Joint()) + score.joint
        report.failures += [s for s in played.scores[OURS] if not s.joint.both]
    for name in report.failed:  # a part of a run is no figure
        report.tracks.pop(name, None)
    return report


def _play_all(
    timeline: Record,
    *,
    baselines: Sequence[str],
    budget: int,
    settings: incumbent.Settings | None,
) -> _Played:
    scores: dict[str, list[QueryScore]] = {}
    failed: dict[str, str] = {}
    for name in baselines:
        try:
            scores[name] = list(_play_theirs(timeline, name, budget))
        except Exception as error:  # someone else's code; one that fails must not end the run
            failed[name] = f"{type(error).__name__}: {error}"
    player = TimelinePlayer(budget=budget, settings=settings)
    try:
        scores[OURS] = list(_play_ours(timeline, player))
    finally:
        player.close()
    return _Played(scores, failed, player.refused, _ceiling(timeline))


def _play_theirs(timeline: Record, name: str, budget: int) -> Iterator[QueryScore]:
    strategy = peers.baseline(name, budget)
    model = peers.parsed(timeline)
    strategy.reset()
    if strategy.expects_initial_state:
        strategy.initialize_from_state(model.initial_state)
    for event, told in zip(timeline["events"], model.events, strict=True):
        if event["type"] == "query":
            yield _scored(timeline, event, strategy.build_context(event["prompt"]).context)
        else:
            strategy.process_event(told)


def _play_ours(timeline: Record, player: TimelinePlayer) -> Iterator[QueryScore]:
    """Play a timeline as the strategy does, without the package's models of the events in
    between."""
    player.begin(timeline["initial_state"])
    for event in timeline["events"]:
        if event["type"] == "query":
            yield _scored(timeline, event, player.ask(event["prompt"]).text)
        else:
            player.take(event)


def _scored(timeline: Record, query: Record, context: str) -> QueryScore:
    must, must_not = _requirements(query)
    return QueryScore(
        timeline=str(timeline["id"]),
        track=str(timeline["track"]),
        prompt=query["prompt"],
        missing=tuple(phrase for phrase in must if not mentions(context, phrase)),
        forbidden=tuple(phrase for phrase in must_not if mentions(context, phrase)),
        context=context,
    )


def _requirements(query: Record) -> tuple[list[str], list[str]]:
    truth = query["ground_truth"]
    return (
        [phrase_of(one) for one in truth.get("must_mention") or ()],
        [phrase_of(one) for one in truth.get("must_not_mention") or ()],
    )


# what could be reached at all


def _ceiling(timeline: Record) -> Joint:
    """The score of a perfect choice among the pieces of a timeline.

    Every piece with a forbidden phrase is dropped whole; are all required phrases still there?
    Words that a system adds of its own are not counted.
    """
    reached = Joint()
    pieces = list(_state_pieces(timeline["initial_state"]))
    for event in timeline["events"]:
        if event["type"] != "query":
            pieces += _event_pieces(event)
            continue
        must, must_not = _requirements(event)
        kept = "\n".join(p for p in pieces if not any(mentions(p, phrase) for phrase in must_not))
        reached += Joint.one(present=all(mentions(kept, phrase) for phrase in must), clean=True)
    return reached


def _state_pieces(state: Record) -> Iterator[str]:
    yield from (f"{name}: {told}" for name, told in state["identity_role"].items() if told)
    yield from (f"{fact['key']}: {fact['value']}" for fact in state.get("persistent_facts") or ())
    yield from (item["content"] for item in state.get("working_set") or ())
    yield from (f"{name}: {value}" for name, value in (state.get("environment") or {}).items())


def _event_pieces(event: Record) -> list[str]:
    if event["type"] == "conversation_turn":
        return [event["text"]]
    return [f"{write['key']}: {write['value']}" for write in event.get("writes") or ()]
