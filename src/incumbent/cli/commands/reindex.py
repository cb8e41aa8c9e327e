"""The command about the index: reindex."""

from __future__ import annotations

import typer

from incumbent.cli.options import Common, Organization, organizations_of
from incumbent.cli.root import command
from incumbent.cli.tables import print_json, show
from incumbent.model.errors import InvalidInput


def reindex(*, organization: Organization = "default", common: Common) -> None:
    """Make the index anew that contexts search.

    An index that is missing, or was made by another version or embedder, is made anew by itself
    when a context is asked for; this does it ahead. Others can read and write meanwhile.
    """
    with common.open() as memory:
        organizations = organizations_of(memory)
        if organizations is not None and organization not in organizations:
            names = ", ".join(map(repr, organizations)) or "none"
            raise InvalidInput(
                f"organization {organization!r} has nothing to index; this store has: {names}; "
                f"choose with --org"
            )
        count = memory.reindex(organization)
        recipe = "by the service" if organizations is None else memory.index.recipe
    if common.json:
        print_json({"organization": organization, "facts": count, "recipe": recipe})
    else:
        show(f"indexed  {count:,} facts of organization {organization!r} ({recipe})")


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    command(app, "reindex", reindex, ["reindex", "reindex --org acme --embedder static"])
