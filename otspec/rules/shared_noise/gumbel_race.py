"""Acceptance by one race of shared noise, and its slopes, for a full vocabulary (Theory, 33).

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

Slopes are derivatives by the draft's logits. With T the terms of the nodes, the acceptance is Σ
shares · T. The time t and the node's ρ stay, and so does the quadrature; w_z = p(z) − ρ q(z) moves
with log p(z) at the rate p(z), by which

    ∂ Pr(N(t) = i) = p(z) t e^{−w_z t} (Pr(N(t) without z = i − 1) − Pr(N(t) without z = i)).

Backward from the last token to the first, the shares become derivatives by each token's chance, and
by the power sums of light tokens. Forward, all tokens move alike: as only p(z)/p(y) matters, the
derivative by the logit of the output y is minus that.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from otspec._base import Array, IntArray, prefix_sums
from otspec.ratios import Pair
from otspec.rules.shared_noise import gumbel_counts, gumbel_panels
from otspec.rules.shared_noise.gumbel_counts import integrals
from otspec.rules.shared_noise.gumbel_panels import Expansion, Sorted

_LEAST = 1e-12  # powers of light tokens that are less of the slopes than this are left out
_CHUNK = 1 << 20  # most numbers in memory at once for the counts before each heavy token (8 MB)


class NodeSlopes(gumbel_counts.NodeCounts):
    """Node counts with a second part: the change if the logarithms of all p(z) grow alike."""

    parts = 2

    def __init__(
        self, tokens: Sorted, rho: Array, ends: IntArray, most: int, shares: Array
    ) -> None:
        super().__init__(tokens, rho, ends, most)
        # The terms are linear in the sums, whose shares are found from one of each.
        units = np.eye(4 * most).reshape(-1, 4, most)
        shares = shares @ gumbel_counts.combined(units)[..., -1].T
        self._shares = shares.reshape(-1, 4, most) * self._scales[:, :, None]
        self._slopes = np.zeros(ends[-1])
        self._owed = np.zeros((len(self._levels), len(rho), gumbel_counts.POWERS))

    def by_token(self) -> Array:
        """Return the derivatives by the logits of tokens before the nodes, after the terms."""
        for level, owed in enumerate(self._owed):
            # Of tokens of mass 4^{−level} all together, power m is about so much of the slopes.
            numbers = np.arange(1, gumbel_counts.POWERS + 1)
            parts = np.abs(owed).max(axis=0) * numbers * 4.0 ** (-level * (numbers - 1))
            large = np.flatnonzero(parts > _LEAST)
            if not large.size:
                continue
            powers, (tokens, cuts, which) = int(large[-1]) + 1, self._before(level)
            drafts = gumbel_panels.power_rows(self._draft[tokens], powers)
            targets = gumbel_panels.power_rows(self._target[tokens], powers)
            for m in range(1, powers + 1):
                rates = owed[:, m - 1] * self._binomial(m)
                for j in range(m):
                    # A token counts at the nodes after it.
                    at_cuts = np.bincount(which, rates[j] * (m - j), len(cuts))
                    after = np.cumsum(at_cuts[::-1])[::-1][1:]
                    part = np.repeat(after, np.diff(cuts))
                    self._slopes[tokens] += part * drafts[m - j] * targets[j]
        return self._slopes

    def _counts(self, alive: IntArray, piece: int, times: Array, weight: Array) -> Array:
        """Return the counts, and their change: (2, most, alive, times); keep the derivatives."""
        most, (light, change) = self._most, self._light(alive, piece)
        powers = times ** np.arange(1, gumbel_counts.POWERS + 1)[:, None]
        # Of the logarithm of Σ Pr(N = i) s^i by each power sum: (powers, most).
        logs = np.zeros((gumbel_counts.POWERS, most))
        logs[0, 0] = -1
        for i, row in enumerate(gumbel_counts.series(min(most - 1, gumbel_counts.POWERS)), start=1):
            logs[:, i] = row / i
        counts = np.zeros((2, most, len(alive), len(times)))
        counts[0] = before = gumbel_counts.light_counts(light, times, most)
        for i in range(most):
            step = (change * logs[:, i]) @ powers
            counts[1, i:] += step * before[: most - i]
        owed = np.einsum(
            "ejk,jt,et->ket", self._shares[alive], times ** np.arange(4)[:, None], weight
        )
        self._pass_heavy(alive, piece, times, counts, owed)
        for i in range(most):
            step = (owed[i:] * before[: most - i]).sum(axis=0)
            here = (step @ powers.T) * logs[:, i]
            self._owed[self._first(piece) :, alive] += here
        return counts

    def _pass_heavy(
        self, alive: IntArray, piece: int, times: Array, counts: Array, owed: Array
    ) -> None:
        """Count heavy tokens in, and turn what the counts owe into what those before them do."""
        for tokens, starts, rate in self._heavy(alive, piece, len(self._draft)):
            together = max(1, _CHUNK // (len(tokens) * self._most * len(times)))
            for first in range(0, len(alive), together):
                nodes = slice(first, first + together)
                begin = np.maximum(starts - first, 0)
                some = slice(0, int(np.searchsorted(begin, len(alive[nodes]))))
                missing = np.exp(-rate[some, nodes, None] * times)
                own = self._draft[tokens[some], None] / self._total[alive[nodes]]
                flow = missing * times * own[:, :, None]
                self._slopes[tokens[some]] += _moved(
                    counts[:, :, nodes], owed[:, nodes], begin[some], missing, flow
                )


def _moved(counts: Array, owed: Array, starts: IntArray, missing: Array, flow: Array) -> Array:
    """Return the derivative by the size of each event's change: (events,); counts them in."""
    # counts, (2, most, e, m): Pr(N = i) and its change; is changed. owed, (most, e, m): the
    # derivatives by Pr(N = i) after all events; becomes those before. starts, ascending: each event
    # counts at the nodes from there on. missing, flow, (events, e, m): how likely each event does
    # not happen, and minus the change of that.
    most, nodes, times = owed.shape
    found, before = np.zeros(len(starts)), np.empty((len(starts), most, nodes, times))
    for j in range(len(starts)):
        here = slice(starts[j], nodes)
        stays, (count, change) = missing[j, here], counts[:, :, here]
        before[j, :, here] = count
        more, flown = count * (1 - stays), count * flow[j, here]
        changed = change[:-1] * (1 - stays) + flown[:-1]
        change *= stays
        change -= flown
        change[1:] += changed
        count *= stays
        count[1:] += more[:-1]
    for j in range(len(starts) - 1, -1, -1):
        here = slice(starts[j], nodes)
        stays, count, due = missing[j, here], before[j, :, here], owed[:, here]
        moved = (due[1:] * count[:-1]).sum(axis=0) - (due * count).sum(axis=0)
        found[j] = (flow[j, here] * moved).sum()
        more = due[1:] * (1 - stays)
        due *= stays
        due[:-1] += more
    return found


