"""The commands and their modules. A module is loaded when its command is called."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """A command, or a group of them."""

    module: str
    summary: str
    """The command's line in `incumbent --help`; a test keeps it the same as the command's own
    help."""


def _here(module: str, **summaries: str) -> dict[str, Command]:
    """The commands of a module of this package."""
    return {
        name.rstrip("_"): Command(f"{__name__}.{module}", summary)
        for name, summary in summaries.items()
    }


# The order of `incumbent --help`: what one does daily first.
COMMANDS: dict[str, Command] = {
    **_here("observe", observe="Take in a conversation: what is said in it becomes facts."),
    **_here(
        "write",
        write="State a fact, and see what became of it.",
        retract="Take back a fact, with no new value. Its chain ends there.",
        revert="Go back to an earlier value, as a new fact.",
        undo="Let everything stand as if a verdict had not been made.",
        note="Put something on a session's desk, for its contexts only.",
        declare="Say what is special about a key, or about every key of a pattern.",
    ),
    **_here(
        "read",
        current="Print the value in office, and nothing else.",
        facts="List the facts you go by, newest first.",
        history="Show the chain of a key, oldest first, and what was overruled.",
        explain="Tell why a fact stands: its chain, and every verdict on it.",
    ),
    **_here("contexts", context="Print what a model should read, within a token budget."),
    **_here(
        "receipts",
        receipts="List your contexts that were recorded, newest first.",
        replay="Print a recorded context again, byte for byte.",
        diff="Tell what changed between two recorded contexts, and why.",
    ),
    **_here("lists", list_="List what an organization has, by pages."),
    **_here("review", reviews="List what wants a decision.", resolve="Settle a review."),
    **_here(
        "inspect", inspect="See on a page what the agent believes, and why; put it right there."
    ),
    **_here("forget", forget="Erase facts for good, and print the proof."),
    **_here(
        "transfer",
        export="Write everything of an organization as JSON Lines.",
        import_="Load an export into an organization, or one of another memory.",
    ),
    **_here("copy", copy="Carry organizations from one store to another, and read them back."),
    **_here("reindex", reindex="Make the index anew that contexts search."),
    **_here(
        "usage",
        usage="Show what models were asked for second opinions, by day: calls, tokens, costs.",
    ),
    **_here(
        "audit",
        audit="Print every decision of an organization as JSON Lines, and go on as they come.",
    ),
    **_here(
        "doctor", doctor="Examine a store: schema, integrity, chains, index, tokenizer, reader."
    ),
    **_here("keys", keys="Manage the keys that programs show to be let in over a network."),
    **_here("database", db="Run a PostgreSQL database: make it, bring it up to date, examine it."),
    **_here("serve", serve="Serve a memory over HTTP, for programs in any language."),
    **_here(
        "proxy",
        proxy="Stand between an application and its model: observe, guard, add the context.",
    ),
    **_here("mcp", mcp="Let a model use a memory, over the Model Context Protocol."),
    "eval": Command(
        "incumbent_eval.cli.evaluating",
        "Measure on recorded conversations: what is current, what is stale, what was not meant.",
    ),
    **_here("chat", chat="Talk to a memory, and see what becomes of what you say."),
    **_here("demo", demo="Tell a story of facts taking office and leaving it."),
    **_here("completion", completion="Print what makes a shell complete commands and options."),
}
