"""Importance sampling: select one draft by a linear program, then couple (Canonical, alg. 1)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from otspec._base import Array, Number, as_choice, as_integer, as_list, as_number, cached_property
from otspec.chance import Chance
from otspec.distributions import Distribution, DistributionLike, as_distribution, as_k, normalized
from otspec.drafts import IID, DraftLaw, Independent
from otspec.estimate import Known
from otspec.ratios import Pair
from otspec.rules.base.accepted import Estimated
from otspec.rules.base.pair_rule import PairRule, refuse_many_drafts
from otspec.rules.base.rule import CountedLaw
from otspec.rules.importance.acceptance import VerifiedSelection
from otspec.rules.importance.selection import StagedSelection
from otspec.rules.importance.stages import Stage
from otspec.solvers import SOLVERS, SolverName

MOST_STAGES = 10_000  # most drafts; each but the first takes a linear program
FREE = 32  # how many tokens a linear program covers where nothing is said


def as_free(free: object) -> int:
    """Check how many tokens linear programs cover."""
    return as_integer(free, "free", 0, wanted="how many tokens the linear program covers")


@dataclass(frozen=True, eq=False)
class ImportanceSampling(PairRule):
    """Select one of the drafts so that its law b is close to the target; then couple b and q.

    Two drafts: the selection solves Canonical's linear program, truncated to the ``free`` most
    under-drafted tokens (exact if ``free`` ≥ n). More drafts: each stage selects between the token
    selected so far, whose law is known, and the next draft.

    Law: the output is distributed as the target. With k = 2 and ``free`` ≥ n it is optimal for the
    drafts; with smaller ``free`` the loss is at most Σ (q − p₁p₂)₊ over the other tokens. Every
    stage loses, so that more drafts with few free tokens may accept less than two.
    Source: Canonical, alg. 1, remarks 3 and 4, app. G.

    Of several best selections the rule takes the lexicographically first maximum flow, in the order
    of token ids (:func:`otspec.rules.importance.shared_pairs.shared_pairs`). With ``free`` ≥ n its
    law is continuous in draft and target, so that floats give what fractions give, up to roundings.
    With fewer free tokens the law jumps where two tokens outside them, or one outside and one
    inside, have equal q − p₁p₂: with ``free=0``, draft (½, ½) and target (½ − ε, ½ + ε) the law is
    (¼, ¾) for every ε > 0, but (¾, ¼) for ε = 0. With an ``alphabet`` it jumps where two target
    probabilities are equal. Roundings may decide such a tie, and a ``solver`` may take any best
    selection.

    Parameters
    ----------
    draft, target, k, normalize
        As for :class:`otspec.rules.PairRule`.
    others : sequence of array_like
        The distributions of drafts 2 to k, where they differ from the first.
    free : int
        How many tokens the linear program of each stage covers (the paper's s).
    alphabet : int, optional
        Verify against the target restricted to so many of its likeliest tokens; the output is kept
        with probability q(those), and otherwise drawn from the rest of the target.
    solver : {"highs", "cvxpy", "rational"}, optional
        Of the linear programs; by default they are solved as flows, which is much faster.

    Raises
    ------
    ValueError
        Also for ``others`` that are not k − 1 distributions, ``free`` below 0, ``alphabet`` below
        1, an unknown solver, and more than 10,000 drafts.

    Examples
    --------
    >>> round(ImportanceSampling([0.5, 0.3, 0.2], [0.1, 0.6, 0.3], k=2).acceptance(), 9)
    0.85
    """

    name: ClassVar[str] = "importance-sampling"
    title: ClassVar[str] = "importance sampling"
    formula: ClassVar[bool] = False
    options: ClassVar[tuple[str, ...]] = ("free",)
    couples_one: ClassVar[bool] = True

    others: Sequence[DistributionLike] = field(default=(), kw_only=True)
    free: int = field(default=FREE, kw_only=True)
    alphabet: int | None = field(default=None, kw_only=True)
    solver: SolverName | None = field(default=None, kw_only=True)

    def __post_init__(self, normalize: bool) -> None:
        super().__post_init__(normalize)
        refuse_many_drafts(self.k, MOST_STAGES, "the selection")
        self._hold(
            others=self._checked_others(normalize),
            free=as_free(self.free),
            alphabet=None if self.alphabet is None else as_k(self.alphabet, "alphabet"),
        )
        if self.solver is not None:
            as_choice(self.solver, "solver", SOLVERS)

    def _checked_others(self, normalize: bool) -> tuple[Distribution, ...]:
        others = as_list(self.others, "others", "a sequence of distributions")
        if not others:
            return ()
        if len(others) != self.k - 1:
            raise ValueError(
                f"others has {len(others)} distributions, but drafts 2 to {self.k} need "
                f"{self.k - 1}"
            )
        given = [
            as_distribution(other, f"others[{i}]", normalize=normalize)
            for i, other in enumerate(others)
        ]
        checked = Independent([self.draft, *given])
        checked.as_target(self.target)
        return tuple(checked.drafts[1:])

    @property
    def law(self) -> DraftLaw:
        """I.i.d. drafts, or independent ones if ``others`` are given."""
        return Independent([self.draft, *self.others]) if self.others else IID(self.draft, self.k)

    @cached_property
    def kept_tokens(self) -> Array:
        """Which tokens the alphabet keeps, shape (n,) bool: the likeliest ones of the target."""
        kept = np.ones(len(self.target), dtype=bool)
        if self.alphabet is not None:
            kept[np.argsort(-self.target, kind="stable")[self.alphabet :]] = False
        return kept

    @cached_property
    def verified_target(self) -> Distribution:
        """The target on the kept alphabet, renormalized, shape (n,)."""
        return normalized(np.where(self.kept_tokens, self.target, 0 * self.target), self.target)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The selections, one per draft after the first."""
        return self.verified.selection.stages

    @property
    def law_of_selection(self) -> Distribution:
        """b, the law of the selected draft, shape (n,)."""
        return self.verified.selection.law

    @cached_property
    def verified(self) -> VerifiedSelection:
        """How one of the drafts is selected and becomes the output."""
        laws = [self.draft, *(self.others or [self.draft] * (self.k - 1))]
        repair = np.where(self.kept_tokens, 0 * self.target, self.target)
        return VerifiedSelection(
            StagedSelection(tuple(laws), self.verified_target, self.free, self.solver),
            self.verified_target,
            as_number(1 - repair.sum(), like=self.target),
            normalized(repair, self.target),
        )

    def acceptance(self) -> Number:
        """Return the probability that the output is one of the drafts.

        Σ min(b, q) for the selected draft, plus residual draws that happen to be another draft: in
        O(n log n + s²) for k ≤ 2, and in O(n² k) for more.

        Raises
        ------
        NotExactError
            More than two drafts of too many tokens.
        """
        return self.verified.acceptance()

    @classmethod
    def acceptances_of(cls, pair: Pair, ks: Sequence[int], *, free: int = FREE) -> list[Known]:
        """Return the acceptance for each of several k, or an estimate: all from the same stages."""
        if not ks:
            return []
        most = max(as_k(k) for k in ks)
        return cls(pair.draft, pair.target, most, free=free).verified.acceptances(ks)

    def _by_token(self) -> Array:
        """Return the probability that the output is y and a draft, (n,); as :meth:`acceptance`."""
        return self.verified.by_token()

    def _by_position(self) -> Array:
        """Return the same by the first draft that is the output, (k, n), in k + 1 times as long."""
        return self.verified.by_position()

    def _counted(self) -> CountedLaw:
        """Return the same by how many of the drafts are the output, in k + 1 times as long."""
        return self.verified.counted()

    def estimate(self, size: int = 2_000, seed: int = 0) -> Estimated:
        """Estimate what :meth:`accepted` says, with residual hits simulated and the rest exact."""
        return self.verified.estimate(size, seed)

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        verified, position = self.verified, 0
        for other, stage in enumerate(self.stages, start=1):
            pair = np.array([drafts[position]]), np.array([drafts[other]])
            if not chance.accept(stage.keeps(*pair)[0]):
                position = other
        if not chance.accept(verified.kept):
            return verified.repair
        return verified.coupling.verify(drafts, position, chance)

    def _joint_kernel(self, drafts: Sequence[int]) -> Array:
        verified = self.verified
        weights = verified.selection.weights(np.array([drafts]))[0]
        joint = verified.coupling.joint_kernel(drafts, verified.kept * weights)
        joint[self.k] += (1 - verified.kept) * verified.repair
        return joint
