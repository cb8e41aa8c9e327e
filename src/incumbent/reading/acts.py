"""Acts: what a person asks of the memory itself, in a turn typed by them and addressed to it.

"Forget that I have diabetes" takes that away; in a mail that somebody pastes it does nothing. So a
request counts only where a whole sentence has the form of one, from its first word to its last, and
nothing in the turn shows words rather than means them.

A request for all that is kept to be gone is told by what it does not name: it has a word for making
things go, one for all or for data, one for the speaker, and nothing but these and what goes with
them. "Delete everything about my mother" names somebody, and is another request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, Final

from incumbent.language.cues import Cues
from incumbent.language.lexicon import data, word_sets
from incumbent.language.moods import Kind
from incumbent.language.statements import kind_of
from incumbent.language.voice import Manner, Voice
from incumbent.reading.form import Act, ActKind
from incumbent.reading.segments import Segment

_LONGEST: Final = 240
"""A request to the memory is no longer sentence than this."""
_MOST: Final = 3
"""In a turn of more sentences a request may be one of many things."""
_MAIL = re.compile(
    r"^(?:subject|from|to|cc|date|sent|re|fwd?):|^(?:dear|hi|hello) \w+,\s*$|"
    r"^(?:best|regards|kind regards|cheers|sincerely|yours),?\s*\w*\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_LISTED = re.compile(
    r"^[ \t]*(?:\d{1,3}[.)]|[-*•>$#|]|\[[^\]\n]{1,30}\]|\w{1,30} ?[\w.]{0,30}:)[ \t]", re.M
)
_APART: Final = frozenset({Manner.QUOTED, Manner.INTRODUCED, Manner.REPORTED})
_MERE: Final = frozenset({*_APART, Manner.SUPPOSED, Manner.DENIED, Manner.ASKED})


class _Grammar:
    """The forms of requests in a language."""

    def __init__(self, language: str) -> None:
        told = data("requests", language)
        self.showing = re.compile(rf"(?<!\w)(?:{told['showing']})(?!\w)", re.IGNORECASE)
        self.working = _compiled(told["working"])
        self.before = _compiled(rf"(?:(?:{told['lead']['words']})(?!['’\w])[,.!:–—-]*\s+)*")
        self.reason = _compiled(rf"{told['lead']['reason']}[^,;:?!\n\"“”]{{1,60}}[,;–—-]+ ?")
        asking = told["asking"]
        self.asking = {
            "plain": _compiled(rf"(?:{asking['plain']})(?:(?:please|just) )?"),
            "past": _compiled(asking["past"]),
            "doing": _compiled(asking["doing"]),
        }
        self.keeping_not = _compiled(asking["keeping_not"])
        self._read_forms(told)
        self._read_back(told)
        loosely = told["loosely"]
        forms = "|".join(loosely["forms"]).replace("WHAT", loosely["what"])
        self.loose = _compiled(rf"(?:{forms}){loosely['close']}{self.words}[\s.!?)]*")
        self.topic = _compiled(rf"(?P<what>(?:my|our) [\w'’ -]{{2,50}}?) (?:{told['joint']})\b")

    def _read_forms(self, told: dict[str, Any]) -> None:
        verbs, tail, thing = told["verbs"], told["tail"], told["object"]
        self.erasing = frozenset(verbs["erasing"].split())
        place = rf"(?P<place>\s+(?:{tail['place']}))?"
        self.words = rf"(?:[\s,;.!?–—-]+(?:{tail['words']})(?!['’\w]))*"
        close = rf"{self.words}[\s.!?)]*"
        joined = r"(?: (?=because|since|for)|\s*[,;–—-]+ ?)"
        because = rf"(?:{joined}(?:{tail['reason']})\b[^:?\n\"“”]{{0,90}})?"
        what = rf"(?P<what>(?:{thing['opens']})\b[^,;:?!\n\"“”]{{0,90}}?)"
        self.named = _compiled(rf"{what}{place}{self.words}{because}{close}")
        base = _listed(verbs["erasing"], verbs["removing"], verbs["with_place"])
        self.plain = _compiled(rf"(?P<verb>{'|'.join(verbs['removing_long'])}|{base}) ")
        self.formed = _compiled(rf"(?P<verb>{_listed(verbs['forms'])}|getting rid of) ")
        self.last = _compiled(
            rf"(?:(?:{verbs['undoing']}) (?:{thing['last']}|it)|"
            rf"(?P<faint>(?:{verbs['removing_last']}) (?:{thing['last']}|(?<!forget )it)|"
            rf"never ?mind(?: (?:{thing['last']}))?)|"
            rf"undo|(?:i )?take (?:that|it|this) back){close}"
        )
        self.everything = _compiled(rf"(?:{verbs['everything']}) (?:{thing['all']}){place}{close}")
        done = rf"(?:to be )?(?:{verbs['done']})"
        self.wanted = _compiled(
            rf"i(?:['’]d| would)? (?:like|love|want|need) (?:to have )?{what} {done}{place}{close}"
        )
        self.passive = _compiled(
            rf"(?P<what>(?:my|our) [^,;:?!\n\"“”]{{2,60}}?) "
            rf"(?:should|must|can|needs to|has to|is to) be {done}{place}{close}"
        )
        self.labelled = _compiled(
            rf"(?P<what>(?:my|our|the) [\w'’ -]{{2,50}}?) ?[:–—-]+ ?(?:please )?"
            rf"(?:{base}) (?:it|that|this|them){place}{close}"
        )
        self.world = re.compile(rf"\b(?:{thing['world']})\b", re.IGNORECASE)
        self.clause = _compiled(rf"(?:{thing['clause']})\b")
        self.with_place = frozenset(verbs["with_place"].split())

    def _read_back(self, told: dict[str, Any]) -> None:
        back = told["back"]
        forms = "|".join((back["request"], back["turned"], back["had"], back["old"]))
        self.back = _compiled(rf"(?:{forms}){self.words}[\s.!?]*")


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _listed(*words: str) -> str:
    return "|".join(word for some in words for word in some.split())


@lru_cache(maxsize=2)
def _grammar(language: str = "en") -> _Grammar:
    return _Grammar(language)


def acts(
    text: str, found: Sequence[Segment], previous: str = "", *, after_machine: bool = False
) -> Iterator[Act]:
    """The requests of a turn. One that holds more than plain prose asks for nothing by itself.

    `previous` is what was said right before, `after_machine` whether a machine said it.
    """
    voice = Voice(text)
    is_mixed = _is_mixed(text, found)
    line = -1
    """The end of a line whose first sentence ends in words that it introduces."""
    for one in found:
        if one.block.value != "prose":
            continue
        colon = one.text.rfind(": ")
        is_introduced = one.start < line
        if colon > 0 and voice.manner(one.start + colon + 2, one.end) is Manner.INTRODUCED:
            break_at = text.find("\n", one.end)
            line = len(text) if break_at < 0 else break_at
        is_meant = not (is_mixed or is_introduced or _shows(text, one, previous))
        act = _act(one) or (_hint(one) if is_meant else None)
        if act is None or voice.is_retold(one.start, one.end):
            continue
        if voice.manner(one.start, one.end) in _speaking_against(act, one.text):
            continue
        sure = act.is_sure and is_meant
        if act.kind is ActKind.UNDO and _is_faint(one.text):
            sure = sure and not after_machine and len(found) == 1
        yield Act(act.kind, act.what, one.start, one.end, is_sure=sure)


def _is_faint(text: str) -> bool:
    """Whether words may mean a thing of the world just as well: "delete it", "never mind"."""
    grammar, said = _grammar(), text.strip()
    found = grammar.last.fullmatch(said, _opening(said, grammar)[0])
    return found is not None and found.group("faint") is not None


def _speaking_against(act: Act, text: str) -> frozenset[Manner]:
    """The ways of saying things in which a request is none."""
    if act.kind is ActKind.REVERT:
        return _MERE
    grammar = _grammar()
    labelled = grammar.labelled.fullmatch(text.strip(), _after(grammar.before, text.strip(), 0))
    return _APART if labelled is None else _APART - {Manner.INTRODUCED}


def _is_mixed(text: str, found: Sequence[Segment]) -> bool:
    """Whether a turn holds more than somebody's own few sentences: a mail, a list, code."""
    return (
        len(found) > _MOST
        or any(one.block.value != "prose" for one in found)
        or _MAIL.search(text) is not None
        or (_LISTED.search(text) is not None and "\n" in text.strip())
        or any(mark in text for mark in ('"', "“", "”", "«", "`", "{"))
    )


