"""Commands for the keys that let programs in over a network: keys create, list, revoke."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import incumbent
from incumbent.cli.declaring import CommandGroup, argument, command, flag, option
from incumbent.cli.options import ORGANIZATION, Common, parse_moment
from incumbent.cli.root import remark
from incumbent.cli.tables import account_lines, clock, print_json, show, table
from incumbent.keys import make_key, parse
from incumbent.model.errors import InvalidInput
from incumbent.model.identity import check_name, check_optional, check_permissions
from incumbent.model.keys import ApiKey, check_scopes
from incumbent.stores.codec import key_record
from incumbent.words import shown

GROUP = CommandGroup(
    "keys",
    """Manage the keys that programs show to be let in over a network.

\b
Examples:
  incumbent keys create reports --scope read --org acme
  incumbent keys list --org acme
  incumbent keys revoke 019a4f2c7b3e7d10a1b2c3d4e5f60718

A key is for one organization, has scopes (read, write, review, erase, admin, metrics; none includes
another) and a highest authority. It is shown once, when it is made: the store keeps a digest of it,
which does not lead back. Keys stay where they were made: neither copy nor export takes them along.
""",
)
_MOST_DAYS = 36_525
_COLUMNS = ("id", "name", "state", "scopes", "authority", "user", "made (UTC)", "runs out (UTC)")


@command(
    "keys create reports --scope read --org acme",
    "keys create desk --scope read --scope write --max-authority manager --user alice",
    "keys create trial --scope read --days 30 --json",
)
def create(
    name: str = argument("NAME", "What people will call it."),
    *,
    scope: list[str] | None = option(
        "SCOPE", "What for: read, write, review, erase, admin or metrics; repeatable.", shown=False
    ),
    max_authority: str = option(
        "TITLE", "The highest rung or title that whoever uses it can have.", default="employee"
    ),
    # No environment variable: a key must not speak for somebody because a variable was still set.
    user: str | None = option("ID", "The one user it speaks for.", shown="any"),
    permission: list[str] | None = option(
        "NAME", "A permission that whoever uses it holds; repeatable.", shown=False
    ),
    expires: str | None = option(
        "TIME", "When it runs out: ISO 8601 with a zone, 2027-03-02T09:00:00+00:00.", shown="never"
    ),
    days: int | None = option("COUNT", "The same, as days from now.", shown=False),
    organization: str = ORGANIZATION,
    common: Common,
) -> None:
    """Make a key and show it, this once.

    Keep it as you keep a password. Who loses it makes another and revokes the first.
    """
    # First of all, so that a slip leaves no new file behind.
    given: dict[str, Any] = {
        "organization": check_name(organization, "organization"),
        "name": check_name(name, "NAME"),
        "scopes": check_scopes(scope or ()),
        "max_authority": _rung(common.settings.ladder, max_authority),
        "user_id": check_optional(user, "--user"),
        "permissions": check_permissions(permission or (), "--permission"),
    }
    ends = _expiry(expires, days)
    with common.open(create=True) as memory:
        now = memory.now()
        made, text = make_key(now=now, expires_at=ends(now), **given)
        memory.store.add_key(made)
    if common.json:
        print_json({"key": text, **key_record(made)})
        return
    lines = [
        ("key", text),
        ("id", made.id),
        ("organization", shown(made.organization)),
        ("scopes", ", ".join(made.scopes)),
        ("authority", f"{made.max_authority} at most"),
        ("user", "any" if made.user_id is None else shown(made.user_id)),
        *([("permissions", shown(", ".join(made.permissions)))] if made.permissions else []),
        ("runs out", clock(made.expires_at, "never")),
    ]
    show(f"made  key {made.name!r}", account_lines(lines))
    remark("the key is shown this once; only a digest of it is kept")


def _rung(ladder: incumbent.Ladder, title: str) -> str:
    """The rung of a title. Elsewhere an unknown title counts as the lowest; here it is refused,
    because a key made by a slip would last."""
    found = ladder.known(title)
    if found is None:
        raise InvalidInput(
            f"--max-authority {title!r:.80} is no rung or title that Incumbent knows; the rungs "
            f"are "
            f"{', '.join(ladder.rungs)}"
        )
    return found.rung


def _expiry(expires: str | None, days: int | None) -> Callable[[datetime], datetime | None]:
    """A function from the moment a key is made to the moment it expires."""
    if expires is not None and days is not None:
        raise InvalidInput("--expires and --days say the same; give one of them")
    if days is None:
        moment = parse_moment(expires, "--expires")
        return lambda now: moment
    if not 1 <= days <= _MOST_DAYS:
        raise InvalidInput(f"--days must be from 1 to {_MOST_DAYS}, not {days}")
    return lambda now: now + timedelta(days=days)


@command("keys list --org acme", "keys list --all --json")
def list_(
    *,
    every: bool = flag("The keys of every organization.", "--all"),
    organization: str = ORGANIZATION,
    common: Common,
) -> None:
    """List the keys of an organization, oldest first. Of none is the text known any more."""
    with common.open() as memory:
        found = memory.store.keys(None if every else organization)
        now = memory.now()
    if common.json:
        print_json([{"state": _state(key, now), **key_record(key)} for key in found])
    elif found:
        first = ("organization",) if every else ()
        rows = [([shown(key.organization)] if every else []) + _row(key, now) for key in found]
        show(table((*first, *_COLUMNS), rows))
    else:
        whose = "any organization" if every else f"organization {organization!r}"
        remark(f"there are no keys of {whose}")


def _state(key: ApiKey, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "usable" if key.usable(now) else "expired"


def _row(key: ApiKey, now: datetime) -> list[str]:
    return [
        key.id,
        shown(key.name),
        _state(key, now),
        ", ".join(key.scopes),
        key.max_authority,
        "any" if key.user_id is None else shown(key.user_id),
        clock(key.created_at),
        clock(key.expires_at, "never"),
    ]


@command("keys revoke 019a4f2c7b3e7d10a1b2c3d4e5f60718")
def revoke(
    key: str = argument("ID", "The id of a key, or all of its text."),
    *,
    common: Common,
) -> None:
    """End a key for good. Whoever shows it from now on is not let in.

    A revoked key stays in the list, with the moment it ended. There is no way back: make another.
    """
    parsed = parse(key)
    key_id = key if parsed is None else parsed.id
    with common.open() as memory:
        known = memory.store.key(key_id)
        ended = None if known is None else memory.store.revoke_key(key_id, memory.now())
    if known is None or ended is None:
        # Without what was given: it may be nearly all of a key.
        raise InvalidInput(
            "there is no such key in this store; find its id with: incumbent keys list"
        )
    if common.json:
        print_json(key_record(ended))
        return
    word = "revoked" if known.revoked_at is None else "was revoked before"
    whose = f"key {ended.name!r} of organization {ended.organization!r}"
    show(f"{word}  {whose}, since {clock(ended.revoked_at)} UTC")
