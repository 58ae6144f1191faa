"""The greatest of K independent texts by M_b/M_s, as a language model (Theory, 26)."""

from typing import Any

import numpy as np

from otspec._base.arithmetic import Array, IntArray, zeros
from otspec._base.frozen import cached_property, read_only
from otspec.distributions import Distribution
from otspec.models.base import Model, Prefix, as_prefix


class GreatestPath(Model):
    """The law of the greatest of K independent texts of the draft model.

    After each text the tokens that may be drafted are ranked by M_b/M_s, equal ones by their
    number, and texts are compared as words in a dictionary. Law: with A(s) the probability that a
    text is below all that begin with s, and K = ``paths``, the greatest begins with s with
    probability (A(s) + M_s(s))^K − A(s)^K. So after s the next token is x with probability

    M_s(x | s) · ((b + c)^{K−1} + (b + c)^{K−2} b + … + b^{K−1}) / (1 + a + … + a^{K−1}),

    where a = A/(A + M_s)(s), b = a + (1 − a) Σ M_s(y | s) over all y below x, and c = (1 − a)
    M_s(x | s): the difference of powers divided by what would cancel.
    """

    def __init__(self, draft: Model, target: Model, paths: int) -> None:
        self._draft, self._target, self._paths = draft, target, paths
        self.n, self.exact = draft.n, draft.exact

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the law of the next token of the greatest text."""
        text = as_prefix(prefix, self.n)
        if text not in self._known_rows:
            share, drafted = self._share(text), self._draft(text)
            below, own = self._below(text, share)
            one = self.number(1)
            sums = _powers(below + own, below, self._paths) / _powers(one, share, self._paths)
            self._known_rows[text] = read_only(drafted * sums)
        return self._known_rows[text]

    def order(self, prefix: Prefix) -> IntArray:
        """Return the tokens by rank, never drafted ones first; of equal M_b/M_s smaller ones."""
        return np.argsort(self.ratios(prefix), kind="stable")

    def ratios(self, prefix: Prefix) -> Array:
        """Return M_b/M_s of each next token, which ranks it; −1 if it is never drafted."""
        drafted, wanted = self._draft(prefix), self._target(prefix)
        possible = drafted > 0
        ratios = zeros(self.n, like=wanted) - 1
        with np.errstate(over="ignore"):
            ratios[possible] = wanted[possible] / drafted[possible]
        return ratios

    def _below(self, text: Prefix, share: Any) -> tuple[Array, Array]:
        """Return b and c of each next token."""
        drafted, order = self._draft(text), self.order(text)
        below = zeros(self.n, like=drafted)
        below[order[1:]] = np.cumsum(drafted[order[:-1]])
        return share + (1 - share) * below, (1 - share) * drafted

    def _share(self, text: Prefix) -> Any:
        """Return A/(A + M_s) of a text; 1 after one that is never drafted."""
        if text not in self._known_shares:
            head, token = text[:-1], text[-1]
            below, own = (part[token] for part in self._below(head, self._share(head)))
            self._known_shares[text] = below / (below + own) if own > 0 else own * 0 + 1
        return self._known_shares[text]

    # Of texts that grow token by token each needs the ones before it.
    @cached_property
    def _known_shares(self) -> dict[Prefix, Any]:
        return {(): self._draft.number(0)}


def _powers(one: Any, other: Any, count: int) -> Any:
    """Return Σ one^j other^(count−1−j), which is (one^count − other^count)/(one − other)."""
    total = power = one * 0 + 1
    for _ in range(count - 1):
        power = power * other
        total = total * one + power
    return total
