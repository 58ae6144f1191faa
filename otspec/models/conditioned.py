"""A model whose first tokens have a law of their own, before the target follows (Theory, 20)."""

from __future__ import annotations

from otspec._base.arithmetic import Array, zeros
from otspec._base.frozen import read_only
from otspec.distributions import Distribution, normalised
from otspec.models.base import Model, Prefix, as_prefix


class GivenBeginning(Model):
    """A model with a joint law of its first D tokens, and the target's continuations.

    Parameters
    ----------
    target : Model
    law : ndarray, shape (n,) * D
        The probabilities of all beginnings. After one of probability 0 the target follows.
    """

    def __init__(self, target: Model, law: Array) -> None:
        self._target, self._law = target, read_only(law)
        self.n, self.exact = target.n, target.exact

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the token after a prefix, shape (n,)."""
        text = as_prefix(prefix, self.n)
        wanted = self._target(text)
        if len(text) >= self._law.ndim:
            return wanted
        masses = self._law[text].reshape(self.n, -1).sum(axis=1)
        return read_only(normalised(masses, wanted))

    def ended(self, prefix: Prefix) -> bool:
        """Return whether the target's text is over."""
        return self._target.ended(prefix)

    def after(self, prefix: Prefix) -> Model:
        """Return what is left of the given law, or the target."""
        text = as_prefix(prefix, self.n)
        if not text:
            return self
        target = self._target.after(text)
        if len(text) >= self._law.ndim or not self._law[text].sum() > 0:
            return target
        rest = self._law[text]
        return GivenBeginning(target, rest / rest.sum())


def law_of_beginning(model: Model, length: int) -> Array:
    """Return the law of a model's first tokens, shape (n,) * length: see :func:`filled_up`."""
    law = zeros((model.n,) * length, like=model(()))
    for text, mass in model.texts(length):
        law[filled_up(text, length)] += mass
    return law


def filled_up(text: Prefix, length: int) -> Prefix:
    """Return a text of a length; one that is over before repeats its end token."""
    return text + text[-1:] * (length - len(text))
