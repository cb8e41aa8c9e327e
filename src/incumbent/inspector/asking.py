"""What the playground asks for: a question, and everything that shapes its context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC
from typing import Any

from incumbent.context.document import Context
from incumbent.inspector.looking import Looking
from incumbent.inspector.visit import Visit, is_whole, moment_of
from incumbent.model.errors import InvalidInput
from incumbent.session import Session

OTHER = "b_"
"""The beginning of the names of the fields for the second context."""
_NONE = "-"
_SET = "set"
_DEFAULT_BUDGET = 2_000
_LONGEST = 4_000


@dataclass(frozen=True)
class ContextAsk:
    """A question with its settings, as fields of a form have them: text, "" where nothing is
    said."""

    query: str = ""
    budget: str = ""
    profile: str = "balanced"
    style: str = "plain"
    history: str = ""
    bare: str = ""
    """"1" to leave the turns of the conversation out."""
    user: str = ""
    authority: str = ""
    department: str = ""
    permissions: str = ""
    session: str = ""
    task: str = ""
    at: str = ""
    known_at: str = ""
    branch: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str], looking: Looking) -> ContextAsk:
        """What the fields say; where they say nothing, as the page is looked at."""
        said = {name: value for name, value in _fields(given).items() if value}
        asked = replace(cls(user=looking.user_id), **said)
        if given.get(_SET):
            return asked
        return replace(
            asked,
            authority=asked.authority or looking.authority,
            department=asked.department or looking.department,
            permissions=asked.permissions or looking.permissions,
            session=asked.session or looking.session_id,
            task=asked.task or looking.task_id,
        )

    def beside(self, given: Mapping[str, str]) -> ContextAsk:
        """The second one: like the first but for what its own fields say. "-" says nothing."""
        said = {name: value for name, value in _fields(given, OTHER).items() if value}
        if said.get("at") == _NONE:
            said["known_at"] = _NONE
        return replace(self, **{name: "" if v == _NONE else v for name, v in said.items()})

    @property
    def tokens(self) -> int:
        """The budget as a number."""
        if not self.budget:
            return _DEFAULT_BUDGET
        if not is_whole(self.budget):
            raise InvalidInput(f"budget must be a whole number, not {self.budget!r:.40}")
        return int(self.budget)

    def looking(self, organization: str) -> Looking:
        """Through whose eyes the context is composed."""
        return Looking(
            organization=organization,
            user_id=self.user,
            authority=self.authority,
            department=self.department,
            permissions=self.permissions,
            session_id=self.session,
            task_id=self.task,
        )

    def fields(self) -> dict[str, str]:
        """As parameters of an address, or hidden fields of a form; what is not said is left
        out."""
        return {_SET: "1", **{name: said for name, said in asdict(self).items() if said}}

    def changes_from(self, other: ContextAsk) -> dict[str, str]:
        """The settings that differ from those of another."""
        theirs = asdict(other)
        return {name: said for name, said in asdict(self).items() if said != theirs[name]}


def _fields(given: Mapping[str, str], prefix: str = "") -> dict[str, str]:
    return {
        one.name: given.get(f"{prefix}{one.name}", "").strip()[:_LONGEST]
        for one in fields(ContextAsk)
    }


def session_of(visit: Visit, ask: ContextAsk) -> Session:
    """The session that asks, as far as the credential goes."""
    return visit.session_at(
        at=moment_of(ask.at, "moment"),
        known_at=moment_of(ask.known_at, "known at"),
        branch=ask.branch,
        looking=ask.looking(visit.organization),
    )


def composed(visit: Visit, ask: ContextAsk, session: Session, **more: Any) -> Context:
    """The context that it asks for."""
    if ask.tokens > visit.max_budget:
        raise InvalidInput(
            f"a budget of {ask.tokens:,} tokens, and the limit of the service is "
            f"{visit.max_budget:,}; ask for less"
        )
    given = {
        "budget": ask.tokens,
        "profile": ask.profile,
        "style": ask.style,
        "history": bool(ask.history),
        "conversation": not ask.bare,
        **more,
    }
    return session.context(ask.query, **given)


def wide(visit: Visit, ask: ContextAsk, session: Session) -> Context:
    """The same question with as much room as there can be: it has the scores of what is left out
    for want of it."""
    most = visit.max_budget
    return session.context(ask.query, budget=most, profile="comprehensive", record=False)


def for_field(text: str) -> str:
    """A moment as a field for one takes it, in UTC; "" where it is none."""
    try:
        found = moment_of(text)
    except InvalidInput:
        return ""
    return "" if found is None else f"{found.astimezone(UTC):%Y-%m-%dT%H:%M:%S}"
