"""No figure drops beyond noise: small fixed samples, held against what a commit wrote down.

`python -m tests.evaluation.gate --write` writes the baselines anew and says what has changed.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from incumbent_eval import peers
from incumbent_eval.figures import Share
from tests.evaluation import gate
from tests.evaluation.gate import Figure, law

WRITE = "python -m tests.evaluation.gate --write"
needs_data = pytest.mark.skipif(gate.data() is None, reason=f"{gate.VARIABLE} names no folder")
needs_package = pytest.mark.skipif(peers.installed_version() is None, reason=peers.INSTALL)


def held(name: str, figures: gate.Figures) -> None:
    """Fail with every figure that dropped, and how to write it down where that is meant."""
    worse = list(gate.drops(gate.baselines()[name], figures))
    assert not worse, "; ".join(
        [*worse, "where it is meant: python -m tests.evaluation.gate --write"]
    )


@pytest.mark.parametrize("name", gate.ALWAYS)
def test_what_is_made_up_comes_out_as_before(name: str) -> None:
    """Laws hold without exception, and the rest as often as it did."""
    held(name, gate.ALWAYS[name]())


@needs_package
@pytest.mark.parametrize("name", gate.WITH_PACKAGE)
def test_what_the_suite_makes_comes_out_as_before(name: str) -> None:
    """StateBench 2.0.0, a few timelines of every track."""
    held(name, gate.WITH_PACKAGE[name]())


@needs_data
@pytest.mark.parametrize("name", gate.WITH_DATA)
def test_public_data_come_out_as_before(name: str) -> None:
    """The first of each set, from the folder that the environment names."""
    folder = gate.data()
    assert folder is not None
    held(name, gate.WITH_DATA[name](folder))


KEPT = {"right": Figure(Share(80, 100)).record(), "lost": Figure(Share(5, 100), False).record()}


class TestTheGateItself:
    def drops(self, right: int, lost: int, of: int = 100) -> list[str]:
        now = {"right": Figure(Share(right, of)), "lost": Figure(Share(lost, of), at_least=False)}
        return list(gate.drops(KEPT, now))

    def test_lets_pass_what_is_within_noise_or_better(self) -> None:
        """Two standard deviations of 80 in 100 are eight points."""
        assert self.drops(80, 5) == self.drops(73, 9) == self.drops(100, 0) == []

    def test_stops_what_drops_further(self) -> None:
        """Each figure is named with what it was."""
        [right] = self.drops(71, 5)
        assert right.startswith("right: 71.0%, was 80.0%")
        [lost] = self.drops(80, 15)
        assert lost.startswith("lost: 15.0%, was 5.0%")

    def test_allows_a_law_no_noise(self) -> None:
        """One in a thousand is too many."""
        kept = {"kept": law(Share(1000, 1000)).record()}
        assert list(gate.drops(kept, {"kept": law(Share(999, 1000))})) != []
        assert list(gate.drops(kept, {"kept": law(Share(1000, 1000))})) == []

    def test_a_figure_that_is_gone_is_a_drop(self) -> None:
        """Nobody passes by not measuring."""
        assert list(gate.drops(KEPT, {})) == [
            "right: no longer measured",
            "lost: no longer measured",
        ]
        empty = {name: Figure(Share(0, 0)) for name in KEPT}
        assert len(list(gate.drops(KEPT, empty))) == 2

    def test_every_sample_has_its_baselines(self) -> None:
        """With noise that follows from the size of the sample."""
        kept = gate.baselines()
        assert set(kept) == {*gate.ALWAYS, *gate.WITH_PACKAGE, *gate.WITH_DATA}
        for figures in kept.values():
            for told in figures.values():
                share = Share(round(told["share"] * told["of"]), told["of"])
                assert told["noise"] in (0.0, pytest.approx(Figure(share).noise, abs=2e-4))

    def test_writing_prints_what_has_changed(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        """Old and new side by side; what could not be measured stays as it was."""
        path = tmp_path / "baselines.json"
        path.write_text(json.dumps({"own": KEPT, "detector": KEPT}), encoding="utf-8")
        worse = {"right": Figure(Share(10, 100)), "lost": Figure(Share(5, 100), at_least=False)}
        monkeypatch.setattr(gate, "BASELINES", path)
        monkeypatch.setattr(gate, "measured", lambda: iter([("own", worse)]))
        monkeypatch.setattr("sys.argv", ["gate"])
        assert gate.main() == 1
        assert gate.baselines()["own"] == KEPT
        monkeypatch.setattr("sys.argv", ["gate", "--write"])
        assert gate.main() == 0
        told = capsys.readouterr().out
        assert "right: 80.0% of 100 ± 8.1% -> 10.0% of 100 ± 6.2%" in told
        assert f"detector: not measured; it needs {gate.VARIABLE}" in told
        assert gate.baselines()["own"]["right"]["share"] == 0.1
        assert gate.baselines()["detector"] == KEPT
