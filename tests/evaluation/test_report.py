"""Pages made from a run: from the document alone, whole, and safe to open and to pass on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app
from incumbent.model.errors import InvalidInput
from incumbent_eval import adapters, judging
from incumbent_eval.report import document, html, judged, machine, markdown, parts, whole
from incumbent_eval.report.document import (
    Document,
    Failure,
    Section,
    Table,
    cannot,
    share_of,
)
from tests.evaluation.dialogues import written

MADE_BY = "incumbent eval report run.json"
SECTION = Section(
    name="harbour",
    title="Harbours & <piers>",
    about="Which harbour is the right one?",
    tables=[
        Table(
            ["system", "right", "of"],
            [
                ["incumbent", share_of(0.95, 20), 20],
                ["other|one", share_of(0.4, 20), 20],
                ["third", cannot("moor"), None],
            ],
            title="Moored",
            charted=1,
            note="Counted by hand.",
        ),
        Table(["boats", "incumbent", "other|one"], [["found", 1, 2]]),
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
    versions={"incumbent": "0.1.0", "python": "3.11.9", "mem0ai": "2.2.1"},
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


def hostile(value: Any) -> Any:
    """The same document with markup in front of every text that it holds."""
    if isinstance(value, str):
        return f"<i>{value}"
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: hostile(getattr(value, f.name)) for f in fields(value)})
    if isinstance(value, Mapping):
        return {name: hostile(one) for name, one in value.items()}
    if isinstance(value, Sequence):
        return [hostile(one) for one in value]
    return value


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
            ('{"format": "incumbent-evaluation/1"}', "is not whole"),
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

    def test_whatever_a_document_says_is_text(self) -> None:
        """Markup in any text of a document stays text: no field of it is forgotten."""
        text = html.page(hostile(RUN), made_by="<i>me</i>", texts=True)
        assert text.count("&lt;i&gt;") > 30
        assert "<i>" not in text

    def test_tells_targets_systems_and_what_cannot_be_done(self) -> None:
        """Met and missed are counted, ours is marked, and what a system lacks is no nought."""
        text = html.page(RUN, made_by=MADE_BY)
        assert "1 met, 1 missed" in text
        assert '<td class="missed">missed</td>' in text
        assert '<tr class="ours"><td>incumbent</td><td>95.0 %</td>' in text
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
        assert text.startswith("# Figures\n\nMade by `incumbent eval report run.json`")
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
        assert "| **incumbent** | **95.0 %** | **20** |" in rows
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
        plan = parts.Plan(
            systems=("bm25", "transcript"),
            only=("asof",),
            limit=20,
            settings=incumbent.Settings(embedder=None),
        )
        told: list[parts.LeftOut] = []
        made = whole.run(plan, date="2026-03-02", say=told.append)
        assert told == [parts.LeftOut("bm25, as of", "it broke: RuntimeError: out of order")]
        [section] = made.sections
        assert [row[0] for row in section.tables[0].rows] == ["incumbent", "transcript"]
        assert section.tables[0].rows[0][1] == {"share": 1.0, "of": 20}
        assert made.targets[0]["met"] is True
        assert made.settings["embedder"] == "none"

    def test_every_evaluation_makes_a_section(self) -> None:
        """Of those that need no data, at the smallest size, ours alone."""
        own = ("conformance", "isolation", "scope", "asof", "repair")
        plan = parts.Plan(systems=(), only=own, limit=1, settings=incumbent.Settings(embedder=None))
        made = whole.run(plan, date="2026-03-02", say=print)
        assert [section.name for section in made.sections] == list(own)
        assert all(row[0] == "incumbent" for row in made.sections[0].tables[0].rows)
        assert json.loads(json.dumps(made.plain()))["format"] == document.FORMAT
        page = _Page(html.page(made, made_by=MADE_BY))
        assert page.open == []


class TestGoingOn:
    """A run of everything takes an hour, and machines are switched off."""

    PLAN = parts.Plan(
        systems=(),
        only=("scope", "asof", "sentences"),
        limit=20,
        settings=incumbent.Settings(embedder=None),
    )

    def test_is_saved_as_each_part_is_finished(self) -> None:
        """What was saved says what it has, and what is still to be run; so do its pages."""
        saved: list[Document] = []
        begun: list[whole.ReportStep] = []
        last = whole.run(self.PLAN, date="2026-03-02", begin=begun.append, save=saved.append)
        assert [(step.name, step.number, step.of) for step in begun] == [
            ("scope", 1, 3),
            ("asof", 2, 3),
            ("sentences", 3, 3),
        ]
        assert [one.unfinished for one in saved] == [["asof", "sentences"], ["sentences"], []]
        assert [section.name for section in saved[0].sections] == ["scope"]
        assert "still to be run: asof, sentences" in markdown.page(saved[0], made_by=MADE_BY)
        assert "not finished" not in html.page(last, made_by=MADE_BY)

    def test_progress_tells_the_part(self) -> None:
        """Whatever a part tells of itself has the number of the part before it."""
        told: list[str] = []
        plan = replace(self.PLAN, progress=lambda what, done, total: told.append(what))
        whole.run(plan, date="2026-03-02")
        assert {what.split()[0] for what in told} == {"1/3", "2/3"}

    def test_a_run_that_was_stopped_comes_to_the_same(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What was done is taken over, from the file, and the rest is run."""
        unbroken = whole.run(self.PLAN, date="2026-03-02")
        path = tmp_path / "run.json"

        def stopped(plan: parts.Plan) -> Any:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setitem(parts.PARTS, "asof", stopped)
            with pytest.raises(KeyboardInterrupt):
                whole.run(
                    self.PLAN, date="2026-03-01", save=lambda made: document.written(made, path)
                )
        with monkeypatch.context() as patch:
            patch.setitem(parts.PARTS, "scope", stopped)
            made = whole.run(self.PLAN, date="2026-03-02", before=document.read(path))
        assert _timeless(made) == _timeless(unbroken)

    def test_a_part_that_found_nothing_is_tried_again(self, tmp_path: Path) -> None:
        """Somebody has brought the data meanwhile; the gap is no longer told."""
        before = whole.run(self.PLAN, date="2026-03-02")
        assert [gap["what"] for gap in before.left_out] == ["scope"]
        sentence = {"id": "1", "text": "The soup was warm.", "label": "asserted"}
        written(tmp_path / "scope" / "counterfactual_own.jsonl", [sentence])
        plan = replace(self.PLAN, folder=tmp_path)
        made = whole.run(plan, date="2026-03-02", before=before)
        assert [section.part for section in made.sections] == ["scope", "asof", "sentences"]
        assert made.left_out == []

    def test_figures_of_two_versions_are_not_mixed(self) -> None:
        """Also not where the settings are the same."""
        before = whole.run(self.PLAN, date="2026-03-02")
        older = replace(before, versions={**before.versions, "incumbent": "0.0.9"})
        with pytest.raises(InvalidInput, match=r"another version of incumbent \(0\.0\.9, now"):
            whole.run(self.PLAN, date="2026-03-02", before=older)

    def test_a_name_stands_for_all_parts_that_begin_with_it(self) -> None:
        """In the order in which they are run, less those that are skipped."""
        plan = parts.Plan(only=("statebench", "asof"), skip=("statebench-1.0",))
        assert plan.chosen == ["asof", "statebench-2.0.0"]
        assert parts.Plan().chosen == [one for one in parts.PARTS if one != parts.ANSWERS]

    def test_a_document_of_an_earlier_version_can_be_read(self, tmp_path: Path) -> None:
        """It does not say what it has done, so that nothing of it is taken over."""
        plain = RUN.plain()
        for name in ("done", "unfinished"):
            del plain[name]
        for section in plain["sections"]:
            del section["part"]
        (tmp_path / "run.json").write_text(json.dumps(plain), encoding="utf-8")
        again = document.read(tmp_path / "run.json")
        assert (again.done, again.sections[0].part) == ((), "")
        assert html.page(again, made_by=MADE_BY) == html.page(RUN, made_by=MADE_BY)


