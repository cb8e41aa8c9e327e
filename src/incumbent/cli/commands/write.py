"""Commands that put something in: write, retract, revert, undo, note, declare."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import incumbent
from incumbent.cli.declaring import argument, command, flag, option, options
from incumbent.cli.options import DRY_RUN, Asker, Common, parse_moment, parse_value
from incumbent.cli.tables import clock, print_json, show
from incumbent.cli.verdicts import print_verdict
from incumbent.model.errors import UnknownFact
from incumbent.stores.codec import declaration_record
from incumbent.words import shown

_NAMES = {"as_authority": "authority", "fact_id": "id", "constraint": "is_constraint"}
"""What `session.write` calls an option that has another name here."""
_TERMS = "Validity"
_LINKS = "Links to other facts"
_KIND = "Kind and readers"

KEY_OR_ID = argument("KEY_OR_ID", "A key, or the id of a fact.")
SUBJECT = option("NAME", "Whom or what the fact is about.")
REASON = option("TEXT", "Why, for the record.")
JSON_VALUE = flag("VALUE is JSON: a number, list, object, true, null.")


@options()
class WriteOptions:
    """Everything that `session.write` takes beyond the key and the value."""

    subject: str | None = SUBJECT
    scope: str = option("SCOPE", "global, task, session, draft or hypothetical.", default="global")
    scope_id: str | None = option(
        "ID", "Which task, session or branch.", shown="--task or --session"
    )
    source: str | None = option("NAME", "Where it comes from: a system, policy, conversation.")
    as_authority: str | None = option(
        "TITLE",
        "Write on this authority; above your own it takes --permission authority:RUNG.",
        "--as",
        shown="your own",
    )
    confidence: float = option("0..1", "How sure you are; weak evidence is contested.", default=1.0)
    fact_id: str | None = option("ID", "An id of your own.", "--id", shown="a new one")
    supersedes: str | None = option("KEY_OR_ID", "The fact it replaces.", panel=_LINKS)
    depends_on: list[str] | None = option(
        "KEY_OR_ID", "A fact it rests on; repeatable.", panel=_LINKS
    )
    doubts: list[str] | None = option(
        "KEY_OR_ID", "A fact it may have replaced; repeatable.", panel=_LINKS
    )
    when_superseded: str | None = option(
        "KEY_OR_ID", "Wait, and take office when this fact leaves it.", panel=_LINKS
    )
    at: str | None = option(
        "TIME", "When it was said: ISO 8601 with a zone.", shown="now", panel=_TERMS
    )
    valid_from: str | None = option("TIME", "From when it is true.", shown="--at", panel=_TERMS)
    valid_until: str | None = option("TIME", "Until when it is true.", panel=_TERMS)
    memory_type: str | None = option(
        "TYPE", "user, capability or organizational.", shown="by source", panel=_KIND
    )
    constraint: bool | None = flag(
        "Whether it limits what may be done.",
        "--constraint/--no-constraint",
        default=None,
        shown="by key and wording",
        panel=_KIND,
    )
    constraint_type: str | None = option(
        "TYPE", "budget, deadline, capacity or policy.", panel=_KIND
    )
    requires: list[str] | None = option(
        "PERMISSION", "What reading it takes; repeatable.", panel=_KIND
    )
    min_authority: str | None = option("TITLE", "The lowest rung that may read it.", panel=_KIND)

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments for `session.write`."""
        given = asdict(self)
        for name in ("at", "valid_from", "valid_until"):
            given[name] = parse_moment(given[name], f"--{name.replace('_', '-')}")
        for name in ("depends_on", "doubts", "requires"):
            given[name] = given[name] or ()
        return {_NAMES.get(name, name): value for name, value in given.items()}


@command(
    "write order_status approved",
    "write unit_price 310 --json-value --subject 'order 4711'",
    "write total 12400 --json-value --depends-on unit_price",
    "write report_to James --when-superseded team_lead",
    "write max_discount 15% --authority CFO --source policy",
)
def write(
    key: str = argument("KEY", "What the value is."),
    value: str = argument("VALUE", "The value, taken as a string."),
    *,
    json_value: bool = JSON_VALUE,
    statement: WriteOptions,
    who: Asker,
    common: Common,
) -> None:
    """State a fact, and see what became of it.

    Makes the file if it is missing. A value that begins with a dash goes after two: incumbent
    write offset -- -5
    """
    parsed = parse_value(value, json_value)
    arguments = statement.arguments()
    with common.open(create=True) as memory:
        session = who.at(memory)
        verdict = session.write(key, parsed, **arguments)
        print_verdict(session, verdict, as_json=common.json)


