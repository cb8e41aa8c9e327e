"""The commands about what a model reads and has read, on real SQLite files."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app
from incumbent.cli.progress import ProgressLine

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command as alice of acme, in an empty folder; gives the result."""
    for name in ("DB", "AUTHORITY", "SESSION", "TASK", "EMBEDDER"):
        monkeypatch.delenv(f"INCUMBENT_{name}", raising=False)
    monkeypatch.setenv("INCUMBENT_USER", "alice")
    monkeypatch.setenv("INCUMBENT_ORGANIZATION", "acme")
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, code: int = 0, **options: Any) -> Any:
        result = CliRunner().invoke(app, list(arguments), **options)
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


def document(result: Any) -> Any:
    """The one JSON document on stdout."""
    return json.loads(result.stdout)


def recorded(run: Run, query: str = "What is the price?", *options: str) -> str:
    """The id of the receipt of a context that was recorded."""
    made = document(run("context", query, "--record", "--json", *options))
    assert made["recorded"] is True
    receipt: str = made["receipt"]
    return receipt


class TestContext:
    def test_prints_the_text_and_accounts_for_it_on_stderr(self, run: Run) -> None:
        """The model's text alone on stdout, within the budget; one line on stderr counts."""
        run("write", "status", "approved")
        run("write", "status", "cancelled")
        run("note", "objective", "ship order 4711")
        result = run("context", "What is the status?", "--budget", "200")
        assert "- status: cancelled" in result.stdout
        assert "approved" not in result.stdout
        assert "- objective: ship order 4711" in result.stdout
        told = r"note: 7 lines, \d+ of 200 tokens; left out: 1 superseded\n"
        assert re.fullmatch(told, result.stderr)

    def test_prints_the_context_as_json(self, run: Run) -> None:
        """Lines with score, parts and sources, omissions with their reasons, and the receipt."""
        run("write", "status", "approved")
        run("write", "status", "cancelled")
        made = document(run("context", "status?", "--budget", "200", "--json"))
        assert made["tokens"] <= 200
        assert made["text"].startswith("# Identity\nUser: alice")
        [line] = [line for line in made["lines"] if line["fact_id"]]
        assert line["text"] == "- status: cancelled"
        assert line["score"] == pytest.approx(sum(line["parts"].values()))
        assert line["sources"][0]["type"] == "state_write"
        assert [omission["reason"] for omission in made["omissions"]] == ["superseded"]
        assert (made["receipt"][:3], made["recorded"]) == ("rc-", False)

    def test_style_history_and_the_past_reach_the_text(self, run: Run) -> None:
        """--style annotated names ids, --history adds a section, --at gives an earlier moment."""
        monday, tuesday = "2026-03-02T12:00:00+00:00", "2026-03-03T12:00:00+00:00"
        first = document(run("write", "price", "310", "--at", monday, "--json"))["fact_id"]
        run("write", "price", "290", "--at", tuesday)
        assert first in run("context", "price", "--style", "annotated", "--at", monday).stdout
        assert "310" not in run("context", "price").stdout
        assert "# History" in run("context", "price", "--history").stdout
        assert "- price: 310" in run("context", "price", "--at", monday).stdout
        assert "- price: 310" in run("context", "price", "--as-of", monday).stdout
        known = run("context", "price", "--at", tuesday, "--known-at", tuesday).stdout
        assert "price:" not in known

    def test_a_note_that_states_a_fact_is_cut_when_that_fact_leaves(self, run: Run) -> None:
        """--states ties a note to a fact, and the account says what was taken out of it."""
        written = document(run("write", "price", "310", "--json"))
        told = ("note", "turn", "we agreed on 310 today", "--states", written["fact_id"])
        assert document(run(*told, "--json"))["states"] == [written["fact_id"]]
        assert "we agreed on 310 today" in run("context", "price").stdout
        run("write", "price", "290")
        result = run("context", "price")
        assert "- turn: we agreed on [no longer current] today" in result.stdout
        assert "1 quoting a dead value" in result.stderr
        assert "turn (repeats price)" in run("context", "price", "--explain").stdout

    def test_another_embedder_gives_the_same_facts(self, run: Run) -> None:
        """The index is made anew for it, with the option or its variable."""
        run("write", "price", "310")
        for name in ("static", "none"):
            assert "- price: 310" in run("context", "price", "--embedder", name).stdout
        told = document(run("doctor", "--json", env={"INCUMBENT_EMBEDDER": "none"}))
        assert "no embedder" in told["recipe"]
        assert told["organizations"][0]["index"] == "current"


