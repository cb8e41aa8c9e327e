"""Addresses of PostgreSQL databases on the command line."""

from __future__ import annotations

from types import ModuleType

from incumbent.cli.declaring import argument
from incumbent.model.errors import InvalidInput, StoreError

EXAMPLE = "postgresql://user@host/database"
URL = argument(
    "URL",
    f"The database, {EXAMPLE}.",
    default=None,
    envvar="INCUMBENT_DB",
    show_default=False,
)


def is_address(where: str) -> bool:
    """Whether a store is named by an address rather than a path."""
    return "://" in where


def checked(url: str | None) -> str:
    """The address of a PostgreSQL database, or an error that says how one looks."""
    if url and url.startswith(("postgresql://", "postgres://")):
        return url
    told = f"{url!r:.80} is no address of a PostgreSQL database" if url else "name a database"
    raise InvalidInput(f"{told}; write it as {EXAMPLE}, as an argument or in INCUMBENT_DB")


def administration() -> ModuleType:
    """The module that runs a database. It is loaded on demand: the driver is an extra."""
    try:
        from incumbent.stores.postgres import administration
    except ImportError as error:
        raise InvalidInput(
            f"a PostgreSQL store needs a driver ({error}); install it with: "
            f"pip install 'incumbent[postgres]'"
        ) from error
    return administration


def require_schema(url: str) -> None:
    """Refuse a database without our schema: reading must not leave a schema behind."""
    tools = administration()
    if tools.version_of(checked(url)) == 0:
        raise StoreError(
            f"there is no Incumbent schema in {tools.address_of(url)}; is the address right? Make "
            f"the schema with: incumbent db init"
        )
