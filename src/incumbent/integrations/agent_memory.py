"""The core that every adapter shares: what is said is observed, and a model gets what holds.

An adapter knows two things about its framework: how its messages read as plain ones (mappings with
a role and content, as `session.guard` takes them), and where it can look at what is said and change
what is sent. Everything else is here, and the framework's own history is never changed.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ParamSpec, TypedDict, TypeVar

from incumbent.aio import AsyncMemory
from incumbent.context import message_shapes as shapes
from incumbent.context.guarded import latest_of
from incumbent.integrations.model_at_hand import AtHand, reading_with, running
from incumbent.memory import Memory
from incumbent.model.errors import InvalidInput
from incumbent.model.modes import Mode
from incumbent.model.records import WorkingItem, is_turn
from incumbent.session import Session

P = ParamSpec("P")
T = TypeVar("T")
Plain = Mapping[str, Any]
"""A message as `session.guard` takes it."""

_PERSON, _ANSWER, _TOOL = "user", "assistant", "tool"
_PERSONAL = ("user_name", "authority", "department", "permissions")
_MODES = {"memory_mode": "mode", "ask_before_keeping": "ask_before_keeping"}
"""What else a run may say of its session; a framework's own context may have a mode of its own."""
_NAMES = ("user_id", *_PERSONAL, "organization", "session_id", "task_id", *_MODES)
_SWITCHES = ("budget", "messages_budget", "observe", "reader")
_BUDGET = 2000

log = logging.getLogger("incumbent.integrations")

_around: ContextVar[tuple[Session, ...]] = ContextVar("incumbent_around", default=())
"""The sessions whose tools are at work around a call, the outermost first. Calls of tools that are
made at the same time have a task or a thread each, and so a context each."""


class Identification(TypedDict, total=False):
    """Who is speaking, as `memory.session` takes it."""

    user_id: str
    user_name: str | None
    authority: str
    organization: str
    department: str | None
    permissions: Iterable[str]
    session_id: str
    task_id: str | None
    memory_mode: Mode
    """What the adapter does for this run: "both", "observe" or "add"; as the settings say, unless
    given."""
    ask_before_keeping: bool
    """Whether what is said waits until the person approves it; as the settings say, unless
    given."""


class Options(Identification, total=False):
    """What an adapter is made with besides its memory."""

    budget: int
    """The most tokens of the context; 2,000 unless said."""
    messages_budget: int | None
    """The most tokens of the framework's own messages; the oldest are left out. None sends all."""
    observe: bool
    """Whether what is said is observed; False for an agent whose "user" is another agent."""
    reader: Any
    """What reads the turns again: a model of the framework, "provider:name", or an LLM of
    either."""


@dataclass(frozen=True)
class Sent:
    """What a model is sent in place of the framework's messages."""

    context: str
    """What holds, to stand beside the application's own instructions."""
    changed: Mapping[int, dict[str, Any] | None]
    """The messages that are not sent as they are, by their place; None where one is left out."""

    def after(self, instructions: str | None) -> str:
        """The application's own instructions with the context behind them."""
        return "\n\n".join(filter(None, (instructions, self.context)))

    def messages(
        self, given: Iterable[T], rebuilt: Callable[[T, dict[str, Any]], T], first: int = 0
    ) -> list[T]:
        """The framework's messages as they are sent; `rebuilt` makes one from a plain one.

        They can be given piece by piece; `first` is then the place of the first of them.
        """
        made = []
        for number, message in enumerate(given, first):
            if number not in self.changed:
                made.append(message)
            elif (plain := self.changed[number]) is not None:
                made.append(rebuilt(message, plain))
        return made


