"""The suite's own protocol: a model answers from each context, the package's judge decides."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app
from incumbent_eval import judging, peers
from incumbent_eval.chat import AnsweringModel, KeptAnswers, NoAnswer
from incumbent_eval.judging import EndToEnd, ExpectedCalls, Spread
from incumbent_eval.statebench import Suite
from tests.evaluation.dialogues import written
from tests.evaluation.reader import Reader
from tests.evaluation.test_statebench import (
    PLAIN,
    needs_package,
    timeline,
    without_package,
    write,
)
from tests.llm.servers import served

pytest.importorskip("openai")

Run = Callable[..., Any]


PRICED = {
    "ts": "2026-03-02T09:00:00",
    "type": "state_write",
    "writes": [write("bread", "the bread is at three crowns")],
}
RAISED = {
    "ts": "2026-03-02T10:00:00",
    "type": "supersession",
    "writes": [write("bread_v2", "the bread is at four crowns", supersedes="bread")],
}


def priced(number: int, *middle: dict[str, Any], **truth: Any) -> dict[str, Any]:
    """A timeline about the price of bread, with a decision that the suite's judge looks for."""
    made = timeline(*middle, must=truth["must"], must_not=truth["must_not"])
    made["events"][-1]["ground_truth"]["decision"] = truth["decision"]
    return {**made, "id": f"OWN-{number}"}


SHORT = priced(1, PRICED, must=["three crowns"], must_not=["nine crowns"], decision="three crowns")
CHANGED = priced(
    2, PRICED, RAISED, must=["crowns, four"], must_not=["three crowns"], decision="four crowns"
)
TIMELINES = [SHORT, CHANGED]
SUITE = Suite("own", TIMELINES)
"""One query that everybody can answer, and one where an old price must not come back. The second
must mention a phrase that only a paraphrase has."""
BESIDE = ("state_based_no_supersession", "no_memory")


@contextmanager
def protocol(
    reader: Reader, answers: KeptAnswers | None = None, *, seeds: int = 1, judged: bool = True
) -> Iterator[EndToEnd]:
    with served(reader) as server:
        llm = incumbent.LLM("vllm:reader", base_url=server.address, timeout=20.0, retries=0)
        model = AnsweringModel(llm, answers)
        yield EndToEnd(model, model if judged else None, seeds, parallel=2)


def run(asked: EndToEnd, baselines: tuple[str, ...] = BESIDE) -> judging.JudgedReport:
    return judging.run(SUITE, baselines, asked, settings=PLAIN)


def _spoken(body: dict[str, Any]) -> list[str]:
    return [message["content"] for message in body["messages"]]


def means(report: judging.JudgedReport, measure: str) -> dict[str, float]:
    return {name: spreads[measure].mean for name, spreads in report.systems.items()}


class TestForesight:
    def test_all_calls_are_counted_beforehand(self) -> None:
        """Each query for each system and seed; the judge of its decision and its phrases."""
        assert judging.foreseen([SUITE], 3, 2, is_judged=True) == ExpectedCalls(12, 24)
        assert judging.foreseen([SUITE, SUITE], 1, 1, is_judged=False).all == 4

    def test_several_runs_have_a_mean_and_a_deviation(self) -> None:
        """That of a sample; a single run has none."""
        assert Spread((0.2, 0.4, 0.6)).record() == {
            "mean": 0.4,
            "deviation": 0.2,
            "values": [0.2, 0.4, 0.6],
        }
        assert Spread((0.5,)).deviation is None


