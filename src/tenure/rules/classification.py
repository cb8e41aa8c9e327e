"""What kind of memory a fact is, and whether it is a constraint. The caller may overrule both."""

from __future__ import annotations

import re
from typing import Any

from tenure.model.fact import MemoryType, Source

_ORGANIZATIONAL = frozenset(
    [
        "policy",
        "finance",
        "hr",
        "erp",
        "crm",
        "legal",
        "compliance",
        "document",
        "documents",
        "handbook",
        "contract",
        "system_of_record",
    ]
)
_CAPABILITY = frozenset(["observation", "pattern", "heuristic"])
_PERSONAL = frozenset(["decision", "user", "preference", "correction", "conversation"])

# The last word of a key tells what it is: a "travel_policy" is a policy, a "policy_owner" a person.
_CONSTRAINT_HEADS = {
    "policy": "policy",
    "rule": "policy",
    "regulation": "policy",
    "requirement": "policy",
    "budget": "budget",
    "deadline": "deadline",
    "due": "deadline",
    "capacity": "capacity",
    "limit": "capacity",
    "cap": "capacity",
    "quota": "capacity",
    "maximum": "capacity",
    "max": "capacity",
    "minimum": "capacity",
    "min": "capacity",
}
_CONSTRAINT_FIRSTS = {"max": "capacity", "maximum": "capacity", "min": "capacity"}
_BINDING = re.compile(
    r"\b(must(?: not)?|may not|cannot exceed|can't exceed|no more than|at most|not permitted|"
    r"is prohibited|are prohibited|is forbidden|max(?:imum)?(?: of)? [$€£]?\d)",
    re.IGNORECASE,
)


def classify_memory(source: Source, *, rung: str, policy_rungs: tuple[str, ...]) -> MemoryType:
    """Systems of record and policy speak for the organization, observations for a capability.

    `policy_rungs` are the rungs whose word is the organization's own.
    """
    name = (source.name or "").strip().lower().replace(" ", "_").replace("-", "_")
    if name in _PERSONAL:
        return MemoryType.USER
    if name in _CAPABILITY:
        return MemoryType.CAPABILITY
    if source.type == "policy" or rung in policy_rungs:
        return MemoryType.ORGANIZATIONAL
    if name in _ORGANIZATIONAL or name.endswith(("_system", "_policy")):
        return MemoryType.ORGANIZATIONAL
    return MemoryType.USER


def classify_constraint(key: str, value: Any, source: Source) -> str | None:
    """The type of constraint a fact is by its source, its key or its wording, or None."""
    words = [word for word in re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", key) if word]
    words = [word.lower() for word in words if not re.fullmatch(r"v?\d+", word.lower())]
    if words:
        found = _CONSTRAINT_HEADS.get(words[-1]) or _CONSTRAINT_FIRSTS.get(words[0])
        if found:
            return found
    if source.type == "policy" or (source.name or "").strip().lower() == "policy":
        return "policy"
    if isinstance(value, str) and _BINDING.search(value):
        return "policy"
    return None
