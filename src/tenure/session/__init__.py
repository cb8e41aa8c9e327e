"""Session: the work of one identity with the memory. Load, let the rules decide, commit.

Each module here has one part of it: writes, turns, reads, lists, corrections, contexts and
branches.
`base.py` has the parts in common.
"""

from __future__ import annotations

from tenure.session.branches import SessionBranches
from tenure.session.contexts import SessionContexts
from tenure.session.corrections import SessionCorrections
from tenure.session.lists import SessionLists
from tenure.session.reads import SessionReads
from tenure.session.turns import SessionTurns
from tenure.session.writes import SessionWrites

__all__ = ["Session"]


class Session(
    SessionWrites,
    SessionTurns,
    SessionReads,
    SessionLists,
    SessionCorrections,
    SessionContexts,
    SessionBranches,
):
    """One identity at work. Get one from `memory.session(...)`; it is cheap and thread-safe.

    A branch (`hypothetical()`, `draft()`) and a look at the past (`as_of()`) are sessions too.
    """
