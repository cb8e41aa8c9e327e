"""Rights: who may settle an existing fact: retract it, undo it, accept or acknowledge it."""

from __future__ import annotations

from incumbent.engine.lens import Lens, matching
from incumbent.model.errors import NotPermitted
from incumbent.model.fact import Fact, MemoryType
from incumbent.model.identity import BIND, SPEAK
from incumbent.rules.authority import check_may_write_key, may_bind, may_speak
from incumbent.stores.port import Reader


def check_may_settle(reader: Reader, lens: Lens, fact: Fact) -> None:
    """Raise NotPermitted if a fact is hidden from, above, or reserved from an identity."""
    who, ladder = lens.identity, lens.settings.ladder
    if not lens.sees(reader, fact):
        raise NotPermitted(
            "this would also change facts that this session may not see; "
            "somebody who may see them has to do it"
        )
    check_may_speak(lens, fact)
    told = matching(reader.declarations(), fact.key)
    check_may_write_key(fact.key, who.authority, told, ladder)
    if ladder.outranks(fact.standing, who.authority):
        raise NotPermitted(
            f"{fact.quoted_key} stands on the authority of {fact.standing!r}; "
            f"{who.user_id!r} has {who.authority.rung!r}"
        )


def check_may_speak(lens: Lens, fact: Fact) -> None:
    """Raise NotPermitted if a fact is the organization's and not this identity's to settle.

    A fact that binds others takes the right to bind them.
    """
    if fact.memory_type is not MemoryType.ORGANIZATIONAL or _may_settle_for_all(lens, fact):
        return
    who, settings = lens.identity, lens.settings
    needed, permission = (settings.speaking_rung, SPEAK)
    if fact.is_constraint:
        needed, permission = (settings.binding_rung, BIND)
    raise NotPermitted(
        f"{fact.quoted_key} is the organization's, and {who.user_id!r} has authority "
        f"{who.authority.rung!r}; to settle it takes {needed!r}, or permissions=[{permission!r}]"
    )


def _may_settle_for_all(lens: Lens, fact: Fact) -> bool:
    who, settings = lens.identity, lens.settings
    if not may_speak(who, who.authority, settings.speaking_rung, settings.ladder):
        return False
    return not fact.is_constraint or may_bind(
        who, who.authority, settings.binding_rung, settings.ladder
    )
