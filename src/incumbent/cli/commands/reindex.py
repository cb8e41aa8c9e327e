"""The command about the index: reindex."""

from __future__ import annotations

from incumbent.cli.declaring import command
from incumbent.cli.options import ORGANIZATION, Common, organizations_of, require_organization
from incumbent.cli.tables import print_json, show


@command("reindex", "reindex --org acme --embedder static")
def reindex(*, organization: str = ORGANIZATION, common: Common) -> None:
    """Make the index anew that contexts search.

    An index that is missing, or was made by another version or embedder, is made anew by itself
    when a context is asked for; this does it ahead. Others can read and write meanwhile.
    """
    with common.open() as memory:
        require_organization(memory, organization, "index")
        count = memory.reindex(organization)
        recipe = "by the service" if organizations_of(memory) is None else memory.index.recipe
    if common.json:
        print_json({"organization": organization, "facts": count, "recipe": recipe})
    else:
        show(f"indexed  {count:,} facts of organization {organization!r} ({recipe})")
