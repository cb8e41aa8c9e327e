"""How each layer reads. Stored text is data: whatever it contains, it stays on its own line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tenure.model.fact import Fact
from tenure.model.identity import Identity
from tenure.model.records import Environment, WorkingItem
from tenure.model.values import text_of

# Anything that could end a line, hide text or turn its direction.
_UNRULY = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)


def inline(value: Any) -> str:
    """A value on one line; one that holds control characters is shown escaped, in quotes."""
    text = text_of(value)
    if not _UNRULY.search(text):
        return text
    return json.dumps(text, ensure_ascii=True) if isinstance(value, str) else _escaped(text)


def _escaped(text: str) -> str:
    return _UNRULY.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def identity_lines(identity: Identity) -> Iterator[str]:
    name = inline(identity.user_name or identity.user_id)
    yield f"User: {name} ({inline(identity.user_id)})"
    title = identity.authority.title
    rung = identity.authority.rung
    yield f"Authority: {rung}" if title == rung else f"Authority: {inline(title)} ({rung})"
    yield f"Organization: {inline(identity.organization)}"
    if identity.department:
        yield f"Department: {inline(identity.department)}"
    if identity.permissions:
        yield f"Permissions: {', '.join(inline(name) for name in sorted(identity.permissions))}"


def environment_lines(environment: Environment) -> Iterator[str]:
    now = environment.current_time
    yield f"Current date: {now:%A} {environment.current_date.isoformat()}"
    yield f"Current time: {now:%H:%M} {inline(environment.timezone)}"
    if environment.location:
        yield f"Location: {inline(environment.location)}"
    for name, value in sorted(environment.external_data.items()):
        yield f"{inline(name)}: {inline(value)}"
    for name in sorted(environment.unavailable):
        yield f"{inline(name)}: not available right now"


def name_of(fact: Fact) -> str:
    """What a fact is about: its key, and whose where a subject is named."""
    key = inline(fact.key)
    return f"{key} ({inline(fact.subject)})" if fact.subject else key


def fact_line(fact: Fact) -> str:
    return f"- {name_of(fact)}: {inline(fact.value)}"


def review_line(fact: Fact, bases: Mapping[str, Fact], *, with_value: bool) -> str:
    """A fact whose base changed: named, and its value withheld unless asked for."""
    changed = sorted({inline(bases[c.base].key) for c in fact.causes if c.base in bases})
    because = f", because {' and '.join(changed)} changed" if changed else ""
    if with_value:
        return f"- {name_of(fact)}: was {inline(fact.value)}, not to be relied on{because}"
    return f"- {name_of(fact)}: not known, must be recalculated{because}"


def item_line(item: WorkingItem) -> str:
    return f"- {inline(item.key)}: {inline(item.value)}"
