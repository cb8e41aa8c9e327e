"""The sheets of this process's facts, for all memories in it."""

from __future__ import annotations

from incumbent.context.roll import Sheets
from incumbent.search import analysis

SHEETS = Sheets(analysis.name_terms)
