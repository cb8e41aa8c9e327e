"""Conversations as people write them: what holds in the end, and what a memory makes of them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

import incumbent
from incumbent.context.document import Context, Line
from incumbent_eval.conversations import play as playing
from incumbent_eval.conversations import report as reporting
from incumbent_eval.conversations.composed import SaidText, composed_lines
from incumbent_eval.conversations.endings import stated_values
from incumbent_eval.conversations.fates import FateFigures
from incumbent_eval.conversations.format import (
    ConversationQuestion,
    MarkedConversation,
    read_conversations,
)
from incumbent_eval.conversations.play import LAST, TRANSCRIPT
from incumbent_eval.conversations.retirements import RetirementFigures
from incumbent_eval.conversations.sections import live_part
from incumbent_eval.figures import Joint, Share
from tests.evaluation.conversations import MOVED, written

PLAIN = incumbent.Settings(embedder=None, reader="rules")
ASKED = date(2026, 6, 1)
RIGHT, WRONG = Joint(1, 1, 1, 1), Joint(0, 1, 0, 1)


def conversation(tmp_path: Path, text: str = MOVED) -> MarkedConversation:
    [one] = read_conversations(written(tmp_path / "own.txt", text))
    return one


def holding(tmp_path: Path, *lines: str) -> list[str]:
    """The values that hold after some statements, a day between each."""
    turns = [f"@ 2026-05-{day:02} 09:00 user\n{line}\n" for day, line in enumerate(lines, 1)]
    text = f"== c | d | e\n{''.join(turns)}== ask\nWhat? => that\n"
    values = stated_values(conversation(tmp_path, text), ASKED)
    return [value.triple.value for value in values if value.holds]


FLAT = "1 the flat is in Leeds, rent 600 {flat | place | Leeds} {flat | rent | 600}"


class TestWhatHolds:
    def test_what_is_replaced_or_ended_is_over_whole(self, tmp_path: Path) -> None:
        assert holding(tmp_path, FLAT, "2 York now {flat | place | York} [replaces 1]") == ["York"]
        assert holding(tmp_path, FLAT, "2 gave it up [ends 1]") == []

    def test_of_a_part_one_value_is_over(self, tmp_path: Path) -> None:
        """The rest of the statement stands."""
        later = "2 it is 650 now {flat | rent | 650} [part 1: 600 -> 650]"
        assert holding(tmp_path, FLAT, later) == ["Leeds", "650"]

    def test_of_two_equal_values_the_part_is_the_one_that_is_spoken_of(
        self, tmp_path: Path
    ) -> None:
        both = (
            "1 we both have six to eight {Teo | watch | six to eight} {Ann | watch | six to eight}"
        )
        later = "2 Ann has ten now {Ann | watch | ten} [part 1: six to eight -> ten]"
        assert holding(tmp_path, both, later) == ["six to eight", "ten"]

    def test_of_a_piece_of_a_value_the_piece_is_over(self, tmp_path: Path) -> None:
        """What is left of the value counts neither way."""
        both = "1 it is in Dutch and Danish {leaflet | language | Dutch and Danish}"
        later = "2 Finnish for Danish {leaflet | language | Finnish} [part 1: Danish -> Finnish]"
        assert holding(tmp_path, both, later) == ["Finnish"]

    def test_what_comes_later_ends_nothing_before_its_day(self, tmp_path: Path) -> None:
        """Then it ends what it speaks of."""
        early = "2 650 from then {flat | rent | 650} [later 1 2026-06-01]"
        assert holding(tmp_path, FLAT, early) == ["Leeds", "650"]
        late = "2 650 from then {flat | rent | 650} [later 1 2026-06-02]"
        assert holding(tmp_path, FLAT, late) == ["Leeds", "600", "650"]

    def test_what_is_reverted_to_holds_again(self, tmp_path: Path) -> None:
        """What had taken its place is over, whether or not it is said so."""
        changed = "2 it is 650 now {flat | rent | 650} [part 1: 600 -> 650]"
        back = "3 no they took it back {flat | rent | took it back} [reverts 1]"
        assert holding(tmp_path, FLAT, changed, back) == ["Leeds", "600", "took it back"]

    def test_what_says_it_again_is_over_with_it(self, tmp_path: Path) -> None:
        """As far as it speaks of the same; the other things it says stand."""
        again = "2 still 600, and damp {flat | rent | 600} {flat | walls | damp} [confirms 1]"
        later = "3 it is 650 now {flat | rent | 650} [part 1: 600 -> 650]"
        assert holding(tmp_path, FLAT, again, later) == ["Leeds", "damp", "650"]

    def test_additions_reasons_and_doubts_end_nothing(self, tmp_path: Path) -> None:
        later = "2 perhaps more {flat | rent | more} [adds 1] [depends 1] [doubts 1]"
        assert holding(tmp_path, FLAT, later) == ["Leeds", "600", "more"]


class TestTheLivePart:
    CONTEXT = "\n".join(
        [
            "# Identity",
            "User: user",
            "",
            "# Facts",
            "- said: I live in York.",
            "",
            "# Possibly outdated (newer statements may have replaced these)",
            "- said: I live in Leeds.",
            "",
            "# Working set (this session)",
            "- turn: Hello.",
            "",
            "# Environment",
            "Current time: 19:30",
        ]
    )

    def test_is_all_but_who_asks_the_clock_and_what_is_in_doubt(self) -> None:
        live = live_part(self.CONTEXT).split("\n")
        assert [line for line in live if line] == ["- said: I live in York.", "- turn: Hello."]

    def test_a_dead_value_that_is_only_in_doubt_counts_as_absent(self) -> None:
        asked = ConversationQuestion("Where?", (("York",),), ("Leeds",))
        assert playing.answered(asked, live_part(self.CONTEXT)) == RIGHT
        assert playing.answered(asked, self.CONTEXT) == Joint(1, 0, 0, 1)

    def test_a_current_value_that_is_only_in_doubt_counts_as_missing(self) -> None:
        asked = ConversationQuestion("Where?", (("Leeds",),))
        assert playing.answered(asked, live_part(self.CONTEXT)) == WRONG

    def test_the_day_on_which_something_was_said_says_no_value(self) -> None:
        """Its speaker does, and a day that is told within the words."""
        shown = (
            "# Facts\n- [deadline] 2026-03-10, Tom: due 2026-05-20\n- seats: 4 (said 2026-03-11)"
        )
        asked = ConversationQuestion("What?", (("Tom",), ("20",), ("4",)), ("10", "11"))
        assert playing.answered(asked, live_part(shown)) == RIGHT

    def test_values_are_whole_words_in_any_of_their_wordings(self) -> None:
        """Every value must be there, each in one of its ways."""
        asked = ConversationQuestion("When?", (("7.30 pm", "half seven"), ("Ann",)), ("7",))
        assert playing.answered(asked, "Half  Seven, with ann") == RIGHT
        assert playing.answered(asked, "half seven, with Anna") == WRONG


class TestPlaying:
    def test_questions_are_asked_the_next_day_in_a_new_session(self, tmp_path: Path) -> None:
        """The context tells the date, and shows no turn of an earlier day as this session's."""
        score = playing.play(conversation(tmp_path), settings=PLAIN)
        context = score.questions[0].context
        assert "2026-03-10" in context
        assert "Working set" not in context

    def test_current_values_must_be_there_and_dead_ones_not(self, tmp_path: Path) -> None:
        score = playing.play(conversation(tmp_path), settings=PLAIN)
        assert [one.joint for one in score.questions] == [RIGHT, RIGHT, WRONG]
        assert score.questions[2].missing == ("nobody said",)
        assert score.questions[0].stale == ()

    def test_the_transcript_and_other_systems_are_asked_the_same(self, tmp_path: Path) -> None:
        """The transcript has both addresses."""
        score = playing.play(conversation(tmp_path), settings=PLAIN, systems=["bm25"])
        assert list(score.questions[0].beside) == [TRANSCRIPT, LAST, "bm25"]
        assert score.questions[0].beside[TRANSCRIPT] == Joint(1, 0, 0, 1)
        assert score.questions[1].beside["bm25"] == RIGHT

    def test_the_transcript_is_the_end_that_fits(self, tmp_path: Path) -> None:
        score = playing.play(conversation(tmp_path), settings=PLAIN, budget=25)
        assert score.questions[0].beside[TRANSCRIPT] == RIGHT
        assert score.questions[1].beside[TRANSCRIPT] == WRONG

    def test_values_that_hold_and_those_that_are_over_have_a_fate(self, tmp_path: Path) -> None:
        score = playing.play(conversation(tmp_path), settings=PLAIN)
        assert score.holding == FateFigures(live=2)
        assert score.over == FateFigures(retired=1)
        assert score.retirements == RetirementFigures(right=1)
        assert score.wrong_retirements == ()

    def test_a_fact_that_leaves_office_while_its_value_holds_is_listed(
        self, tmp_path: Path
    ) -> None:
        """Here by annotation: both addresses hold, and one has superseded the other."""
        text = MOVED.replace(" [replaces 1]", " [adds 1]")
        score = playing.play(conversation(tmp_path, text), settings=PLAIN)
        [wrong] = score.wrong_retirements
        assert wrong.lost == ("9 Mill Lane",)
        assert wrong.turn == "My address is 4 Quay Street. Make it shorter."
        assert score.retirements == RetirementFigures(wrong=1)
        assert [(one.value, one.fate) for one in score.stray] == [("9 Mill Lane", "retired")]

    def test_a_value_is_looked_for_in_the_lines_of_its_own_turns(self, tmp_path: Path) -> None:
        """The same word said of something else is no trace of it."""
        text = MOVED.replace("My address is 9 Mill Lane.", "Is it 9 Mill Lane?").replace(
            "My cat is called Pepper.", "My cat is called Pepper, from 9 Mill Lane."
        )
        score = playing.play(conversation(tmp_path, text), settings=PLAIN)
        assert score.over.live == 0

    def test_lines_are_counted_by_what_they_are(self, tmp_path: Path) -> None:
        """Whether each became a fact that is in office."""
        score = playing.play(conversation(tmp_path), settings=PLAIN)
        assert score.kinds["statement"] == Share(2, 3)
        assert score.kinds["question"] == Share(0, 1)
        assert score.kinds["assistant or tool, settles nothing"] == Share(0, 1)
        assert score.kinds["instruction to the assistant"].of == 1

    def test_a_turn_that_cannot_be_taken_in_is_named(self, tmp_path: Path) -> None:
        """The others are played all the same."""
        small = incumbent.Settings(embedder=None, reader="rules", max_turn_bytes=45)
        score = playing.play(conversation(tmp_path), settings=small)
        assert [one[:27] for one in score.refused] == ["My cat is called Pepper. Is"]
        assert score.questions[0].joint == RIGHT


