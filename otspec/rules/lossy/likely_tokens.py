"""Drafts that the target finds likely enough (Medusa, Big Little Decoder, TensorRT-LLM, SGLang)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from otspec._base import Array, Number, as_integer, as_number, cached_property, zeros
from otspec.chance import Chance
from otspec.distributions import LARGEST_K, Distribution, normalized
from otspec.drafts import SingleDraftLaw, TopK
from otspec.drafts.single import likeliest
from otspec.rules.lossy import base
from otspec.rules.lossy.base import AcceptOrReplace, LossyRule


@dataclass(frozen=True, eq=False)
class ThresholdedTargetOnly(LossyRule):
    """Accept the first draft whose target mass, or that of all drafts so far, reaches a threshold.

    One uniform number u serves the drafts in turn: draft i is accepted if q(x_i) ≥ ``single``, or
    if q(x_1) + … + q(x_i) is at least u times ``accumulated``; after the last the output is drawn
    from the target off the drafts. With both thresholds 1, the engine's defaults, that is
    target-only verification, and lossless. Both are from 0 to 1, ``accumulated`` above 0.
    Law: the drafts are the draft's k likeliest tokens, so that the output is distributed as the
    kernel is at these. Source: SGLang's speculative_accept_threshold_single and
    speculative_accept_threshold_acc, as its kernel has them for the children of a node. Parameters
    and errors: :class:`LossyRule`; also fewer than k tokens of positive probability.

    Examples
    --------
    >>> draft, target = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
    >>> rule = ThresholdedTargetOnly(draft, target, 2, single=1, accumulated="4/5")
    >>> rule.acceptance(), [str(mass) for mass in rule.declared_output]
    (Fraction(7, 8), ['1/8', '3/4', '1/8'])
    """

    name: ClassVar[str] = "thresholded-target-only"
    title: ClassVar[str] = "target-only with thresholds"
    source: ClassVar[str] = "SGLang"
    law_class: ClassVar[type[SingleDraftLaw]] = TopK

    single: Number = field(default=Fraction(1, 2), kw_only=True, metadata=base.between(0, 1))
    accumulated: Number = field(
        default=Fraction(1, 2), kw_only=True, metadata=base.between(0, 1, open_below=True)
    )

    @cached_property
    def declared_output(self) -> Distribution:
        """The law of the output, shape (n,)."""
        return self.kernel(likeliest(self.draft, self.k).tolist())

    def _by_token(self) -> Array:
        """Return what is accepted of each draft, shape (n,); none is drawn after the last."""
        joint = self.joint_kernel(likeliest(self.draft, self.k).tolist())
        return joint[:-1].sum(axis=0)

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        one = as_number(1, like=self.target)
        mass = passed = one - one  # of the drafts so far; the numbers u that accept none of them
        for position, token in enumerate(drafts):
            mass = mass + self.target[token]
            sure = self.target[token] >= self.single or mass >= self.accumulated
            least = one if sure else max(passed, mass / self.accumulated)
            if chance.accept(least - passed, one - passed):
                return position
            passed = least
        others = self.target.copy()
        others[list(drafts)] *= 0
        return normalized(others, self.target)


@dataclass(frozen=True, eq=False)
class TypicalAcceptance(AcceptOrReplace):
    """Accept the draft x if q(x) > min(ε, δ exp(−H(q))), else take the target's likeliest token.

    Law: the output is the draft on the tokens that are accepted, and all the rest on the one token
    (or spread as the target is). H is Shannon's entropy in nats, of which the threshold is a float;
    exact distributions are compared with that float as the number that it is.
    Source: Medusa (arXiv 2401.10774), typical acceptance, whose defaults these are; vLLM's
    TypicalAcceptanceSampler. Both add 1e-5 within the logarithm, which is left out here.
    Parameters and errors: :class:`LossyRule`.

    Parameters
    ----------
    epsilon, delta : number
        From 0 to 1; vLLM's posterior_threshold and posterior_alpha.
    otherwise : str
        What is put in the place of a draft: ``"greedy"``, or ``"target"`` for a draw from it.

    Examples
    --------
    >>> rule = TypicalAcceptance(["1/2", "1/2"], ["1/4", "3/4"], epsilon="1/3", delta=1)
    >>> rule.acceptance(), rule.declared_output.tolist()
    (Fraction(1, 2), [Fraction(0, 1), Fraction(1, 1)])
    """

    name: ClassVar[str] = "typical-acceptance"
    title: ClassVar[str] = "typical acceptance"
    source: ClassVar[str] = "Medusa, sec. 3.3"

    epsilon: Number = field(default=Fraction(9, 100), kw_only=True, metadata=base.between(0, 1))
    delta: Number = field(default=Fraction(3, 10), kw_only=True, metadata=base.between(0, 1))
    otherwise: str = field(default="greedy", kw_only=True, metadata=base.REPLACED)

    @cached_property
    def threshold(self) -> Number:
        """What the target's probability of a draft has to exceed."""
        typical = self.delta * as_number(math.exp(-base.entropy(self.target)), like=self.target)
        return min(self.epsilon, typical)

    @cached_property
    def chances(self) -> Array:
        """1 for the tokens above the threshold, else 0, shape (n,)."""
        return base.accepting(self.target > self.threshold, self.target)

    @cached_property
    def replacement(self) -> Distribution:
        """What ``otherwise`` says, shape (n,)."""
        return base.replaced_by(self.otherwise, self.target)


