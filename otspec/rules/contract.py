"""What every verification rule answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar

from otspec.arithmetic import Number
from otspec.distributions import Distribution, as_k, as_pair
from otspec.drafts import DraftLaw, named_law


@dataclass(frozen=True, eq=False)
class Rule(ABC):
    """A lossless rule: it turns k drafts into one token distributed as the target.

    Parameters
    ----------
    draft : array_like, shape (n,)
        What the drafts are drawn from.
    target : array_like, shape (n,)
        What the output is distributed as; the same arithmetic as ``draft``.
    k : int
        Number of drafts.
    normalize : bool
        Scale both distributions to sum 1.

    Raises
    ------
    ValueError
        Unusable distributions, or a k that the rule does not take.
    """

    title: ClassVar[str]
    """What tables and charts call the rule."""
    drafts: ClassVar[str] = "iid"
    """The law of the drafts that the rule verifies, by name."""
    only_k: ClassVar[int | None] = None
    """The only number of drafts that the rule takes, if there is just one."""

    draft: Distribution
    target: Distribution
    k: int
    normalize: InitVar[bool] = field(default=False, kw_only=True)

    def __post_init__(self, normalize: bool) -> None:
        draft, target = as_pair(self.draft, self.target, normalize=normalize)
        object.__setattr__(self, "draft", draft)
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "k", as_k(self.k))
        if self.only_k not in (None, self.k):
            raise ValueError(
                f"k is {self.k}, but {type(self).__name__} verifies exactly {self.only_k} "
                f"draft{'s' if self.only_k != 1 else ''}: use k={self.only_k} or another rule"
            )

    @property
    def law(self) -> DraftLaw:
        """The law of the drafts that the rule verifies."""
        return named_law(self.drafts, self.draft, self.k)

    @abstractmethod
    def acceptance(self) -> Number:
        """Return the probability that the output is one of the drafts.

        This counts every output that equals a draft, also when a residual draw happens to.

        Returns
        -------
        float or Fraction
        """


def at_least_once(probability: Any, k: int) -> Any:
    """Return 1 − (1 − probability)^k as probability · Σ_{i<k} (1 − probability)^i.

    Of a number or an array. All terms are positive, so that a tiny probability keeps its digits.
    """
    return probability * geometric(1 - probability, k)


def geometric(ratio: Any, k: int) -> Any:
    """Return 1 + ratio + … + ratio^(k−1), of a number or an array."""
    total = ratio * 0 + 1
    for _ in range(k - 1):
        total = total * ratio + 1
    return total