class TestComposedLines:
    LINES = (
        Line("Facts", "- said: Tom reports to Ben", fact_id="1"),
        Line("Facts", "- boss: Tom reports to Ana (said 2026-03-02)", fact_id="2"),
        Line("Not known", "- boss: what was known expired on 2026-03-02", fact_id="3"),
        Line("Environment", "Current date: Friday 2026-02-27"),
    )

    def test_lines_that_tell_facts_in_words_of_nobody_are_listed(self) -> None:
        """Not what we say in our own name, and not what no fact stands behind."""
        at = datetime(2026, 3, 3, tzinfo=UTC)
        context = Context("", 0, 0, "", "balanced", at, lines=self.LINES)
        with incumbent.open(":memory:", settings=PLAIN) as memory:
            session = memory.session(user_id="user")
            found, lines = composed_lines(session, "own", self.TURNS, [context, context])
        assert [one.line for one in found] == ["- said: Tom reports to Ben"]
        assert lines == 2

    TURNS = ("I moved to York (the old town) last week.", "Tom reports to Ana... or Ben.")

    @pytest.mark.parametrize(
        "text",
        [
            "moved to York (the old town)",
            "I moved to York (the old town) last week (23 February).",
            "I moved … last week. → Tom reports to Ana",
            "[budget] last week",
            "to York (in doubt since 2026-03-04: I moved (again) to Leeds)",
        ],
    )
    def test_stretches_of_turns_are_said_whatever_stands_beside_them(self, text: str) -> None:
        assert SaidText(self.TURNS).has(text)

    @pytest.mark.parametrize("text", ["Tom reports to Ben", "I moved to York … Ana reports"])
    def test_what_joins_words_that_stood_apart_is_said_by_nobody(self, text: str) -> None:
        assert not SaidText(self.TURNS).has(text)


def test_a_report_adds_up_and_tells_changed_from_plain(tmp_path: Path) -> None:
    """Questions with a dead value are about a change; several files make one total."""
    path = written(tmp_path / "own.txt")
    report = reporting.run(path, settings=PLAIN)
    assert (report.name, report.joint.of, report.joint.both) == ("own", 3, 2)
    assert (report.changed.joint, report.plain.joint) == (1.0, 0.5)
    assert [one.question.text for one in report.failures] == ["What colour is the cat?"]
    both = reporting.total([report, report])
    assert (both.joint.of, both.holding.all, both.kinds["statement"].of) == (6, 4, 6)
    assert both.record()["values_that_hold"]["live"] == {"share": 1.0, "hits": 4, "of": 4}
