"""Language models at a temperature, cut to the likeliest tokens: exactly where that can be."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from otspec.arguments import as_integer, as_real
from otspec.arithmetic import Array, Number, as_scalar, is_exact, over_one_denominator
from otspec.distributions import Distribution, as_k
from otspec.models.callables import CallableModel
from otspec.models.contract import Model, Prefix
from otspec.raw import shown
from otspec.warping import warped

MOST_POWER = 1_000
"""Highest power of exact probabilities, one over the lowest temperature."""


class WarpedModel(Model):
    """A language model whose answers are warped: temperature, then top-k, then top-p.

    At temperature T the probabilities are proportional to the model's to the power 1/T. Of exact
    probabilities only whole powers are fractions, so that T must be 1, 1/2, 1/3, …; there top-k
    and top-p are exact, too.

    Parameters
    ----------
    model : callable
        A language model.
    temperature : float, Fraction or str
        Positive; one over a whole number if the model is exact.
    top_k : int, optional
        Keep the k likeliest tokens, and all that tie with the least of them.
    top_p : float, Fraction or str, optional
        Keep the fewest likeliest tokens whose probability (after the steps before) reaches
        ``top_p``, above 0 and at most 1; of tokens that tie, those of lowest id.

    Raises
    ------
    ValueError
        No language model, an option out of range, or a temperature that makes an exact model
        inexact.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> cold = WarpedModel(memoryless(["1/2", "1/4", "1/4"]), temperature="1/2")
    >>> [str(chance) for chance in cold(())]
    ['2/3', '1/6', '1/6']
    >>> [str(chance) for chance in WarpedModel(cold, top_p="3/4")(())]
    ['4/5', '1/5', '0']
    """

    def __init__(
        self,
        model: Any,
        *,
        temperature: Number | str = 1,
        top_k: int | None = None,
        top_p: Number | str | None = None,
    ) -> None:
        check_warping(temperature, top_k, top_p)
        self._model = model if isinstance(model, Model) else CallableModel(model)
        self.n, self.exact = self._model.n, self._model.exact
        self._temperature = as_scalar(temperature, "temperature")
        self._top_k = None if top_k is None else as_k(top_k, "top_k")
        self._top_p = None if top_p is None else as_scalar(top_p, "top_p")
        if self.exact:
            self._temperature = Fraction(1, _whole_power(self._temperature))

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the warped distribution of the token after a prefix, shape (n,)."""
        row = self._model(prefix)
        if is_exact(row):
            return exactly_warped(row, int(1 / self._temperature), self._top_k, self._top_p)
        with np.errstate(divide="ignore", over="ignore"):  # of a probability 0: masked, as it was
            share = None if self._top_p is None else float(self._top_p)
            return np.asarray(warped(np, np.log(row), float(self._temperature), self._top_k, share))

    def context(self, prefix: Prefix) -> Prefix:
        """Return what the model remembers of a prefix."""
        return self._model.context(prefix)

    def ended(self, prefix: Prefix) -> bool:
        """Return whether the model's text is over."""
        return self._model.ended(prefix)


def exactly_warped(
    row: Distribution, power: int, top_k: int | None, top_p: Number | None
) -> Distribution:
    """Return a row of fractions to a power, cut to its likeliest tokens, and scaled to sum 1.

    The steps are those of :func:`otspec.warping.warped`.
    """
    whole, _ = over_one_denominator(row)
    weights = whole**power
    if top_k is not None and top_k < len(weights):
        weights = np.where(weights < sorted(weights)[-top_k], 0, weights)
    if top_p is not None:
        weights = _likeliest(weights, Fraction(top_p))
    total = int(weights.sum())
    warped_row = np.empty(len(weights), dtype=object)
    warped_row[:] = [Fraction(int(weight), total) for weight in weights]
    return warped_row


def _likeliest(weights: Array, top_p: Fraction) -> Array:
    """Return the weights with all but the fewest likeliest that reach a share at zero."""
    kept, reached = weights * 0, 0
    wanted = top_p * int(weights.sum())
    for token in sorted(range(len(weights)), key=lambda token: (-weights[token], token)):
        if reached >= wanted:
            break
        kept[token] = weights[token]
        reached += weights[token]
    return kept


def _whole_power(temperature: Number) -> int:
    """Return 1/T for exact models.

    Raises
    ------
    ValueError
        That is no whole number, or above 1,000.
    """
    power = 1 / Fraction(temperature)
    if power.denominator != 1:
        raise ValueError(
            f"temperature is {shown(temperature)}, but roots of fractions are none: exact models "
            "take 1, '1/2', '1/3', …; use a model in floats for others"
        )
    otherwise = "use a higher temperature, top_k=1, or a model in floats"
    return as_integer(int(power), "1 / temperature", 1, MOST_POWER, otherwise=otherwise)


def check_warping(temperature: Any, top_k: int | None, top_p: Any) -> None:
    """Refuse options that no distribution follows from.

    Raises
    ------
    ValueError
        Naming the option, its value and its range.
    """
    as_temperature(temperature)
    if top_k is not None:
        as_k(top_k, "top_k")
    if top_p is not None:
        as_real(top_p, "top_p", 0, 1, open_below=True, wanted="above 0 and at most 1")


def as_temperature(temperature: Any, name: str = "temperature") -> Number:
    """Check a temperature: a number above 0."""
    wanted = "positive and finite (for greedy decoding use top_k=1)"
    return as_real(temperature, name, 0, open_below=True, wanted=wanted)
