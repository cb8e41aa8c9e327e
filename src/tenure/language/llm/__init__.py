"""The user's own model: how it is set up, what it is asked, and how its answer is read."""

from tenure.language.llm.asking import Answer, Ask, Completion, Trouble
from tenure.language.llm.config import LLM

__all__ = ["LLM", "Answer", "Ask", "Completion", "Trouble"]
