"""Pages made from a run: from the document alone, whole, and safe to open and to pass on."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tenure
from tenure.evaluation import adapters
from tenure.evaluation.report import document, html, machine, markdown, whole
from tenure.evaluation.report.document import (
    Document,
    Failure,
    Section,
    Table,
    cannot,
    share_of,
)
from tenure.interfaces.cli import app
from tenure.model.errors import InvalidInput

MADE_BY = "tenure eval report run.json"
SECTION = Section(
    name="harbour",
    title="Harbours & <piers>",
    about="Which harbour is the right one?",
    tables=[
        Table(
            ["system", "right", "of"],
            [
                ["tenure", share_of(0.95, 20), 20],
                ["other|one", share_of(0.4, 20), 20],
                ["third", cannot("moor"), None],
            ],
            title="Moored",
            charted=1,
            note="Counted by hand.",
        ),
        Table(["boats", "tenure", "other|one"], [["found", 1, 2]]),
    ],
    failures=[
        Failure("case <1>", [("asked", "Where is <b>it</b>?")], "# Context\n<script>x()</script>")
    ],
    record={"right": 0.95},
    seconds=3.2,
)
QUOTING = replace(
    SECTION,
    name="quoting",
    title="Quoting",
    failures=[Failure("case 2", [("asked", "a sentence of somebody's data")], "their words")],
    quotes_data=True,
)
RUN = Document(
    date="2026-03-02",
    versions={"tenure": "0.1.0", "python": "3.11.9", "mem0ai": "2.2.1"},
    machine={"processor": "Abacus 9", "cores": 2, "memory_gb": 8.0, "system": "Linux x86_64"},
    settings={"detector": "both", "seed": 0, "limit": None},
    targets=[
        {"measure": "harbours right", "at_least": 0.9, "measured": 0.95, "met": True},
        {"measure": "boats lost", "at_most": 0.0, "measured": 0.1, "met": False},
        {"measure": "boats found", "at_least": None, "measured": None, "met": None},
    ],
    left_out=[{"what": "mem0", "why": "not installed"}],
    sections=[SECTION, QUOTING],
    seconds=300.0,
)


class _Page(HTMLParser):
    """Tags that stay open, and everything that a page would fetch."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "line", "rect", "!doctype"):
            self.open.append(tag)
        self.fetched += [v or "" for k, v in attrs if k in ("src", "href", "data") and v]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


class TestDocument:
    def test_comes_back_as_it_was_written(self, tmp_path: Path) -> None:
        """Pages from the file and from the run are the same."""
        document.written(RUN, tmp_path / "run.json")
        again = document.read(tmp_path / "run.json")
        assert html.page(again, made_by=MADE_BY) == html.page(RUN, made_by=MADE_BY)
        assert markdown.page(again, made_by=MADE_BY) == markdown.page(RUN, made_by=MADE_BY)
        assert again.sections[0].record == {"right": 0.95}

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("", "cannot be read"),
            ("[]", "is no report"),
            ('{"format": "other/1"}', "is no report"),
            ('{"format": "tenure-evaluation/1"}', "is not whole"),
        ],
    )
    def test_a_file_that_is_none_is_refused(self, tmp_path: Path, text: str, why: str) -> None:
        """With what to give instead."""
        (tmp_path / "run.json").write_text(text, encoding="utf-8")
        with pytest.raises(InvalidInput, match=f"{why}.*eval all --json FILE"):
            document.read(tmp_path / "run.json")
        with pytest.raises(InvalidInput, match="there is no file"):
            document.read(tmp_path / "none.json")


class TestHtml:
    def test_is_whole_and_fetches_nothing(self) -> None:
        """Every tag is closed; links stay on the page; no script, font or image from anywhere."""
        text = html.page(RUN, made_by=MADE_BY)
        page = _Page(text)
        assert page.open == []
        assert all(target.startswith("#") for target in page.fetched)
        assert not {"script", "link", "img", "iframe"} & set(page.tags)
        assert "http" not in text
        assert "@import" not in text

    def test_links_lead_to_sections(self) -> None:
        text = html.page(RUN, made_by=MADE_BY)
        assert set(re.findall(r'href="#([^"]+)"', text)) <= set(re.findall(r'id="([^"]+)"', text))

    def test_text_is_never_markup(self) -> None:
        """What a context or a title says stays text."""
        text = html.page(RUN, made_by=MADE_BY)
        assert "<script>" not in text
        assert "&lt;script&gt;x()&lt;/script&gt;" in text
        assert "Harbours &amp; &lt;piers&gt;" in text

    def test_tells_targets_systems_and_what_cannot_be_done(self) -> None:
        """Met and missed are counted, ours is marked, and what a system lacks is no nought."""
        text = html.page(RUN, made_by=MADE_BY)
        assert "1 met, 1 missed" in text
        assert '<td class="missed">missed</td>' in text
        assert '<tr class="ours"><td>tenure</td><td>95.0 %</td>' in text
        assert '<td class="cannot">cannot: moor</td>' in text
        assert '<td class="ours">1</td>' in text  # a column of ours, where systems stand in columns
        assert "Abacus 9, 2 cores, 8.0 GB" in text
        assert "mem0ai 2.2.1" in text

    def test_draws_bars_in_proportion(self) -> None:
        """For those that have a figure; ours in its own colour."""
        text = html.page(RUN, made_by=MADE_BY)
        drawn = re.findall(r'<rect class="(bar[^"]*)"[^>]*width="([\d.]+)"', text)
        kinds = [kind for kind, _ in drawn]
        ours, other = (float(width) for _, width in drawn[:2])
        assert kinds == ["bar ours", "bar"] * 2
        assert ours / other == pytest.approx(0.95 / 0.4, rel=0.01)

    def test_reads_in_light_and_dark_and_on_a_phone(self) -> None:
        text = html.page(RUN, made_by=MADE_BY)
        assert "prefers-color-scheme: dark" in text
        assert 'name="viewport" content="width=device-width' in text

    def test_quotes_data_only_when_told_to(self) -> None:
        """A page can be passed on as it is."""
        assert "their words" not in html.page(RUN, made_by=MADE_BY)
        assert "their words" in html.page(RUN, made_by=MADE_BY, texts=True)


