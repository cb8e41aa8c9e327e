"""The commands `incumbent eval …`, on small files of our own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from incumbent.cli import app
from incumbent_eval import peers
from tests.evaluation.dialogues import ROWS, added, case, changed, system, user, written
from tests.evaluation.test_statebench import LACKS, RIGHT, needs_package, without_package

Run = Callable[..., Any]
ONE = ("--workers", "1", "--embedder", "none")
UNTOLD = case(
    "home",
    "Graz",
    "Porto",
    [
        user(0, "I live in Porto.", adds=[added("home", "Porto")]),
        system(1, "Lovely."),
        user(
            2,
            "We got the keys to the flat in Graz.",
            changes=[changed("home", "Porto", "Graz")],
        ),
    ],
)
PAIR = {"id": "1", "old": "I work at « Google ».", "new": "I just started at Meta.", "y": 1}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `incumbent eval` in an empty folder; gives the result."""
    monkeypatch.delenv("INCUMBENT_BENCH_DATA", raising=False)
    monkeypatch.delenv("INCUMBENT_EMBEDDER", raising=False)
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, code: int = 0) -> Any:
        result = CliRunner().invoke(app, ["eval", *arguments])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


def sentences(folder: Path) -> None:
    """A counterfactual and a claim."""
    asserted = {"id": "1", "text": "The soup was warm.", "label": "asserted"}
    wished = {"id": "2", "text": "I wish the soup had been warm.", "label": "counterfactual"}
    written(folder / "counterfactual_own.jsonl", [asserted, wished])
    claim = {"claim": "the soup is warm", "label": "committed_false"}
    written(folder / "commitment_own.jsonl", [{"id": "3", "text": "Is the soup warm?", **claim}])


class TestCases:
    def test_prints_figures_and_baselines(self, run: Run) -> None:
        """The joint figure, that of each kind of slot, and both baselines in one table."""
        written(Path("own.jsonl"), ROWS)
        out = run("cases", "own.jsonl", *ONE).stdout
        assert "own: 3 cases in 2 dialogues" in out
        assert re.search(r"^Incumbent +66\.7 % ", out, re.MULTILINE)
        assert re.search(r"^full transcript +33\.3 % ", out, re.MULTILINE)
        assert re.search(r"^by turn +100\.0 % +100\.0 % +100\.0 %", out, re.MULTILINE)
        assert "wrongly retired  0.0 % of 4 values" in out

    def test_prints_failures_to_read(self, run: Run) -> None:
        """The case with its query, what was wanted, what was stale, and the context."""
        written(Path("own.jsonl"), ROWS)
        out = run("cases", "own.jsonl", "--failures", "5", *ONE).stdout
        assert out.count("## own-1-Post") == 1
        assert "current: Nobody Said (not found)" in out
        assert "stale:   May 3 (found: May 3)" in out
        assert "# Identity" in out

    def test_prints_json_and_keeps_to_a_limit(self, run: Run) -> None:
        """One document with the figures of every file."""
        written(Path("own.jsonl"), ROWS)
        written(Path("two.jsonl"), ROWS[:1])
        result = run("cases", "own.jsonl", "two.jsonl", "--limit", "2", "--json", *ONE)
        one, two = json.loads(result.stdout)["files"]
        assert (one["name"], one["cases"]["of"], one["cases"]["joint"]) == ("own", 2, 1.0)
        assert (two["name"], two["cases"]["of"]) == ("two", 1)

    def test_a_wrong_call_is_refused_with_the_fix(self, run: Run) -> None:
        """No such file, no such embedder: one line, code 2."""
        assert "there is no file none.jsonl" in run("cases", "none.jsonl", code=2).stderr
        written(Path("own.jsonl"), ROWS)
        result = run("cases", "own.jsonl", "--embedder", "big", code=2)
        assert "is not one of minilm, static, none" in result.stderr
        result = run("cases", "own.jsonl", "--reader", "luck", code=2)
        assert "--reader 'luck' is not one of default, small, rules" in result.stderr

    def test_a_reader_is_chosen_by_name(self, run: Run) -> None:
        """A change that no cue or place tells is seen by the model, and not by the rules."""
        written(Path("own.jsonl"), [UNTOLD])
        found = {
            name: json.loads(run("cases", "own.jsonl", "--reader", name, "--json", *ONE).stdout)
            for name in ("rules", "small")
        }
        assert [told["reader"] for told in found.values()] == ["rules", "small"]
        assert found["rules"]["files"][0]["turns"]["right"] == 0
        assert found["small"]["files"][0]["turns"]["right"] == 1


class TestScope:
    def test_prints_both_tables(self, run: Run) -> None:
        """Counterfactuals by precision and recall, claims by label."""
        sentences(Path("scope"))
        out = run("scope", "scope", *ONE).stdout
        assert re.search(r"^counterfactual +100\.0 % +100\.0 % +100\.0 %", out, re.MULTILINE)
        assert re.search(r"^committed_false +0\.0 % +1", out, re.MULTILINE)

    def test_json_and_a_missing_folder(self, run: Run) -> None:
        """One document; a folder that is not there is refused."""
        sentences(Path("scope"))
        made = json.loads(run("scope", "scope", "--json", *ONE).stdout)
        assert made["counterfactual"]["right"] == 1
        assert "there is no folder nowhere" in run("scope", "nowhere", code=2).stderr


