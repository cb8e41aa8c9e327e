"""Losses: how far a model is from what is right, and from what teachers say. Needs torch."""

from __future__ import annotations

import torch
from torch.nn import functional as F  # noqa: N812

from training.batches import Batch
from training.network import KINDS, TAGS, Said

SHARES = {"known": 1.0, "over": 1.0, "news": 0.3, "by": 0.2, "kinds": 0.5, "cuts": 0.3, "tags": 0.5}
GROUNDS = 0.3
SOFTLY = 0.6
"""What a teacher's word counts beside the label."""
TEMPERATURE = 2.0


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
