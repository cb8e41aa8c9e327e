"""The patterns of reasons, conditions and changes of one language, from its data file."""

from __future__ import annotations

import re
from functools import lru_cache

from incumbent.language.attributes import THING, trailing_pattern
from incumbent.language.lexicon import data

_FLAGS = re.IGNORECASE | re.DOTALL
MARK = r"\s*[,;:.–—-]+\s*"
"""What may stand between two clauses."""


class Patterns:
    """What joins clauses, and what clauses look like that say a value of a thing."""

    def __init__(self, language: str) -> None:
        told = data("reasons", language)
        thing = re.sub(r"\?P<\w+>", "?:", THING)
        self.thing = re.compile(rf"{thing}$", _FLAGS)
        self.tells = re.compile(
            rf"(?P<thing>{thing})(?: (?:{told['adverbs']}))* (?:{told['telling']})\s+\S", _FLAGS
        )
        self.points = re.compile(
            rf"(?:(?:{told['adverbs']}|so|and|right now|at the moment|today|for now|so far)[\s,]+)*"
            rf"(?:it|they)(?P<says>(?: (?:{told['adverbs']}))* (?:{told['telling']})|['’]s)\s+\S",
            _FLAGS,
        )
        because = rf"(?:{told['because']})"
        during = rf"(?:{told['while']})"
        self.during = re.compile(rf"{during}\s", _FLAGS)
        either = rf"(?:{during}|{because})"
        self.reason_first = re.compile(rf"{either}\s+(?P<reason>.+)$", _FLAGS)
        self.reason_last = re.compile(
            rf"[,;]?\s+(?:but |and )?(?:only )?(?P<word>{either})\s+", _FLAGS
        )
        self.concluding = re.compile(
            rf"(?:[,;:.–—-]+\s*|\s)(?:and\s+|so\s+)?(?:{told['concluding']})\b,?\s+", _FLAGS
        )
        self.basis_first = re.compile(rf"(?:{told['basis']})\s+(?P<bases>.+)$", _FLAGS)
        joined = rf"(?:(?:{told['joining']})\s+)*(?:(?:{told['pointing']})\s+)?"
        adverbs = r"(?:(?:really|also|currently|directly|entirely|mostly|only|all|just)\s+)*"
        relating = rf"{adverbs}(?:{told['relating']})"
        self.basis_last = re.compile(
            rf"(?:[,;:.–—-]+\s*|\s){joined}(?:{told['basis']}|(?<=\s){relating})\s+", _FLAGS
        )
        self.relates = re.compile(rf"(?P<thing>{thing})\s+{relating}\s+(?P<bases>.+)$", _FLAGS)
        self.points_back = re.compile(
            rf"(?:(?:{told['joining']})\s+)*(?:{told['pointing']})\s+{relating}\s+(?P<bases>.+)$",
            _FLAGS,
        )
        self.goes_along = re.compile(
            rf"(?:{told['once']})\s+(?P<bases>{thing})\s+(?:{told['moving']}),\s+"
            rf"(?:{told['going_along']})$",
            _FLAGS,
        )
        self.moving = re.compile(rf"\s+(?:{told['moving']})$", _FLAGS)
        self.working_out = re.compile(
            rf"{told['working_out']}\s+(?P<bases>.+?){MARK}(?=(?:so |and )?(?:it|they)\b)", _FLAGS
        )
        self.unchanged = re.compile(rf"(?P<thing>{thing}) (?:{told['unchanged']})$", _FLAGS)
        self.bases = re.compile(
            rf"(?:both\s+)?(?P<first>{thing})(?P<rest>(?:(?:,|,?\s+and)(?:\s+(?:on|from|of))?"
            rf"\s+{thing})*)$",
            _FLAGS,
        )
        self.another = re.compile(
            r"(?:,|,?\s+and)(?:\s+(?:on|from|of))?\s+(?=(?:the|our|my|your|[A-Z]))"
        )
        self.once = re.compile(
            rf"(?:{told['once']})\s+(?:(?:{told['supposing']})\s+)*(?P<case>.+)$", _FLAGS
        )
        self.once_last = re.compile(
            rf",?\s+(?:only )?(?:{told['once']})\s+(?:(?:{told['supposing']})\s+)*", _FLAGS
        )
        self.past_case = re.compile(rf"{told['past_case']}", _FLAGS)
        self.becomes = re.compile(
            rf"(?P<thing>{thing})(?: (?:{told['adverbs']}|ever|really|finally))* "
            rf"(?P<verb>{told['getting']})(?: (?:ever|now|really|finally))*\s+(?P<value>\S.*)$",
            _FLAGS,
        )
        self.makes = re.compile(
            rf"(?:{told['making']})\s+(?P<thing>{thing})\s*(?:\sover|\sback)?\s*"
            rf"(?:from\s.+?\s)?(?:to|:)\s+(?P<value>\S.*)$",
            _FLAGS,
        )
        self.keeps = re.compile(
            rf"(?:{told['keeping']})\s+(?P<value>\S.*?)\s+(?:for|as)\s+(?P<thing>{thing})$", _FLAGS
        )
        self.aside = re.compile(rf"(?P<thing>{thing}), (?:{told['aside']}),(?=\s)", _FLAGS)
        self.with_as = re.compile(
            rf"with\s+(?P<value>\S.{{0,60}}?)\s+as\s+(?P<thing>{thing}),\s+(?P<then>.+)$", _FLAGS
        )
        self.changing = re.compile(rf"(?:{told['changing']})\b", _FLAGS)
        self.makes_it = re.compile(
            rf"(?:{told['making']}|make|makes|made|call|leave)\s+(?P<thing>{thing})\s+"
            r"(?P<value>[$€£]?\d.*)$",
            _FLAGS,
        )
        self.would = re.compile(rf"\b(?:{told['would']})\b", _FLAGS)
        self.checking = re.compile(rf",?\s+(?:{told['checking']})\?$", _FLAGS)
        self.label = re.compile(r"[\w' ,-]{2,40}:\s+")
        self.plainly = re.compile(rf"(?:{told['plainly']})\b", _FLAGS)
        self.returns = re.compile(
            rf"(?P<thing>{thing})(?: (?:{told['adverbs']}))* (?P<verb>{told['returning']})\s+"
            rf"(?P<value>\S.*)$",
            _FLAGS,
        )
        self.fills = re.compile(
            rf"(?P<value>\S.{{0,60}}?) (?:{told['filling']})\s*(?<=\s)(?P<thing>{thing})$", _FLAGS
        )
        self.taken_back = re.compile(rf"{told['taken_back']}$", _FLAGS)
        self.changed = re.compile(rf"(?P<thing>{thing}) (?:{told['changed']})$", _FLAGS)
        self.reminding = re.compile(told["reminding"], _FLAGS)
        self.trailing = trailing_pattern(language)
        self.denied = re.compile(r"(?:not|never|no longer|no|still)\b", _FLAGS)
        self.denying = re.compile(r"\b(?:not|never|no longer|unless)\b|n['’]t\b", _FLAGS)
        self.then = re.compile(r"then,?\s+", _FLAGS)


@lru_cache(maxsize=8)
def patterns_of(language: str = "en") -> Patterns:
    return Patterns(language)
