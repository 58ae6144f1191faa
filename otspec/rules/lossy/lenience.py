"""Lenience, everywhere alike or by entropy (Leviathan et al.)."""

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from otspec._base.arithmetic import Array, Number, as_number
from otspec._base.frozen import cached_property
from otspec.coupling import Coupling
from otspec.distributions import Distribution
from otspec.rules.lossy.base import LARGEST, AcceptOrReplace, between, entropy


@dataclass(frozen=True, eq=False)
class LenientRule(AcceptOrReplace):
    """Accept the draft x with probability min(1, q(x)/(l p(x))), else draw from (q − p)₊.

    Law: the output is min(p, q/l) + R (q − p)₊ / Σ (q − p)₊, R the mass that is rejected. It lies
    between draft and target at every token, so that no rule with its total variation accepts more.
    Parameters and errors: :class:`LossyRule`; ``k`` is 1.
    """

    @property
    @abstractmethod
    def share(self) -> Number:
        """What share of the draft is held against the target: l."""

    @cached_property
    def chances(self) -> Array:
        """min(1, q/(l p)), shape (n,)."""
        return Coupling(self.draft * self.share, self.target).chances

    @cached_property
    def replacement(self) -> Distribution:
        """(q − p)₊, normalized, shape (n,)."""
        return Coupling(self.draft, self.target).residual


@dataclass(frozen=True, eq=False)
class Lenience(LenientRule):
    """Be lenient by a fixed l: see :class:`LenientRule`.

    Law: no token is more than 1/l times too likely. ``lenience``: l, above 0 and at most 1, which
    is maximal coupling.
    Source: Leviathan, Kalman and Matias (arXiv 2211.17192), app. A.5, which changes the comparison
    of alg. 1 and not what is drawn after it; also mentored decoding with β = 1 (Xia, Ribar and
    Balança, arXiv 2607.08690). Parameters and errors: :class:`LossyRule`.

    Examples
    --------
    >>> rule = Lenience(["1/2", "1/2"], ["1/4", "3/4"], lenience="2/3")
    >>> rule.acceptance(), rule.declared_output.tolist()
    (Fraction(7, 8), [Fraction(3, 8), Fraction(5, 8)])
    """

    name: ClassVar[str] = "lenience"
    title: ClassVar[str] = "lenience"
    source: ClassVar[str] = "Leviathan et al., app. A.5"

    lenience: Number = field(
        default=Fraction(1, 2), kw_only=True, metadata=between(0, 1, open_below=True)
    )

    @property
    def share(self) -> Number:
        """The lenience."""
        return self.lenience


@dataclass(frozen=True, eq=False)
class EntropyLenience(LenientRule):
    """Be lenient by l = min(exp(−α H(q)), m): the more, the less certain the target is.

    H is Shannon's entropy in nats. ``alpha``: α, at least 0. ``most``: m, above 0 and at most 1.
    Source: vLLM Ascend's entropy verification, whose defaults these are (posterior_alpha,
    posterior_threshold). Law, parameters and errors: :class:`LenientRule`.

    Examples
    --------
    >>> rule = EntropyLenience([0.5, 0.5], [0.25, 0.75])
    >>> round(rule.share, 4), rule.declared_output.round(4).tolist()
    (0.7986, [0.3131, 0.6869])
    """

    name: ClassVar[str] = "entropy-lenience"
    title: ClassVar[str] = "lenience by entropy"
    source: ClassVar[str] = "vLLM Ascend"

    alpha: Number = field(default=Fraction(2, 5), kw_only=True, metadata=between(0, LARGEST))
    most: Number = field(
        default=Fraction(19, 20), kw_only=True, metadata=between(0, 1, open_below=True)
    )

    @cached_property
    def share(self) -> Number:
        """The lenience l."""
        typical = math.exp(-float(self.alpha) * entropy(self.target))
        return min(self.most, as_number(typical, like=self.target))
