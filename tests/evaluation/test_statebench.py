"""A suite of timelines scored: by us alone, and where its package is installed, beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent.model.errors import InvalidInput
from incumbent_eval import peers, statebench
from incumbent_eval.figures import Joint
from incumbent_eval.phrases import mentions
from tests.evaluation.dialogues import written

PLAIN = incumbent.Settings(embedder=None)
HAS_PACKAGE = peers.installed_version() is not None
needs_package = pytest.mark.skipif(not HAS_PACKAGE, reason=f"needs: {peers.INSTALL}")
without_package = pytest.mark.skipif(HAS_PACKAGE, reason="the statebench package is installed")


def write(key: str, value: str, **more: Any) -> dict[str, Any]:
    return {"id": f"W-{key}", "layer": "persistent_facts", "key": key, "value": value, **more}


def timeline(*middle: dict[str, Any], must: list[Any], must_not: list[Any]) -> dict[str, Any]:
    """A timeline of our own, in the shape of the suite."""
    query = {
        "ts": "2026-03-02T12:00:00",
        "type": "query",
        "prompt": "What does the bread cost?",
        "ground_truth": {"decision": "x", "must_mention": must, "must_not_mention": must_not},
    }
    return {
        "id": "OWN-1",
        "track": "supersession",
        "domain": "sales",
        "actors": {"user": {"id": "u1", "role": "Baker", "org": "hill"}},
        "initial_state": {
            "identity_role": {"user_name": "Rosa", "authority": "Baker"},
            "environment": {"now": "2026-03-02T08:00:00"},
        },
        "events": [*middle, query],
    }


PRICED = {
    "ts": "2026-03-02T09:00:00",
    "type": "state_write",
    "writes": [write("bread_price", "three crowns")],
}
RAISED = {
    "ts": "2026-03-02T10:00:00",
    "type": "supersession",
    "writes": [write("bread_price_v2", "four crowns", supersedes="bread_price")],
}
RIGHT = timeline(PRICED, RAISED, must=["four crowns"], must_not=[{"phrase": "three crowns"}])
LACKS = timeline(PRICED, RAISED, must=["five crowns", "four"], must_not=["three crowns"])
SAYS = timeline(PRICED, must=["three crowns"], must_not=["three"])
SUITE = statebench.Suite("own", [RIGHT, LACKS, SAYS])


def test_a_query_counts_where_all_is_mentioned_and_nothing_forbidden_is() -> None:
    """One right, one that lacks a phrase, one that says a forbidden one."""
    report = statebench.run(SUITE, settings=PLAIN)
    assert report.tracks["incumbent"]["supersession"] == Joint(2, 2, 1, 3)
    lacks, says = report.failures
    assert (lacks.missing, lacks.forbidden) == (("five crowns",), ())
    assert (says.missing, says.forbidden) == ((), ("three",))
    assert "four crowns" in lacks.context


def test_the_ceiling_is_what_a_choice_of_pieces_could_reach() -> None:
    """A phrase nobody ever said, or only together with a forbidden one, is out of reach."""
    report = statebench.run(SUITE, settings=PLAIN)
    assert report.ceiling == Joint(1, 3, 1, 3)


def test_several_workers_score_like_one() -> None:
    """What goes to another process and back is the same."""
    alone, together = (statebench.run(SUITE, settings=PLAIN, workers=n) for n in (1, 2))
    assert alone.record() == together.record()
    assert alone.failures == together.failures


def test_published_splits_are_found_in_a_folder(tmp_path: Path) -> None:
    """In the folder of that name or directly; without any, the message names the files."""
    with pytest.raises(InvalidInput, match=r"statebench_v1/dev\.jsonl\.gz"):
        statebench.published(tmp_path)
    with pytest.raises(InvalidInput, match="--data"):
        statebench.published(None)
    written(tmp_path / "statebench_v1" / "dev.jsonl", [RIGHT])
    for folder in (tmp_path, tmp_path / "statebench_v1"):
        [suite] = statebench.published(folder)
        assert (suite.name, len(suite.timelines)) == ("v1.0 dev", 1)


@without_package
def test_what_needs_the_package_says_how_to_get_it() -> None:
    """Asking for the strategy, a baseline or the newer tracks names the command to run."""
    for ask in (
        lambda: statebench.IncumbentStrategy,
        statebench.generated,
        lambda: statebench.run(SUITE, ["memgine"]),
    ):
        with pytest.raises(peers.PackageMissing, match=peers.INSTALL):
            ask()
    assert peers.baselines() == ()


def test_other_names_of_the_module_are_not_made_up() -> None:
    """Only the strategy is made when asked for."""
    assert not hasattr(statebench, "NoSuchThing")


@needs_package
def test_the_strategy_is_one_of_the_package() -> None:
    """The package's base class, its protocol, and the account of facts that it asks for."""
    strategy = statebench.IncumbentStrategy(token_budget=500, model="any", settings=PLAIN)
    assert isinstance(strategy, peers.module("baselines.base").MemoryStrategy)
    assert (strategy.name, strategy.expects_initial_state) == ("incumbent", True)
    model = peers.parsed(RIGHT)
    for _ in range(2):  # a reset makes a second run like the first
        strategy.reset()
        strategy.initialize_from_state(model.initial_state)
        for event in model.events[:-1]:
            strategy.process_event(event)
        made = strategy.build_context(model.events[-1].prompt)
        assert "four crowns" in made.context
        assert "three crowns" not in made.context
        assert 0 < made.token_count <= 500
        assert made.get_included_fact_ids() == {"W-bread_price_v2"}
        assert [fact.fact_id for fact in made.facts_excluded] == ["W-bread_price"]
        assert set(made.inclusion_reasons) == {"W-bread_price", "W-bread_price_v2"}
    assert "four crowns" in strategy.format_prompt("What does the bread cost?")
    assert strategy.get_system_prompt()


