"""The algorithms of the paper as printed, on fractions, with every branch and its probability."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, permutations, product

from validation.claim import Fails
from validation.instances import Exact

ZERO, ONE = Fraction(0), Fraction(1)
Outcomes = dict[tuple[bool, int], Fraction]


class Undefined(Fails):
    """A step that divides zero by zero."""


def normalised(weights: Exact) -> Exact:
    """Divide by the sum."""
    total = sum(weights, ZERO)
    if total == 0:
        raise Undefined(f"normalises {tuple(map(str, weights))}, whose sum is 0")
    return tuple(weight / total for weight in weights)


def residual(target: Exact, draft: Exact) -> Exact:
    """Return max(0, target - draft), normalised."""
    return normalised(tuple(max(ZERO, t - d) for t, d in zip(target, draft, strict=True)))


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

    candidates: tuple[int, ...]
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
        law: Outcomes = {}
        for i, chance in enumerate(self.chances):
            key = (True, self.candidates[i])
            law[key] = law.get(key, ZERO) + self.reach(i) * chance
        last = self.reach(len(self.chances))
        if last > 0:
            for token, mass in enumerate(self.targets[-1]):
                law[False, token] = last * mass
        return law


def algorithm1(target: Exact, draft: Exact, candidates: tuple[int, ...]) -> Run:
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


def algorithm2(
    target: Exact, draft: Exact, candidates: tuple[int, ...], literal: bool = False
) -> Run:
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


def without_update(target: Exact, draft: Exact, candidates: tuple[int, ...]) -> Run:
    """Test every candidate by speculative sampling against the same p; draw the residual."""
    chances = []
    for x in candidates:
        chances.append(min(ONE, target[x] / draft[x]))
        if chances[-1] == 1:
            return Run(candidates, tuple(chances), (target,))
    return Run(candidates, tuple(chances), (residual(target, draft),))


def naive(target: Exact, candidates: tuple[int, ...]) -> Outcomes:
    """Run naive sampling: draw x from p, accept if it is a candidate, return x either way."""
    return {(token in candidates, token): mass for token, mass in enumerate(target)}


def independent(draft: Exact, k: int) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    """Yield every tuple of k independent candidates of positive probability, and that."""
    for tokens in product([x for x, mass in enumerate(draft) if mass], repeat=k):
        mass = ONE
        for token in tokens:
            mass *= draft[token]
        yield mass, tokens


def distinct(draft: Exact, k: int) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    """Yield every tuple of k candidates drawn without replacement, and its probability."""
    for tokens in permutations([x for x, mass in enumerate(draft) if mass], k):
        mass, left = ONE, ONE
        for token in tokens:
            mass *= draft[token] / left
            left -= draft[token]
        yield mass, tokens


def support(draft: Exact) -> int:
    """Return how many tokens can be drafted."""
    return sum(mass > 0 for mass in draft)


Drawing = Callable[[Exact, int], Iterator[tuple[Fraction, tuple[int, ...]]]]


def law(drawing: Drawing, draft: Exact, k: int, rule: Callable[..., Outcomes]) -> Outcomes:
    """Return the law of (accepted, token) over the candidates."""
    total: Outcomes = {}
    for mass, tokens in drawing(draft, k):
        for key, value in rule(tokens).items():
            total[key] = total.get(key, ZERO) + mass * value
    return total


def law1(draft: Exact, target: Exact, k: int) -> Outcomes:
    """Return the law of Algorithm 1 with independent candidates."""
    return law(independent, draft, k, lambda x: algorithm1(target, draft, x).outcomes())


def law2(draft: Exact, target: Exact, k: int) -> Outcomes:
    """Return the law of Algorithm 2 with candidates drawn without replacement."""
    return law(distinct, draft, k, lambda x: algorithm2(target, draft, x).outcomes())


def law_naive(draft: Exact, target: Exact, k: int, drawing: Drawing = independent) -> Outcomes:
    """Return the law of naive sampling with k candidates."""
    return law(drawing, draft, k, lambda x: naive(target, x))


def output(outcomes: Outcomes, n: int) -> Exact:
    """Return the law of the returned token."""
    return tuple(outcomes.get((True, x), ZERO) + outcomes.get((False, x), ZERO) for x in range(n))


def acceptance(outcomes: Outcomes) -> Fraction:
    """Return the probability that True is returned."""
    return sum((mass for (accepted, _), mass in outcomes.items() if accepted), ZERO)


def hats(target: Exact, draft: Exact, n: int) -> Iterator[Exact]:
    """Yield the residuals of eq. (3), as many of the first n + 1 as are defined."""
    p = target
    yield p
    for _ in range(n):
        if p == draft:
            return
        p = residual(p, draft)
        yield p


def left(draft: Exact, gone: tuple[int, ...]) -> Exact:
    """Return the draft renormalised off some tokens: eq. (1)."""
    return normalised(tuple(ZERO if x in gone else mass for x, mass in enumerate(draft)))


def bars(target: Exact, draft: Exact, candidates: tuple[int, ...]) -> Iterator[tuple[Exact, Exact]]:
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
