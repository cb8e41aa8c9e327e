"""The public surface as data: every operation that can be called from elsewhere, once.

HTTP, the client and the awaited API are made from this list and from the signatures of the methods
it names, so that a word means the same everywhere and none of them can fall behind.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, cast, get_type_hints

from incumbent.memory import Memory
from incumbent.model.keys import KeyScope
from incumbent.model.records import Rehearsed
from incumbent.session import Session
from incumbent.session.rehearsable import is_rehearsable

Owner = Literal["session", "memory"]

_LEFT_OUT = ("self", "progress", "organization")
"""Parameters that a call from elsewhere cannot give: the organization is the credential's."""


_REPEATABLE = frozenset(
    ("observe", "observe_many", "write", "write_many", "note", "close", "declare", "reindex")
)
"""Operations that leave their name in the store, or are the same when done again."""


_REHEARSED = """Takes what `{}` takes and is judged as it is, and then taken back.

`result` is what that would answer, and `changes` has every fact that it would add, change or erase,
as it is (`before`) and as it would be (`after`). Ids of what would be new are others each time."""


@dataclass(frozen=True)
class Operation:
    """A method of a session or a memory, and the scope that a credential needs to call it."""

    name: str
    owner: Owner
    scope: KeyScope
    example: Mapping[str, Any] = field(default_factory=dict, compare=False)
    of_all: bool = False
    """Whether it lists what a whole organization has, which a session has a method for as well."""
    rehearsed: bool = False
    """Whether it only tells what would come of a call of that method."""

    @property
    def path(self) -> str:
        """Where a service has it, below /v1/."""
        if self.rehearsed:
            return f"rehearse/{self.name}"
        return f"organization/{self.name}" if self.of_all else self.name

    @property
    def is_property(self) -> bool:
        return isinstance(getattr(self.type, self.name), property)

    @property
    def type(self) -> type[Session] | type[Memory]:
        return Session if self.owner == "session" else Memory

    @property
    def function(self) -> Callable[..., Any]:
        found: Any = getattr(self.type, self.name)
        made: Any = found.fget if self.is_property else found
        return cast(Callable[..., Any], made)

    @property
    def returns(self) -> Any:
        """The type of its result."""
        made = hints_of(self.function)["return"]
        return Rehearsed[made] if self.rehearsed else made  # type: ignore[valid-type]

    @property
    def summary(self) -> str:
        if self.rehearsed:
            return f"What would come of `{self.name}`; nothing does."
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def description(self) -> str:
        told = inspect.getdoc(self.function) or ""
        return f"{_REHEARSED.format(self.name)}\n\n{told}" if self.rehearsed else told

    @property
    def changes(self) -> bool:
        """Whether it may change something."""
        return self.scope is not KeyScope.READ and not self.rehearsed

    @property
    def repeatable(self) -> bool:
        """True if two calls under one Idempotency-Key are done once, whatever happened in between,
        even if the process that knew the answer is gone."""
        return not self.changes or self.name in _REPEATABLE


def _session(name: str, scope: str, **example: Any) -> Operation:
    return Operation(name, "session", KeyScope(scope), example)


def _memory(name: str, scope: str, **example: Any) -> Operation:
    return Operation(name, "memory", KeyScope(scope), example)


def _listing(name: str, **example: Any) -> Operation:
    return Operation(name, "memory", KeyScope.ADMIN, example, of_all=True)


_DONE: tuple[Operation, ...] = (
    # writing
    _session("observe", "write", text="I moved to 456 Oak Ave.", ref="turn-17"),
    _session("observe_many", "write", turns=[{"role": "user", "content": "My budget is $500."}]),
    _session("write", "write", key="order_status", value="approved"),
    _session("write_many", "write", writes=[{"key": "order_status", "value": "approved"}]),
    _session("note", "write", key="shortlist", value=["Oak Ave", "Elm St"], ttl=3600),
    # reading
    _session("context", "read", query="Where should we ship the order?", budget=2000),
    _session("guard", "read", messages=[{"role": "user", "content": "Ship it to 123 Main St."}]),
    _session("current", "read", key="order_status"),
    _session("is_current", "read", key_or_id="order_status"),
    _session("get", "read", fact_id="0197b0f2-7c1a-7000-8000-0123456789ab"),
    _session("facts", "read", key="order_status"),
    _session("history", "read", key="order_status"),
    _session("explain", "read", key_or_id="order_status"),
    _session("working_set", "read"),
    _session("environment", "read"),
    _session("receipts", "read", limit=10),
    # lists of what a person sees
    _session("list_sessions", "read", limit=20),
    _session("list_subjects", "read", prefix="order-", limit=20),
    _session("list_keys", "read", prefix="order_", limit=20),
    _session("list_receipts", "read", since="2026-01-01T00:00:00Z", limit=20),
    _session("list_facts", "read", text="oak", states=["office", "superseded"], limit=20),
    _session("list_branches", "read", limit=20),
    _session("list_turns", "read", session_id="chat-1", limit=20),
    # correction and repair
    _session("retract", "write", key_or_id="order_status", reason="entered twice"),
    _session("revert", "write", key_or_id="order_status"),
    _session("promote", "write", key_or_id="delivery_window"),
    _session("undo", "review", verdict="0197b0f2-7c1a-7000-8000-0123456789ab"),
    _session("reviews", "read"),
    _session("resolve", "review", fact_id="0197b0f2-7c1a-7000-8000-0123456789ab", still_right=True),
    # branches, and the end
    _session("commit", "write"),
    _session("discard", "write"),
    _session("close", "write"),
    # the memory
    _memory("receipt", "read", receipt_id="rc-0123456789abcdef0123456789abcdef"),
    _memory("replay", "read", receipt="rc-0123456789abcdef0123456789abcdef"),
    _memory(
        "compare",
        "read",
        earlier="rc-0123456789abcdef0123456789abcdef",
        later="rc-fedcba9876543210fedcba9876543210",
    ),
    _memory("usage", "admin", since="2026-01-01"),
    _memory("declare", "admin", key="price.*", time_sensitive=True),
    _memory("reindex", "admin"),
    _memory("forget", "erase", user_id="alice"),
    # lists of all that an organization has
    _listing("list_users", prefix="al", limit=20),
    _listing("list_sessions", user_id="alice", limit=20),
    _listing("list_subjects", prefix="order-", limit=20),
    _listing("list_keys", owner="", limit=20),
    _listing("list_receipts", user_id="alice", limit=20),
    _listing("list_audit", limit=20),
    _listing("activity", since="2026-01-01T00:00:00Z"),
)
OPERATIONS: tuple[Operation, ...] = (
    *_DONE,
    *(replace(one, rehearsed=True) for one in _DONE if is_rehearsable(one.function)),
)
BY_PATH: Mapping[str, Operation] = MappingProxyType({one.path: one for one in OPERATIONS})


@cache
def hints_of(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The types of a function's parameters and of its result, as objects."""
    return get_type_hints(inspect.unwrap(function))


@cache
def parameters_of(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """The parameters that a call from elsewhere can give."""
    signature = inspect.signature(function)
    return tuple(one for name, one in signature.parameters.items() if name not in _LEFT_OUT)
