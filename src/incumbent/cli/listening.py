"""What the commands that listen at a port share: options, checks, processes and the log."""

from __future__ import annotations

import logging
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from threading import Thread, main_thread
from typing import TYPE_CHECKING, Any

import incumbent
from incumbent.cli.declaring import option, options
from incumbent.cli.options import Common
from incumbent.model.errors import InvalidInput

if TYPE_CHECKING:
    import socket

    from incumbent.http.configuration import Service, Tokens

_TOKENS = "Signed tokens"
_LIMITS = "Limits"
_LEVELS = ("debug", "info", "warning", "error")
LOG_LEVEL = option("LEVEL", "debug, info, warning or error.", default="info")


@options(_TOKENS)
class Believing:
    """The issuer whose signed tokens are accepted."""

    issuer: str | None = option(
        "URL", "The issuer of tokens (JWT) to accept.", env="INCUMBENT_ISSUER"
    )
    audience: str = option(
        "NAME", "Whom tokens must be made out to.", default="incumbent", env="INCUMBENT_AUDIENCE"
    )
    jwks: str | None = option(
        "WHERE", "The issuer's key set: a file, or an https address.", env="INCUMBENT_JWKS"
    )

    def tokens(self) -> Tokens | None:
        """As the service takes it; None where no tokens are accepted."""
        from incumbent.http.configuration import Tokens

        if self.issuer is None and self.jwks is None:
            return None
        if self.issuer is None or self.jwks is None:
            raise InvalidInput("tokens take both --issuer URL and --jwks FILE")
        return Tokens(issuer=self.issuer, audience=self.audience, keys=self.jwks)


def limit(takes: str, told: str, *, default: float) -> Any:
    """An option that sets a limit."""
    return option(takes, told, default=default, panel=_LIMITS)


@options()
class CallerLimits:
    """The limits on callers, whatever it is that they call."""

    rate: float = limit(
        "COUNT", "Requests a second that one key may make for long; 0 for no limit.", default=100.0
    )
    burst: int = limit("COUNT", "Requests it may make at once.", default=200)
    at_once: int = limit("COUNT", "Calls of one key under way at the same time.", default=64)
    share: float = limit(
        "PART",
        "Of a processor, how much one organization may keep busy while others call.",
        default=0.25,
    )
    max_body: int = limit("BYTES", "The largest request.", default=2_000_000)
    threads: int = limit("COUNT", "Calls that are worked on at the same time.", default=8)

    def of_service(self) -> dict[str, Any]:
        """As a service takes them."""
        asked = asdict(self)
        asked["max_body_bytes"] = asked.pop("max_body")
        return asked


def check_listening(common: Common, log: str, processes: int, *, doing: str) -> None:
    """Refuse a store that cannot be listened for, and a log or a number that there is not."""
    check_level(log)
    if common.path.startswith(("http://", "https://")):
        raise InvalidInput(f"--db names a service; {doing} the file or the database behind it")
    if processes < 1:
        raise InvalidInput(f"--processes takes a number from 1 on, not {processes}")
    if processes > 1 and common.path == ":memory:":
        raise InvalidInput("several processes cannot share :memory:; name a file with --db")


def check_level(log: str) -> None:
    """Refuse a log level that there is not."""
    if log not in _LEVELS:
        raise InvalidInput(f"--log {log!r} is not one of {', '.join(_LEVELS)}")


@dataclass(frozen=True)
class ListeningPlan(ABC):
    """The plan for a process that answers, which may be another one than this."""

    store: Common
    service: Service
    log: str

    def run(self, processes: int) -> None:
        """Answer until a signal to stop: in this process, or in several side by side."""
        if processes == 1:
            self.answer(self.announce)
            return
        from incumbent.http.crew import Crew
        from incumbent.http.server import address_of

        log_to_stderr(self.log)
        service = self.service
        Crew(self, processes, service.host, service.port, service.shutdown_timeout).run(
            lambda host, port: self.announce(address_of(host, port))
        )

    def __call__(self, place: socket.socket, ready: Callable[[], None]) -> None:
        """Answer at an address that is shared with other processes."""
        self.answer(lambda _: ready(), place)

    @abstractmethod
    def answer(self, announce: Callable[[str], None], place: socket.socket | None = None) -> None:
        """Answer at the service's own address, or at a place; `announce` is told where."""

    @abstractmethod
    def announce(self, address: str) -> None:
        """Print where it can be reached."""

    @property
    def store_named(self) -> str:
        """The store, without what an address may hold of a password."""
        return "a PostgreSQL database" if "://" in self.store.path else self.store.path

    @property
    def callers_named(self) -> str:
        """Who may call."""
        if self.service.credentials:
            return "with a key or token"
        return "open to this machine, no key needed"


_SMALL_TALK = (
    ("user", "Hi, my desk is 4 and I need 2 chairs in Rome by Friday."),
    ("assistant", "I found 2 chairs for $90. Shall I order them?"),
    ("user", "Sounds good. Make it 3 chairs though, Ann is joining us."),
    ("user", "No, the desk was moved to Porto. If it rains, we start on Monday at 9."),
    ("user", "My sister's address is 9 Elm Rd. Why is that so?"),
)


_RARE = "Krzyżanowski"
"""A word that has to be put together of pieces: before it meets one, a tokenizer has not loaded how
that is done, which takes a quarter of a second."""


def warm(memory: incumbent.Memory) -> None:
    """Load what the first call would have to wait for: the models, and the language data, which a
    conversation that is not kept makes use of. Nothing of it is told to anybody."""
    from incumbent.context.tokens import counter

    _ = memory.index, memory.reader
    counter(memory.settings.tokenizer)(_RARE)
    settings = replace(memory.settings, telemetry=None, llm=None)
    with incumbent.open(":memory:", settings=settings) as other:
        session = other.session(user_id="nobody")
        for speaker, text in _SMALL_TALK:
            if not main_thread().is_alive():
                return  # nobody is going to call any more
            session.observe(text, speaker=speaker)
        session.guard([{"role": "user", "content": "My desk is 4."}])
        session.context("Which desk?", conversation=False)


def warm_meanwhile(memory: incumbent.Memory) -> None:
    """The same beside other work, which may begin at once."""

    def load() -> None:
        with suppress(incumbent.IncumbentError):  # the call that needs it tells
            warm(memory)

    # No daemon: one that loads native code while the interpreter ends would abort the process.
    Thread(target=load).start()


def log_to_stderr(level: str) -> None:
    """Log to stderr, a JSON object a line. Of libraries only errors are logged: their messages
    quote the data they receive."""
    from incumbent.telemetry.logs import JsonFormatter

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.ERROR)
    logging.getLogger("incumbent").setLevel(level.upper())
