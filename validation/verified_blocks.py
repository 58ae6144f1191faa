"""Couplings of draft and output blocks that a verifier makes, the best one, and what they keep."""

from collections.abc import Callable, Container, Mapping
from fractions import Fraction
from itertools import accumulate, product
from math import lcm, prod
from operator import eq
from typing import NamedTuple

import networkx

from validation.block_algorithms import Model, Verifier, token_verify
from validation.claim import equal
from validation.models import Prefix, prefixes_up_to
from validation.notation import ONE, ZERO, collect, total

Law = Mapping[Prefix, Fraction]


class Coupling(dict[tuple[Prefix, Prefix], Fraction]):
    """A joint law of draft blocks and outputs."""

    def joins(self, *laws: Law) -> None:
        """Check its marginals, the laws of the draft blocks, (4), and of the outputs, (5)."""
        for side, law in enumerate(laws):
            marginal = collect((pair[side], mass) for pair, mass in self.items())
            same_law(marginal, law, f"the marginal ({side + 4})")

    def mean_common(self) -> Fraction:
        """Return E[beta], the objective of (3)."""
        return total(mass * common_prefix(*pair) for pair, mass in self.items())


class Outcome(NamedTuple):
    """One way to X^L, tau and Y^L = (X^tau, Z^{L - tau})."""

    mass: Fraction
    draft: Prefix
    accepted: int
    output: Prefix


class Outcomes(tuple[Outcome, ...]):
    """All ways through drafting, verifying and drawing the continuation."""

    def chance(self, of: str = "draft", x: Prefix = (), taus: Container[int] = ()) -> Fraction:
        """Return Pr(X^l = x^l) of the draft, or that of the output, with one of some tau."""
        return total(each.mass for each in self
                     if each.accepted in taus and getattr(each, of)[: len(x)] == x)  # fmt: skip

    def output_law(self) -> dict[Prefix, Fraction]:
        """Return the law of Y^L."""
        return collect((each.output, each.mass) for each in self)

    def coupling(self) -> Coupling:
        """Return the joint law of X^L and Y^L."""
        return Coupling(collect(((each.draft, each.output), each.mass) for each in self))

    def mean_accepted(self) -> Fraction:
        """Return E[tau]."""
        return total(each.mass * each.accepted for each in self)


def outcomes(verify: Verifier, target: Model, draft: Model, length: int) -> Outcomes:
    """Return what a verifier does."""
    return Outcomes(
        Outcome(drafted * branch.mass * mass, block, branch.accepted, block[: branch.accepted] + y)
        for block, drafted in draft.blocks(length).items()
        for branch in verify(target, draft, block)
        if branch.mass
        for y, mass in branch.following.blocks(length - branch.accepted).items()
    )


def common_prefix(first: Prefix, second: Prefix) -> int:
    """Return beta, the length of the longest common prefix."""
    return sum(accumulate(map(eq, first, second), min))


def beta_is_tau(target: Model, draft: Model, length: int, verify: Verifier) -> Fraction:
    """Check that draft and output agree in as many tokens as are accepted."""
    for each in outcomes(verify, target, draft, length):
        beta = common_prefix(each.draft, each.output)
        equal(beta, each.accepted, f"beta of {each.draft} and {each.output}")
    return ZERO


def same_law(found: Law, claimed: Law, what: str) -> Fraction:
    """Return slack 0, or fail with both laws if they differ."""

    def shown(law: Law) -> str:
        terms = (f"{''.join(map(str, x))} with {mass}" for x, mass in sorted(law.items()) if mass)
        return "; ".join(terms) or "nothing, for the step is 0/0"

    return equal(shown(found), shown(claimed), what)


def lossless(target: Model, draft: Model, length: int, verify: Verifier) -> Fraction:
    """Check that Y^L has the law M_b^L."""
    law = outcomes(verify, target, draft, length).output_law()
    return same_law(law, target.blocks(length), "the law of (X^tau, Z^{L-tau})")


def best_transport(first: Law, second: Law, value: Callable[[Prefix, Prefix], int]) -> Fraction:
    """Return the largest expected value over all couplings, by network simplex.

    In whole numbers, scaled by the common denominator, so that it is exact."""
    scale = lcm(*(mass.denominator for law in (first, second) for mass in law.values()))
    network: networkx.DiGraph[tuple[int, Prefix]] = networkx.DiGraph()
    for side, law in ((-1, first), (1, second)):
        for x, mass in law.items():
            network.add_node((side, x), demand=int(side * mass * scale))
    for x, y in product(first, second):
        network.add_edge((-1, x), (1, y), weight=-value(x, y))
    return Fraction(-networkx.network_simplex(network)[0], scale)


def most_common(target: Model, draft: Model, length: int) -> Fraction:
    """Return the optimum of (3), the largest E[beta] over all couplings."""
    return best_transport(draft.blocks(length), target.blocks(length), common_prefix)


def token_mean(target: Model, draft: Model, length: int) -> Fraction:
    """Return E[beta] of TokenVerify."""
    return outcomes(token_verify, target, draft, length).coupling().mean_common()


def common_mass(target: Model, draft: Model, length: int) -> Fraction:
    """Return the sum of min(M_s(x^l), M_b(x^l)) over l = 1..L and all x^l, (6)."""
    return total(min(draft.mass(x), target.mass(x)) for x in prefixes_up_to(target.n, length))


def common_chances(target: Model, draft: Model, length: int) -> Fraction:
    """Return the sum of prod_i min(M_s(x_i|.), M_b(x_i|.)) over l = 1..L and all x^l, (7)."""
    return total(least_chances(target, draft, x) for x in prefixes_up_to(target.n, length))


def least_chances(target: Model, draft: Model, block: Prefix) -> Fraction:
    """Return prod_i min(M_s(x_i | x^{i-1}), M_b(x_i | x^{i-1}))."""
    chances = ((draft(block[:i])[x], target(block[:i])[x]) for i, x in enumerate(block))
    return prod(map(min, chances), start=ONE)
