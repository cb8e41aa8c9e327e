"""Lists for one person: their own sessions and receipts, the subjects and keys that they see."""

from __future__ import annotations

from datetime import datetime

from tenure.engine.retries import repeated
from tenure.listing import names, people
from tenure.model.listings import ListedKey, ListedReceipt, ListedSession, ListedSubject, Listing
from tenure.session.base import SessionBase
from tenure.telemetry.traced import traced

_LIMIT = 100


@traced()
class SessionLists(SessionBase):
    """The part of a session that lists."""

    @repeated
    def list_sessions(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = _LIMIT,
        cursor: str | None = None,
    ) -> Listing[ListedSession]:
        """This person's sessions in which a turn was observed, the last begun first, by pages.

        Those that began from `since` on and before `until`.
        """
        with self._reading() as (reader, _):
            return people.sessions(
                reader,
                self.identity.user_id,
                since=since,
                until=until,
                limit=limit,
                cursor=cursor,
            )

    @repeated
    def list_subjects(
        self, *, prefix: str = "", limit: int = _LIMIT, cursor: str | None = None
    ) -> Listing[ListedSubject]:
        """The subjects of the facts in office that this session may see and that apply to it.

        Those of the organization first, then one's own, each in the order of their names, by pages.
        """
        query = names.name_query("subject", self._owners, prefix, limit, cursor)
        with self._reading() as (reader, lens):
            return names.subjects(names.seen_through(reader, lens, query), query)

    @repeated
    def list_keys(
        self, *, prefix: str = "", limit: int = _LIMIT, cursor: str | None = None
    ) -> Listing[ListedKey]:
        """The keys of the facts in office that this session may see and that apply to it.

        Those of the organization first, then one's own, each in the order of their names, by pages.
        """
        query = names.name_query("key", self._owners, prefix, limit, cursor)
        with self._reading() as (reader, lens):
            return names.keys(names.seen_through(reader, lens, query), query)

    @repeated
    def list_receipts(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = _LIMIT,
        cursor: str | None = None,
    ) -> Listing[ListedReceipt]:
        """This person's receipts that were kept, the last kept first, by pages.

        Those kept from `since` on and before `until`, and none that shows what this session may
        not see.
        """
        with self._reading() as (reader, lens):
            return people.kept_receipts(
                reader,
                lens,
                self.identity.user_id,
                since=since,
                until=until,
                limit=limit,
                cursor=cursor,
            )
