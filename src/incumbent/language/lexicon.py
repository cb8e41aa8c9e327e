"""The words of a language, by what they do. One folder of data files per language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

DEFAULT_LANGUAGE = "en"


@lru_cache(maxsize=32)
def data(name: str, language: str = DEFAULT_LANGUAGE) -> dict[str, Any]:
    """One data file of a language."""
    path = files("incumbent.language").joinpath("data", language, f"{name}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def either(patterns: Iterable[str] | str, *, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """A pattern that finds any of these at the borders of words."""
    parts = [patterns] if isinstance(patterns, str) else list(patterns)
    return re.compile(rf"(?<![\w'])(?:{'|'.join(parts)})(?![\w])", flags)


@lru_cache(maxsize=8)
def _articles(language: str) -> tuple[tuple[re.Pattern[str], re.Pattern[str], str], ...]:
    return tuple(
        (
            re.compile(rf"(?<!\w)({told['is']}) $"),
            re.compile(told["before"], re.IGNORECASE),
            told["so"],
        )
        for told in data("frames", language).get("articles", ())
    )


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True)
class Lexicon:
    """The closed classes of a language, and the few cues that statements are read by."""

    determiners: frozenset[str]
    indefinite: frozenset[str]
    particles: frozenset[str]
    joining: frozenset[str]
    """Words that only tie a statement to the one before: but, and."""
    changing: frozenset[str]
    """Stems of verbs of change: what follows their "to" is the new value."""
    copulas: frozenset[str]
    possessors: frozenset[str]
    fresh: frozenset[str]
    """Words that say that something is new, and not what it is."""
    vague: frozenset[str]
    """Words that are too vague to be a value by themselves."""
    telling: frozenset[str]
    """Stems of verbs that tell one end of a thing from the other."""
    pronouns: frozenset[str]
    speaker: frozenset[str]
    """Words for the one who speaks, and for what is theirs."""
    verbs: frozenset[str]
    function_words: frozenset[str]
    """Every word that no value and no topic is made of."""
    prepositions: dict[str, str]
    """Each preposition, and the class of what follows it."""
    contrasts: frozenset[frozenset[str]]
    intent: frozenset[str]
    additive: re.Pattern[str]
    pointing: re.Pattern[str]
    """What begins a statement about something that was named before: it, that."""
    failure: re.Pattern[str]


@lru_cache(maxsize=8)
def lexicon(language: str = DEFAULT_LANGUAGE) -> Lexicon:
    told = data("frames", language)
    words = {name: word_set(text) for name, text in told["words"].items()}
    prepositions: dict[str, str] = {}
    for name, listed in told["prepositions"].items():
        for word in listed.split():
            prepositions.setdefault(word, name)
    cues = told["cues"]
    return Lexicon(
        determiners=words["determiners"],
        indefinite=words["indefinite"],
        particles=words["particles"],
        joining=words["joining"],
        changing=frozenset(told["changing"]["stems"].split()),
        copulas=words["copulas"],
        possessors=words["possessors"],
        fresh=words["fresh"],
        vague=words["vague"],
        telling=frozenset(
            end.split()[0] for pair in told["contrasts"]["pairs"] for end in pair
        ).difference(prepositions),
        pronouns=words["pronouns"],
        speaker=words["speaker"],
        verbs=words["verbs"],
        function_words=frozenset(prepositions).union(
            *(listed for name, listed in words.items() if name not in ("vague", "fresh"))
        ),
        prepositions=prepositions,
        contrasts=frozenset(frozenset(pair) for pair in told["contrasts"]["pairs"]),
        intent=word_set(told["intent"]["verbs"]),
        additive=either(cues["additive"]),
        pointing=re.compile(rf"(?:{cues['pointing']})\b", re.IGNORECASE),
        failure=either(cues["failure"]),
    )
