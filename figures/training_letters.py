"""Small drafts of letters, trained for several losses and measured exactly for all uses.

The target is the trigram model of :func:`otspec.datasets.letters`; a draft sees one symbol and has
fewer parameters than a table of all pairs. Each place of the text counts as often as it occurs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import otspec
from otspec import learning
from otspec._base.arithmetic import Array
from otspec.rules import PooledSelection, PooledSelectionWithoutReplacement

KS = (1, 2, 4, 8)
DEPTH = 3
"""Levels of the tree that tokens per call are counted for: k children at each node."""
FIRST, STEPS, BATCH = 300, 200, 64
"""Steps on KL that all drafts begin with, then steps on each loss; contexts at each step."""
RULES = {"iid": PooledSelection, "without-replacement": PooledSelectionWithoutReplacement}
"""The rules that attain the optima."""
LOSSES: dict[str, Callable[..., Any]] = {
    "KL": learning.kullback_leibler_loss,
    "k=1": learning.total_variation_loss,
} | {
    f"k={k} {law}": lambda z, q, k=k, law=law: learning.acceptance_loss(z, q, k, law)
    for law in RULES
    for k in KS[1:]
}
"""What a draft is trained for, by the name that records have."""
COLUMNS = ("class", "seed", "trained", "law", "k", "acceptance", "tokens")
USES = tuple((law, k) for law in RULES for k in KS if (law, k) != ("without-replacement", 1))


@dataclass(frozen=True)
class Places:
    """The contexts of the target: their last symbols, how often they occur, and what follows."""

    last: Array
    """(m,) token ids."""
    weights: Array
    """(m,)"""
    target: Array
    """(m, 27)"""
    after: Array
    """(m, 27) the context after each next symbol, which is one of them."""


@cache
def places() -> Places:
    """Return all contexts of the trigram model."""
    model = otspec.datasets.letters(exact=False).target
    found = model.contexts()
    numbers = {context: i for i, context in enumerate(found)}
    # A pair of symbols that is nowhere in the text is followed like the most frequent one of its
    # last symbol; it has almost no weight.
    frequent = {
        context[1]: i for context, i in sorted(numbers.items(), key=lambda each: found[each[0]])
    }
    rows = np.array([model(context) for context in found])
    after = [[numbers.get((x[1], y), frequent[y]) for y in range(model.n)] for x in found]
    weights = np.array([float(mass) for mass in found.values()])
    return Places(np.array([x[1] for x in found]), weights, rows, np.array(after))


def networks(torch: Any, seed: int) -> dict[str, Any]:
    """Return the classes of drafts, with their first parameters: 27 symbols → 27 logits."""
    n, generator = 27, torch.manual_seed(seed)

    class Tied(torch.nn.Module):  # type: ignore[misc, name-defined]
        """One embedding of 6 numbers for what comes in and what goes out, and a map between."""

        def __init__(self) -> None:
            super().__init__()
            self.embedding = torch.nn.Parameter(torch.randn(n, 6, generator=generator) / 2)
            self.map = torch.nn.Parameter(torch.randn(6, 6, generator=generator) / 2)
            self.bias = torch.nn.Parameter(torch.zeros(n))

        def forward(self) -> Any:
            return self.embedding @ self.map @ self.embedding.T + self.bias

    class LowRank(torch.nn.Module):  # type: ignore[misc, name-defined]
        """A matrix of rank 4, and a bias."""

        def __init__(self) -> None:
            super().__init__()
            self.left = torch.nn.Parameter(torch.randn(n, 4, generator=generator) / 2)
            self.right = torch.nn.Parameter(torch.randn(4, n, generator=generator) / 2)
            self.bias = torch.nn.Parameter(torch.zeros(n))

        def forward(self) -> Any:
            return self.left @ self.right + self.bias

    class FeedForward(torch.nn.Module):  # type: ignore[misc, name-defined]
        """4 numbers for each symbol, 8 hidden units, a linear layer."""

        def __init__(self) -> None:
            super().__init__()
            self.embedding = torch.nn.Parameter(torch.randn(n, 4, generator=generator))
            self.hidden = torch.nn.Parameter(torch.randn(4, 8, generator=generator) / 2)
            self.out = torch.nn.Parameter(torch.randn(8, n, generator=generator) / 2)
            self.bias = torch.nn.Parameter(torch.zeros(n))

        def forward(self) -> Any:
            return torch.tanh(self.embedding @ self.hidden) @ self.out + self.bias

    return {"tied": Tied(), "low rank": LowRank(), "feed-forward": FeedForward()}


def trained(network: Any, loss: Callable[..., Any], steps: int, rate: float, seed: int) -> None:
    """Train a draft by Adam, with contexts drawn as often as they occur."""
    import torch

    here, rng = places(), np.random.default_rng(seed)
    target = torch.tensor(here.target, dtype=torch.float32)
    adam = torch.optim.Adam(network.parameters(), rate)
    for step in range(steps):
        adam.param_groups[0]["lr"] = rate * (1 - step / steps)
        drawn = rng.choice(len(here.weights), BATCH, p=here.weights)
        rows = network()[here.last[drawn]]
        adam.zero_grad()
        loss(rows, target[drawn]).mean().backward()
        adam.step()


def measured(table: Array) -> Iterator[tuple[str, int, float, float]]:
    """Yield each use: the law, k, the mean optimal acceptance, and tokens per call; (27, 27)."""
    here = places()
    for law, k in USES:
        accepted = np.array(
            [
                RULES[law](table[x], q, k, normalize=True).accepted().by_token
                for x, q in zip(here.last, here.target, strict=True)
            ]
        )
        kept = np.zeros(len(accepted))
        for _ in range(DEPTH):
            kept = (accepted * (1 + kept[here.after])).sum(axis=1)
        mean = float(here.weights @ accepted.sum(axis=1))
        yield law, k, mean, 1 + float(here.weights @ kept)


def runs(
    name: str, seed: int, losses: tuple[str, ...] = tuple(LOSSES)
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a record: class, seed, trained for, law, k, acceptance, tokens per call."""
    import torch

    torch.set_num_threads(1)
    start = networks(torch, seed)[name]
    trained(start, LOSSES["KL"], FIRST, 0.05, seed)
    state = {key: value.clone() for key, value in start.state_dict().items()}
    for loss in losses:
        start.load_state_dict(state)
        trained(start, LOSSES[loss], STEPS, 0.02, seed + 1_000)
        with torch.no_grad():
            table = torch.softmax(start().double(), -1).numpy()
        for use in measured(table):
            yield name, seed, loss, *use
