"""Whether a word that begins a sentence is a name, by the company its meaning keeps.

At the beginning of a sentence a capital letter tells nothing, and most names are common words of
the vocabulary: Sarah, Paris, Budget, Dinner. Their vectors tell: the data file has examples of
names and of ordinary words, and a line is drawn between them once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from incumbent.language.lexicon import DEFAULT_LANGUAGE
from incumbent.language.values.vocabulary import vocabulary
from incumbent.model.text_cache import remembering

_SURE = 0.4
"""How far beyond the line a word has to be: a name missed does less harm than one made up."""
_EVENNESS = 1.0
_REMEMBERED = 16_384


@lru_cache(maxsize=8)
def name_test(language: str = DEFAULT_LANGUAGE) -> Callable[[str], bool]:
    """Tells of a word in lower case whether it is rather a name."""
    import numpy as np  # like the vectors, only needed when a sentence begins with such a word

    from incumbent.search.embedders.static import Static

    told = vocabulary(language).told["names"]["examples"]
    names, others = told["names"].split(), told["words"].split()
    embed = Static().embed
    rows = embed([*names, *others]).astype(np.float64)
    wanted = np.array([1.0] * len(names) + [-1.0] * len(others))
    evened = rows.T @ rows + _EVENNESS * np.eye(rows.shape[1])
    line = np.linalg.solve(evened, rows.T @ wanted)

    @remembering(_REMEMBERED)
    def is_name(word: str) -> bool:
        return bool(float(embed([word])[0] @ line) > _SURE)

    return is_name
