"""Trains the reader on encoded scenes.

    python -m training.train WEIGHTS OUT --train FILE[*TIMES] ... [--measure FILE ...] [...]

WEIGHTS is what `training.base` or `training.teacher` wrote, files of scenes are what
`training.encode` wrote. Needs torch; a GPU makes it minutes. Writes OUT.npz with the trained
weights but for the table of words, which stays as it was, and OUT.json with the figures.

A larger model teaches the one that ships: with `--shape teacher` the weights are those of
all-mpnet-base-v2, and with `--tell FOLDER` a trained model writes what it says of every scene of
every file. With `--soft FOLDER ...` a model learns from that as well as from the labels.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from training.batches import Array, Batch, Scenes
from training.losses import losses, softened
from training.network import BECOMES, KINDS, SHAPES, TAGS, Model

HINTED = 2.0
"""What it counts how far the last layer is from that of a teacher."""
_WARM = 0.05
"""The share of the way on which the learning rate rises."""


@dataclass(frozen=True)
class Settings:
    """Where things are, and how to train."""

    weights: Path
    out: Path
    train: Sequence[str] = ()
    measure: Sequence[Path] = ()
    seed: int = 1
    epochs: float = 1
    tokens: int = 12_000
    """So many pieces are in a batch."""
    rate: float = 4e-5
    heads_rate: float = 4e-4
    dropout: float = 0.1
    average: float = 0.999
    shape: str = "shipped"
    soft: Sequence[Path] = ()
    hints: Sequence[Path] = ()
    """A trained teacher and what it began with: its last layer is matched as well."""
    tell: Path | None = None
    also: Sequence[Path] = ()
    """Files without labels, of which a teacher only tells what it thinks."""
    seconds: float = math.inf
    """No longer than this: what is left of the steps is then left out."""

    def beside(self, ending: str) -> Path:
        """A file of the result."""
        return self.out.with_name(f"{self.out.name}{ending}")


def load(model: Model, path: Path, began: Path | None = None) -> None:
    """Put weights into a model; what it has beyond them begins at random. The table of words is
    not among trained weights, and is taken from what they began with."""
    found = dict(np.load(path))
    if "words.weight" not in found:
        words = began if began is not None else path.with_name("base.npz")
        found["words.weight"] = dict(np.load(words))["words.weight"]
    state = {name: torch.from_numpy(value.astype(np.float32)) for name, value in found.items()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    if unexpected:
        raise SystemExit(f"{path} has weights that the model has no place for: {unexpected}")
    print("new:", ", ".join(sorted({name.split(".")[0] for name in missing})), flush=True)


class Hints(nn.Module):
    """What the last layer of a teacher makes of each piece, for a smaller model to match."""

    def __init__(self, trained: Path, began: Path, width: int) -> None:
        super().__init__()
        self.teacher = Model(0.0, SHAPES["teacher"])
        load(self.teacher, began)
        load(self.teacher, trained, began)
        self.teacher.requires_grad_(False).eval()
        self.wider = nn.Linear(width, SHAPES["teacher"].width)

    def forward(self, ids: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
        """How far the states are from what the teacher has, for pieces that are there."""
        with torch.no_grad():
            told = self.teacher.states(ids)
        near = F.cosine_similarity(self.wider(states).float(), told.float(), dim=-1)
        there = (ids != 0).float()
        return HINTED * ((1 - near) * there).sum() / there.sum()


class Training:
    """A model that learns, and beside it the running mean of its weights, which is kept."""

    def __init__(self, settings: Settings, device: str) -> None:
        self.settings, self.device = settings, device
        torch.manual_seed(settings.seed)
        self._rng = np.random.default_rng(settings.seed)
        self._model = Model(settings.dropout, SHAPES[settings.shape])
        load(self._model, settings.weights)
        self._model.to(device)
        self._model.words.weight.requires_grad_(False)
        self._hints = None
        if settings.hints:
            trained, began = settings.hints
            self._hints = Hints(trained, began, self._model.shape.width).to(device)
        self.average = copy.deepcopy(self._model).requires_grad_(False)
        self.files = {}
        self._times: dict[str, float] = {}
        for told in settings.train:
            path, _, times = told.partition("*")
            self.files[path] = Scenes(Path(path), settings.soft, device)
            self._times[path] = float(times or 1)
        self._learned = [p for p in self._model.parameters() if p.requires_grad]
        named = dict(self.average.named_parameters())
        self._averaged = [named[n] for n, p in self._model.named_parameters() if p.requires_grad]
        self._order = self._ordered()
        self._optimizer = torch.optim.AdamW(
            self._groups(), weight_decay=0.01, fused=device == "cuda"
        )
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, self._warmth)
        self._began = time.monotonic()

    def _groups(self) -> list[dict[str, Any]]:
        """What begins at random learns faster than what is known."""
        heads = ("hidden", "becomes", "pieces", "asks", "keys")
        new: list[nn.Parameter] = []
        old: list[nn.Parameter] = []
        for name, one in self._model.named_parameters():
            if one.requires_grad:
                (new if name.partition(".")[0] in heads else old).append(one)
        if self._hints is not None:
            new += self._hints.wider.parameters()
        return [
            {"params": old, "lr": self.settings.rate},
            {"params": new, "lr": self.settings.heads_rate},
        ]

    def _warmth(self, step: int) -> float:
        """The share of the learning rate: up for a twentieth of the way, then down to nothing."""
        done = self._done(step)
        return min(done / _WARM, max(0.0, (1 - done) / (1 - _WARM)))

    def _done(self, step: int) -> float:
        """How much of the way is gone, by steps or by time."""
        took = time.monotonic() - self._began if hasattr(self, "_began") else 0.0
        return min(1.0, max(step / max(1, len(self._order)), took / self.settings.seconds))

    def _ordered(self) -> list[tuple[Scenes, list[int]]]:
        """The batches of all files, each as often as it is to be read, mixed."""
        settings = self.settings
        order: list[tuple[Scenes, list[int]]] = []
        for path, scenes in self.files.items():
            times = self._times[path] * settings.epochs
            while times > 0:
                found = list(scenes.batches(settings.tokens, self._rng))
                order += [(scenes, one) for one in found[: math.ceil(len(found) * min(1.0, times))]]
                times -= 1
        self._rng.shuffle(order)
        return order

    def run(self) -> None:
        """All steps, telling now and then how far it is."""
        counts = ", ".join(f"{one.name} {len(one):,}" for one in self.files.values())
        print(f"{self.device}: {counts} scenes, {len(self._order):,} steps", flush=True)
        self._began = time.monotonic()
        every = max(1, min(500, len(self._order) // 10))
        total = torch.zeros((), device=self.device)
        seen = 0
        for step, (scenes, chosen) in enumerate(self._order, 1):
            batch = scenes.batch(chosen)
            if self._done(step - 1) >= 1:
                break
            total += self._step(batch, step)
            seen += batch["ids"].numel()
            if step % every == 0:
                took = time.monotonic() - self._began
                loss = float(total) / every
                print(
                    f"step {step:,} loss {loss:.4f} {took:.0f} s {seen / took:,.0f}/s", flush=True
                )
                total.zero_()

    def _step(self, batch: Batch, step: int) -> torch.Tensor:
        """One step, and its loss; left on the device, which would else be waited for each time."""
        self._model.train()
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
            known = batch["known"]
            said = self._model(batch["ids"], known[:, 0], known[:, 1])
            hinted = self._hints(batch["ids"], said.states) if self._hints is not None else 0.0
        loss = losses(said, batch) + softened(said, batch) + hinted
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self._learned, 1.0)
        self._optimizer.step()
        self._schedule.step()
        # A short memory at first: the weights that it begins with are worth little.
        keep = min(self.settings.average, (step + 1) / (step + 10))
        with torch.no_grad():
            torch._foreach_lerp_(self._averaged, self._learned, 1 - keep)
        return loss.detach()


@torch.no_grad()
def told(model: Model, scenes: Scenes, device: str) -> dict[str, Array]:
    """What a model says of every scene: of each statement, and of each piece."""
    model.eval()
    known = np.zeros((len(scenes.tables["known"]), BECOMES), np.float16)
    pieces = np.zeros((len(scenes.ids), 1 + KINDS + 1 + TAGS), np.float16)
    for chosen in scenes.batches(48_000, None):
        batch = scenes.batch(chosen)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            rows = batch["known"]
            said = model(batch["ids"], rows[:, 0], rows[:, 1])
        all_ = torch.cat([said.over[..., None], said.kinds, said.cuts[..., None], said.tags], -1)
        all_array = all_.float().cpu().numpy()
        of_known = said.known.float().cpu().numpy()
        at = 0
        for row, n in enumerate(chosen):
            begin, end = scenes.begins[n], scenes.begins[n + 1]
            pieces[begin:end] = all_array[row, : end - begin]
            first, last = scenes.first["known"][n], scenes.first["known"][n + 1]
            known[first:last] = of_known[at : at + last - first]
            at += last - first
    return {"known": known, "pieces": pieces}


def train(settings: Settings) -> None:
    """Train, measure, and write what came out."""
    from training.measure import measured

    device = "cuda" if torch.cuda.is_available() else "cpu"
    training = Training(settings, device)
    if training.files and settings.epochs > 0:
        training.run()
        state = training.average.state_dict()
        del state["words.weight"]
        arrays = {name: value.cpu().numpy().astype(np.float16) for name, value in state.items()}
        np.savez(settings.beside(".npz"), **arrays)
    figures = {}
    for path in settings.measure:
        scenes = Scenes(path, device=device)
        said = told(training.average, scenes, device)
        np.savez_compressed(settings.beside(f".{path.stem}.told.npz"), **said)
        figures[path.stem] = measured(scenes, said)
    settings.beside(".json").write_text(json.dumps(figures, indent=1), encoding="utf-8")
    if settings.tell is not None:
        settings.tell.mkdir(parents=True, exist_ok=True)
        also = (Scenes(path, device=device) for path in settings.also)
        for scenes in (*training.files.values(), *also):
            said = told(training.average, scenes, device)
            np.savez(settings.tell / f"{scenes.name}.soft.npz", **said)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the reader.")
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--train", nargs="*", default=[])
    parser.add_argument("--measure", type=Path, nargs="*", default=[])
    for name, kind in (
        ("seed", int),
        ("epochs", float),
        ("tokens", int),
        ("rate", float),
        ("heads_rate", float),
        ("dropout", float),
        ("average", float),
        ("seconds", float),
    ):
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=kind, default=getattr(Settings, name))
    parser.add_argument("--shape", choices=SHAPES, default="shipped")
    parser.add_argument("--soft", type=Path, nargs="*", default=[], help="what teachers say")
    parser.add_argument("--hints", type=Path, nargs=2, default=(), metavar=("TRAINED", "BEGAN"))
    parser.add_argument("--also", type=Path, nargs="*", default=[], help="files without labels")
    parser.add_argument("--tell", type=Path, help="write what the model says of every scene")
    train(Settings(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
