"""Derivatives of sums over one race by the draft's logits (Theory, 33); see ``gumbel_race``.

With T the terms of the nodes, the acceptance is Σ shares · T. The time t and the node's ρ stay, and
so does the quadrature; w_z = p(z) − ρ q(z) moves with log p(z) at the rate p(z), by which

    ∂ Pr(N(t) = i) = p(z) t e^{−w_z t} (Pr(N(t) without z = i − 1) − Pr(N(t) without z = i)).

Backward from the last token to the first, the shares become derivatives by each token's chance, and
by the power sums of light tokens. Forward, all tokens move alike: as only p(z)/p(y) matters, the
derivative by the logit of the output y is minus that.
"""

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec.rules.shared_noise import gumbel_counts
from otspec.rules.shared_noise.gumbel_panels import Sorted, power_rows

_LEAST = 1e-12
"""Powers of light tokens that are less of the slopes than this are left out."""
_CHUNK = 1 << 20
"""Most numbers in memory at once for the counts before each heavy token (8 MB)."""


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
            drafts = power_rows(self._draft[tokens], powers)
            targets = power_rows(self._target[tokens], powers)
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
                flow = np.where(rate[some, nodes, None] > 0, missing * times, 0)
                flow *= (self._draft[tokens[some], None] / self._total[alive[nodes]])[:, :, None]
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