def _shows(text: str, one: Segment, previous: str) -> bool:
    """Whether the words around a request, or before it, say that words are only shown."""
    showing = _grammar().showing
    around = f"{text[: one.start]}\n{text[one.end :]}"
    return showing.search(around) is not None or _asks_for_text(previous)


_COMING = re.compile(
    r"\b(?:next|following|below|text|message|sentence|phrase|role|game|pretend|character)\b|:\s*$",
    re.IGNORECASE,
)


def is_worked_on(text: str, end: int) -> bool:
    """Whether a stretch that ends there is part of a text that is only to be worked on."""
    found = _grammar().working.match(text)
    return found is not None and end > found.end()


def _asks_for_text(previous: str) -> bool:
    """Whether what was said right before makes the turn a text to be worked on."""
    last = previous[-400:]
    return _grammar().showing.search(last) is not None and _COMING.search(last) is not None


def _act(one: Segment) -> Act | None:
    text = one.text.strip()
    if len(text) > _LONGEST:
        return None
    where = (one.start, one.end)
    grammar = _grammar()
    begin, asked = _opening(text, grammar)
    rest = text[begin:]
    is_question = text.endswith("?")
    if is_question and not asked:
        return None
    if grammar.everything.fullmatch(rest) or asks_for_everything(text[begin:].rstrip("?")):
        return Act(ActKind.ERASE_ALL, "", *where)
    if (last := grammar.last.fullmatch(rest)) is not None:
        topic = grammar.topic.match(text, _after(grammar.before, text, 0)) if begin else None
        if topic is not None and last.group("faint") is not None:
            return Act(ActKind.ERASE, topic.group("what"), *where, is_sure=False)
        return Act(ActKind.UNDO, "", *where)
    found = _erasure(text, begin, asked=asked)
    if found is not None:
        return Act(found[0], found[1], *where)
    back = _goes_back_to(text, rest)
    return Act(ActKind.REVERT, back, *where) if back is not None else None


