"""What every embedder that ships with Incumbent promises."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from incumbent.model.errors import InvalidInput
from incumbent.search.embedders import NAMES, Embedder, load

TEXTS = [
    "shipping_address: 456 Oak Ave",
    "Where should we ship the order?",
    "The meeting moved to Thursday at three.",
    "Die Lieferung kommt erst am Freitag, sagte Jürgen.",
    "a",
    "Caroline: I went to a support group yesterday, and it was so powerful. " * 5,
    "配送先の住所が変わりました",
    "🚚 on its way",
]


@pytest.fixture(params=NAMES)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    """Each model in turn."""
    return load(request.param)


def test_rows_have_length_one(embedder: Embedder) -> None:
    """Every text becomes one row of 32-bit numbers of length 1."""
    rows = embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.dimensions)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_a_text_means_the_same_in_any_company(embedder: Embedder) -> None:
    """Alone, in a batch, in another order or twice: the same text gives the same bits."""
    together = embedder.embed(TEXTS)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    backwards = embedder.embed(TEXTS[::-1])[::-1]
    repeated = embedder.embed([text for text in TEXTS for _ in range(2)])[1::2]
    assert together.tobytes() == alone.tobytes() == backwards.tobytes() == repeated.tobytes()


def test_threads_share_a_model(embedder: Embedder) -> None:
    """Threads that embed at the same time get what one would get."""
    expected = embedder.embed(TEXTS).tobytes()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: embedder.embed(TEXTS).tobytes(), range(16)))
    assert set(found) == {expected}


def test_another_process_gets_the_same_bits() -> None:
    """A vector stored by one process is the vector that the next one computes."""
    program = (
        "import sys; from incumbent.search.embedders import NAMES, load;"
        f"[sys.stdout.buffer.write(load(name).embed({TEXTS!r}).tobytes()) for name in NAMES]"
    )
    command = [sys.executable, "-X", "utf8", "-c", program]
    outcome = subprocess.run(command, capture_output=True, check=True)
    assert outcome.stdout == b"".join(load(name).embed(TEXTS).tobytes() for name in NAMES)


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("The delivery will be late.", "The shipment is delayed.", "She plays the violin."),
        ("Where should we ship the order?", "shipping_address: 456 Oak Ave", "diet: vegetarian"),
        ("doctor's appointment on Monday", "see the physician", "quarterly budget forecast"),
    ],
)
def test_a_paraphrase_is_nearer(embedder: Embedder, text: str, near: str, far: str) -> None:
    """What means much the same is nearer than what is about something else."""
    given, alike, unlike = embedder.embed([text, near, far])
    assert given @ alike > given @ unlike + 0.1


def test_other_words_for_the_same_thing_are_understood() -> None:
    """The transformer finds an answer that shares no word with the question."""
    question, answer, other = load("minilm").embed(
        ["Is he able to eat shrimp?", "allergy: shellfish", "hotel: near the station"]
    )
    assert question @ answer > question @ other + 0.1


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200b", "\x00"])
def test_a_text_without_words_is_near_nothing(embedder: Embedder, text: str) -> None:
    """A text without words is a row of zeros, and its neighbours are as they would be."""
    empty, full = embedder.embed([text, TEXTS[0]])
    assert not empty.any()
    assert full.tobytes() == embedder.embed([TEXTS[0]]).tobytes()


def test_no_texts_are_no_rows(embedder: Embedder) -> None:
    """Nothing to embed is a table without rows, of the usual width."""
    assert embedder.embed([]).shape == (0, embedder.dimensions)


@pytest.mark.parametrize(
    "unit", ["The order was shipped. ", "x", "文", "\U0001f69a", "a\u0301", "[SEP] ", "\u200b "]
)
def test_only_the_beginning_of_a_long_text_counts(embedder: Embedder, unit: str) -> None:
    """A text of a million characters is embedded by its beginning, whatever it is made of."""
    beginning = unit * (10_000 // len(unit))
    longer = unit * (1_000_000 // len(unit))
    assert embedder.embed([longer]).tobytes() == embedder.embed([beginning]).tobytes()


@pytest.mark.parametrize("text", ["half a pair \ud83d", "\udc00", "[CLS] [SEP] [PAD] [MASK]"])
def test_odd_texts_are_texts(embedder: Embedder, text: str) -> None:
    """Broken surrogates and the model's own marks are embedded like anything else."""
    (row,) = embedder.embed([text])
    assert np.isclose(np.linalg.norm(row), 1, atol=1e-5)


def test_models_are_told_apart_and_read_once() -> None:
    """Each model has a name of its own for its vectors, and is loaded once in a process."""
    assert len({load(name).name for name in NAMES}) == len(NAMES)
    assert all(load(name) is load(name) for name in NAMES)


@pytest.mark.parametrize("name", ["", "MiniLM", "word2vec", "../static"])
def test_an_unknown_name_is_refused(name: str) -> None:
    """A name that ships no model is refused with the names that do."""
    with pytest.raises(InvalidInput) as caught:
        load(name)
    assert repr(name) in str(caught.value)
    assert '"minilm"' in str(caught.value)
    assert '"static"' in str(caught.value)


def test_the_package_is_light_until_a_model_is_loaded() -> None:
    """Importing the package imports none of the libraries that the models need."""
    program = (
        "import sys, incumbent.search.embedders;"
        "sys.exit(bool({'numpy', 'onnxruntime'} & sys.modules.keys()))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
