"""Classification: the memory type of a fact, and whether it is a constraint. The caller may
overrule both."""

from __future__ import annotations

import re
from typing import Any

from incumbent.model.fact import MemoryType, Source
from incumbent.model.forbidding import MAY_NOT

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
    "capacity": "capacity",
    "limit": "capacity",
    "cap": "capacity",
    "quota": "capacity",
    "maximum": "capacity",
    "max": "capacity",
    "minimum": "capacity",
    "min": "capacity",
}
_BINDING = re.compile(
    rf"\b(must\b(?! ?-)(?! (?:say|tell|admit|confess|ask)\b)|{MAY_NOT}|cannot exceed|"
    r"can't exceed|no more than|at most|not permitted|is prohibited|are prohibited|is forbidden|"
    r"max(?:imum)?(?: of)? [$€£]?\d|(?:is|are) (?:required|mandatory|not allowed)|"
    r"(?<=^)never (?=\w))",
    re.IGNORECASE,
)


# What every match of these patterns has in it.
_HEADS = re.compile("|".join(_CONSTRAINT_HEADS))
_SIGNS = re.compile(
    "must|may not|exceed|no more than|at most|not permitted|prohibited|forbidden|max|required|"
    "mandatory|not allowed|never"
)
_ONE_RULE = 400
"""The longest text of a constraint. A longer one is about many things, and a "must" somewhere in it
makes it no rule."""
_HEAD = re.compile(
    rf"(?:^|[\W_]|(?-i:(?<=[a-z])(?=[A-Z])))({'|'.join(_CONSTRAINT_HEADS)})(?:[\W_]*v?\d+)?$",
    re.IGNORECASE,
)
_FIRST = re.compile(r"(?:max|maximum|min|minimum)(?:[\W_]|(?-i:(?=[A-Z])))", re.IGNORECASE)


def classify_memory(source: Source, *, rules_for_all: bool = False) -> MemoryType:
    """The memory type: organizational for systems of record and policy, capability for
    observations.

    Everything else is the speaker's own, on any rung: people's statements about themselves are
    theirs. `rules_for_all` means that it is a constraint that its authority sets for everybody.
    """
    if source.name is None:
        ruled = rules_for_all or source.type == "policy"
        return MemoryType.ORGANIZATIONAL if ruled else MemoryType.USER
    name = source.name.strip().lower().replace(" ", "_").replace("-", "_")
    if name in _PERSONAL:
        return MemoryType.USER
    if name in _CAPABILITY:
        return MemoryType.CAPABILITY
    if rules_for_all or source.type == "policy":
        return MemoryType.ORGANIZATIONAL
    if name in _ORGANIZATIONAL or name.endswith(("_system", "_policy")):
        return MemoryType.ORGANIZATIONAL
    return MemoryType.USER


def rules_for_all(constraint: str | None, rank: int, top: int) -> bool:
    """True if a constraint with that authority is the organization's unless told otherwise.

    The highest rung is the voice of policy: its constraints hold for everybody. The rung below it
    speaks for everybody if it writes a policy.
    """
    if constraint is None or top == 0:
        return False
    return rank == top or (constraint == "policy" and rank >= max(top - 1, 1))


def classify_constraint(key: str, value: Any, source: Source) -> str | None:
    """The type of constraint a fact is by its key, its source or its wording, or None."""
    head = _HEAD.search(key) if _may_have(_HEADS, key) else None
    if head is not None:
        return _CONSTRAINT_HEADS[head.group(1).lower()]
    if _FIRST.match(key):
        return "capacity"
    if source.type == "policy" or (source.name and source.name.strip().lower() == "policy"):
        return "policy"
    if isinstance(value, str) and len(value) <= _ONE_RULE and _may_have(_SIGNS, value):
        return "policy" if _BINDING.search(value) else None
    return None


def _may_have(signs: re.Pattern[str], text: str) -> bool:
    """Whether one of the signs without which a pattern matches nothing may be in a text.

    Looking for a few words takes a fraction of a search for the pattern. Some characters outside
    ASCII are another case of one inside it, so that only the pattern itself can tell.
    """
    return not text.isascii() or signs.search(text.lower()) is not None
