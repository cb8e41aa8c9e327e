"""Readers: the models that read for the organizations of a service, from a file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from incumbent.model.errors import InvalidInput
from incumbent.reading.asked import LLM

_KEY = "api_key_env"
_KNOWN = (_KEY, *(field.name for field in fields(LLM) if field.name != "api_key"))


def readers_in(path: Path | None) -> dict[str, LLM]:
    """The models in a TOML file: a table for each organization, "*" for the others."""
    if path is None:
        return {}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"the readers in {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InvalidInput(f"the readers in {path} are not TOML: {error}") from None
    return {name: _reader(given, f"{path} [{name}]") for name, given in found.items()}


def _reader(given: Any, place: str) -> LLM:
    if not isinstance(given, Mapping) or "model" not in given:
        raise InvalidInput(f'{place}: name its model, as in model = "openai:gpt-5-mini"')
    options = {**given}
    if "api_key" in options:
        raise InvalidInput(
            f"{place}: no key stands in this file; name the environment variable that has it, "
            f'as in {_KEY} = "ACME_OPENAI_KEY"'
        )
    if unknown := sorted(options.keys() - set(_KNOWN)):
        raise InvalidInput(f"{place}: there is no {unknown[0]}; there are {', '.join(_KNOWN)}")
    if (variable := options.pop(_KEY, None)) is not None:
        options["api_key"] = os.environ.get(str(variable))
        if not options["api_key"]:
            raise InvalidInput(f"{place}: the environment variable {variable!r:.80} is not set")
    try:
        return LLM(options.pop("model"), **options)
    except InvalidInput as error:
        raise InvalidInput(f"{place}: {error}") from None
