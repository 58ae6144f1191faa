"""The loss of shared noise for several drafts of one race (Theory, 33), computed on the host."""

from dataclasses import dataclass
from functools import partial
from importlib import import_module

import numpy as np

from otspec.batch._array_api.library import Array, Library
from otspec.learning.objectives import Objective, State
from otspec.ratios import Pair
from otspec.rules.shared_noise.gumbel_race import GumbelRace


@dataclass(frozen=True)
class OneRace(Objective):
    """The loss 1 − β of k drafts and an output from one race, row by row in float64."""

    k: int

    def solve(self, library: Library, logits: Array, target: Array) -> tuple[Array, State]:
        """Return the loss and its gradient; see :class:`Objective`."""
        found = partial(_losses, k=self.k)
        if library.reorders:  # JAX
            jax = import_module("jax")
            kinds = [
                jax.ShapeDtypeStruct(shape, logits.dtype)
                for shape in (logits.shape[:-1], logits.shape)
            ]
            loss, slopes = jax.pure_callback(
                found, kinds, logits, target, vmap_method="broadcast_all"
            )
            return loss, (slopes,)
        host = found(*(part.detach().cpu().numpy() for part in (logits, target)))
        torch = import_module("torch")
        loss, slopes = (torch.as_tensor(part, device=library.device) for part in host)
        return loss, (slopes,)

    def gradient(self, library: Library, logits: Array, target: Array, state: State) -> Array:  # noqa: ARG002
        """Return the derivative of the loss by each logit; see :class:`Objective`."""
        return state[0] + 0.0  # a copy, which may be changed


def _losses(logits: Array, target: Array, k: int) -> tuple[Array, Array]:
    """Return losses and gradients of rows in arrays of NumPy: (..., V) -> (...), (..., V)."""
    logits, target = np.asarray(logits), np.asarray(target)
    losses, slopes = np.full(logits.shape[:-1], np.nan, logits.dtype), np.full_like(logits, np.nan)
    for place in np.ndindex(losses.shape):
        row, wanted = logits[place].astype(float), target[place].astype(float)
        with np.errstate(all="ignore"):
            draft = np.exp(row - row.max(initial=-np.inf))
            is_number = (
                np.isfinite(draft).all() and (wanted >= 0).all() and 0 < wanted.sum() < np.inf
            )
        if is_number:
            pair = Pair(draft / draft.sum(), wanted / wanted.sum())
            accepted, slope = GumbelRace(pair, k).slopes()
            losses[place], slopes[place] = 1 - accepted, -slope
    return losses, slopes
