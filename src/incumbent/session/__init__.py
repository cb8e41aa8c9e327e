"""Session: the work of one identity with the memory. Load, let the rules decide, commit.

Each module here has one part of it: writes, turns, reads, lists, corrections, contexts and
branches.
`base.py` has the parts in common.
"""

from __future__ import annotations

from incumbent.session.branches import SessionBranches
from incumbent.session.contexts import SessionContexts
from incumbent.session.corrections import SessionCorrections
from incumbent.session.lists import SessionLists
from incumbent.session.reads import SessionReads
from incumbent.session.turns import SessionTurns
from incumbent.session.writes import SessionWrites

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
