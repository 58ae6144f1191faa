"""Tokens and calls of many choices over texts: means, and intervals of their ratios.

Texts are the independent units. All that is kept of them are sums of first and second powers, in
folds, so that logs of any length take the memory of one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from otspec.advice.choices import UNKNOWN, Interval
from otspec.arithmetic import Array, IntArray

CONFIDENCE = 0.95
FOLDS = 5
"""Into how many parts texts are divided: a choice made on all others is measured on each."""


@dataclass
class Tally:
    """Sums over texts of the tokens and the calls of each choice.

    Parameters
    ----------
    choices : int
    """

    choices: int
    units: Array = field(init=False)
    """How many texts each fold has, shape (FOLDS,)."""
    totals: Array = field(init=False)
    """Sums of tokens and of calls, shape (FOLDS, 2 choices)."""
    products: Array = field(init=False)
    """Sums of their products, shape (FOLDS, 2 choices, 2 choices)."""

    def __post_init__(self) -> None:
        width = 2 * self.choices
        self.units = np.zeros(FOLDS)
        self.totals = np.zeros((FOLDS, width))
        self.products = np.zeros((FOLDS, width, width))

    def add(self, texts: IntArray, tokens: Array, calls: Array) -> None:
        """Add texts.

        Parameters
        ----------
        texts : ndarray of int, shape (m,)
            Their numbers, which say in which fold each is.
        tokens, calls : ndarray, shape (m, choices)
        """
        rows = np.concatenate([tokens, calls], axis=1)
        for fold in range(FOLDS):
            of_fold = rows[texts % FOLDS == fold]
            self.units[fold] += len(of_fold)
            self.totals[fold] += of_fold.sum(axis=0)
            self.products[fold] += of_fold.T @ of_fold

    def tokens_per_call(self) -> Array:
        """Return Σ tokens / Σ calls of each choice, shape (choices,)."""
        return _ratios(self.totals.sum(axis=0))

    def interval(self, choice: int) -> Interval:
        """Return the interval of the tokens per call of a choice."""
        direction = self._relative(choice)
        mean = float(self.tokens_per_call()[choice])
        return self._around(mean, mean * self._spread(direction))

    def loss(self, choice: int, best: int, seconds: Array) -> tuple[float, Interval]:
        """Return which part of the speed of the best is lost, and the interval of that."""
        speeds = self.tokens_per_call() / seconds
        part = float(speeds[choice] / speeds[best])
        direction = self._relative(choice) - self._relative(best)
        low, high = self._around(1 - part, part * self._spread(direction))
        return 1 - part, (low, min(high, 1.0))

    def held_out(self, seconds: Array) -> tuple[float, Interval]:
        """Return the speed of the fastest choice of all other folds in each, and its interval.

        Choosing the best of many flatters it; this is not flattered.

        Parameters
        ----------
        seconds : ndarray, shape (choices,)

        Returns
        -------
        float, tuple of float
            Tokens per second; NaN for fewer than two folds with texts.
        """
        filled = np.flatnonzero(self.units)
        if len(filled) < 2:
            return math.nan, UNKNOWN
        total, chosen = self.totals.sum(axis=0), {}
        for fold in filled.tolist():
            chosen[fold] = int(np.argmax(_ratios(total - self.totals[fold]) / seconds))
        tokens = sum(self.totals[fold, one] for fold, one in chosen.items())
        time = sum(
            seconds[one] * self.totals[fold, self.choices + one] for fold, one in chosen.items()
        )
        square = 0.0
        for fold, one in chosen.items():
            direction = np.zeros(len(total))
            direction[one], direction[self.choices + one] = 1 / tokens, -seconds[one] / time
            square += float(direction @ self.products[fold] @ direction)
        speed = float(tokens / time)
        low, high = self._around(speed, speed * self._scaled(square))
        return speed, (max(low, 0.0), high)

    def _relative(self, choice: int) -> Array:
        """Return the direction whose sum over a text is its part in the log of a ratio."""
        total = self.totals.sum(axis=0)
        direction = np.zeros(len(total))
        for place, sign in ((choice, 1), (self.choices + choice, -1)):
            direction[place] = sign / total[place]
        return direction

    def _spread(self, direction: Array) -> float:
        """Return the standard error of a sum whose total is 0."""
        return self._scaled(float(direction @ self.products.sum(axis=0) @ direction))

    def _scaled(self, square: float) -> float:
        count = float(self.units.sum())
        return math.sqrt(max(0.0, square) * count / (count - 1)) if count > 1 else math.nan

    def _around(self, mean: float, error: float) -> Interval:
        from scipy.special import stdtrit

        count = float(self.units.sum())
        if count < 2:
            return UNKNOWN
        radius = float(stdtrit(count - 1, 0.5 + CONFIDENCE / 2)) * error
        return mean - radius, mean + radius


def _ratios(totals: Array) -> Array:
    tokens, calls = np.split(totals, 2)
    ratios: Array = tokens / calls
    return ratios