class TestExplain:
    def test_accounts_for_every_line_and_omission(self, run: Run) -> None:
        """After the text: the budget, each line with score, parts and tokens, each omission."""
        old = document(run("write", "price", "310", "--json"))["fact_id"]
        new = document(run("write", "price", "290", "--json"))["fact_id"]
        run("write", "essay", "word " * 400)
        run("note", "objective", "ship order 4711")
        query = ("context", "What is the price?", "--budget", "300")
        plain = run(*query)
        explained = run(*query, "--explain")
        text, account = explained.stdout.split("\n\nBudget\n")
        assert plain.stdout.startswith(text.split("Current time")[0])
        assert explained.stderr == ""
        budget, lines, omissions = re.split(r"\n\nLines\n|\n\nLeft out: ", account)
        assert "of 300 tokens (o200k_base), profile balanced" in budget
        [shown] = [line for line in lines.splitlines() if new in line]
        row = r"Facts +\S+ +price: 290 +\d\.\d\d +words \.\d\d meaning \.\d\d key \.\d\d.* +\d+"
        assert re.fullmatch(row, shown)
        assert re.search(r"Working set +objective +objective: ship order 4711 +\d+", lines)
        assert omissions.splitlines()[0] == "1 over budget, 1 superseded"
        assert re.search(r"over budget +essay +\S{36}", omissions)
        assert re.search(rf"superseded +price +{old}", omissions)

    def test_the_budget_adds_up(self, run: Run) -> None:
        """The parts come to the tokens of the text, and with what is free to the budget."""
        run("write", "price", "310")
        run("write", "price", "290")
        run("note", "objective", "ship order 4711")
        out = run("context", "price", "--budget", "500", "--history", "--explain").stdout
        budget = out.split("\n\nBudget\n")[1].split("\n\nLines")[0]
        bar, *bands, total = budget.splitlines()
        taken = {
            name.strip(): int(tokens)
            for name, tokens in (
                re.findall(r" +\S ([a-z ]+) (\d+) +\d+ %", band)[0] for band in bands
            )
        }
        assert list(taken) == [
            "identity and environment",
            "facts",
            "history",
            "working set",
            "free",
        ]
        assert sum(taken.values()) == 500
        assert int(total.split()[0]) == 500 - taken["free"]
        drawn = [band.split()[0] for band in bands]
        assert len(bar.strip()) == 60
        assert list(dict.fromkeys(bar.strip())) == drawn

    @pytest.mark.parametrize("budget", ["0", "1", "20"])
    def test_a_budget_too_small_for_anything_is_accounted_for(self, run: Run, budget: str) -> None:
        """No bar of nothing, no line that is not there; the fact is over budget."""
        run("write", "price", "310")
        out = run("context", "price", "--budget", budget, "--explain").stdout
        assert re.search(r"over budget +price +\S{36}", out)

    def test_names_a_few_of_many_and_counts_the_rest(self, run: Run) -> None:
        """A large memory does not fill the screen; --json names every one."""
        with incumbent.open("incumbent.db", settings=incumbent.Settings(embedder=None)) as memory:
            alice = memory.session(user_id="alice", organization="acme")
            alice.write_many({"key": f"k{n}", "value": f"thing {n}"} for n in range(100))
        asked = ("context", "k1", "--budget", "60", "--explain", "--embedder", "none")
        out = run(*asked).stdout
        more = re.search(r"and (\d+) more; --json names them all", out)
        assert more is not None
        assert len(re.findall(r"^over budget|^irrelevant", out, re.MULTILINE)) < 70
        named = {omission["fact_id"] for omission in document(run(*asked, "--json"))["omissions"]}
        assert len(named) >= int(more[1]) + 30

    def test_does_not_betray_what_the_reader_may_not_know(self, run: Run) -> None:
        """The account of a reader without a permission is that of a world without the fact."""

        def account(db: str, *, with_secret: bool) -> str:
            where = ("--db", db, "--authority", "manager")
            run("write", "price", "310", "--id", "f1", "--source", "erp_system", *where)
            if with_secret:
                secret = ("--requires", "finance", "--permission", "finance")
                source = ("--source", "finance_system", *where)
                run("write", "rebate", "7%", "--id", "f2", *secret, *source)
                run("write", "rebate", "9%", "--id", "f3", *secret, *source)
            who = ("--user", "bob", *where)
            out: str = run("context", "price and rebate", "--explain", *who).stdout
            return re.sub(r"Current (time|date): [^\n]*", "", out)

        assert account("one.db", with_secret=True) == account("two.db", with_secret=False)

    def test_shows_a_value_as_data(self, run: Run) -> None:
        """Markup and escape sequences in a value act neither on the text nor on the table."""
        run("write", "k", "[red]x\x1b[2J")
        out = run("context", "k", "--explain").stdout
        assert "\x1b" not in out
        assert out.count('k: "[red]x\\u001b[2J"') == 2


