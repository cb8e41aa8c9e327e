"""Entering a candidate: carrying out the judgement and its consequences.

The same steps run when a fact is first written and when an undo replays the log without one of its
entries. Therefore "undone" means exactly "as if it had never been said".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from incumbent.engine.workspace import Workspace
from incumbent.model.authority import Ladder
from incumbent.model.fact import Fact, Status
from incumbent.model.verdict import Outcome, Rule
from incumbent.rules import office
from incumbent.rules.contingency import is_due
from incumbent.rules.supersession import UNOPPOSED, Judgement, Situation, judge
from incumbent.rules.temporal import place


@dataclass
class Entered:
    """The result of entering a candidate."""

    judgement: Judgement
    fact: Fact
    """The candidate as it stands now, or the incumbent it confirmed."""
    superseded: tuple[str, ...] = ()
    activated: list[str] = field(default_factory=list)
    displaced: list[str] = field(default_factory=list)
    overruled_by: str | None = None


def enter(
    workspace: Workspace,
    candidate: Fact,
    ladder: Ladder,
    *,
    targets: tuple[Fact, ...] = (),
    around: tuple[Fact, ...] = (),
    beneath: tuple[Fact, ...] = (),
    beside: Collection[str] = (),
    confidence: float = 1.0,
    contest_below: float = 0.0,
    asks_first: bool = False,
    approving: bool = False,
    replaying: bool = False,
) -> Entered:
    """Judge a candidate, whose tenure is blank, and carry the judgement out.

    Facts of the audiences in `beside` are not in its way: its writer may not see them.
    """
    seats = workspace.seats(candidate, beside)
    departed = workspace.departed(candidate, beside)
    opposed = seats or targets or around or departed or beneath
    if not opposed and candidate.when_superseded is None and not asks_first:
        return Entered(UNOPPOSED, workspace.put(office.install(candidate)))
    situation = Situation(
        seats=seats,
        targets=targets,
        around=around,
        beneath=beneath,
        departed=departed,
        confidence=confidence,
        contest_below=contest_below,
        asks_first=asks_first,
        approving=approving,
        replaying=replaying,
    )
    judgement = judge(candidate, situation, ladder)
    entered = Entered(judgement, candidate)
    if judgement.outcome is Outcome.CONFIRMED:
        assert judgement.against is not None
        entered.fact = workspace.put(
            office.confirm(judgement.against, candidate.authority, said_at(candidate), ladder)
        )
    elif judgement.rule is Rule.APPROVAL:
        entered.fact = workspace.put(office.turn_away(candidate, Status.WAITING))
    elif judgement.outcome is Outcome.WAITING:
        await_departure(workspace, candidate, ladder, entered)
        entered.fact = workspace.need(candidate.id)
    elif judgement.outcome is Outcome.OVERRULED:
        entered.fact = workspace.put(office.turn_away(candidate, Status.OVERRULED))
    elif judgement.outcome is Outcome.CONTESTED:
        entered.fact = workspace.put(office.turn_away(candidate, Status.CONTESTED))
    elif judgement.past:
        entered.fact = workspace.put(office.lapse(office.install(candidate)))
    elif judgement.late:
        _file_late(workspace, candidate, judgement, ladder, entered, beside)
        entered.fact = workspace.need(candidate.id)
    else:
        _take_office(workspace, candidate, judgement, entered)
        follow_departures(workspace, [*judgement.retires, *judgement.lapsed], ladder, entered)
        entered.fact = workspace.need(candidate.id)
    return entered


def await_departure(
    workspace: Workspace, candidate: Fact, ladder: Ladder, entered: Entered
) -> None:
    """File a contingent fact. If its base has left, or is known to leave, it is due then."""
    waiting = office.turn_away(candidate, Status.WAITING)
    workspace.put(waiting.evolve(awaits=candidate.when_superseded))
    base = workspace.get(candidate.when_superseded or "")
    if base is not None and base.status not in (Status.OFFICE, Status.ERASED):
        follow_departures(workspace, [base], ladder, entered)


def said_at(candidate: Fact) -> datetime:
    """The moment of a restatement; a date in the future does not make it newer than it is."""
    return min(candidate.order, candidate.recorded_at)


def accept(
    workspace: Workspace,
    contested: Fact,
    named: tuple[Fact, ...],
    ladder: Ladder,
    beside: Collection[str] = (),
) -> Entered:
    """Let a contested candidate take office after all, in place of the present holder.

    `named` are the facts that it named as superseded and that are in office.
    """
    rivals = () if contested.multi_valued else workspace.incumbents(contested, beside)
    targets = tuple({fact.id: fact for fact in (*named, *rivals)}.values())
    return enter(
        workspace,
        office.unborn(contested),
        ladder,
        targets=targets,
        beside=beside,
        replaying=True,
    )


def approve(
    workspace: Workspace,
    waiting: Fact,
    named: tuple[Fact, ...],
    ladder: Ladder,
    *,
    around: tuple[Fact, ...] = (),
    beneath: tuple[Fact, ...] = (),
    beside: Collection[str] = (),
) -> Entered:
    """Judge a candidate that has waited for approval, as of when it was said.

    `named` are the facts that it named as superseded, as they stand now. One that waited as well
    goes with that: it was corrected before anybody approved it.
    """
    for other in named:
        if other.is_unapproved:
            depart(workspace, other, Status.DISCARDED, workspace.now)
    blank = office.unborn(waiting)
    if blank.when_superseded is not None:
        entered = Entered(Judgement(Outcome.WAITING, Rule.CONTINGENCY), blank)
        await_departure(workspace, blank, ladder, entered)
        entered.fact = workspace.need(blank.id)
        return entered
    return enter(
        workspace,
        blank,
        ladder,
        targets=tuple(one for one in named if one.is_valid and one.order <= blank.order),
        around=around,
        beneath=beneath,
        beside=beside,
        approving=True,
        replaying=True,
    )


def depart(workspace: Workspace, fact: Fact, status: Status, at: datetime) -> None:
    """Take a fact out of office with no successor.

    If it was to make room for a later fact, the link between them goes. If it had not begun yet,
    the facts that were to make room for it stay.
    """
    _let_go(workspace, fact)
    fact = fact.evolve(superseded_by=None)
    if fact.started_at is None or fact.started_at <= at:
        workspace.put(office.leave(fact, status, at))
        return
    workspace.put(office.leave(fact, status, at).evolve(predecessors=()))
    for earlier in fact.predecessors:
        before = workspace.need(earlier)
        if before.status is Status.SUPERSEDED:
            workspace.put(office.reinstate(before))
        elif before.status is Status.ERASED:
            workspace.put(before.evolve(superseded_by=None))


def end_of_term(fact: Fact, said: datetime, now: datetime) -> datetime:
    """The end of a retracted fact: the moment of the retraction.

    It is never later than now, and never before the fact began, if it has begun.
    """
    begun = fact.started_at if fact.started_at is not None and fact.started_at <= now else None
    end = min(said, now)
    return end if begun is None else max(end, begun)


def _let_go(workspace: Workspace, fact: Fact) -> None:
    """Take a fact off the predecessors of the one that was to supersede it."""
    other = workspace.get(fact.superseded_by) if fact.superseded_by else None
    if other is not None:
        kept = tuple(earlier for earlier in other.predecessors if earlier != fact.id)
        workspace.put(other.evolve(predecessors=kept))


def _take_office(
    workspace: Workspace,
    candidate: Fact,
    judgement: Judgement,
    entered: Entered,
    *,
    started_at: datetime | None = None,
) -> None:
    for fact in judgement.lapsed:
        workspace.put(office.lapse(fact))
    predecessors = tuple(fact.id for fact in judgement.retires)
    installed = workspace.put(office.install(candidate, predecessors, started_at=started_at))
    for fact in judgement.retires:
        _let_go(workspace, fact)
        workspace.put(office.retire(workspace.need(fact.id), installed))
    entered.superseded = predecessors
    follower = judgement.follower
    if follower is not None:
        workspace.put(office.retire(installed, follower))
        follower = workspace.need(follower.id)
        workspace.put(follower.evolve(predecessors=(installed.id, *follower.predecessors)))
    elif not candidate.multi_valued and _is_shared(workspace, installed):
        # Its own term ends before the next one's begins, who keeps the seat.
        workspace.put(office.lapse(installed))


def _is_shared(workspace: Workspace, installed: Fact) -> bool:
    """Whether another fact holds the very office that a fact has taken."""
    there = workspace.incumbents(installed)
    return sum(fact.audience == installed.audience for fact in there) > 1


def _file_late(
    workspace: Workspace,
    candidate: Fact,
    judgement: Judgement,
    ladder: Ladder,
    entered: Entered,
    beside: Collection[str],
) -> None:
    """Put a late candidate behind the newer fact that supersedes it, in its place in the chain.

    That newer fact may have left since. The value it replaced does not come back, late or not.
    """
    incumbent = judgement.against
    assert incumbent is not None
    timeline = workspace.timeline(candidate, beside)
    position = place(candidate, incumbent, timeline, ladder)
    if position.overruled_by is not None:
        entered.overruled_by = position.overruled_by.id
        workspace.put(office.turn_away(candidate, Status.OVERRULED))
        return
    after, before = position.after, position.before
    filed = office.install(candidate, (after.id,) if after else ())
    filed = office.retire(filed, before)
    if after is not None and after.status is Status.RETRACTED and after.ended_at is not None:
        # The retraction then was of the holder, which would have been this fact.
        filed = filed.evolve(ended_at=min(after.ended_at, filed.ended_at or after.ended_at))
    workspace.put(filed)
    kept = tuple(i for i in before.predecessors if after is None or i != after.id)
    workspace.put(before.evolve(predecessors=(filed.id, *kept)))
    if after is not None:
        workspace.put(office.retire(after, filed))
        entered.superseded = (after.id,)
    judgement.evidence.update(late=True, superseded_by=before.id)


def follow_departures(
    workspace: Workspace, departed: list[Fact], ladder: Ladder, entered: Entered
) -> None:
    """Let contingent facts take office as their bases leave it, to any depth."""
    queue = deque(departed)
    while queue:
        base = queue.popleft()
        base = workspace.need(base.id)
        successor = workspace.get(base.superseded_by) if base.superseded_by else None
        for waiting in workspace.waiting_on(base.id):
            if successor is None and waiting.source.becomes:
                continue  # it is gone, and became nothing
            if successor is not None and not is_due(waiting, base, successor):
                # Renewed on other terms, or become something else: go on waiting, for that one.
                workspace.put(waiting.evolve(awaits=successor.id))
                if successor.status is Status.SUPERSEDED:
                    queue.append(successor)
            else:
                queue.extend(_activate(workspace, waiting, base, ladder, entered))


def _activate(
    workspace: Workspace, waiting: Fact, base: Fact, ladder: Ladder, entered: Entered
) -> tuple[Fact, ...]:
    """Enter a contingent fact at the moment its base left. Returns the facts it retires."""
    since = max(base.until or waiting.valid_from, waiting.valid_from)
    candidate = office.unborn(waiting)
    # Judged as said at the moment it takes effect, so that it is not late to its own cue.
    dated = candidate.evolve(timestamp=since, recorded_at=since, valid_from=since)
    # Nobody is there to say what they may see: only those of its own audience make room for it.
    others = {fact.audience for fact in workspace.seats(candidate)} - {candidate.audience}
    situation = Situation(seats=workspace.seats(candidate, others), replaying=True)
    judgement = judge(dated, situation, ladder)
    if judgement.outcome is Outcome.OVERRULED:
        workspace.put(office.turn_away(candidate, Status.OVERRULED))
        return ()
    activation = Entered(judgement, candidate)
    _take_office(workspace, candidate, judgement, activation, started_at=since)
    entered.activated.append(candidate.id)
    entered.displaced.extend(activation.superseded)
    return (*judgement.retires, *judgement.lapsed)
