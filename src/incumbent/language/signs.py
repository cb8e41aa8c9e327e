"""Signs: the words around things and values that tell what a turn does with them."""

from __future__ import annotations

import re
from functools import lru_cache

from incumbent.language.lexicon import data
from incumbent.language.skeleton import THING, VALUE

_FLAGS = re.IGNORECASE | re.DOTALL


class Signs:
    """The patterns of one language."""

    def __init__(self, language: str) -> None:
        told = data("gist", language)

        def words(name: str) -> re.Pattern[str]:
            return re.compile(rf"\b(?:{told[name]})(?!\w)", _FLAGS)

        self.disbelief = words("disbelief")
        self.told = words("told")
        self.unreal = words("unreal")
        self.past_case = re.compile(
            rf"\b(?:{told['past_case']}|(?:when|once|after)\s+{THING}\s+(?:{told['past']}))\b",
            _FLAGS,
        )
        self.removal = re.compile(
            rf"\b(?:{told['removal']})(?!\w)|\b(?:{told['removal_of']})\s+(?:(?:the|any|all|my|our|your)\s+)?"
            rf"(?:(?:{told['meta']})(?:\s+[\w'’]+){{0,2}}?\s+(?:{told['about']})\s+)?{THING}",
            _FLAGS,
        )
        self.kept = words("kept")
        self.polite = words("polite")
        self.elsewhere = re.compile(
            rf"\b(?:{told['removal']})\s+(?:an?|the|my|our|your|his|her|their|some|this|that)\s+"
            rf"(?:\w+\s+)?(?!(?:{told['meta']})\b)\w+|\bnot\s+{THING}",
            _FLAGS,
        )
        self.once = words("once")
        self.weak_once = re.compile(rf"(?:{told['weak_once']})$", _FLAGS)
        self.then = words("then")
        self.mentioning = words("mentioning")
        self.because = re.compile(
            rf"(?:^|(?<=\W))(?:{told['because']})[\s:,?]*(?:(?:{told['granting']})[\s,]+)*$"
            rf"|\b(?:{told['because_of_what']})(?:\s+[\w'’]+){{0,6}}\s*$",
            _FLAGS,
        )
        self.concluding = re.compile(rf"(?:^|(?<=\W))(?:{told['concluding']})(?=\W|$)", _FLAGS)
        self.therefore = words("therefore")
        self.due_to_that = re.compile(rf"\b(?:{told['due_to_that']})[\s,:]*$", _FLAGS)
        self.depending = words("depending")
        self.standing = re.compile(rf"{THING}\s+(?:{told['standing']})(?!\w)", _FLAGS)
        self.according = re.compile(rf"\baccording to ({THING})", _FLAGS)
        self.driving = re.compile(rf"({THING})\s+(?:{told['driving']})\s+({THING})", _FLAGS)
        self.tag = re.compile(told["tag"], _FLAGS)
        self.wondering = re.compile(rf"(?:{told['wondering']})\b", _FLAGS)
        self.asking = re.compile(told["asking"], _FLAGS)
        self.returning = words("returning")
        self.changing = words("changing")
        self.would = words("would")
        self.would_mean = words("would_mean")
        self.was = words("was")
        self.noting = words("noting")
        self.not_as_before = words("not_as_before")
        self.politely = words("politely")
        self.remarks = words("remarks")
        self.hanging = words("hanging")
        self.reversed = words("reversed")
        self.presuming = words("presuming")
        self.thats_why = words("thats_why")
        self.idioms = words("idioms")
        self.planning = words("planning")
        self.to_come = words("to_come")
        self.change_of = re.compile(
            rf"\b(?:{told['change_of']})\s+(?:(?:the|our|my|your)\s+)?{THING}", _FLAGS
        )
        self.vague = re.compile(rf"\b(?:{told['vague']})\s+(?:the\s+)?{VALUE}", _FLAGS)


@lru_cache(maxsize=8)
def signs(language: str = "en") -> Signs:
    return Signs(language)
