"""A small transformer and its training, the same on every run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

CONTEXT = 128
"""Tokens that a model sees at most."""
BATCH = 8
RATE = 2e-3
WARMUP = 100


@dataclass(frozen=True)
class Size:
    """What a model is made of, and for how many steps of ``BATCH`` texts it is trained."""

    layers: int
    width: int
    heads: int
    steps: int
    seed: int
    table: bool = False
    """Start from a table of pairs of tokens, which is much of what a short training learns."""


class Block(nn.Module):
    """Attention, then a network of one hidden layer, each on normalized inputs and added."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads = size.heads
        self.before, self.between = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
        self.read = nn.Linear(size.width, 3 * size.width, bias=False)
        self.write = nn.Linear(size.width, size.width, bias=False)
        self.hidden = nn.Sequential(
            nn.Linear(size.width, 4 * size.width), nn.GELU(), nn.Linear(4 * size.width, size.width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return what the block makes of ``x``: shape (batch, tokens, width)."""
        batch, tokens, width = x.shape
        parts = self.read(self.before(x)).view(batch, tokens, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.write(mixed.transpose(1, 2).reshape(batch, tokens, width))
        added: torch.Tensor = x + self.hidden(self.between(x))
        return added


def pair_table(stream: np.ndarray[Any, Any], vocabulary: int) -> torch.Tensor:
    """Return log-probabilities of the next token given the last one, smoothed counts."""
    pairs = np.bincount(stream[:-1] * vocabulary + stream[1:], minlength=vocabulary**2)
    counts = pairs.reshape(vocabulary, vocabulary).astype(np.float32)
    alone = (counts.sum(0) + 0.5) / (counts.sum() + 0.5 * vocabulary)
    table = counts + 5 * alone
    return torch.from_numpy(np.log(table / table.sum(1, keepdims=True)))


class Model(nn.Module):
    """A transformer whose output layer is its embedding; what it says is added to a table."""

    table: torch.Tensor

    def __init__(self, size: Size, table: torch.Tensor) -> None:
        super().__init__()
        vocabulary = len(table)
        self.register_buffer("table", table)
        self.tokens = nn.Embedding(vocabulary, size.width)
        self.places = nn.Embedding(CONTEXT, size.width)
        self.blocks = nn.Sequential(*(Block(size) for _ in range(size.layers)))
        self.last = nn.LayerNorm(size.width)
        for each in (self.tokens, self.places):
            nn.init.normal_(each.weight, std=0.02)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits: shape (batch, tokens, vocabulary)."""
        x = self.tokens(tokens) + self.places.weight[: tokens.shape[1]]
        return self.last(self.blocks(x)) @ self.tokens.weight.T + self.table[tokens]


def trained(size: Size, stream: np.ndarray[Any, Any], vocabulary: int, say: Any) -> Model:
    """Return a model trained on windows of the tokens of a text, drawn uniformly at random."""
    torch.manual_seed(size.seed)
    rng = np.random.default_rng(size.seed)
    table = pair_table(stream, vocabulary) if size.table else torch.zeros(vocabulary, vocabulary)
    model, began = Model(size, table), time.time()
    adam = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.05)
    for step in range(size.steps):
        starts = rng.integers(0, len(stream) - CONTEXT - 1, BATCH)
        windows = torch.from_numpy(np.stack([stream[s : s + CONTEXT + 1] for s in starts]))
        share = min(1, (step + 1) / WARMUP) * 0.5 * (1 + np.cos(np.pi * step / size.steps))
        for group in adam.param_groups:
            group["lr"] = RATE * max(share, 0.02)
        with torch.autocast("cpu", torch.bfloat16):
            logits = model(windows[:, :-1]).flatten(0, 1)
        loss = functional.cross_entropy(logits.float(), windows[:, 1:].flatten())
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        if step % 100 == 0 or step + 1 == size.steps:
            say(f"{size.layers} layers, step {step}: {loss:.3f} after {time.time() - began:.0f} s")
    return model.eval()


@torch.no_grad()
def loss_on(model: Model, stream: np.ndarray[Any, Any]) -> float:
    """Return the mean loss in nats a token over the windows of a text."""
    count = (len(stream) - 1) // CONTEXT
    losses = []
    for start in range(0, count * CONTEXT, CONTEXT):
        window = torch.from_numpy(stream[start : start + CONTEXT + 1])
        losses.append(float(functional.cross_entropy(model(window[None, :-1])[0], window[1:])))
    return float(np.mean(losses))
