"""The public surface: what it is called, and how it is called."""

from __future__ import annotations

import inspect

import pytest

import incumbent

NAMES = [
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
    "LLM",
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
    "IncumbentError",
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

# What may be given by position. Everything else is an option, and options have names.
POSITIONAL = {
    "open": ["where"],
    "Memory.session": [],
    "Memory.declare": ["key"],
    "Memory.forget": [],
    "Memory.export": ["organization"],
    "Memory.import_": ["records"],
    "Memory.audit": ["organization"],
    "Memory.reindex": ["organization"],
    "Memory.record": ["context"],
    "Memory.receipt": ["receipt_id"],
    "Memory.replay": ["receipt"],
    "Memory.compare": ["earlier", "later"],
    "Memory.now": [],
    "Memory.flush": [],
    "Memory.usage": ["organization"],
    "Memory.close": [],
    "Memory.list_users": ["organization"],
    "Memory.list_sessions": ["organization"],
    "Memory.list_subjects": ["organization"],
    "Memory.list_keys": ["organization"],
    "Memory.list_receipts": ["organization"],
    "Memory.list_audit": ["organization"],
    "Memory.activity": ["organization"],
    "Session.write": ["key", "value"],
    "Session.write_many": ["writes"],
    "Session.observe": ["text"],
    "Session.observe_many": ["turns"],
    "Session.current": ["key", "subject"],
    "Session.is_current": ["key_or_id"],
    "Session.get": ["fact_id"],
    "Session.facts": ["key"],
    "Session.history": ["key", "subject"],
    "Session.explain": ["key_or_id", "subject"],
    "Session.retract": ["key_or_id", "reason"],
    "Session.undo": ["verdict"],
    "Session.revert": ["key_or_id", "to"],
    "Session.promote": ["key_or_id"],
    "Session.rehearsal": [],
    "Session.reviews": [],
    "Session.resolve": ["fact_id", "value"],
    "Session.hypothetical": ["name"],
    "Session.draft": ["name"],
    "Session.commit": [],
    "Session.discard": [],
    "Session.as_of": ["when"],
    "Session.note": ["key", "value", "ttl"],
    "Session.working_set": [],
    "Session.context": ["query"],
    "Session.guard": ["messages"],
    "Session.receipts": [],
    "Session.list_sessions": [],
    "Session.list_subjects": [],
    "Session.list_keys": [],
    "Session.list_receipts": [],
    "Session.list_facts": [],
    "Session.list_branches": [],
    "Session.list_turns": ["session_id"],
    "Session.close": [],
}

# The names of the design that other programs rely on.
OPTIONS = {
    "open": {"clock", "settings"},
    "Memory.session": {
        "user_id",
        "user_name",
        "authority",
        "organization",
        "department",
        "permissions",
        "session_id",
        "task_id",
    },
    "Memory.declare": {"multi_valued", "time_sensitive", "write_authority", "requires"},
    "Memory.forget": {"organization", "user_id", "subject", "fact_id"},
    "Session.write": {
        "subject",
        "supersedes",
        "scope",
        "scope_id",
        "depends_on",
        "when_superseded",
        "source",
        "authority",
        "memory_type",
        "is_constraint",
        "constraint_type",
        "requires",
        "valid_from",
        "valid_until",
        "at",
        "id",
    },
    "Session.observe": {"speaker", "at", "ref", "authority"},
    "Session.observe_many": {"progress"},
    "Session.context": {
        *("budget", "profile", "style", "history", "at", "explain", "conversation", "record"),
    },
    "Session.guard": {"budget"},
    "Session.note": {"states"},
    "Memory.replay": {"organization"},
    "Memory.compare": {"organization"},
    "Session.as_of": {"known_at"},
}


def parameters(call: str) -> list[inspect.Parameter]:
    owner, _, name = call.rpartition(".")
    function = getattr(getattr(incumbent, owner) if owner else incumbent, name)
    return [p for p in inspect.signature(function).parameters.values() if p.name != "self"]


def test_the_public_names_are_pinned() -> None:
    """What `from incumbent import *` gives is this list, sorted, and changes only on purpose."""
    assert sorted(incumbent.__all__) == sorted(NAMES)
    assert len(set(incumbent.__all__)) == len(incumbent.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_can_be_imported(name: str) -> None:
    """Every name that is promised is there, and every class says what it is."""
    found = getattr(incumbent, name)
    if inspect.isclass(found) or inspect.isfunction(found):
        assert inspect.getdoc(found)


def test_every_public_method_is_pinned() -> None:
    """A new public method of Memory or Session has to be entered here."""
    public = {
        f"{kind.__name__}.{name}"
        for kind in (incumbent.Memory, incumbent.Session)
        for name, member in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }
    assert public == POSITIONAL.keys() - {"open"}


@pytest.mark.parametrize("call", POSITIONAL)
def test_options_are_keyword_only(call: str) -> None:
    """Only what the call is about goes by position, so that options can be added and moved."""
    by_position = [p.name for p in parameters(call) if p.kind is p.POSITIONAL_OR_KEYWORD]
    others = {p.kind for p in parameters(call) if p.kind is not p.POSITIONAL_OR_KEYWORD}
    assert by_position == POSITIONAL[call]
    assert others <= {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("call", OPTIONS)
def test_the_options_of_the_design_are_there(call: str) -> None:
    """The names that the design fixes are keyword-only parameters of the call."""
    named = {p.name for p in parameters(call) if p.kind is p.KEYWORD_ONLY}
    assert named >= OPTIONS[call]


def test_only_the_identity_of_a_session_is_required() -> None:
    """A session needs a user id, a write a key and a value, a turn its text; nothing else."""
    required = {
        call: [p.name for p in parameters(call) if p.default is p.empty]
        for call in (
            *("open", "Memory.session", "Session.write", "Session.context"),
            *("Session.observe", "Session.observe_many"),
        )
    }
    assert required == {
        "open": ["where"],
        "Memory.session": ["user_id"],
        "Session.write": ["key", "value"],
        "Session.context": ["query"],
        "Session.observe": ["text"],
        "Session.observe_many": ["turns"],
    }
