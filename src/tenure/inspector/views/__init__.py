"""The pages: a module for each, with its views in `ROUTES`."""

from __future__ import annotations

from tenure.inspector.views import (
    entering,
    erasure,
    fact,
    live,
    now,
    reviews,
    righting,
    subjects,
    timeline,
)
from tenure.inspector.visit import Route

ROUTES: tuple[Route, ...] = (
    *entering.ROUTES,
    *erasure.ROUTES,
    *fact.ROUTES,
    *live.ROUTES,
    *now.ROUTES,
    *reviews.ROUTES,
    *righting.ROUTES,
    *subjects.ROUTES,
    *timeline.ROUTES,
)
"""Every page and every action."""
