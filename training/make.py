"""Makes the learned detector from nothing but packages, public data by path and a seed.

    python -m training.make --data FOLDER [--quick] [--install] [--seed N] [--out FOLDER]

`make reader DATA=FOLDER` sets up the environment for it and calls it. The model and everything on
the way to it go to build/detector; `--install` puts the model where Incumbent reads it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

# Nothing but the standard library up here: whether the data are there is asked before there is an
# environment with anything else in it.
if TYPE_CHECKING:
    from training.examples import Example

ROOT: Final = Path(__file__).parents[1]
SHIPPED: Final = ROOT / "src" / "incumbent" / "reading" / "weights"
PAIRS: Final = "sgd/pairs_train.jsonl.gz"
MEASURED: Final = {
    "sgd_dev": "sgd/pairs_dev.jsonl.gz",
    "multiwoz_val": "multiwoz/cases_val.jsonl.gz",
}
"""What the model is measured on where it is there. Nothing is learned from it."""
CONVERSATIONS: Final = ROOT / "training" / "conversations"
DEVELOPMENT: Final = ("life2", "short2")
"""Parts of the corpus that nothing is taught: opinions are weighed by them."""
FINAL: Final = ("home", "notes")
"""Parts that are looked at once, for the figures."""
SECOND: Final = "second"
TALK_TIMES: Final = 2
"""How often the relations of conversations are read in an epoch."""
SIBLING_TIMES: Final = 4
"""How often siblings are: they are few, and tell what nothing else does."""
GENERATED_SEED: Final = 2


@dataclass(frozen=True)
class Amounts:
    """How much of everything goes in."""

    pairs: int | None
    each: int
    """How often each record of the content files is tried."""
    generated: int | None
    talk: int | None
    measured: int | None
    epochs: float
    batch: int


FULL: Final = Amounts(None, 300, 40_000, None, None, 6, 256)
QUICK: Final = Amounts(100, 1, 100, 100, 100, 1, 32)


class Steps:
    """Tells what is being done, and how long it took."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._done = 0
        self._began = time.monotonic()

    def begin(self, what: str) -> None:
        """Say what comes next."""
        self._done += 1
        took = time.monotonic() - self._began
        print(f"[{self._done}/{self._count}] {what}  ({took:.0f} s so far)", flush=True)


def look(data: str) -> Path:
    """The folder of the data, or an end with what is missing."""
    if not data:
        raise SystemExit(
            "No data: say where they are with make reader DATA=path/to/data. The folder has "
            f"{PAIRS}; docs/detector.md tells what it is."
        )
    folder = Path(data)
    if not (folder / PAIRS).is_file():
        raise SystemExit(
            f"{data!r} lacks {PAIRS}; DATA must be a folder that has it. docs/detector.md tells "
            f"what it is."
        )
    return folder


def write_examples(data: Path, out: Path, amounts: Amounts, steps: Steps) -> list[Path]:
    """Encode the sources of examples, each into a file."""
    from training.dialogues import of_pairs
    from training.pairs import generate
    from training.siblings import siblings, taught

    steps.begin(f"reading pairs of {PAIRS}")
    pairs = _saved(out / "pairs.npz", islice(of_pairs(data / PAIRS), amounts.pairs))
    steps.begin("generating pairs from training/content")
    made = generate(GENERATED_SEED, amounts.each)
    Random(1).shuffle(made)
    generated = _saved(out / "generated.npz", made[: amounts.generated])
    steps.begin("reading training/conversations")
    talk, *read = write_talk(out, amounts)
    near = _saved(out / "siblings.npz", islice(siblings(taught()), amounts.talk))
    sources = [pairs, generated, *[talk] * TALK_TIMES, *read]
    return [*sources, *[near] * SIBLING_TIMES]


def write_talk(out: Path, amounts: Amounts) -> list[Path]:
    """Encode what the conversations tell: of relations, of kinds, and of where statements begin."""
    from incumbent_eval.conversations.format import read_conversations
    from training import talk

    aside = (*DEVELOPMENT, *FINAL, SECOND)
    paths = [path for path in sorted(CONVERSATIONS.glob("*.txt")) if path.stem not in aside]
    told = [(one, path.stem) for path in paths for one in read_conversations(path)]
    told = told[: amounts.talk]
    ways = {
        "talk": talk.relations,
        "turn_kinds": talk.turn_kinds,
        "turn_cuts": talk.turn_cuts,
    }
    found = {name: [e for one, of in told for e in way(one, of)] for name, way in ways.items()}
    found["turn_kinds"] += talk.orders()
    return [_saved(out / f"{name}.npz", found[name]) for name in ways]


