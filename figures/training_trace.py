"""A small adapter on the logged logits of a draft, trained on some texts and measured on others.

The bundled trace has the logits of draft and target at one position of each of 24 texts. The
adapter adds to each logit a function of the token's log-probability and of the row's entropy: two
layers, 33 numbers. Four times it is trained on 18 texts and measured on the other 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import otspec
from figures.training_letters import LOSSES, USES
from otspec import learning

FOLDS, STEPS, BATCH, RATE = 4, 60, 6, 0.03
HIDDEN = 8
TRAINED = ("KL", "k=1", "k=2 iid", "k=4 iid", "k=8 iid", "k=4 without-replacement")
"""The losses, by their names in :data:`figures.training_letters.LOSSES`."""
AS_LOGGED = "as logged"
COLUMNS = ("trained", "law", "k", *(f"text {i}" for i in range(24)))


def adapter(torch: Any) -> Any:
    """Return the adapter, which changes nothing before it is trained: (m, V) logits → (m, V)."""
    torch.manual_seed(0)

    class Adapter(torch.nn.Module):  # type: ignore[misc, name-defined]
        """Two layers on the log-probability, in tenths, and the entropy of the row."""

        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(2, HIDDEN)
            self.second = torch.nn.Linear(HIDDEN, 1)
            torch.nn.init.zeros_(self.second.weight)
            torch.nn.init.zeros_(self.second.bias)

        def forward(self, logits: Any) -> Any:
            log = torch.log_softmax(logits, -1)
            entropy = -(log.exp() * log).sum(-1, keepdim=True).expand_as(log)
            features = torch.stack([log / 10, entropy / 5], -1)
            return log + 10 * self.second(torch.tanh(self.first(features)))[..., 0]

    return Adapter()


def runs() -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the record: trained for, law, k, and the acceptance at each text."""
    import torch

    torch.set_num_threads(1)
    trace = otspec.datasets.load_smollm2()
    logits = torch.tensor(np.asarray(trace.draft_logits)[:, 0]).float()
    target = torch.softmax(torch.tensor(np.asarray(trace.target_logits)[:, 0]).double(), -1).float()
    texts = np.arange(len(logits))
    for name in (AS_LOGGED, *TRAINED):
        drafts = torch.empty_like(logits)
        for fold in range(FOLDS):
            held = texts % FOLDS == fold
            network = adapter(torch)
            if name != AS_LOGGED:
                _train(network, LOSSES[name], logits[~held], target[~held], fold)
            with torch.no_grad():
                drafts[held] = network(logits[held])
        for law, k in USES:
            with torch.no_grad():
                lost = learning.acceptance_loss(drafts, target, k, law)
            yield name, law, k, *(1 - lost).tolist()


def _train(network: Any, loss: Any, logits: Any, target: Any, seed: int) -> None:
    import torch

    rng, adam = np.random.default_rng(seed), torch.optim.Adam(network.parameters(), RATE)
    for step in range(STEPS):
        adam.param_groups[0]["lr"] = RATE * (1 - step / STEPS)
        drawn = rng.choice(len(logits), BATCH, replace=False)
        adam.zero_grad()
        loss(network(logits[drawn]), target[drawn]).mean().backward()
        adam.step()
