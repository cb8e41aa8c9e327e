"""The pages: a module for each, with its views in `ROUTES`."""

from __future__ import annotations

from tenure.inspector.views import entering, erasure, fact, now, reviews, righting
from tenure.inspector.visit import Route

ROUTES: tuple[Route, ...] = (
    *entering.ROUTES,
    *erasure.ROUTES,
    *fact.ROUTES,
    *now.ROUTES,
    *reviews.ROUTES,
    *righting.ROUTES,
)
"""Every page and every action."""
