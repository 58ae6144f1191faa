"""Lossy rules: what each answers, accept or replace a draft, verify it against another law."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np

from otspec._base import (
    Registry,
    as_choice,
    as_float_above,
    as_real,
    cached_property,
    shown,
    subclass_of,
)
from otspec._base.arithmetic import Array, Number, as_number, is_exact, positive_part, zeros
from otspec.chance import Chance
from otspec.coupling import Coupling
from otspec.distributions import Distribution
from otspec.drafts.single import likeliest
from otspec.rules.base.pair_rule import PairRule


def total_variation(first: Distribution, second: Distribution) -> Number:
    """Return Σ (first − second)₊, in the arithmetic of the two."""
    return as_number(positive_part(first - second).sum(), like=first)


def entropy(law: Distribution) -> float:
    """Return −Σ law ln law."""
    masses = law.astype(float)
    masses = masses[masses > 0]
    return max(0.0, -math.fsum(masses * np.log(masses)))


def kullback_leibler(first: Distribution, second: Distribution) -> float:
    """Return Σ first ln(first/second), (n,) each; infinite where only ``second`` is 0."""
    held = first > 0
    first, second = first[held], second[held]
    if bool((second == 0).any()):
        return math.inf
    if is_exact(first):
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return max(0.0, math.fsum(float(p) * _log_ratio(p, q) for p, q in pairs if p != q))
    # Where the two are close the difference has digits that the quotient has lost.
    near = np.abs(first - second) < second / 2
    logarithms = np.log(first) - np.log(second)
    logarithms[near] = np.log1p((first[near] - second[near]) / second[near])
    return max(0.0, float((first * logarithms).sum()))


def jensen_shannon(first: Distribution, second: Distribution) -> float:
    """Return the mean divergence of the two from their mean: from 0 to ln 2."""
    middle: Array = (first + second) / 2
    return (kullback_leibler(first, middle) + kullback_leibler(second, middle)) / 2


def _log_ratio(first: Fraction, second: Fraction) -> float:
    """Return ln(first/second) of positive numbers, with all digits also where they are close."""
    if second / 2 < first < second * 2:
        return math.log1p(float((first - second) / second))
    return _log(first) - _log(second)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


@dataclass(frozen=True, eq=False)
class LossyRule(PairRule):
    """A rule whose output is not distributed as the target, and that says how it is distributed.

    :attr:`target` is what the output should be distributed as, :attr:`declared_output` what it is
    distributed as: a formula for any vocabulary, which :func:`otspec.audit` compares with the
    enumerated law. Parameters and errors: :class:`otspec.rules.PairRule`; a parameter of the rule
    is keyword only and in the arithmetic of the distributions. Where a rule computes a float, such
    as an entropy, exact distributions take it as the number that it is.
    """

    compared: ClassVar[bool] = False
    source: ClassVar[str]
    """Where the rule is described."""

    def __post_init__(self, normalize: bool) -> None:
        super().__post_init__(normalize)
        for each in fields(self):
            if each.metadata:
                given, check = getattr(self, each.name), each.metadata["check"]
                self._hold(**{each.name: check(given, each.name, self.draft)})

    @property
    @abstractmethod
    def declared_output(self) -> Distribution:
        """The law of the output, shape (n,)."""


LOSSY_RULES: Registry[type[LossyRule]] = Registry(
    "lossy rule", "otspec.lossy_rules", subclass_of(LossyRule)
)
"""The published lossy rules by name, in the order of tables; others join by an entry point."""


LARGEST = 1e300  # the bound of parameters that have no other


def between(least: float, most: float, *, open_below: bool = False) -> dict[str, Any]:
    """Return the metadata of a field that is a parameter: a number between bounds."""
    return {"check": partial(as_parameter, least=least, most=most, open_below=open_below)}


def as_parameter(
    value: Any, name: str, like: Array, least: float, most: float, *, open_below: bool = False
) -> Number:
    """Return a rule's parameter, within its bounds, in the arithmetic of its distributions."""
    if open_below and not is_exact(like):
        return as_float_above(value, name, least, most)
    number = as_real(value, name, least, most, open_below=open_below)
    if not is_exact(like):
        return float(number)
    if isinstance(number, float):
        raise ValueError(
            f"{name} is {shown(value)}, a float beside exact distributions: write it as an exact "
            "number such as '3/10'"
        )
    return number


@dataclass(frozen=True, eq=False)
class AcceptOrReplace(LossyRule):
    """Accept a draft x with a chance a(x), else draw from a law f that does not depend on x.

    Law: the output is p a + R f with R = Σ p (1 − a). A replacement that happens to be the
    draft counts as accepted, as everywhere. Parameters and errors: :class:`LossyRule`; ``k`` is 1.
    """

    only_k: ClassVar[int | None] = 1

    k: int = 1

    @property
    @abstractmethod
    def chances(self) -> Array:
        """How likely each token is accepted where it is drafted, shape (n,)."""

    @property
    @abstractmethod
    def replacement(self) -> Distribution:
        """What is drawn instead of a draft that is not accepted, shape (n,)."""

    @cached_property
    def declared_output(self) -> Distribution:
        """The law of the output, shape (n,)."""
        return self.draft * self.chances + self._rejected.sum() * self.replacement

    @property
    def _rejected(self) -> Array:
        return self.draft * (1 - self.chances)

    def _by_token(self) -> Array:
        """Return what is drafted and accepted, or drafted and drawn again, shape (n,)."""
        return self.draft * self.chances + self._rejected * self.replacement

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        return 0 if chance.accept(self.chances[drafts[0]]) else self.replacement


FROM_ZERO: dict[str, Any] = {"check": lambda value, name, _: float(as_real(value, name, 0))}
"""The metadata of a parameter that is a float, at least 0."""
REPLACEMENTS = ("greedy", "target")
"""What some rules put in the place of a draft: the target's likeliest token, or a draw from it."""
REPLACED: dict[str, Any] = {"check": lambda value, name, _: as_choice(value, name, REPLACEMENTS)}
"""The metadata of a parameter that is one of these."""


def replaced_by(choice: str, target: Distribution) -> Distribution:
    """Return the law of one of :data:`REPLACEMENTS`, shape (n,)."""
    if choice == "target":
        return target
    law = zeros(len(target), like=target)
    law[likeliest(target, 1)] += 1
    return law


def accepting(accepted: Array, like: Array) -> Array:
    """Return the chances of a rule that accepts some tokens for certain, and no others: (n,)."""
    return zeros(len(like), like=like) + accepted


@dataclass(frozen=True, eq=False)
class AgainstAnother(AcceptOrReplace):
    """Couple the draft maximally with a law of the rule's own, in the place of the target.

    Law: the output is distributed as :attr:`aim`, and Σ min(p, aim) is accepted. Parameters and
    errors: :class:`LossyRule`; ``k`` is 1.
    """

    @property
    @abstractmethod
    def aim(self) -> Distribution:
        """What the draft is verified against, shape (n,)."""

    @cached_property
    def declared_output(self) -> Distribution:
        """The law of the output, shape (n,)."""
        return self.aim

    @cached_property
    def chances(self) -> Array:
        """min(1, aim/p), shape (n,)."""
        return self._coupling.chances

    @cached_property
    def replacement(self) -> Distribution:
        """(aim − p)₊, normalized, shape (n,)."""
        return self._coupling.residual

    @cached_property
    def _coupling(self) -> Coupling:
        return Coupling(self.draft, self.aim)

    def _by_token(self) -> Array:
        """Return min(p, aim), shape (n,); a replacement is never the draft."""
        return self._coupling.accepted
