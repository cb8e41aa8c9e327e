"""Which texts of a conversation are new, whatever an application does to its history."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incumbent.model.records import Turn
from incumbent.proxy.said import WINDOW, Utterance, first_new, is_new_reply, said_in
from incumbent.turns.repeating import digest_of
from tests.conftest import examples

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def said(*texts: str) -> list[Utterance]:
    """Texts of a conversation, each a message: "u:" by the user, "a:" by the model, "t:" a tool."""
    who = {"u": "user", "a": "assistant", "t": "tool"}
    return [Utterance(who[text[0]], text, number) for number, text in enumerate(texts)]


def known(texts: Sequence[Utterance], *, erased: bool = False) -> list[Turn]:
    """The turns that are there once these texts were observed."""
    return [
        Turn(
            "s", n, one.speaker, NOW, digest.partition("$")[0] + "$" if erased else digest, f"r{n}"
        )
        for n, one in enumerate(texts, 1)
        for digest in [digest_of(one.speaker, one.text, "r")]
    ]


def new(before: Sequence[str], now: Sequence[str], *, erased: bool = False) -> list[str]:
    texts = said(*now)
    start = first_new(known(said(*before), erased=erased), texts)
    return [one.text for one in texts[start:]]


TALK = ("u:a", "a:b", "u:c", "a:d")


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ((), TALK, TALK),
        (TALK, TALK, ()),
        (TALK, TALK[:3], ()),
        (TALK, (*TALK, "u:e"), ("u:e",)),
        (TALK, (*TALK[2:], "u:e"), ("u:e",)),
        (TALK[:3], (*TALK, "u:e"), ("a:d", "u:e")),
        (TALK, ("u:a", "u:c", "u:e"), ("u:e",)),
        (TALK, ("u:a", "a:b", "u:c", "a:d, said otherwise", "u:e"), ("a:d, said otherwise", "u:e")),
        (TALK, ("u:a", "a:b", "u:x"), ("u:x",)),
        (TALK, ("u:summary", *TALK[2:], "u:e"), ("u:e",)),
        (TALK, ("u:x", "a:y", "u:z"), ("u:x", "a:y", "u:z")),
        (TALK, ("u:a", "a:b", "t:1", "t:2"), ("t:1", "t:2")),
        (("u:a",), ("u:a",), ()),
        (("u:a", "a:b"), ("u:a",), ()),
        (("u:yes", "a:b", "u:no", "a:d"), ("u:yes",), ("u:yes",)),
        (("u:yes", "a:ok"), ("u:yes", "a:ok", "u:yes"), ("u:yes",)),
        (("u:yes", "a:ok", "u:yes", "a:ok"), ("u:yes", "a:ok", "u:yes"), ()),
        (("a:b",), ("u:b",), ("u:b",)),
    ],
)
def test_what_is_new(before: Sequence[str], now: Sequence[str], expected: Sequence[str]) -> None:
    """The same, a part of it, more of it, another end of it."""
    assert new(before, now) == list(expected)


def test_turns_whose_words_were_erased_are_not_taken_for_others() -> None:
    """They still stand where they stood, so what they said is not said anew."""
    assert new(TALK, (*TALK, "u:e"), erased=True) == ["u:e"]
    assert new(TALK, TALK, erased=True) == []


def test_a_turn_without_a_ref_is_nobodys_text() -> None:
    """It may have said anything, and must not make something new look known."""
    turns = [Turn("s", 1, "user", NOW, digest_of("user", "u:a", None), None)]
    assert first_new(turns, said("u:b", "a:c")) == 0


def test_only_the_end_of_a_long_conversation_is_looked_at() -> None:
    """A thousand messages that are known cost little, and nothing of them is new."""
    texts = [f"{'ua'[n % 2]}:{n}" for n in range(1000)]
    turns = known(said(*texts))[-WINDOW:]
    assert first_new(turns, said(*texts, "u:new")) == 1000


WORDS = st.lists(st.sampled_from(["yes", "no", "ok", "my desk is 4", "why?"]), max_size=8)


@given(words=WORDS, more=WORDS)
@settings(max_examples=examples(200, soak=5000), deadline=None)
def test_nothing_is_ever_observed_twice(words: list[str], more: list[str]) -> None:
    """Whatever is said in whatever order: the same request again has nothing new, and a longer one
    has exactly what was added."""
    talk = [f"{'ua'[n % 2]}:{word}" for n, word in enumerate(words)]
    assert new(talk, talk) == []
    if len(talk) > 1:
        added = [f"{'ua'[(len(talk) + n) % 2]}:{word} (new)" for n, word in enumerate(more)]
        assert new(talk, [*talk, *added]) == added


@given(words=WORDS, cut=st.integers(0, 8))
@settings(max_examples=examples(200, soak=5000), deadline=None)
def test_what_an_application_drops_makes_nothing_new(words: list[str], cut: int) -> None:
    """Without its oldest messages, or without the model's, a conversation says nothing anew."""
    talk = [f"{'ua'[n % 2]}:{word} {n}" for n, word in enumerate(words)]
    if len(talk) - cut > 1:
        assert new(talk, [*talk[cut:], "u:new"]) == ["u:new"]
    people = talk[::2]
    if len(people) > 1:
        assert new(talk, [*people, "u:new"]) == ["u:new"]


