"""From text to terms: what a text is found by, and what gives a repetition away."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incumbent.model import words
from incumbent.model.values import leaves
from incumbent.search import analysis
from tests.conftest import examples

MANY = settings(max_examples=examples(200, soak=2_000), deadline=None)
FEW = settings(max_examples=examples(60, soak=500), deadline=None)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
_SAMPLES = """
The the Orders order_status ordered 5,000 3.14 1,250.50 10115 München straße ﬁne ＡＢＣ 東京都
ひらがな привет naïve co-op O'Brien e.g. C++ a b 2nd 12a x1,2
"""
spoken = st.lists(
    st.sampled_from(_SAMPLES.split()) | st.text(alphabet="abcXYZ012 -_,.'", max_size=6),
    max_size=6,
).map(" ".join)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Where should we ship the orders?", ["ship", "order"]),
        ("shipping address", ["ship", "address"]),
        ("It was 5,000 or 3.14 or 1,250.50", ["5000", "3p14", "1250p50"]),
        ("1,2 and 12,34 are no thousands", ["1p2", "12p34", "no", "thousand"]),
        ("10.0.0.1", ["10p0p0p1"]),
        ("東京都", ["東京", "京都"]),
        ("京", ["京"]),
        ("MÜNCHEN münchen", ["münchen", "münchen"]),
        ("ＡＢＣ ﬁne", ["abc", "fine"]),
        ("STRASSE straße", ["strass", "strass"]),
        ("order_status", ["order", "status"]),
        ("the of and", []),
        ("", []),
        ("🜁 — …", []),
        ("2nd 12a", ["2nd", "12a"]),
    ],
)
def test_terms(text: str, found: list[str]) -> None:
    """Words are stemmed, numbers kept whole, scripts without spaces cut in twos."""
    assert analysis.terms(text) == found


@MANY
@given(text=texts | spoken)
def test_terms_fit_every_index(text: str) -> None:
    """A term is made of letters and digits alone: no space, quote or mark gets into an index."""
    for term in analysis.terms(text):
        assert term
        assert all(character.isalnum() for character in term), term


@MANY
@given(text=spoken)
def test_looks_make_no_difference(text: str) -> None:
    """Case, width and the way accents are put together change no term."""
    found = analysis.terms(text)
    assert analysis.terms(text.upper().lower()) == analysis.terms(text.lower()) == found
    assert analysis.terms(unicodedata.normalize("NFD", text)) == found
    wide = "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() else c for c in text)
    assert analysis.terms(wide) == found


@FEW
@given(one=spoken, other=spoken)
def test_terms_of_two_texts_are_the_terms_of_both(one: str, other: str) -> None:
    """Texts that are set apart do not change each other's terms."""
    assert analysis.terms(f"{one} \n {other}") == analysis.terms(one) + analysis.terms(other)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("order_status", "order status"),
        ("orderStatus", "order Status"),
        ("order.status", "order status"),
        ("order-status/2", "order status 2"),
        ("HTTPPort", "HTTPPort"),
        ("v2Name", "v2 Name"),
        ("_private_", "private"),
        ("住所", "住所"),
        ("!?", ""),
    ],
)
def test_keys_are_spoken(key: str, words: str) -> None:
    """A key is as many words as it is made of, however they are joined."""
    assert analysis.spoken(key) == words


def test_names_are_terms_once() -> None:
    """The terms of a name come in order and once each."""
    assert analysis.name_terms("order_status_of_orders") == ("order", "status")


@pytest.mark.parametrize(
    ("key", "subject", "value", "said"),
    [
        ("order_17_status", None, "sent", "order status: sent"),
        ("order_status", "Alice", "sent", "Alice order status: sent"),
        ("17", None, "sent", "sent"),
        ("tags", None, ["a", "b"], 'tags: ["a","b"]'),
        ("seats", None, 4, "seats: 4"),
        ("住所", None, "大阪", "住所: 大阪"),
    ],
)
def test_sentences(key: str, subject: str | None, value: Any, said: str) -> None:
    """What an embedder reads is the subject, the words of the key, and the value."""
    assert analysis.sentence(key, subject, value) == said


@FEW
@given(key=spoken.filter(bool), subject=st.none() | spoken, value=spoken)
def test_a_fact_is_found_by_all_it_says(key: str, subject: str | None, value: str) -> None:
    """Every term of the key, the subject and the value is a term of the whole."""
    whole = set(analysis.terms(analysis.text_for_terms(key, subject, value)))
    for part in (analysis.spoken(key), subject or "", value):
        assert whole.issuperset(analysis.terms(part))


# probes: how a repetition is noticed

VEILS: dict[str, Callable[[str], str]] = {
    "none": lambda text: text,
    "upper case": str.upper,
    "zero width": lambda text: "\u200b".join(text),
    "joiners": lambda text: "\u2060".join(text),
    "soft hyphens": lambda text: "\u00ad".join(text),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "wide": lambda text: "".join(
        chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() else c for c in text
    ),
}


@pytest.mark.parametrize("veil", VEILS)
@MANY
@given(
    text=spoken, before=spoken, after=spoken, marks=st.sampled_from([" ", "\n", ' "', ", ", "(("])
)
@example(text="Zqtown", before="to", after="", marks=" ")
@example(text="Café Zürich", before="", after="now", marks=" ")
def test_whoever_repeats_a_text_uses_its_probe(
    veil: str, text: str, before: str, after: str, marks: str
) -> None:
    """The words of any text in which the guard would find another include that one's probe."""
    probe = analysis.probe(text)
    whole = f"{before}{marks}{VEILS[veil](text)}{marks[::-1]}{after}"
    wanted, said = words.said(text), words.said(whole)
    width = len(wanted)
    found = width and any(said[i : i + width] == wanted for i in range(len(said) - width + 1))
    if found:
        assert probe
        assert probe in analysis.words(whole)


@FEW
@given(
    value=st.recursive(
        spoken | st.integers() | st.booleans() | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(spoken, inner, max_size=3),
        max_leaves=8,
    )
)
def test_every_text_in_a_value_has_a_probe(value: Any) -> None:
    """Each of the texts in a list or an object is noticed by a term of its own."""
    probes = analysis.probes(value)
    assert len(probes) == len(set(probes))
    for leaf in leaves(value):
        assert not analysis.words(leaf) or analysis.probe(leaf) in probes


def test_no_text_of_a_long_value_is_without_a_probe() -> None:
    """However many texts a value has, each can be noticed."""
    value = [f"part{number}x" for number in range(300)]
    marks = {analysis.mark((text,)) for text in value}
    assert set(analysis.probes(value)) == {*value, *marks}


@pytest.mark.parametrize("word", ["blue", "house", "monday", "mark", "berlin"])
def test_common_words_are_known(word: str) -> None:
    """Words that people use for many things are told from those they do not."""
    assert analysis.is_common(word)
    assert not analysis.is_common(f"zq{word}")


def test_long_texts_cost_a_bounded_effort() -> None:
    """Of a text of a million characters, the beginning is found."""
    text = "needle " + "hay " * 250_000
    assert analysis.terms(text)[0] == "needl"
    assert len(analysis.terms(text)) < 20_000


@pytest.mark.parametrize(
    ("text", "probe"),
    [
        ("the reading of device 4711", "4711"),
        ("the total is 12,500.00", "12500"),
        ("floor 12 of the building", "building"),
        ("the launch in October 2026", "october"),
    ],
)
def test_a_number_that_few_texts_have_is_the_probe(text: str, probe: str) -> None:
    """Of many values that differ in a number, each is noticed by its own; a year is in many."""
    assert analysis.probe(text) == probe
