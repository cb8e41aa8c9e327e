"""The pages: a module for each, with its views in `ROUTES`."""

from __future__ import annotations

from tenure.inspector.views import entering, live, now, subjects, timeline
from tenure.inspector.visit import Route

ROUTES: tuple[Route, ...] = (
    *entering.ROUTES,
    *live.ROUTES,
    *now.ROUTES,
    *subjects.ROUTES,
    *timeline.ROUTES,
)
"""Every page and every action."""