@needs_package
class TestRunning:
    def test_the_answers_follow_from_each_systems_context(self) -> None:
        """Who keeps the old price says it; who remembers nothing decides nothing."""
        with protocol(Reader()) as asked:
            report = run(asked)
        assert list(report.systems) == [*BESIDE, "incumbent"]
        assert (report.queries, report.model, report.judge) == (2, "vllm:reader", "vllm:reader")
        assert means(report, "SFRR") == {BESIDE[0]: 0.5, BESIDE[1]: 0.0, "incumbent": 0.0}
        assert means(report, judging.DECISION)["incumbent"] == 1.0
        assert means(report, judging.DECISION)["no_memory"] == 0.0
        assert means(report, "must-not violations")[BESIDE[0]] == 0.5
        assert "false supersession" not in report.systems["incumbent"]  # no such track in the suite

    def test_every_system_is_asked_with_the_packages_prompt(self) -> None:
        """As the package's harness asks: its instructions, the context, the question, its limit."""
        reader = Reader()
        with protocol(reader) as asked:
            run(asked, BESIDE[:1])
        strategy = peers.baseline(BESIDE[0], 8_000)
        model = peers.parsed(SHORT)
        strategy.initialize_from_state(model.initial_state)
        strategy.process_event(model.events[0])
        bodies = [(*_spoken(body), body["max_tokens"]) for body in reader.answered]
        prompt = strategy.format_prompt(model.events[-1].prompt)
        assert bodies.count((strategy.get_system_prompt(), prompt, 1_500)) == 1

    def test_the_judge_asks_a_model_where_its_rules_find_nothing(self) -> None:
        """A paraphrase counts as mentioned then, and by the rules alone it does not."""
        found = {}
        for judged in (True, False):
            reader = Reader()
            with protocol(reader, judged=judged) as asked:
                found[judged] = means(run(asked, ()), "must mention")["incumbent"]
            assert bool(reader.judged) is judged
        assert found == {True: 1.0, False: 0.5}

    def test_seeds_give_a_mean_and_a_deviation(self) -> None:
        """A model that is silent in one of two runs."""
        reader = Reader(silent=(1,))
        with protocol(reader, seeds=2) as asked:
            report = run(asked, ())
        assert report.systems["incumbent"][judging.DECISION].values == (1.0, 0.0)
        assert report.systems["incumbent"][judging.DECISION].deviation == pytest.approx(
            0.7071, 1e-3
        )
        assert report.tracks["incumbent"]["supersession"].mean == 0.5
        assert sorted(body["seed"] for body in reader.answered) == [0, 0, 1, 1]

    def test_a_run_that_broke_off_goes_on(self, tmp_path: Path) -> None:
        """With the same file only what is missing is asked, and the figures are the same."""
        path = tmp_path / "answers.jsonl"
        with protocol(Reader(), seeds=2) as asked:
            whole, calls = run(asked).record(), asked.model.calls
        first, second, third = Reader(patience=5), Reader(), Reader()
        kept = KeptAnswers(path)
        with protocol(first, kept, seeds=2) as asked, pytest.raises(NoAnswer, match="status 503"):
            run(asked)
        kept.close()
        for reader in (second, third):
            kept = KeptAnswers(path)
            with protocol(reader, kept, seeds=2) as asked:
                assert run(asked).record() == whole
            kept.close()
        assert (len(second.bodies), len(third.bodies)) == (calls - 5, 0)

    def test_a_baseline_that_fails_is_named_and_not_asked(self) -> None:
        """Someone else's error costs nothing."""
        package = peers.module("baselines")

        class Tired(package.NoMemoryStrategy):  # type: ignore[misc, name-defined]
            def build_context(self, query: str) -> Any:
                raise RuntimeError("enough for today")

        package.BASELINE_REGISTRY["tired"] = Tired
        try:
            with protocol(Reader()) as asked:
                report = run(asked, ("tired",))
        finally:
            del package.BASELINE_REGISTRY["tired"]
        assert report.failed == {"tired": "RuntimeError: enough for today"}
        assert list(report.systems) == ["incumbent"]

    def test_a_prompt_that_is_not_taken_counts_as_silence(self) -> None:
        """It is counted by system, and ends nothing."""

        class Strict(Reader):
            def reply(self, body: dict[str, Any], key: str | None) -> Any:
                answered = super().reply(body, key)
                return (400, b"{}") if body["messages"][0]["role"] == "system" else answered

        with protocol(Strict(), judged=False) as asked:
            report = run(asked, ())
        assert report.refused == {"incumbent": 2}
        assert means(report, judging.DECISION) == {"incumbent": 0.0}


