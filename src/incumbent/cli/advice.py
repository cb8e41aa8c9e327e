"""Options for a model's second opinion, and how opinions are printed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal

import incumbent
from incumbent.cli.declaring import option, options
from incumbent.words import shown

_PANEL = "A second opinion"


@options(_PANEL)
class Second:
    """The model that gives second opinions, and its limits."""

    llm: str | None = option(
        "MODEL",
        "A model that looks again: openai:NAME, anthropic:NAME, google:NAME, ollama:NAME, "
        "vllm:NAME. What is said is sent to its provider; the key is read from the provider's "
        "usual variable.",
        env="INCUMBENT_LLM",
        shown="none",
    )
    llm_url: str | None = option(
        "URL",
        "Where it is reached, for a server of your own.",
        env="INCUMBENT_LLM_URL",
        shown="the provider's",
    )
    llm_timeout: float = option(
        "SECONDS", "How long one request may take.", default=30.0, env="INCUMBENT_LLM_TIMEOUT"
    )
    llm_calls: int | None = option(
        "COUNT",
        "How many requests the organization has per day.",
        env="INCUMBENT_LLM_CALLS",
        shown="no limit",
    )

    def settings(
        self, settings: incumbent.Settings, mode: Literal["background", "inline"]
    ) -> incumbent.Settings:
        """These settings, with the model if one is named."""
        if self.llm is None:
            return settings
        # What is told at the end tells it all; lines in between would only break up the progress.
        logging.getLogger("incumbent.llm").addHandler(logging.NullHandler())
        return replace(
            settings,
            llm=incumbent.LLM(
                self.llm,
                mode=mode,
                base_url=self.llm_url,
                timeout=self.llm_timeout,
                calls_per_day=self.llm_calls,
                queue_size=1_000_000,
            ),
        )


def opinion_document(opinion: incumbent.Opinion | None) -> dict[str, Any] | None:
    """The opinion of a model on a turn, as JSON."""
    if opinion is None:
        return None
    return {
        "model": opinion.model,
        "status": opinion.status,
        "reason": opinion.reason,
        "proposals": [
            {
                "turn_index": one.turn_index,
                "key": one.key,
                "subject": one.subject,
                "value": one.value,
                "outcome": one.outcome,
                "reason": one.reason,
                "verdict": one.verdict.id if one.verdict is not None else None,
            }
            for one in opinion.proposals
        ],
    }


def opinion_lines(opinion: incumbent.Opinion) -> Iterator[tuple[str, str]]:
    """The opinion on one turn: its fate, and the reason for each dropped proposal."""
    yield "opinion", shown(str(opinion))
    for one in opinion.proposals:
        if one.outcome == "dropped":
            about = f"{one.key} = {one.value}" if one.key else one.value
            yield "dropped", shown(f"{about}: {one.reason}" if about else one.reason)


def summary_lines(opinions: Iterable[incumbent.Opinion]) -> Iterator[tuple[str, str]]:
    """The opinions on many turns, added up."""
    asked = list(opinions)
    if not asked:
        return
    given = [opinion for opinion in asked if opinion.status == "given"]
    outcomes = [one.outcome for opinion in given for one in opinion.proposals]
    told = ", ".join(
        f"{outcomes.count(word):,} {word}"
        for word in ("accepted", "agreed", "dropped")
        if outcomes.count(word)
    )
    yield "opinions", f"on {len(given):,} turn(s): {told or 'nothing to add'}"
    failed = [opinion.reason for opinion in asked if opinion.status != "given"]
    if failed:
        yield "no opinion", f"on {len(failed):,} turn(s), the offline reading stands: {failed[0]}"
