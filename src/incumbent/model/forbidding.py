"""The words that forbid, for the rules that classify what is written and for readers of talk."""

from __future__ import annotations

from typing import Final

MAY_NOT: Final = r"(?<!may or )may not(?! (?:happen|work|be able|come|need|know|have)\b)"
"""What is not allowed, and not what may come to nothing: "the boat may not come"."""
