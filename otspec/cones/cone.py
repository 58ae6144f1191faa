"""The cones of conditions dual to transport (Cones, 1-4): every condition that can matter, at once.

By Farkas' lemma a system A x = b, x ≥ 0 has a solution if and only if z · b ≥ 0 for every z with
Aᵀ z ≥ 0, and it is enough to ask the generators of that cone, which hold for all draft laws and
targets. Source: Canonical, app. C, for acceptance 1; here also for the optimum of app. D.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import get_args

from otspec._base import Number, as_choice, as_real, shown
from otspec.cones.condition import Classifier, Condition, Drafts, cone_generators
from otspec.cones.coordinates import Coordinates, Rows, coordinates
from otspec.distributions import DistributionLike
from otspec.drafts import DraftLaw


@dataclass(frozen=True)
class Cone:
    """All conditions on draft laws and targets for an acceptance, given by its generators.

    Parameters
    ----------
    coordinates : Coordinates
        n, k, the draft rows, and whether the acceptance is a coordinate or 1.
    lineality : tuple of Condition
        A basis of the equalities.
    rays : tuple of Condition
        The extreme rays modulo the equalities: each condition that follows from no others.
    """

    coordinates: Coordinates
    lineality: tuple[Condition, ...]
    rays: tuple[Condition, ...]

    @property
    def n(self) -> int:
        """Vocabulary size."""
        return self.coordinates.n

    @property
    def k(self) -> int:
        """Number of drafts."""
        return self.coordinates.k

    @property
    def trivial(self) -> tuple[Condition, ...]:
        """The rays that say that a probability is not negative."""
        return tuple(ray for ray in self.rays if ray.kind == "trivial")

    @property
    def cuts(self) -> tuple[Condition, ...]:
        """The rays that are the condition of a token set, from small to large sets."""
        return tuple(ray for ray in self.rays if ray.kind == "cut")

    @property
    def others(self) -> tuple[Condition, ...]:
        """The rays that are neither. If there are none, the cut formula is proved."""
        return tuple(ray for ray in self.rays if ray.kind == "other")

    @property
    def missing(self) -> tuple[tuple[int, ...], ...]:
        """The token sets whose conditions follow from others, so that they are superfluous."""
        return self._classifier.missing(self.rays)

    @property
    def proves_cut_formula(self) -> bool:
        """Whether the conditions are the cuts: no other one is needed, and none can be spared."""
        return not self.others and not self.missing and self._classifier.equalities_are_cuts()

    def conditions(self, drafts: Drafts = "iid") -> tuple[str, ...]:
        """Return the conditions that are not trivial, in print, as :meth:`Condition.written`.

        Equalities other than Σ q = Σ P, which all distributions satisfy; cuts; others.
        """
        as_choice(drafts, "drafts", get_args(Drafts))
        equal = self.lineality if len(self.lineality) > 1 else ()
        return tuple(condition.written(drafts) for condition in (*equal, *self.cuts, *self.others))

    def violated(
        self, law: DraftLaw, target: DistributionLike, acceptance: Number = Fraction(1)
    ) -> tuple[Condition, ...]:
        """Return the conditions that a law and a target violate; none: it can be attained.

        The law is exact, with the cone's n and k. Only a cone of the optimum answers for another
        acceptance than 1. Anything else is a ValueError.
        """
        wanted = as_real(acceptance, "acceptance")
        if wanted != 1 and not self.coordinates.acceptance:
            raise ValueError(
                f"acceptance is {shown(acceptance)}, but this cone is that of acceptance 1: use "
                "optimum_cone(n, k)"
            )
        values = self.coordinates.values(law, target, Fraction(wanted))
        return tuple(it for it in (*self.lineality, *self.rays) if not it.holds(values))

    def optimum(self, law: DraftLaw, target: DistributionLike) -> Fraction:
        """Return the largest acceptance that the conditions allow, for a cone of the optimum."""
        if not self.coordinates.acceptance:
            raise ValueError("this cone is that of acceptance 1 only: use optimum_cone(n, k)")
        values = self.coordinates.values(law, target, Fraction(0))
        bounding = [ray for ray in self.rays if ray.coefficients[-1] < 0]
        return min(ray.slack(values) / -ray.coefficients[-1] for ray in bounding)

    @cached_property
    def _classifier(self) -> Classifier:
        return Classifier(self.coordinates, (it.coefficients for it in self.lineality))


def certainty_cone(n: int, k: int, *, rows: Rows = "sets") -> Cone:
    """Return the conditions under which some rule accepts with certainty.

    The system is x(S, y) ≥ 0 for each draft row S and token y of it, Σ_y x(S, y) = P(S),
    Σ_S x(S, y) = q(y). Its cone is {z : z(S) + z(y) ≥ 0 for y in S}. ``others`` is empty if
    acceptance 1 is possible exactly when q(A) ≥ P(all drafts in A) for every token set A.

    Parameters
    ----------
    n, k : int
        Vocabulary size, and number of drafts.
    rows : {"sets", "tuples"}
        One draft row per set of distinct tokens, which is enough for every draft law, or one per
        ordered tuple.

    Raises
    ------
    ValueError
        n or k no positive integers, unknown rows, or a cone too large to compute; pycddlib is
        not installed.
    """
    space = coordinates(n, k, rows, acceptance=False)
    return _cone(space, [_added(space, pair) for pair in space.pairs()])


def optimum_cone(n: int, k: int, *, rows: Rows = "sets") -> Cone:
    """Return the conditions under which some rule has a given acceptance α.

    The system is x(S, y) ≥ 0, Σ_y x(S, y) ≤ P(S), Σ_S x(S, y) ≤ q(y), Σ x ≥ α, the extra row of
    Canonical, app. D. The multipliers t ≥ 0 of the last and z ≥ 0 of the other rows must satisfy
    z(S) + z(y) ≥ t for y in S, and the condition is z · (P, q) ≥ t α. ``others`` is empty if the
    optimum is the least q(A) + 1 − P(all drafts in A). Otherwise as :func:`certainty_cone`.
    """
    space = coordinates(n, k, rows, acceptance=True)
    accepted = space.size - 1
    at_least_zero = [space.unit(index) for index in range(accepted)]
    multiplier = tuple(-value for value in space.unit(accepted))
    covers = [_added(space, (*pair, accepted)) for pair in space.pairs()]
    return _cone(space, [*at_least_zero, multiplier, *covers])


def _cone(space: Coordinates, inequalities: list[tuple[int, ...]]) -> Cone:
    lineality, rays = cone_generators(inequalities)
    classifier = Classifier(space, lineality)
    return Cone(space, classifier.equalities(), classifier.conditions(rays))


def _added(space: Coordinates, chosen: tuple[int, ...]) -> tuple[int, ...]:
    """Return the vector with ones at the chosen coordinates."""
    return tuple(int(index in chosen) for index in range(space.size))