def _timeless(made: Document) -> dict[str, Any]:
    """A document as plain values, without how long anything took."""
    plain: dict[str, Any] = json.loads(json.dumps(made.plain()))
    for one in (plain, *plain["sections"]):
        del one["seconds"]
    return plain


class TestEndToEnd:
    def test_a_section_tells_who_answered_and_how_far_runs_differ(self) -> None:
        """Means with deviations, ours first; what a suite has no queries for is not there."""
        spread = judging.Spread((0.6, 0.8))
        report = judging.JudgedReport(
            "own",
            "vllm:reader",
            judging.RULES_ALONE,
            2,
            queries=40,
            systems={"other": {judging.DECISION: spread}, "incumbent": {judging.DECISION: spread}},
            tracks={"other": {"harbours": spread}, "incumbent": {"harbours": spread}},
            failed={"third": "RuntimeError: tired"},
            refused={"other": 3},
        )
        section = judged.of_judged(report)
        text = markdown.page(replace(RUN, sections=[section]), made_by=MADE_BY)
        assert "vllm:reader answers 40 queries" in text
        assert "| **incumbent** | **70.0 ± 14.1 %** | **–** |" in text
        assert "| harbours | 70.0 ± 14.1 % | 70.0 ± 14.1 % |" in text
        assert "| third | it failed: RuntimeError: tired |" in text
        assert "| other | 3 |" in text
        page = html.page(replace(RUN, sections=[section]), made_by=MADE_BY)
        assert _Page(page).open == []
        assert '<rect class="bar ours"' in page


class TestMachine:
    def test_names_the_processor_as_the_system_does(self, tmp_path: Path) -> None:
        told = tmp_path / "cpuinfo"
        told.write_text("processor : 0\nmodel name\t: Abacus 9 @ 3 GHz\n", encoding="utf-8")
        assert machine.processor(told) == "Abacus 9 @ 3 GHz"
        assert machine.processor(tmp_path / "none") != ""

    def test_names_versions_and_cores(self) -> None:
        assert machine.versions()["incumbent"] == incumbent.__version__
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
        assert "Incumbent, measured" in Path("page.html").read_text(encoding="utf-8")
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
