"""Language models at a temperature, cut to the likeliest tokens: exactly where that can be."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from otspec._base import as_float_above, as_integer, as_real, shown
from otspec._base.arithmetic import Array, Number, is_exact, over_one_denominator
from otspec.distributions import Distribution, as_k
from otspec.models.base import CallableModel, Model, Prefix
from otspec.warping import STEPS, Order, as_order, warped

MOST_POWER = 1_000  # highest power of exact probabilities, one over the lowest temperature


class WarpedModel(Model):
    """A language model whose answers are warped: by temperature, top-k, top-p and min-p.

    At temperature T the probabilities are proportional to the model's to the power 1/T. Of exact
    probabilities only whole powers are fractions, so that T must be 1, 1/2, 1/3, …; there top-k,
    top-p and min-p are exact, too.

    Parameters
    ----------
    model : callable
        A language model.
    temperature : float, Fraction or str
        Positive; one over a whole number if the model is exact.
    top_k : int, optional
        Keep the k likeliest tokens, and all that tie with the least of them.
    top_p, min_p : float, Fraction or str, optional
        Keep the fewest likeliest tokens whose probability (after the steps before) reaches
        ``top_p``, above 0, of tokens that tie those of lowest id; keep the tokens whose probability
        is at least ``min_p`` times the largest one's. At most 1.
    order : str or iterable of str
        A name of :data:`otspec.warping.ORDERS`, or each of :data:`otspec.warping.STEPS` once.

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
        min_p: Number | str | None = None,
        order: str | Iterable[str] = STEPS,
    ) -> None:
        self._options = checked_warp(temperature, top_k, top_p, min_p, order)
        self._model = model if isinstance(model, Model) else CallableModel(model)
        self.n, self.exact = self._model.n, self._model.exact
        if self.exact:
            self._options["temperature"] = Fraction(1, _whole_power(self._options["temperature"]))

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the warped distribution of the token after a prefix, shape (n,)."""
        row = self._model(prefix)
        if is_exact(row):
            return exactly_warped(row, **self._options)
        with np.errstate(divide="ignore", over="ignore"):  # of a probability 0: masked, as it was
            return np.asarray(warped(np, np.log(row), **as_floats(self._options)))

    def context(self, prefix: Prefix) -> Prefix:
        """Return what the model remembers of a prefix."""
        return self._model.context(prefix)

    def ended(self, prefix: Prefix) -> bool:
        """Return whether the model's text is over."""
        return self._model.ended(prefix)


def exactly_warped(
    row: Distribution,
    temperature: Number,
    top_k: int | None,
    top_p: Number | None,
    min_p: Number | None = None,
    order: Order = STEPS,
) -> Distribution:
    """Return a row of fractions to the power 1/T, cut to its likeliest tokens; the sum is 1."""
    # The steps are those of `warped`; 1/T must be a whole number.
    weights, _ = over_one_denominator(row)
    for step in order:
        if step == "temperature":
            weights = weights ** int(1 / temperature)
        elif step == "top_k" and top_k is not None and top_k < len(weights):
            weights = np.where(weights < sorted(weights)[-top_k], 0, weights)
        elif step == "top_p" and top_p is not None:
            weights = _likeliest(weights, Fraction(top_p))
        elif step == "min_p" and min_p is not None:
            weights = np.where(weights < Fraction(min_p) * max(weights), 0, weights)
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
    """Return 1/T for exact models."""
    power = 1 / Fraction(temperature)
    if power.denominator != 1:
        raise ValueError(
            f"temperature is {shown(temperature)}, but roots of fractions are none: exact models "
            "take 1, '1/2', '1/3', …; use a model in floats for others"
        )
    otherwise = "use a higher temperature, top_k=1, or a model in floats"
    return as_integer(int(power), "1 / temperature", 1, MOST_POWER, otherwise=otherwise)


def checked_warp(
    temperature: Any,
    top_k: Any,
    top_p: Any,
    min_p: Any = None,
    order: Any = STEPS,
    called: Callable[[str], str] = str,
) -> dict[str, Any]:
    """Return the options of :class:`WarpedModel` as plain numbers and steps, by name."""
    # ``called``: what error messages call an option, by its name.

    return {
        "temperature": as_temperature(temperature, called("temperature")),
        "top_k": None if top_k is None else as_k(top_k, called("top_k")),
        "top_p": _as_share(top_p, called("top_p"), "above 0 and at most 1", open_below=True),
        "min_p": _as_share(min_p, called("min_p"), "at least 0 and at most 1", open_below=False),
        "order": as_order(order, called("order")),
    }


def as_temperature(temperature: Any, name: str = "temperature") -> Number:
    """Check a temperature: a number above 0."""
    wanted = "positive and finite (for greedy decoding use top_k=1)"
    return as_real(temperature, name, 0, open_below=True, wanted=wanted)


def _as_share(share: Any, name: str, wanted: str, *, open_below: bool) -> Number | None:
    """Check a probability that is an option."""
    if share is None:
        return None
    return as_real(share, name, 0, 1, open_below=open_below, wanted=wanted)


def as_floats(options: dict[str, Any]) -> dict[str, Any]:
    """Return options of warping with floats for fractions."""
    return {
        name: as_float_above(value, name, 0) if isinstance(value, Fraction) and value else value
        for name, value in options.items()
    }
