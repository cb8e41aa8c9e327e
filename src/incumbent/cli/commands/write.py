"""Commands that put something in: write, retract, revert, undo, note, declare."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

import incumbent
from incumbent.cli.options import Asker, Common, DryRun, parse_moment, parse_value
from incumbent.cli.root import command
from incumbent.cli.tables import clock, print_json, show
from incumbent.cli.verdicts import print_verdict
from incumbent.model.errors import UnknownFact
from incumbent.stores.codec import declaration_record
from incumbent.words import shown

_TERMS = "Validity"
_LINKS = "Links to other facts"
_KIND = "Kind and readers"

KeyOrId = Annotated[str, typer.Argument(metavar="KEY_OR_ID", help="A key, or the id of a fact.")]
Subject = Annotated[
    str | None, typer.Option(metavar="NAME", help="Whom or what the fact is about.")
]
Reason = Annotated[str | None, typer.Option(metavar="TEXT", help="Why, for the record.")]
JsonValue = Annotated[
    bool, typer.Option("--json-value", help="VALUE is JSON: a number, list, object, true, null.")
]


@dataclass(frozen=True)
class WriteOptions:
    """Everything that `session.write` takes beyond the key and the value."""

    subject: Subject = None
    scope: Annotated[
        str, typer.Option(metavar="SCOPE", help="global, task, session, draft or hypothetical.")
    ] = "global"
    scope_id: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Which task, session or branch.",
            show_default="--task or --session",
        ),
    ] = None
    source: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Where it comes from: a system, policy, conversation."),
    ] = None
    as_authority: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="TITLE",
            help="Write on this authority; above your own it takes --permission authority:RUNG.",
            show_default="your own",
        ),
    ] = None
    confidence: Annotated[
        float, typer.Option(metavar="0..1", help="How sure you are; weak evidence is contested.")
    ] = 1.0
    fact_id: Annotated[
        str | None,
        typer.Option("--id", metavar="ID", help="An id of your own.", show_default="a new one"),
    ] = None
    supersedes: Annotated[
        str | None,
        typer.Option(metavar="KEY_OR_ID", help="The fact it replaces.", rich_help_panel=_LINKS),
    ] = None
    depends_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY_OR_ID", help="A fact it rests on; repeatable.", rich_help_panel=_LINKS
        ),
    ] = None
    doubts: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY_OR_ID",
            help="A fact it may have replaced; repeatable.",
            rich_help_panel=_LINKS,
        ),
    ] = None
    when_superseded: Annotated[
        str | None,
        typer.Option(
            metavar="KEY_OR_ID",
            help="Wait, and take office when this fact leaves it.",
            rich_help_panel=_LINKS,
        ),
    ] = None
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="When it was said: ISO 8601 with a zone.",
            show_default="now",
            rich_help_panel=_TERMS,
        ),
    ] = None
    valid_from: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="From when it is true.",
            show_default="--at",
            rich_help_panel=_TERMS,
        ),
    ] = None
    valid_until: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Until when it is true.", rich_help_panel=_TERMS),
    ] = None
    memory_type: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE",
            help="user, capability or organizational.",
            show_default="by source",
            rich_help_panel=_KIND,
        ),
    ] = None
    constraint: Annotated[
        bool | None,
        typer.Option(
            "--constraint/--no-constraint",
            help="Whether it limits what may be done.",
            show_default="by key and wording",
            rich_help_panel=_KIND,
        ),
    ] = None
    constraint_type: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE", help="budget, deadline, capacity or policy.", rich_help_panel=_KIND
        ),
    ] = None
    requires: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PERMISSION", help="What reading it takes; repeatable.", rich_help_panel=_KIND
        ),
    ] = None
    min_authority: Annotated[
        str | None,
        typer.Option(
            metavar="TITLE", help="The lowest rung that may read it.", rich_help_panel=_KIND
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments for `session.write`."""
        return {
            "subject": self.subject,
            "scope": self.scope,
            "scope_id": self.scope_id,
            "source": self.source,
            "authority": self.as_authority,
            "confidence": self.confidence,
            "id": self.fact_id,
            "supersedes": self.supersedes,
            "depends_on": self.depends_on or (),
            "doubts": self.doubts or (),
            "when_superseded": self.when_superseded,
            "at": parse_moment(self.at, "--at"),
            "valid_from": parse_moment(self.valid_from, "--valid-from"),
            "valid_until": parse_moment(self.valid_until, "--valid-until"),
            "memory_type": self.memory_type,
            "is_constraint": self.constraint,
            "constraint_type": self.constraint_type,
            "requires": self.requires or (),
            "min_authority": self.min_authority,
        }


