"""The truncated alphabet: any rule among a few likely tokens (Canonical, sec. 4, app. G)."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np

from otspec._base import as_callable, as_instance, as_tokens, cached_property, plain_integer, shown
from otspec._base.arithmetic import Array, IntArray, Number, as_number, over_one_denominator, zeros
from otspec.chance import Chance
from otspec.closed_forms import iid_acceptance
from otspec.distributions import Distribution, as_k
from otspec.drafts.single import likeliest
from otspec.rules.base.counts import at_least_once, drafted_counts, over, with_one_more
from otspec.rules.base.pair_rule import PairRule, refuse_many_drafts
from otspec.rules.base.rule import CountedLaw, Rule
from otspec.rules.pooled.selection import PooledSelection

InnerRule: TypeAlias = Callable[[Distribution, Distribution, int], Rule]
"""(draft, target, k) → a rule for k i.i.d. drafts, such as a class of :mod:`otspec.rules`."""

MOST_DRAFTS = 1_000  # most drafts: there is a rule for each number of them that may be kept


@dataclass(frozen=True, eq=False)
class TruncatedAlphabet(PairRule):
    """Drop all drafts but those among some kept tokens Ω₀, and verify these with any rule.

    If m drafts are kept, the rule for m drafts verifies them, draft and target both renormalized on
    Ω₀; if none is, a token is drawn from that target. With probability q(Ω₀) the outcome is the
    output, and otherwise a token off Ω₀ is drawn in proportion to q.

    Law: the output is distributed as the target. With an optimal rule for the kept drafts, what is
    lost of the optimum is :meth:`truncation_loss`, at most 2 q(off Ω₀) + P(some draft is dropped).
    Source: Canonical, sec. 4 and app. G; :class:`ImportanceSampling` has the alphabet of sec. 4,
    where all drafts are kept, as its ``alphabet``.

    Parameters
    ----------
    draft, target, k, normalize
        As for :class:`otspec.rules.PairRule`.
    kept : int or collection of int
        Which tokens, or how many of the target's likeliest; of equal ones those of lower ids.
    rule : callable
        (draft, target, k) → a lossless rule for k i.i.d. drafts, such as a class of
        :mod:`otspec.rules`; it never sees more than the kept tokens.

    Raises
    ------
    ValueError
        Also for kept tokens that the target never draws, a ``rule`` that makes none for as many
        i.i.d. drafts, and more than 1,000 drafts.

    Examples
    --------
    >>> pair = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
    >>> rule = TruncatedAlphabet(*pair, k=2, kept=2)
    >>> rule.kept, rule.acceptance(), rule.truncation_loss()
    ((1, 2), Fraction(18, 25), Fraction(13, 100))
    """

    name: ClassVar[str] = "truncated-alphabet"
    title: ClassVar[str] = "truncated alphabet"
    compared: ClassVar[bool] = False

    kept: int | Collection[int] = field(default=40, kw_only=True)
    rule: InnerRule = field(default=PooledSelection, kw_only=True)

    accuracy: float = field(init=False, repr=False)

    def __post_init__(self, normalize: bool) -> None:
        super().__post_init__(normalize)
        refuse_many_drafts(self.k, MOST_DRAFTS, "the rule for each number of kept drafts")
        wanted = "a class of otspec.rules, or a function of draft, target and k"
        self._hold(
            kept=_kept_tokens(self.kept, self.target), rule=as_callable(self.rule, "rule", wanted)
        )
        self._hold(accuracy=max((rule.accuracy for rule in self.verifiers), default=0.0))

    @cached_property
    def share(self) -> Number:
        """The target's mass of the kept tokens, q(Ω₀)."""
        return as_number(self.target[self._kept].sum(), like=self.target)

    @cached_property
    def kept_target(self) -> Distribution:
        """The target on the kept tokens, in the order of :attr:`kept`, renormalized."""
        return self.target[self._kept] / self.share

    @cached_property
    def kept_draft(self) -> Distribution:
        """The draft on the kept tokens, renormalized; zeros where it has none of them."""
        masses = self.draft[self._kept]
        total = masses.sum()
        return masses / total if total > 0 else masses

    @cached_property
    def verifiers(self) -> tuple[Rule, ...]:
        """The rules for 1 to k kept drafts; none if no draft is ever kept."""
        if not self.kept_draft.any():
            return ()
        return tuple(self._verifier(m) for m in range(1, self.k + 1))

    @cached_property
    def kept_drafts(self) -> Array:
        """How likely so many drafts are kept, from none to all, shape (k + 1,)."""
        inside = self.draft[self._kept].sum()
        chances = zeros(self.k + 1, like=self.draft)
        chances[0] += 1
        for _ in range(self.k):
            chances = with_one_more(chances, inside, self.draft[self._dropped].sum())
        return chances

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        dropped = self.target[self._dropped]
        # Where nothing is dropped the share is 1, up to rounding.
        if dropped.any() and not chance.accept(self.share):
            return self._on_all(self._dropped, dropped / (1 - self.share))
        kept, places = self._left(drafts)
        if not places:
            return self._on_all(self._kept, self.kept_target)
        found = self.verifiers[len(places) - 1].verify(places, chance)
        return int(kept[found]) if isinstance(found, int) else self._on_all(self._kept, found)

    def _joint_kernel(self, drafts: Sequence[int]) -> Array:
        kept, places = self._left(drafts)
        joint = zeros((self.k + 1, len(self.target)), like=self.target)
        inside = self.kept_target[None]
        if places:
            inside = self.verifiers[len(places) - 1].joint_kernel(places)
        joint[np.ix_(np.append(kept, self.k), self._kept)] = self.share * inside
        joint[self.k, self._dropped] = self.target[self._dropped]
        return joint

    def _on_all(self, tokens: IntArray, row: Distribution) -> Distribution:
        """Return a distribution of some tokens as one of all tokens."""
        longer = zeros(len(self.target), like=self.target)
        longer[tokens] = row
        return longer

    def _by_token(self) -> Array:
        """Return what the rules inside accept, and q(y) (1 − (1 − p(y))^k) off Ω₀, shape (n,)."""
        accepted: Array = self.target * at_least_once(self.draft, self.k)
        accepted[self._kept] *= 0
        for rule, chance in zip(self.verifiers, self.kept_drafts[1:], strict=False):
            accepted[self._kept] += self.share * chance * rule.accepted().by_token
        return accepted

    def _counted(self) -> CountedLaw:
        """Return the accepted law by how many of the drafts are the output."""
        # Off Ω₀ that is binomial; on Ω₀ it is what the rules inside say.
        draft, unit = over_one_denominator(self.draft)
        counts = self.target * over(drafted_counts(self, draft, unit), unit**self.k)
        counts[:, self._kept] *= 0
        counts[0, self._kept] = self.share * self.kept_drafts[0] * self.kept_target
        for m, rule in enumerate(self.verifiers, 1):
            found, weight = rule.accepted().counted, self.share * self.kept_drafts[m]
            counts[1 : m + 1, self._kept] += weight * found.accepted
            counts[0, self._kept] += weight * found.rejected
        return CountedLaw(counts[1:], counts[0])

    def truncation_loss(self) -> Number:
        """Return the optimum less what an optimal rule for the kept drafts accepts."""
        best = iid_acceptance(self.draft, self.target, self.k)
        accepted = (self.target * at_least_once(self.draft, self.k))[self._dropped].sum()
        if self.verifiers:
            for m in range(1, self.k + 1):
                inside = iid_acceptance(self.kept_draft, self.kept_target, m)
                accepted += self.share * self.kept_drafts[m] * inside
        return as_number(best - accepted, like=self.target)

    @cached_property
    def _kept(self) -> IntArray:
        return np.array(self.kept, dtype=np.intp)

    @cached_property
    def _dropped(self) -> IntArray:
        return np.setdiff1d(np.arange(len(self.target)), self._kept)

    @cached_property
    def _places(self) -> IntArray:
        """Where each token is among the kept ones, −1 where it is none of them."""
        places = np.full(len(self.target), -1)
        places[self._kept] = np.arange(len(self._kept))
        return places

    def _left(self, x: Sequence[int]) -> tuple[IntArray, list[int]]:
        """Return which drafts are kept, and where their tokens are among the kept ones."""
        places = self._places[list(x)]
        # Where the draft draws no kept token there is no rule for one.
        kept = np.flatnonzero((places >= 0) & bool(self.verifiers))
        return kept, places[kept].tolist()

    def _verifier(self, m: int) -> Rule:
        made = self.rule(self.kept_draft, self.kept_target, m)
        as_instance(made, "what rule makes", Rule, "a Rule")
        if not (made.law.iid and made.k == m and len(made.target) == len(self._kept)):
            raise ValueError(
                f"rule makes {shown(made)} for {m} drafts: it must make a rule for so many i.i.d. "
                "drafts of the draft and the target that it is given"
            )
        return made


def _kept_tokens(given: Any, target: Distribution) -> tuple[int, ...]:
    """Return the kept tokens in ascending order, given them or how many."""
    n = len(target)
    if plain_integer(given) is not None:
        kept = likeliest(target, min(as_k(given, "kept"), n)).tolist()
    else:
        kept = list(set(as_tokens(given, n, "kept", unordered=True)))
    if not target[kept].any():
        raise ValueError(
            f"kept is {shown(given)}, of which the target draws no token: keep some that it draws, "
            "or say how many of its likeliest ones"
        )
    return tuple(sorted(kept))
