"""Trains the learned detector on encoded pairs.

    python training/train.py WEIGHTS OUT --train FILE ... --measure FILE ... [--seed N] [...]

WEIGHTS is what `training.weights` wrote; files of pairs are what `training.encode` wrote. Needs
torch; a GPU makes it minutes. Writes OUT.npz with the trained weights, and OUT.scores.npz with the
probabilities for every mark of the measured files.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

LAYERS, HEADS, WIDTH, WIDE = 6, 12, 384, 1536
SPAN = 64
EPSILON = 1e-12
REPLACE, NOT_REPLACED = 1, 4
CLASSES = 4


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.output = nn.Linear(WIDTH, WIDTH)
        self.attention_norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.wide = nn.Linear(WIDTH, WIDE)
        self.narrow = nn.Linear(WIDE, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)

    def forward(self, x: torch.Tensor, mask: torch.Tensor, dropout: float) -> torch.Tensor:
        rows, length, _ = x.shape
        heads = [
            part(x).view(rows, length, HEADS, WIDTH // HEADS).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        ]
        drop = dropout if self.training else 0.0
        seen = F.scaled_dot_product_attention(*heads, attn_mask=mask, dropout_p=drop)
        seen = self.output(seen.transpose(1, 2).reshape(rows, length, WIDTH))
        x = self.attention_norm(x + F.dropout(seen, dropout, self.training))
        wide = self.narrow(F.gelu(self.wide(x)))
        return self.norm(x + F.dropout(wide, dropout, self.training))


class Model(nn.Module):
    """The encoder, and what it says at the place of a mark."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.words = nn.Embedding(30522, WIDTH)
        self.places = nn.Embedding(256, WIDTH)
        self.embedding_norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.hidden = nn.Linear(2 * WIDTH, WIDTH)
        self.classes = nn.Linear(WIDTH, CLASSES)
        self.asks = nn.Linear(WIDTH, 2 * SPAN)
        self.begins = nn.Linear(WIDTH, SPAN)
        self.ends = nn.Linear(WIDTH, SPAN)

    def forward(
        self, ids: torch.Tensor, owner: torch.Tensor, place: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        real = ids != 0
        x = self.words(ids) + self.places.weight[: ids.shape[1]]
        x = F.dropout(self.embedding_norm(x), self.dropout, self.training)
        mask = real[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask, self.dropout)
        at = x[owner, place]
        both = torch.cat([at, x[owner, 0]], -1)
        hidden = F.dropout(F.gelu(self.hidden(both)), self.dropout, self.training)
        first, last = self.asks(at).chunk(2, -1)
        starts = torch.einsum("ms,mts->mt", first, self.begins(x)[owner]) / math.sqrt(SPAN)
        ends = torch.einsum("ms,mts->mt", last, self.ends(x)[owner]) / math.sqrt(SPAN)
        return self.classes(hidden), starts, ends


class Pairs:
    """An encoded file."""

    def __init__(self, path: str, without: set[str], soft: str | None = None) -> None:
        self.name = Path(path).stem
        found = np.load(path)
        self.groups = found["groups"]
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
        # What models say that have not seen the example, or -1: labels of people have errors.
        self.soft = np.full(len(self.marks), -1.0, np.float32)
        if soft is not None and self.name in (told := np.load(soft)).files:
            self.soft = told[self.name]

    def split(self, fold: int, folds: int) -> list[int]:
        """Keep back the examples of a fold, and tell which."""
        held = [n for n in self.kept if self.groups[n] % folds == fold and self.groups[n]]
        self.kept = sorted(set(self.kept) - set(held))
        return held

    def batch(self, chosen: list[int], device: str) -> dict[str, torch.Tensor]:
        rows = [self.ids[self.begins[n] : self.begins[n + 1]] for n in chosen]
        length = -(-max(map(len, rows)) // 8) * 8
        ids = np.zeros((len(rows), length), np.int64)
        for target, row in zip(ids, rows, strict=True):
            target[: len(row)] = row
        numbers = [mark for n in chosen for mark in self.of_example[n]]
        owner = np.repeat(np.arange(len(chosen)), [len(self.of_example[n]) for n in chosen])
        marks = self.marks[numbers]
        firsts = self.firsts[[chosen[o] for o in owner]]
        lengths = np.array([len(rows[o]) for o in owner])
        arrays = {
            "ids": ids,
            "owner": owner,
            "place": marks[:, 1],
            "label": marks[:, 2],
            "start": marks[:, 3],
            "end": marks[:, 4],
            "first": firsts,
            "length": lengths,
            "number": np.array(numbers),
        }
        batch = {
            n: torch.from_numpy(np.ascontiguousarray(a).astype(np.int64)).to(device)
            for n, a in arrays.items()
        }
        batch["soft"] = torch.from_numpy(self.soft[numbers]).to(device)
        return batch

    def batches(
        self, size: int, rng: np.random.Generator | None, chosen: list[int] | None = None
    ) -> Iterator[list[int]]:
        """Examples of about one length together, in a new order each time."""
        order = np.array(self.kept if chosen is None else chosen)
        if rng is not None:
            rng.shuffle(order)
        pool = size * 40
        found = []
        for begin in range(0, len(order), pool):
            part = order[begin : begin + pool]
            lengths = self.begins[part + 1] - self.begins[part]
            part = part[np.argsort(lengths, kind="stable")]
            found += [part[at : at + size].tolist() for at in range(0, len(part), size)]
        if rng is not None:
            rng.shuffle(found)
        yield from found


def losses(model: Model, b: dict[str, torch.Tensor], weight: float) -> torch.Tensor:
    logits, starts, ends = model(b["ids"], b["owner"], b["place"])
    logs = logits.float().log_softmax(-1)
    label = b["label"]
    known = label < CLASSES
    told = -logs.gather(1, label.clamp(max=CLASSES - 1)[:, None])[:, 0]
    others = torch.cat([logs[:, :REPLACE], logs[:, REPLACE + 1 :]], -1)
    rest = -others.logsumexp(-1)
    loss = torch.where(known, told, rest)
    soft, believed = b["soft"], b["soft"] >= 0
    tempered = soft * -logs[:, REPLACE] + (1 - soft) * rest
    loss = torch.where(believed, 0.5 * (loss + tempered), loss)
    loss = (loss * torch.where(label == REPLACE, weight, 1.0)).mean()
    where = torch.arange(starts.shape[1], device=starts.device)[None]
    hidden = (where < b["first"][:, None]) | (where >= b["length"][:, None])
    for scores, target in ((starts, b["start"]), (ends, b["end"])):
        there = target >= 0
        if there.any():
            masked = scores.float().masked_fill(hidden, -1e4)[there]
            loss = loss + 0.3 * F.cross_entropy(masked, target[there])
    return loss


@torch.no_grad()
def probabilities(
    model: Model, pairs: Pairs, device: str, chosen: list[int] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """What the model says of each mark: the classes, and the likeliest stretch."""
    model.eval()
    classes = np.zeros((len(pairs.marks), CLASSES), np.float32)
    spans = np.zeros((len(pairs.marks), 2), np.int64)
    for some in pairs.batches(512, None, chosen):
        b = pairs.batch(some, device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            logits, starts, ends = model(b["ids"], b["owner"], b["place"])
        where = torch.arange(starts.shape[1], device=device)[None]
        hidden = (where < b["first"][:, None]) | (where >= b["length"][:, None])
        numbers = b["number"].cpu().numpy()
        classes[numbers] = logits.float().softmax(-1).cpu().numpy()
        for column, scores in enumerate((starts, ends)):
            best = scores.float().masked_fill(hidden, -1e4).argmax(-1)
            spans[numbers, column] = best.cpu().numpy()
    return classes, spans


def best_f1(p: np.ndarray, y: np.ndarray) -> tuple[float, float, float, float]:
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
        float(hits[at] / y.sum()),
    )


def load(model: Model, path: str) -> None:
    found = np.load(path)
    state = {name: torch.from_numpy(found[name].astype(np.float32)) for name in found.files}
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected, unexpected
    print("new:", sorted({name.split(".")[0] for name in missing}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the learned detector.")
    parser.add_argument("weights")
    parser.add_argument("out", type=Path)
    parser.add_argument("--train", nargs="+", required=True)
    parser.add_argument("--measure", nargs="*", default=[])
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=float, default=5)
    parser.add_argument("--batch", type=int, default=192)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--weight", type=float, default=1.0)
    parser.add_argument("--frozen", action="store_true", help="keep the word table as it is")
    parser.add_argument("--average", type=float, default=0.999)
    parser.add_argument("--fold", help="I/K: hold back a fold, and say what is in it")
    parser.add_argument("--soft", help="what models say of folds that they have not seen")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    model = Model(options.dropout)
    load(model, options.weights)
    model.to(device)
    model.words.weight.requires_grad_(not options.frozen)
    average = copy.deepcopy(model).requires_grad_(False)
    train = [Pairs(path, set(options.without), options.soft) for path in options.train]
    held = {}
    if options.fold:
        fold, folds = map(int, options.fold.split("/"))
        held = {pairs.name: pairs.split(fold, folds) for pairs in train}
    per_epoch = sum(-(-len(pairs.kept) // options.batch) for pairs in train)
    steps = int(per_epoch * options.epochs)
    learned = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(
        learned, lr=options.rate, weight_decay=0.01, fused=device == "cuda"
    )
    named = dict(average.named_parameters())
    averaged = [named[n] for n, p in model.named_parameters() if p.requires_grad]
    warm = max(1, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min(s / warm, max(0.0, (steps - s) / (steps - warm)))
    )
    began, step, total = time.time(), 0, 0.0
    print(f"{device}: {[len(p.kept) for p in train]} examples, {steps} steps", flush=True)
    while step < steps:
        order = [(p, chosen) for p in train for chosen in p.batches(options.batch, rng)]
        rng.shuffle(order)  # type: ignore[arg-type]
        for pairs, chosen in order:
            if step >= steps:
                break
            model.train()
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                loss = losses(model, pairs.batch(chosen, device), options.weight)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            schedule.step()
            step += 1
            total += float(loss.detach()) if step % 20 == 0 else 0.0
            keep = min(options.average, (step + 1) / (step + 10))
            with torch.no_grad():
                torch._foreach_lerp_(averaged, learned, 1 - keep)
            if step % 500 == 0:
                told = f"step {step} loss {total / 25:.4f} {time.time() - began:.0f} s"
                print(told, flush=True)
                total = 0.0
    scores: dict[str, Any] = {}
    figures: dict[str, Any] = {}
    for path in options.measure:
        name = Path(path).stem
        pairs = Pairs(path, set())
        classes, spans = probabilities(average, pairs, device)
        scores[f"{name}.classes"], scores[f"{name}.spans"] = classes.astype(np.float16), spans
        y = pairs.marks[:, 2] == REPLACE
        where = y & (pairs.marks[:, 3] >= 0)
        exact = (spans[where] == pairs.marks[where][:, 3:5]).all(-1).mean()
        figures[name] = [round(v, 3) for v in (*best_f1(classes[:, REPLACE], y), float(exact))]
        print(f"{options.out.name} {name}: F1, threshold, P, R, span {figures[name]}", flush=True)
    np.savez_compressed(f"{options.out}.scores.npz", **scores)
    unseen = {}
    for pairs in train:
        if held.get(pairs.name):
            said = probabilities(average, pairs, device, held[pairs.name])[0][:, REPLACE]
            known = np.isin(pairs.marks[:, 0], held[pairs.name])
            unseen[pairs.name] = np.where(known, said, -1.0).astype(np.float32)
    if unseen:
        np.savez_compressed(f"{options.out}.unseen.npz", **unseen)
    state = {n: v.cpu().numpy().astype(np.float16) for n, v in average.state_dict().items()}
    if options.frozen:
        state.pop("words.weight")
    np.savez(f"{options.out}.npz", **state)
    Path(f"{options.out}.json").write_text(json.dumps(figures))
    print(f"{options.out.name} done in {time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
