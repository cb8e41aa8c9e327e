"""A dozen realistic situations: memories as real agents fill them, and the contexts asked of them.

Each situation fills a memory through the public API only, with ids and times of its own, so that
what it renders is the same byte for byte on every store, at every run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from incumbent import Memory
from incumbent.testing import SteppingClock
from tests.context.situations import coding, company, forms, medical, travel
from tests.context.situations.scene import Scene

Situation = Callable[[Memory, SteppingClock], list[Scene]]

SITUATIONS: Mapping[str, Situation] = {
    told.__name__: told
    for told in (
        company.procurement,
        company.support,
        company.two_people,
        travel.trip,
        medical.ward,
        coding.agent,
        forms.task_overrides_preference,
        forms.what_if,
        forms.several_values,
        forms.package_managers,
        forms.nothing_relevant,
        forms.small_budgets,
        forms.profiles,
        forms.possibly_outdated,
    )
}

__all__ = ["SITUATIONS", "Scene", "Situation"]
