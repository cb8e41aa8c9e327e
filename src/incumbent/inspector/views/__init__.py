"""The pages: a module for each, with its views in `ROUTES`."""

from __future__ import annotations

from incumbent.inspector.views import (
    branches,
    conversations,
    entering,
    erasure,
    fact,
    live,
    now,
    playground,
    receipts,
    reviews,
    righting,
    subjects,
    timeline,
)
from incumbent.inspector.visit import Route

ROUTES: tuple[Route, ...] = (
    *branches.ROUTES,
    *conversations.ROUTES,
    *entering.ROUTES,
    *erasure.ROUTES,
    *fact.ROUTES,
    *live.ROUTES,
    *now.ROUTES,
    *playground.ROUTES,
    *receipts.ROUTES,
    *reviews.ROUTES,
    *righting.ROUTES,
    *subjects.ROUTES,
    *timeline.ROUTES,
)
"""Every page and every action."""
