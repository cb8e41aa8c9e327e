"""A copy of one organization of a PostgreSQL database in a file, to try something out on."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from tenure.cli.options import Common
from tenure.cli.progress import ProgressLine
from tenure.cli.servers import administration
from tenure.stores.copying import copy_declarations, copy_organization


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
