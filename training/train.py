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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

BECOMES, KINDS, TAGS, WIDE = 9, 7, 5, 64
POINTERS = 4
"""Where the new value begins and ends, which statement does it, and on which line one rests."""
SHARES = {"known": 1.0, "over": 1.0, "news": 0.3, "by": 0.2, "kinds": 0.5, "cuts": 0.3, "tags": 0.5}
GROUNDS = 0.3
SOFTLY = 0.6
"""What a teacher's word counts beside the label."""
TEMPERATURE = 2.0
_WARM = 0.05
"""The share of the way on which the learning rate rises."""

Array = npt.NDArray[Any]
Batch = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Shape:
    """The measures of an encoder."""

    layers: int
    heads: int
    width: int
    wide: int
    words: int
    places: int
    epsilon: float
    first_place: int = 0
    buckets: int = 0
    """How many distances between words it tells apart; 0 where it goes by places alone."""


SHAPES = {
    "shipped": Shape(6, 12, 384, 1536, 30522, 512, 1e-12),
    "teacher": Shape(12, 12, 768, 3072, 30527, 514, 1e-5, first_place=2, buckets=32),
}


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
    tell: Path | None = None
    also: Sequence[Path] = ()
    """Files without labels, of which a teacher only tells what it thinks."""
    seconds: float = math.inf
    """No longer than this: what is left of the steps is then left out."""

    def beside(self, ending: str) -> Path:
        """A file of the result."""
        return self.out.with_name(f"{self.out.name}{ending}")


class Layer(nn.Module):
    """One layer of the encoder."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads, width = shape.heads, shape.width
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.output = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=shape.epsilon)
        self.wide = nn.Linear(width, shape.wide)
        self.narrow = nn.Linear(shape.wide, width)
        self.norm = nn.LayerNorm(width, eps=shape.epsilon)

    def forward(self, x: torch.Tensor, mask: torch.Tensor, dropout: float) -> torch.Tensor:
        rows, length, width = x.shape
        heads = [
            part(x).view(rows, length, self.heads, width // self.heads).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        ]
        drop = dropout if self.training else 0.0
        seen = F.scaled_dot_product_attention(*heads, attn_mask=mask, dropout_p=drop)
        seen = self.output(seen.transpose(1, 2).reshape(rows, length, width))
        x = self.attention_norm(x + F.dropout(seen, dropout, self.training))
        wide = self.narrow(F.gelu(self.wide(x)))
        return self.norm(x + F.dropout(wide, dropout, self.training))


@dataclass
class Said:
    """What the model says of a batch."""

    known: torch.Tensor
    """Of each sign, what becomes of the statement."""
    over: torch.Tensor
    kinds: torch.Tensor
    cuts: torch.Tensor
    tags: torch.Tensor
    asks: torch.Tensor
    keys: torch.Tensor

    def pointed(self, pointer: int, owner: torch.Tensor, asker: torch.Tensor) -> torch.Tensor:
        """How well each piece of a scene answers to one that asks."""
        first, last = pointer * WIDE, (pointer + 1) * WIDE
        asked = self.asks[owner, asker, first:last].float()
        keys = self.keys[owner, :, first:last].float()
        return torch.einsum("md,mtd->mt", asked, keys) / math.sqrt(WIDE)


class Model(nn.Module):
    """The encoder, and what it says of signs and pieces."""

    def __init__(self, dropout: float, shape: Shape) -> None:
        super().__init__()
        self.dropout, self.shape = dropout, shape
        width = shape.width
        self.words = nn.Embedding(shape.words, width)
        self.places = nn.Embedding(shape.places, width)
        self.embedding_norm = nn.LayerNorm(width, eps=shape.epsilon)
        if shape.buckets:
            self.distances = nn.Embedding(shape.buckets, shape.heads)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.hidden = nn.Linear(2 * width, width)
        self.becomes = nn.Linear(width, BECOMES)
        self.pieces = nn.Linear(width, 1 + KINDS + 1 + TAGS)
        self.asks = nn.Linear(width, POINTERS * WIDE)
        self.keys = nn.Linear(width, POINTERS * WIDE)

    def forward(self, ids: torch.Tensor, owner: torch.Tensor, sign: torch.Tensor) -> Said:
        mask = (ids != 0)[:, None, None, :]
        length, first = ids.shape[1], self.shape.first_place
        if self.shape.buckets:
            ids = as_the_teacher_counts(ids)
            mask = self._near(length) + torch.where(mask, 0.0, -1e4)
        x = self.words(ids) + self.places.weight[first : first + length]
        x = F.dropout(self.embedding_norm(x), self.dropout, self.training)
        for layer in self.layers:
            x = layer(x, mask.to(x.dtype) if self.shape.buckets else mask, self.dropout)
        both = torch.cat([x[owner, sign], x[owner, 0]], -1)
        hidden = F.dropout(F.gelu(self.hidden(both)), self.dropout, self.training)
        told = self.pieces(x).split([1, KINDS, 1, TAGS], -1)
        return Said(
            self.becomes(hidden),
            told[0][..., 0],
            told[1],
            told[2][..., 0],
            told[3],
            self.asks(x),
            self.keys(x),
        )

    def _near(self, length: int) -> torch.Tensor:
        """What the distance between two words adds to how much they look at each other."""
        where = torch.arange(length, device=self.distances.weight.device)
        return self.distances(bucket_of(where[None] - where[:, None])).permute(2, 0, 1)[None]


def as_the_teacher_counts(ids: torch.Tensor) -> torch.Tensor:
    """Word pieces by the teacher's numbers: the same pieces, after four signs of its own."""
    told = ids + 4
    for ours, theirs in ((0, 1), (100, 3), (101, 0), (102, 2)):
        told = torch.where(ids == ours, theirs, told)
    return told


