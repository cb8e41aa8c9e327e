"""Who may write what, and who may supersede whom."""

from __future__ import annotations

from collections.abc import Iterable

from tenure.model.authority import Authority, Ladder
from tenure.model.errors import NotPermitted
from tenure.model.fact import Fact
from tenure.model.identity import Identity
from tenure.model.records import Declaration


def may_write_as(identity: Identity, rung: str, ladder: Ladder) -> bool:
    """Whether an identity stands on that rung, or holds a permission to speak for it."""
    rank = ladder.rank(rung)
    if rank <= identity.authority.rank:
        return True
    return any(identity.may(f"authority:{name}") for name in (*ladder.rungs[rank:], "*"))


def check_may_write_as(identity: Identity, authority: Authority, ladder: Ladder) -> None:
    """Raise NotPermitted for an authority above one's own without an explicit permission."""
    if may_write_as(identity, authority.rung, ladder):
        return
    raise NotPermitted(
        f"{identity.user_id!r} has authority {identity.authority.rung!r} and may not write as "
        f"{authority.rung!r}; open the session with permissions=['authority:{authority.rung}'] "
        f"if it speaks for that authority"
    )


def check_may_write_key(
    key: str, authority: Authority, declarations: Iterable[Declaration], ladder: Ladder
) -> None:
    """Raise NotPermitted where a declaration reserves the key for a higher authority."""
    for declaration in declarations:
        needed = declaration.write_authority
        if needed is not None and authority.rank < ladder.rank(needed):
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
    return ladder.rank(left) > ladder.rank(right)
