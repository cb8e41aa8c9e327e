"""Seats: the session that a model works in, and its rights there.

The identity is given when the server is started, or by the credential of a request. No words of a
model can change it: no tool takes a person, an organization or an authority.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from incumbent.http.admission import SessionForm, enter
from incumbent.http.credentials import HERE, Grant
from incumbent.http.problems import Refusal
from incumbent.memory import Memory
from incumbent.model.errors import InvalidInput, NotPermitted
from incumbent.model.ids import new_id
from incumbent.model.keys import KeyScope
from incumbent.session import Session


@dataclass(frozen=True, kw_only=True)
class Sitting:
    """The identity that a server was started for."""

    user_id: str | None = None
    """None if only the credentials of callers tell who they are."""
    user_name: str | None = None
    authority: str = "employee"
    """The highest authority that anything a model writes can carry."""
    organization: str = "default"
    department: str | None = None
    permissions: tuple[str, ...] = ()
    session_id: str | None = None
    """None for a new session, which ends with the server."""
    task_id: str | None = None
    read_only: bool = False
    forgetting: bool = False
    """Whether a model may erase."""

    @property
    def scopes(self) -> tuple[KeyScope, ...]:
        """The scopes of a model where no credential gives them."""
        allowed = [KeyScope.READ]
        if not self.read_only:
            allowed += [KeyScope.WRITE, KeyScope.REVIEW]
        if self.forgetting:
            allowed.append(KeyScope.ERASE)
        return tuple(allowed)


@dataclass(frozen=True)
class Seat:
    """A place at the memory: an identity and its rights."""

    memory: Memory
    grant: Grant
    form: SessionForm

    def allows(self, scope: KeyScope) -> bool:
        return scope in self.grant.scopes

    def check(self, scope: KeyScope) -> None:
        """Refuse a scope that this seat does not have."""
        if not self.allows(scope):
            raise NotPermitted(_NOT_GRANTED[scope])

    def session(self) -> Session:
        """The session of the conversation."""
        return enter(self.memory, self.grant, self.form)

    def aside(self) -> Session:
        """A session of the same identity with an empty desk, for calls that must leave nothing on
        it."""
        name = new_id(self.memory.now())
        return enter(self.memory, self.grant, self.form.model_copy(update={"session_id": name}))


class Seats:
    """Gives every caller a seat."""

    def __init__(self, memory: Memory, sitting: Sitting) -> None:
        ladder = memory.settings.ladder
        if ladder.known(sitting.authority) is None:
            raise InvalidInput(
                f"--authority {sitting.authority!r:.80} is no rung or title that Incumbent knows; "
                f"the rungs are {', '.join(ladder.rungs)}"
            )
        if sitting.read_only and sitting.forgetting:
            raise InvalidInput("--read-only and --allow-forget contradict each other; give one")
        self._memory = memory
        self._sitting = sitting
        self._session_id = sitting.session_id or new_id(memory.now())

    def here(self) -> Seat:
        """The seat of a caller of this process without a credential."""
        sitting = self._sitting
        form = self._form(
            user_id=sitting.user_id,
            user_name=sitting.user_name,
            authority=sitting.authority,
            organization=sitting.organization,
            department=sitting.department,
            permissions=list(sitting.permissions),
        )
        grant = replace(HERE, scopes=sitting.scopes)
        return Seat(self._memory, grant, form)

    def of(self, grant: Grant) -> Seat:
        """The seat of a caller with a credential: its grant, and nothing beyond that."""
        if grant.organization is None:
            return self.here()
        user_id = grant.user_id or self._sitting.user_id
        if user_id is None:
            raise Refusal(
                403,
                "NotPermitted",
                "the credential is nobody's in particular; make one for a person with "
                "`incumbent keys create NAME --user ID`, or start `incumbent mcp` with --user ID",
            )
        scopes = grant.scopes
        if self._sitting.read_only:
            scopes = tuple(one for one in scopes if one is KeyScope.READ)
        form = self._form(
            user_id=user_id,
            user_name=self._sitting.user_name if grant.user_id is None else None,
            authority=self._lower(grant.max_authority),
        )
        return Seat(self._memory, replace(grant, scopes=scopes), form)

    def _form(self, **identity: object) -> SessionForm:
        known = {name: said for name, said in identity.items() if said is not None}
        return SessionForm.model_validate(
            {**known, "session_id": self._session_id, "task_id": self._sitting.task_id}
        )

    def _lower(self, granted: str | None) -> str | None:
        """The lower of two authorities: the credential's, and the one set here."""
        ladder = self._memory.settings.ladder
        most = None if granted is None else ladder.known(granted)
        set_here = ladder.resolve(self._sitting.authority)
        if most is None:
            return set_here.rung if granted is None else None
        return (most if ladder.outranks(set_here, most) else set_here).rung

    def close(self) -> None:
        """Clear the desk of a session that was made for this server alone."""
        if self._sitting.session_id is None and self._sitting.user_id is not None:
            self.here().session().close()


_NOT_GRANTED = {
    KeyScope.READ: "this connection may not read",
    KeyScope.WRITE: "this connection may only read; nothing was changed",
    KeyScope.REVIEW: "this connection may not settle reviews; nothing was changed",
    KeyScope.ERASE: (
        "this connection may not erase; `correct` with retract takes a fact back, and a person can "
        "erase it with `incumbent forget`"
    ),
    KeyScope.ADMIN: "this connection may not administer",
}
