"""The desk: the notes and turns of a session that a query is about, and their order.

The working set of a context takes only relevant items. The objective and the open questions of the
session are relevant to every query, and so are the last turns. A question that names nothing ("What
now?") is about all items. If nothing on the desk matches the question, the newest come first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from incumbent.context.document import Omission
from incumbent.context.ranking import base_score
from incumbent.language.cues import Cues
from incumbent.language.lexicon import DEFAULT_LANGUAGE, data
from incumbent.model.records import WorkingItem, is_turn
from incumbent.model.values import text_of
from incumbent.search import analysis
from incumbent.search.analysis import name_terms, terms
from incumbent.search.index import Index
from incumbent.search.retrieval import Hits, search
from incumbent.stores.port import Found

if TYPE_CHECKING:
    from incumbent.search.collection import Vector

_LOOKED_AT = 10_000
"""Characters of a note that are searched for words."""
_GIST = 1_000
"""Characters of a note from which its meaning is computed."""
_MOST_MEANINGS = 64
"""The most notes for which a meaning is computed, the newest; for more, words decide."""
_NAMED = 400
"""The most omitted turns that are named one by one."""


class SelectedItems(NamedTuple):
    """The items of a desk that a context may show."""

    items: list[WorkingItem]
    """In the order in which they were put there."""
    foremost: list[str]
    """Their keys, the most important first."""
    omissions: list[Omission]
    bears: bool
    """Whether any of them bears on the query."""


class WorkingSetSelector:
    """Sorts the items of a desk by relevance to a query."""

    def __init__(
        self,
        items: Sequence[WorkingItem],
        asked: set[str],
        *,
        recent: int,
        everything: bool,
        aside: Iterable[str] = (),
    ) -> None:
        """`asked` are the terms of the query, `recent` is the number of last turns that count,
        `aside` names turns that do not count. With `everything`, no item is left out as irrelevant.
        """
        self._items = items
        self._asked = telling(asked)
        self._keeps_all = everything
        self._spoken = self._last([item for item in items if is_turn(item)], recent, aside)
        self._noted = self._last([i for i in items if not is_turn(i) and is_said(i.key)], recent)

    @staticmethod
    def _last(turns: list[WorkingItem], recent: int, aside: Iterable[str] = ()) -> set[str]:
        out = set(aside)
        keys = [item.key for item in turns if item.key not in out]
        return set(keys[-recent:]) if recent else set()

    def shown(
        self, query: str, index: Index, meaning: Callable[[str], Vector | None]
    ) -> SelectedItems:
        """The items that the context may show, by relevance to the query."""
        items = [item for item in self._items if not is_turn(item) or item.key in self._spoken]
        scores = self._scores(items, query, index, meaning) if self._asked else {}
        ranks = {
            item.key: self._rank(item, scores, age) for age, item in enumerate(reversed(items))
        }
        kept = [item for item in items if ranks[item.key] is not None]
        first = sorted((rank, key) for key, rank in ranks.items() if rank is not None)
        left_out = [item.key for item in self._items if ranks.get(item.key) is None]
        return SelectedItems(kept, [key for _, key in first], _accounted(left_out), bool(scores))

    def _rank(
        self, item: WorkingItem, scores: Mapping[str, float], age: int
    ) -> tuple[int, float, int] | None:
        """The sort key of an item; the lowest comes first. None leaves the item out."""
        if is_standing(item.key) and not is_turn(item):
            return (0, 0.0, age)
        if item.key in scores:
            return (1, -scores[item.key], age)
        if not scores or item.key in self._spoken or item.key in self._noted:
            return (2, 0.0, age)
        return (3, 0.0, age) if self._keeps_all else None

    def _scores(
        self,
        items: Sequence[WorkingItem],
        query: str,
        index: Index,
        meaning: Callable[[str], Vector | None],
    ) -> dict[str, float]:
        """The scores of the items that match the query by a word or by meaning."""
        return {
            hit.fact_id: base_score(hit.text, hit.meaning)
            for hit in self._hits(items, query, index, meaning)
            if not self._asked.isdisjoint(hit.row.terms) or hit.meaning > index.unrelated
        }

    @staticmethod
    def _hits(
        items: Sequence[WorkingItem],
        query: str,
        index: Index,
        meaning: Callable[[str], Vector | None],
    ) -> Hits:
        """The match of each item by words and by meaning, computed as for facts."""
        from incumbent.search.collection import AdHoc

        if not items:
            return Hits()
        texts = [text_of(item.value)[:_LOOKED_AT] for item in items]
        gists = [
            analysis.sentence(item.key, None, text[:_GIST])
            for item, text in zip(items, texts, strict=True)
        ]
        late = len(items) - _MOST_MEANINGS
        index.prepare(gists[max(0, late) :])
        rows = []
        for number, (item, text, gist) in enumerate(zip(items, texts, gists, strict=True)):
            terms = " ".join(analysis.terms(analysis.text_for_terms(item.key, None, text)))
            vector = index.vector(gist) if number >= late else None
            rows.append((Found(number, item.key, item.key, terms, 0, vector), False))
        return search(AdHoc(rows, index.dimensions), query, meaning, limit=len(rows))


def _accounted(keys: Sequence[str]) -> list[Omission]:
    if len(keys) > _NAMED:
        return [Omission("irrelevant", item="working set", count=len(keys))]
    return [Omission("irrelevant", item=key) for key in keys]


def asides(turns: Sequence[str]) -> set[int]:
    """The turns that belong to asides which are over: from where somebody turned to something
    else, up to where they came back."""
    found: set[int] = set()
    began: int | None = None
    for index, text in enumerate(turns):
        cues = Cues(text)
        if began is not None and cues.comes_back:
            found.update(range(began, index))
            began = None
        elif began is None and cues.turns_aside:
            began = index
    return found


@lru_cache(maxsize=32)
def _desk_words(name: str, language: str = DEFAULT_LANGUAGE) -> frozenset[str]:
    """A class of words about what lies on a desk, as terms."""
    return frozenset(terms(data("desk", language)[name]))


def telling(asked: Collection[str]) -> set[str]:
    """Of the terms of a question, those that name something; none for "What now?"."""
    return set(asked) - _desk_words("going_on")


def is_standing(key: str) -> bool:
    """Whether a note of that name says what the session is about, whatever is asked."""
    return not _desk_words("standing").isdisjoint(name_terms(key))


def is_said(key: str) -> bool:
    """Whether a note of that name is a turn of a conversation."""
    return name_terms(key)[:1] != () and name_terms(key)[0] in _desk_words("turns")
