"""The command that erases: forget."""

from __future__ import annotations

import typer

from incumbent import Erasure
from incumbent.cli.declaring import command, flag, option
from incumbent.cli.options import DRY_RUN, ORGANIZATION, Common
from incumbent.cli.root import remark
from incumbent.cli.servers import is_address
from incumbent.cli.tables import account_lines, clock, print_json, show
from incumbent.stores.codec import erasure_record


@command(
    "forget --fact FACT_ID --dry-run",
    "forget --subject 'Jane Doe' --org acme",
    "forget --user jane -y",
)
def forget(
    *,
    fact: str | None = option("ID", "One fact."),
    subject: str | None = option("NAME", "Everything about this subject."),
    # No environment variable: an erasure must not depend on one that somebody forgot was set.
    user: str | None = option("ID", "Everything this user owns, and what is about them."),
    organization: str = ORGANIZATION,
    yes: bool = flag("Do not ask.", "--yes", "-y"),
    dry_run: bool = DRY_RUN,
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
                remark("nothing was erased")
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
        remark(f"nothing matched in organization {organization!r}; check the name")
        raise typer.Exit(1)
    if is_address(common.path) and not dry_run:
        remark(
            "the files of the server hold it until they are written anew: incumbent db vacuum "
            "--full"
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