def bucket_of(distance: torch.Tensor, half: int = 16, furthest: int = 128) -> torch.Tensor:
    """Distances in 32 groups: those up to eight words one by one, further ones by their size."""
    near = half // 2
    size = distance.abs()
    far = torch.log(size.clamp(min=1) / near) / math.log(furthest / near) * (half - near)
    group = torch.where(size < near, size, (near + far.long()).clamp(max=half - 1))
    return group + half * (distance > 0)


COLUMNS = ("over", "kinds", "cuts", "tags", "weight")
TABLES = {"known": 4, "news": 4, "grounds": 3}


def softly(paths: Sequence[Path]) -> dict[str, Array]:
    """The mean of what some teachers say of a file."""
    told = [dict(np.load(path)) for path in paths]
    names = told[0] if told else ()
    mean = {n: np.mean([one[n] for one in told], axis=0, dtype=np.float32) for n in names}
    return {n: np.asarray(one, np.float16) for n, one in mean.items()}


class Scenes:
    """An encoded file on the device that trains, perhaps with what teachers say of it."""

    def __init__(self, path: Path, soft: Sequence[Path] = (), device: str = "cpu") -> None:
        self.name, self.device = path.stem, device
        with np.load(path) as found:
            self.ids, self.begins = found["ids"], found["begins"]
            self.columns = {name: found[name] for name in COLUMNS}
            self.tables = {name: found[name] for name in TABLES}
            self.turns = found["turns"]
        count = len(self.turns)
        self.first = {
            n: np.searchsorted(t[:, 0], np.arange(count + 1)) for n, t in self.tables.items()
        }
        told = softly([folder / f"{self.name}.soft.npz" for folder in soft])
        there = {"ids": self.ids, "turns": self.turns, **self.columns, **self.tables}
        there |= {f"soft_{name}": array for name, array in told.items()}
        self._there = {name: torch.from_numpy(one).to(device) for name, one in there.items()}

    def __len__(self) -> int:
        return len(self.turns)

    def batch(self, chosen: Sequence[int]) -> Batch:
        """Some scenes as the model reads them."""
        rows = np.array(chosen, np.int64)
        sizes = self.begins[rows + 1] - self.begins[rows]
        length = -(-int(sizes.max()) // 16) * 16
        begin, size = self._sent(self.begins[rows]), self._sent(sizes)
        where = torch.arange(length, device=self.device)[None]
        inside = where < size[:, None]
        at = torch.where(inside, begin[:, None] + where, 0)
        there = self._there
        made = {
            "ids": there["ids"][at].long() * inside,
            "weight": there["weight"][at].float() * inside,
        }
        for name in COLUMNS[:-1]:
            made[name] = torch.where(inside, there[name][at].long(), -1)
        if "soft_pieces" in there:
            made["soft"] = there["soft_pieces"][at].float()
        for name in TABLES:
            first, last = self.first[name][rows], self.first[name][rows + 1]
            numbers = self._sent(_ranges(first, last))
            table = there[name][numbers].long()
            table[:, 0] = self._sent(np.repeat(np.arange(len(rows)), last - first))
            made[name] = table
            if name == "known" and "soft_known" in there:
                made["soft_known"] = there["soft_known"][numbers].float()
        made["turn"] = there["turns"][self._sent(rows)].long()
        return made

    def _sent(self, array: Array) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device, non_blocking=True)

    def batches(self, tokens: int, rng: np.random.Generator | None) -> Iterator[list[int]]:
        """Scenes of about one length together, in a new order each time."""
        order = np.arange(len(self))
        if rng is not None:
            rng.shuffle(order)
        lengths = np.diff(self.begins)
        pool = 4_000
        found: list[list[int]] = []
        for begin in range(0, len(order), pool):
            part = order[begin : begin + pool]
            part = part[np.argsort(lengths[part], kind="stable")]
            here: list[int] = []
            for n in part.tolist():
                if here and (len(here) + 1) * lengths[n] > tokens:
                    found.append(here)
                    here = []
                here.append(n)
            found.append(here)
        if rng is not None:
            rng.shuffle(found)
        yield from found


