"""How far two people who annotate the same conversations agree: the ceiling of what can be learned.

    python -m training.agreement

Compares `training/conversations/second.txt`, which was annotated without sight of the first
annotation, with the conversations of the same ids in the other files, line by line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from incumbent_eval.conversations.format import (
    MarkedConversation,
    MarkedLine,
    RelationKind,
    read_conversations,
)

FOLDER = Path(__file__).parent / "conversations"
SECOND = FOLDER / "second.txt"
_STATES = "states"
_OVER = frozenset({RelationKind.REPLACES, RelationKind.PART, RelationKind.ENDS})


def both() -> Iterator[tuple[MarkedConversation, MarkedConversation]]:
    """The conversations that were annotated twice."""
    second = {one.id: one for one in read_conversations(SECOND)}
    for path in sorted(FOLDER.glob("*.txt")):
        if path != SECOND:
            for first in read_conversations(path):
                if first.id in second:
                    yield first, second[first.id]


def _lines(conversation: MarkedConversation) -> list[MarkedLine]:
    return [line for turn in conversation.turns for line in turn.lines if line.text]


def _places(lines: Sequence[MarkedLine]) -> dict[int, int]:
    """Where the statement of a number is; the two count differently."""
    return {line.number: place for place, line in enumerate(lines) if line.number is not None}


def _of_kind(line: MarkedLine) -> str:
    return _STATES if line.number is not None else line.mark or "none"


def f1(pairs: Sequence[tuple[set[object], set[object]]]) -> float:
    """The share of what either has that both have, as F1."""
    hits = sum(len(one & other) for one, other in pairs)
    either = sum(len(one) + len(other) for one, other in pairs)
    return 2 * hits / either if either else 1.0


def report() -> dict[str, float]:
    """What the two agree on, by what is told."""
    relations: dict[str, list[tuple[set[object], set[object]]]] = {}
    over: list[tuple[set[object], set[object]]] = []
    kinds: Counter[tuple[str, str]] = Counter()
    count = 0
    for first, second in both():
        count += 1
        ours, theirs = _lines(first), _lines(second)
        for one, other in zip(ours, theirs, strict=True):
            kinds[_of_kind(one), _of_kind(other)] += 1
        places = _places(ours), _places(theirs)
        for kind in RelationKind:
            told = tuple(
                {
                    (at, where[relation.to])
                    for at, line in enumerate(lines)
                    for relation in line.relations
                    if relation.kind is kind
                }
                for lines, where in zip((ours, theirs), places, strict=True)
            )
            relations.setdefault(kind, []).append((set(told[0]), set(told[1])))
        dead = tuple(
            {
                where[relation.to]
                for line in lines
                for relation in line.relations
                if relation.kind in _OVER
            }
            for lines, where in zip((ours, theirs), places, strict=True)
        )
        over.append((set(dead[0]), set(dead[1])))
    same = sum(n for (one, other), n in kinds.items() if one == other)
    hit = kinds[_STATES, _STATES]
    either = sum(n * pair.count(_STATES) for pair, n in kinds.items())
    return {
        "conversations": count,
        "no longer holds, F1": f1(over),
        "which lines state something, F1": 2 * hit / either,
        "kinds of lines, same": same / sum(kinds.values()),
        **{f"{kind}, F1": f1(found) for kind, found in relations.items()},
    }


def main() -> None:
    for name, value in report().items():
        print(f"{name:32} {value:.2f}" if isinstance(value, float) else f"{name:32} {value}")


if __name__ == "__main__":
    main()