class TestReceipts:
    def test_a_recorded_context_is_listed_and_replayed(self, run: Run) -> None:
        """`receipts` names it, and `replay` prints the same bytes whatever happened since."""
        run("write", "price", "310")
        result = run("context", "What is the price?", "--record")
        receipt = result.stderr.split("incumbent replay ")[1].strip()
        run("write", "price", "290")
        listed = run("receipts").stdout.splitlines()
        assert listed[0].split()[:4] == ["id", "at", "(UTC)", "by"]
        row = rf"{receipt}  \S+ \S+  alice  What is the price\?  \d+ of 4,000"
        assert re.fullmatch(row, listed[1])
        [told] = document(run("receipts", "--json"))["receipts"]
        assert (told["id"], told["user_id"], told["query"]) == (
            receipt,
            "alice",
            "What is the price?",
        )
        again = run("replay", receipt)
        assert again.stdout == result.stdout
        assert again.stderr.startswith("note: intact: what was given at 2")
        assert document(run("replay", receipt, "--json"))["intact"] is True

    def test_an_erasure_reaches_a_replay(self, run: Run) -> None:
        """What was erased is shown as erased, the exit code is 1, and one line says so."""
        run("write", "price", "310")
        fact = document(run("write", "phone", "555 0199", "--json"))["fact_id"]
        receipt = recorded(run, "price and phone")
        run("forget", "--fact", fact, "--yes")
        again = run("replay", receipt, code=1)
        assert "- price: 310" in again.stdout
        assert "- [erased]" in again.stdout
        assert "0199" not in again.stdout
        assert again.stderr.startswith("note: not intact: 1 line was erased since")
        assert document(run("replay", receipt, "--json", code=1))["intact"] is False

    def test_lists_the_newest_first_and_no_more_than_asked(self, run: Run) -> None:
        """Nothing recorded is said with the way to record; --limit cuts the list."""
        run("write", "price", "310")
        assert "--record" in run("receipts").stderr
        assert document(run("receipts", "--json")) == {"receipts": []}
        kept = [recorded(run, f"price {n}") for n in range(3)]
        told = document(run("receipts", "--limit", "2", "--json"))["receipts"]
        assert [receipt["id"] for receipt in told] == [kept[2], kept[1]]

    def test_a_receipt_is_its_reader_s_own(self, run: Run) -> None:
        """Another user is told of no such receipt, as for one that never was."""
        run("write", "price", "310")
        receipt = recorded(run)
        for command in (["replay", receipt], ["diff", receipt, receipt]):
            refused = run(*command, "--user", "bob", code=2)
            assert f"'bob' has no receipt '{receipt}'" in refused.stderr
            unknown = run(*[f"{word}x" if word == receipt else word for word in command], code=2)
            assert "'alice' has no receipt" in unknown.stderr
        assert "no receipts" in run("receipts", "--user", "bob").stderr


