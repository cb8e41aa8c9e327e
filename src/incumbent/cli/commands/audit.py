"""The command about the log of decisions, for those who answer for them: audit."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType

import incumbent
from incumbent.audit.entries import PAGE, AuditEntry
from incumbent.audit.follower import INTERVAL, follow
from incumbent.audit.position import AuditPosition, PositionFile, check_position
from incumbent.audit.webhook import Sender, Webhook
from incumbent.cli.declaring import command, flag, option
from incumbent.cli.options import ORGANIZATION, Common
from incumbent.cli.root import remark, warn
from incumbent.cli.tables import print_json
from incumbent.model.errors import InvalidInput

_WEBHOOK = "Sending to a webhook"
_SECRET = "INCUMBENT_WEBHOOK_SECRET"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PATIENCE = 300.0

Pages = Iterator[Sequence[AuditEntry]]


@command(
    "audit --org acme",
    "audit --org acme --follow --after 1200",
    "audit --org acme --webhook https://example.com/audit --state audit.state --follow",
)
def audit(
    *,
    after: int | None = option(
        "SEQ", "Begin after this entry of the log.", shown="the beginning, or what --state says"
    ),
    wait: bool = flag("Go on with what comes, until Ctrl-C.", "--follow"),
    interval: float = option("SECONDS", "How often --follow looks for entries.", default=INTERVAL),
    values: bool = flag("Include keys, values and reasons."),
    webhook: str | None = option(
        "URL", f"Post entries here, signed with the secret in {_SECRET}.", panel=_WEBHOOK
    ),
    state: Path | None = option(
        "FILE", "Where to keep how far it got; the next run goes on from there.", panel=_WEBHOOK
    ),
    batch: int = option("COUNT", "Entries in a request, at most.", default=100, panel=_WEBHOOK),
    retry_for: float | None = option(
        "SECONDS",
        "Give up if the webhook takes nothing for so long.",
        shown="never with --follow, else 300",
        panel=_WEBHOOK,
    ),
    organization: str = ORGANIZATION,
    common: Common,
) -> None:
    """Print every decision of an organization as JSON Lines, and go on as they come.

    An entry has its number in the log, ids, the rule, the outcome, who brought it about and when,
    and nothing that was said unless --values. Whoever knows the last number goes on with --after.
    To a webhook entries go in order and at least once: an entry that comes twice has the same id.
    """
    if interval <= 0:
        raise InvalidInput(f"--interval must be more than 0, not {interval:g}")
    if webhook is not None:
        sending = _checked(webhook, state, after, batch, retry_for)
    elif state is not None:
        raise InvalidInput("--state is for --webhook; without it, go on with --after SEQ")
    elif common.json and wait:
        raise InvalidInput("--json prints one document, and --follow never ends; leave one out")
    with common.open() as memory:

        def pages(begin: int, limit: int) -> Pages:
            if not wait:
                return _batched(memory.audit(organization, after=begin, values=values), limit)
            return follow(
                memory, organization, after=begin, values=values, interval=interval, limit=limit
            )

        if webhook is None:
            with _ending_well():
                count = _print(pages(after or 0, PAGE), as_json=common.json)
                if not count and not wait:
                    told = f"organization {organization!r} has no entries after {after or 0:,}"
                    remark(told)
            return
        target, file = sending
        patience = _PATIENCE if retry_for is None and not wait else retry_for
        sender = Sender(target, file, memory.now, retry_for=patience, tell=warn)
        with file.held(), _ending_well():
            sender.send(pages(_begin(memory, organization, file, after), batch))
    if common.json:
        print_json({"organization": organization, "delivered": sender.delivered})
    else:
        remark(f"delivered {sender.delivered:,} entries to {target.host}")


def _checked(
    webhook: str, state: Path | None, after: int | None, batch: int, retry_for: float | None
) -> tuple[Webhook, PositionFile]:
    """The webhook and position file for sending, or an error that names the missing option."""
    if state is None:
        raise InvalidInput("--webhook needs --state FILE, where it keeps how far it got")
    if not 1 <= batch <= PAGE:
        raise InvalidInput(f"--batch must be from 1 to {PAGE}, not {batch}")
    if retry_for is not None and retry_for < 0:
        raise InvalidInput(f"--retry-for must be 0 or more, not {retry_for:g}")
    secret = os.environ.get(_SECRET, "")
    if not secret:
        raise InvalidInput(f"--webhook needs a secret to sign with, in {_SECRET}")
    target = Webhook(webhook, secret.encode())
    if webhook.startswith("http:") and target.host not in _LOOPBACK:
        warn(f"{target.host} is reached without encryption; use https://")
    return target, PositionFile(state)


def _begin(
    memory: incumbent.Memory, organization: str, file: PositionFile, after: int | None
) -> int:
    """The number after which sending begins. A position in the file has precedence."""
    kept = file.read()
    if kept is None:
        # Kept before the first entry goes out: the file cannot be written is told now, not then.
        file.write(AuditPosition(organization, after or 0, None))
        return after or 0
    if after is not None:
        raise InvalidInput(
            f"{file.path} says where to go on; leave out --after, or remove the file"
        )
    check_position(memory.store, organization, kept)
    return kept.seq


def _print(pages: Iterable[Sequence[AuditEntry]], *, as_json: bool) -> int:
    """Print entries, and return how many they were."""
    if as_json:
        found = [entry.record() for page in pages for entry in page]
        print_json(found)
        return len(found)
    count = 0
    try:
        for page in pages:
            count += len(page)
            for entry in page:
                line = json.dumps(entry.record(), ensure_ascii=False, separators=(",", ":"))
                sys.stdout.buffer.write(line.encode() + b"\n")
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader has read enough. Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return count


def _batched(entries: Iterable[AuditEntry], limit: int) -> Pages:
    rest = iter(entries)
    while page := list(islice(rest, limit)):
        yield page


@contextmanager
def _ending_well() -> Iterator[None]:
    """Treat Ctrl-C and a request to terminate as the usual end of following."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt) if _is_main_thread() else None
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def _is_main_thread() -> bool:
    return current_thread() is main_thread()  # which alone may say what becomes of signals