class TestStateBench:
    def test_runs_the_published_splits_of_a_folder(self, run: Run) -> None:
        """Our figures by track, the ceiling, and what went wrong."""
        written(Path("data/statebench_v1/dev.jsonl"), [RIGHT, LACKS])
        wanted = ("--data", "data", "--version", "1.0", "--failures", "1", *ONE)
        out = run("statebench", *wanted).stdout
        assert "StateBench v1.0 dev" in out
        assert re.search(r"^incumbent +50\.0 % +50\.0 % +100\.0 % +2", out, re.MULTILINE)
        assert re.search(r"^\(best choice of pieces\) +50\.0 %", out, re.MULTILINE)
        assert "missing:   five crowns" in out

    @without_package
    def test_what_is_missing_is_left_out_and_named(self, run: Run) -> None:
        """Without data or package nothing fails; each note says what to do."""
        told = run("statebench").stderr
        assert "StateBench 1.0 left out" in told
        assert "--data FOLDER" in told
        assert peers.INSTALL in told

    @without_package
    def test_what_was_asked_for_by_name_is_not_left_out(self, run: Run) -> None:
        """A version that cannot be run is refused, with the fix."""
        assert peers.INSTALL in run("statebench", "--version", "2.0.0", code=2).stderr
        assert "INCUMBENT_BENCH_DATA" in run("statebench", "--version", "1.0", code=2).stderr
        assert "is not one of all, 1.0, 2.0.0" in run("statebench", "--version", "3", code=2).stderr

    @needs_package
    def test_the_baselines_stand_beside(self, run: Run) -> None:
        """All that run offline, unless some are named."""
        written(Path("data/statebench_v1/dev.jsonl"), [RIGHT])
        told = run("statebench", "--data", "data", "--version", "1.0", "--json", *ONE).stdout
        [suite] = json.loads(told)["suites"]
        assert list(suite["strategies"]) == [*peers.baselines(), "incumbent"]
        assert suite["strategies"]["incumbent"]["all"]["joint"] == 1.0