_LEAST_RATIO, _MOST_RATIO = 1e-280, 1e100
"""Of draft over target: above, a token that is the output is drafted first but for 1e-100."""
_LIGHT = 1e-250  # draft mass; more comes first if ρ is below 1e-280, but for e^{−1e30}


class GumbelRace:
    """One race for up to ``most`` drafts of a pair in floats."""

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
        """Return how likely each token is among the first k, given it is the output: (most, n)."""
        # Row k − 1 is for k drafts. Tokens that are never drafted, or never the output, have 0.
        found = np.zeros((self._most, len(self._order)))
        for race, before, places in self._races:
            found[before:, self._order[places]] += race.chances()
        return np.clip(found, 0, 1)

    def slopes(self) -> tuple[float, Array]:
        """Return the acceptance of ``most`` drafts, and a subgradient by the draft's logits."""
        found, slopes = 0.0, np.zeros(len(self._order))
        for race, _, places in self._races:
            accepted, parts = race.slopes()
            found += accepted
            slopes[self._order[places]] += parts
        return min(max(found, 0.0), 1.0), slopes


def _races(tokens: Sorted, most: int) -> "Iterator[tuple[_Race, int, IntArray]]":
    """Yield races for parts of the outputs, with how many drafts come before, and places."""
    # Where ρ is tiny, tokens of much larger draft mass come before y for certain. The race for what
    # is left has draft masses of sum 1, so that no time is beyond the floats.
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
        self._panels = gumbel_panels.panels(self._rho[:end], tokens.target[:end], outputs.start)
        rho = self._rho
        each = [
            gumbel_panels.chebyshev(rho[end - 1], rho[start], count)
            for start, end, count in self._panels
        ]
        self._nodes = np.concatenate([np.empty(0), *each])
        self._starts = np.repeat(
            [panel.start for panel in self._panels], [len(points) for points in each]
        )

    def acceptances(self) -> Array:
        """Return the acceptance for each number of drafts, (most,)."""
        if not self._panels:
            return np.zeros(self._most)
        terms = integrals(self._tokens, self._nodes, self._starts, self._most)
        return np.tensordot(self._shares, terms, 2)

    def chances(self) -> Array:
        """Return the same token by token, given that it is the output: (most, tokens)."""
        found = np.zeros((self._most, len(self._rho)))
        if self._panels:
            terms = integrals(self._tokens, self._nodes, self._starts, self._most)
            for inside, nodes, weights, rows in self._served:
                for weight, node in zip(weights.T, terms[nodes], strict=True):
                    found[:, inside] += weight * (node.T @ rows.T)
        return found

    def slopes(self) -> tuple[float, Array]:
        """Return the acceptance of ``most`` drafts, and its derivative by each logit."""
        slopes = np.zeros(len(self._rho))
        if not self._panels:
            return 0.0, slopes
        found = NodeSlopes(self._tokens, self._nodes, self._starts, self._most, self._shares)
        terms, lifted = found.terms()[..., -1]
        slopes[: self._starts[-1]] = found.by_token()
        factors = np.empty((len(self._rho), 7))
        for inside, nodes, weights, rows in self._served:
            wanted = self._tokens.target[inside, None]
            factors[inside] = wanted * (weights @ terms[nodes])
            slopes[inside] -= (wanted * (weights @ lifted[nodes]) * rows).sum(axis=1)
        first, end = self._panels[0].start, self._panels[-1].end
        slopes[first:end] += self._expansion.slopes(factors[first:end])
        return float((self._shares * terms).sum()), slopes

    @cached_property
    def _expansion(self) -> Expansion:
        return Expansion(self._tokens, self._rho, self._panels)

    @cached_property
    def _served(self) -> list[tuple[slice, slice, Array, Array]]:
        """The places, nodes, Lagrange polynomials and expansion (places, 7) of each panel."""
        found, place, first = [], 0, self._panels[0].start
        for start, end, _ in self._panels:
            nodes = slice(place, int(np.searchsorted(self._starts, start, side="right")))
            weights = gumbel_panels.lagrange(self._nodes[nodes], self._rho[start:end])
            rows = self._expansion.terms[start - first : end - first]
            found.append((slice(start, end), nodes, weights, rows))
            place = nodes.stop
        return found

    @cached_property
    def _shares(self) -> Array:
        """What the terms of each node are multiplied by in the acceptance, (nodes, 7)."""
        target = self._tokens.target
        return np.concatenate(
            [(w * target[inside, None]).T @ rows for inside, _, w, rows in self._served]
        )
