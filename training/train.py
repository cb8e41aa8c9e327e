"""Trains the learned detector on encoded examples.

    python -m training.train WEIGHTS OUT --train FILE ... [--measure FILE ...] [--seed N] [...]

WEIGHTS is what `training.base` wrote, files of examples are what `training.encode` wrote. Needs
torch; a GPU makes it minutes. Writes OUT.npz with the trained weights but for the table of words,
which stays as it was, OUT.scores.npz with the probabilities for every mark of the measured files,
and OUT.json with the figures.

A larger model teaches the one that ships: with `--shape teacher` the weights are those of
all-mpnet-base-v2, and OUT.soft.npz gets what it says of every mark of every file. With
`--soft FILE ...` a model learns from that as well as from the labels.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

SPAN = 64
REPLACE, NOT_REPLACED = 1, 4
CLASSES = 4
KINDS = 7
FIRST_KIND = 5
"""Labels from here on are kinds of stretches, which have a head of their own."""
FIRST_CUT = FIRST_KIND + KINDS
"""And from here on they tell whether a statement begins with a word."""
SPAN_SHARE = 0.3
"""What finding the new value counts beside telling what becomes of the old one."""

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
    "shipped": Shape(6, 12, 384, 1536, 30522, 256, 1e-12),
    "teacher": Shape(12, 12, 768, 3072, 30527, 514, 1e-5, first_place=2, buckets=32),
}


@dataclass(frozen=True)
class Settings:
    """Where things are, and how to train. The defaults are those of the model that ships."""

    weights: Path
    out: Path
    train: Sequence[Path]
    measure: Sequence[Path] = ()
    without: Collection[str] = ()
    seed: int = 1
    epochs: float = 7
    batch: int = 256
    rate: float = 2e-4
    dropout: float = 0.1
    average: float = 0.999
    shape: str = "shipped"
    soft: Sequence[Path] = ()
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


class Model(nn.Module):
    """The encoder, and what it says at the place of a mark."""

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
        self.classes = nn.Linear(width, CLASSES)
        self.kinds = nn.Linear(width, KINDS)
        self.cuts = nn.Linear(width, 2)
        self.asks = nn.Linear(width, 2 * SPAN)
        self.begins = nn.Linear(width, SPAN)
        self.ends = nn.Linear(width, SPAN)

    def forward(
        self, ids: torch.Tensor, owner: torch.Tensor, place: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        mask = (ids != 0)[:, None, None, :]
        length, first = ids.shape[1], self.shape.first_place
        if self.shape.buckets:
            ids = as_the_teacher_counts(ids)
            mask = self._near(length) + torch.where(mask, 0.0, -1e4)
        x = self.words(ids) + self.places.weight[first : first + length]
        x = F.dropout(self.embedding_norm(x), self.dropout, self.training)
        for layer in self.layers:
            x = layer(x, mask.to(x.dtype) if self.shape.buckets else mask, self.dropout)
        at = x[owner, place]
        both = torch.cat([at, x[owner, 0]], -1)
        hidden = F.dropout(F.gelu(self.hidden(both)), self.dropout, self.training)
        begin, last = self.asks(at).chunk(2, -1)
        starts = torch.einsum("ms,mts->mt", begin, self.begins(x)[owner]) / math.sqrt(SPAN)
        ends = torch.einsum("ms,mts->mt", last, self.ends(x)[owner]) / math.sqrt(SPAN)
        return self.classes(hidden), starts, ends, self.kinds(hidden), self.cuts(hidden)

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


class Pairs:
    """An encoded file; `without` leaves out sources and forms."""

    def __init__(
        self, path: Path, without: Collection[str] = (), soft: Array | None = None
    ) -> None:
        found = np.load(path)
        self.name = path.stem
        self.soft = soft
        self.ids, self.begins = found["ids"].astype(np.int64), found["begins"]
        self.firsts, self.marks = found["firsts"], found["marks"]
        sources, forms = found["sources"], found["forms"]
        self.of_example: list[list[int]] = [[] for _ in self.firsts]
        for number, mark in enumerate(self.marks):
            self.of_example[mark[0]].append(number)
        self.kept = [
            n
            for n in range(len(self.firsts))
            if self.of_example[n] and sources[n] not in without and forms[n] not in without
        ]

    def batch(self, chosen: Sequence[int], device: str = "cpu") -> Batch:
        """Some examples as the model reads them, with a row for each of their marks."""
        rows = [self.ids[self.begins[n] : self.begins[n + 1]] for n in chosen]
        length = -(-max(map(len, rows)) // 8) * 8
        ids = np.zeros((len(rows), length), np.int64)
        for target, row in zip(ids, rows, strict=True):
            target[: len(row)] = row
        numbers = [mark for n in chosen for mark in self.of_example[n]]
        owner = np.repeat(np.arange(len(chosen)), [len(self.of_example[n]) for n in chosen])
        _, place, label, start, end = self.marks[numbers].T
        arrays = {
            "ids": ids,
            "owner": owner,
            "place": place,
            "label": label,
            "start": start,
            "end": end,
            "first": self.firsts[np.array(chosen)[owner]],
            "length": np.array([len(rows[o]) for o in owner]),
            "number": np.array(numbers),
        }
        made = {
            n: torch.from_numpy(np.ascontiguousarray(a).astype(np.int64)).to(device)
            for n, a in arrays.items()
        }
        if self.soft is not None:
            made["soft"] = torch.from_numpy(self.soft[numbers].astype(np.float32)).to(device)
        return made

    def batches(self, size: int, rng: np.random.Generator | None) -> Iterator[list[int]]:
        """Examples of about one length together, in a new order each time."""
        order = np.array(self.kept, np.int64)
        if rng is not None:
            rng.shuffle(order)
        pool = size * 40
        found: list[list[int]] = []
        for begin in range(0, len(order), pool):
            part = order[begin : begin + pool]
            lengths = self.begins[part + 1] - self.begins[part]
            part = part[np.argsort(lengths, kind="stable")]
            found += [part[at : at + size].tolist() for at in range(0, len(part), size)]
        if rng is not None:
            rng.shuffle(found)
        yield from found


def outside_reply(scores: torch.Tensor, b: Batch) -> torch.Tensor:
    """The pieces that cannot be a new value: the statement's, and what fills up a row."""
    where = torch.arange(scores.shape[1], device=scores.device)[None]
    return (where < b["first"][:, None]) | (where >= b["length"][:, None])


