"""Encoding: what the model reads stays within its limits, and keeps what it is asked about."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent.language.learned.encoding import (
    MOST_PREVIOUS,
    MOST_STATEMENT,
    MOST_TURN,
    Encoded,
    Span,
    encode,
)
from incumbent.search.embedders.words import vocabulary
from tests.conftest import examples
from training.encode import LABELS, arrays, asked, pieces_of
from training.examples import Example, Mark
from training.pairs import generate

OPEN = vocabulary()["«"]
SEPARATOR = vocabulary()["[SEP]"]
FEW = settings(max_examples=examples(150, soak=1000), deadline=None)

words = st.text("abcdefghij0123456789", min_size=1, max_size=12)
anything = st.one_of(st.text(max_size=300), st.lists(words, max_size=600).map(" ".join))


@st.composite
def marked_statements(draw: st.DrawFn) -> tuple[str, list[Span]]:
    """A statement, often far too long, and the places of some of its words."""
    said = draw(st.lists(words, min_size=1, max_size=20)) * draw(st.sampled_from([1, 1, 5, 300]))
    chosen = draw(st.sets(st.integers(0, len(said) - 1), min_size=1, max_size=6))
    spans, start = [], 0
    for number, word in enumerate(said):
        if number in chosen:
            spans.append((start, start + len(word)))
        start += len(word) + 1
    return " ".join(said), spans


@st.composite
def texts_with_any_span(draw: st.DrawFn) -> tuple[str, list[Span]]:
    text = draw(anything)
    edges = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    return text, list(zip(edges[::2], edges[1::2], strict=False))


def check_shape(encoded: Encoded, previous: str, turn: str) -> None:
    """Each part has its share and ends where it says, and pieces stand for characters in order."""
    assert encoded.first - 2 <= MOST_STATEMENT
    assert len(encoded.previous) <= MOST_PREVIOUS
    assert len(encoded.turn) <= MOST_TURN
    assert len(encoded.ids) == encoded.turn_first + len(encoded.turn) + 1
    for place in (encoded.first - 1, encoded.turn_first - 1, -1):
        assert encoded.ids[place] == SEPARATOR
    for spans, text in ((encoded.previous, previous), (encoded.turn, turn)):
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert list(spans) == sorted(spans)


@FEW
@given(texts_with_any_span(), anything, anything)
def test_any_text_stays_within_the_limits(
    marked: tuple[str, list[Span]], previous: str, turn: str
) -> None:
    """Whatever was said, however long, the model reads no more than its share of each part."""
    encoded = encode(*marked, previous, turn)
    check_shape(encoded, previous, turn)
    for place in encoded.marks:
        assert place == -1 or encoded.ids[place] == OPEN


@FEW
@given(marked_statements(), anything)
def test_the_first_mark_survives_however_long_the_statement_is(
    marked: tuple[str, list[Span]], turn: str
) -> None:
    """A long statement is cut around its marks: the first is always read, with its value."""
    statement, spans = marked
    encoded = encode(statement, spans, "", turn)
    check_shape(encoded, "", turn)
    places = [place for place in encoded.marks if place >= 0]
    assert places
    assert places[0] == encoded.marks[0]
    assert places == sorted(set(places))
    alone = encode(statement[slice(*spans[0])], [], "", "")
    value = alone.ids[1 : alone.first - 1]
    assert encoded.ids[places[0] + 1 :][: len(value)] == value


@FEW
@given(marked_statements())
def test_every_mark_of_a_short_statement_is_read(marked: tuple[str, list[Span]]) -> None:
    """Marks are lost only where a statement is too long."""
    statement, spans = marked
    encoded = encode(statement, spans, "", "")
    if encoded.first - 2 < MOST_STATEMENT:
        assert min(encoded.marks) >= 0


def test_the_pieces_of_a_new_value_stand_for_its_characters() -> None:
    """What training points at in the reply is the new value, wherever the reply has it."""
    pointed = 0
    for example in generate(seed=8, each=4):
        spans = [(mark.start, mark.end) for mark in example.marks]
        encoded = encode(example.statement, spans, example.previous, example.turn)
        characters = {
            **{encoded.first + n: span for n, span in enumerate(encoded.previous)},
            **{encoded.turn_first + n: span for n, span in enumerate(encoded.turn)},
        }
        for mark in example.marks:
            if mark.new is not None:
                first, last = pieces_of(encoded, example, mark.new)
                in_turn = first >= encoded.turn_first
                by = len(example.reply) - len(example.turn) if in_turn else 0
                start, end = (edge - by for edge in mark.new)
                assert characters[first][0] <= start < characters[first][1], example
                assert characters[last][0] < end <= characters[last][1], example
                pointed += 1
    assert pointed > 200


def test_a_new_value_that_was_cut_off_is_pointed_at_nowhere() -> None:
    """In a turn that is too long, a value past the end has no pieces."""
    turn = f"{'well ' * 200}5 people"
    example = Example("A table for 4.", "", turn, (Mark(12, 13, "replace", (1000, 1001)),), "", "")
    assert example.reply[1000] == "5"
    assert arrays([example])["marks"][0].tolist()[3:] == [-1, -1]


def test_arrays_have_a_row_for_every_mark_that_is_read() -> None:
    """Arrays put the pieces of examples one after the other, and say where the words of the marks
    are in them."""
    examples = generate(seed=9, each=1)
    found = arrays(examples)
    assert len(found["firsts"]) == len(examples)
    assert found["begins"][-1] == len(found["ids"])
    owners, places, labels = found["marks"][:, :3].T
    read = found["ids"][found["begins"][owners] + places]
    assert SEPARATOR not in read
    told = [(example, mark) for example in examples for mark in asked(example)]
    assert np.array_equal(labels, [LABELS.index(mark.label) for _, mark in told])
    known = vocabulary()
    names = [example.statement[mark.start : mark.end].lower() for example, mark in told]
    there = [(known[name], piece) for name, piece in zip(names, read, strict=True) if name in known]
    assert len(there) > len(names) / 2
    assert all(number == piece for number, piece in there)


def test_all_of_a_statement_is_asked_about_at_its_beginning() -> None:
    """A mark of no length stands for the whole, and is read at the first piece of all."""
    example = Example("A table for 4.", "", "Never mind.", (Mark(0, 0, "retract"),), "", "")
    assert arrays([example])["marks"][0].tolist()[1:3] == [0, LABELS.index("retract")]


def test_each_word_of_a_value_is_asked_about() -> None:
    """A value of several words has a row for each of them, and the new one is pointed at once."""
    example = Example(
        "Meet at the old mill.", "", "At the pier.", (Mark(8, 20, "replace", (7, 11)),), "", ""
    )
    marks = asked(example)
    assert [example.statement[one.start : one.end] for one in marks] == ["the", "old", "mill"]
    assert [one.new for one in marks] == [(7, 11), None, None]
