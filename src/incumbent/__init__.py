"""Incumbent: state for AI agents. Facts hold office until a better one supersedes them."""

from importlib import import_module as _import
from typing import TYPE_CHECKING as _CHECKING
from typing import Any as _Any

if _CHECKING:
    from incumbent.audit.entries import AuditEntry
    from incumbent.context.document import Context, Line, Omission
    from incumbent.context.guarded import GuardedMessages, MessageAccount
    from incumbent.context.receipt import Receipt, ReceiptChange
    from incumbent.memory import Memory
    from incumbent.model.authority import Authority, Ladder
    from incumbent.model.errors import (
        AmbiguousTarget,
        DamagedModel,
        DependencyCycle,
        DuplicateId,
        IncumbentError,
        InvalidInput,
        NewerSchema,
        NotADatabase,
        NotDelivered,
        NothingToUndo,
        NotPermitted,
        ReadOnlySession,
        ReadOnlyStore,
        SessionClosed,
        StoreBusy,
        StoreConflict,
        StoreDamaged,
        StoreError,
        StoreFull,
        StoreUnavailable,
        UnknownDependency,
        UnknownFact,
        UnknownTarget,
        UnknownTitleWarning,
        UnknownVerdict,
    )
    from incumbent.model.fact import Address, Cause, Fact, MemoryType, Part, Source, Status
    from incumbent.model.identity import Identity
    from incumbent.model.listings import (
        Activity,
        ListedBranch,
        ListedKey,
        ListedReceipt,
        ListedSession,
        ListedSubject,
        ListedTurn,
        ListedUser,
        Listing,
        VerdictCount,
    )
    from incumbent.model.records import (
        Chain,
        Change,
        Declaration,
        Environment,
        Erasure,
        ErasureRequest,
        Explanation,
        Review,
        Signal,
        Usage,
        WorkingItem,
    )
    from incumbent.model.scope import Scope
    from incumbent.model.verdict import Outcome, Repair, Rule, Verdict
    from incumbent.opening import open
    from incumbent.reading.asked.config import LLM
    from incumbent.reading.form import TurnReader
    from incumbent.search.embedders import Embedder
    from incumbent.session import Session
    from incumbent.settings import Settings
    from incumbent.turns.observation import Observation
    from incumbent.turns.opinions import Opinion, Proposed

__version__ = "0.1.0"

__all__ = [
    "LLM",
    "Activity",
    "Address",
    "AmbiguousTarget",
    "AuditEntry",
    "Authority",
    "Cause",
    "Chain",
    "Change",
    "Context",
    "DamagedModel",
    "Declaration",
    "DependencyCycle",
    "DuplicateId",
    "Embedder",
    "Environment",
    "Erasure",
    "ErasureRequest",
    "Explanation",
    "Fact",
    "GuardedMessages",
    "Identity",
    "IncumbentError",
    "InvalidInput",
    "Ladder",
    "Line",
    "ListedBranch",
    "ListedKey",
    "ListedReceipt",
    "ListedSession",
    "ListedSubject",
    "ListedTurn",
    "ListedUser",
    "Listing",
    "Memory",
    "MemoryType",
    "MessageAccount",
    "NewerSchema",
    "NotADatabase",
    "NotDelivered",
    "NotPermitted",
    "NothingToUndo",
    "Observation",
    "Omission",
    "Opinion",
    "Outcome",
    "Part",
    "Proposed",
    "ReadOnlySession",
    "ReadOnlyStore",
    "Receipt",
    "ReceiptChange",
    "Repair",
    "Review",
    "Rule",
    "Scope",
    "Session",
    "SessionClosed",
    "Settings",
    "Signal",
    "Source",
    "Status",
    "StoreBusy",
    "StoreConflict",
    "StoreDamaged",
    "StoreError",
    "StoreFull",
    "StoreUnavailable",
    "TurnReader",
    "UnknownDependency",
    "UnknownFact",
    "UnknownTarget",
    "UnknownTitleWarning",
    "UnknownVerdict",
    "Usage",
    "Verdict",
    "VerdictCount",
    "WorkingItem",
    "__version__",
    "open",
]

# Where each name is from. Loaded when it is first asked for, so that importing this costs nothing:
# the command line, for one, asks for a few of them only.
_MODULES = {
    "audit.entries": "AuditEntry",
    "context.document": "Context Line Omission",
    "context.guarded": "GuardedMessages MessageAccount",
    "context.receipt": "Receipt ReceiptChange",
    "reading.asked.config": "LLM",
    "memory": "Memory",
    "model.authority": "Authority Ladder",
    "model.errors": """
        AmbiguousTarget DamagedModel DependencyCycle DuplicateId InvalidInput NewerSchema
        NotADatabase NotDelivered NothingToUndo NotPermitted ReadOnlySession ReadOnlyStore
        SessionClosed StoreBusy StoreConflict StoreDamaged StoreError StoreFull
        StoreUnavailable IncumbentError UnknownDependency UnknownFact UnknownTarget
        UnknownTitleWarning UnknownVerdict
    """,
    "model.fact": "Address Cause Fact MemoryType Part Source Status",
    "model.identity": "Identity",
    "model.listings": """
        Activity ListedBranch ListedKey ListedReceipt ListedSession ListedSubject ListedTurn
        ListedUser Listing VerdictCount
    """,
    "model.records": """
        Chain Change Declaration Environment Erasure ErasureRequest Explanation Review Signal Usage
        WorkingItem
    """,
    "model.scope": "Scope",
    "model.verdict": "Outcome Repair Rule Verdict",
    "turns.observation": "Observation",
    "turns.opinions": "Opinion Proposed",
    "opening": "open",
    "reading.form": "TurnReader",
    "search.embedders": "Embedder",
    "session": "Session",
    "settings": "Settings",
}
_WHERE = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> _Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(_import(f"{__name__}.{_WHERE[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
