"""What in a turn is its speaker's prose, and where sentences end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.language.reading import LONGEST_SENTENCE, BlockKind, Sentence, blocks, sentences
from tests.selection import sampled


def kinds(turn: str) -> list[str]:
    """The kinds of the blocks of a turn."""
    return [block.kind.value for block in blocks(turn)]


def prose(turn: str) -> list[str]:
    """The sentences of the prose in a turn."""
    return [
        sentence.text
        for block in blocks(turn)
        if block.kind is BlockKind.PROSE
        for sentence in sentences(block)
    ]


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ("Just words.", ["prose"]),
        ("Run this:\n```python\nx = 1\n```\nand tell me.", ["prose", "code", "prose"]),
        ("~~~\na\n~~~", ["code"]),
        ("```\nnever closed\nx = 1", ["code"]),
        ("Run this:\n\n    x = 1\n    print(x)\n\nand tell me.", ["prose", "code", "prose"]),
        ("My address:\n\n    12 Oak Lane\n    Leeds", ["prose"]),
        ("<pre>\nx = 1\n</pre>\nDone.", ["code", "prose"]),
        ("2024-05-01 10:00:00,123 ERROR worker: failed\nIt broke.", ["log", "prose"]),
        ("May  3 10:11:12 host sshd[311]: closed", ["log"]),
        ("10:11:12 one\n10:11:13 two", ["log"]),
        ("[ERROR] disk full", ["log"]),
        ("2024-05-01 is the new deadline.", ["prose"]),
        ("10:30:00 is when the bus leaves.", ["prose"]),
        ("Info: the shop is closed.", ["prose"]),
        (
            'Traceback (most recent call last):\n  File "a.py", line 3\n    f()\n'
            "ValueError: no\n\nWhy?",
            ["log", "prose"],
        ),
        (
            "Exception in main\n  at app.Main.run(Main.java:3)\n  at b.C.d(C.java:9)",
            ["prose", "log"],
        ),
        ("> your offer\nToo late.", ["quote", "prose"]),
        (">5 people will come.", ["prose"]),
        ("Yes.\n\nOn Mon, 3 Jun 2024, Ana <a@b.example> wrote:\n> Is it on?", ["prose", "quote"]),
        (
            "Yes.\n\nOn Mon, 3 Jun 2024 at 10:11, Ana\n<a@b.example> wrote:\n> On?",
            ["prose", "quote"],
        ),
        ("Yes.\n-----Original Message-----\nFrom: Ana\nIs it on?", ["prose", "quote"]),
        ("On Monday Ana wrote: it is on.", ["prose"]),
        ("Deal.\n-- \nTom Weber\nAcme", ["prose", "quote"]),
        ("Deal.\nSent from my phone", ["prose", "quote"]),
        ("", []),
        (" \n\t\n", []),
    ],
)
def test_blocks_tell_prose_from_what_was_pasted(turn: str, expected: list[str]) -> None:
    """Code, logs and other people's mail are not the speaker's own words."""
    assert kinds(turn) == expected


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("no full stop", ["no full stop"]),
        ("i need a room. a cheap one. thanks", ["i need a room.", "a cheap one.", "thanks"]),
        ("Dr. Roy met Mr. Lee vs. Mrs. Poe.", ["Dr. Roy met Mr. Lee vs. Mrs. Poe."]),
        ("Fruit, e.g. figs, i.e. sweet ones.", ["Fruit, e.g. figs, i.e. sweet ones."]),
        ("Come at 6 a.m. on Friday. Bye.", ["Come at 6 a.m. on Friday.", "Bye."]),
        ("Come at 6 p.m. We leave then.", ["Come at 6 p.m.", "We leave then."]),
        ("I live at 9 Oak St. in Leeds.", ["I live at 9 Oak St. in Leeds."]),
        ("I live at 9 Oak St. My cat too.", ["I live at 9 Oak St.", "My cat too."]),
        ("U.S. law applies. In the U.S. I pay.", ["U.S. law applies.", "In the U.S.", "I pay."]),
        ("J. R. Hall came. He left.", ["J. R. Hall came.", "He left."]),
        ("Take No. 5. No. I want six.", ["Take No. 5.", "No.", "I want six."]),
        ("It costs 4.50 a day. Or 1,250.75.", ["It costs 4.50 a day.", "Or 1,250.75."]),
        ("Well... maybe. Wait... No!", ["Well... maybe.", "Wait...", "No!"]),
        ("See a.example/b.c?d=e. It is v2.3.1.", ["See a.example/b.c?d=e.", "It is v2.3.1."]),
        ("Mail a.b@c.example. Then call.", ["Mail a.b@c.example.", "Then call."]),
        ("I 'd like it . Thanks !", ["I 'd like it .", "Thanks !"]),
        ("Perfect.Book it.I will come.", ["Perfect.", "Book it.", "I will come."]),
        ('"Go!" he said. "Now."', ['"Go!" he said.', '"Now."']),
        ("(See below.) Next one.", ["(See below.)", "Next one."]),
        ("Really?! Yes!!", ["Really?!", "Yes!!"]),
        ("Great 😊 see you at 5 😀", ["Great 😊 see you at 5 😀"]),
        ("我住在奥斯陆。你呢？好！", ["我住在奥斯陆。", "你呢？", "好！"]),
        ("Ich ziehe um. Nach Köln!", ["Ich ziehe um.", "Nach Köln!"]),
        ("أين المحطة؟ شكرا", ["أين المحطة؟", "شكرا"]),
        ("need two seats\nalso by the window", ["need two seats", "also by the window"]),
        (
            "this line was wrapped by a mail program after seventy characters and\nends here.",
            ["this line was wrapped by a mail program after seventy characters and\nends here."],
        ),
        (
            "- milk\n* two eggs\n3. bread\n4) tea\n• jam",
            ["milk", "two eggs", "bread", "tea", "jam"],
        ),
        ("- [ ] call Tom\n- [x] pay", ["call Tom", "pay"]),
        ("# Plan\nWe go.", ["Plan", "We go."]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |", "| 1 | 2 |"]),
        ("One.\n---\nTwo.", ["One.", "Two."]),
        ("<p>I moved.</p><p>To <b>Bonn</b>.</p>", ["I moved.", "To <b>Bonn</b>."]),
        ("one<br>two<br/>three", ["one", "two", "three"]),
        ("5 < 6 and 7 > 3.", ["5 < 6 and 7 > 3."]),
        ("CFO: no. [Manager] yes.", ["CFO: no.", "[Manager] yes."]),
    ],
)
def test_sentences_end_where_people_end_them(turn: str, expected: list[str]) -> None:
    """Stops that shorten words, part numbers or belong to addresses end nothing."""
    assert prose(turn) == expected


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (
            "moved the standup to ten because of the all hands on tuesday\n"
            "retro is cancelled\nmy laptop died",
            3,
        ),
        ("we meet at the harbour on friday at seven in the evening, rain or not\nbring a coat", 2),
        ("- the standup is at ten from monday on and everybody has to be there\nretro is off", 2),
        ("the flat on elm street is ours from the first of may\n\nand we pay 900", 2),
        ("i will bring the\nblue tent", 1),
    ],
)
def test_a_new_line_in_a_chat_ends_what_was_said(turn: str, expected: int) -> None:
    """However long a line is, it is not wrapped because it has no full stop."""
    assert len(prose(turn)) == expected


WRAPPED = """Hi team,

