"""The command that erases: forget."""

from __future__ import annotations

from typing import Annotated

import typer

from incumbent import Erasure
from incumbent.cli.options import Common, DryRun, Organization
from incumbent.cli.root import command, complain
from incumbent.cli.servers import is_address
from incumbent.cli.tables import account_lines, clock, print_json, show
from incumbent.stores.codec import erasure_record


def forget(
    *,
    fact: Annotated[str | None, typer.Option(metavar="ID", help="One fact.")] = None,
    subject: Annotated[
        str | None, typer.Option(metavar="NAME", help="Everything about this subject.")
    ] = None,
    # No environment variable: an erasure must not depend on one that somebody forgot was set.
    user: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Everything this user owns, and what is about them."),
    ] = None,
    organization: Organization = "default",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: DryRun = False,
    common: Common,
) -> None:
    """Erase facts for good, and print the proof.

    Content, history, indexes and what quotes them go; there is no way back. Conditions narrow
    each other. The proof holds ids, counts and a digest, no content. With --dry-run nothing is
    asked or erased.
    """
    with common.open() as memory:
        if not yes and not dry_run and (fact or subject or user):
            told = {"fact": fact, "subject": subject, "user": user}
            what = ", ".join(f"{name} {value!r}" for name, value in told.items() if value)
            question = f"Erase for good, in organization {organization!r}: {what}?"
            if not typer.confirm(question, err=True):
                complain("nothing was erased", kind="note")
                raise typer.Exit(1)
        erasure = memory.forget(
            organization=organization,
            user_id=user,
            subject=subject,
            fact_id=fact,
            rehearse=dry_run,
        )
    if common.json:
        proof = {"dry_run": True} if dry_run else {"digest": erasure.digest}
        print_json({**erasure_record(erasure), **proof})
    if not erasure.fact_ids and not any(erasure.removed.values()):
        complain(f"nothing matched in organization {organization!r}; check the name", kind="note")
        raise typer.Exit(1)
    if is_address(common.path) and not dry_run:
        complain(
            "the files of the server hold it until they are written anew: incumbent db vacuum "
            "--full",
            kind="note",
        )
    if common.json:
        return
    begin = "would have erased" if dry_run else "erased"
    show(f"{begin}  {len(erasure.fact_ids)} fact(s) in organization {organization!r}")
    counts = ", ".join(f"{kind} {count}" for kind, count in sorted(erasure.removed.items()))
    show(
        account_lines(
            [
                *(("fact", fact_id) for fact_id in erasure.fact_ids),
                *(("quoted in", fact_id) for fact_id in erasure.quoted_in),
                ("removed", counts.replace("_", " ") or "nothing"),
                *([] if dry_run else _proof_lines(erasure)),
            ]
        )
    )


def _proof_lines(erasure: Erasure) -> list[tuple[str, str]]:
    return [
        ("at", f"{clock(erasure.at)} UTC"),
        ("proof", erasure.id),
        ("digest", erasure.digest),
    ]


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    command(
        app,
        "forget",
        forget,
        [
            "forget --fact FACT_ID --dry-run",
            "forget --subject 'Jane Doe' --org acme",
            "forget --user jane -y",
        ],
    )
