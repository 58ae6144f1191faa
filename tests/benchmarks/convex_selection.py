"""Selection of one of k i.i.d. drafts by convex minimization, as we read Global Resolution.

Its authors say that they reduce the optimum to a convex minimization in at most as many variables
as tokens, and solve a truncated version; more is not known to us. Here a draft y is selected in
proportion to e^w(y) among those on the side of the best cut that counts. The law of the selected
token is b where the convex function E log Σ e^w − Σ b w is least, and steps w ← w + log(b/law) go
there. Only the ``kept`` likeliest tokens take steps.
"""

from __future__ import annotations

import numpy as np

import otspec

NODES = 96
"""Of the quadrature of 1/s = ∫ exp(−t s) dt, in log t."""


class ConvexSelection:
    """Weights of the tokens, and the law of the selected one."""

    def __init__(self, draft, target, k, kept):
        self.draft, self.target, self.k = np.asarray(draft), np.asarray(target), k
        best = otspec.optimal_acceptance(otspec.IID(draft, k), target)
        self.best, self.wanted = best.acceptance, best.selection
        inside = np.zeros(len(draft), bool)
        inside[list(best.cut)] = True
        drafted = self.draft > 0
        # Drafts off the cut come first: only if there are none is one inside selected.
        self.sides = [np.flatnonzero(side & drafted) for side in (~inside, inside)]
        likely = np.zeros(len(draft), bool)
        likely[np.argsort(-np.maximum(self.draft, self.target), kind="stable")[:kept]] = True
        self.steps = likely & (self.wanted > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            start = np.log(self.wanted / self.draft)
        self.weights = np.where(np.isfinite(start), start, -30.0)

    def law(self):
        """Return how likely each token is the selected one: k p e^w ∫ exp(−t e^w) g(t)^(k−1) dt."""
        law = np.zeros(len(self.draft))
        lower = self.draft[self.sides[1]].sum()
        for tokens, others in zip(self.sides, (lower, 0.0), strict=True):
            if not len(tokens):
                continue
            masses, weights = self.draft[tokens], self.weights[tokens]
            log_t = np.linspace(-weights.max() - 25, -weights.min() + 5, NODES)
            found, step = np.zeros(len(tokens)), log_t[1] - log_t[0]
            for each in log_t:
                decay = np.exp(-np.exp(np.minimum(each + weights, 700)))
                rest = (others + masses @ decay) ** (self.k - 1)
                found += step * np.exp(each + weights) * decay * rest
            law[tokens] = self.k * masses * found
        return law

    def run(self, steps):
        """Return how far what is accepted is below the optimum after each step."""
        gaps = []
        for _ in range(steps):
            law = self.law()
            gaps.append(float(self.best - np.minimum(law, self.target).sum()))
            with np.errstate(divide="ignore", invalid="ignore"):
                move = np.log(self.wanted / law)
            self.weights += np.where(self.steps & np.isfinite(move), move, 0)
        return gaps
