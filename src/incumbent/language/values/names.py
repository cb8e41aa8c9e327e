"""Names and postal addresses, by capital letters and the words that go with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from incumbent.language.lexicon import DEFAULT_LANGUAGE
from incumbent.language.values.kinds import Value, ValueKind
from incumbent.language.values.sentence import Sentence, Word
from incumbent.language.values.vocabulary import Vocabulary, alternatives, vocabulary
from incumbent.model.text_cache import remembering
from incumbent.search.analysis import is_common

_SPACES = re.compile(r"[ \t\u00a0]{1,3}$")
_AMPERSAND = re.compile(r"\s{0,2}&\s{0,2}$")
_DOT = re.compile(r"\.[ \t]{0,2}$")
_STATE = re.compile(r"\s?,\s{0,2}([A-Z]{2})(?![\w.])(?:\s+[0-9]{5}(?:-[0-9]{4})?(?!\w))?")
_POSSESSIVE = re.compile(r"\s{0,2}['’]s?(?!\w)")
_LONGEST_RUN = 10
_LONGEST_FIGURE = 4
_SHORT = 3
_SURE = 0.4
"""How far beyond the line a word has to be: a name missed does less harm than one made up."""
_EVENNESS = 1.0
_REMEMBERED = 16_384
_AFTER_FIGURE = " .,!?);'"


class Names:
    """Finds the names of a language."""

    def __init__(self, words: Vocabulary) -> None:
        told = words.told["names"]
        self._language = words.language
        self._titles = frozenset(told["titles"].split())
        self._connectors = frozenset(told["connectors"].split())
        self._the: str = told["also_the"]
        self._designators = frozenset(told["designators"].split())
        self._openers = frozenset(told["openers"].split()) | frozenset(told["verbs"].split())
        self._openers |= words.closed
        self._leading = frozenset(told["leading"].split()) | self._titles | self._designators
        self._function_words = words.function_words
        self._endings = tuple(told["endings"].split())
        self._negation: str = told["negation"]
        self._never = frozenset(told["never"].split())
        self._dated = words.words("month") | words.words("weekday") | words.words("weekdays")
        self._person_months = words.words("person_months")
        self._closed = words.closed

    def find(self, sentence: Sentence) -> Iterator[Value]:
        """The names in a text."""
        words = sentence.words
        index = 0
        while index < len(words):
            word = words[index]
            if word.text[0].isupper() and self._may_begin(sentence, index):
                last = self._run(sentence, index)
                value = self._name(sentence, index, last)
                if value is not None:
                    yield value
                index = last + 1
                continue
            if word.low in self._designators:
                designated = self._designated(sentence, index)
                if designated is not None:
                    yield designated
            index += 1

    # which words are part of a name

    def _is_capital(self, sentence: Sentence, word: Word) -> bool:
        if not word.text[0].isupper() or word.low in self._never:
            return False
        around = sentence.text[max(0, word.start - 1) : word.start]
        around += sentence.text[word.end : word.end + 1]
        if any(mark.isdigit() or mark == "_" for mark in around):
            return False  # UA123
        if len(word.text) > 1 and word.text.isupper():
            return not sentence.is_shouted and not self._is_emphasis(word)
        return True

    def _is_emphasis(self, word: Word) -> bool:
        """Whether a word in capitals is just loud: NOT, ACTUAL. An acronym is a name."""
        if word.low in self._openers:
            return True
        return len(word.text) > _SHORT and is_common(word.low)

    def _may_begin(self, sentence: Sentence, index: int) -> bool:
        word = sentence.words[index]
        if not self._is_capital(sentence, word) or word.low in self._dated:
            return False
        if word.start and sentence.text[word.start - 1] in "_@#/\\":
            return False
        if word.low == self._the or len(word.text) == 1:
            # "The Hague" and "J. Smith", but a letter by itself says nothing.
            return self._joins(sentence, index) is not None
        if word.low in self._connectors and not word.text.isupper():
            return self._joins(sentence, index) is not None  # La Margherita
        if word.low.partition("'")[0] in self._function_words:
            return sentence.begins_at(word.start)
        if word.low in self._openers and not sentence.begins_at(word.start):
            return self._joins(sentence, index) is not None  # Old Schools
        return True

    def _run(self, sentence: Sentence, index: int) -> int:
        """The last word of the name that begins with a word."""
        last = index
        while last - index < _LONGEST_RUN:
            joined = self._joins(sentence, last)
            if joined is None:
                break
            last = joined
        return last

    def _joins(self, sentence: Sentence, index: int) -> int | None:
        """The next word of a name after one of its words; None where the name ends."""
        words, text = sentence.words, sentence.text
        if index + 1 >= len(words):
            return None
        word, following = words[index], words[index + 1]
        gap = text[word.end : following.start]
        spaced = bool(_SPACES.match(gap))
        if self._continues(sentence, index + 1):
            abbreviated = len(word.text) == 1 or word.low in self._titles
            if spaced or gap == "-" or _AMPERSAND.match(gap) or (abbreviated and _DOT.match(gap)):
                return index + 1
            return None
        if spaced and self._is_figure(sentence, index + 1):
            return index + 1
        return self._across_connectors(sentence, index) if spaced else None

    def _continues(self, sentence: Sentence, index: int) -> bool:
        word = sentence.words[index]
        if not self._is_capital(sentence, word):
            return False
        if word.low in self._dated:
            # Theresa May, but not "Paris May 5".
            after = sentence.word_after(word.end)
            return word.low in self._person_months and not after[:1].isdigit()
        return True

    def _across_connectors(self, sentence: Sentence, index: int) -> int | None:
        """The capital after "of", "de la" or "of the"."""
        words, text = sentence.words, sentence.text
        for step in (1, 2):
            at = index + step
            if at + 1 >= len(words) or not _SPACES.match(text[words[at].end : words[at + 1].start]):
                return None
            if words[at].low not in self._connectors and not (
                step == 2 and words[at].low == self._the
            ):
                return None
            following = words[at + 1]
            if self._is_capital(sentence, following) and following.low not in self._dated:
                return at + 1
        return None

    def _is_figure(self, sentence: Sentence, index: int) -> bool:
        """Whether a number belongs to the name before it: Studio 54, but not "Berlin 3 times"."""
        word = sentence.words[index]
        if not word.text.isdigit() or len(word.text) > _LONGEST_FIGURE:
            return False
        if sentence.text[word.end : word.end + 1] not in _AFTER_FIGURE:
            return False
        if re.match(r"[.,][0-9]", sentence.text[word.end : word.end + 2]):
            return False
        after = sentence.word_after(word.end)
        capital = index + 1 < len(sentence.words) and sentence.words[index + 1].text[0].isupper()
        return not after or after in self._closed or capital

    # the name itself

    def _name(self, sentence: Sentence, first: int, last: int) -> Value | None:
        words = sentence.words
        while first <= last and self._is_opening(sentence, first, last):
            first += 1
        while first <= last and words[first].text in self._connectors:
            first += 1
        if first > last or not words[first].text[0].isalpha():
            return None
        if first == last and words[first].low in self._titles and len(words[first].low) < 5:
            return None
        start, end = words[first].start, words[last].end
        text = sentence.text
        state = _STATE.match(text, end)
        if state:
            end = state.end()
        else:
            end = self._with_possessive(sentence, words[last], end)
        said = text[start:end]
        return Value(ValueKind.NAME, said, start, end, name_key(said))

    def _is_opening(self, sentence: Sentence, first: int, last: int) -> bool:
        """Whether the first word of a run has its capital only because a sentence begins."""
        word = sentence.words[first]
        begins = sentence.begins_at(word.start)
        if first == last:
            return self._is_no_name(word, begins=begins)
        if not begins or word.low in self._leading or word.low.endswith("'s"):
            return begins and word.low in self._openers
        if word.low.partition("'")[0] in self._openers:
            return True
        following = sentence.words[first + 1]
        if following.text.isdigit():
            return is_common(word.low)
        if following.text[0].islower() or not self._is_ordinary(word.low):
            return False
        # "Visit Paris" is a verb and a name, "Golden Gate" is a name.
        return not self._is_ordinary(following.low)

    def _is_no_name(self, word: Word, *, begins: bool) -> bool:
        """Whether a word by itself is no name, although it has a capital."""
        if word.low.partition("'")[0] in self._openers or word.low.endswith(self._negation):
            return True
        loud = word.text.isupper() and len(word.text) > 1
        if loud:
            return False
        return word.low in self._connectors or (begins and self._is_ordinary(word.low))

    def _is_ordinary(self, low: str) -> bool:
        base = low.partition("'")[0] if low.endswith(("'s", "'ll", "'re", "'ve", "'d")) else low
        if base in self._openers or low.endswith(self._negation):
            return True
        if not is_common(base) and not base.endswith(self._endings):
            return False
        return not name_test(self._language)(base)

    def _with_possessive(self, sentence: Sentence, last: Word, end: int) -> int:
        """Rosie McCann's is a name; the s in "Sarah's address" is not part of one."""
        text = sentence.text
        if last.low.endswith("'s"):
            owns = sentence.is_followed_by_noun(end)
            return end - 2 if owns else end
        found = _POSSESSIVE.match(text, end)
        if found is None or sentence.is_followed_by_noun(found.end()):
            return end
        return found.end() if found.group().strip() in ("'s", "’s") else end

    def _designated(self, sentence: Sentence, index: int) -> Value | None:
        """As in "plan B", "option 2": an ordinary word that a letter or a number makes a name."""
        words = sentence.words
        word = words[index]
        if index + 1 >= len(words):
            return None
        following = words[index + 1]
        if not _SPACES.match(sentence.text[word.end : following.start]):
            return None
        letter = len(following.text) == 1 and self._is_capital(sentence, following)
        if not letter and not self._is_figure(sentence, index + 1):
            return None
        said = sentence.text[word.start : following.end]
        return Value(ValueKind.NAME, said, word.start, following.end, name_key(said))


