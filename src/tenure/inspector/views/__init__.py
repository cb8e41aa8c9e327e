"""The pages: a module for each, with its views in `ROUTES`."""

from __future__ import annotations

from tenure.inspector.views import entering, now
from tenure.inspector.visit import Route

ROUTES: tuple[Route, ...] = (*entering.ROUTES, *now.ROUTES)
"""Every page and every action."""