@pytest.fixture
def evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `incumbent eval statebench` on a suite of our own, in a folder of its own."""
    for name in (
        "INCUMBENT_BENCH_DATA",
        "INCUMBENT_LLM",
        "INCUMBENT_LLM_URL",
        "INCUMBENT_EMBEDDER",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.chdir(tmp_path)
    written(Path("data/statebench_v1/dev.jsonl"), TIMELINES)
    given = ["--data", "data", "--version", "1.0", "--workers", "1", "--embedder", "none"]

    def invoke(*arguments: str, code: int = 0, **more: Any) -> Any:
        result = CliRunner().invoke(app, ["eval", "statebench", *given, *arguments], **more)
        assert result.exit_code == code, (result.output, result.exception)
        assert "sk-very-secret" not in result.output
        return result

    return invoke


class TestCommand:
    @without_package
    def test_a_model_is_of_no_use_without_the_package(self, evaluate: Run) -> None:
        """Its judge is what decides; the message says how to get it, and nothing is asked."""
        with served(Reader()) as server:
            told = evaluate("--llm", "vllm:x", "--llm-url", server.address, "--yes", code=2)
        assert peers.INSTALL in told.stderr
        assert server.bodies == []

    @pytest.mark.parametrize(
        "stray",
        [("--seeds", "3"), ("--answers", "a.jsonl"), ("--judge", "none"), ("--llm-calls", "9")],
    )
    def test_what_goes_with_a_model_is_refused_without_one(
        self, evaluate: Run, stray: tuple[str, str]
    ) -> None:
        """Nobody thinks that three runs were made."""
        assert f"{stray[0]} goes with a model" in evaluate(*stray, code=2).stderr
        assert not Path("a.jsonl").exists()

    def test_without_a_model_nothing_is_said_of_one(self, evaluate: Run) -> None:
        """The table and the document are as they were."""
        assert "end to end" not in evaluate().stdout
        assert "end_to_end" not in evaluate("--json").stdout

    @needs_package
    def test_tells_the_cost_first_and_the_figures_afterwards(self, evaluate: Run) -> None:
        """How many answers and how many questions at most; then all systems in one table."""
        baselines = [part for name in BESIDE for part in ("--baseline", name)]
        with served(Reader()) as server:
            wanted = ("--llm", "vllm:x", "--llm-url", server.address, "--yes", "--seeds", "2")
            told = evaluate(*wanted, *baselines)
        assert "2 queries × 3 systems × 2 seeds: 12 answers of vllm:x" in told.stderr
        assert "at most 24 questions to the judge, vllm:x" in told.stderr
        assert "mean ± standard deviation of 2 runs" in told.stdout
        assert re.search(r"^incumbent +100\.0 ± 0\.0 % +0\.0 ± 0\.0 %", told.stdout, re.MULTILINE)
        assert re.search(r"\d+ requests, [\d,]+ tokens; \d+ questions had", told.stderr)

    @needs_package
    def test_nothing_is_spent_without_a_yes(self, evaluate: Run) -> None:
        """A model named by the environment alone spends nothing either."""
        with served(Reader()) as server:
            environment = {"INCUMBENT_LLM": "vllm:x", "INCUMBENT_LLM_URL": server.address}
            told = evaluate(input="n\n", env=environment, code=1)
            assert "nothing was asked" in told.stderr
            evaluate(input="", env=environment, code=1)
            wanted = ("--llm", "vllm:x", "--llm-url", server.address, "--yes")
            told = evaluate(*wanted, "--llm-calls", "5", code=2)
            assert "more than --llm-calls 5; take fewer" in told.stderr
        assert server.bodies == []

    @needs_package
    def test_an_endpoint_that_does_not_answer_is_told_before_anything_is_played(
        self, evaluate: Run
    ) -> None:
        """One line with the address, and that nothing is lost."""
        wanted = ("--llm", "vllm:x", "--llm-url", "http://127.0.0.1:9/v1", "--yes")
        told = evaluate(*wanted, "--llm-retries", "0", "--answers", "a.jsonl", code=2)
        assert "vllm:x at http://127.0.0.1:9/v1 gave no answer: it could not be" in told.stderr
        assert "0 answers are kept in a.jsonl: the same command goes on" in told.stderr
        assert told.stdout == ""

    @needs_package
    def test_answers_in_a_file_are_not_paid_for_twice(self, evaluate: Run) -> None:
        """The document is the same, and no request was made for it."""
        documents = []
        for _ in range(2):
            with served(Reader()) as server:
                wanted = ("--llm", "vllm:x", "--llm-url", server.address, "--yes", "--json")
                told = evaluate(*wanted, "--baseline", "no_memory", "--answers", "a.jsonl")
            documents.append(json.loads(told.stdout))
        assert server.bodies == []
        assert documents[0] == documents[1]
        [suite] = documents[0]["suites"]
        made = suite["end_to_end"]
        assert (made["model"], made["judge"], made["seeds"]) == ("vllm:x", "vllm:x", 1)
        assert made["systems"]["incumbent"]["all"]["decision accuracy"]["mean"] == 1.0
        assert set(made["systems"]) == {"no_memory", "incumbent"}

    @needs_package
    def test_a_run_of_everything_has_it_where_a_model_is_named(self, evaluate: Run) -> None:
        """As a part of its own, after the others of the suite; a variable alone is not enough."""
        with served(Reader()) as server:
            asked = ["eval", "all", "--data", "data", "--system", "none", "--limit", "1"]
            asked += ["--workers", "1", "--embedder", "none", "--json", "run.json"]
            asked += ["--only", "statebench", "--llm-url", server.address, "--yes"]
            runner = CliRunner(env={"INCUMBENT_LLM": "vllm:x"})
            runner.invoke(app, asked)
            assert server.bodies == []
            told = runner.invoke(app, [*asked, "--llm", "vllm:x", "--judge", "none"])
        assert "part 3 of 3: statebench-answers" in told.stderr
        made = json.loads(Path("run.json").read_text(encoding="utf-8"))
        assert (made["settings"]["llm"], made["settings"]["seeds"]) == ("vllm:x", 1)
        answers = [section for section in made["sections"] if section["name"] == "answers-v1.0 dev"]
        assert (
            answers[0]["record"]["systems"]["incumbent"]["all"]["decision accuracy"]["mean"] == 1.0
        )

    def test_the_part_that_asks_a_model_is_refused_without_one(self, evaluate: Run) -> None:
        """Nobody waits for figures that will not come."""
        told = CliRunner().invoke(app, ["eval", "all", "--only", "statebench-answers"])
        assert (told.exit_code, "name one with --llm" in told.stderr) == (2, True)

    @needs_package
    def test_another_model_may_judge(self, evaluate: Run) -> None:
        """At an address of its own; or none does."""
        answers, judges = Reader(), Reader()
        with served(answers), served(judges):
            wanted = ("--llm", "vllm:x", "--llm-url", answers.address, "--yes", "--json")
            one = ("--baseline", "no_memory")
            told = evaluate(*wanted, *one, "--judge", "vllm:y", "--judge-url", judges.address)
            [suite] = json.loads(told.stdout)["suites"]
            assert suite["end_to_end"]["judge"] == "vllm:y"
            assert judges.judged
            assert not answers.judged
            told = evaluate(*wanted, *one, "--judge", "none")
            [suite] = json.loads(told.stdout)["suites"]
            assert suite["end_to_end"]["judge"] == judging.RULES_ALONE
