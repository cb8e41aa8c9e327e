"""Pairs to learn from, made of annotated conversations."""

from __future__ import annotations

from pathlib import Path

from incumbent_eval.conversations.format import read_conversations
from incumbent_eval.conversations.pairs import ConversationPair, pairs_of
from tests.evaluation.conversations import MOVED, written

FLAT = "1 the flat is in Leeds, rent 600 {flat | place | Leeds} {flat | rent | 600}"


def labels(tmp_path: Path, *lines: str) -> list[tuple[str, str]]:
    """Each value with what the last of some statements does to it."""
    turns = [f"@ 2026-05-{day:02} 09:00 user\n{line}\n" for day, line in enumerate(lines, 1)]
    text = f"== c | d | e\n{''.join(turns)}== ask\nWhat? => that\n"
    [one] = read_conversations(written(tmp_path / "own.txt", text))
    last = one.turns[-1].text
    return [(p.old[slice(*p.span)], p.label) for p in pairs_of(one) if p.new == last]


def test_a_value_is_paired_with_every_turn_while_it_holds(tmp_path: Path) -> None:
    """With the turn before, who said both, and the days between."""
    [one] = read_conversations(written(tmp_path / "own.txt", MOVED))
    found = list(pairs_of(one))
    assert [(pair.old[slice(*pair.span)], pair.label) for pair in found] == [
        ("9 Mill Lane", "leaves"),
        ("9 Mill Lane", "leaves"),
        ("9 Mill Lane", "replaces"),
        ("Pepper", "leaves"),
    ]
    assert found[2] == ConversationPair(
        conversation="own-1",
        old="My address is 9 Mill Lane.",
        span=(14, 25),
        previous="My cat is called Pepper. Is that a common name?",
        new="My address is 4 Quay Street. Make it shorter.",
        label="replaces",
        speaker="user",
        said_by="user",
        days=7,
    )


def test_of_a_part_the_other_values_are_left(tmp_path: Path) -> None:
    later = "2 it is 650 now {flat | rent | 650} [part 1: 600 -> 650]"
    assert labels(tmp_path, FLAT, later) == [("Leeds", "leaves"), ("600", "replaces")]


def test_what_ends_confirms_doubts_or_comes_later_is_named(tmp_path: Path) -> None:
    """What comes later leaves the value in force for now."""
    for relation, label in (
        ("[ends 1]", "ends"),
        ("[confirms 1]", "confirms"),
        ("[doubts 1]", "doubts"),
        ("[later 1 2026-05-01]", "later"),
        ("[adds 1]", "leaves"),
    ):
        both = [("Leeds", label), ("600", label)]
        assert labels(tmp_path, FLAT, f"2 so it goes {relation}") == both


def test_a_dead_value_makes_no_pairs_until_it_is_back(tmp_path: Path) -> None:
    changed = "2 it is 650 now {flat | rent | 650} [part 1: 600 -> 650]"
    back = "3 no they took it back {flat | rent | took it back} [reverts 1]"
    assert labels(tmp_path, FLAT, changed, "- well") == [("Leeds", "leaves"), ("650", "leaves")]
    assert labels(tmp_path, FLAT, changed, back, "- well") == [
        ("Leeds", "leaves"),
        ("600", "leaves"),
        ("took it back", "leaves"),
    ]
