"""Session: what one identity does with the memory. Load, let the rules decide, commit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import replace
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tenure.composing import receipts
from tenure.context.assembly import assemble
from tenure.context.document import Context
from tenure.context.receipt import Receipt
from tenure.context.rendering import frame_lines
from tenure.context.request import Request, check_request
from tenure.context.tokens import counter
from tenure.engine import reviews
from tenure.engine.lens import Lens, foremost, matching
from tenure.engine.proposal import Proposal, check_key, check_reason, propose
from tenure.engine.queries import explain, find_any, with_derived
from tenure.engine.registrar import Registrar
from tenure.engine.retries import repeated
from tenure.engine.undo import undo
from tenure.model.errors import (
    InvalidInput,
    NotPermitted,
    ReadOnlySession,
    ReadOnlyStore,
    SessionClosed,
    UnknownFact,
)
from tenure.model.fact import Fact, Source, Status
from tenure.model.identity import Identity, check_name
from tenure.model.ids import new_id
from tenure.model.records import (
    Chain,
    Declaration,
    Environment,
    ErasureRequest,
    Explanation,
    Review,
    WorkingItem,
)
from tenure.model.scope import EVERYWHERE, Place, Scope
from tenure.model.times import moment
from tenure.model.values import canonical
from tenure.model.verdict import Rule, Verdict
from tenure.search.analysis import sentence
from tenure.search.index import OUTDATED, Outpaced
from tenure.stores.port import Reader
from tenure.telemetry.traced import told

if TYPE_CHECKING:
    from tenure.memory import Memory
    from tenure.observing.observation import Observation
    from tenure.observing.waiting import Conversation, Waiting

UNSET: Any = object()
_LONGEST = timedelta(days=36525)
_MOST_RECEIPTS = 10_000
_RETRACTABLE = (Status.OFFICE, Status.CONTESTED, Status.WAITING)


@told(but=("hypothetical", "draft", "as_of"))
class Session:
    """One identity at work. Get one from `memory.session(...)`; it is cheap and thread-safe.

    A branch (`hypothetical()`, `draft()`) and a look at the past (`as_of()`) are sessions too.
    """

    def __init__(
        self,
        memory: Memory,
        identity: Identity,
        *,
        session_id: str,
        task_id: str | None = None,
        parent: Session | None = None,
        branch: Place | None = None,
        when: datetime | None = None,
        known_at: datetime | None = None,
    ) -> None:
        self.identity = identity
        self.session_id = session_id
        self.task_id = task_id
        self.may_erase: bool = parent.may_erase if parent is not None else True
        """Whether a turn that asks for something to be forgotten has it erased, and not only taken
        back. A service lets only those erase who may."""
        self._memory = memory
        self._telemetry = memory._telemetry
        self._parent = parent
        self._branch = branch
        self._when = when
        self._known_at = known_at
        self._closed: str | None = None
        self._places = self._applying()
        self._owners = (identity.user_id, "")

    def _applying(self) -> tuple[Place, ...]:
        """The scopes that apply here, narrowest first."""
        if self._branch is not None:
            assert self._parent is not None
            return (self._branch, *self._parent._places)
        places: list[Place] = [(Scope.SESSION, self.session_id)]
        if self.task_id is not None:
            places.append((Scope.TASK, self.task_id))
        return (*places, EVERYWHERE)

    def _caller(self) -> tuple[str, str, str]:
        """Who calls, for telemetry."""
        return self.identity.organization, self.identity.user_id, self.session_id

    # writing

    @repeated
    def write(
        self,
        key: str,
        value: Any,
        *,
        subject: str | None = None,
        supersedes: str | None = None,
        scope: str = "global",
        scope_id: str | None = None,
        depends_on: Iterable[str] = (),
        when_superseded: str | None = None,
        source: str | Source | None = None,
        authority: str | None = None,
        memory_type: str | None = None,
        is_constraint: bool | None = None,
        constraint_type: str | None = None,
        requires: Iterable[str] = (),
        min_authority: str | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        at: datetime | None = None,
        id: str | None = None,
        confidence: float = 1.0,
    ) -> Verdict:
        """State a fact, and learn what became of it: `verdict.outcome`, `.rule`, `.fact`.

        `supersedes`, `depends_on` and `when_superseded` take ids or keys. `at` is when it was said,
        `valid_from` and `valid_until` when it is true. When this returns, the decision is durable.
        """
        proposal = propose(
            self._memory.settings,
            key,
            value,
            subject=subject,
            supersedes=supersedes,
            scope=scope,
            scope_id=scope_id,
            depends_on=depends_on,
            when_superseded=when_superseded,
            source=source,
            authority=authority,
            memory_type=memory_type,
            is_constraint=is_constraint,
            constraint_type=constraint_type,
            requires=requires,
            min_authority=min_authority,
            valid_from=valid_from,
            valid_until=valid_until,
            at=at,
            id=id,
            confidence=confidence,
        )
        placed = self._placed(proposal)
        self._prepare((placed,))
        with self._registrar() as registrar:
            return registrar.propose(placed)

    def _prepare(self, proposals: Iterable[Proposal]) -> None:
        """Work out meanings before it is our turn to write: others need not wait for that."""
        self._check_open()
        if self._memory.settings.indexing and self._when is None:
            self._memory.index.prepare(sentence(p.key, p.subject, p.value) for p in proposals)

    def write_many(self, writes: Iterable[Mapping[str, Any]]) -> list[Verdict]:
        """Several writes in one transaction, in order: all of them, or none.

        Each is a mapping of the arguments of `write`. Later ones see earlier ones.
        """
        proposals = []
        for index, arguments in enumerate(writes):
            try:
                proposal = propose(self._memory.settings, **arguments)
                proposals.append(self._placed(proposal))
            except InvalidInput as error:
                raise type(error)(f"write {index}: {error}") from error
            except TypeError as error:
                raise InvalidInput(
                    f"write {index}: {str(error).replace('propose()', 'write()')}"
                ) from None
        self._prepare(proposals)
        return self._write_all(proposals)

    @repeated
    def _write_all(self, proposals: Sequence[Proposal]) -> list[Verdict]:
        verdicts = []
        with self._registrar() as registrar:
            for index, proposal in enumerate(proposals):
                try:
                    verdicts.append(registrar.propose(proposal))
                except (InvalidInput, NotPermitted) as error:
                    raise type(error)(f"write {index}: {error}") from error
        return verdicts

    def _placed(self, proposal: Proposal) -> Proposal:
        """Fill in where a proposal goes: the branch, the task, the session."""
        if self._branch is not None:
            if proposal.scope is not Scope.GLOBAL:
                raise InvalidInput(
                    f"inside a branch every write belongs to the branch; "
                    f"leave out scope={proposal.scope.value!r}"
                )
            return reviews.placed(proposal, *self._branch)
        if proposal.scope is Scope.GLOBAL:
            if proposal.scope_id is not None:
                raise InvalidInput(
                    f"scope_id {proposal.scope_id!r} needs a scope; add scope='task' or another"
                )
            return proposal
        defaults = {Scope.TASK: self.task_id, Scope.SESSION: self.session_id}
        scope_id = proposal.scope_id or defaults.get(proposal.scope, "default")
        if scope_id is None:
            raise InvalidInput("scope='task' needs a scope_id, or a session opened with a task_id")
        return reviews.placed(proposal, proposal.scope, scope_id)

    @contextmanager
    def _registrar(self) -> Iterator[Registrar]:
        self._check_open()
        if self._when is not None:
            raise ReadOnlySession(
                f"this session looks at {self._when.isoformat()}, and the past takes no writes; "
                f"use the session it came from"
            )
        with self._memory.store.write(self.identity.organization) as transaction:
            # Read the clock only once it is our turn: queueing must not make a write look late.
            registrar = Registrar(transaction, self._lens())
            yield registrar
            if registrar.touched:
                self._keep(registrar)
        self._memory._bells.ring()

    def _keep(self, registrar: Registrar) -> None:
        """Keep the index in step with what was decided, in the same transaction."""
        transaction = registrar.transaction
        if self._memory.settings.indexing:
            self._memory.index.keep(
                transaction,
                registrar.touched.values(),
                registrar.now,
                first=registrar.is_first,
            )
        elif transaction.recipe() is not None:
            transaction.set_recipe(OUTDATED)

    # observing

    def observe(
        self,
        text: str,
        *,
        speaker: str = "user",
        at: datetime | None = None,
        ref: str | None = None,
        authority: str | None = None,
    ) -> Observation:
        """Take in a turn of conversation: `observation.facts`, `.verdicts`, `.statements`.

        What the speaker commits to becomes facts, and values it replaces leave office; what-ifs,
        questions and what others are said to have said do not. `speaker` is "user" for the person
        whose session it is, "assistant" for the model, whose turns are context and nobody's word,
        or the name of somebody else. `at` is when it was said; `ref` is your own id for the turn:
        the same turn with the same ref changes nothing.
        """
        taken = self._take_in(text, speaker=speaker, at=at, ref=ref, authority=authority)
        return self._follow([taken])[0]

    @repeated
    def _take_in(self, text: str, **given: Any) -> tuple[Observation, Waiting | None]:
        """Observe a turn offline; also gives what it takes to ask a model about it, if any."""
        from tenure.observing.observer import Observer, hear  # language data, which only this needs

        self._check_open()
        memory, now = self._memory, self._memory.now()
        said = {"speaker": "user", "at": None, "ref": None, "authority": None, **given}
        heard = hear(text, now=now, settings=memory.settings, **said)
        with self._registrar() as registrar:
            observer = Observer(
                registrar,
                memory.detector,
                session_id=self.session_id,
                task_id=self.task_id,
                branch=self._branch,
            )
            observation, record = observer.observe(heard)
            if record.wants_all_gone:
                who = self.identity
                asked = ErasureRequest(who.organization, who.user_id, self.may_erase)
                observation = replace(observation, erasure_requested=asked)
            doomed = [
                fact
                for fact_id in dict.fromkeys(record.doomed)
                if (fact := registrar.lens.glimpse(registrar.transaction, fact_id)) is not None
            ]
            if not self.may_erase:
                taken_back = [
                    registrar.retract(fact, at=heard.at)
                    for fact in doomed
                    if fact.status in _RETRACTABLE
                ]
                verdicts = (*observation.verdicts, *taken_back)
                observation, doomed = replace(observation, verdicts=verdicts), []
            erasures = [
                memory._forget_within(
                    registrar.transaction, by=self.identity.user_id, fact_id=fact.id
                )
                for fact in doomed
            ]
        if erasures:
            scrubbed = memory._scrub()
            proofs = tuple(replace(one, scrubbed=scrubbed) for one in erasures)
            return replace(observation, erasures=proofs), None
        if memory._advice is None or record.wants_all_gone:
            return observation, None
        return memory._advice.taken(self._conversation(), heard, observation, record, now)

    def _follow(self, taken: list[tuple[Observation, Waiting | None]]) -> list[Observation]:
        """Have a model look again at turns that were observed, if there is one."""
        if self._memory._advice is None:
            return [observation for observation, _ in taken]
        return self._memory._advice.follow(taken)

    def _conversation(self) -> Conversation:
        """This session for opinions on its turns, which may arrive when it has been closed."""
        from tenure.observing.waiting import Conversation

        here = self if self._branch else copy(self)  # what is open now, whatever becomes of self
        who = (self.identity, self.session_id, self.task_id, self._branch)
        return Conversation(*who, here._reading, here._registrar)

    def observe_many(
        self,
        turns: Iterable[Mapping[str, Any]],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[Observation]:
        """Take in a transcript, turn by turn; each is durable when the next one begins.

        A turn is a mapping with `text` (or `content`) and, if you have them, `speaker` (or
        `role`), `at`, `ref` and `authority`. `progress` is called with how many were taken. After
        an interruption, the same call goes on where it stopped, if the turns have refs.
        """
        from tenure.observing.transcripts import turn_arguments

        observations: list[Observation] = []
        taken: list[tuple[Observation, Waiting | None]] = []
        together = self._memory._advice.batch if self._memory._advice is not None else 1
        for index, turn in enumerate(turns):
            try:
                taken.append(self._take_in(**turn_arguments(turn)))
            except (InvalidInput, NotPermitted) as error:
                self._follow(taken)
                raise type(error)(f"turn {index}: {error}") from error
            if len(taken) >= together:
                observations += self._follow(taken)
                taken = []
            if progress is not None:
                progress(index + 1)
        observations += self._follow(taken)
        return observations

    # reading

    def _lens(self) -> Lens:
        now = self._memory.now()
        return Lens(
            self.identity,
            self._places,
            self._memory.settings,
            when=self._when or now,
            known_at=self._known_at,
            past=self._when is not None,
        )

    @repeated
    def current(self, key: str, subject: str | None = None) -> Any:
        """The value in office, or None. Of a key declared multi-valued, the list of its values.

        Follows a chain to its end: a key whose fact was superseded under another key gives that
        one's value. Of several that turns have put side by side at a key that nobody declared so,
        it is the one at the address itself, else the newest; `facts(key)` has them all.
        """
        self._check_named(key, subject)
        if self._when is None and self._closed is None:
            seen = self._memory.store.glance(
                self.identity.organization, self._owners, self._places, key, subject or ""
            )
            if seen is not None and self._is_plain(key, seen.declarations):
                with suppress(ValueError, TypeError):  # the long way says that a row is damaged
                    return json.loads(seen.value_text)
        with self._reading() as (reader, lens):
            found = lens.led_to(reader, key, subject)
            declared = matching(reader.declarations(), key)
        if found and any(told.multi_valued for told in declared):
            return [fact.value for fact in sorted(found, key=lambda fact: fact.id)]
        return foremost(found).value if found else None

    def _check_named(self, key: str | None, subject: str | None = None) -> None:
        """Refuse what no fact can be called by; plain names pass at once."""
        if key is not None and not (type(key) is str and key and key.isascii()):
            check_name(key, "key or id")
        if subject and not (type(subject) is str and subject.isascii()):
            check_name(subject, "subject")

    def _is_plain(self, key: str, declarations: tuple[Declaration, ...]) -> bool:
        """Whether nothing is declared of a key that makes its value a list, or not for us."""
        return not declarations or all(
            not told.multi_valued and self.identity.permissions.issuperset(told.requires)
            for told in matching(declarations, key)
        )

    @repeated
    def is_current(self, key_or_id: str) -> bool:
        """Whether a fact, or any fact at a key, holds office."""
        self._check_named(key_or_id)
        with self._reading() as (reader, lens):
            if lens.view(reader, key_or_id).effective:
                return True
            fact = lens.glimpse(reader, key_or_id)
            return fact is not None and fact.is_valid and fact.place in lens.places

    @repeated
    def get(self, fact_id: str) -> Fact | None:
        """One fact by its id, whatever its status, or None where there is none to be seen."""
        self._check_named(fact_id)
        with self._reading() as (reader, lens):
            fact = lens.by_id(reader, fact_id)
            return with_derived(reader, lens, [fact])[0] if fact is not None else None

    @repeated
    def facts(self, key: str | None = None, *, subject: str | None = None) -> list[Fact]:
        """The facts this session goes by, newest first: valid, visible, in scope, not shadowed."""
        self._check_named(key, subject)
        with self._reading() as (reader, lens):
            found = lens.view(reader, key, subject).effective
            ordered = sorted(found, key=lambda fact: (fact.order, fact.id), reverse=True)
            return with_derived(reader, lens, ordered)

    @repeated
    def history(self, key: str, subject: str | None = None) -> Chain:
        """The chain of a key, oldest first, with what superseded it under other keys."""
        self._check_named(key, subject)
        with self._reading() as (reader, lens):
            return lens.chain(reader, lens.everything(reader, key, subject or ""))

    @repeated
    def explain(self, key_or_id: str, subject: str | None = None) -> Explanation:
        """Why a fact stands as it does: its chain, every verdict on it, what it rests on."""
        self._check_named(key_or_id, subject)
        with self._reading() as (reader, lens):
            return explain(reader, lens, find_any(reader, lens, key_or_id, subject))

    @contextmanager
    def _reading(self) -> Iterator[tuple[Any, Lens]]:
        self._check_open()
        who = self.identity
        with self._memory.store.read(who.organization, who.user_id) as reader:
            lens = self._lens()
            last = reader.head()[1]
            if not lens.past and last is not None and last > lens.when:
                # The log can be a little ahead of the clock: after a batch, or a clock set back.
                lens.when = last
            yield reader, lens

    # correction and repair

    @repeated
    def retract(
        self,
        key_or_id: str,
        reason: str | None = None,
        *,
        subject: str | None = None,
        at: datetime | None = None,
    ) -> Verdict:
        """Take back a fact with no new value. Its chain ends here, at `at` where that is given."""
        self._check_named(key_or_id, subject)
        check_reason(reason)
        at = None if at is None else moment(at, "at")
        with self._registrar() as registrar:
            fact = registrar.lens.find(registrar.transaction, key_or_id, subject, UnknownFact)
            self._check_retractable(fact)
            return registrar.retract(fact, at=at, reason=reason)

    def _check_retractable(self, fact: Fact) -> None:
        if fact.status not in _RETRACTABLE:
            raise InvalidInput(
                f"{fact.key!r} ({fact.id}) is {fact.status} already; there is nothing to retract"
            )
        self._check_in_branch(fact)

    def _check_in_branch(self, fact: Fact | None) -> None:
        if self._branch is not None and fact is not None and fact.place != self._branch:
            raise InvalidInput(
                f"{fact.key!r} lies outside this branch, and a branch changes nothing real; "
                f"do this in the session itself, or write the value you want to try out"
            )

    @repeated
    def undo(self, verdict: Verdict | str, *, reason: str | None = None) -> Verdict:
        """Let everything stand as if a verdict had not been made. Undoing that brings it back."""
        verdict_id = verdict.id if isinstance(verdict, Verdict) else check_name(verdict, "verdict")
        check_reason(reason)
        with self._registrar() as registrar:
            if self._branch is not None:
                undone = registrar.transaction.verdict(verdict_id)
                if undone is not None:
                    self._check_in_branch(registrar.transaction.fact(undone.fact_id))
            return undo(registrar, verdict_id, reason=reason)

    @repeated
    def revert(
        self, key_or_id: str, to: str | None = None, *, subject: str | None = None
    ) -> Verdict:
        """Go back to an earlier value: that of fact `to`, or the last different one."""
        self._check_named(key_or_id, subject)
        self._check_named(to)
        with self._registrar() as registrar:
            return reviews.revert(registrar, key_or_id, to, subject, self._branch)

    @repeated
    def promote(self, key_or_id: str, *, subject: str | None = None) -> Verdict:
        """Give a fact of a narrower scope the wider one: what held in a task, everywhere."""
        self._check_named(key_or_id, subject)
        with self._registrar() as registrar:
            if self._branch is not None:
                raise InvalidInput("inside a branch, commit() makes facts real")
            fact = registrar.lens.by_id(registrar.transaction, key_or_id) or registrar.lens.find(
                registrar.transaction, key_or_id, subject, UnknownFact
            )
            if fact.scope is Scope.GLOBAL or not fact.is_valid:
                standing = "global already" if fact.is_valid else f"{fact.status}, not in office"
                raise InvalidInput(f"{fact.key!r} ({fact.id}) is {standing}")
            return reviews.take_over(registrar, fact, EVERYWHERE, {})

    @repeated
    def reviews(self) -> list[Review]:
        """What wants a decision: facts whose bases changed, and contested statements."""
        with self._reading() as (reader, lens):
            return reviews.reviews(reader, lens)

    @repeated
    def resolve(
        self,
        fact_id: str,
        value: Any = UNSET,
        *,
        still_right: bool = False,
        retract: bool = False,
        reason: str | None = None,
    ) -> Verdict:
        """Settle a review: with a new value, as still right, or by taking the fact back."""
        if (value is not UNSET) + bool(still_right) + bool(retract) != 1:
            raise InvalidInput("resolve takes exactly one of: a value, still_right, retract")
        self._check_named(fact_id)
        check_reason(reason)
        if value is not UNSET:
            canonical(value, limit=self._memory.settings.max_value_bytes)
        with self._registrar() as registrar:
            fact = reviews.under_review(registrar, fact_id)
            self._check_in_branch(fact)
            if retract:
                return registrar.retract(fact, rule=Rule.REVIEW, reason=reason)
            if value is not UNSET:
                return reviews.recalculate(registrar, fact, value, reason)
            if fact.status is Status.CONTESTED:
                return registrar.accept(fact, reason=reason)
            return registrar.acknowledge(fact, reason=reason)

    # branches and the past

    def hypothetical(self, name: str | None = None) -> Session:
        """A "what if": a session whose writes stay in their own branch until committed."""
        return self._branched(Scope.HYPOTHETICAL, name)

    def draft(self, name: str | None = None) -> Session:
        """A proposal: like a hypothetical, meant to be committed."""
        return self._branched(Scope.DRAFT, name)

    def _branched(self, scope: Scope, name: str | None) -> Session:
        self._check_open()
        if self._when is not None:
            raise ReadOnlySession("a branch of the past could not be committed")
        branch_id = check_name(name or new_id(self._memory.now()), "name")
        return self._derived(branch=(scope, branch_id))

    @repeated
    def commit(self) -> list[Verdict]:
        """Put the branch's facts forward for real, judged like any others, and close it."""
        branch, parent = self._need_branch()
        place = parent._branch or EVERYWHERE
        with self._registrar() as registrar:
            verdicts = reviews.commit(registrar, branch, place)
        self._closed = "this branch was committed; draft() or hypothetical() opens another"
        return verdicts

    @repeated
    def discard(self) -> list[Verdict]:
        """Drop the branch's facts and close it."""
        branch, _ = self._need_branch()
        with self._registrar() as registrar:
            verdicts = [
                registrar.retract(fact, rule=Rule.DISCARD)
                for fact in reviews.of_branch(registrar, branch)
            ]
        self._closed = "this branch was discarded; draft() or hypothetical() opens another"
        return verdicts

    def _need_branch(self) -> tuple[Place, Session]:
        self._check_open()
        if self._branch is None or self._parent is None:
            raise InvalidInput(
                "this session is no branch; session.draft() and session.hypothetical() make one"
            )
        return self._branch, self._parent

    def as_of(self, when: datetime, *, known_at: datetime | None = None) -> Session:
        """A read-only session: what was true at `when`, as known at `known_at` (default: now)."""
        self._check_open()
        return self._derived(
            branch=self._branch,
            when=moment(when, "when"),
            known_at=None if known_at is None else moment(known_at, "known_at"),
        )

    def _derived(
        self,
        *,
        branch: Place | None,
        when: datetime | None = None,
        known_at: datetime | None = None,
    ) -> Session:
        parent = self._parent if when is not None else self
        return Session(
            self._memory,
            self.identity,
            session_id=self.session_id,
            task_id=self.task_id,
            parent=parent,
            branch=branch,
            when=when,
            known_at=known_at,
        )

    # layers 3 and 4, and the context

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
        settings = self._memory.settings
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
        """What is on this session's desk and has not expired, oldest first."""
        with self._reading() as (reader, lens):
            return self._desk(reader, lens)

    @property
    def environment(self) -> Environment:
        """The environment, read afresh."""
        self._check_open()
        return self._memory.environment.read(self._when or self._memory.now())

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
        record: bool | None = None,
    ) -> Context:
        """What a model should read for this query: identity, environment, facts, working set.

        Only what is current and may be seen; never more than `budget` tokens. `style` "annotated"
        adds ids, dates and sources; `history` a section of what was true before; `at` gives the
        context of that moment. With `explain` every fact left out is named, however many they are;
        with `record` the receipt is kept, for `memory.replay`.
        """
        request = check_request(query, budget, profile, style, history, explain)
        if at is not None:
            looking = self.as_of(moment(at, "at"), known_at=self._known_at)
            return looking._compose(request, record)
        return self._compose(request, record)

    def _compose(self, request: Request, record: bool | None) -> Context:
        self._check_open()
        from tenure.composing.material import (
            MaterialBuilder,  # brings numpy, which only contexts need
        )

        settings = self._memory.settings
        share = request.profile.share
        share = settings.fact_share if share is None else share
        # Before the store is opened: a provider may want to read it, and may take its time.
        providers = self._memory.environment
        now = self._when or self._memory.now()
        environment = providers.clock(now) if self._when else providers.read(now)
        is_fresh = self._when is not None or not settings.indexing
        while True:
            try:
                with self._reading() as (reader, lens):
                    if not is_fresh and not self._memory.index.is_current(reader):
                        raise _Outdated
                    builder = MaterialBuilder(
                        reader,
                        lens,
                        self._memory.index,
                        request,
                        environment,
                        () if self._when else self._desk(reader, lens),
                        self._frame(),
                        share,
                    )
                    material = builder.material()
            except Outpaced:
                continue
            except _Outdated:
                # Made anew; where that cannot be, the context does without.
                is_fresh = True
                with suppress(ReadOnlyStore):
                    self._memory.reindex(self.identity.organization)
                continue
            break
        count = counter(settings.tokenizer)
        context = assemble(material, request, share=share, at=lens.when, count=count)
        if settings.record_contexts if record is None else record:
            self._memory.record(context)
        return context

    def _frame(self) -> list[str]:
        """What a model has to know about where it is: a task, a branch, a look at the past."""
        branch = (self._branch[0].value, self._branch[1]) if self._branch else None
        ahead = self._when is not None and self._when > self._memory.now()
        return list(frame_lines(task=self.task_id, branch=branch, when=self._when, ahead=ahead))

    def _desk(self, reader: Reader, lens: Lens) -> list[WorkingItem]:
        items = reader.working_items(self.identity.user_id, self.session_id)
        return [item for item in items if not item.expired(lens.when)]

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

    # the end

    @repeated
    def close(self) -> None:
        """End the session: its working set is gone."""
        if self._closed is None and self._when is None and self._branch is None:
            with self._memory.store.write(self.identity.organization) as transaction:
                transaction.drop_items(user_id=self.identity.user_id, session_id=self.session_id)
        self._closed = self._closed or (
            "this session was closed; start another with memory.session(...)"
        )

    def _check_open(self) -> None:
        if self._closed is not None:
            raise SessionClosed(self._closed)

    def __repr__(self) -> str:
        who = self.identity
        where = f", {self._branch[0]} {self._branch[1]!r}" if self._branch else ""
        return f"<Session of {who.user_id!r} ({who.authority.rung}) in {who.organization!r}{where}>"

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Outdated(Exception):
    """The index is missing, or was made in another way."""


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
