"""A larger model beside the one that ships: where it is found, and what it is asked about."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app
from incumbent.reading import thresholds
from incumbent.reading.form import Heard, Known, Relation, RelationKind
from incumbent.reading.learned.model import BECOMES, WEIGHTS, Model, Read, load
from incumbent.reading.learned.pieces import Beside
from incumbent.reading.offline import OfflineReader
from incumbent.reading.readers import PACKAGE, named_reader
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
NAME = "made-up-larger"
TURN = "Sorry, make that 5 people."
TABLE, DENTIST = "Book a table for 4 at 7 pm.", "My dentist is Dr. Weber."
OFFICE, GIVEN = "Tom sits in the corner office.", "We gave the corner office to Priya."


class Told:
    """A model that says of each statement what it was told to, and keeps what it was asked."""

    name = NAME

    def __init__(self, **becomes: float) -> None:
        self._becomes = {one: becomes.get(one, 0.0) for one in BECOMES}
        self.asked: list[tuple[str, str, list[str]]] = []

    def read(self, previous: str, turn: str, beside: Sequence[Beside] = ()) -> Read:
        self.asked.append((previous, turn, [one.text for one in beside]))
        said = load().read(previous, turn, beside)
        card = said._card._replace(name=NAME)
        return replace(said, becomes=(self._becomes,) * len(said.becomes), _card=card)


def relations(turn: str, larger: Told | None, *known: str) -> Mapping[str, Relation]:
    """What a turn does to what was said before it, by its text."""
    reader = OfflineReader(load(), cast("Model | None", larger))
    facts = tuple(
        Known(text, text, likeness=0.5, age=age, is_here=True) for age, text in enumerate(known)
    )
    heard = Heard(turn, "user", NOW, known=facts)
    return {one.fact_id: one for one in reader.read(heard).relations}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Weights in the form of the larger reader's package, found as if that were installed."""
    weights = tmp_path / "site" / PACKAGE / "weights"
    shutil.copytree(WEIGHTS, weights)
    (weights.parent / "__init__.py").write_text("raise AssertionError('it was run')")
    card: dict[str, Any] = json.loads((weights / "reader.json").read_text(encoding="utf-8"))
    (weights / "reader.json").write_text(json.dumps({**card, "name": NAME}), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "site")
    return weights


def test_an_installed_package_is_found_by_itself(installed: Path) -> None:
    """The default reader has both models, and no code of the package is run."""
    assert named_reader("default").name == f"{load().name} + {NAME}"


@pytest.mark.parametrize("name", ["small", "rules"])
def test_a_reader_that_goes_without_it_never_opens_it(installed: Path, name: str) -> None:
    """Its files may be gone, and the reader works."""
    shutil.rmtree(installed)
    settings = incumbent.Settings(reader=name)
    with incumbent.open(":memory:", settings=settings) as memory:
        memory.session(user_id="ann").observe(TABLE)
        assert NAME not in memory.reader.name


def test_doctor_says_which_models_read(installed: Path, tmp_path: Path) -> None:
    """Both are named, and the store is healthy."""
    store = str(tmp_path / "some.db")
    incumbent.open(store).close()
    told = json.loads(CliRunner().invoke(app, ["doctor", store, "--json"]).stdout)
    assert told["reader"] == {"name": f"{load().name} + {NAME}", "available": True}
    assert told["healthy"] is True


def test_the_package_is_built_with_its_weights_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wheel without them would be found and be of no use; one with them is found as it is."""
    source, site = tmp_path / "reader", tmp_path / "site"
    shutil.copytree(ROOT / "packages" / "reader", source, ignore=shutil.ignore_patterns("weights"))
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", str(source)]
    made = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=PATIENCE)
    assert made.returncode != 0
    assert "Forced include not found" in made.stdout + made.stderr
    shutil.copytree(WEIGHTS, source / "src" / PACKAGE / "weights")
    subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True)
    (wheel,) = (source / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    monkeypatch.syspath_prepend(site)
    assert named_reader("default").name == f"{load().name} + {load().name}"


def test_damaged_weights_are_a_finding_of_doctor_with_what_to_do(
    installed: Path, tmp_path: Path
) -> None:
    """It says which file it is, and how to do without it."""
    (installed / "reader.onnx").write_bytes(b"nothing")
    store = str(tmp_path / "some.db")
    incumbent.open(store, settings=incumbent.Settings(reader="small")).close()
    found = CliRunner().invoke(app, ["doctor", store, "--json"])
    (finding,) = json.loads(found.stdout)["findings"]
    assert found.exit_code == 1
    assert str(installed / "reader.onnx") in finding
    assert 'Settings(reader="small")' in finding


def test_what_the_larger_one_leaves_is_left() -> None:
    """The one that ships puts it out of date; it is asked about it, and not heard on it."""
    assert relations(GIVEN, None, OFFICE)[OFFICE].kind is RelationKind.REPLACES
    larger = Told(leaves=1.0)
    assert OFFICE not in relations(GIVEN, larger, OFFICE)
    assert [one[2] for one in larger.asked] == [[OFFICE]]


def test_what_the_larger_one_finds_over_is_over_by_its_word() -> None:
    """What becomes of it, how likely, and under whose name, is what the larger one says."""
    found = relations(GIVEN, Told(ends=0.99), OFFICE)[OFFICE]
    assert (found.kind, found.chance, found.rests_on) == (RelationKind.ENDS, 0.99, NAME)


def test_it_is_asked_about_the_few_that_are_likeliest_changed() -> None:
    """Of eight things known that a turn may mean, some; and no more than it may mean."""
    others = [f"A table for {n} at 7 pm is booked on May {n}." for n in range(11, 18)]
    for beside, count in ((others, thresholds.AGAIN), ([DENTIST, "Our cat likes tuna."], 1)):
        larger = Told(leaves=1.0)
        relations(TURN, larger, TABLE, *beside)
        ((_, turn, asked),) = larger.asked
        assert (turn, len(asked)) == (TURN, count)
        assert count > 1 or asked == [TABLE]


def test_on_what_it_is_not_asked_the_smaller_one_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """What there was no room to ask about is judged as it is without a larger model."""
    monkeypatch.setattr(thresholds, "AGAIN", 1)
    larger, turn = Told(leaves=1.0), "We've sold the boat, and we've moved to Porto."
    with_it, without = (
        relations(turn, one, "We own a boat.", "We live in Graz.") for one in (larger, None)
    )
    ((_, _, asked),) = larger.asked
    assert with_it == {text: one for text, one in without.items() if text not in asked}
    assert len(asked) == len(with_it) == 1


@pytest.mark.parametrize("turn", ["Our cat likes tuna.", "Thanks a lot!"])
def test_it_is_not_asked_where_nothing_is_likely_to_change(turn: str) -> None:
    """A turn about something else, or about nothing, costs what it cost without it."""
    larger = Told(replaces=1.0)
    assert not relations(turn, larger, DENTIST)
    assert not larger.asked


def test_a_correction_within_one_turn_is_asked_about_too() -> None:
    """What comes before it in the turn is what it was said after."""
    larger = Told(part=0.9)
    relations(f"{TABLE} {TURN}", larger)
    assert [(previous.strip(), asked) for previous, _, asked in larger.asked] == [(TABLE, [TABLE])]