@dataclass(frozen=True, eq=False)
class RollbackPolicy(AcceptOrReplace):
    """Accept the draft x if −ln q(x) is at most a threshold, else draw from the target.

    Law: the output is p on the tokens that are accepted, plus q times the mass of the others.
    Source: Big Little Decoder (arXiv 2302.07863), whose rollback compares the cross entropy of the
    drafted token under the target with a threshold; its fallback says when drafting ends, which is
    no matter of one token. Parameters and errors: :class:`LossyRule`.

    Parameters
    ----------
    rollback : float
        The threshold in nats, at least 0. What it asks of q, exp(−rollback), is a float, and exact
        distributions are compared with it as the number that it is.
    otherwise : str
        ``"target"``, or ``"greedy"`` for the target's likeliest token.

    Examples
    --------
    >>> rule = RollbackPolicy(["1/2", "1/2"], ["1/4", "3/4"], rollback=1)
    >>> rule.acceptance(), rule.declared_output.tolist()
    (Fraction(5, 8), [Fraction(1, 8), Fraction(7, 8)])
    """

    name: ClassVar[str] = "rollback"
    title: ClassVar[str] = "rollback"
    source: ClassVar[str] = "Big Little Decoder"

    rollback: float = field(default=2.0, kw_only=True, metadata=base.FROM_ZERO)
    otherwise: str = field(default="target", kw_only=True, metadata=base.REPLACED)

    @cached_property
    def threshold(self) -> Number:
        """The least probability that the target has of an accepted draft."""
        return as_number(math.exp(-self.rollback), like=self.target)

    @cached_property
    def chances(self) -> Array:
        """1 for the tokens that are accepted, else 0, shape (n,)."""
        return base.accepting((self.target >= self.threshold) & (self.target > 0), self.target)

    @cached_property
    def replacement(self) -> Distribution:
        """What ``otherwise`` says, shape (n,)."""
        return base.replaced_by(self.otherwise, self.target)


def _as_count(value: Any, name: str, _: Array) -> int:
    return as_integer(value, name, 1, LARGEST_K, wanted="a number of tokens")


@dataclass(frozen=True, eq=False)
class RelaxedTop(AcceptOrReplace):
    """Accept one of the target's likeliest tokens if it is nearly as likely as the first of them.

    A draft x is accepted if it is one of the ``count`` likeliest tokens and q(x) ≥ max q − δ; else
    the likeliest token takes its place. Of equally likely tokens the lowest ids come first.
    Law: the output is the draft on those tokens, and all the rest on the likeliest.
    Source: TensorRT-LLM's relaxed acceptance for thinking phases, whose documentation recommends
    these defaults (``relaxed_topk``, ``relaxed_delta``). Parameters and errors: :class:`LossyRule`.

    Parameters
    ----------
    count : int
        How many tokens, at least 1.
    delta : number
        δ, from 0 to 1.

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

    count: int = field(default=10, kw_only=True, metadata={"check": _as_count})
    delta: Number = field(default=Fraction(3, 5), kw_only=True, metadata=base.between(0, 1))

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
        return base.replaced_by("greedy", self.target)
