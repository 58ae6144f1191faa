"""Acceptance by one race of shared noise, at full vocabulary in floats (Theory, 33).

Given that the output is y, and with ρ = p(y)/q(y), y is among the first k tokens of the draft's
race with the probability that y is among k successive draws without replacement, from the weights ρ
of y and w_z = (p(z) − ρ q(z))₊ of the others. With V = ρ + Σ w and a = ρ/V that is

    g_k(ρ) = ∫₀^∞ a e^{−aτ} Pr(N(τ) < k) dτ,

where N(τ) counts the others by independent events of probability 1 − e^{−w_z τ/V}. It depends on y
by ρ alone, so that few values of ρ serve all tokens:

- *Panels.* The tokens by ascending q/p are cut into panels of nearly equal ρ. The tokens outside a
  panel add to N(τ) smoothly in ρ, which polynomials in ρ through Chebyshev nodes follow. The tokens
  z inside it that come before y have small weights, whose power sums S_m = Σ w_z^m are known for
  each y; they multiply the generating function E s^N by the product of 1 + u (1 − e^{−w_z t}) with
  u = s − 1, which is expanded to third order.
- *Light tokens.* Where x_z = w_z τ/V < 1/16 at all times of a piece, the logarithm of the product
  is Σ_i (−1)^{i−1} (s^i/i) Σ_z (e^x − 1)^i − Σ_z x, a series in power sums Σ x^m. Its coefficients
  are below (3/2)^m, as log(1 + s (e^x − 1)) has no pole below log 2 for |s| ≤ 1. Heavier tokens are
  multiplied one by one; since V ≥ 1, they are among the tokens with p(z) τ ≥ 1/16.
- *Times.* Gauss-Legendre nodes on pieces that grow fourfold, until what is left is below 1e-18.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from otspec._base.arithmetic import Array, IntArray, prefix_sums
from otspec.ratios import Pair
from otspec.rules.shared_noise.gumbel_counts import integrals
from otspec.rules.shared_noise.gumbel_panels import Sorted, chebyshev, expansions, lagrange, panels

_LEAST_RATIO, _MOST_RATIO = 1e-280, 1e100
"""Of draft over target: above, a token that is the output is drafted first but for 1e-100."""
_LIGHT = 1e-250
"""Draft mass; more comes first if ρ is below 1e-280, but for e^{−1e30}."""


class GumbelRace:
    """One race for up to ``most`` drafts of a pair.

    Parameters
    ----------
    pair : Pair
        In floats.
    most : int
        The largest k.
    """

    def __init__(self, pair: Pair, most: int) -> None:
        ratios, draft, target = pair.by_ratio
        self._order, self._most = pair.order, most
        # Tokens of no target mass come first, and are no output; those of no draft mass are last.
        drafted = int(np.searchsorted(ratios, np.inf))
        draft, target = draft[:drafted], target[:drafted]
        self._races = list(_races(Sorted(draft, target, pair.below), most))

    def acceptances(self) -> Array:
        """Return the acceptance for each number of drafts, (most,)."""
        found = np.zeros(self._most)
        for race, before, _ in self._races:
            found[before:] += race.acceptances()
        return np.clip(found, 0, 1)

    def chances(self) -> Array:
        """Return how likely each token is among the first k, given it is the output: (most, n).

        Row k − 1 is for k drafts. Tokens that are never drafted, or never the output, have 0.
        """
        found = np.zeros((self._most, len(self._order)))
        for race, before, places in self._races:
            found[before:, self._order[places]] += race.chances()
        return np.clip(found, 0, 1)


def _races(tokens: Sorted, most: int) -> Iterator[tuple[_Race, int, IntArray]]:
    """Yield races for parts of the outputs, each with how many drafts come before it, and places.

    Where ρ is tiny, tokens of much larger draft mass come before y for certain. The race for what
    is left has draft masses of sum 1, so that no time is beyond the floats.
    """
    draft, target, _ = tokens
    start, end = int(np.count_nonzero(target == 0)), len(draft)
    with np.errstate(over="ignore", divide="ignore"):
        late = int(np.count_nonzero(draft / target >= _LEAST_RATIO))
    late = max(late, start)
    yield _Race(tokens, slice(start, late), most), 0, np.arange(end)
    light = np.flatnonzero(draft < _LIGHT)
    certain = end - len(light)
    if late < end and certain < most:
        scaled = draft[light] / draft[light].sum(), target[light]
        rest = Sorted(*scaled, (prefix_sums(scaled[0]), prefix_sums(scaled[1])))
        outputs = slice(int(np.searchsorted(light, late)), len(light))
        yield _Race(rest, outputs, most - certain), certain, light


class _Race:
    """One race for up to ``most`` drafts, and the outputs at some places."""

    def __init__(self, tokens: Sorted, outputs: slice, most: int) -> None:
        self._tokens, self._most = tokens, most
        with np.errstate(over="ignore"):
            rho = tokens.draft[outputs] / tokens.target[outputs]
        self._rho = np.zeros(len(tokens.draft))
        self._rho[outputs] = np.minimum(rho, _MOST_RATIO)
        end = outputs.stop
        self._panels = panels(self._rho[:end], tokens.target[:end], outputs.start)

    def acceptances(self) -> Array:
        """Return the acceptance for each number of drafts, (most,)."""
        found = np.zeros(self._most)
        for inside, weights, expansion, terms in self._parts():
            shares = (weights * self._tokens.target[inside, None]).T @ expansion
            found += np.tensordot(shares, terms, 2)
        return found

    def chances(self) -> Array:
        """Return the same token by token, given that it is the output: (most, tokens)."""
        found = np.zeros((self._most, len(self._rho)))
        for inside, weights, expansion, terms in self._parts():
            for weight, node in zip(weights.T, terms, strict=True):
                found[:, inside] += weight * (node.T @ expansion.T)
        return found

    def _parts(self) -> Iterator[tuple[slice, Array, Array, Array]]:
        """Yield for each panel its places, and what the chances there are sums of products of.

        Yields
        ------
        slice
            Of b places.
        weights : ndarray, shape (b, nodes)
            Lagrange polynomials.
        expansion : ndarray, shape (b, 7)
            Of the tokens inside the panel, in their power sums.
        terms : ndarray, shape (nodes, 7, most)
            What each of these terms is multiplied by.
        """
        if not self._panels:
            return
        rho = self._rho
        nodes = [chebyshev(rho[end - 1], rho[start], count) for start, end, count in self._panels]
        starts = np.repeat([panel.start for panel in self._panels], [len(each) for each in nodes])
        of_nodes = integrals(self._tokens, np.concatenate(nodes), starts, self._most)
        expansion = expansions(self._tokens, rho, self._panels)
        place, first = 0, self._panels[0].start
        for (start, end, _), points in zip(self._panels, nodes, strict=True):
            own = of_nodes[place : place + len(points)]
            place += len(points)
            inside = expansion[start - first : end - first]
            yield slice(start, end), lagrange(points, rho[start:end]), inside, own
