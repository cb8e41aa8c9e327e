"""The working set, the environment, and the context that is composed from all layers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from incumbent.composing import receipts
from incumbent.context.assembly import assemble
from incumbent.context.document import Context
from incumbent.context.guarded import (
    GuardedMessages,
    Look,
    Messages,
    check_messages,
    guard,
    latest_of,
)
from incumbent.context.material import Material
from incumbent.context.message_shapes import stretches
from incumbent.context.receipt import Receipt
from incumbent.context.rendering import frame_lines
from incumbent.context.request import LONGEST_QUERY, Request, check_request
from incumbent.context.tokens import counter
from incumbent.engine.proposal import check_key
from incumbent.engine.retries import repeated
from incumbent.model.errors import InvalidInput, ReadOnlyStore, UnknownFact
from incumbent.model.identity import check_name
from incumbent.model.records import Environment, WorkingItem, is_turn
from incumbent.model.times import moment
from incumbent.model.values import canonical, text_of
from incumbent.model.verdict import Verdict
from incumbent.search.index import Outpaced
from incumbent.session.base import SessionBase
from incumbent.session.rehearsable import rehearsable
from incumbent.telemetry.traced import tells, traced

_LONGEST = timedelta(days=36525)
_MOST_RECEIPTS = 10_000
_PATIENCE = 8
"""How often a reader may be behind the index in memory before that is dropped: a server that has
lost its last commits never catches up with it."""


@traced()
class SessionContexts(SessionBase):
    """The part of a session that keeps a desk and composes contexts."""

    @rehearsable
    @repeated
    def note(
        self,
        key: str,
        value: Any,
        ttl: timedelta | float | None = None,
        *,
        states: Iterable[str | Verdict] = (),
    ) -> WorkingItem:
        """Put something on this session's desk, for `ttl` (a timedelta, or seconds).

        `states` names the facts that a turn stated, by id or verdict: when one of them leaves
        office, what the turn said of it leaves the context.
        """
        settings = self._resources.settings
        check_key(key, settings)
        canonical(value, limit=settings.max_value_bytes)
        lifetime = _lifetime(ttl) or settings.working_set_ttl
        stated = tuple(
            one.fact_id if isinstance(one, Verdict) else check_name(one, "states") for one in states
        )
        with self._registrar() as registrar:
            now = registrar.lens.when
            for fact_id in stated:
                if registrar.lens.glimpse(registrar.transaction, fact_id) is None:
                    raise UnknownFact(f"states names {fact_id!r}, and there is no such fact here")
            expires = None if lifetime is None else now + lifetime
            item = WorkingItem(key, value, now, expires, stated)
            registrar.transaction.put_item(self.identity.user_id, self.session_id, item)
            registrar.transaction.drop_items(expired_at=now)
        return item

    @repeated
    def working_set(self) -> list[WorkingItem]:
        """What is on this session's desk, has not expired and states nothing that one may not see,
        oldest first."""
        with self._reading() as (reader, lens):
            return self._seen_desk(reader, lens)

    @property
    def environment(self) -> Environment:
        """The environment, read afresh."""
        self._check_open()
        return self._resources.environment.read(self._when or self._now())

    @repeated
    def context(
        self,
        query: str,
        *,
        budget: int = 4000,
        profile: str = "balanced",
        style: str = "plain",
        history: bool = False,
        at: datetime | None = None,
        explain: bool = False,
        conversation: bool = True,
        record: bool | None = None,
    ) -> Context:
        """What a model should read for this query: identity, environment, facts, working set.

        Only what is current and may be seen; never more than `budget` tokens. `style` "annotated"
        adds ids, dates and sources; `history` a section of what was true before; `at` gives the
        context of that moment. With `explain` every fact left out is named, however many they are;
        without `conversation` its turns are not shown, for callers who send them to the model
        themselves; with `record` the receipt is kept, for `memory.replay`.
        """
        request = check_request(query, budget, profile, style, history, explain, conversation)
        if at is not None:
            then = moment(at, "at")
            looking = self._derived(branch=self._branch, when=then, known_at=self._known_at)
            return looking._compose(request, record)
        return self._compose(request, record)

    @repeated
    def guard(
        self, messages: Iterable[Mapping[str, Any]], *, budget: int | None = None
    ) -> GuardedMessages:
        """Messages for a model without what no longer holds, in the shape in which they are given.

        For an agent that sends its own transcript: every value that only facts out of office hold
        is cut, and a message that says nothing else is left out. Everything else stays as it is,
        and so do the application's own messages ("system", "developer"). With a budget the oldest
        that do not fit are left out too; calls of tools stay with their results.
        """
        found = check_messages(messages)
        latest = latest_of(found)
        said = stretches(found[latest]) if latest >= 0 else ()
        query = " ".join(text_of(one.value) for one in said)[:LONGEST_QUERY]
        request = check_request(query, 0 if budget is None else budget, "balanced")
        look = self._looking(found, request)
        return guard(found, look, counter(self._resources.settings.tokenizer), budget)

    def _looking(self, messages: Messages, request: Request) -> Look:
        """What tells what is left of each text of these messages."""
        from incumbent.composing.guarding import MessageBuilder, as_items, looking

        environment = self._resources.environment.clock(self._when or self._now())
        outpaced = 0
        while True:
            try:
                with self._reading() as (reader, lens):
                    items = as_items(messages, self._desk(reader, lens), lens.when)
                    builder = MessageBuilder(
                        reader,
                        lens,
                        self._resources.index,
                        request,
                        environment,
                        list(items.values()),
                        (),
                        1.0,
                    )
                    return looking(items, *builder.dead_in_items())
            except Outpaced:
                outpaced = self._outpaced(outpaced)

    def _compose(self, request: Request, record: bool | None) -> Context:
        self._check_open()
        settings = self._resources.settings
        if self.rereader is not None and self._when is None:
            self.rereader.wait_for(self.identity)
        share = request.profile.share
        share = settings.fact_share if share is None else share
        material, at = self._gathered(request, share)
        count = counter(settings.tokenizer)
        context = assemble(material, request, share=share, at=at, count=count)
        wanted = settings.record_contexts if record is None else record
        if wanted and not self._rehearses:
            self._record(context)
        return context

    def _gathered(self, request: Request, share: float) -> tuple[Material, datetime]:
        """Everything that a context is made from, and as of when."""
        from incumbent.composing.material import MaterialBuilder  # brings numpy, for contexts only
        from incumbent.composing.sheets import SHEETS

        # Before the store is opened: a provider may want to read it, and may take its time.
        providers = self._resources.environment
        now = self._when or self._now()
        environment = providers.clock(now) if self._when else providers.read(now)
        index, erasures = self._resources.index, SHEETS.forgotten
        is_fresh = self._when is not None or not self._resources.settings.indexing
        outpaced = 0
        while True:
            try:
                with self._reading() as (reader, lens):
                    if not is_fresh and not index.is_current(reader):
                        raise _Outdated
                    desk = [] if self._when else self._seen_desk(reader, lens, to_show=True)
                    if not request.conversation:
                        desk = [item for item in desk if not is_turn(item)]
                    given = (request, environment, desk, self._frame(), share)
                    material = MaterialBuilder(reader, lens, index, *given).material()
                    if SHEETS.forgotten != erasures:
                        SHEETS.forget()  # this reader may have seen what was erased meanwhile
                    return material, lens.when
            except Outpaced:
                outpaced = self._outpaced(outpaced)
            except _Outdated:
                # Made anew; where that cannot be, the context does without.
                is_fresh = True
                with suppress(ReadOnlyStore):
                    self._reindex(self.identity.organization)

    def _outpaced(self, before: int) -> int:
        """Count the readers that were behind; after many, give up what they were behind of."""
        if (before + 1) % _PATIENCE == 0:
            self._resources.index.forget()
        return before + 1

    # Telemetry is told of these as of the methods of Memory that have their names.

    @tells
    @repeated
    def _record(self, context: Context) -> Receipt:
        return self._resources.record(context)

    @tells
    def _reindex(self, organization: str) -> int:
        return self._resources.reindex(organization)

    def _frame(self) -> list[str]:
        """The lines on where a model is: a task, a branch, a look at the past."""
        branch = (self._branch[0].value, self._branch[1]) if self._branch else None
        ahead = self._when is not None and self._when > self._now()
        return list(frame_lines(task=self.task_id, branch=branch, when=self._when, ahead=ahead))

    @repeated
    def receipts(self, *, limit: int = 100) -> list[Receipt]:
        """The receipts of this person's contexts that were kept, newest first.

        Not those that show what this session may not see.
        """
        if type(limit) is not int or not 0 < limit <= _MOST_RECEIPTS:
            raise InvalidInput(f"limit must be from 1 to {_MOST_RECEIPTS:,}, not {limit!r:.80}")
        with self._reading() as (reader, lens):
            kept = map(receipts.read, reader.receipts(self.identity.user_id, limit))
            return receipts.shown_to(reader, lens, list(kept))


class _Outdated(Exception):
    """Raised if the index is missing, or has another recipe."""


def _lifetime(ttl: timedelta | float | None) -> timedelta | None:
    """A time to live as a timedelta, checked."""
    if ttl is None:
        return None
    if isinstance(ttl, timedelta):
        seconds = ttl.total_seconds()
    elif isinstance(ttl, int | float) and not isinstance(ttl, bool):
        seconds = ttl if ttl > _LONGEST.total_seconds() else float(ttl)
    else:
        raise InvalidInput(f"ttl must be a timedelta or seconds, not {type(ttl).__name__}")
    if not 0 < seconds <= _LONGEST.total_seconds():  # not-a-number fails this too
        raise InvalidInput(f"ttl must be positive and at most {_LONGEST.days} days, not {ttl!r}")
    return timedelta(seconds=seconds)
