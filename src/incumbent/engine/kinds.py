"""Kinds: the memory of a candidate, the people it binds, and whether its writer may say so.

Speaking for the organization is always on purpose: by naming its memory, a system of record as the
source, or a fact of the organization as the target, and by the highest rungs if they write
constraints. A writer without that right is refused; a statement that was only read off a turn of
conversation stays the speaker's own.
"""

from __future__ import annotations

from typing import NamedTuple

from incumbent.engine.proposal import Proposal
from incumbent.model.authority import Authority, Ladder
from incumbent.model.errors import InvalidInput, NotPermitted
from incumbent.model.fact import CAPABILITY, Fact, MemoryType, Source
from incumbent.model.identity import BIND, SPEAK, Identity
from incumbent.rules.authority import may_bind, may_speak
from incumbent.rules.classification import classify_constraint, classify_memory, rules_for_all
from incumbent.settings import Settings

# Members of an enum, looked up once: every write asks for them.
_ORGANIZATIONAL, _CAPABILITY = MemoryType.ORGANIZATIONAL, MemoryType.CAPABILITY


class Kind(NamedTuple):
    """The memory of a fact, the people it binds, and the conditions on its readers."""

    memory_type: MemoryType
    constraint: str | None
    requires: tuple[str, ...]
    is_shared: bool
    """Whether it belongs to no single person."""


def kind_of(
    proposal: Proposal,
    source: Source,
    authority: Authority,
    rung: str,
    targets: tuple[Fact, ...],
    identity: Identity,
    settings: Settings,
) -> Kind:
    """The kind of a proposal. Raises NotPermitted for a statement for others without the right to
    it.

    `authority` is the authority it is said with, `rung` the one that is left if it was derived.
    """
    constraint = _constraint(proposal, source, rung, settings)
    memory_type = proposal.memory_type
    if memory_type is None:
        memory_type = _worked_out(proposal, source, rung, constraint, targets, settings)
    if memory_type is _ORGANIZATIONAL:
        if may_speak(identity, authority, settings.speaking_rung, settings.ladder):
            bound = _binding(proposal, constraint, authority, identity, settings)
            return Kind(memory_type, bound, proposal.requires, True)
        if proposal.memory_type is None and (proposal.spoken or targets):
            memory_type = MemoryType.USER
        else:
            raise _not_for_all(proposal, identity, authority, settings)
    if memory_type is _CAPABILITY:
        name = _capability(proposal, targets, identity)
        requires = tuple(sorted({*proposal.requires, f"{CAPABILITY}{name}"}))
        return Kind(memory_type, None, requires if name else proposal.requires, bool(name))
    return Kind(memory_type, constraint, proposal.requires, False)


def _worked_out(
    proposal: Proposal,
    source: Source,
    rung: str,
    constraint: str | None,
    targets: tuple[Fact, ...],
    settings: Settings,
) -> MemoryType:
    """The memory of a proposal that does not name one.

    A proposal that names its target belongs to the target's memory. One that merely meets a fact of
    the organization stays its writer's own: otherwise the writer of that fact could have private
    things said to everybody.
    """
    if targets:
        return targets[-1].memory_type
    if constraint is None or proposal.spoken:
        return classify_memory(source)
    ladder = settings.ladder
    rules = rules_for_all(constraint, ladder.rank(rung), len(ladder.rungs) - 1)
    return classify_memory(source, rules_for_all=rules)


def _constraint(proposal: Proposal, source: Source, rung: str, settings: Settings) -> str | None:
    """The kind of constraint that a fact is.

    On the lowest rung a constraint has to be asked for: a guest must not be bound by words such as
    "must".
    """
    if proposal.is_constraint is False:
        return None
    found = proposal.constraint_type
    if found is None:
        found = classify_constraint(proposal.key, proposal.value, source)
        if found is not None and not _is_trusted(rung, settings.ladder):
            found = None
    return found or ("policy" if proposal.is_constraint else None)


def _is_trusted(rung: str, ladder: Ladder) -> bool:
    return ladder.outranks(rung, ladder.rungs[0]) or len(ladder.rungs) == 1


def _binding(
    proposal: Proposal,
    constraint: str | None,
    authority: Authority,
    identity: Identity,
    settings: Settings,
) -> str | None:
    """The constraint of a statement of the organization, if its writer may bind others."""
    if constraint is None:
        return None
    if may_bind(identity, authority, settings.binding_rung, settings.ladder):
        return constraint
    if proposal.is_constraint is None and proposal.constraint_type is None:
        return None  # it only reads like one
    raise NotPermitted(
        f"{identity.user_id!r} has authority {authority.rung!r} and may not bind others; that "
        f"takes {settings.binding_rung!r} (Settings.binding_authority) or permissions=[{BIND!r}]. "
        f"Pass is_constraint=False for a fact of the organization that binds nobody"
    )


def _not_for_all(
    proposal: Proposal, identity: Identity, authority: Authority, settings: Settings
) -> NotPermitted:
    named = "memory_type='organizational'"
    if proposal.memory_type is None:
        named = f"source={proposal.source.name or proposal.source.type!r}"
    return NotPermitted(
        f"{identity.user_id!r} has authority {authority.rung!r} and may not speak for the "
        f"organization, as {named} does; that takes {settings.speaking_rung!r} "
        f"(Settings.speaking_authority) or permissions=[{SPEAK!r}]. Pass memory_type='user' to "
        f"keep it as their own"
    )


def _capability(proposal: Proposal, targets: tuple[Fact, ...], identity: Identity) -> str:
    """The capability that learned something; "" if an agent learned it for itself alone."""
    held = identity.capabilities
    named = [name[len(CAPABILITY) :] for name in proposal.requires if name.startswith(CAPABILITY)]
    named += [target.capability for target in targets if target.capability]
    if named:
        if named[0] not in held:
            raise NotPermitted(
                f"{identity.user_id!r} does not work with the capability {named[0]!r}; open the "
                f"session with permissions=['{CAPABILITY}{named[0]}']"
            )
        return named[0]
    if len(held) > 1:
        raise InvalidInput(
            f"this session has {len(held)} capabilities ({', '.join(held)}); say which one learned "
            f"this with requires=['{CAPABILITY}{held[0]}']"
        )
    return held[0] if held else ""
