"""Tenure: state for AI agents. Facts hold office until a better one supersedes them."""

from importlib import import_module as _import
from typing import TYPE_CHECKING as _CHECKING
from typing import Any as _Any

if _CHECKING:
    from tenure.audit.entries import AuditEntry
    from tenure.context.document import Context, Line, Omission
    from tenure.context.guarded import GuardedMessages, MessageAccount
    from tenure.context.receipt import Receipt, ReceiptChange
    from tenure.language.llm.config import LLM
    from tenure.memory import Memory
    from tenure.model.authority import Authority, Ladder
    from tenure.model.errors import (
        AmbiguousTarget,
        DamagedModel,
        DependencyCycle,
        DuplicateId,
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
        TenureError,
        UnknownDependency,
        UnknownFact,
        UnknownTarget,
        UnknownTitleWarning,
        UnknownVerdict,
    )
    from tenure.model.fact import Address, Cause, Fact, MemoryType, Part, Source, Status
    from tenure.model.identity import Identity
    from tenure.model.listings import (
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
    from tenure.model.records import (
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
    from tenure.model.scope import Scope
    from tenure.model.verdict import Outcome, Repair, Rule, Verdict
    from tenure.observing.observation import Observation
    from tenure.observing.opinions import Opinion, Proposed
    from tenure.opening import open
    from tenure.search.embedders import Embedder
    from tenure.session import Session
    from tenure.settings import Settings

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
    "TenureError",
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
    "language.llm.config": "LLM",
    "memory": "Memory",
    "model.authority": "Authority Ladder",
    "model.errors": """
        AmbiguousTarget DamagedModel DependencyCycle DuplicateId InvalidInput NewerSchema
        NotADatabase NotDelivered NothingToUndo NotPermitted ReadOnlySession ReadOnlyStore
        SessionClosed StoreBusy StoreConflict StoreDamaged StoreError StoreFull
        StoreUnavailable TenureError UnknownDependency UnknownFact UnknownTarget
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
    "observing.observation": "Observation",
    "observing.opinions": "Opinion Proposed",
    "opening": "open",
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
