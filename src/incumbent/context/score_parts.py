"""The parts of a score, which nobody changes: whoever asks the same may be given the same ones."""

from __future__ import annotations

from typing import Any


class ScoreParts(dict[str, float]):
    """What a score is made of, by name. For reading; `dict(parts)` is a copy to change."""

    __slots__ = ()

    def _refuse(self, *given: Any, **named: Any) -> Any:
        raise TypeError("the parts of a score cannot be changed; change a copy, dict(parts)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)