def write(
    key: Annotated[str, typer.Argument(metavar="KEY", help="What the value is.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The value, taken as a string.")],
    *,
    json_value: JsonValue = False,
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


def retract(
    key_or_id: KeyOrId,
    *,
    reason: Reason = None,
    subject: Subject = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="When it was taken back: ISO 8601 with a zone.",
            show_default="now",
        ),
    ] = None,
    who: Asker,
    common: Common,
) -> None:
    """Take back a fact, with no new value. Its chain ends there."""
    said = parse_moment(at, "--at")
    with common.open() as memory:
        session = who.at(memory)
        verdict = session.retract(key_or_id, reason, subject=subject, at=said)
        print_verdict(session, verdict, as_json=common.json)


def revert(
    key_or_id: KeyOrId,
    *,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Go back to this fact.", show_default="the last different value"
        ),
    ] = None,
    subject: Subject = None,
    who: Asker,
    common: Common,
) -> None:
    """Go back to an earlier value, as a new fact."""
    with common.open() as memory:
        session = who.at(memory)
        verdict = session.revert(key_or_id, to, subject=subject)
        print_verdict(session, verdict, as_json=common.json)


def undo(
    verdict: Annotated[
        str,
        typer.Argument(metavar="VERDICT_ID", help="As `write` and `explain` print it."),
    ],
    *,
    reason: Reason = None,
    dry_run: DryRun = False,
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


def note(
    key: Annotated[str, typer.Argument(metavar="KEY", help="What the note is.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The value, taken as a string.")],
    *,
    ttl: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="How long it lives.", show_default="one day"),
    ] = None,
    states: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FACT_ID",
            help="A fact that the note repeats; when that leaves office, what the note says of it "
            "leaves the context. Repeatable.",
        ),
    ] = None,
    json_value: JsonValue = False,
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


def declare(
    key: Annotated[str, typer.Argument(metavar="KEY", help="A key, or a pattern like price.*")],
    *,
    multi_valued: Annotated[
        bool, typer.Option("--multi-valued", help="Several values hold at once.")
    ] = False,
    time_sensitive: Annotated[
        bool, typer.Option("--time-sensitive", help="The newest reading wins.")
    ] = False,
    write_authority: Annotated[
        str | None, typer.Option(metavar="TITLE", help="The lowest rung that may write it.")
    ] = None,
    requires: Annotated[
        list[str] | None,
        typer.Option(metavar="PERMISSION", help="What reading it takes; repeatable."),
    ] = None,
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


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    command(
        app,
        "write",
        write,
        [
            "write order_status approved",
            "write unit_price 310 --json-value --subject 'order 4711'",
            "write total 12400 --json-value --depends-on unit_price",
            "write report_to James --when-superseded team_lead",
            "write max_discount 15% --authority CFO --source policy",
        ],
    )
    command(app, "retract", retract, ["retract order_status --reason 'entered by mistake'"])
    command(app, "revert", revert, ["revert order_status", "revert order_status --to FACT_ID"])
    command(app, "undo", undo, ["undo VERDICT_ID --dry-run", "undo VERDICT_ID --reason 'slip'"])
    command(
        app,
        "note",
        note,
        [
            "note objective 'ship order 4711'",
            "note hold 3 --ttl 600",
            "note turn_1 'Ann: ship it to the dock' --states FACT_ID",
        ],
    )
    command(
        app,
        "declare",
        declare,
        [
            "declare allergies --multi-valued",
            "declare 'price.*' --time-sensitive --write-authority manager",
            "declare salary --requires hr",
        ],
    )