def write_measured(data: Path, out: Path, amounts: Amounts) -> list[Path]:
    """Encode what the model is measured on, of what is there."""
    from training.dialogues import of_pairs

    return [
        _saved(out / f"{name}.npz", islice(of_pairs(data / file), amounts.measured))
        for name, file in MEASURED.items()
        if (data / file).is_file()
    ]


def _saved(path: Path, examples: Iterable[Example]) -> Path:
    from training.encode import save

    found = list(examples)
    save(path, found)
    print(f"    {path.stem}: {len(found):,} examples", flush=True)
    return path


def write_model(trained: Path, out: Path) -> str:
    """Write detector.onnx and detector.json, and give the hash.

    The calibration and the weights are those of the model that ships; `training.calibrate` and
    `training.weigh` measure them anew.
    """
    from training.export import exported

    model = exported(trained)
    sha256 = hashlib.sha256(model).hexdigest()
    card = json.loads((SHIPPED / "detector.json").read_text(encoding="utf-8"))
    (out / "detector.onnx").write_bytes(model)
    written = json.dumps({**card, "sha256": sha256}, indent=2)
    (out / "detector.json").write_text(f"{written}\n", encoding="utf-8")
    return sha256


def try_out(folder: Path) -> str:
    """Load the model as Incumbent does, and tell what it makes of a change of mind."""
    from incumbent.language.learned.model import Model

    statement, turn = "Book a table for 4 at 7 pm.", "Sorry, make that 5 people."
    start = statement.index("4")
    (opinion,) = Model(folder).read(statement, [(start, start + 1)], "", turn)
    if opinion is None:
        raise SystemExit(f"the model in {folder} says nothing of a value that it can read")
    said = "nothing" if opinion.span is None else repr(turn[slice(*opinion.span)])
    return f"{statement!r}, then {turn!r}: replaces '4' {opinion.replaces:.3f}, by {said}"


def make(data: Path, out: Path, amounts: Amounts, seed: int) -> None:
    """Everything, from the data to a model that Incumbent can read."""
    from training.base import package_folder, save
    from training.train import Settings, train

    out.mkdir(parents=True, exist_ok=True)
    steps = Steps(6)
    steps.begin("taking the base weights from their package")
    save(out / "base.npz", package_folder())
    sources = write_examples(data, out, amounts, steps)
    steps.begin("training")
    measured = write_measured(data, out, amounts)
    settings = Settings(
        weights=out / "base.npz",
        out=out / "trained",
        train=sources,
        measure=measured,
        seed=seed,
        epochs=amounts.epochs,
        batch=amounts.batch,
    )
    train(settings)
    steps.begin("exporting to 8 bits")
    sha256 = write_model(out / "trained.npz", out)
    size = (out / "detector.onnx").stat().st_size
    print(f"    {out / 'detector.onnx'}: {size:,} bytes, SHA-256 {sha256}")
    print(f"    {try_out(out)}", flush=True)
    if amounts is QUICK:
        print("The recipe runs. This model has seen too little to be of use.", flush=True)


def install(out: Path) -> None:
    """Put a model in the place of the one that ships."""
    for name in ("detector.onnx", "detector.json"):
        shutil.copyfile(out / name, SHIPPED / name)
    print(f"Installed in {SHIPPED.relative_to(ROOT)}. The one before is in git.")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Make the learned detector.")
    parser.add_argument("--data", default="", help="folder of the public data")
    parser.add_argument("--quick", action="store_true", help="a few hundred examples, to try it")
    parser.add_argument("--install", action="store_true", help="put it in the place of the shipped")
    parser.add_argument("--only-look", action="store_true", help="tell whether the data are there")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "detector")
    options = parser.parse_args(arguments)
    if options.quick and options.install:
        raise SystemExit("A quick run makes a model that knows nothing; leave out QUICK or INSTALL")
    data = look(options.data)
    if options.only_look:
        return
    make(data, options.out, QUICK if options.quick else FULL, options.seed)
    if options.install:
        install(options.out)


if __name__ == "__main__":
    main()
