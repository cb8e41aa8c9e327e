"""The order of the pages in the documentation site: what a newcomer reads first comes first."""

from __future__ import annotations

from typing import NamedTuple


class Group(NamedTuple):
    """A part of the navigation: its title and its pages."""

    title: str
    pages: tuple[str, ...]


NAVIGATION = (
    Group("Start here", ("tour", "recipes", "concepts", "observing", "context", "glossary")),
    Group(
        "Use it",
        (
            "api",
            "cli",
            "service",
            "inspector",
            "proxy",
            "mcp",
            "readers",
            "models",
            "postgres",
            "errors",
            "reference/index",
        ),
    ),
    Group(
        "In your framework",
        (
            *("integrations", "integrations/langchain", "integrations/openai-agents"),
            *("integrations/pydantic-ai", "integrations/agent-framework"),
            *("integrations/google-adk", "integrations/vercel-ai"),
            "integrations/llama-index",
            "integrations/litellm",
            "integrations/claude-agent-sdk",
            "integrations/crewai",
            "integrations/agno",
            "integrations/strands",
            "integrations/autogen",
            "integrations/haystack",
            "integrations/smolagents",
        ),
    ),
    Group("Coming from elsewhere", ("mem0", "importing", "anthropic-memory")),
    Group("Run it", ("security", "observability", "scaling", "performance")),
    Group("How well it does", ("evaluation", "figures", "detector")),
    Group(
        "Work on it",
        ("architecture", "contributing", "stores", "contents", "decisions", "changelog"),
    ),
)