def losses(model: Model, b: Batch) -> torch.Tensor:
    """How far the model is from what the marks say, in classes and in stretches of the reply."""
    logits, starts, ends, kinds, cuts = model(b["ids"], b["owner"], b["place"])
    label = b["label"]
    if (label >= FIRST_CUT).all():
        return softened(F.cross_entropy(cuts.float(), label - FIRST_CUT), cuts, b)
    if (label >= FIRST_KIND).all():
        return softened(F.cross_entropy(kinds.float(), label - FIRST_KIND), kinds, b)
    logs = logits.float().log_softmax(-1)
    told = -logs.gather(1, label.clamp(max=CLASSES - 1)[:, None])[:, 0]
    # Where it is only known that a value was not replaced, any of the other answers is right.
    others = torch.cat([logs[:, :REPLACE], logs[:, REPLACE + 1 :]], -1)
    loss = torch.where(label == NOT_REPLACED, -others.logsumexp(-1), told).mean()
    loss = softened(loss, logits, b)
    hidden = outside_reply(starts, b)
    for scores, target in ((starts, b["start"]), (ends, b["end"])):
        there = target >= 0
        if there.any():
            masked = scores.float().masked_fill(hidden, -1e4)[there]
            loss = loss + SPAN_SHARE * F.cross_entropy(masked, target[there])
    return loss


def softened(loss: torch.Tensor, logits: torch.Tensor, b: Batch) -> torch.Tensor:
    """The loss by the labels, and how far the model is from what a teacher says."""
    if "soft" not in b:
        return loss
    teacher = (b["soft"][:, : logits.shape[1]] / TEMPERATURE).softmax(-1)
    own = (logits.float() / TEMPERATURE).log_softmax(-1)
    apart = F.kl_div(own, teacher, reduction="batchmean") * TEMPERATURE**2
    return (1 - SOFTLY) * loss + SOFTLY * apart


