"""Lists of a whole organization, for people who answer for it: no permission is asked for here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from incumbent.audit.entries import AuditEntry, page_before
from incumbent.engine.doubts import doubted_by_anybody
from incumbent.engine.retries import repeated
from incumbent.listing import names, people
from incumbent.listing.cursors import check_limit, check_span, page_of, place_of
from incumbent.model.errors import InvalidInput
from incumbent.model.identity import check_name
from incumbent.model.listings import (
    Activity,
    ListedKey,
    ListedReceipt,
    ListedSession,
    ListedSubject,
    ListedUser,
    Listing,
)
from incumbent.resources import Resources
from incumbent.stores.port import Reader
from incumbent.telemetry.traced import traced

_LIMIT = 100
_ENTRIES = "entry"
_TICK = timedelta(microseconds=1)


@traced()
class OrganizationLists:
    """The part of a memory that lists what an organization has, whoever owns it."""

    _resources: Resources

    @contextmanager
    def _listing(self, organization: str) -> Iterator[tuple[Reader, datetime]]:
        """A view of all of an organization, and the present."""
        resources = self._resources
        with resources.store.read(check_name(organization, "organization")) as reader:
            # The log can be a little ahead of the clock.
            now = resources.now()
            yield reader, max(now, reader.head()[1] or now)

    @repeated
    def list_users(
        self,
        organization: str,
        *,
        prefix: str = "",
        limit: int = _LIMIT,
        cursor: str | None = None,
    ) -> Listing[ListedUser]:
        """The users of an organization, in the order of their ids, by pages.

        Whoever owns a fact, brought a decision about, was observed, or has a receipt; with
        `prefix`, those whose id begins with it.
        """
        with self._listing(organization) as (reader, now):
            return people.users(reader, now, prefix=prefix, limit=limit, cursor=cursor)

    @repeated
    def list_sessions(
        self,
        organization: str,
        *,
        user_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = _LIMIT,
        cursor: str | None = None,
    ) -> Listing[ListedSession]:
        """The sessions in which a turn was observed, the last begun first, by pages.

        Of one user if `user_id` names one; those that began from `since` on and before `until`.
        """
        with self._listing(organization) as (reader, _):
            return people.sessions(
                reader, user_id, since=since, until=until, limit=limit, cursor=cursor
            )

    @repeated
    def list_subjects(
        self,
        organization: str,
        *,
        prefix: str = "",
        owner: str | None = None,
        limit: int = _LIMIT,
        cursor: str | None = None,
    ) -> Listing[ListedSubject]:
        """The subjects of all facts in office, by owner and name, by pages.

        `owner` leaves those of one user, or with "" those of the organization itself.
        """
        query = names.name_query("subject", _owners(owner), prefix, limit, cursor)
        with self._listing(organization) as (reader, now):
            return names.subjects(names.held_by_all(reader, query, now), query)

    @repeated
    def list_keys(
        self,
        organization: str,
        *,
        prefix: str = "",
        owner: str | None = None,
        limit: int = _LIMIT,
        cursor: str | None = None,
    ) -> Listing[ListedKey]:
        """The keys of all facts in office, by owner and name, by pages.

        The key "" stands for the facts that were kept as they were said, under no name.
        `owner` leaves those of one user, or with "" those of the organization itself.
        """
        query = names.name_query("key", _owners(owner), prefix, limit, cursor)
        with self._listing(organization) as (reader, now):
            return names.keys(names.held_by_all(reader, query, now), query)

    @repeated
    def list_receipts(
        self,
        organization: str,
        *,
        user_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = _LIMIT,
        cursor: str | None = None,
    ) -> Listing[ListedReceipt]:
        """The receipts that were kept, the last kept first, by pages.

        Of one user if `user_id` names one; those kept from `since` on and before `until`.
        """
        with self._listing(organization) as (reader, _):
            return people.kept_receipts(
                reader, None, user_id, since=since, until=until, limit=limit, cursor=cursor
            )

    @repeated
    def list_audit(
        self,
        organization: str,
        *,
        values: bool = False,
        limit: int = _LIMIT,
        cursor: str | None = None,
    ) -> Listing[AuditEntry]:
        """The log of an organization backwards: its entries, the last first, by pages.

        With `values` also keys, values and reasons, but for what was erased.
        """
        check_limit(limit)
        place = place_of(_ENTRIES, cursor, int)
        with self._listing(organization) as (reader, _):
            entries = page_before(reader, None if place is None else place[0], values, limit + 1)
        return page_of(_ENTRIES, [((entry.seq,), entry) for entry in entries], limit)

    @repeated
    def activity(
        self,
        organization: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Activity:
        """What was decided in an organization, in numbers: verdicts by day (UTC), rule and outcome.

        Those recorded from `since` on and before `until`. With it come the facts in office at
        `until`, or now, and the reviews that are open now. No content, no names.
        """
        begin, end = check_span(since, until)
        with self._listing(organization) as (reader, now):
            # The log is asked for its last entry at a moment; the bounds are the one before each.
            after = 0 if begin is None else reader.seq_at(begin - _TICK)
            last = reader.head()[0] if end is None else reader.seq_at(end - _TICK)
            at = now if end is None else min(end, now)
            counts = reader.fact_counts(at)
            return Activity(
                verdicts=tuple(reader.verdict_counts(after, last)),
                at=at,
                facts=counts.held,
                base_changed=counts.marked,
                contested=counts.contested,
                doubted=doubted_by_anybody(reader, self._resources.settings.ladder, now),
            )


def _owners(owner: str | None) -> tuple[str, ...] | None:
    if owner is None:
        return None
    if not isinstance(owner, str):
        raise InvalidInput(f"owner must be a string, not {type(owner).__name__} ({owner!r:.80})")
    return (check_name(owner, "owner"),) if owner else ("",)
