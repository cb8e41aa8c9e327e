"""Authority: who may write what, and who may supersede whom."""

from __future__ import annotations

from collections.abc import Iterable

from incumbent.model.authority import Authority, Ladder
from incumbent.model.errors import NotPermitted
from incumbent.model.fact import Fact
from incumbent.model.identity import BIND, SPEAK, Identity
from incumbent.model.records import Declaration


def may_write_as(identity: Identity, rung: str, ladder: Ladder) -> bool:
    """Whether an identity stands on that rung, or holds a permission to speak for it."""
    if not ladder.outranks(rung, identity.authority):
        return True
    above = ladder.rungs[ladder.rank(rung) :]
    return any(identity.may(f"authority:{name}") for name in (*above, "*"))


def check_may_write_as(identity: Identity, authority: Authority, ladder: Ladder) -> None:
    """Raise NotPermitted for an authority above one's own without an explicit permission."""
    if may_write_as(identity, authority.rung, ladder):
        return
    raise NotPermitted(
        f"{identity.user_id!r} has authority {identity.authority.rung!r} and may not write as "
        f"{authority.rung!r}; open the session with permissions=['authority:{authority.rung}'] "
        f"if it speaks for that authority"
    )


def may_speak(identity: Identity, authority: Authority, rung: str, ladder: Ladder) -> bool:
    """True if an identity may speak for the organization, itself or with an authority it lends.

    `rung` is the lowest rung on which people may.
    """
    return _reaches(identity, authority, rung, ladder) or identity.may(SPEAK)


def may_bind(identity: Identity, authority: Authority, rung: str, ladder: Ladder) -> bool:
    """Whether a statement of an identity for the organization may bind its members."""
    return _reaches(identity, authority, rung, ladder) or identity.may(BIND)


def _reaches(identity: Identity, authority: Authority, rung: str, ladder: Ladder) -> bool:
    """Whether a rung is within reach of an identity, itself or with an authority it lends."""
    return not all(ladder.outranks(rung, own) for own in (identity.authority, authority))


def reserved_for(
    authority: Authority, declarations: Iterable[Declaration], ladder: Ladder
) -> str | None:
    """The rung that a declaration reserves a key for, if the authority is below it."""
    for declaration in declarations:
        needed = declaration.write_authority
        if needed is not None and ladder.outranks(needed, authority):
            return needed
    return None


def check_may_write_key(
    key: str, authority: Authority, declarations: Iterable[Declaration], ladder: Ladder
) -> None:
    """Raise NotPermitted if a declaration reserves the key for a higher authority."""
    needed = reserved_for(authority, declarations, ladder)
    if needed is not None:
        raise NotPermitted(
            f"key {key!r} takes writes from {needed!r} upwards, "
            f"and this one has authority {authority.rung!r}"
        )


def derived_authority(own: str, bases: Iterable[Fact], ladder: Ladder) -> str:
    """The lowest authority among a statement and its bases.

    Without it, summarising a guess would launder it into policy.
    """
    return ladder.lowest(own, *(base.standing for base in bases))


def outranks(left: str, right: str, ladder: Ladder) -> bool:
    """Whether one rung stands above the other."""
    return ladder.outranks(left, right)


def prevails(wider: Fact, narrower: Fact, ladder: Ladder) -> bool:
    """True if a wider or shared fact stays in front of a narrower one that says otherwise.

    It does if it ranks higher. A constraint of the organization also does if it ranks as high: to
    change it, somebody has to speak for the organization.
    """
    if ladder.outranks(wider.standing, narrower.standing):
        return True
    binding = wider.is_constraint and not wider.owner and bool(narrower.owner)
    return binding and not ladder.outranks(narrower.standing, wider.standing)