def name_key(said: str) -> str:
    """A name in lower case, without apostrophes and dots."""
    return " ".join(re.sub(r"\s*['’]|\.", "", said).casefold().split())


@lru_cache(maxsize=8)
def name_test(language: str = DEFAULT_LANGUAGE) -> Callable[[str], bool]:
    """Tells of a word in lower case whether it is rather a name, by the company it keeps.

    At the beginning of a sentence a capital letter tells nothing, and most names are common words
    of the vocabulary: Sarah, Paris, Budget, Dinner. Their vectors tell: the data file has examples
    of names and of ordinary words, and a line is drawn between them once.
    """
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


class Addresses:
    """Finds the postal addresses of a language."""

    def __init__(self, words: Vocabulary) -> None:
        told = words.told["address"]
        self._short: dict[str, str] = told["short"]
        streets = alternatives(told["streets"].split())
        others = alternatives(word.title() for word in told["other_streets"].split())
        before = alternatives(told["before"].split())
        within = alternatives(told["within"].split())
        self._closed = words.closed | words.words("span")
        word = r"[^\W\d_][\w'’-]*\.?|[0-9]+(?:st|nd|rd|th)"
        capital = r"(?-i:[A-Z][^\W\d_]*(?:['’-][^\W\d_]+)*(?!\w))"
        place = rf"{capital}(?:\s{capital}){{0,2}}"
        self._pattern = re.compile(
            r"(?P<house>[0-9]{1,5}[A-Za-z]?(?:\s?[-–/]\s?[0-9]{1,5})?)\s{1,2}"
            rf"(?P<street>(?:{before})\s(?:(?:{word})\s){{0,3}}{capital}"
            rf"|(?:(?:{word})\s{{1,2}}){{1,4}}?(?:(?:{streets})(?!\w)|(?-i:{others})(?!\w))\.?"
            r"(?:\s(?-i:[NS][EW]?|[EW])(?!\w))?)"
            rf"(?P<within>\s?,?\s{{1,2}}(?:(?:{within})\.?|\#)\s{{0,2}}[\w-]{{1,6}})?"
            rf"(?P<place>(?:\s?,\s{{0,2}}{place})?(?:\s?,?\s{{1,2}}(?-i:[A-Z]{{2}})(?!\w))?"
            r"(?:\s?,?\s{1,2}(?:[0-9]{5}(?:-[0-9]{4})?|(?-i:[A-Z]{1,2}[0-9][\dA-Z]?\s?[0-9][A-Z]{2}))(?!\w))?)",
            re.IGNORECASE,
        )

    def at(self, sentence: Sentence, word: Word) -> Value | None:
        """The address that begins with a house number."""
        text = sentence.text
        if word.start and (text[word.start - 1].isalnum() or text[word.start - 1] in "$€£.,:#"):
            return None
        found = self._pattern.match(text, word.start)
        if found is None:
            return None
        named = re.findall(r"[^\W\d_][\w'’]*", found["street"].lower())
        if any(part in self._closed for part in named[:-1]):
            return None
        end = found.end()
        if found["place"] and not re.search(r"[A-Z]{2}\b|[0-9]", found["place"]):
            # "123 Main St, Sarah said": what follows the comma is no town if it goes on.
            after = sentence.word_after(end)
            if after and after not in sentence.vocabulary.closed:
                end = found.start("place")
        said = text[word.start : end].rstrip(" ,.")
        return Value(ValueKind.ADDRESS, said, word.start, word.start + len(said), self._key(said))

    def _key(self, said: str) -> str:
        """An address in lower case, without marks, with every word in full."""
        words = re.sub(r"[.,#]", " ", said).casefold().split()
        return " ".join(self._short.get(word, word) for word in words)


@lru_cache(maxsize=8)
def names(language: str = DEFAULT_LANGUAGE) -> Names:
    return Names(vocabulary(language))


@lru_cache(maxsize=8)
def addresses(language: str = DEFAULT_LANGUAGE) -> Addresses:
    return Addresses(vocabulary(language))