def _hint(one: Segment) -> Act | None:
    """A request in free words, which is asked about before anything is done."""
    what = hinted(one.text)
    return Act(ActKind.ERASE, what, one.start, one.end, is_sure=False) if what else None


def hinted(text: str) -> str | None:
    """What somebody says in free words that we should not know."""
    text, grammar = text.strip(), _grammar()
    if len(text) > _LONGEST:
        return None
    lead = _after(grammar.before, text, 0)
    for begin in dict.fromkeys((lead, _after(grammar.asking["plain"], text, lead))):
        if (found := grammar.loose.fullmatch(text, begin)) is not None:
            what = next(words for words in found.groupdict().values() if words)
            return what if grammar.world.search(what) is None else None
    return None


def _opening(text: str, grammar: _Grammar) -> tuple[int, str]:
    """Where a request begins behind what leads to it, and the way in which it asks."""
    begin = _after(grammar.before, text, 0)
    if (reason := grammar.reason.match(text, begin)) is not None:
        end = _after(grammar.before, text, reason.end())
        if _way(text, end, grammar)[1] or grammar.plain.match(text, end):
            begin = end
    begin, way = _way(text, begin, grammar)
    return begin, way


def _way(text: str, begin: int, grammar: _Grammar) -> tuple[int, str]:
    for way, pattern in grammar.asking.items():
        if (found := pattern.match(text, begin)) is None:
            continue
        verbs = grammar.plain if way == "plain" else grammar.formed
        is_last = way == "plain" and grammar.last.fullmatch(text, found.end())
        is_all = way == "plain" and grammar.everything.fullmatch(text, found.end())
        is_back = grammar.back.fullmatch(text, found.end())
        if verbs.match(text, found.end()) or is_last or is_all or is_back:
            return found.end(), way
    return begin, ""


