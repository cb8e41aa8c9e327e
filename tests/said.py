"""What a reading of turns files, put where a test needs it without a turn that reads so."""

from __future__ import annotations

from typing import Any

import incumbent
from incumbent.engine.proposal import Proposal
from incumbent.model.fact import UNNAMED


def keep_said(
    session: incumbent.Session, text: str, source: incumbent.Source, **terms: Any
) -> incumbent.Verdict:
    """Keep words as they were said: under no name, beside all others."""
    given = {"key": UNNAMED, "multi_valued": True, "spoken": True, **terms}
    proposal = Proposal(value=text, source=source, **given)
    with session._registrar() as registrar:
        return registrar.propose(proposal)
