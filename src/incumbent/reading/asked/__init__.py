"""The user's own model: how it is set up, what it is asked, and how its answer is read."""

from incumbent.reading.asked.asking import Answer, Ask, Completion, Trouble
from incumbent.reading.asked.config import LLM

__all__ = ["LLM", "Answer", "Ask", "Completion", "Trouble"]