the move to the new building is planned for the second week of
September. Everybody packs their own desk, and the boxes will be
there from Monday on. Please write your name on all of them

The lifts are reserved for us on both days, from eight in the
morning until noon
"""


def test_text_of_one_width_is_put_together_again() -> None:
    """Where no line had room for the next word, the ends of lines mean nothing."""
    found = prose(WRAPPED)
    assert [" ".join(one.split()) for one in found] == [
        "Hi team,",
        "the move to the new building is planned for the second week of September.",
        "Everybody packs their own desk, and the boxes will be there from Monday on.",
        "Please write your name on all of them",
        "The lifts are reserved for us on both days, from eight in the morning until noon",
    ]


def test_what_is_not_prose_is_one_piece() -> None:
    """Pasted text is not cut into sentences."""
    [block] = blocks("```\na. b. c.\n```")
    assert sentences(block) == [Sentence(block.text, block.start, block.end)]


def test_places_are_those_of_the_turn() -> None:
    """Blocks and sentences know where they stand in the whole turn."""
    turn = "Hi.\r\n\r\n```\r\nx\r\n```\r\n  One thing.  Another. \r\n"
    for block in blocks(turn):
        assert turn[block.start : block.end] == block.text
        for sentence in sentences(block):
            assert turn[sentence.start : sentence.end] == sentence.text
    assert prose(turn) == ["Hi.", "One thing.", "Another."]


LINES = st.sampled_from(
    [
        *("```", "~~~", "> quoted", "-- ", "    x = 1", "- item", "| a |", "|---|", "", "One. Two"),
        *("On Monday, Ana wrote:", "2024-05-01 10:00:00 INFO x", "<p>a</p>", "<pre>", "</pre>"),
        *("Traceback (most recent call last):", "10:11:12 a", "你好。再见", "Dr. No. 5", "\t\tb;"),
    ]
)
TURN = st.one_of(st.text(max_size=300), st.lists(LINES, max_size=12).map("\n".join))


@given(TURN)
def test_pieces_are_honest_in_order_and_apart(turn: str) -> None:
    """Whatever the turn, pieces say where they stand, follow each other and do not overlap."""
    found = blocks(turn)
    assert all(one.end <= other.start for one, other in pairwise(found))
    for block in found:
        assert turn[block.start : block.end] == block.text
        pieces = sentences(block)
        assert all(one.end <= other.start for one, other in pairwise(pieces))
        for piece in pieces:
            assert turn[piece.start : piece.end] == piece.text
            assert piece.text.strip() == piece.text or block.kind is not BlockKind.PROSE
            assert block.start <= piece.start < piece.end <= block.end


@given(TURN)
def test_only_blank_lines_are_in_no_block(turn: str) -> None:
    """Blocks leave nothing out that shows."""
    rest = turn
    for block in reversed(blocks(turn)):
        rest = rest[: block.start] + rest[block.end :]
    assert not rest.strip()


@pytest.mark.parametrize(
    "piece",
    sampled(
        [
            "a",
            "(",
            ".",
            "<",
            "<!--",
            "some words\n",
            "> a\n",
            "    a\n\n",
            "```\n",
            "<pre>\n",
            "1. ",
            "!?",
        ]
    ),
)
def test_a_megabyte_of_anything_is_read(piece: str) -> None:
    """Nothing takes long because it is long, and no sentence is longer than it may be."""
    turn = (piece * 1_000_000)[:1_000_000]
    for block in blocks(turn):
        if block.kind is BlockKind.PROSE:
            assert all(len(sentence.text) <= LONGEST_SENTENCE for sentence in sentences(block))
