"""Files of conversations: what is read from them, and what is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from incumbent.model.errors import InvalidInput
from incumbent_eval.conversations import format as files
from incumbent_eval.conversations.format import (
    ConversationQuestion,
    LineRelation,
    MarkedConversation,
    RelationKind,
    Triple,
)
from tests.evaluation.conversations import MOVED, written

HEAD = "== c-1 | chat | a test\n@ 2026-03-02 09:10 user\n1 I rent a flat {user | home | a flat}\n"
ASK = "== ask\nWhere? => a flat\n"


def read(tmp_path: Path, text: str) -> list[MarkedConversation]:
    return files.read_conversations(written(tmp_path / "own.txt", text))


def relations(tmp_path: Path, annotation: str) -> tuple[LineRelation, ...]:
    """The relations of a second statement."""
    [one] = read(tmp_path, f"{HEAD}2 So it goes {annotation}\n{ASK}")
    return one.turns[0].lines[1].relations


class TestWhatIsRead:
    def test_a_conversation_has_a_name_turns_and_questions(self, tmp_path: Path) -> None:
        """Times are UTC; the turn's text is its lines, without marks and annotation."""
        [one] = read(tmp_path, MOVED)
        assert (one.id, one.register) == ("own-1", "personal")
        assert [turn.speaker for turn in one.turns] == ["user", "assistant", "user", "user"]
        assert one.turns[0].at == datetime(2026, 3, 2, 9, 10, tzinfo=UTC)
        assert one.turns[2].text == "My cat is called Pepper. Is that a common name?"
        assert len(one.questions) == 3

    def test_a_line_is_a_statement_or_has_a_mark_or_none(self, tmp_path: Path) -> None:
        """A number names a statement; an assistant's line that settles nothing has no mark."""
        [one] = read(tmp_path, MOVED)
        assert [line.number for line in one.lines] == [1, None, 2, None, 3, None]
        assert [line.mark for line in one.lines] == ["", "", "", "?", "", "!"]

    def test_a_statement_says_things_of_things(self, tmp_path: Path) -> None:
        """Each with a value; an accepted one is in the turn before."""
        text = HEAD.replace("{user | home | a flat}", "{dinner | time | ^19:30} {dinner|with|Ann}")
        [one] = read(tmp_path, text + ASK)
        assert one.turns[0].lines[0].triples == (
            Triple("dinner", "time", "19:30", accepted=True),
            Triple("dinner", "with", "Ann"),
        )

    def test_a_name_may_have_a_role(self, tmp_path: Path) -> None:
        [one] = read(tmp_path, HEAD.replace(" user\n", " Tom (CFO)\n") + ASK)
        assert one.turns[0].speaker == "Tom (CFO)"

    def test_relations_point_to_earlier_statements(self, tmp_path: Path) -> None:
        """A part has both values, what comes later its date."""
        annotation = "[part 1: a flat -> a house, rented] [later 1 2026-10-01] [doubts 1]"
        assert relations(tmp_path, annotation) == (
            LineRelation(RelationKind.PART, 1, old="a flat", new="a house, rented"),
            LineRelation(RelationKind.LATER, 1, since=date(2026, 10, 1)),
            LineRelation(RelationKind.DOUBTS, 1),
        )

    def test_brackets_of_the_text_stay_in_it(self, tmp_path: Path) -> None:
        [one] = read(tmp_path, HEAD.replace("I rent", "[P1] I rent") + ASK)
        assert one.turns[0].text == "[P1] I rent a flat"

    def test_a_question_has_values_alternatives_and_dead_ones(self, tmp_path: Path) -> None:
        """A comma between values, a bar between ways to put one."""
        asked = "== ask\nWhat is there? => tea | cha, milk ; not coffee, sugar\nAnd? => x\n"
        [one] = read(tmp_path, HEAD + asked)
        both = ConversationQuestion(
            "What is there?", (("tea", "cha"), ("milk",)), ("coffee", "sugar")
        )
        assert one.questions[0] == both
        assert [question.is_about_change for question in one.questions] == [True, False]


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("text", "place", "why"),
        [
            ("hello\n", 1, "text before the first conversation"),
            ("== ask\n", 1, "questions before the first conversation"),
            ("==\n", 1, "needs an id"),
            ("== c | d | e\nhello\n", 2, "before the first turn"),
            (HEAD + ASK + HEAD, 6, "a conversation of this id stands above"),
            (HEAD, 1, "without questions"),
            ("== c | d | e\n" + ASK, 1, "without turns"),
            (HEAD + "@ yesterday user\n", 4, "a turn begins with @"),
            (HEAD + "@ 2026-02-31 09:10 user\n", 4, "no such time: 2026-02-31 09:10"),
            (HEAD + "@ 2026-03-01 09:10 user\n", 4, "earlier than the one before"),
            (HEAD + "1 again\n", 4, "two statements of the number: 1"),
            (HEAD + "2 so [ends 7]\n", 4, r"points to no earlier statement: \[ends 7\]"),
            (HEAD + "2 so [part 1: a flat]\n", 4, "a part is written"),
            (HEAD + "2 so [later 1 soon]\n", 4, "what comes later is written"),
            (HEAD + "2 so [ends 1 soon]\n", 4, "takes the number of a statement and no more"),
            (HEAD + "- so {user | home | so}\n", 4, "annotation on a line without a number"),
            (HEAD + "2 {user | home | so}\n", 4, "a line that says nothing"),
            (HEAD + "== ask\nWhere?\n", 5, "a question is written"),
            (HEAD + "== ask\nWhere? => ; not there\n", 5, "a question is written"),
        ],
    )
    def test_a_mistake_is_named_with_its_line(
        self, tmp_path: Path, text: str, place: int, why: str
    ) -> None:
        with pytest.raises(InvalidInput, match=rf"own\.txt, line {place}: .*{why}"):
            read(tmp_path, text)

    def test_a_file_without_conversations(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="has no conversations"):
            read(tmp_path, "\n")

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="there is no file"):
            files.read_conversations(tmp_path / "none.txt")


def test_a_folder_means_the_text_files_in_it(tmp_path: Path) -> None:
    """Other files beside them are left alone; a folder without any is refused."""
    two, one = written(tmp_path / "two.txt"), written(tmp_path / "one.txt")
    written(tmp_path / "README.md")
    assert files.files_of([tmp_path, two]) == [one, two, two]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match=r"it needs files \*\.txt"):
        files.files_of([tmp_path / "empty"])


def test_every_so_many_and_at_most_so_many(tmp_path: Path) -> None:
    text = "".join(MOVED.replace("own-1", f"own-{n}") for n in range(7))
    chosen = files.thinned(read(tmp_path, text), limit=2, every=3)
    assert [one.id for one in chosen] == ["own-0", "own-3"]
