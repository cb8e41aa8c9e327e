"""The content files: they follow their schema, do not contradict themselves, and are our own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.language.phrasings import Entry, entries
from training.content import FOLDER, HOLE, LEAVING, BadContent, Record, Template, load, read, talk
from training.pairs import generate

FILES = sorted(path for path in FOLDER.glob("*.toml") if path.stem != "talk")
RECORD = """
[[record]]
name = "desk"
domain = "office"
[record.slots]
place = "city"
[record.text]
statement = ["My desk is in {place}."]
update = ["They moved me to {place}."]
"""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_content_file_follows_the_schema(path: Path) -> None:
    """Every content file can be read, and has records."""
    assert read(path)


def test_there_are_as_many_records_as_the_card_says() -> None:
    """docs/detector.md names the number of records that the shipped model was trained on."""
    card = (FOLDER.parents[1] / "docs" / "detector.md").read_text(encoding="utf-8")
    assert f"{len(load())} records" in card


def test_names_of_records_are_unique() -> None:
    """A name stands for one record, since records are held back by name."""
    names = [record.name for record in load()]
    assert len(names) == len(set(names))


def test_records_can_be_stated_changed_and_left_alone() -> None:
    """Every record has statements, updates, and sentences that leave it as it is."""
    lacking = [
        record.name
        for record in load()
        if not record["statement"]
        or not record["update"]
        or not any(record[name] for name in LEAVING)
    ]
    assert lacking == []


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ('"city"', '"planet"', "which nobody makes"),
        ("to {place}.", "to {floor}.", "which is no slot"),
        ("to {place}.", "to {place.", "a brace that is no hole"),
        ("is in {place}.", "is upstairs.", "a statement names no value"),
        ("update =", "upset =", "mean nothing here"),
        ('domain = "office"', 'domain = "office"\nsubject = "who"', "is no slot"),
        ("[record.text]", "[record.text", "broken.toml"),
    ],
)
def test_a_content_file_with_an_error_is_refused(
    tmp_path: Path, right: str, wrong: str, told: str
) -> None:
    """What does not follow the schema is named, with the file it is in."""
    path = tmp_path / "broken.toml"
    path.write_text(RECORD, encoding="utf-8")
    assert [record.name for record in read(path)] == ["desk"]
    path.write_text(RECORD.replace(right, wrong), encoding="utf-8")
    with pytest.raises(BadContent, match=r"broken\.toml") as error:
        read(path)
    assert told in str(error.value)


def shape(template: Template) -> str:
    """A template without what does not change its meaning: case, spaces and punctuation."""
    return " ".join(re.findall(r"\{[\w.]+\}|[\w']+", template.text.lower()))


def contradictions(record: Record) -> set[str]:
    """Templates of a record that stand in lists with different answers."""
    updates = set(map(shape, record["update"]))
    others = {shape(t) for name in (*LEAVING, "confirm", "retract") for t in record[name]}
    return updates & others


def test_no_template_both_changes_a_record_and_leaves_it_alone() -> None:
    """In a record no sentence is an update and in a list of another answer as well."""
    assert {record.name: found for record in load() if (found := contradictions(record))} == {}


# The table of phrasings is a test set, so nothing may be trained on it.

SHORTEST = 4
"""Words besides values; below that there are only so many ways to put anything."""
FORMULAS = {
    "i'm also allergic to □",
    "let me think about it",
    "my alarm is set for □",
    "my blood pressure is □",
    "my dentist appointment is on □",
    "my lease ends on □",
    "my phone number is □",
    "my resting pulse is □",
    "no leave it as it is",
    "okay let's do that",
    "the conference is in □",
    "the exam is on □",
    "yes let's do that",
}
"""What both say because everybody does. A new one is not to be added lightly."""


def plain(text: str) -> str:
    """The words of a text, and its holes."""
    return " ".join(re.findall(r"□|\w+(?:'\w+)?", text.lower().replace("’", "'")))


def is_telling(words: str) -> bool:
    return len(words.replace("□", " ").split()) >= SHORTEST


def sentences(text: str) -> set[str]:
    """A text as a whole, and sentence by sentence."""
    return {text, *re.split(r"(?<=[.!?])\s+|\n", text)}


def said_in(entry: Entry) -> Iterator[str]:
    for turn in (*entry.before, entry.turn):
        yield from sentences(turn.text)


def masked(sentence: str, entry: Entry) -> Iterator[str]:
    """A sentence of the table with holes for the values of its entry, and for numbers."""
    lists = (entry.retires, entry.brings, entry.together, entry.keeps, entry.unreal, entry.holds)
    ways = {way for values in (*lists, entry.lacks) for value in values for way in value.split("|")}
    for way in sorted(ways, key=lambda way: (-len(way), way)):
        sentence = re.sub(rf"(?<!\w){re.escape(way)}(?!\w)", "□", sentence, flags=re.IGNORECASE)
    yield sentence
    yield without_numbers(sentence)


def without_numbers(sentence: str) -> str:
    return re.sub(r"\d[\d:.,]*\s?(?:am|pm)?", "□", sentence)


def written() -> Iterator[str]:
    """Everything that the content files have people say, with holes for values."""
    for record in load():
        for templates in record.lists.values():
            yield from (HOLE.sub("□", template.text) for template in templates)
        for asks in record.asks.values():
            yield from asks
    for found in talk().values():
        yield from (re.sub(r"\{\w+\}", "□", text) for text in found)


def test_no_sentence_of_the_test_table_is_in_the_content_files() -> None:
    """With holes for the values, no sentence of four words is both tested and trained on."""
    ours = {plain(sentence) for text in written() for sentence in sentences(text)}
    tested = {
        plain(way)
        for entry in entries()
        for sentence in said_in(entry)
        for way in (sentence, *masked(sentence, entry))
    }
    assert {words for words in ours & tested if is_telling(words)} == FORMULAS


def test_no_sentence_of_the_test_table_is_generated() -> None:
    """No generated example has a tested sentence of more than five words, formulas aside."""
    tested = {plain(sentence) for entry in entries() for sentence in said_in(entry)}
    made = {
        sentence
        for example in generate(seed=2, each=25)
        for text in (example.statement, example.previous, example.turn)
        for sentence in sentences(text)
    }
    found = {sentence for sentence in made if plain(sentence) in tested}
    telling = {sentence for sentence in found if len(plain(sentence).split()) > SHORTEST + 1}
    assert {s for s in telling if plain(without_numbers(s)) not in FORMULAS} == set()
