"""The gate of the reader: siblings, lists of facts, and the command that runs it all."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app
from incumbent.context.document import Context, Line
from incumbent_eval import consolidation, shown, siblings
from incumbent_eval.consolidation import FactList, ListQuestion
from incumbent_eval.figures import Share
from incumbent_eval.live_lines import LineText, live_lines
from incumbent_eval.siblings import SiblingLabel, SiblingPair
from tests.evaluation.dialogues import written

PLAIN = incumbent.Settings(embedder=None, reader="rules")
STANDS = {
    "first": "Mum's at 14 Quarry Lane, ring twice.",
    "second": "assistant: Dad's at 9 Alder Court. Noted!",
    "gap": "same",
    "label": "stands",
    "query": "Where do my parents live?",
    "live": ["14 Quarry Lane", "9 Alder Court"],
    "dead": [],
}
REPLACES = {
    "first": "My address is 9 Mill Lane.",
    "second": "My address is 4 Quay Street.",
    "gap": "days",
    "label": "replaces",
    "query": "What is my address?",
    "live": ["4 Quay Street"],
    "dead": ["9 Mill Lane"],
}
LISTED = (
    "Thomas Kyd was born in the city of London.",
    "The capital of Italy is Rome.",
    "Thomas Kyd is a citizen of England.",
    "The capital of Italy is Duluth.",
    "The capital of Romania is Rome.",
)


def pair(**changes: Any) -> SiblingPair:
    """The pair that stands, with something else in it."""
    told: dict[str, Any] = {**STANDS, **changes}
    told["label"] = SiblingLabel(told["label"])
    told["live"], told["dead"] = tuple(told["live"]), tuple(told["dead"])
    return SiblingPair(place=1, **told)


def context(*lines: tuple[str, str]) -> Context:
    """A context of lines in their sections."""
    return Context(
        text="\n".join(text for _, text in lines),
        tokens=0,
        budget=0,
        query="",
        profile="balanced",
        at=datetime(2026, 3, 6, tzinfo=UTC),
        lines=tuple(Line(section, text) for section, text in lines),
    )


MUM = ("Facts", "- 2026-03-02: Mum's at 14  quarry lane, ring twice.")
DAD = ("Facts", "- 2026-03-02, assistant: Dad's at 9 Alder Court")


class TestLiveLines:
    def test_a_demoted_line_and_one_that_tells_no_fact_are_not_live(self) -> None:
        """Demoted by its section, or by its own words."""
        found = live_lines(
            context(
                ("Identity", "User: user"),
                MUM,
                ("Possibly outdated", "- 2026-03-02: a"),
                ("Facts", "- b (possibly outdated)"),
                ("Working set", "- turn 1: c"),
            )
        )
        assert [line.text for line in found] == [MUM[1]]

    def test_a_stretch_is_found_from_word_to_word(self) -> None:
        """In any case and spacing; neither within a word, nor in the day that something was
        said; our notes do not part it."""
        text = LineText("- 2026-03-14: Swimming on Tuesday (17 March) at 6:00, locker 214")
        assert all(map(text.has, ["tuesday  at 6:00", "17 March", "locker 214"]))
        assert not text.has_any(["14", "swim", "03-14", ""])


class TestSiblings:
    def test_right_is_all_that_lives_and_nothing_that_is_dead(self) -> None:
        """A stretch that only a demoted line has is not live."""
        assert siblings.scored(pair(), context(MUM, DAD)).is_right
        doubted = ("Possibly outdated", MUM[1])
        assert siblings.scored(pair(), context(doubted, DAD)).missing == ("14 Quarry Lane",)
        dead = siblings.scored(pair(dead=["Alder Court"]), context(MUM, DAD))
        assert dead.stale == ("Alder Court",)

    def test_whole_is_a_statement_as_it_was_made_or_its_key_and_value(self) -> None:
        """Pleasantries need not be kept, and a piece of a sentence is not the whole of it."""
        assert siblings.scored(pair(), context(MUM, DAD)).is_whole
        keyed = ("Facts", "- address (mum): 14 Quarry Lane (said 2026-03-02)")
        assert siblings.scored(pair(), context(keyed, DAD)).is_whole
        cut = ("Facts", "- 2026-03-02: at 14 Quarry Lane")
        assert siblings.scored(pair(), context(cut, DAD)).is_right
        assert not siblings.scored(pair(), context(cut, DAD)).is_whole

    def test_a_line_is_made_unless_its_mark_was_typed(self) -> None:
        """A cut, a joint, or words that nobody said."""
        joined = ("Facts", "- Mum's at … → Dad's at 9 Alder Court")
        assert siblings.scored(pair(), context(joined, DAD)).made == (joined[1],)
        assert siblings.scored(pair(first="Mum's at … → Dad's"), context(joined)).made == ()

    def test_pairs_are_told_to_empty_memories(self, tmp_path: Path) -> None:
        """A machine's words are told as its own."""
        path = written(tmp_path / "own.jsonl", [STANDS, REPLACES])
        report = siblings.run(path, settings=PLAIN)
        assert report.right(SiblingLabel.REPLACES) == Share(1, 1)
        assert report.right(SiblingLabel.STANDS).of == report.whole.of == 1
        assert siblings.spoken(str(STANDS["second"])) == (
            "assistant",
            "Dad's at 9 Alder Court. Noted!",
        )

    def test_a_mistake_in_a_file_is_refused_with_its_line(self, tmp_path: Path) -> None:
        path = written(tmp_path / "own.jsonl", [STANDS, {**REPLACES, "gap": "years"}])
        with pytest.raises(incumbent.InvalidInput, match=r"line 2.*'years'"):
            siblings.read_pairs(path)