class TestAll:
    DATA = ("--data", "data", "--system", "none", *ONE)

    def test_holds_the_figures_against_their_targets(self, run: Run) -> None:
        """One table with met and missed; a missed target ends with code 1."""
        written(Path("data/sgd/cases_dev.jsonl"), ROWS[:2])
        sentences(Path("data/scope"))
        written(Path("data/multiwoz/cases_val.jsonl"), ROWS[2:])
        only = ("--only", "dialogues", "--only", "sentences", "--only", "retrieval")
        result = run("all", *self.DATA, *only, "--limit", "1", code=1)
        assert re.search(r"SGD dev: current and not stale +≥ 70\.0 % +100\.0 % +met", result.stdout)
        assert re.search(r"MultiWOZ val: current and not stale .*missed", result.stdout)
        assert re.search(r"uncommitted or denied, stored +≤ 15\.0 % +0\.0 % +met", result.stdout)
        assert "LoCoMo and BEAM left out" in result.stderr

    def test_writes_the_run_down(self, run: Run) -> None:
        """The targets and every report in one document; what is missing is named in it."""
        written(Path("data/sgd/cases_dev.jsonl"), ROWS[:2])
        run("all", *self.DATA, "--only", "dialogues", "--limit", "2", "--json", "run.json")
        made = json.loads(Path("run.json").read_text(encoding="utf-8"))
        assert made["targets"][0] == {
            "measure": "SGD dev: current and not stale",
            "at_least": 0.7,
            "measured": 1.0,
            "met": True,
            "part": "dialogues",
        }
        assert made["sections"][0]["record"]["cases"]["of"] == 2
        gap = {"what": "multiwoz/cases_val", "why": "DATA has no multiwoz/cases_val.jsonl.gz"}
        assert {**gap, "part": "dialogues"} in made["left_out"]

    def test_rules_have_floors_of_their_own_and_no_pairs(self, run: Run) -> None:
        """The model is held against pairs where it is used."""
        written(Path("data/sgd/cases_dev.jsonl"), ROWS[:1])
        written(Path("data/sgd/pairs_dev.jsonl"), [PAIR])
        wanted = ("all", *self.DATA, "--only", "dialogues", "--only", "pairs", "--json", "run.json")
        run(*wanted)
        both = json.loads(Path("run.json").read_text(encoding="utf-8"))
        assert {told["measure"]: told.get("at_least") for told in both["targets"]} == {
            "SGD dev: current and not stale": 0.7,
            "SGD dev: live values retired": None,
            "SGD dev: F1 of pairs": 0.88,
        }
        run(*wanted, "--reader", "rules")
        rules = json.loads(Path("run.json").read_text(encoding="utf-8"))
        assert [section["name"] for section in rules["sections"]] == ["cases_dev"]
        assert rules["targets"][0]["at_least"] == 0.35

    def test_without_data_what_needs_them_is_named(self, run: Run) -> None:
        """It says where data would be looked for, and nothing fails."""
        result = run("all", "--system", "none", "--only", "sentences", *ONE)
        assert "scope left out: no folder with data was given" in result.stderr

    def test_tells_which_part_of_how_many_begins(self, run: Run) -> None:
        """A line for each on stderr; what is skipped is no part."""
        asked = ("--system", "none", "--limit", "20", *ONE)
        told = run("all", *asked, "--only", "scope", "--only", "asof", "--only", "sentences").stderr
        assert re.findall(r"part (\d of \d): (\w+)", told) == [
            ("1 of 3", "scope"),
            ("2 of 3", "asof"),
            ("3 of 3", "sentences"),
        ]
        told = run("all", *asked, "--only", "scope", "--only", "asof", "--skip", "scope").stderr
        assert "part 1 of 1: asof" in told

    def test_a_run_goes_on_with_what_is_missing(self, run: Run) -> None:
        """The parts that the file has are not run again; it is whole afterwards."""
        asked = ("all", "--system", "none", "--limit", "20", *ONE, "--json", "run.json", "--resume")
        run(*asked, "--only", "scope")
        told = run(*asked, "--only", "scope", "--only", "asof").stderr
        assert re.findall(r"part \d of \d: \w+", told) == ["part 2 of 2: asof"]
        made = json.loads(Path("run.json").read_text(encoding="utf-8"))
        assert [section["name"] for section in made["sections"]] == ["scope", "asof"]
        assert (made["done"], made["unfinished"]) == (["scope", "asof"], [])
        assert [path.name for path in Path().glob("run.json*")] == ["run.json"]

    def test_a_run_that_was_another_is_not_gone_on_with(self, run: Run) -> None:
        """Figures of two settings are never mixed; nothing is run, and the file stays."""
        asked = ("all", "--system", "none", "--only", "scope", *ONE, "--json", "run.json")
        run(*asked, "--limit", "20")
        before = Path("run.json").read_bytes()
        told = run(*asked, "--resume", "--limit", "40", code=2).stderr
        assert "another setting of limit (20, now 40)" in told
        assert Path("run.json").read_bytes() == before
        assert "give --json FILE" in run("all", "--resume", *ONE, code=2).stderr
        Path("run.json").write_text("notes", encoding="utf-8")
        assert "cannot be read" in run(*asked, "--resume", code=2).stderr

    def test_a_published_suite_stands_beside_its_perturbed_copy(self, run: Run) -> None:
        """Both joint figures, how far they are apart, and a target for that."""
        written(Path("data/statebench_v1/dev.jsonl"), [RIGHT, LACKS])
        wanted = (*self.DATA, "--only", "statebench-1.0", "--json", "run.json")
        told = run("all", *wanted, code=1).stdout
        assert re.search(r"joint, away from it on a perturbed copy +≤ 3\.0 % +0\.0 % +met", told)
        [section] = json.loads(Path("run.json").read_text(encoding="utf-8"))["sections"]
        table = section["tables"][0]
        assert table["columns"][-2:] == ["joint, perturbed copy", "difference, points"]
        assert table["rows"][0][-2:] == [{"share": 0.5, "of": 2}, "+0.0"]
        assert section["record"]["copy"]["suite"] == "v1.0 dev perturbed"

    def test_a_wrong_call_is_refused_before_anything_runs(self, run: Run) -> None:
        """An evaluation or a system that is not known, a file in no folder: one line, code 2."""
        assert "no evaluation 'luck'" in run("all", "--skip", "luck", *ONE, code=2).stderr
        assert "no evaluation 'luck'" in run("all", "--only", "luck", *ONE, code=2).stderr
        assert "is not one of none" in run("all", "--system", "luck", *ONE, code=2).stderr
        assert "there is no folder" in run("all", "--json", "no/run.json", *ONE, code=2).stderr


class TestDialogues:
    def test_others_stand_beside_us(self, run: Run) -> None:
        """The same dialogues, asked of a system that keeps the text."""
        written(Path("data/sgd/cases_dev.jsonl"), ROWS)
        written(Path("data/multiwoz/cases_val.jsonl"), ROWS)
        wanted = ("--data", "data", "--system", "transcript", "--failures", "1", *ONE)
        out = run("dialogues", *wanted).stdout
        assert re.search(r"^incumbent +66\.7 % ", out, re.MULTILINE)
        assert re.search(r"^transcript +33\.3 % ", out, re.MULTILINE)
        assert "## own-1-Post" in out


@pytest.mark.parametrize(
    "name",
    ["cases", "pairs", "scope", "statebench", "dialogues", "retrieval", "all", "report"],
)
def test_help_has_examples(run: Run, name: str) -> None:
    """Every command shows how it is called."""
    assert f"incumbent eval {name} " in run(name, "--help").stdout
