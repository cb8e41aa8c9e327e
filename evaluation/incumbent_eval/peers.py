"""The `statebench` package, if it is installed: its base class, baselines and generator.

It is imported only on demand, and nothing of it goes to the network here: its tokenizer would
download files, so one that carries its own takes that place.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module, metadata
from typing import Any

from incumbent.model.errors import InvalidInput
from incumbent_eval.timelines import Record

PACKAGE = "statebench"
INSTALL = "pip install statebench==2.0.0"
OFFLINE = (
    "no_memory",
    "transcript_replay",
    "transcript_latest_wins",
    "flat_file",
    "dialectic",
    "state_based_no_supersession",
    "state_based",
    "memgine",
    "memgine_safe_supersession",
)
"""The package's baselines that ask no hosted model for anything."""
NEWER_TRACKS = (
    "supersession_maintain",
    "authority_conflict",
    "dependency_chain",
    "authority_maintain",
    "cf_access_control",
    "cf_scope_binding",
    "cf_actor_isolation",
    "cf_temporal_validity",
    "cf_supersession",
    "cf_commitment_status",
    "cf_dependency_validity",
    "applicability",
)
"""The tracks that version 2.0.0 added."""
_ENCODING = "cl100k_base"


class PackageMissing(InvalidInput, ImportError):
    """Something needs the `statebench` package, and it is not there, or too old for that."""


def installed_version() -> str | None:
    """The installed version of the package, or None."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return None


@cache
def module(name: str) -> Any:
    """A module of the package. Raises PackageMissing, which names the package to install."""
    if installed_version() is None:
        raise PackageMissing(f"this needs the {PACKAGE} package; install it with: {INSTALL}")
    try:
        _use_our_tokenizer()
        return import_module(f"{PACKAGE}.{name}")
    except ImportError as error:
        raise PackageMissing(
            f"{PACKAGE} {installed_version()} is not whole ({error}); install it with: {INSTALL}"
        ) from error


@cache
def _use_our_tokenizer() -> None:
    import splintr

    encoding = splintr.Tokenizer.from_pretrained(_ENCODING)
    tiktoken: Any = import_module("tiktoken")
    tiktoken.get_encoding = lambda name: encoding
    tiktoken.encoding_for_model = lambda name: encoding


def baselines() -> tuple[str, ...]:
    """The baselines of the installed version that run offline; none without the package."""
    if installed_version() is None:
        return ()
    registry = module("baselines").BASELINE_REGISTRY
    return tuple(name for name in OFFLINE if name in registry)


def check_baseline(name: str) -> None:
    """Refuse a name that the installed version does not have."""
    known = module("baselines").BASELINE_REGISTRY
    if name not in known:
        raise InvalidInput(
            f"{PACKAGE} {installed_version()} has no baseline {name!r}; it has {', '.join(known)}"
        )


def baseline(name: str, budget: int) -> Any:
    """A baseline of the package, ready for a timeline."""
    return module("baselines").get_baseline(name, token_budget=budget)


def generated(tracks: tuple[str, ...], *, count: int, seed: int) -> list[Record]:
    """Timelines as the package generates them, track by track, with one random generator."""
    generator = module("generator").TimelineGenerator(seed=seed)
    made = []
    for track in tracks:
        try:
            made += list(generator.generate_track(track, count=count))
        except ValueError:
            raise PackageMissing(
                f"{PACKAGE} {installed_version()} has no track {track!r}; "
                f"install a newer one with: {INSTALL}"
            ) from None
    return [timeline.model_dump(mode="json") for timeline in made]


def parsed(timeline: Record) -> Any:
    """A timeline as the package's own model of it."""
    return module("schema.timeline").Timeline.model_validate(timeline)
