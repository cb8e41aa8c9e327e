"""The user's own model: how it is set up, what it is asked, and how its answer is read."""

from incumbent.language.llm.asking import Answer, Ask, Completion, Trouble
from incumbent.language.llm.config import LLM

__all__ = ["LLM", "Answer", "Ask", "Completion", "Trouble"]