class AgentMemory:
    """A memory at the side of an agent, for whoever each run is for."""

    def __init__(
        self, memory: Memory | AsyncMemory, options: Options, at_hand: AtHand | None = None
    ) -> None:
        self._memory = memory.plain if isinstance(memory, AsyncMemory) else memory
        self._budget = options.get("budget", _BUDGET)
        self._messages_budget = options.get("messages_budget")
        self._observes = options.get("observe", True)
        given: dict[str, Any] = {**options}
        for name in _SWITCHES:
            given.pop(name, None)
        if unknown := sorted(given.keys() - set(_NAMES)):
            raise InvalidInput(
                f"there is no option {unknown[0]!r}; there are {', '.join((*_SWITCHES, *_NAMES))}"
            )
        self._given = given
        self._rereader, self._model = None, None
        if (reader := options.get("reader")) is not None:
            self._rereader, self._model = reading_with(self._memory, reader, at_hand)

    def session(self, *told: Any, session_id: str | None = None) -> Session:
        """The session of a run, by what its framework tells of it; the first to say a name counts.

        What the adapter was made with fills in what the run leaves open, and `session_id` what
        nobody says.
        """
        found: dict[str, Any] = {}
        for source in told:
            for name in _NAMES:
                value = _named(source, name)
                if value is not None:
                    found.setdefault(name, value)
        given = self._given
        if "user_id" in given and found.get("user_id", given["user_id"]) != given["user_id"]:
            # What was said of one person is not true of another.
            given = {name: value for name, value in given.items() if name not in _PERSONAL}
        who = {"session_id": session_id, **given, **found}
        for name in ("user_id", "session_id"):
            if not who.get(name):
                raise InvalidInput(
                    f"nothing says the {name} of this run; name it in the run's own context, or "
                    f"give {name}= to the adapter"
                )
        modes = {_MODES[name]: who.pop(name) for name in _MODES if name in who}
        session = self._memory.session(**who)
        for name, wanted in modes.items():
            setattr(session, name, wanted)
        if self._rereader is not None:
            session.rereader = self._rereader
        if self._model is not None:
            self._model.note_loop()
        return session

    # what is said

    def hear(self, session: Session, messages: Sequence[Plain]) -> None:
        """Observe what the person has said since the last answer, the first time it is heard."""
        for message in messages[_after_last_answer(messages) :]:
            if shapes.is_from_user(message):
                self._observe(session, _PERSON, said_in(message), message.get("id"))

    def result(self, session: Session, value: Any, call_id: str | None) -> None:
        """Observe what a tool gave back."""
        self._observe(session, _TOOL, as_text(value), call_id)

    def answer(self, session: Session, value: Any, ref: str | None = None) -> None:
        """Observe what a run came to."""
        self._observe(session, _ANSWER, as_text(value), ref)

    def _observe(self, session: Session, speaker: str, text: str, ref: str | None) -> None:
        is_observed = self._observes and session.mode != "add"
        if not is_observed or caller() is not None or not text.strip():
            return
        most = self._memory.settings.max_turn_bytes
        if len(text.encode("utf-8", "replace")) > most:
            log.warning("a turn (%s) of more than %d bytes was not observed", speaker, most)
        elif text not in _said_lately(session.working_set(), speaker):
            try:
                session.observe(text, speaker=speaker, ref=ref)
            except InvalidInput:
                # A message that was edited, or a provider that counts its calls from 0 each time,
                # has the ref of another turn. What is wrong with it otherwise is told now.
                self._observe_without_ref(session, speaker, text)

    def _observe_without_ref(self, session: Session, speaker: str, text: str) -> None:
        try:
            session.observe(text, speaker=speaker)
        except InvalidInput as error:
            if speaker == _PERSON:
                raise
            # A tool may return what is no text at all, and its agent can do with it what it likes.
            log.warning("a turn (%s) was not observed: %s", speaker, error)

    # what is sent

    def sent(self, session: Session, messages: Sequence[Plain]) -> Sent:
        """What a model is to read: what holds, and the messages without what does not. Where it is
        only observed, the messages as they are."""
        if session.mode == "observe":
            return Sent("", {})
        guarded = session.guard(messages, budget=self._messages_budget)
        latest = latest_of(messages)
        query = said_in(messages[latest]) if latest >= 0 else ""
        context = session.context(query, budget=self._budget, conversation=False)
        out = {one.index for one in guarded.account if one.outcome != "cut"}
        kept = (number for number in range(len(messages)) if number not in out)
        made = dict(zip(kept, guarded.messages, strict=True))
        changed = {one.index: made.get(one.index) for one in guarded.account}
        return Sent(context.text, changed)


def said_in(message: Plain) -> str:
    """The words of a message."""
    found = (stretch.value for stretch in shapes.stretches(message))
    return "\n".join(text for text in found if isinstance(text, str))


def as_text(value: Any) -> str:
    """What a tool gave back, or a run came to, as a turn of talk."""
    if value is None or isinstance(value, str):
        return value or ""
    if hasattr(value, "model_dump"):
        value = value.model_dump()
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        return str(value)


@contextmanager
def at_work(session: Session) -> Iterator[None]:
    """While a tool of a session is at work. A tool may be an agent itself, or run one: what is said
    in there is nobody's word, and is not observed."""
    enter_tool(session)
    try:
        yield
    finally:
        leave_tool()


def enter_tool(session: Session) -> None:
    """A tool of a session goes to work, where a framework tells only of its beginning and end."""
    _around.set((*_around.get(), session))


def leave_tool() -> None:
    """The tool that went to work last is done."""
    _around.set(_around.get()[:-1])


def caller() -> Session | None:
    """The session of the person for whom tools are at work around this call, if any are."""
    around = _around.get()
    return around[0] if around else None


async def on_thread(call: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Make a call that waits for the store, while the event loop goes on.

    A run that is cancelled meanwhile ends when the call has: whoever tries again at once finds
    what it wrote.
    """
    running.set(asyncio.get_running_loop())
    work = asyncio.ensure_future(asyncio.to_thread(call, *given, **named))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        with suppress(Exception):
            await work
        raise


def _named(source: Any, name: str) -> Any:
    """What a framework's context says under a name, whether a mapping or an object."""
    if isinstance(source, Mapping):
        return source.get(name)
    return getattr(source, name, None)


def _after_last_answer(messages: Sequence[Plain]) -> int:
    """The place after the last message that nobody but a model or a tool says."""
    for number in range(len(messages), 0, -1):
        message = messages[number - 1]
        if not shapes.is_from_user(message) and not shapes.is_frame(message):
            return number
    return 0


def _said_lately(desk: Iterable[WorkingItem], speaker: str) -> set[Any]:
    """What a speaker has said since the other side spoke.

    The same words again before they were answered are the same turn: somebody tries again.
    """
    other = _ANSWER if speaker == _PERSON else _PERSON
    found: set[Any] = set()
    for item in desk:
        if is_turn(item) and isinstance(item.value, str):
            if item.key.endswith(f"({other})"):
                found.clear()
            elif item.key.endswith(f"({speaker})"):
                found.add(item.value)
    return found
