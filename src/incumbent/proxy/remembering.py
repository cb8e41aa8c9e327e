"""Remembering: what the memory does for a request, on a thread of its own.

New turns are observed, the messages are guarded, and the context is composed, in that order: what
a person corrects in this request is gone from the messages before it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from incumbent.context import message_shapes as shapes
from incumbent.context.document import Context
from incumbent.context.guarded import GuardedMessages, check_messages, latest_of
from incumbent.context.quotes import GONE
from incumbent.context.request import LONGEST_QUERY
from incumbent.memory import Memory
from incumbent.model.errors import InvalidInput, StoreBusy
from incumbent.model.records import Turn
from incumbent.model.values import check_text, text_of
from incumbent.proxy.apis import MessageApi
from incumbent.proxy.said import WINDOW, Utterance, first_new, is_new_reply, said_in
from incumbent.session import Session
from incumbent.turns.observation import Observation

_MOST_AT_ONCE = 100
"""Turns of a conversation that is new to the memory: the last of them."""
_TRIES = 5
_LOCKS = 256


@dataclass(frozen=True)
class PreparedRequest:
    """A request as the provider gets it."""

    content: bytes
    context: Context | None
    said: tuple[Utterance, ...]
    follows: str | None
    is_elsewhere: bool
    """Whether the provider keeps what was said before."""
    asks_erasure: bool
    """Whether the person asked for all of their data to be erased, which no turn does."""
    outcome: str = "guarded"


class Remembering:
    """Does what the memory has to do for requests and replies."""

    def __init__(self, memory: Memory, budget: int, *, observes: bool = True) -> None:
        self._memory = memory
        self._budget = budget
        self._observes = observes
        # Two requests of one session would mostly find each other's refs taken.
        self._locks = [Lock() for _ in range(_LOCKS)]

    def prepare(self, session: Session, api: MessageApi, body: bytes) -> PreparedRequest:
        """Observe what is new in a request, guard it, and add the context."""
        given = _document(body)
        messages = check_messages(api.messages(given))
        said = self._said(session, messages) if self._is_observed(session) else []
        follows = api.follows(given)
        if session.mode == "observe":
            return self._as_it_came(session, body, said, follows)
        api.rebuilt(given, messages, "?")  # refuses what has no place for a context
        observed = self.observe(session, said, follows)
        guarded = session.guard(messages)
        context = self._context(session, messages)
        text = "" if context is None else context.text
        made = api.rebuilt(given, in_place(messages, guarded), text)
        return PreparedRequest(
            _written(made),
            context,
            tuple(said),
            follows,
            is_elsewhere=api.is_elsewhere(given),
            asks_erasure=_asks_erasure(observed),
        )

    def _as_it_came(
        self, session: Session, body: bytes, said: Sequence[Utterance], follows: str | None
    ) -> PreparedRequest:
        """A request that is observed and sent on as it is."""
        observed = self.observe(session, said, follows)
        return PreparedRequest(
            body,
            None,
            tuple(said),
            follows,
            is_elsewhere=False,
            asks_erasure=_asks_erasure(observed),
            outcome="observed",
        )

    def _is_observed(self, session: Session) -> bool:
        return self._observes and session.mode != "add"

    def hear(self, session: Session, asked: PreparedRequest, reply: Sequence[str]) -> None:
        """Observe what a model said to a request, unless that is known."""
        if not self._is_observed(session):
            return
        limit = self._memory.settings.max_turn_bytes
        heard = said_in(
            [{"role": "assistant", "content": text} for text in reply], names=(), most_bytes=limit
        )
        last = next((one for one in reversed(asked.said) if one.speaker != "assistant"), None)

        def fresh(known: Sequence[Turn]) -> Sequence[Utterance]:
            return heard if heard and is_new_reply(known, last, heard) else ()

        self._observe(session, asked.follows, fresh)

    def observe(
        self, session: Session, said: Sequence[Utterance], follows: str | None = None
    ) -> list[Observation]:
        """Observe those texts of a conversation that are new."""

        def fresh(known: Sequence[Turn]) -> Sequence[Utterance]:
            return said[first_new(known, said) :][-_MOST_AT_ONCE:]

        return self._observe(session, follows, fresh)

    def _observe(
        self,
        session: Session,
        follows: str | None,
        fresh: Callable[[Sequence[Turn]], Sequence[Utterance]],
    ) -> list[Observation]:
        """Observe what is new beside the turns that are known.

        Two requests with the same texts at the same time give them the same refs, so that each is
        observed once.
        """
        name = _name_of(session.session_id, follows)
        for _ in range(_TRIES):
            with self._lock(session):
                turns = self._turns(session)
                known = turns if follows is None else [one for one in turns if _is_of(one, name)]
                new = fresh(known)
                next_index = turns[-1].turn_index + 1 if turns else 1
                try:
                    return [
                        session.observe(one.text, speaker=one.speaker, ref=f"{name}{number}")
                        for number, one in enumerate(new, next_index)
                    ]
                except InvalidInput:
                    # Another process used the ref, and what is new is looked at anew.
                    if self._turns(session) == turns:
                        raise
        raise StoreBusy("other requests of this session kept coming in between; try again")

    def _lock(self, session: Session) -> Lock:
        who = session.identity
        place = hash((who.organization, who.user_id, session.session_id))
        return self._locks[place % _LOCKS]

    def _said(self, session: Session, messages: Sequence[Mapping[str, Any]]) -> list[Utterance]:
        """What is said in messages; refused before anything is observed if it cannot be."""
        who = session.identity
        names = [name for name in (who.user_id, who.user_name) if name]
        limit = self._memory.settings.max_turn_bytes
        said = said_in(messages, names=names, most_bytes=limit)
        for one in said:
            check_text(one.text, f"message {one.message}")
        return said

    def _context(self, session: Session, messages: Sequence[Mapping[str, Any]]) -> Context | None:
        if not self._budget:
            return None
        latest = latest_of(messages)
        asked = shapes.stretches(messages[latest]) if latest >= 0 else ()
        texts = (text_of(one.value) for one in asked)
        query = " ".join(text for text in texts if not shapes.is_reminder(text))[:LONGEST_QUERY]
        return session.context(query, budget=self._budget, conversation=False, record=False)

    def _turns(self, session: Session) -> list[Turn]:
        who = session.identity
        with self._memory.store.read(who.organization, who.user_id) as reader:
            return reader.turns(who.user_id, session.session_id, WINDOW)


def _asks_erasure(observed: Sequence[Observation]) -> bool:
    return any(one.erasure_requested is not None for one in observed)


def in_place(
    messages: Sequence[Mapping[str, Any]], guarded: GuardedMessages
) -> list[dict[str, Any]]:
    """Guarded messages, as many as there were: one that says nothing that holds keeps its place.

    Providers and the templates of models insist on who speaks after whom.
    """
    emptied = {one.index for one in guarded.account if one.outcome == "left out"}
    kept: Iterator[dict[str, Any]] = iter(guarded.messages)
    return [
        _emptied(message) if number in emptied else next(kept)
        for number, message in enumerate(messages)
    ]


def _emptied(message: Mapping[str, Any]) -> dict[str, Any]:
    return shapes.rebuilt(message, {one.path: GONE for one in shapes.stretches(message)})


def _name_of(session_id: str, follows: str | None) -> str:
    """The beginning of the refs of a conversation, which tells nothing of what was said in it."""
    told = session_id if follows is None else f"{session_id}\0{follows}"
    return f"proxy-{hashlib.sha256(told.encode()).hexdigest()[:16]}-"


def _is_of(turn: Turn, name: str) -> bool:
    return turn.ref is not None and turn.ref.startswith(name)


def _document(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise InvalidInput("the body is not JSON") from None
    if not isinstance(found, dict):
        raise InvalidInput(f"the body must be an object, not {type(found).__name__}")
    return found


def _written(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:  # halves of characters, in what is passed on as it is
        return json.dumps(body, separators=(",", ":")).encode("ascii")
    except RecursionError:
        raise InvalidInput("the body is nested too deeply; send it flatter") from None
