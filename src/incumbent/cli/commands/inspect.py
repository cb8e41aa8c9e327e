"""The command that shows a memory on a page: inspect."""

from __future__ import annotations

import webbrowser
from dataclasses import replace

import typer

import incumbent
from incumbent.cli.declaring import argument, command, flag, option, options
from incumbent.cli.listening import log_to_stderr
from incumbent.cli.options import Common
from incumbent.model.errors import InvalidInput

_WHO = "Through whose eyes"
DEFAULT_PORT = 8766


@options(_WHO)
class Looker:
    """Whom the pages look as, until somebody else is chosen there."""

    user: str | None = option("ID", "The person to look as.", shown="chosen on the page")
    organization: str | None = option(
        "NAME", "The organization.", "--organization", "--org", shown="chosen on the page"
    )
    authority: str | None = option("TITLE", "Their rung or title.", shown="employee")
    permission: list[str] | None = option("NAME", "A permission they hold; repeatable.")

    def looks_as(self) -> dict[str, str]:
        """As the service takes it."""
        said = {
            "user_id": self.user,
            "organization": self.organization,
            "authority": self.authority,
            "permissions": ",".join(self.permission or ()),
        }
        return {name: value for name, value in said.items() if value}


@command(
    "inspect agent.db --open",
    "inspect agent.db --user alice --org acme",
    "inspect --db postgresql://incumbent@db/incumbent",
)
def inspect(
    store: str | None = argument(
        "STORE", "A SQLite file, or a database; as --db.", default=None, show_default=False
    ),
    *,
    port: int = option("NUMBER", "0 for a free one.", default=DEFAULT_PORT),
    open_: bool = flag("Open the page in your browser.", "--open"),
    looker: Looker,
    common: Common,
) -> None:
    """See on a page what the agent believes, and why; put it right there.

    Facts and their stories, contexts with what was left out, the past, reviews, branches. The page
    is for this machine alone and needs no other one. If the store has keys, it asks for one. A
    running service has the same pages at /inspect. Stop it with Ctrl-C.
    """
    if store is not None and common.db is not None and store != common.db:
        raise InvalidInput(f"{store} and --db {common.db} are two stores; name one")
    chosen = common if store is None else replace(common, db=store)
    if chosen.path.startswith(("http://", "https://")):
        raise InvalidInput(
            f"{chosen.path} is a service, and has the pages itself: open {chosen.path}/inspect"
        )
    check_pages()
    with chosen.open() as memory:
        show_pages(memory, port=port, looks_as=looker.looks_as(), opens=open_)


def check_pages() -> None:
    """Refuse to begin where the packages that the pages take are not installed."""
    try:
        import incumbent.inspector.app  # noqa: F401
    except ImportError as error:
        missing = str(error).partition(";")[0]
        raise InvalidInput(
            f"the pages take more ({missing}); install it with: pip install 'incumbent[service]'"
        ) from error


def show_pages(
    memory: incumbent.Memory, *, port: int, looks_as: dict[str, str], opens: bool = False
) -> None:
    """Serve the pages of a memory on this machine until a signal to stop."""
    from incumbent.http.configuration import Service
    from incumbent.http.server import serve

    has_keys = bool(memory.store.keys())
    service = Service(port=port, credentials=has_keys, looks_as=looks_as)

    def announce(address: str) -> None:
        typer.echo(f"Open {address}/inspect (Ctrl-C to stop)", err=True)
        if opens:
            webbrowser.open(f"{address}/inspect")

    log_to_stderr("warning")
    serve(memory, service, announce)