class TestShown:
    def test_what_a_turn_ends_and_what_it_only_doubts_are_told_apart(self, tmp_path: Path) -> None:
        """A turn before which nothing was known could end nothing."""
        known, told = "My email is ada@one.org.", "My email is ben@two.org."
        asked = f"what's missing in this?\n\n{told}"
        rows = [{"known": known, "turn": told, "gap": "same"}, {"known": known, "turn": asked}]
        path = written(tmp_path / "own.jsonl", [*rows, {"known": "Thanks!", "turn": told}])
        ends, doubts, none = shown.run(path, settings=PLAIN)
        assert (ends.ended, ends.doubted) == (("ada@one.org",), ())
        assert (doubts.ended, doubts.doubted) == ((), ("ada@one.org",))
        assert (ends.is_known, none.is_known) == (True, False)

    def test_a_mistake_in_a_file_is_refused_with_its_line(self, tmp_path: Path) -> None:
        path = written(tmp_path / "own.jsonl", [{"known": "I am Ada."}])
        with pytest.raises(incumbent.InvalidInput, match=r"line 1.*'turn'"):
            shown.read_shown(path)
        path = written(
            tmp_path / "own.jsonl", [{"known": "I am Ada.", "turn": "?", "gap": "years"}]
        )
        with pytest.raises(incumbent.InvalidInput, match=r"line 1.*'years'"):
            shown.read_shown(path)


