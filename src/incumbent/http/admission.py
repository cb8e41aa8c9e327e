"""Entering: from the session in a request and the rights of its credential to a session."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from incumbent.http.credentials import Grant
from incumbent.memory import Memory
from incumbent.model.errors import InvalidInput, NotPermitted
from incumbent.model.identity import BIND, SPEAK
from incumbent.model.keys import KeyScope
from incumbent.session import Session

_DEFAULT_AUTHORITY = "employee"
_DEEPEST = 8
_STRICT = ConfigDict(extra="forbid", strict=True)


class Branch(BaseModel):
    """A branch of a session, by its kind and name."""

    kind: Literal["hypothetical", "draft"]
    name: str

    model_config = _STRICT


class SessionForm(BaseModel):
    """Who is asking, and in which session. A credential may fix some of it."""

    organization: str | None = Field(
        None, description="Fixed by the credential, where there is one."
    )
    user_id: str | None = Field(
        None, description="Whose session it is. Needed unless the credential says."
    )
    user_name: str | None = None
    authority: str | None = Field(None, description="At most that of the credential.")
    department: str | None = None
    permissions: list[str] | None = Field(None, description="Among those of the credential.")
    session_id: str | None = Field(None, description="Names the session; the same name resumes it.")
    task_id: str | None = None
    branches: list[Branch] = Field(default_factory=list, max_length=_DEEPEST)
    as_of: AwareDatetime | None = Field(None, description="Look at what was true then.")
    known_at: AwareDatetime | None = Field(None, description="As it was known then.")
    may_erase: bool | None = Field(
        None, description="False for a turn that asks to be forgotten only to take back."
    )

    ask_before_keeping: bool | None = Field(
        None, description="Whether what a turn says waits for the person's approval."
    )

    model_config = ConfigDict(
        **_STRICT, json_schema_extra={"example": {"user_id": "alice", "session_id": "chat-17"}}
    )


def organization_of(grant: Grant, form: SessionForm) -> str:
    """The organization of a request. A credential has only one."""
    if grant.organization is None:
        return form.organization or "default"
    if form.organization not in (None, grant.organization):
        raise NotPermitted("the credential is for another organization")
    return grant.organization


def enter(memory: Memory, grant: Grant, form: SessionForm) -> Session:
    """The session that a request asks for, as far as its credential goes."""
    if grant.user_id is not None and form.user_id not in (None, grant.user_id):
        raise NotPermitted("the credential is for another person")
    user_id = grant.user_id or form.user_id
    if user_id is None:
        raise InvalidInput("/session/user_id: say whose session it is")
    session = memory.session(
        user_id=user_id,
        user_name=_fixed(grant.user_name, form.user_name),
        authority=_authority(memory, grant, form.authority),
        organization=organization_of(grant, form),
        department=_fixed(grant.department, form.department),
        permissions=_permissions(grant, form.permissions),
        session_id=form.session_id,
        task_id=form.task_id,
    )
    if form.ask_before_keeping is not None:
        session.ask_before_keeping = form.ask_before_keeping
    session.may_erase = KeyScope.ERASE in grant.scopes and form.may_erase is not False
    for branch in form.branches:
        session = (
            session.draft(branch.name)
            if branch.kind == "draft"
            else session.hypothetical(branch.name)
        )
    if form.as_of is not None or form.known_at is not None:
        return session.as_of(form.as_of or memory.now(), known_at=form.known_at)
    return session


def _fixed(granted: str | None, said: str | None) -> str | None:
    return granted if granted is not None else said


def check_title(memory: Memory, said: str | None, field: str) -> None:
    """Refuse a title that is not known here: it would silently count as the lowest."""
    ladder = memory.settings.ladder
    if said is not None and ladder.known(said) is None:
        raise InvalidInput(
            f"{field}: {said!r:.80} is no title that is known here; "
            f"choose from {', '.join(ladder.rungs)}"
        )


def _authority(memory: Memory, grant: Grant, said: str | None) -> str:
    ladder = memory.settings.ladder
    check_title(memory, said, "/session/authority")
    if grant.max_authority is None:
        return said or _DEFAULT_AUTHORITY
    # A rung that left the ladder since counts as the lowest.
    most = ladder.known(grant.max_authority)
    rung = most.rung if most is not None else ladder.rungs[0]
    if said is None:
        wanted = ladder.known(_DEFAULT_AUTHORITY)
        lower = wanted is not None and ladder.outranks(rung, wanted) and grant.user_id is None
        return _DEFAULT_AUTHORITY if lower else rung
    if ladder.outranks(ladder.resolve(said), rung):
        raise NotPermitted(f"the credential is good for {rung!r} at most, not {said!r:.80}")
    return said


def check_speaks_for_all(memory: Memory, grant: Grant) -> None:
    """Refuse a credential that may not speak for an organization and bind its members.

    An import does both, with whatever authority it says.
    """
    settings = memory.settings
    known = None if grant.max_authority is None else settings.ladder.known(grant.max_authority)
    needed = settings.ladder.highest(settings.speaking_rung, settings.binding_rung)
    too_low = known is None or settings.ladder.outranks(needed, known)
    permitted = grant.permissions is None or grant.permissions >= {SPEAK, BIND}
    if grant.max_authority is not None and too_low and not permitted:
        raise NotPermitted(
            f"an import speaks for the organization, and the credential is good for "
            f"{grant.max_authority!r}; it takes {needed!r}, or the "
            f"permissions {SPEAK!r} and {BIND!r}"
        )


def _permissions(grant: Grant, said: list[str] | None) -> list[str]:
    if grant.permissions is None:
        return said or []
    if said is None:
        return sorted(grant.permissions)
    beyond = sorted(set(said) - grant.permissions)
    if beyond:
        raise NotPermitted(f"the credential does not carry the permission {beyond[0]!r:.80}")
    return said
