"""Setting a model up: one setting, plain errors, nothing loaded and nobody called without it."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent.context.tokens import counter
from incumbent.reading.asked.client import completion_for
from incumbent.reading.asked.prompting import Shown, ask_for, prompt
from tests.llm.scripted import Scripted
from tests.patience import PATIENCE

SOURCE = Path(__file__).parents[2] / "src"
KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY")

DIGESTS = {1: "14884f3eeabb"}
"""Prompts that were released. A change of one of them is a new version."""


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*KEYS, "GEMINI_API_KEY", "OLLAMA_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"model": "gpt"}, '"provider:name"'),
        ({"model": "openai:"}, '"provider:name"'),
        ({"model": 7}, "is no model"),
        ({"model": "openai:x", "mode": "later"}, 'llm mode is "background" or "inline"'),
        ({"model": "openai:x", "timeout": 0}, "more than 0 seconds"),
        ({"model": "openai:x", "timeout": float("inf")}, "timeout must be at least 0"),
        ({"model": "openai:x", "timeout": float("nan")}, "timeout must be at least 0"),
        ({"model": "openai:x", "timeout": "9"}, "timeout must be at least 0"),
        ({"model": "openai:x", "retries": -1}, "retries must be a whole number from 0 up"),
        ({"model": "openai:x", "batch_turns": 0}, "batch_turns must be a whole number from 1 up"),
        ({"model": "openai:x", "queue_size": 2.5}, "queue_size must be a whole number"),
        ({"model": "openai:x", "calls_per_day": -1}, "calls_per_day must be a whole number"),
        ({"model": "openai:x", "input_price": -1.0}, "input_price must be at least 0"),
        ({"model": "openai:x", "pause": -1}, "pause must be at least 0"),
        ({"model": "openai:x", "at_once": None}, "at_once must be a whole number from 1 up"),
        ({"model": "openai:x", "cost_per_day": 1}, "takes input_price and output_price"),
        ({"model": "openai:x", "mode": "inline", "pause": 5}, 'go with mode="background"'),
        ({"model": "openai:x", "output": "xml"}, "llm output is one of"),
        ({"model": "openai:x", "base_url": "localhost"}, "must be an address such as http://"),
        ({"model": "openai:x", "base_url": "http://[x"}, "must be an address such as http://"),
        ({"model": "openai:x", "base_url": "http://me:pw@host/v1"}, "give it as api_key="),
        ({"model": "openai:x", "api_key": " "}, "api_key must be text that is not empty"),
        ({"model": Scripted(), "base_url": "http://host/v1"}, "model that is given by name"),
    ],
)
def test_a_bad_setting_is_refused(given: dict[str, Any], told: str) -> None:
    """The message names the setting and what it takes."""
    with pytest.raises(incumbent.InvalidInput, match="llm") as refused:
        incumbent.LLM(given.pop("model"), **given)
    assert told in str(refused.value)


@pytest.mark.parametrize("given", [7, {"model": "openai:x", "api_key": "k"}, "gpt"])
def test_settings_take_a_name_or_an_llm(given: Any) -> None:
    """Anything else is refused when the settings are made."""
    with pytest.raises(incumbent.InvalidInput, match="llm"):
        incumbent.Settings(llm=given)
    assert incumbent.Settings(llm="openai:x").llm == "openai:x"


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("openai:gpt-5-mini", "OPENAI_API_KEY"),
        ("anthropic:claude-x", "ANTHROPIC_API_KEY"),
        ("google:gemini-x", "GOOGLE_API_KEY"),
        ("vllm:x", "needs base_url="),
        ("nobody:x", "Unknown provider: nobody"),
        ("groq:x", "needs a package that is not installed"),
    ],
)
def test_what_a_provider_lacks_is_told_on_opening(model: str, told: str, store_path: Path) -> None:
    """A missing key, address or package is an error of ours, and no file is made."""
    with pytest.raises(incumbent.InvalidInput) as refused:
        incumbent.open(store_path, settings=incumbent.Settings(llm=model))
    assert told in str(refused.value)
    assert not store_path.exists()


@pytest.mark.parametrize(
    ("model", "options", "kind"),
    [
        ("openai:gpt-5-mini", {"api_key": "k"}, "OpenAIResponsesModel"),
        ("openai:x", {"base_url": "http://localhost:1/v1"}, "OpenAIChatModel"),
        ("vllm:x", {"base_url": "http://localhost:1/v1"}, "OpenAIChatModel"),
        ("ollama:qwen3", {}, "OllamaModel"),
        ("anthropic:claude-x", {"api_key": "k"}, "AnthropicModel"),
        ("google:gemini-x", {"api_key": "k"}, "GoogleModel"),
    ],
)
def test_every_kind_of_provider_can_be_set_up(
    model: str, options: dict[str, Any], kind: str
) -> None:
    """OpenAI, Anthropic, Google, Ollama, vLLM and whatever speaks like OpenAI."""
    made: Any = completion_for(incumbent.LLM(model, **options))
    assert type(made._model()).__name__ == kind
    assert made.name == model


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, str(SOURCE)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_without_the_extra_the_error_names_the_install() -> None:
    """Everything else works, and the setting says what to install."""
    assert run(
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "class Gone:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('pydantic_ai', 'pydantic', 'openai'):\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "import importlib.util\n"
        "found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda n, *a: None if n == 'pydantic_ai' else found(n, *a)\n"
        "sys.meta_path.insert(0, Gone())\n"
        "import incumbent\n"
        "with incumbent.open(':memory:', settings=incumbent.Settings(embedder=None)) as memory:\n"
        "    memory.session(user_id='ann').observe('My desk is green.')\n"
        "try:\n"
        "    incumbent.open(':memory:', settings=incumbent.Settings(llm='openai:gpt-5-mini'))\n"
        "except incumbent.InvalidInput as error:\n"
        "    print(error)\n"
    ).endswith('install it with: pip install "incumbent[llm]"')


def test_nothing_is_loaded_without_the_setting() -> None:
    """Observing without a model imports no client and starts no thread."""
    assert (
        run(
            "import sys, threading; sys.path.insert(0, sys.argv[1]); import incumbent\n"
            "with incumbent.open(':memory:', settings=incumbent.Settings(embedder=None)) as "
            "memory:\n"
            "    made = memory.session(user_id='ann').observe('My desk is green.')\n"
            "print(made.opinion, threading.active_count(),\n"
            "      sorted({'pydantic_ai', 'openai', 'httpx', 'asyncio'} & set(sys.modules)))\n"
        )
        == "None 1 []"
    )


def test_a_released_prompt_does_not_change() -> None:
    """The words that verdicts name by version and hash are the words that were used."""
    assert {version: prompt(version).digest for version in DIGESTS} == DIGESTS
    assert prompt().version == max(DIGESTS)
    assert prompt().name == f"reading@{max(DIGESTS)} {DIGESTS[max(DIGESTS)]}"


def test_the_instructions_are_short_and_the_same_for_all() -> None:
    """They come first, with the form of the answer, so that providers can remember them."""
    count = counter("o200k_base")
    turns = [Shown(date(2026, 5, 1), {"s1": "It is green"})]
    fact = Shown(date(2026, 4, 1), {"k1": "It is blue"})
    first, second = ask_for([], turns, 100), ask_for([fact], turns, 100)
    assert (first.instructions, first.schema) == (second.instructions, second.schema)
    assert count(first.instructions) <= 600


def test_a_usual_sitting_is_a_small_request() -> None:
    """Eight turns and as many facts as are shown at most take 1,500 tokens, all in all."""
    count, day = counter("o200k_base"), date(2026, 5, 1)
    facts = [
        Shown(
            day - timedelta(days=n // 2),
            {f"k{n}": f"The shelf in room {n} of the east wing is full of tins."},
        )
        for n in range(1, incumbent.LLM("x:y").known_facts + 1)
    ]
    turns = [
        Shown(day, {f"s{n}": "The tins of the second shelf go to Okafor on Friday."})
        for n in range(1, 9)
    ]
    ask = ask_for(facts, turns, 100)
    schema = json.dumps(ask.schema, separators=(",", ":"))
    assert sum(map(count, (ask.instructions, ask.data, schema))) <= 1_500


def test_every_setting_of_an_llm_is_documented() -> None:
    """docs/models.md has a line for every field, with the default it really has."""
    page = (SOURCE.parent / "docs" / "models.md").read_text(encoding="utf-8")
    table = page.partition("## Settings of an LLM")[2]
    shown = {
        name: default
        for names, default in re.findall(r"^- ([^(:]+?)(?: \(([^)]*)\))?: ", table, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", names)
    }
    real = {
        field.name: "" if field.name == "model" else repr(field.default)
        for field in dataclasses.fields(incumbent.LLM)
    }
    assert {name: default.strip(" `") for name, default in shown.items()} == real
