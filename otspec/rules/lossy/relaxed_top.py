"""Relaxed acceptance: any of the target's likeliest tokens will do (TensorRT-LLM)."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from otspec._base.arguments import as_integer
from otspec._base.arithmetic import Array, Number, zeros
from otspec._base.frozen import cached_property
from otspec.distributions import LARGEST_K, Distribution
from otspec.drafts.single import likeliest
from otspec.rules.lossy.base import AcceptOrReplace, between, replaced_by


@dataclass(frozen=True, eq=False)
class RelaxedTop(AcceptOrReplace):
    """Accept one of the target's likeliest tokens if it is nearly as likely as the first of them.

    A draft x is accepted if it is one of the ``count`` likeliest tokens and q(x) ≥ max q − δ; else
    the likeliest token takes its place. Of equally likely tokens the lowest ids come first.
    Law: the output is the draft on those tokens, and all the rest on the likeliest.
    Source: TensorRT-LLM's relaxed acceptance for thinking phases, whose documentation recommends
    these defaults (``relaxed_topk``, ``relaxed_delta``). Parameters and errors: :class:`LossyRule`.

    ``count``: at least 1. ``delta``: δ, from 0 to 1.

    Examples
    --------
    >>> draft, target = ["1/2", "1/4", "1/4"], ["2/5", "1/2", "1/10"]
    >>> rule = RelaxedTop(draft, target, count=2, delta="1/5")
    >>> rule.acceptance(), rule.declared_output.tolist()
    (Fraction(3, 4), [Fraction(1, 2), Fraction(1, 2), Fraction(0, 1)])
    """

    name: ClassVar[str] = "relaxed-top"
    title: ClassVar[str] = "relaxed acceptance (top)"
    source: ClassVar[str] = "TensorRT-LLM"

    count: int = field(default=10, kw_only=True)
    delta: Number = field(default=Fraction(3, 5), kw_only=True, metadata=between(0, 1))

    def __post_init__(self, normalize: bool) -> None:
        super().__post_init__(normalize)
        count = as_integer(self.count, "count", 1, LARGEST_K, wanted="a number of tokens")
        self._hold(count=count)

    @cached_property
    def chances(self) -> Array:
        """1 for the tokens that are accepted, else 0, shape (n,)."""
        among = likeliest(self.target, min(self.count, len(self.target)))
        chances = zeros(len(self.target), like=self.target)
        chances[among] += self.target[among] >= self.target[among[0]] - self.delta
        return chances

    @cached_property
    def replacement(self) -> Distribution:
        """The likeliest token, shape (n,)."""
        return replaced_by("greedy", self.target)
