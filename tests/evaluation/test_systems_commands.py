"""The commands `incumbent eval conformance`, `isolation`, `asof`, and `scope` without data."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from incumbent.cli import app

Run = Callable[..., Any]
DOCS = Path(__file__).parents[2] / "docs" / "evaluation.md"
ONE = ("--workers", "1")
FORGETFUL = """
import incumbent
from incumbent_eval.ours import IncumbentSystem


class Ours(IncumbentSystem):
    name = "incumbent"

    def __init__(self):
        super().__init__(incumbent.Settings(embedder=None))


class Leaky(Ours):
    name = "leaky"

    def _session(self, who, *rest, **more):
        from dataclasses import replace

        return super()._session(replace(who, organization="all"), *rest, **more)


class Impostor(Leaky):
    name = "incumbent"


class Timeless(Ours):
    def context(self, who, query, budget, **when):
        return super().context(who, query, budget)


class Loose(Ours):
    def _session(self, who, scope="global", **more):
        return super()._session(who, **more)


number = 3
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `incumbent eval` in a folder that has a module of systems; gives the result."""
    (tmp_path / "forgetful.py").write_text(FORGETFUL)
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, code: int = 0) -> Any:
        result = CliRunner().invoke(app, ["eval", *arguments])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


class TestConformance:
    def test_tries_a_system_that_lies_in_the_folder(self, run: Run) -> None:
        """The example of the documentation, as it stands there."""
        example = re.search(r"```python\n(from .*?class Notes.*?)```", DOCS.read_text(), re.DOTALL)
        assert example is not None
        Path("my_memory.py").write_text(example[1])
        out = run("conformance", "--system", "my_memory:Notes", "--failures", "1").stdout
        assert re.search(r"^chains +5 of 5, 3 cannot$", out, re.MULTILINE)
        assert re.search(r"^undo +3 cannot$", out, re.MULTILINE)
        assert "notes failed:" in out
        assert "## notes: the context tells the date afresh" in out
        assert "law:   The environment is read for every context" in out

    def test_several_systems_stand_beside_each_other(self, run: Run) -> None:
        """One document with all of them; only a failure of ours ends with code 1."""
        result = run("conformance", "--system", "transcript", "--system", "bm25", "--json")
        told = json.loads(result.stdout)["systems"]
        assert [one["system"] for one in told] == ["transcript", "bm25"]
        assert told[0]["failed"] > 0
        assert told[0]["cannot"] > 0

    def test_a_failure_of_ours_ends_with_code_1(self, run: Run) -> None:
        """Whoever runs it in a pipeline is told."""
        out = run("conformance", "--system", "forgetful:Impostor", code=1).stdout
        assert "another organization sees nothing" in out

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("nothing", "is not one of all, incumbent, "),
            ("no_such_module:Thing", "there is no such module"),
            ("forgetful:Nobody", "forgetful has no 'Nobody'"),
            ("forgetful:number", "is no maker"),
        ],
    )
    def test_a_system_that_is_not_there_is_refused(self, run: Run, name: str, why: str) -> None:
        """The error names what there is."""
        assert why in run("conformance", "--system", name, code=2).stderr


class TestIsolation:
    def test_ours_lets_nothing_through(self, run: Run) -> None:
        """The probes are counted, and so is what there was to find."""
        out = run("isolation", "--probes", "60", *ONE).stdout
        assert "incumbent: 0 leaks in 60 probes" in out
        assert "own secrets found: 100.0 % of" in out

    def test_leaks_are_counted_by_wall_and_road(self, run: Run) -> None:
        """A leak of another system is told, and is no failure of the command."""
        wanted = ("isolation", "--probes", "60", *ONE)
        out = run(*wanted, "--system", "forgetful:Leaky", "--failures", "1").stdout
        assert re.search(r"^organization +context +\d+$", out, re.MULTILINE)
        assert "## over the wall: organization" in out
        told = json.loads(run(*wanted, "--system", "forgetful:Impostor", "--json", code=1).stdout)
        assert told["systems"][0]["leaks"] > 0


class TestAsOf:
    def test_tells_the_share_of_right_answers(self, run: Run) -> None:
        """By what was asked, for each system; what a system cannot do is named."""
        wanted = ("asof", "--questions", "60", *ONE)
        systems = ("--system", "forgetful:Timeless", "--system", "transcript")
        out = run(*wanted, *systems, "--failures", "1", code=1).stdout
        assert re.search(r"^now +100\.0 % of \d+ +–$", out, re.MULTILINE)
        assert "transcript cannot: as of, " in out
        assert "## incumbent" in out

    def test_a_seed_gives_the_same_figures(self, run: Run) -> None:
        """The document has the seed in it."""
        wanted = ("asof", "--questions", "40", "--seed", "8", "--system", "forgetful:Timeless")
        first, again = (run(*wanted, *ONE, "--json", code=1).stdout for _ in range(2))
        assert first == again
        assert json.loads(first)["seed"] == 8


class TestScope:
    def test_needs_no_data(self, run: Run) -> None:
        """Without a folder the structured part alone is run."""
        out = run("scope", "--limit", "40", "--embedder", "none", *ONE).stdout
        assert re.search(r"^all +100\.0 % of 40$", out, re.MULTILINE)

    def test_a_wrong_value_of_ours_ends_with_code_1(self, run: Run) -> None:
        """Drafts that are taken for real are told, with what was done."""
        wanted = ("scope", "--limit", "40", *ONE, "--system", "forgetful:Loose")
        out = run(*wanted, "--failures", "1", code=1).stdout
        assert "## incumbent" in out
        [told] = json.loads(run(*wanted, "--json", code=1).stdout)["structured"]
        assert told["right"]["share"] < 1


@pytest.mark.parametrize("name", ["conformance", "isolation", "asof", "scope"])
def test_help_has_examples(run: Run, name: str) -> None:
    """Every command shows how it is called."""
    assert f"incumbent eval {name}" in run(name, "--help").stdout