class TestDiff:
    def test_tells_what_changed_and_why(self, run: Run) -> None:
        """Changed, added and removed lines, each with its reason."""
        run("write", "price", "310")
        run("write", "supplier", "Norde")
        earlier = recorded(run)
        run("write", "price", "290")
        run("write", "color", "oak")
        run("retract", "supplier")
        later = recorded(run)
        rows = [re.split(r"\s{2,}", row) for row in run("diff", earlier, later).stdout.splitlines()]
        assert [cell.strip() for cell in rows[0]] == ["change", "before", "after", "why"]
        assert ["changed", "price: 310", "price: 290", "superseded since"] in rows
        assert ["removed", "supplier: Norde", "retracted"] in rows
        assert any(row[:2] == ["added", "color: oak"] for row in rows)
        told = document(run("diff", earlier, later, "--json"))
        assert (told["earlier"], told["later"]) == (earlier, later)
        [changed] = [one for one in told["changes"] if one["before"] == "- price: 310"]
        assert (changed["kind"], changed["after"]) == ("changed", "- price: 290")

    def test_says_that_nothing_changed(self, run: Run) -> None:
        """A context compared with itself."""
        run("write", "price", "310")
        receipt = recorded(run)
        result = run("diff", receipt, receipt)
        assert (result.stdout, "nothing changed" in result.stderr) == ("", True)


class TestReindex:
    def test_makes_the_index_anew(self, run: Run) -> None:
        """It tells how many facts it has and how it was made."""
        run("write", "price", "310", "--embedder", "none")
        run("write", "color", "oak", "--embedder", "none")
        assert run("reindex").stdout.startswith("indexed  2 facts of organization 'acme' (analysis")
        told = document(run("reindex", "--json"))
        assert (told["organization"], told["facts"]) == ("acme", 2)
        assert document(run("doctor", "--json"))["recipe"] == told["recipe"]


class TestTelling:
    @pytest.fixture
    def times(self) -> list[float]:
        """The seconds that the clock shows from now on, the last of them for ever."""
        return [0.0]

    def test_says_nothing_of_short_work(
        self, times: list[float], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Neither a line nor a bar for what is done at once."""
        screen = Console(file=io.StringIO(), force_terminal=True)
        for told in (ProgressLine(lambda: times[-1]), ProgressLine(lambda: times[-1], screen)):
            told("indexing facts", 0, 10)
            told("indexing facts", 10, 10)
        assert capsys.readouterr().err == ""
        assert screen.file.getvalue() == ""  # type: ignore[attr-defined]

    def test_tells_a_pipe_now_and_then(
        self, times: list[float], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A line every few seconds, and none at the end."""
        told = ProgressLine(lambda: times[-1])
        for second in range(13):
            times.append(float(second))
            told("indexing facts", 1_000 * second, 12_000)
        assert capsys.readouterr().err.splitlines() == [
            "note: indexing facts: 5,000 of 12,000",
            "note: indexing facts: 10,000 of 12,000",
        ]

    def test_draws_a_bar_on_a_terminal_and_takes_it_away(self, times: list[float]) -> None:
        """How much of how much is done; the cursor is shown again at the end."""
        screen = Console(file=io.StringIO(), force_terminal=True, width=80)
        told = ProgressLine(lambda: times[-1], screen)
        told("indexing facts", 0, 1_000)
        times.append(1.0)
        told("indexing facts", 500, 1_000)
        told("indexing facts", 1_000, 1_000)
        drawn = screen.file.getvalue()  # type: ignore[attr-defined]
        assert "indexing facts" in drawn
        assert "500/1000" in drawn
        assert drawn.endswith("\x1b[2K")
        assert "\x1b[?25h" in drawn

    def test_every_command_tells_of_an_index_made_by_the_way(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A context that has to make the index first tells of it on stderr, and not on stdout."""
        run("write", "price", "310", "--embedder", "none")
        monkeypatch.setattr("incumbent.cli.progress._INTERVAL", 0.0)
        result = run("context", "price", "--embedder", "static")
        assert result.stderr.startswith("note: indexing facts: 0 of 1\n")
        assert result.stdout.startswith("# Identity")