@needs_package
def test_the_package_knows_the_strategy_by_name() -> None:
    """Registered, it can be had like any baseline."""
    statebench.register()
    strategy = peers.module("baselines").get_baseline("incumbent", token_budget=300)
    assert (strategy.name, strategy.token_budget) == ("incumbent", 300)


@needs_package
def test_the_baselines_run_beside_us() -> None:
    """Each is scored on the same queries; an unknown one is refused by name."""
    names = [name for name in ("state_based", "memgine") if name in peers.baselines()]
    report = statebench.run(SUITE, names, settings=PLAIN)
    assert list(report.tracks) == [*names, "incumbent"]
    assert {report.total(name).of for name in report.tracks} == {3}
    assert report.failed == {}
    with pytest.raises(InvalidInput, match="has no baseline 'no_such'"):
        statebench.run(SUITE, ["no_such"], settings=PLAIN)


@needs_package
def test_a_baseline_that_fails_has_no_figure_but_a_reason() -> None:
    """Someone else's error ends neither the run nor up as a score of zero."""
    package = peers.module("baselines")

    class Tired(package.NoMemoryStrategy):  # type: ignore[misc, name-defined]
        def build_context(self, query: str) -> Any:
            raise RuntimeError("enough for today")

    package.BASELINE_REGISTRY["tired"] = Tired
    try:
        report = statebench.run(SUITE, ["tired", "no_memory"], settings=PLAIN)
    finally:
        del package.BASELINE_REGISTRY["tired"]
    assert list(report.tracks) == ["no_memory", "incumbent"]
    assert report.failed == {"tired": "RuntimeError: enough for today"}


@needs_package
def test_the_newer_tracks_are_generated_offline_and_the_same_each_time() -> None:
    """All twelve, from one seed; a version without them says so."""
    if not (peers.installed_version() or "").startswith("2."):
        with pytest.raises(peers.PackageMissing, match="has no track"):
            statebench.generated(count=1)
        return
    suite = statebench.generated(count=1)
    assert {one["track"] for one in suite.timelines} == set(peers.NEWER_TRACKS)
    assert statebench.generated(count=1) == suite


@needs_package
def test_phrases_are_found_as_the_package_finds_them() -> None:
    """Our rule and that of the package's newest judge agree, phrase by phrase."""
    rubric = peers.module("evaluation.rubric")
    if not hasattr(rubric, "boundary_pattern"):
        pytest.skip("this version of the package judges by plain containment")
    texts = [
        "We do not ship before 10%. It can't exceed $45K, or $450.",
        "Nearby PHP shops shouldn't wait; recalculated 100 of 1000 #4711",
    ]
    phrases = [
        *("do not ship", "don't ship", "cannot exceed", "$45", "$45K", "10%", "by", "HP", "php"),
        *("should not wait", "recalculat", "100", "#", "a|nearby", r"regex:\d{4}", "not", ""),
    ]
    for text in texts:
        for phrase in phrases:
            assert mentions(text, phrase) is rubric.contains_phrase(text, phrase), (text, phrase)
