"""The command for trying it out: chat."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import typer

import incumbent
from incumbent.cli.chat import COMMANDS, ME, Chat
from incumbent.cli.declaring import command, option, options
from incumbent.cli.options import ASK_BEFORE_KEEPING, Asker, Common
from incumbent.cli.tables import show
from incumbent.model.errors import InvalidInput
from incumbent.model.ids import new_id
from incumbent.words import shown


@options("Who is asking")
class Talker(Asker):
    """The identity that talks, and the session that it talks in."""

    session: str = option(
        "ID",
        "The session: the same name goes on with a conversation.",
        default="chat",
        env="INCUMBENT_SESSION",
    )


@command(
    "chat",
    "chat --db :memory:",
    "chat --user alice --authority manager --db agent.db",
    "chat --db http://localhost:8765 < lines.txt",
)
def chat(
    *,
    budget: int = option("TOKENS", "How large a context may be.", default=2000),
    ask_before_keeping: bool = ASK_BEFORE_KEEPING,
    who: Talker,
    common: Common,
) -> None:
    """Talk to a memory, and see what becomes of what you say.

    What you type is observed; the facts, the verdicts with their reasons, and the changes of the
    context that you asked for last are shown. No model takes part. /help lists the commands, such
    as /context QUESTION, /facts, /why KEY, /what-if TEXT and /undo. Lines can come from a pipe too;
    it then ends with the code of the first line that failed.
    """
    if common.json:
        raise InvalidInput("chat prints for people; incumbent observe --json gives JSON")
    settings = replace(common.settings, ask_before_keeping=ask_before_keeping)
    with common.open(create=True, settings=settings) as memory:
        session = who.at(memory)
        typed = sys.stdin.isatty()
        lines = iter(()) if typed else _piped()

        def aside() -> incumbent.Session:
            return replace(who, session=new_id(memory.now())).at(memory)

        def ask(question: str) -> str:
            if typed:
                return _line(question) or ""
            show(question.rstrip())
            return next(lines, "")

        talk = Chat(memory, session, aside, ask, budget)
        if typed:
            _welcome(session, common.path)
            _prepare_editing()
        _converse(talk, lines, typed)
    if talk.failure and not typed:
        raise typer.Exit(talk.failure)


def _converse(talk: Chat, lines: Iterator[str], typed: bool) -> None:
    while not talk.over:
        if typed:
            line = _line(f"{'you' if talk.speaker == ME else shown(talk.speaker)}> ")
            if line is None:
                show("")
                return
        else:
            found = next(lines, None)
            if found is None:
                return
            line = found
            if line.strip():
                show(f"> {shown(line.strip())}")
        talk.take(line)


def _piped() -> Iterator[str]:
    """The lines of a pipe."""
    try:
        yield from sys.stdin
    except UnicodeDecodeError:
        raise InvalidInput(f"what comes in is not text in {sys.stdin.encoding}") from None


def _line(prompt: str) -> str | None:
    """A line that somebody types; None at the end. Ctrl-C gives up the line, not the talk."""
    while True:
        try:
            return input(prompt)
        except EOFError:
            return None
        except KeyboardInterrupt:
            show("\n(Ctrl-D or /quit leaves)")


def _prepare_editing() -> None:
    """Arrow keys, earlier lines, and commands by the tab key, where the system has them."""
    with suppress(ImportError):
        import readline

        names = [f"/{name}" for name in COMMANDS]

        def complete(text: str, state: int) -> str | None:
            found = [name for name in names if name.startswith(text)] if text else []
            return found[state] if state < len(found) else None

        readline.set_completer_delims(" ")
        readline.set_completer(complete)
        readline.parse_and_bind("tab: complete")


def _welcome(session: incumbent.Session, path: str) -> None:
    who = session.identity
    where = "a database" if path.startswith("postgres") else path
    show(
        f"Incumbent {incumbent.__version__} on {shown(where)}. You are {shown(who.user_id)} "
        f"({who.authority.rung}) in {shown(who.organization)}.\n"
        f"Type what is so, such as: The price is $40. Then: No, $45. /help tells the rest."
    )
