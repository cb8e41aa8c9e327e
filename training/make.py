"""Makes the reader's model from nothing but packages, public data by path and a seed.

    python -m training.make --data FOLDER [--quick] [--install] [--seed N] [--out FOLDER]
                            [--teachers N] [--only-scenes]

`make reader DATA=FOLDER` sets up the environment for it and calls it. The model and everything on
the way to it go to build/reader, the larger one that teaches it to build/reader/larger;
`--install` puts the model where Incumbent reads it, and the larger one into its package.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

# Nothing but the standard library up here: whether the data are there is asked before there is an
# environment with anything else in it.
if TYPE_CHECKING:
    from training.scenes import KnownText, Scene

ROOT: Final = Path(__file__).parents[1]
SHIPPED: Final = ROOT / "src" / "incumbent" / "reading" / "learned" / "weights"
LARGER: Final = ROOT / "packages" / "reader" / "src" / "incumbent_reader" / "weights"
CASES: Final = "sgd/cases_train.jsonl.gz"
PAIRS: Final = "sgd/pairs_train.jsonl.gz"
NATURAL: Final = "natural"
MEASURED: Final = {
    "sgd_dev": "sgd/pairs_dev.jsonl.gz",
    "multiwoz_val": "multiwoz/cases_val.jsonl.gz",
}
"""What the model is measured on where it is there. Nothing is learned from it."""
CONVERSATIONS: Final = ROOT / "training" / "conversations"
DEVELOPMENT: Final = ("life2", "short2")
"""Parts of the corpus that nothing is taught: the lines of `thresholds` are drawn by them."""
FINAL: Final = ("home", "notes")
"""Parts that are looked at once, for the figures."""
SECOND: Final = "second"
GENERATED_SEED: Final = 2
VARIANTS: Final = 3
"""Conversations and siblings are cut, and put beside others, in so many ways."""
UNLABELLED: Final = "nearby"
SMALL, LARGE = "incumbent-reader", "incumbent-reader-large"
TIMES: Final = {"talk": 1.0, "siblings": 2.0, "moments": 4.0, "generated": 0.5, "pairs": 0.35}
"""How often a source is read in an epoch, where that is not once."""


@dataclass(frozen=True)
class Amounts:
    """How much of everything goes in."""

    most: int | None
    """No source has more scenes than that."""
    each: int
    """How often each record of the content files is tried."""
    generated: int | None
    epochs: float
    teacher_epochs: float
    tokens: int


PIECE: Final = 22_000_000
"""So many bytes of the larger model are in a file: no host of code takes more than 100 million."""
SHARPNESS: Final = {SMALL: 0.72, LARGE: 1.0}
"""What each says of a statement is taken times this, so that one table of lines fits both: with it
92 % (small) and 94 % (large) of what stands in the files of `siblings.ASIDE` stands, played whole.
A model made anew has to be played on them, and its number drawn again."""
FULL: Final = Amounts(None, 300, 40_000, 20, 5, 5_000)
QUICK: Final = Amounts(60, 1, 60, 1, 0.05, 4_000)


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
            f"{PAIRS} and {CASES}; docs/detector.md tells what they are."
        )
    folder = Path(data)
    missing = [name for name in (PAIRS, CASES) if not (folder / name).is_file()]
    if missing:
        raise SystemExit(
            f"{data!r} lacks {' and '.join(missing)}; DATA must be a folder that has them. "
            f"docs/detector.md tells what they are."
        )
    return folder


def conversation_scenes(paths: Sequence[Path], seed: int) -> Iterator[Scene]:
    """The scenes of marked conversations."""
    from incumbent.search.embedders import load
    from incumbent_eval.conversations.format import read_conversations
    from training.conversing import embedding_likeness, scenes

    likeness = embedding_likeness(load("minilm"))
    for path in paths:
        rng = Random(f"{seed} {path.stem}")
        strangers: list[KnownText] = []
        for conversation in read_conversations(path):
            found = list(scenes(conversation, path.stem, rng, likeness, strangers[-200:]))
            yield from found
            told = {known.text: known for scene in found for known in scene.known}
            strangers += [
                replace(one, becomes="leaves", by=None, new=None, values=(), is_whole=True)
                for one in told.values()
            ]


def sibling_scenes(paths: Sequence[Path], seed: int, *, alone: bool = False) -> Iterator[Scene]:
    """Siblings, each beside statements of others of the same file, or alone."""
    from training.siblings import items, scene

    rng = Random(seed)
    for path in paths:
        found = list(items([path]))
        others = [str(item["first"]) for _, item in found]
        for source, item in found:
            beside = [one for one in others if one != item["first"]]
            few = [] if alone else rng.sample(beside, min(12, len(beside)))
            yield scene(item, source, rng, few)


def nearby_scenes(seed: int) -> Iterator[Scene]:
    """Scenes without labels, of what is taught: siblings and moments beside those of others."""
    from incumbent.search.embedders import load
    from training.nearby import nearby
    from training.siblings import heard, items, taught
    from training.sources import moments

    known: list[str] = []
    turns: list[str] = []
    for _, item in items(taught()):
        known += [heard(item["first"]), heard(item["second"])]
        turns.append(heard(item["second"]))
    for scene in moments():
        known += [one.text for one in scene.known]
        turns.append(scene.turn)
    yield from nearby(known, turns, load("minilm"), Random(seed))


def taught_conversations() -> list[Path]:
    """The parts that are taught."""
    aside = (*DEVELOPMENT, *FINAL, SECOND)
    return [path for path in sorted(CONVERSATIONS.glob("*.txt")) if path.stem not in aside]


def write_scenes(data: Path, out: Path, amounts: Amounts, steps: Steps) -> list[str]:
    """Encode the sources, each into a file; with how often each is read."""
    from training.dialogues import of_dialogues, of_pairs
    from training.pairs import generate
    from training.siblings import taught
    from training.sources import generated, moments, natural, orders

    steps.begin("reading training/conversations and training/siblings")
    made: dict[str, Iterable[Scene]] = {}
    for n in range(1, VARIANTS + 1):
        made[f"talk{n}"] = conversation_scenes(taught_conversations(), n)
        made[f"siblings{n}"] = sibling_scenes(taught(), n)
    made["moments"] = moments()
    made[UNLABELLED] = nearby_scenes(1)
    made["orders"] = orders()
    found = [_saved(out, name, scenes, amounts) for name, scenes in made.items()]
    steps.begin(f"reading {CASES}, {PAIRS} and what is natural")
    found.append(_saved(out, "dialogues", of_dialogues(data / CASES, Random(1)), amounts))
    found.append(_saved(out, "pairs", of_pairs(data / PAIRS), amounts))
    if (data / NATURAL).is_dir():
        found.append(_saved(out, "natural", natural(data / NATURAL, Random(1)), amounts))
    steps.begin("generating pairs from training/content")
    examples = generate(GENERATED_SEED, amounts.each)
    Random(1).shuffle(examples)
    few = examples[: amounts.generated]
    found.append(_saved(out, "generated", generated(few, Random(1)), amounts))
    return [f"{path}*{_times(path.stem)}" for path in found]


def _times(name: str) -> float:
    source = name.rstrip("0123456789")
    return TIMES.get(source, 1.0) / (VARIANTS if source != name else 1)


def write_measured(data: Path, out: Path, amounts: Amounts) -> list[Path]:
    """Encode what the model is measured on, of what is there."""
    from training.dialogues import of_pairs
    from training.siblings import aside, kept

    dev = [CONVERSATIONS / f"{name}.txt" for name in DEVELOPMENT]
    made = {
        "talk_dev": conversation_scenes(dev, 1),
        "siblings_aside": sibling_scenes(aside(), 1, alone=True),
        "siblings_kept": sibling_scenes(kept(), 1, alone=True),
    }
    for name, file in MEASURED.items():
        if (data / file).is_file():
            made[name] = of_pairs(data / file)
    return [_saved(out, name, scenes, amounts) for name, scenes in made.items()]


def _saved(out: Path, name: str, scenes: Iterable[Scene], amounts: Amounts) -> Path:
    from training.encode import save

    path = out / f"{name}.npz"
    count = save(path, islice(scenes, amounts.most))
    print(f"    {name}: {count:,} scenes", flush=True)
    return path


def write_model(trained: Path, out: Path, name: str, words: Path | None = None) -> None:
    """Write reader.onnx and its card, and tell what it makes of a change of mind."""
    from training.export import exported

    out.mkdir(parents=True, exist_ok=True)
    model = exported(trained, words)
    sha256 = hashlib.sha256(model).hexdigest()
    card = json.loads((SHIPPED / "reader.json").read_text(encoding="utf-8"))
    (out / "reader.onnx").write_bytes(model)
    calibration = {**card["calibration"], "sharpness": SHARPNESS[name], "slope": SHARPNESS[name]}
    card |= {"name": name, "sha256": sha256, "calibration": calibration}
    told = json.dumps(card, indent=2)
    (out / "reader.json").write_text(f"{told}\n", encoding="utf-8")
    print(f"    {out / 'reader.onnx'}: {len(model):,} bytes, SHA-256 {sha256}")
    print(f"    {try_out(out)}", flush=True)


def try_out(folder: Path) -> str:
    """Load the model as Incumbent does, and tell what it makes of a change of mind."""
    from incumbent.reading.learned.model import Model
    from incumbent.reading.learned.pieces import Age, Beside

    statement, turn = "Book a table for 4 at 7 pm.", "Sorry, make that 5 people."
    read = Model(folder).read("", turn, [Beside(statement, Age.JUST)])
    start = statement.index("4")
    new = read.new(0, (start, start + 1))
    said = "nothing" if new is None else repr(turn[slice(*new[0])])
    over = read.over(0, (start, start + 1))
    return f"{statement!r}, then {turn!r}: '4' is over {over:.3f}, instead {said}"


def make(data: Path, out: Path, amounts: Amounts, seed: int, teachers: int) -> None:
    """Everything, from the data to a model that Incumbent can read."""
    from training.base import package_folder, save
    from training.train import Settings, train

    out.mkdir(parents=True, exist_ok=True)
    steps = Steps(7 + teachers)
    steps.begin("taking the base weights from their packages")
    save(out / "base.npz", package_folder())
    sources = write_scenes(data, out, amounts, steps)
    labelled = [one for one in sources if Path(one.partition("*")[0]).stem != UNLABELLED]
    steps.begin("encoding what is measured")
    measured = write_measured(data, out, amounts)
    teacher = Settings(
        write_teacher(out),
        out / "teacher",
        labelled,
        measured,
        epochs=amounts.teacher_epochs,
        tokens=amounts.tokens,
        shape="teacher",
        heads_rate=1e-3,
        also=[out / f"{UNLABELLED}.npz"],
    )
    soft: list[Path] = []
    for number in range(1, teachers + 1):
        steps.begin(f"training teacher {number}")
        tell = out / f"soft{number}"
        train(replace(teacher, out=out / f"teacher{number}", seed=number, tell=tell))
        soft.append(tell)
    if teachers:
        steps.begin("training the larger model, which they teach as well")
        larger = replace(teacher, train=sources, out=out / "larger", seed=teachers + 1, also=())
        train(replace(larger, rate=5e-5, soft=tuple(soft), tell=out / "soft"))
        soft.append(out / "soft")
    steps.begin("training the model that ships")
    train(
        Settings(
            out / "base.npz",
            out / "trained",
            sources,
            measured,
            seed=seed,
            epochs=amounts.epochs,
            tokens=amounts.tokens,
            rate=3e-4,
            heads_rate=1e-3,
            soft=soft,
            hints=(out / "larger.npz", write_teacher(out)) if teachers else (),
        )
    )
    steps.begin("exporting to 8 bits")
    write_model(out / "trained.npz", out, SMALL)
    if teachers:
        words = write_teacher(out)
        write_model(out / "larger.npz", out / "larger", LARGE, words)
    if amounts is QUICK:
        print("The recipe runs. This model has seen too little to be of use.", flush=True)


def write_teacher(out: Path) -> Path:
    """The weights that teachers start from, once."""
    from training.teacher import save

    path = out / "teacher_base.npz"
    if not path.is_file():
        save(path)
    return path


def install(out: Path) -> None:
    """Put the models where they are read from; the larger one in pieces."""
    for made, there in ((out, SHIPPED), (out / "larger", LARGER)):
        if not made.is_dir():
            continue
        there.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made / "reader.json", there / "reader.json")
        model = (made / "reader.onnx").read_bytes()
        if there == SHIPPED:
            (there / "reader.onnx").write_bytes(model)
        else:
            for number, begin in enumerate(range(0, len(model), PIECE), start=1):
                (there / f"reader.onnx.{number}").write_bytes(model[begin : begin + PIECE])
        print(f"Installed in {there.relative_to(ROOT)}. What was there before is in git.")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Make the reader's model.")
    parser.add_argument("--data", default="", help="folder of the public data")
    parser.add_argument("--quick", action="store_true", help="a few hundred scenes, to try it")
    parser.add_argument("--install", action="store_true", help="put it in the place of the shipped")
    parser.add_argument("--only-look", action="store_true", help="tell whether the data are there")
    parser.add_argument("--only-scenes", action="store_true", help="stop before the training")
    parser.add_argument("--teachers", type=int, default=2, help="how many larger models teach it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "reader")
    options = parser.parse_args(arguments)
    if options.quick and options.install:
        raise SystemExit("A quick run makes a model that knows nothing; leave out QUICK or INSTALL")
    data = look(options.data)
    if options.only_look:
        return
    amounts = QUICK if options.quick else FULL
    if options.only_scenes:
        options.out.mkdir(parents=True, exist_ok=True)
        write_scenes(data, options.out, amounts, Steps(4))
        write_measured(data, options.out, amounts)
        return
    make(data, options.out, amounts, options.seed, options.teachers)
    if options.install:
        install(options.out)


if __name__ == "__main__":
    main()