class TestMarkdown:
    def test_tells_how_it_was_made_and_on_what(self) -> None:
        text = markdown.page(RUN, made_by=MADE_BY)
        assert text.startswith("# Figures\n\nMade by `tenure eval report run.json`")
        assert "- machine: Abacus 9, 2 cores, 8.0 GB, Linux x86_64" in text

    def test_a_sample_says_that_it_is_one(self) -> None:
        """Nobody takes the figures of a quick look for those of a whole run."""
        quick = replace(RUN, settings={**RUN.settings, "limit": 12})
        assert "- sample: only the first 12 of each set" in markdown.page(quick, made_by=MADE_BY)
        assert "sample" not in markdown.page(RUN, made_by=MADE_BY)

    def test_rows_have_as_many_cells_as_their_table(self) -> None:
        """Also where a name has the sign that parts cells."""
        rows = [line for line in markdown.page(RUN, made_by=MADE_BY).splitlines() if "|" in line]
        table = rows[rows.index("| system | right | of |") :][:5]
        assert {len(re.findall(r"(?<!\\)\|", row)) for row in table} == {4}
        assert "| **tenure** | **95.0 %** | **20** |" in rows
        assert "| other\\|one | 40.0 % | 20 |" in rows

    def test_never_quotes_data_unless_told_to(self) -> None:
        assert "somebody's data" not in markdown.page(RUN, made_by=MADE_BY)
        assert "somebody's data" in markdown.page(RUN, made_by=MADE_BY, texts=True)


class TestWhole:
    def test_a_peer_that_breaks_does_not_end_the_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is named with what happened; ours and the others have their figures."""
        broken = adapters.makers()

        def breaks() -> Any:
            raise RuntimeError("out of order")

        broken["bm25"] = breaks
        monkeypatch.setattr(adapters, "makers", lambda: broken)
        plan = whole.Plan(
            systems=("bm25", "transcript"),
            only=("asof",),
            limit=20,
            settings=tenure.Settings(embedder=None),
        )
        told: list[whole.LeftOut] = []
        made = whole.run(plan, date="2026-03-02", say=told.append)
        assert told == [whole.LeftOut("bm25, as of", "it broke: RuntimeError: out of order")]
        [section] = made.sections
        assert [row[0] for row in section.tables[0].rows] == ["tenure", "transcript"]
        assert section.tables[0].rows[0][1] == {"share": 1.0, "of": 20}
        assert made.targets[0]["met"] is True
        assert made.settings["embedder"] == "none"

    def test_every_evaluation_makes_a_section(self) -> None:
        """Of those that need no data, at the smallest size, ours alone."""
        own = ("conformance", "isolation", "scope", "asof", "repair")
        plan = whole.Plan(systems=(), only=own, limit=1, settings=tenure.Settings(embedder=None))
        made = whole.run(plan, date="2026-03-02", say=print)
        assert [section.name for section in made.sections] == list(own)
        assert all(row[0] == "tenure" for row in made.sections[0].tables[0].rows)
        assert json.loads(json.dumps(made.plain()))["format"] == document.FORMAT
        page = _Page(html.page(made, made_by=MADE_BY))
        assert page.open == []


class TestMachine:
    def test_names_the_processor_as_the_system_does(self, tmp_path: Path) -> None:
        told = tmp_path / "cpuinfo"
        told.write_text("processor : 0\nmodel name\t: Abacus 9 @ 3 GHz\n", encoding="utf-8")
        assert machine.processor(told) == "Abacus 9 @ 3 GHz"
        assert machine.processor(tmp_path / "none") != ""

    def test_names_versions_and_cores(self) -> None:
        assert machine.versions()["tenure"] == tenure.__version__
        assert machine.machine()["cores"] >= 1


class TestCommand:
    def test_makes_both_pages_from_the_file_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        document.written(RUN, Path("run.json"))
        wanted = ["eval", "report", "run.json", "--html", "page.html", "--markdown", "figures.md"]
        result = CliRunner().invoke(app, wanted)
        assert result.exit_code == 0, result.output
        assert "Tenure, measured" in Path("page.html").read_text(encoding="utf-8")
        assert "--markdown figures.md" in Path("figures.md").read_text(encoding="utf-8")

    def test_a_wrong_call_is_refused_with_the_fix(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nothing to make, no such file, no such folder: one line, code 2, nothing written."""
        monkeypatch.chdir(tmp_path)
        document.written(RUN, Path("run.json"))
        for arguments, why in (
            (["run.json"], "say what to make"),
            (["none.json", "--html", "page.html"], "there is no file none.json"),
            (["run.json", "--html", "no/page.html"], "there is no folder no"),
        ):
            result = CliRunner().invoke(app, ["eval", "report", *arguments])
            assert result.exit_code == 2
            assert why in result.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
