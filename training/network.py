"""The network that reads: an encoder, and what it says of signs and pieces. Needs torch."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

BECOMES, KINDS, TAGS, WIDE = 9, 7, 5, 64
POINTERS = 4
"""Where the new value begins and ends, which statement does it, and on which line one rests."""


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
    states: torch.Tensor
    """What the last layer makes of each piece."""

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

    def states(self, ids: torch.Tensor) -> torch.Tensor:
        """What the last layer makes of each piece."""
        mask = (ids != 0)[:, None, None, :]
        length, first = ids.shape[1], self.shape.first_place
        if self.shape.buckets:
            ids = as_the_teacher_counts(ids)
            mask = self._near(length) + torch.where(mask, 0.0, -1e4)
        x = self.words(ids) + self.places.weight[first : first + length]
        x = F.dropout(self.embedding_norm(x), self.dropout, self.training)
        for layer in self.layers:
            x = layer(x, mask.to(x.dtype) if self.shape.buckets else mask, self.dropout)
        return x

    def forward(self, ids: torch.Tensor, owner: torch.Tensor, sign: torch.Tensor) -> Said:
        x = self.states(ids)
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
            x,
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