def _after(pattern: re.Pattern[str], text: str, begin: int) -> int:
    found = pattern.match(text, begin)
    return found.end() if found is not None else begin


def _erasure(text: str, begin: int, *, asked: str) -> tuple[ActKind, str] | None:
    """What is to be erased, or taken out of office, in the words of a request."""
    grammar = _grammar()
    lead = _after(grammar.before, text, 0)
    for pattern in (grammar.wanted, grammar.passive, grammar.labelled):
        if (found := pattern.fullmatch(text, lead)) is not None:
            return ActKind.ERASE, found.group("what").strip()
    for start in dict.fromkeys((0, lead)):
        if (opened := grammar.keeping_not.match(text, start)) is not None:
            found = grammar.named.fullmatch(text, opened.end())
            return (ActKind.ERASE, found.group("what").strip()) if found is not None else None
    verbs = grammar.formed if asked in ("past", "doing") else grammar.plain
    verb = verbs.match(text, begin)
    found = grammar.named.fullmatch(text, verb.end()) if verb is not None else None
    if verb is None or found is None:
        return None
    return _sorted(verb.group("verb").lower(), found, asked)


def _sorted(verb: str, found: re.Match[str], asked: str) -> tuple[ActKind, str] | None:
    """What kind of request a verb makes of what it names."""
    grammar, what = _grammar(), found.group("what").strip()
    placed = found.group("place") is not None
    if verb in grammar.with_place and not placed:
        return None
    if not grammar.clause.match(what) and grammar.world.search(what):
        return None
    erases = any(verb.startswith(one[:5]) for one in grammar.erasing) or placed
    is_thing = what.lower().startswith("the ")
    told = not is_thing or (bool(asked) and verb.startswith("forg"))
    return (ActKind.ERASE if erases and (told or placed) else ActKind.RETRACT), what


def needs_name(text: str) -> bool:
    """Whether a request says less than that something is to go from memory: "forget the milk"."""
    rest = text[_after(_grammar().before, text, 0) :].lower()
    return rest.startswith(("forget the ", "drop the ", "throw out the ", "get rid of the "))


def _goes_back_to(text: str, rest: str) -> str | None:
    """What is to count again as it was before."""
    if (found := _grammar().back.fullmatch(rest)) is not None:
        what = next(words for words in found.groups() if words).strip()
        return what if _grammar().world.search(what) is None else None
    if text.endswith("?"):
        return None
    back = Cues(text).goes_back_to
    return back if back is not None and kind_of(text)[0] is not Kind.HYPOTHETICAL else None


_LONGEST_FOR_ALL = 400
_BETWEEN = re.compile(r"[.!?,;:\n]+|\s[-–—]+\s")
_WORD = re.compile(r"[^\W_]+(?:['’](?!(?:m|d|ve)\b)[^\W_]+)*|['’](?:m|d|ve)\b")
_for_all = partial(word_sets, "voice.everything")


def asks_for_everything(text: str) -> bool:
    """Whether a statement asks for all that is kept of its speaker to be gone."""
    text = text[:_LONGEST_FOR_ALL]
    return any(map(_asks_for_all, (text, *_BETWEEN.split(text))))


def _asks_for_all(clause: str) -> bool:
    known = _for_all()
    every = known.verbs | known.all | known.own | known.what | known.besides
    words = [word.group().lower().replace("’", "'") for word in _WORD.finditer(clause)]
    if not words or not every.issuperset(words) or known.own.isdisjoint(words):
        return False
    # "I have deleted my data" tells of something else, and asks for nothing.
    found = [
        index
        for index, word in enumerate(words)
        if word in known.verbs and words[max(0, index - 1)] not in known.done
    ]
    if not found:
        return False
    # "Forget me" names nothing else to forget.
    alone = words[found[0] + 1 :] in (["me"], ["about", "me"], ["me", "please"])
    return alone or not (known.all | known.what).isdisjoint(words)
