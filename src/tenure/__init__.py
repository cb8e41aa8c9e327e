"""Tenure: state for AI agents. Facts hold office until a better one supersedes them."""

from tenure.auditing.entries import AuditEntry
from tenure.context.document import Context, Line, Omission
from tenure.context.receipt import Receipt, ReceiptChange
from tenure.language.llm.config import LLM
from tenure.memory import Memory, open
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
from tenure.model.records import (
    Chain,
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
from tenure.search.embedders import Embedder
from tenure.session import Session
from tenure.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "LLM",
    "Address",
    "AmbiguousTarget",
    "AuditEntry",
    "Authority",
    "Cause",
    "Chain",
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
    "Identity",
    "InvalidInput",
    "Ladder",
    "Line",
    "Memory",
    "MemoryType",
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
    "WorkingItem",
    "__version__",
    "open",
]
