"""The navigation: the pages that a visitor goes to by name."""

from __future__ import annotations

from typing import NamedTuple


class Destination(NamedTuple):
    """An entry of the navigation."""

    name: str
    """The name by which a page says that it is here."""
    title: str
    path: str
    scope: str = "read"
    """What the credential must be good for."""
    key: str = ""
    """The letter that leads there, after g."""


NAVIGATION = (
    Destination("now", "Now", "", key="n"),
    Destination("reviews", "Reviews", "reviews", key="r"),
    Destination("playground", "Context", "context", key="c"),
    Destination("timeline", "Timeline", "timeline", key="t"),
    Destination("conversations", "Conversations", "conversations", key="v"),
    Destination("branches", "Branches", "branches", key="b"),
    Destination("live", "Live", "live", "admin", key="l"),
    Destination("erasure", "Erasure", "erasure", "erase", key="e"),
)
