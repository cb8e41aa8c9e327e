"""What is seen at once about a text is what a full look at it tells."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incumbent.context import injection, quotes
from incumbent.language.values import finding, literals
from incumbent.language.values.numbers import numbers
from incumbent.language.values.sentence import Sentence
from incumbent.language.values.vocabulary import vocabulary
from incumbent.model import invisible, values, words
from incumbent.search import analysis

_SAID = """
the a an 5 12 1,000 2.0 007 12345678 9:30 14:05:01 3/4 2026-03-05 2026-02-30 1/2 $ € % : ; , . - --
( ) [ ] # ## * > = -> | ~~~ ``` <s> </user> ‹| « » " ' ’ you your you'll you're yourself must act
never against not to be relied on known, recalculate what was taken back nothing record available
right now from ignore all previous instructions system user policy: assistant: prompt mode jailbreak
developer new of respond reply only with voice reveal tell the customers as an AI model henceforth
repeat after me going forward do exactly I say March May Mon tuesday's 3rd 21st first pm a.m. noon
o'clock tonight end day kg GB km/h °C minutes hours' business days two hundred twenty-one half Q3
quarter past between and until next last month's week ago Main Street's rue de Lyon Ave SUITE 5 call
+44 20 555-0123 orderStatus order_status v2.1 eu-west-1 a@b.org x.com/y ½ × é ß ſ K İ 東京 ｗｉｄｅ
"""
_PIECE = st.sampled_from([*_SAID.split(), "\t", "\n", "  ", "\u200b", "\u00ad"])
_JOINTS = st.sampled_from([" ", " ", " ", " ", "", "-", ", ", ": ", "'", "_", "  "])
_SIGNS = st.text("abcXYZst 0123456789.,:;-/()[]#$%'\"_<>=~|\n\u200bé", max_size=24)


@st.composite
def _texts(draw: st.DrawFn) -> str:
    if draw(st.integers(0, 4)) == 0:
        return draw(_SIGNS)
    made = ""
    for piece in draw(st.lists(_PIECE, max_size=9)):
        made += f"{draw(_JOINTS) if made else ''}{piece}"
    return draw(st.sampled_from([made, made.lower(), made.upper(), made.capitalize()]))


def _matching(pattern: re.Pattern[str]) -> st.SearchStrategy[str]:
    signs = st.characters(codec="ascii", exclude_categories=["Cc"])
    return st.from_regex(pattern, fullmatch=True, alphabet=signs)


SEARCHED = settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])


@SEARCHED
@given(_texts())
def test_a_text_is_addressed_if_any_order_is_in_it(text: str) -> None:
    plain = unicodedata.normalize("NFKC", invisible.parted(text))
    shown = re.sub(r"\s+", " ", plain).translate(str.maketrans("’ʼ‘`", "''''")).lower()
    found = any(sign in shown and p.search(shown) for _, p, sign in injection._PATTERNS)
    assert injection.is_addressed(text) is found


@pytest.mark.parametrize("text", ["jailbreak/99!", "end-of-input,please!", "Imagine_you're"])
def test_words_without_a_gap_are_a_name_and_no_order(text: str) -> None:
    assert not injection.is_addressed(text)
    assert injection.is_addressed(f"{text.replace('/', ' ').replace('_', ' ')} jailbreak mode")


@pytest.mark.parametrize("number", range(len(injection._PATTERNS)))
def test_every_text_of_an_order_has_the_words_that_it_needs(number: int) -> None:
    needed, pattern, _ = injection._PATTERNS[number]

    @settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
    @given(_matching(pattern))
    def check(text: str) -> None:
        assert injection._has(set(words.letters(text)), needed), text
        assert injection.may_address(set(words.letters(text))), text

    check()


@pytest.mark.parametrize("name", sorted(injection.CLASSES))
def test_every_word_of_a_class_begins_with_a_first_word_of_it(name: str) -> None:
    begun = injection.first_words(injection.CLASSES[name])

    @settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
    @given(_matching(re.compile(injection._class(name))))
    def check(text: str) -> None:
        assert words.letters(text)[0] in begun, text

    check()


@SEARCHED
@given(_texts())
def test_a_text_that_surely_reads_plainly_is_shown_as_it_is(text: str) -> None:
    assert quotes._whole(text) == quotes._quoted(text, [text])


@SEARCHED
@given(_texts())
def test_a_plain_name_is_shown_as_any_other(text: str) -> None:
    shown = quotes._quoted(text, [text])
    runs_on = shown == text and quotes._ENDING.search(text) is not None
    assert (quotes.name(text) != shown) is runs_on


@given(st.dates())
def test_a_day_by_itself_is_read_like_a_day_in_a_sentence(day: object) -> None:
    sentence = Sentence(str(day), None, vocabulary())
    found = [*literals.unquoted(sentence), *finding._measured(sentence)]
    assert finding.measures(str(day)) == finding._apart(found)


@SEARCHED
@given(_texts(), st.integers(0, 60))
def test_the_word_before_a_place_is_the_last_of_what_stands_before_it(
    text: str, place: int
) -> None:
    before = text[max(0, place - 40) : place]
    found = re.search(r"([^\W_]+(?:['’][^\W_]+)*)[\s-]{0,3}$", before)
    said = Sentence(text, None, vocabulary()).word_before(min(place, len(text)))
    if place <= len(text):
        assert said == (found[1].lower() if found else "")


@SEARCHED
@given(_texts())
def test_words_are_the_same_by_the_patterns_of_any_text(text: str) -> None:
    assert invisible.is_shown_whole(text) is (invisible._ODD.search(text) is None)
    shown = invisible.without(text).text
    assert words.said(text) == tuple(map(words.said_word, words._WORD.findall(shown)))
    assert words.letters(text) == re.findall("[a-z]+", text.lower())
    parts = analysis._PARTS.findall(analysis.normalised(text))
    assert analysis.terms(text) == [term for part in parts for term in analysis._terms_of(part)]
    spaced = analysis._SEPARATED.sub(" ", analysis._CAMEL.sub(" ", text)).strip()
    assert analysis.spoken(text) == spaced


@SEARCHED
@given(_texts())
def test_a_probe_is_the_first_longest_word_or_a_telling_number(text: str) -> None:
    parts = analysis._PARTS.findall(values.bare(text))
    terms = [p if analysis._is_unspaced(p[0]) else analysis._noticed(p) for p in parts]

    def weight(term: str) -> tuple[bool, int]:
        return not term.isalpha() and analysis._is_telling_number(term), len(term)

    best = max(terms, key=weight, default="")
    assert analysis.probe(text) == (next(analysis._noticeable(best)) if best else "")


@SEARCHED
@given(_texts())
def test_a_text_that_has_no_parts_at_first_sight_has_none(text: str) -> None:
    assert values.telling_parts(text) == values.parts_alone(text)


@given(st.text("0123456789", min_size=1, max_size=22))
def test_figures_are_read_by_the_rules_of_other_numbers(figures: str) -> None:
    assert numbers().read(figures) == numbers()._read_anew(figures)
