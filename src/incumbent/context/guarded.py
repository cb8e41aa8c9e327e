"""Guarded messages: what an agent would send to a model, without what no longer holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from incumbent.context import message_shapes as shapes
from incumbent.context.notes import CutItem
from incumbent.context.quotes import GONE
from incumbent.context.tokens import Count
from incumbent.model.errors import InvalidInput
from incumbent.model.values import text_of

Outcome = Literal["cut", "left out", "over budget"]
_A_MESSAGE = 4
"""The tokens that a message takes besides its text: its role and its frame."""
_MOST_MESSAGES = 10_000
_MOST_CHARACTERS = 4_000_000

Messages = list[dict[str, Any]]
Look = Callable[[int, shapes.Stretch], CutItem]
"""What is left of a text: of the message with that number, at that place."""


@dataclass(frozen=True)
class MessageAccount:
    """What became of a message that was not passed on as it was."""

    index: int
    """Its place among the messages that were given, from 0."""
    role: str
    outcome: Outcome
    fact_ids: tuple[str, ...] = ()
    """The facts out of office that it repeated."""

    def __str__(self) -> str:
        return f"message {self.index} ({self.role}): {self.outcome}"


@dataclass(frozen=True)
class GuardedMessages:
    """Messages without what no longer holds, in the shape in which they were given."""

    messages: Messages
    account: tuple[MessageAccount, ...]
    """What was cut or left out, in the order of the messages."""
    tokens: int
    """About how many tokens the messages take."""

    def __str__(self) -> str:
        told = "; ".join(map(str, self.account)) or "as they were"
        return f"{len(self.messages)} messages, {self.tokens:,} tokens: {told}"


def check_messages(messages: object) -> Messages:
    """Refuse what is no list of messages, or more than can be looked at."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise InvalidInput(f"messages must be a list of messages, not {type(messages).__name__}")
    found = []
    length = 0
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise InvalidInput(
                f"message {number} must have a role and content, as in "
                f'{{"role": "user", "content": "…"}}; it is a {type(message).__name__}'
            )
        plain = shapes.plain(message)
        found.append(plain)
        length += sum(len(text_of(one.value)) for one in shapes.stretches(plain))
        if number >= _MOST_MESSAGES or length > _MOST_CHARACTERS:
            raise InvalidInput(
                f"more than {_MOST_MESSAGES:,} messages or {_MOST_CHARACTERS:,} characters; "
                f"leave out the oldest"
            )
    return found


def latest_of(messages: Sequence[Mapping[str, Any]]) -> int:
    """The place of the last message that a person says; -1 where there is none."""
    said = [number for number, one in enumerate(messages) if shapes.is_from_user(one)]
    return said[-1] if said else -1


def guard(
    messages: Sequence[Mapping[str, Any]], look: Look, count: Count, budget: int | None
) -> GuardedMessages:
    """Cut what no longer holds out of messages, and leave out those that say nothing else."""
    latest = latest_of(messages)
    account: dict[int, MessageAccount] = {}
    made: dict[int, dict[str, Any]] = {}
    for number, message in enumerate(messages):
        if shapes.is_frame(message):
            made[number] = dict(message)
            continue
        follows = number > 0 and shapes.is_thought(messages[number - 1])
        kept, told = _guarded(number, message, look, must_stay=follows or number == latest)
        if told is not None:
            account[number] = told
        if kept is not None:
            made[number] = kept
    sizes = {number: _size(message, count) for number, message in made.items()}
    if budget is not None:
        for number in _beyond(made, sizes, latest, budget):
            role = shapes.role_of(messages[number])
            account[number] = MessageAccount(number, role, "over budget")
            del made[number], sizes[number]
    kept_all = [made[number] for number in sorted(made)]
    told_all = tuple(account[number] for number in sorted(account))
    return GuardedMessages(kept_all, told_all, sum(sizes.values()))


def _guarded(
    number: int, message: Mapping[str, Any], look: Look, *, must_stay: bool
) -> tuple[dict[str, Any] | None, MessageAccount | None]:
    """A message without what no longer holds, None where nothing else is in it."""
    changed: dict[shapes.Path, Any] = {}
    quoted: list[str] = []
    is_left = False
    for stretch in shapes.stretches(message):
        shown = look(number, stretch)
        quoted += shown.quoted
        if shown.is_left:
            is_left = is_left or bool(text_of(stretch.value).strip())
        # What a tool was called with keeps its form, whatever is left of it.
        is_gone = not shown.is_left and isinstance(stretch.value, str)
        value = GONE if is_gone else _cut(shown)
        if value != stretch.value:
            # Letters of other scripts stay letters: who wrote the JSON need not be who reads it.
            changed[stretch.path] = (
                json.dumps(value, ensure_ascii=False) if stretch.is_json else value
            )
    if not changed:
        return dict(message), None
    role, facts = shapes.role_of(message), tuple(dict.fromkeys(quoted))
    if not is_left and not must_stay and shapes.is_all_text(message):
        return None, MessageAccount(number, role, "left out", facts)
    return shapes.rebuilt(message, changed), MessageAccount(number, role, "cut", facts)


def _cut(shown: CutItem) -> Any:
    """A text with its dead values cut out; of other values the texts are cut already."""
    if not shown.cuts:
        return shown.value
    text = text_of(shown.value)
    for start, end in reversed(shown.cuts):
        text = f"{text[:start]}{GONE}{text[end:]}"
    return text


def _size(message: Mapping[str, Any], count: Count) -> int:
    told = (text_of(stretch.value) for stretch in shapes.stretches(message))
    return _A_MESSAGE + sum(count(text) for text in told if text)


def _beyond(
    made: Mapping[int, Mapping[str, Any]], sizes: Mapping[int, int], latest: int, budget: int
) -> list[int]:
    """The oldest messages that do not fit: the frame, and everything from the last that a person
    said, come first, and what a tool was asked stays with what it gave back, a thought with what
    follows from it."""
    first = {n for n, message in made.items() if shapes.is_frame(message) or n >= latest >= 0}
    room = budget - sum(sizes[number] for number in first)
    groups = _together([(n, made[n]) for n in sorted(made) if n not in first])
    out: list[int] = []
    for group in reversed(groups):
        room -= sum(sizes[number] for number in group)
        if room < 0:
            out.extend(group)
    return out


def _together(messages: Sequence[tuple[int, Mapping[str, Any]]]) -> list[list[int]]:
    """Messages in groups that are sent or left out together."""
    groups: list[list[int]] = []
    is_open = awaits = is_thinking = False
    for number, message in messages:
        is_call, is_thought = shapes.calls(message), shapes.is_thought(message)
        is_work = is_call or shapes.returns(message)
        if is_thinking or (is_open and is_work) or (awaits and is_thought):
            groups[-1].append(number)
        else:
            groups.append([number])
            is_open = False
        is_open = is_call or (is_open and (is_thought or is_work))
        awaits = is_call or (awaits and is_thought)
        is_thinking = is_thought
    return groups
