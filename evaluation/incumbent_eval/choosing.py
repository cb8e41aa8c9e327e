"""Finding the systems to evaluate: by name, or in a module of the user's own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from incumbent.model.errors import InvalidInput
from incumbent_eval import adapters
from incumbent_eval.systems import Maker

ALL = "all"


def makers(names: Sequence[str] | None) -> list[Maker]:
    """The maker of each named system, once each; ours if none is named."""
    wanted = list(dict.fromkeys(names or [adapters.OURS]))
    if ALL in wanted:
        wanted = list(dict.fromkeys([*adapters.available(), *wanted]))
        wanted.remove(ALL)
    return [_maker(name) for name in wanted]


def _maker(name: str) -> Maker:
    if ":" in name:
        return _imported(name)
    known = adapters.makers()
    if name not in known:
        raise InvalidInput(
            f"--system {name!r} is not one of {ALL}, {', '.join(known)}; "
            f"for a system of your own give MODULE:NAME"
        )
    why = adapters.missing(name)
    if why is not None:
        raise InvalidInput(why)
    return known[name]


def _imported(name: str) -> Maker:
    """A maker in a module, which may be a file in the current folder."""
    module, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = getattr(import_module(module), attribute)
    except (ImportError, ValueError) as error:
        raise InvalidInput(f"--system {name!r}: there is no such module: {error}") from None
    except AttributeError:
        raise InvalidInput(f"--system {name!r}: {module} has no {attribute!r}") from None
    if not callable(found):
        raise InvalidInput(
            f"--system {name!r} is no maker; name a class, or a function that gives a system"
        )
    return cast(Maker, found)