class TestConsolidation:
    def test_sentences_of_one_subject_and_relation_are_a_group(self) -> None:
        """The last of them holds."""
        found = {group.about: group for group in consolidation.grouped(LISTED)}
        assert len(found) == 4
        italy = found["the capital of italy is"]
        assert italy.current == "Duluth"
        assert italy.current_turns == {3}
        assert [fact.value for fact in italy.stale] == ["Rome"]

    def test_a_question_belongs_to_the_group_that_it_names(self) -> None:
        """Also where another group has the same value."""
        given = FactList("own", (*LISTED, "The capital of France is Duluth."), ())
        group = given.group_of(ListQuestion("What is the capital of Italy?", ("Duluth",)))
        assert group is not None
        assert group.about == "the capital of italy is"

    def test_a_list_is_told_and_asked_about(self) -> None:
        """What is stale of one thing may hold of another."""
        asked = ListQuestion("What is the capital of Romania?", ("Rome",))
        report = consolidation.play(FactList("own", LISTED, (asked,)), settings=PLAIN)
        [answer] = report.answers
        assert answer.is_found
        assert answer.stale == ()
        assert (report.holding.all, report.over.all, report.unplaced) == (4, 1, 0)

    def test_a_row_is_read_by_its_name(self, tmp_path: Path) -> None:
        """Without the numbers of the sentences."""
        rows = [row("mh", ["What?"]), row("sh", ["Where was Thomas Kyd born?"])]
        path = tmp_path / "list.json"
        path.write_text(json.dumps(rows), encoding="utf-8")
        found = consolidation.read_list(path)
        assert found.sentences == LISTED
        assert found.questions == (ListQuestion("Where was Thomas Kyd born?", ("London",)),)


def row(hops: str, questions: list[str]) -> dict[str, Any]:
    """A row of the public file."""
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(LISTED))
    return {
        "context": f"Here is a list of facts:\n{listed}\n",
        "questions": questions,
        "answers": [["London"]],
        "metadata": {"qa_pair_ids": [f"factconsolidation_{hops}_6k_no0"]},
    }


def run(*arguments: str, code: int = 0) -> str:
    plain = ("--workers", "1", "--embedder", "none", "--reader", "rules")
    result = CliRunner().invoke(app, ["eval", "gate", *arguments, *plain])
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


class TestTheCommand:
    @pytest.fixture(autouse=True)
    def elsewhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An empty folder, and no data."""
        monkeypatch.delenv("INCUMBENT_BENCH_DATA", raising=False)
        monkeypatch.chdir(tmp_path)

    def test_holds_its_figures_against_an_earlier_run(self) -> None:
        """A figure that was not measured before has none beside it."""
        Path("training/siblings").mkdir(parents=True)
        written(Path("training/siblings/own.jsonl"), [REPLACES])
        run("--only", "siblings", "--json", "before.json")
        written(Path("training/siblings/more.jsonl"), [REPLACES])
        out = run("--only", "siblings", "--against", "before.json")
        assert re.search(r"^siblings, own: replaces, right +100\.0 % +1 +100\.0 % +=$", out, re.M)
        assert re.search(r"^siblings, more: replaces, right +100\.0 % +1 +–$", out, re.M)
        [one] = [
            told
            for told in json.loads(Path("before.json").read_text(encoding="utf-8"))["figures"]
            if told["figure"] == "siblings, all: changes, right"
        ]
        assert (one["value"], one["n"]) == (1.0, 1)

    def test_a_missing_file_is_a_row_and_an_unknown_part_an_error(self) -> None:
        """The rest goes on."""
        parts = ["siblings", "unrelated", "shown", "conversations/home", "factconsolidation"]
        parts += ["statebench", "cases"]
        out = run(*(word for part in parts for word in ("--only", part)))
        assert out.count("not there: ") == 8
        assert "'siblinks' is not one of" in run("--only", "siblinks", code=2)

    @pytest.mark.slow
    def test_runs_repair_and_what_a_turn_costs(self) -> None:
        """On a conversation of our own."""
        Path("training/conversations").mkdir(parents=True)
        talk = "== a | b | c\n@ 2026-03-02 09:10 user\n1 I live in Ghent {user | home | Ghent}\n"
        Path("training/conversations/home.txt").write_text(
            f"{talk}== ask\nWhere? => Ghent\n", encoding="utf-8"
        )
        out = run("--only", "conversations", "--only", "repair", "--only", "cost")
        assert re.search(r"^conversations, home: joint +100\.0 % +1 ", out, re.M)
        assert re.search(r"^repair in words, held out +\d", out, re.M)
        assert re.search(r"^cost: .*embeddings of its text +\d+\.\d\d x +1 ", out, re.M)
