"""The pages: a module for each, with its views in `ROUTES`."""

from __future__ import annotations

from tenure.inspector.views import (
    branches,
    conversations,
    entering,
    now,
    playground,
    receipts,
)
from tenure.inspector.visit import Route

ROUTES: tuple[Route, ...] = (
    *branches.ROUTES,
    *conversations.ROUTES,
    *entering.ROUTES,
    *now.ROUTES,
    *playground.ROUTES,
    *receipts.ROUTES,
)
"""Every page and every action."""
