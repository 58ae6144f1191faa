"""What is accepted of a draft that was selected in stages (Canonical, alg. 1)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from otspec._base import Frozen, as_seed, as_size, cached_property
from otspec._base.arithmetic import Array, IntArray, Number, as_number, is_exact, positive_part
from otspec.coupling import Coupling, chances_of, residual_of
from otspec.distributions import Distribution
from otspec.drafts.base import inverted
from otspec.estimate import Estimate, Estimates, Exact, Known
from otspec.rules.base.accepted import Estimated
from otspec.rules.base.rule import CountedLaw, NotExactError
from otspec.rules.importance.selection import Drawn, StagedSelection, followed
from otspec.rules.importance.stages import Stage

MOST_STEPS, MOST_EXACT_STEPS = 10**7, 2 * 10**6
"""Most terms, n²·k for each state that is told apart; in fractions n·k times as much each."""
MOST_COMPARED = 10**8  # pairs of drafts that are looked at for an estimate in a comparison
_TOGETHER = 2**20  # numbers that are worked on at once
_After: TypeAlias = Callable[[int, int], int]
"""(state, i) → the state after draft i is the token that is looked for."""


@dataclass(frozen=True, eq=False)
class VerifiedSelection(Frozen):
    """A selected draft, coupled with a target of which a part may be left out."""

    selection: StagedSelection
    verified: Distribution  # (n,): what the selected draft is verified against
    kept: Number  # how often what comes out of that is kept
    # (n,): what is drawn otherwise: a law of tokens that ``verified`` leaves out
    repair: Distribution

    def of_first(self, k: int) -> "VerifiedSelection":
        """Return the same for the first k drafts."""
        return VerifiedSelection(self.selection.of_first(k), self.verified, self.kept, self.repair)

    @property
    def k(self) -> int:
        """The number of drafts."""
        return len(self.selection.laws)

    @cached_property
    def coupling(self) -> Coupling:
        """How the selected draft becomes what is kept."""
        return Coupling(self.selection.law, self.verified)

    @property
    def known(self) -> Number:
        """The probability that the selected draft is accepted, or a repair is a draft."""
        return self._known(self.selection.law, self.k)

    def _known(self, law: Distribution, k: int) -> Number:
        """Return the same for the first k drafts, of which one is selected by a law."""
        known = self.kept * np.minimum(law, self.verified).sum()
        if self.kept < 1:
            undrafted = self.selection.of_first(k).undrafted
            known += (1 - self.kept) * (self.repair * (1 - undrafted)).sum()
        return as_number(known, like=self.verified)

    def acceptance(self) -> Number:
        """Return the probability that the output is one of the drafts."""
        if self.k > 2:
            return as_number(self.by_token().sum(), like=self.verified)
        return self._summed(*self.selection.stages)

    def acceptances(self, ks: Sequence[int]) -> list[Known]:
        """Return the acceptance for each of several k, or estimates from the same drafts."""
        found: dict[int, Known] = {}
        drawn: dict[int, list[int]] = {}
        for k in ks:
            if self._steps(k, 1) > self._most_steps:
                drawn.setdefault(max(50, min(2_000, MOST_COMPARED // k**2)), []).append(k)
        for size, some in drawn.items():
            for k, each in self.followed(max(some), size, 0):
                if k in some:
                    found[k] = self.estimated(each)
                elif k <= 2 and k in ks:
                    found[k] = Exact(self._summed(*(each.stage,) * (k - 1)))
        if len(found) < len(set(ks)):
            found |= {k: Exact(self.of_first(k).acceptance()) for k in ks if k not in found}
        return [found[k] for k in ks]

    def _summed(self, stage: Stage | None = None) -> Number:
        """Return the acceptance of one draft, or of two that meet in a stage."""
        if stage is None:
            return self._known(self.selection.laws[0], 1)
        order, law = stage.order, stage.law_of_selection
        selected, wanted = law[order], self.verified[order]
        lost, residual = 1 - chances_of(selected, wanted), residual_of(selected, wanted)
        one, other = self.selection.laws[:2]
        first = one[order]
        second = first if other is one else other[order]
        hits = second * stage.under_in_order(lost * first)
        hits = hits + (hits if first is second else first * stage.under_in_order(lost * second))
        known = self._known(law, 2) + self.kept * (hits * residual).sum()
        return as_number(known, like=self.verified)

    def estimate(self, size: int = 2_000, seed: int = 0) -> "SelectionEstimate":
        """Estimate all of it, with the residual hits simulated and the rest exact."""
        return SelectionEstimate(self, as_size(size, least=2, width=self.k), as_seed(seed))

    def followed(self, most: int, size: int, seed: int) -> Iterator[tuple[int, Drawn]]:
        """Yield what is drawn and selected with one draft, two, and so on, and how many."""
        return followed(self.selection.of_first(most).passed(), self.drawn(size, seed)[:most])

    def estimated(self, drawn: Drawn) -> Estimate:
        """Return the acceptance, given what is drawn and selected."""
        law = drawn.stage.law_of_selection if drawn.stage else self.selection.laws[0]
        chances, residual = (
            of(law, self.verified).astype(float, copy=False) for of in (chances_of, residual_of)
        )
        rejected = (drawn.weights * (1 - chances[drawn.drafts])).sum(axis=0)
        hits = rejected * (residual[drawn.drafts] * drawn.first).sum(axis=0)
        known = self._known(law, len(drawn.drafts))
        return Estimate.of_mean(float(self.kept) * hits, plus=float(known))

    def drawn(self, size: int, seed: int) -> IntArray:
        """Draw drafts: ndarray of int, shape (k, size)."""
        laws, rng = self.selection.laws, np.random.default_rng(seed)
        uniforms = rng.random((self.k, size))
        drafts = np.empty(uniforms.shape, np.intp)
        for law in {id(law): law for law in laws}.values():  # most often there is one
            rows = np.array([each is law for each in laws])
            wanted = uniforms[rows].ravel()
            # Those that lie close to each other are found sooner one after the other.
            order = np.argsort((2**16 * wanted).astype(np.uint16), kind="stable")
            found = np.empty(wanted.shape, np.intp)
            found[order] = inverted(np.cumsum(law.astype(float)), wanted[order])
            drafts[rows] = found.reshape(-1, size)
        return drafts

    def by_token(self) -> Array:
        """Return the probability that the output is y and one of the drafts, shape (n,)."""
        if self.k <= 2:
            return self.by_position().sum(axis=0)
        output = self.kept * self.verified + (1 - self.kept) * self.repair
        return positive_part(output - self._by_state(_first, 1)[0])

    def by_position(self) -> Array:
        """Return the probability that the output is y and draft i the first that is y: (k, n)."""
        if self.k == 2:
            first, second, both = self._of_two
            return np.array([first + both, second])
        if self.k == 1:
            (law,) = self.selection.laws
            return (self.kept * self.coupling.accepted + (1 - self.kept) * self.repair * law)[None]
        return self._by_state(_first, self.k + 1)[1:]

    def counted(self) -> CountedLaw:
        """Return the accepted law by how many of the drafts are the output."""
        if self.k <= 2:
            by_draft = self.by_position()
            output = self.kept * self.verified + (1 - self.kept) * self.repair
            rejected = positive_part(output - by_draft.sum(axis=0))
            if self.k == 1:
                return CountedLaw(by_draft, rejected)
            first, second, both = self._of_two
            return CountedLaw(np.array([first + second, both]), rejected)
        none, *counted = self._by_state(_counted, self.k + 1)
        return CountedLaw(np.array(counted), none)

    def output_by_draft(self, y: int) -> Array:
        """Return column y of :meth:`by_position` at any vocabulary size, shape (k,)."""
        return self._at(np.array([y]), _first, self.k + 1)[1:, 0]

    @cached_property
    def _of_two(self) -> Array:
        """The accepted law of two drafts: y is only the first, only the second, both: (3, n)."""
        # A token that can be rejected has no residual, so the residual draw is never such a y.
        (stage,), (first, second) = self.selection.stages, self.selection.laws
        chance, residual, repair = self.coupling.chances, self.coupling.residual, self.repair
        lost = 1 - chance
        kept = [
            first * (chance * stage.over(second) + residual * stage.under(lost * second)),
            second * (chance * stage.over(first) + residual * stage.under(lost * first)),
            first * second * chance,
        ]
        if self.kept == 1:
            return np.array(kept)
        repaired = [first * (1 - second), second * (1 - first), first * second]
        return self.kept * np.array(kept) + (1 - self.kept) * repair * np.array(repaired)

    def _by_state(self, after: _After, states: int) -> Array:
        """Return how likely each token is the output, by where it is drafted: (states, n)."""
        n = len(self.verified)
        if self._steps(self.k, states) > self._most_steps:
            raise NotExactError(
                f"what becomes of {self.k} drafts takes sums over {n:,} tokens after each of them "
                "to know exactly: estimate() simulates them"
            )
        at_once = _TOGETHER // (n * states)  # which the limit of steps keeps above 0
        parts = [
            self._at(np.arange(start, min(start + at_once, n)), after, states)
            for start in range(0, n, at_once)
        ]
        return np.concatenate(parts, axis=1)

    def _steps(self, k: int, states: int) -> int:
        """Return how many terms that takes; two drafts have sums of their own."""
        n = len(self.verified)
        more = n * k if is_exact(self.verified) else 1
        return n * n * k * states * more if k > 2 else 0

    @property
    def _most_steps(self) -> int:
        return MOST_EXACT_STEPS if is_exact(self.verified) else MOST_STEPS

    def _at(self, tokens: IntArray, after: _After, states: int) -> Array:
        """Return the same for some tokens, (states, m)."""
        placed = self.selection.with_places(tokens, after, states)
        chance, residual = self.coupling.chances, self.coupling.residual
        accepted = placed[:, np.arange(len(tokens)), tokens] * chance[tokens]
        drawn = (placed * (1 - chance)).sum(axis=2) * residual[tokens]
        repaired = placed.sum(axis=2) * self.repair[tokens]
        return self.kept * (accepted + drawn) + (1 - self.kept) * repaired


@dataclass(frozen=True, eq=False)
class SelectionEstimate(Estimated):
    """The law of an accepted selected draft, from drawn drafts; that of a single token exactly."""

    verified: VerifiedSelection
    size: int  # how many tuples of drafts
    seed: int

    @property
    def _last(self) -> Drawn:
        """What is drawn and selected with all drafts."""
        *_, (_, last) = self.verified.followed(self.verified.k, self.size, self.seed)
        return last

    @cached_property
    def probability(self) -> Estimate:
        """What is known plus simulated residual hits."""
        return self.verified.estimated(self._last)

    @cached_property
    def by_position_and_token(self) -> Estimates:
        """From drafts that are drawn at random, shape (k, n)."""
        verified, last = self.verified, self._last
        drafts, chances = last.drafts, verified.coupling.chances[last.drafts]
        rejected = (last.weights * (1 - chances.astype(float, copy=False))).sum(axis=0)
        drawn = verified.kept * rejected * verified.coupling.residual[drafts]
        drawn = (drawn + (1 - verified.kept) * verified.repair[drafts]) * last.first
        first = (drafts[:, None] == drafts).argmax(axis=0)
        accepted = np.zeros((verified.k, len(verified.verified)))
        found = verified.kept * last.weights * chances + drawn
        np.add.at(accepted, (first, drafts), found.astype(float) / self.size)
        return Estimates.of_means(accepted, self.size)

    def of_token(self, y: int) -> Estimate:
        """Return entry y of what is exact, at any vocabulary size: nothing is simulated."""
        known = float(self.verified.output_by_draft(y).sum())
        return Estimate.between(known, known)

    def of_token_by_position(self, y: int) -> list[Estimate]:
        """Return the same by position."""
        known = self.verified.output_by_draft(y).astype(float).tolist()
        return [Estimate.between(chance, chance) for chance in known]


def _first(state: int, i: int) -> int:
    """Return which draft is the first that is the token, from 1 on."""
    return state or i + 1


def _counted(state: int, i: int) -> int:  # noqa: ARG001 -- all drafts count
    """Return how many drafts are the token."""
    return state + 1
