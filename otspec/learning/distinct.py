"""Distinct drafts of one race: their optimum and its gradient; shared noise (Theory, 2, 33)."""

import math
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import ClassVar

import numpy as np

from otspec.batch._array_api.library import Array, Library
from otspec.learning.objectives import AT_ONCE, Objective, State, softmax
from otspec.learning.race import ERRORS, NODES, Race, heavy_tokens, largest, powers, ratio_of
from otspec.ratios import Pair
from otspec.rules.shared_noise.gumbel_race import GumbelRace

ALL = 512
"""Up to so many tokens all prefixes are looked at. Of more every √V-th, and those that end before
or after a heavy token; then all around the best."""


@dataclass(frozen=True)
class DistinctOptimum(Objective):
    """The optimum for k drafts without replacement: α = q(A) + 1 − f(A), of a prefix A by q/p."""

    copies: ClassVar[int] = 64
    k: int

    def rows_at_once(self, rows: int, size: int, share: int) -> int:
        """Return how many of some rows to work on at once: several, since a race has many steps."""
        counts = 4 * max(NODES) * self.k * heavy_tokens(self.k, size, min(ERRORS))
        most = max(1, AT_ONCE // (self.copies * max(size, 1) + counts))
        return max(super().rows_at_once(rows, size, share), most)

    def solve(self, library: Library, logits: Array, target: Array) -> tuple[Array, State]:
        """Return the loss and what its gradient needs; see :class:`Objective`."""
        xp = library.xp
        draft, target = library.widened(softmax(library, logits)), library.widened(target)
        race = Race.of(library, draft, target, self.k)
        before = race.before(race.rates)
        last = _last_inside(race, before, draft, target)
        inside = ratio_of(library, draft, target) <= last
        cost = xp.sum(xp.where(inside, target, 0.0), axis=-1)
        outside = xp.sum(xp.where(inside, 0.0, draft), axis=-1, keepdims=True)
        light = powers(xp.where(inside, race.light_rates(draft), 0.0), race.terms)
        sums = xp.stack([xp.sum(power, axis=-1) for power in light], axis=-1)
        found, heavy, coefficients = race.gradient(before, outside, sums, race.ratios <= last)
        loss, drafted = found - cost, draft != 0  # NaN stays NaN
        # A row of fewer than k tokens drafts them all, and no small change makes it draft others.
        enough = xp.sum(xp.astype(drafted, loss.dtype), axis=-1) >= self.k
        some = (enough & (loss > 0))[..., None]
        never = xp.sum(xp.where(drafted, 0.0, target), axis=-1)
        loss = xp.where(enough, loss * some[..., 0], never)
        numbers = xp.concat([last, race.heaviest, race.unit, outside], axis=-1)
        heavy, coefficients = xp.where(some, heavy, 0.0), xp.where(some, coefficients, 0.0)
        return loss, (race.tokens, heavy, coefficients, numbers)

    def gradient(self, library: Library, logits: Array, target: Array, state: State) -> Array:
        """Return the derivative of the loss by each logit; see :class:`Objective`."""
        xp = library.xp
        tokens, heavy, coefficients, numbers = state
        last, heaviest, unit, outside = (numbers[..., i : i + 1] for i in range(4))
        draft, target = library.widened(softmax(library, logits)), library.widened(target)
        rate = xp.where(draft <= heaviest, draft / unit, 0.0)
        slope = xp.zeros_like(draft)
        for j in reversed(range(coefficients.shape[-1])):
            slope = slope * rate + coefficients[..., j : j + 1]
        slope = xp.where(draft <= heaviest, slope, _placed(library, heavy, tokens, draft))
        inside = ratio_of(library, draft, target) <= last
        found = xp.where(inside, draft * slope, 0.0)
        # Off A the derivative is what makes Σ p ∂f/∂p zero.
        rest = -xp.sum(found, axis=-1, keepdims=True) * library.quotient(1.0, outside)
        return library.narrowed(xp.where(inside, found, draft * rest))


def _last_inside(race: Race, before: Array, draft: Array, target: Array) -> Array:
    """Return the q/p of the last token of the best prefix: (..., 1); −1 if that is empty."""
    library, xp, size = race.library, race.library.xp, draft.shape[-1]
    ratio = ratio_of(library, draft, target)
    order = xp.argsort(ratio, axis=-1)
    ratio, drafted, wanted = (library.take(part, order) for part in (ratio, draft, target))
    is_light = drafted <= race.heaviest
    parts = [wanted, drafted, xp.where(is_light, 0.0, 1.0)]
    parts += powers(race.light_rates(drafted), race.terms)
    # Before each token, and at the end.
    zero = xp.zeros_like(ratio[..., :1])
    sums = [xp.concat([zero, xp.cumulative_sum(part, axis=-1)], axis=-1) for part in parts]
    reached = xp.cumulative_sum(before, axis=0)  # P(N ≤ n) of heavy tokens

    def best_of(places: Array) -> Array:
        """Return the best of prefixes of some lengths, (..., K), by q(A) − f(A): (..., 1)."""
        cost, mass, passed, *light = (library.take(part, places) for part in sums)
        few = race.light(xp.stack(light, axis=-1))
        index = library.ids(passed + 0.5)[..., None] + xp.zeros_like(library.ids(few[0]))
        below = sum(
            few[n] * xp.take_along_axis(reached[race.k - 1 - n], index, axis=-2)
            for n in range(race.k)
        )
        gain = race.inside(xp.clip(1 - mass, 0.0, 1.0), below) - cost
        return xp.take_along_axis(places, library.largest(gain)[..., None], axis=-1)

    lengths = library.arange(size + 1) + xp.zeros_like(order[..., :1])
    if size <= ALL:
        best = best_of(lengths)
    else:
        step = math.isqrt(size)
        late = xp.where(is_light, -float(size), -library.widened(lengths[..., :-1]))
        at = library.ids(xp.clip(-largest(library, late, race.rates.shape[-1])[0], max=size - 1.0))
        best = best_of(xp.concat([lengths[..., ::step], at, at + 1], axis=-1))
        best = best_of(xp.clip(best + library.arange(2 * step + 1) - step, 0, size))
    last = xp.take_along_axis(ratio, xp.clip(best - 1, min=0), axis=-1)
    return xp.where(best > 0, last, -1.0)


def _placed(library: Library, values: Array, tokens: Array, like: Array) -> Array:
    """Return zeros with values at some tokens of each row."""
    zeros, tokens = library.xp.zeros_like(like), library.ids(tokens)
    if library.reorders:
        return library.xp.put_along_axis(zeros, tokens, values, axis=-1, inplace=False)
    return zeros.scatter(-1, tokens, values)


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