def _ranges(first: Array, last: Array) -> Array:
    """All numbers of some ranges, one after the other."""
    sizes = last - first
    begins = np.repeat(first - np.r_[0, sizes.cumsum()[:-1]], sizes)
    return np.asarray(begins + np.arange(int(sizes.sum())), np.int64)


def _mean(loss: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return (loss * weight).sum() / weight.sum().clamp(min=1.0)


def losses(said: Said, b: Batch) -> torch.Tensor:
    """How far the model is from what is right."""
    total = said.known.float().sum() * 0.0
    hard = 1 - SOFTLY if "soft" in b else 1.0
    known = b["known"]
    told = known[:, 2] >= 0
    if told.any():
        loss = F.cross_entropy(said.known.float()[told], known[told, 2])
        total = total + hard * SHARES["known"] * loss
    there = b["over"] >= 0
    if there.any():
        loss = F.binary_cross_entropy_with_logits(
            said.over.float()[there], b["over"][there].float(), reduction="none"
        )
        total = total + hard * SHARES["over"] * _mean(loss, b["weight"][there])
    there = b["kinds"] >= 0
    if there.any():
        loss = F.cross_entropy(said.kinds.float()[there], b["kinds"][there], reduction="none")
        total = total + hard * SHARES["kinds"] * _mean(loss, b["weight"][there])
    there = b["cuts"] >= 0
    if there.any():
        loss = F.binary_cross_entropy_with_logits(
            said.cuts.float()[there], b["cuts"][there].float()
        )
        total = total + hard * SHARES["cuts"] * loss
    there = b["tags"] >= 0
    if there.any():
        total = total + hard * SHARES["tags"] * F.cross_entropy(
            said.tags.float()[there], b["tags"][there]
        )
    return total + pointing(said, b)


def pointing(said: Said, b: Batch) -> torch.Tensor:
    """How far what is pointed at is from what is meant."""
    total = said.asks.float().sum() * 0.0
    news = b["news"]
    if len(news):
        owner, asker, start, end = news.T
        for pointer, target in ((0, start), (1, end)):
            scores = said.pointed(pointer, owner, asker)
            scores = scores.masked_fill(_outside(scores, b, owner, previous=True), -1e4)
            total = total + SHARES["news"] * F.cross_entropy(scores, target)
    known = b["known"]
    by = known[known[:, 3] >= 0]
    if len(by):
        scores = said.pointed(2, by[:, 0], by[:, 1])
        scores = scores.masked_fill(_outside(scores, b, by[:, 0], previous=False), -1e4)
        total = total + SHARES["by"] * F.cross_entropy(scores, by[:, 3])
    grounds = b["grounds"]
    if len(grounds):
        owner, asker, target = grounds.T
        scores = said.pointed(3, owner, asker)
        outside = _outside(scores, b, owner, previous=False)
        outside[:, 0] = False
        total = total + GROUNDS * F.cross_entropy(scores.masked_fill(outside, -1e4), target)
    return total


def _outside(
    scores: torch.Tensor, b: Batch, owner: torch.Tensor, *, previous: bool
) -> torch.Tensor:
    """The pieces that are not of the turn, nor of the one before."""
    where = torch.arange(scores.shape[1], device=scores.device)[None]
    first, end = b["turn"][owner].T
    begin = torch.ones_like(first) if previous else first
    return (where < begin[:, None]) | (where >= end[:, None])


def softened(said: Said, b: Batch) -> torch.Tensor:
    """How far the model is from what teachers say."""
    if "soft" not in b:
        return said.known.float().sum() * 0.0
    t = TEMPERATURE
    total = said.known.float().sum() * 0.0
    if len(b["known"]):
        teacher = (b["soft_known"] / t).softmax(-1)
        own = (said.known.float() / t).log_softmax(-1)
        total = total + F.kl_div(own, teacher, reduction="batchmean") * t * t
    over, kinds, cuts, tags = b["soft"].split([1, KINDS, 1, TAGS], -1)
    length = b["ids"].shape[1]
    where = torch.arange(length, device=over.device)[None]
    first, end = b["turn"][:, :1], b["turn"][:, 1:]
    in_turn = (where >= first) & (where < end)
    in_known = (where > end) & (b["ids"] > 3)
    if in_known.any():
        total = total + F.binary_cross_entropy_with_logits(
            said.over.float()[in_known], over[..., 0][in_known].sigmoid()
        )
    total = total + SHARES["kinds"] * _apart(said.kinds[in_turn], kinds[in_turn])
    total = total + SHARES["tags"] * _apart(said.tags[in_turn], tags[in_turn])
    return SOFTLY * (
        total
        + SHARES["cuts"]
        * F.binary_cross_entropy_with_logits(
            said.cuts.float()[in_turn], cuts[..., 0][in_turn].sigmoid()
        )
    )


def _apart(own: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    logs = own.float().log_softmax(-1)
    return F.kl_div(logs, teacher.softmax(-1), reduction="batchmean")


def load(model: Model, path: Path) -> None:
    """Put weights into a model; what it has beyond them begins at random."""
    found = dict(np.load(path))
    if "words.weight" not in found:
        found["words.weight"] = dict(np.load(path.with_name("base.npz")))["words.weight"]
    state = {name: torch.from_numpy(value.astype(np.float32)) for name, value in found.items()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    if unexpected:
        raise SystemExit(f"{path} has weights that the model has no place for: {unexpected}")
    print("new:", ", ".join(sorted({name.split(".")[0] for name in missing})), flush=True)


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
        loss = losses(said, batch) + softened(said, batch)
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
    parser.add_argument("--also", type=Path, nargs="*", default=[], help="files without labels")
    parser.add_argument("--tell", type=Path, help="write what the model says of every scene")
    train(Settings(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
