"""Lists for one person: their own sessions, turns and receipts, and the facts that they see, with
their subjects, keys and branches."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from incumbent.engine.retries import repeated
from incumbent.listing import branches, facts, names, people, turns
from incumbent.model.fact import Fact
from incumbent.model.identity import check_name
from incumbent.model.listings import (
    ListedBranch,
    ListedKey,
    ListedReceipt,
    ListedSession,
    ListedSubject,
    ListedTurn,
    Listing,
)
from incumbent.session.base import SessionBase
from incumbent.telemetry.traced import traced

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
        The key "" stands for the facts that were kept as they were said, under no name.
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

    @repeated
    def list_facts(
        self,
        *,
        text: str = "",
        key: str | None = None,
        subject: str | None = None,
        states: Iterable[str] = ("office",),
        scope: str | None = None,
        memory_type: str | None = None,
        authority: str | None = None,
        needs_review: bool | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = _LIMIT,
        cursor: str | None = None,
    ) -> Listing[Fact]:
        """The facts that this session may see and that apply to it, the last recorded first.

        By pages. `text` finds those whose key, subject or value contains it, in capitals or small
        letters; a subject "" those that name none, a key "" those kept as they were said. `states`
        are statuses, and with none of them every fact comes that was not erased. `since` and
        `until` go by when it was recorded.
        """
        query = facts.fact_query(
            self._resources.settings.ladder,
            text=text,
            key=key,
            subject=subject,
            states=states,
            scope=scope,
            memory_type=memory_type,
            authority=authority,
            needs_review=needs_review,
            since=since,
            until=until,
            limit=limit,
            cursor=cursor,
        )
        with self._reading() as (reader, lens):
            return facts.facts(reader, lens, query)

    @repeated
    def list_branches(
        self, *, limit: int = _LIMIT, cursor: str | None = None
    ) -> Listing[ListedBranch]:
        """The drafts and hypotheticals with facts in office that this session may see, by pages.

        Drafts first, each kind in the order of its names.
        """
        with self._reading() as (reader, lens):
            return branches.branches(reader, lens, limit=limit, cursor=cursor)

    @repeated
    def list_turns(
        self,
        session_id: str | None = None,
        *,
        limit: int = _LIMIT,
        cursor: str | None = None,
    ) -> Listing[ListedTurn]:
        """The turns that were observed in this session, or in another of this person's, by pages.

        The first first, with the facts and verdicts of each that this session may see, and its
        words while they are on the desk, where it may see all that came of them.
        """
        named = self.session_id if session_id is None else check_name(session_id, "session_id")
        with self._reading() as (reader, lens):
            return turns.turns(reader, lens, named, limit=limit, cursor=cursor)