@command("retract order_status --reason 'entered by mistake'")
def retract(
    key_or_id: str = KEY_OR_ID,
    *,
    reason: str | None = REASON,
    subject: str | None = SUBJECT,
    at: str | None = option("TIME", "When it was taken back: ISO 8601 with a zone.", shown="now"),
    who: Asker,
    common: Common,
) -> None:
    """Take back a fact, with no new value. Its chain ends there."""
    said = parse_moment(at, "--at")
    with common.open() as memory:
        session = who.at(memory)
        verdict = session.retract(key_or_id, reason, subject=subject, at=said)
        print_verdict(session, verdict, as_json=common.json)


@command("revert order_status", "revert order_status --to FACT_ID")
def revert(
    key_or_id: str = KEY_OR_ID,
    *,
    to: str | None = option("ID", "Go back to this fact.", shown="the last different value"),
    subject: str | None = SUBJECT,
    who: Asker,
    common: Common,
) -> None:
    """Go back to an earlier value, as a new fact."""
    with common.open() as memory:
        session = who.at(memory)
        verdict = session.revert(key_or_id, to, subject=subject)
        print_verdict(session, verdict, as_json=common.json)


@command("undo VERDICT_ID --dry-run", "undo VERDICT_ID --reason 'slip'")
def undo(
    verdict: str = argument("VERDICT_ID", "As `write` and `explain` print it."),
    *,
    reason: str | None = REASON,
    dry_run: bool = DRY_RUN,
    who: Asker,
    common: Common,
) -> None:
    """Let everything stand as if a verdict had not been made.

    Undoing an undo brings the first verdict back.
    """
    with common.open() as memory:
        session = who.at(memory).rehearsal() if dry_run else who.at(memory)
        undoing = session.undo(verdict, reason=reason)
        print_verdict(session, undoing, as_json=common.json, dry_run=dry_run)


@command(
    "note objective 'ship order 4711'",
    "note hold 3 --ttl 600",
    "note turn_1 'Ann: ship it to the dock' --states FACT_ID",
)
def note(
    key: str = argument("KEY", "What the note is."),
    value: str = argument("VALUE", "The value, taken as a string."),
    *,
    ttl: float | None = option("SECONDS", "How long it lives.", shown="one day"),
    states: list[str] | None = option(
        "FACT_ID",
        "A fact that the note repeats; when that leaves office, what the note says of it "
        "leaves the context. Repeatable.",
    ),
    json_value: bool = JSON_VALUE,
    who: Asker,
    common: Common,
) -> None:
    """Put something on a session's desk, for its contexts only.

    It is gone when it expires.
    """
    parsed = parse_value(value, json_value)
    with common.open(create=True) as memory:
        session = who.at(memory)
        _check_stated(session, states or ())
        item = session.note(key, parsed, ttl, states=states or ())
    if common.json:
        times = {"created_at": item.created_at, "expires_at": item.expires_at}
        moments = {name: at.isoformat() if at else None for name, at in times.items()}
        document = {"key": item.key, "value": item.value, "session": who.session, **moments}
        print_json({**document, "states": list(item.states)})
        return
    until = f" until {clock(item.expires_at)} UTC" if item.expires_at else ""
    show(f"noted  {shown(item.key)} = {shown(item.value)}, in session {who.session!r}{until}")


def _check_stated(session: incumbent.Session, fact_ids: Iterable[str]) -> None:
    """Refuse an id that names nothing: such a note would never be shown, and nobody would know
    why."""
    for fact_id in fact_ids:
        if session.get(fact_id) is None:
            raise UnknownFact(
                f"--states {fact_id!r} is the id of no fact that you can see; "
                f"`incumbent facts` lists them with their ids"
            )


@command(
    "declare allergies --multi-valued",
    "declare 'price.*' --time-sensitive --write-authority manager",
    "declare salary --requires hr",
)
def declare(
    key: str = argument("KEY", "A key, or a pattern like price.*"),
    *,
    multi_valued: bool = flag("Several values hold at once."),
    time_sensitive: bool = flag("The newest reading wins."),
    write_authority: str | None = option("TITLE", "The lowest rung that may write it."),
    requires: list[str] | None = option("PERMISSION", "What reading it takes; repeatable."),
    common: Common,
) -> None:
    """Say what is special about a key, or about every key of a pattern.

    Holds for every organization in the file. Declaring a pattern again replaces what was said.
    """
    with common.open(create=True) as memory:
        declaration = memory.declare(
            key,
            multi_valued=multi_valued,
            time_sensitive=time_sensitive,
            write_authority=write_authority,
            requires=requires or (),
        )
    if common.json:
        print_json(declaration_record(declaration))
        return
    told = [
        "multi-valued" if declaration.multi_valued else "",
        "time-sensitive" if declaration.time_sensitive else "",
        f"written by {declaration.write_authority} upwards" if declaration.write_authority else "",
        f"read with {', '.join(declaration.requires)}" if declaration.requires else "",
    ]
    special = ", ".join(filter(None, told)) or "nothing special"
    show(f"declared  {shown(declaration.pattern)}: {special}")
