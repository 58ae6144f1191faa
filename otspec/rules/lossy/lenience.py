"""Lenience, alike everywhere or by entropy (Leviathan et al.), or up to a floor (Tran-Thien)."""

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from otspec._base import as_real, cached_property
from otspec._base.arithmetic import Array, Number, as_number, is_exact, positive_part, prefix_sums
from otspec.coupling import Coupling
from otspec.distributions import Distribution, DistributionLike, as_pair, normalized
from otspec.ratios import order, target_to_draft
from otspec.rules.lossy.base import LARGEST, AcceptOrReplace, between, entropy, kullback_leibler


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
    """Accept the draft x with probability min(1, q(x)/(l p(x))), else draw from (q − p)₊.

    Law: as of :class:`LenientRule`; no token is more than 1/l times too likely. ``lenience`` 1 is
    maximal coupling.
    Source: Leviathan, Kalman and Matias (arXiv 2211.17192), app. A.5, which changes the comparison
    of alg. 1 and not what is drawn after it; also mentored decoding with β = 1 (Xia, Ribar and
    Balança, arXiv 2607.08690). Parameters and errors: :class:`LossyRule`.

    Parameters
    ----------
    lenience : number
        l, above 0 and at most 1.

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

    Law: as of :class:`LenientRule`. H is Shannon's entropy in nats; l is a float, which exact
    distributions take as the number that it is.
    Source: vLLM Ascend's entropy verification, whose defaults these are (posterior_alpha,
    posterior_threshold). Parameters and errors: :class:`LossyRule`.

    Parameters
    ----------
    alpha : number
        α, at least 0.
    most : number
        m, above 0 and at most 1.

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


_HALVINGS = 40  # how often the search for a parameter halves what is left


@dataclass(frozen=True, eq=False)
class MentoredDecoding(AcceptOrReplace):
    """Accept the draft x with probability min(1, q(x)/(α p(x))), else draw from (q/β − p)₊.

    Law: the output is the draft where that is from q/β to q/α, and the nearer of the two elsewhere;
    β ≥ 1 is such that it sums to 1. Of all laws with its KL(target ‖ output) none has more in
    common with the draft, as the source proves. It lies between draft and target at every token,
    so that it is on the frontier of total variation, too.
    Source: Tran-Thien, "An optimal lossy variant of speculative decoding" (2023), with the code of
    its supplement. Parameters and errors: :class:`LossyRule`.

    Parameters
    ----------
    alpha : number
        α, above 0 and at most 1, which is maximal coupling. :meth:`within` finds it for a budget.

    Examples
    --------
    >>> rule = MentoredDecoding(["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"], alpha="2/3")
    >>> rule.acceptance(), rule.declared_output.tolist()
    (Fraction(7, 8), [Fraction(3, 8), Fraction(1, 4), Fraction(3, 8)])
    """

    name: ClassVar[str] = "mentored-decoding"
    title: ClassVar[str] = "mentored decoding"
    source: ClassVar[str] = "Tran-Thien (2023)"

    alpha: Number = field(
        default=Fraction(1, 2), kw_only=True, metadata=between(0, 1, open_below=True)
    )

    @classmethod
    def within(cls, draft: DistributionLike, target: DistributionLike, budget: Any) -> Self:
        """Return the rule that accepts most with KL(target ‖ output) within a budget.

        Parameters
        ----------
        draft, target : array_like, shape (n,)
        budget : float
            In nats, at least 0.

        Returns
        -------
        MentoredDecoding
            Its α is found by bisection, to one part in 2^40.

        Raises
        ------
        ValueError
            Unusable distributions, or a budget that is no number from 0.
        """
        draft, target = as_pair(draft, target)
        most = float(as_real(budget, "budget", 0))

        low, found = Fraction(0), cls(draft, target, alpha=Fraction(1))
        for halvings in range(1, _HALVINGS + 1):
            middle = low + Fraction(1, 2**halvings)
            closer = cls(draft, target, alpha=middle)
            if kullback_leibler(target, closer.declared_output) <= most:
                found = closer
            else:
                low = middle
        return found

    @cached_property
    def chances(self) -> Array:
        """min(1, q/(α p)), shape (n,)."""
        return Coupling(self.draft * self.alpha, self.target).chances

    @cached_property
    def floor(self) -> Number:
        """1/β, at most 1: the least that the output has of each token, as a multiple of q."""
        # What is rejected has to be all of (q/β − p)₊, a sum that is piecewise linear in 1/β with
        # breaks at the ratios p/q.
        rejected = (self.draft * (1 - self.chances)).sum()
        held = int(np.count_nonzero(self.target))
        tokens = order(self.target, self.draft)[:held]
        ratios = target_to_draft(self.target, self.draft)[tokens]
        drafted = prefix_sums(self.draft[tokens])
        wanted = prefix_sums(self.target[tokens])
        with np.errstate(over="ignore"):  # the largest ratios are beyond all that matters
            replaced = ratios * wanted[:-1] - drafted[:-1]  # at each break
        last = max(int(np.searchsorted(replaced, rejected, side="right")), 1)
        return (rejected + drafted[last]) / wanted[last]

    @cached_property
    def replacement(self) -> Distribution:
        """(q/β − p)₊, normalized, shape (n,)."""
        return normalized(positive_part(self.target * self.floor - self.draft), self.target)

    @cached_property
    def declared_output(self) -> Distribution:
        """The draft between q/β and q/α, shape (n,)."""
        kept = self.draft * self.chances
        output: Distribution = np.maximum(kept, self.target * self.floor)
        return output if is_exact(output) else output / output.sum()
