"""Algorithms 1 and 2, eqs. (1), (3) and (10), as printed: every branch with its probability."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from validation import notation
from validation.claim import Fails
from validation.instances import Exact
from validation.notation import ONE, ZERO, Tokens, collect, distinct, iid, positive, total

Outcomes = dict[tuple[bool, int], Fraction]
"""The law of (accepted, token)."""


class Undefined(Fails):
    """A step that divides zero by zero."""


def normalised(weights: Exact) -> Exact:
    """Divide by the sum."""
    if not any(weights):
        raise Undefined(f"normalises {tuple(map(str, weights))}, whose sum is 0")
    return notation.normalised(weights)


def residual(target: Exact, draft: Exact) -> Exact:
    """Return max(0, target - draft), normalised."""
    return normalised(positive(target, draft))


@dataclass(frozen=True)
class Run:
    """What an algorithm does with given candidates.

    Parameters
    ----------
    chances : tuple of Fraction
        The probability that candidate i is accepted if all earlier ones were rejected; shorter
        than the candidates if one is accepted with certainty.
    targets : tuple
        What the algorithm calls p in each of these rounds and, last, after all rejections.
    """

    candidates: Tokens
    chances: tuple[Fraction, ...]
    targets: tuple[Exact, ...]

    def reach(self, rounds: int) -> Fraction:
        """Return the probability that the first ``rounds`` candidates are all rejected."""
        return self._reaches[min(rounds, len(self.chances))]

    @cached_property
    def _reaches(self) -> list[Fraction]:
        return list(accumulate(self.chances, lambda left, chance: left * (1 - chance), initial=ONE))

    def outcomes(self) -> Outcomes:
        """Return the law of (accepted, token)."""
        parts = [
            ((True, token), self.reach(i) * chance)
            for i, (token, chance) in enumerate(zip(self.candidates, self.chances, strict=False))
        ]
        if last := self.reach(len(self.chances)):
            parts += [((False, token), last * mass) for token, mass in enumerate(self.targets[-1])]
        return collect(parts)


def algorithm1(target: Exact, draft: Exact, candidates: Tokens) -> Run:
    """Run Algorithm 1: the residual of p is stored in p itself after every rejection."""
    p, q = target, draft
    chances, targets = [], [p]
    for x in candidates:
        chances.append(min(ONE, p[x] / q[x]))
        if chances[-1] == 1:
            break  # r <= 1 always: the branch of a rejection is never entered
        p = residual(p, q)
        targets.append(p)
    return Run(candidates, tuple(chances), tuple(targets))


def algorithm2(target: Exact, draft: Exact, candidates: Tokens, literal: bool = False) -> Run:
    """Run Algorithm 2: p first, then the rejected token leaves q, then q is normalised.

    With ``literal`` also the last normalisation of q is carried out, whose result nobody reads.
    """
    p, q = target, draft
    chances, targets = [], [p]
    for i, x in enumerate(candidates, start=1):
        chances.append(min(ONE, p[x] / q[x]))
        if chances[-1] == 1:
            break
        p = residual(p, q)
        targets.append(p)
        q = (*q[:x], ZERO, *q[x + 1 :])
        if literal or i < len(candidates):
            q = normalised(q)
    return Run(candidates, tuple(chances), tuple(targets))


def without_update(target: Exact, draft: Exact, candidates: Tokens) -> Run:
    """Test every candidate by speculative sampling against the same p; draw the residual."""
    chances = []
    for x in candidates:
        chances.append(min(ONE, target[x] / draft[x]))
        if chances[-1] == 1:
            return Run(candidates, tuple(chances), (target,))
    return Run(candidates, tuple(chances), (residual(target, draft),))


def naive(target: Exact, candidates: Tokens) -> Outcomes:
    """Run naive sampling: draw x from p, accept if it is a candidate, return x either way."""
    return {(token in candidates, token): mass for token, mass in enumerate(target)}


Drawing = Callable[[Exact, int], Mapping[Tokens, Fraction]]
"""The draft and k to the law of the candidates."""


def law(drawing: Drawing, draft: Exact, k: int, rule: Callable[..., Outcomes]) -> Outcomes:
    """Return the law of (accepted, token) over the candidates."""
    return collect(
        (outcome, mass * chance)
        for tokens, mass in drawing(draft, k).items()
        for outcome, chance in rule(tokens).items()
    )


def law1(draft: Exact, target: Exact, k: int) -> Outcomes:
    """Return the law of Algorithm 1 with independent candidates."""
    return law(iid, draft, k, lambda x: algorithm1(target, draft, x).outcomes())


def law2(draft: Exact, target: Exact, k: int) -> Outcomes:
    """Return the law of Algorithm 2 with candidates drawn without replacement."""
    return law(distinct, draft, k, lambda x: algorithm2(target, draft, x).outcomes())


def law_naive(draft: Exact, target: Exact, k: int, drawing: Drawing = iid) -> Outcomes:
    """Return the law of naive sampling with k candidates."""
    return law(drawing, draft, k, lambda x: naive(target, x))


def output(outcomes: Outcomes, n: int) -> Exact:
    """Return the law of the returned token."""
    return tuple(outcomes.get((True, x), ZERO) + outcomes.get((False, x), ZERO) for x in range(n))


def acceptance(outcomes: Outcomes) -> Fraction:
    """Return the probability that True is returned."""
    return total(mass for (accepted, _), mass in outcomes.items() if accepted)


def hats(target: Exact, draft: Exact, n: int) -> Iterator[Exact]:
    """Yield the residuals of eq. (3), as many of the first n + 1 as are defined."""
    p = target
    yield p
    for _ in range(n):
        if p == draft:
            return
        p = residual(p, draft)
        yield p


def left(draft: Exact, gone: Tokens) -> Exact:
    """Return the draft renormalised off some tokens: eq. (1)."""
    return normalised(tuple(ZERO if x in gone else mass for x, mass in enumerate(draft)))


def bars(target: Exact, draft: Exact, candidates: Tokens) -> Iterator[tuple[Exact, Exact]]:
    """Yield p and q of eqs. (10) and (1) after 0, 1, ... candidates, as far as both are defined."""
    p = target
    for n in range(len(candidates) + 1):
        if sum(draft[x] for x in candidates[:n]) == 1:
            return
        q = left(draft, candidates[:n])
        yield p, q
        if p == q:
            return
        p = residual(p, q)