@pytest.mark.parametrize(
    ("before", "asked", "reply", "expected"),
    [
        (("u:a",), "u:a", "a:b", True),
        (("u:a", "a:b"), "u:a", "a:b", False),
        (("u:a", "a:b"), "u:a", "a:c", True),
        (("u:a", "a:b", "u:c"), "u:a", "a:b", False),
        (("u:yes", "a:ok", "u:yes"), "u:yes", "a:ok", True),
    ],
)
def test_a_reply_is_new_where_it_was_asked(
    before: Sequence[str], asked: str, reply: str, expected: bool
) -> None:
    """Not if it is there, and not if the conversation has gone on meanwhile."""
    assert is_new_reply(known(said(*before)), said(asked)[0], said(reply)) is expected


def heard(*messages: Any) -> list[tuple[str, str]]:
    found = said_in(messages, names=["alice", "Alice B."], most_bytes=100)
    return [(one.speaker, one.text) for one in found]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "user", "content": "a"}, [("user", "a")]),
        ({"role": "user", "name": "Alice B.", "content": "a"}, [("user", "a")]),
        ({"role": "user", "name": "Bob", "content": "a"}, [("Bob", "a")]),
        ({"role": "assistant", "content": None, "tool_calls": [{}]}, []),
        ({"role": "tool", "content": "a"}, [("tool", "a")]),
        ({"role": "function", "content": "a"}, [("tool", "a")]),
        ({"role": "system", "content": "a"}, []),
        ({"role": "developer", "content": "a"}, []),
        ({"role": "user", "content": " \n"}, []),
        ({"role": "user", "content": "é" * 60}, []),
        ({"role": "critic", "content": "a"}, []),
        ({"role": "user", "content": "<system-reminder>\na\n</system-reminder>\n"}, []),
        (
            {"role": "user", "content": "What is a <system-reminder>?"},
            [("user", "What is a <system-reminder>?")],
        ),
        ({"type": "function_call", "arguments": '{"a": "b"}'}, []),
        ({"type": "function_call", "arguments": "no json"}, []),
        ({"type": "function_call_output", "output": "a"}, [("tool", "a")]),
        ({"type": "reasoning", "summary": []}, []),
        ({}, []),
        (
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "content": [{"type": "text", "text": "a"}]},
                    {"type": "image", "source": {"data": "b"}},
                    {"type": "text", "text": "c"},
                ],
            },
            [("tool", "a"), ("user", "c")],
        ),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "a", "signature": "b"},
                    {"type": "text", "text": "c"},
                    {"type": "tool_use", "input": {"to": "d"}},
                ],
            },
            [("assistant", "c")],
        ),
    ],
)
def test_who_says_what_in_a_message(message: Any, expected: list[tuple[str, str]]) -> None:
    """People, models and tools speak; applications, calls and pictures do not."""
    assert heard(message) == expected