@torch.no_grad()
def opinions(model: Model, pairs: Pairs, device: str) -> Array:
    """What a teacher says of each mark, by the head that its label belongs to."""
    model.eval()
    told = np.zeros((len(pairs.marks), KINDS), np.float16)
    for chosen in pairs.batches(512, None):
        b = pairs.batch(chosen, device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            classes, _, _, kinds, cuts = model(b["ids"], b["owner"], b["place"])
        label = int(b["label"][0])
        head = cuts if label >= FIRST_CUT else kinds if label >= FIRST_KIND else classes
        told[b["number"].cpu().numpy(), : head.shape[1]] = head.float().cpu().numpy()
    return told


@torch.no_grad()
def probabilities(model: Model, pairs: Pairs, device: str) -> tuple[Array, Array]:
    """What the model says of each mark: the classes, and the likeliest stretch."""
    model.eval()
    classes = np.zeros((len(pairs.marks), CLASSES), np.float32)
    spans = np.zeros((len(pairs.marks), 2), np.int64)
    for chosen in pairs.batches(512, None):
        b = pairs.batch(chosen, device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            logits, starts, ends, *_ = model(b["ids"], b["owner"], b["place"])
        hidden = outside_reply(starts, b)
        numbers = b["number"].cpu().numpy()
        classes[numbers] = logits.float().softmax(-1).cpu().numpy()
        for column, scores in enumerate((starts, ends)):
            best = scores.float().masked_fill(hidden, -1e4).argmax(-1)
            spans[numbers, column] = best.cpu().numpy()
    return classes, spans


@torch.no_grad()
def chances_of(model: Model, pairs: Pairs, device: str, head: int, width: int) -> Array:
    """What one of the heads for stretches and words makes of each mark."""
    model.eval()
    chances = np.zeros((len(pairs.marks), width), np.float32)
    for chosen in pairs.batches(512, None):
        b = pairs.batch(chosen, device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            told = model(b["ids"], b["owner"], b["place"])[head]
        chances[b["number"].cpu().numpy()] = told.float().softmax(-1).cpu().numpy()
    return chances


def macro_f1(chances: Array, labels: Array) -> tuple[float, list[float]]:
    """The mean of the F1 of the kinds, and that of each."""
    guess = chances.argmax(-1)
    each = []
    for kind in range(chances.shape[1]):
        hits = int(((guess == kind) & (labels == kind)).sum())
        either = int((guess == kind).sum() + (labels == kind).sum())
        each.append(2 * hits / either if either else 0.0)
    return sum(each) / len(each), each


def best_f1(p: Array, y: Array) -> tuple[float, float, float, float]:
    """The best F1, with its threshold, precision and recall."""
    order = np.argsort(-p)
    hits = np.cumsum(y[order])
    count = np.arange(1, len(p) + 1)
    f1 = 2 * hits / (count + y.sum())
    at = int(f1.argmax())
    return (
        float(f1[at]),
        float(p[order][at]),
        float(hits[at] / count[at]),
        float(hits[at] / max(y.sum(), 1)),
    )


def load(model: Model, path: Path) -> None:
    """Put the base weights into a model; what it has beyond them begins at random."""
    found = np.load(path)
    state = {name: torch.from_numpy(found[name].astype(np.float32)) for name in found.files}
    missing, unexpected = model.load_state_dict(state, strict=False)
    if unexpected:
        raise SystemExit(f"{path} has weights that the model has no place for: {unexpected}")
    print("new:", ", ".join(sorted({name.split(".")[0] for name in missing})), flush=True)


def taught(paths: Sequence[Path]) -> dict[str, Array]:
    """The mean of what some teachers say of every mark, by the name of the file."""
    told = [np.load(path) for path in paths]
    return {
        name: np.mean([one[name].astype(np.float32) for one in told], 0)
        for name in (told[0].files if told else ())
    }


class _Batches(torch.utils.data.Dataset[Batch]):
    """Batches by their number, as those who load them ahead ask for them."""

    def __init__(self, order: Sequence[tuple[Pairs, list[int]]]) -> None:
        self._order = order

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, number: int) -> Batch:
        pairs, chosen = self._order[number]
        return pairs.batch(chosen)


class Training:
    """A model that learns, and beside it the running mean of its weights, which is kept."""

    def __init__(self, settings: Settings, device: str) -> None:
        self.settings, self.device = settings, device
        self._began = time.monotonic()
        torch.manual_seed(settings.seed)
        self._rng = np.random.default_rng(settings.seed)
        self._model = Model(settings.dropout, SHAPES[settings.shape])
        load(self._model, settings.weights)
        self._model.to(device)
        self._model.words.weight.requires_grad_(False)
        self.average = copy.deepcopy(self._model).requires_grad_(False)
        soft = taught(settings.soft)
        self._pairs = [
            Pairs(path, settings.without, soft.get(path.stem)) for path in settings.train
        ]
        self._learned = [p for p in self._model.parameters() if p.requires_grad]
        named = dict(self.average.named_parameters())
        self._averaged = [named[n] for n, p in self._model.named_parameters() if p.requires_grad]
        per_epoch = sum(-(-len(pairs.kept) // settings.batch) for pairs in self._pairs)
        self._steps = int(per_epoch * settings.epochs)
        self._optimizer = torch.optim.AdamW(
            self._learned, lr=settings.rate, weight_decay=0.01, fused=device == "cuda"
        )
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, self._warmth)

    def _warmth(self, step: int) -> float:
        """The share of the learning rate: up for a twentieth of the way, then down to nothing."""
        done = self._done(step)
        return min(done / _WARM, max(0.0, (1 - done) / (1 - _WARM)))

    def _done(self, step: int) -> float:
        """How much of the way is gone, by steps or by time."""
        took = time.monotonic() - self._began
        return min(1.0, max(step / max(1, self._steps), took / self.settings.seconds))

    def run(self) -> None:
        """All steps, telling now and then how far it is."""
        counts = ", ".join(f"{pairs.name} {len(pairs.kept):,}" for pairs in self._pairs)
        print(f"{self.device}: {counts} examples, {self._steps:,} steps", flush=True)
        self._began = time.monotonic()
        every = max(1, min(500, self._steps // 10))
        total = torch.zeros((), device=self.device)
        for step, batch in enumerate(self._ahead(), 1):
            if self._done(step - 1) >= 1:
                break
            total += self._step(batch, step)
            if step % every == 0:
                took = time.monotonic() - self._began
                print(f"step {step:,} loss {float(total) / every:.4f} {took:.0f} s", flush=True)
                total.zero_()

    def _ahead(self) -> Iterator[Batch]:
        """The batches, made ahead by processes of their own where a step takes less than one."""
        if self.device != "cuda":
            yield from (pairs.batch(chosen) for pairs, chosen in self._order())
            return
        order = list(self._order())
        loader = torch.utils.data.DataLoader(
            _Batches(order), batch_size=None, num_workers=6, prefetch_factor=4, pin_memory=True
        )
        for batch in loader:
            yield {n: one.to(self.device, non_blocking=True) for n, one in batch.items()}

    def _order(self) -> Iterator[tuple[Pairs, list[int]]]:
        """The batches of all files, mixed anew in every epoch, as many as there are steps."""
        left = self._steps
        while left > 0:
            size = self.settings.batch
            order = [(p, chosen) for p in self._pairs for chosen in p.batches(size, self._rng)]
            self._rng.shuffle(order)
            yield from order[:left]
            left -= len(order)

    def _step(self, batch: Batch, step: int) -> torch.Tensor:
        """One step, and its loss; left on the device, which would else be waited for each time."""
        self._model.train()
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
            loss = losses(self._model, batch)
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


def measured(training: Training) -> dict[str, list[float]]:
    """F1, threshold, precision, recall and exact spans of the measured files."""
    settings = training.settings
    scores: dict[str, Any] = {}
    figures: dict[str, list[float]] = {}
    for path in settings.measure:
        pairs = Pairs(path)
        classes, spans = probabilities(training.average, pairs, training.device)
        scores[f"{pairs.name}.classes"] = classes.astype(np.float16)
        scores[f"{pairs.name}.spans"] = spans
        y = pairs.marks[:, 2] == REPLACE
        where = y & (pairs.marks[:, 3] >= 0)
        exact = (spans[where] == pairs.marks[where][:, 3:5]).all(-1).sum() / max(1, where.sum())
        found = (*best_f1(classes[:, REPLACE], y), float(exact))
        figures[pairs.name] = [round(value, 3) for value in found]
        print(f"{pairs.name}: F1, threshold, P, R, span {figures[pairs.name]}", flush=True)
    np.savez_compressed(settings.beside(".scores.npz"), **scores)
    return figures


def train(settings: Settings) -> None:
    """Train, measure, and write what came out."""
    training = Training(settings, "cuda" if torch.cuda.is_available() else "cpu")
    training.run()
    settings.beside(".json").write_text(json.dumps(measured(training)), encoding="utf-8")
    if settings.shape == "teacher":
        files = {path.stem: path for path in settings.train}
        told = {n: opinions(training.average, Pairs(p), training.device) for n, p in files.items()}
        np.savez(settings.beside(".soft.npz"), **told)
    state = training.average.state_dict()
    del state["words.weight"]
    arrays = {name: value.cpu().numpy().astype(np.float16) for name, value in state.items()}
    np.savez(settings.beside(".npz"), **arrays)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the learned detector.")
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--train", type=Path, nargs="+", required=True)
    parser.add_argument("--measure", type=Path, nargs="*", default=[])
    parser.add_argument("--without", nargs="*", default=[], help="sources or forms to leave out")
    for name, kind in (
        ("seed", int),
        ("epochs", float),
        ("batch", int),
        ("rate", float),
        ("dropout", float),
        ("average", float),
        ("seconds", float),
    ):
        parser.add_argument(f"--{name}", type=kind, default=getattr(Settings, name))
    parser.add_argument("--shape", choices=SHAPES, default="shipped")
    parser.add_argument("--soft", type=Path, nargs="*", default=[], help="what teachers say")
    train(Settings(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
