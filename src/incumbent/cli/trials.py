"""A copy of a store in a file that is thrown away, to try something out on."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from incumbent import Memory, Settings
from incumbent.cli.options import Common
from incumbent.cli.progress import ProgressLine
from incumbent.cli.servers import administration, is_address
from incumbent.stores.copying import copy_declarations, copy_organization


@contextmanager
def opened_or_tried(
    common: Common, trial: str | None, settings: Settings | None = None
) -> Iterator[Memory]:
    """The memory; for the trial of an organization, a copy that is thrown away."""
    with ExitStack() as stack:
        chosen = common if trial is None else stack.enter_context(_trial_of(common, trial))
        yield stack.enter_context(chosen.open(create=True, settings=settings))


@contextmanager
def _trial_of(common: Common, organization: str) -> Iterator[Common]:
    """The same options for a copy of the store, of a database of one organization."""
    with tempfile.TemporaryDirectory(prefix="incumbent-trial-") as folder:
        copy = os.path.join(folder, "copy.db")
        if is_address(common.path):
            copy_for_trial(common, copy, organization)
        elif os.path.exists(common.path):
            with common.open():  # to refuse what is no store of ours in the usual words
                _copy(common.path, copy)
        yield replace(common, db=copy)


def _copy(path: str, copy: str) -> None:
    address = f"{Path(path).absolute().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(address, uri=True)) as store,
        closing(sqlite3.connect(copy)) as trial,
    ):
        store.backup(trial)


def copy_for_trial(common: Common, file: str, organization: str) -> None:
    """Make the copy, with the desks of sessions and the turns that were observed."""
    with common.open() as origin, replace(common, db=file).open(create=True) as trial:
        copy_declarations(origin.store, trial.store)
        with closing(ProgressLine()) as telling:
            copy_organization(origin.store, trial.store, organization, telling)
        with (
            origin.store.read(organization) as reader,
            trial.store.write(organization) as transaction,
        ):
            for user_id, session_id, item in reader.desks():
                transaction.put_item(user_id, session_id, item)
            for user_id, turn in administration().turns_of(common.path, organization):
                transaction.put_turn(user_id, turn)
