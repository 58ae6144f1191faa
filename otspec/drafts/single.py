"""Laws that are made from one draft distribution and a number of drafts."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field

from otspec.arithmetic import Array
from otspec.distributions import Distribution, as_distribution, as_k
from otspec.drafts.contract import DraftLaw


@dataclass(frozen=True, eq=False)
class SingleDraftLaw(DraftLaw):
    """A law over one draft distribution.

    Parameters
    ----------
    draft : array_like, shape (n,)
    k : int
        Number of drafts.
    normalize : bool
        Scale the draft to sum 1.

    Raises
    ------
    ValueError
        As :func:`otspec.distributions.as_distribution` and ``as_k``.
    """

    draft: Distribution
    k: int
    normalize: InitVar[bool] = field(default=False, kw_only=True)

    def __post_init__(self, normalize: bool) -> None:
        checked = as_distribution(self.draft, "draft", normalize=normalize)
        object.__setattr__(self, "draft", checked)
        object.__setattr__(self, "k", as_k(self.k))

    def _probabilities(self) -> Array:
        return self.draft
