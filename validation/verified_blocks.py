"""Section 3: the coupling of draft and output blocks that a verifier makes, and other ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import lcm, prod
from typing import NamedTuple

import networkx

from validation.block_algorithms import Branch, Verifier
from validation.claim import equal
from validation.models import LanguageModel, Prefix, prefixes_up_to
from validation.notation import ONE, as_row, blurred, collect, corner, normalised, total

Law = Mapping[Prefix, Fraction]


class Coupling(dict[tuple[Prefix, Prefix], Fraction]):
    """A joint law of draft blocks and outputs."""

    def marginal(self, side: int) -> dict[Prefix, Fraction]:
        """Return the law of the draft blocks (side 0) or of the outputs (side 1)."""
        return collect((pair[side], mass) for pair, mass in self.items())

    def mean_common(self) -> Fraction:
        """Return E[beta], the objective of (3)."""
        return total(mass * common_prefix(*pair) for pair, mass in self.items())


class Outcome(NamedTuple):
    """One way through drafting, verifying and drawing the continuation."""

    mass: Fraction
    draft: Prefix
    accepted: int
    """tau."""
    output: Prefix
    """Y^L = (X^tau, Z^{L - tau})."""


def verified(
    verify: Verifier, target: LanguageModel, draft: LanguageModel, length: int
) -> Iterator[tuple[Prefix, Branch]]:
    """Yield all drafts X^L with the branches of their verification; masses include the draft's."""
    for block, mass in draft.blocks(length).items():
        for branch in verify(target, draft, block):
            if branch.mass:
                yield block, branch._replace(mass=mass * branch.mass)


class Outcomes(tuple[Outcome, ...]):
    """All ways to X^L, tau and Y^L with their probabilities."""

    def mass(self, event: Callable[[Outcome], bool]) -> Fraction:
        """Return the probability of an event."""
        return total(each.mass for each in self if event(each))

    def output_law(self) -> dict[Prefix, Fraction]:
        """Return the law of Y^L."""
        return collect((each.output, each.mass) for each in self)

    def coupling(self) -> Coupling:
        """Return the joint law of X^L and Y^L."""
        return Coupling(collect(((each.draft, each.output), each.mass) for each in self))

    def mean_accepted(self) -> Fraction:
        """Return E[tau]."""
        return total(each.mass * each.accepted for each in self)


def outcomes(
    verify: Verifier, target: LanguageModel, draft: LanguageModel, length: int
) -> Outcomes:
    """Return what a verifier does."""
    return Outcomes(
        Outcome(branch.mass * mass, block, branch.accepted, block[: branch.accepted] + more)
        for block, branch in verified(verify, target, draft, length)
        for more, mass in branch.following.blocks(length - branch.accepted).items()
    )


def common_prefix(first: Prefix, second: Prefix) -> int:
    """Return beta, the length of the longest common prefix."""
    same = 0
    while same < len(first) and first[same] == second[same]:
        same += 1
    return same


def same_law(found: Law, claimed: Law, what: str) -> Fraction:
    """Return slack 0, or fail with both laws if they differ."""
    return equal(shown_law(found), shown_law(claimed), what)


def shown_law(law: Law) -> str:
    """Return a law for people: blocks of positive probability, in order."""
    terms = (
        f"{''.join(map(str, block))} with {mass}" for block, mass in sorted(law.items()) if mass
    )
    return "; ".join(terms) or "nothing, for the step is 0/0"


def best_transport(first: Law, second: Law, value: Callable[[Prefix, Prefix], int]) -> Fraction:
    """Return the largest expected value over all couplings, by network simplex.

    In whole numbers, scaled by the common denominator, so that it is exact.
    """
    scale = lcm(*(mass.denominator for law in (first, second) for mass in law.values()))
    network: networkx.DiGraph[tuple[str, Prefix]] = networkx.DiGraph()
    for x, mass in first.items():
        network.add_node(("draft", x), demand=-int(mass * scale))
    for y, mass in second.items():
        network.add_node(("target", y), demand=int(mass * scale))
    network.add_edges_from(
        (("draft", x), ("target", y), {"weight": -value(x, y)}) for x in first for y in second
    )
    cost, _ = networkx.network_simplex(network)
    return Fraction(-cost, scale)


def some_coupling(first: Law, second: Law, order: int) -> Coupling:
    """Return a coupling: a vertex for even orders, halfway to independence for odd ones.

    The vertex fills the table from its first corner with its lines in an order drawn from a
    random generator with this seed; lexicographic order for 0 and 1.
    """
    rows, columns = sorted(first), sorted(second)
    if order > 1:
        shuffled = random.Random(order // 2)  # noqa: S311
        shuffled.shuffle(rows)
        shuffled.shuffle(columns)
    vertex = corner(((x, first[x]) for x in rows), ((y, second[y]) for y in columns))
    return Coupling(vertex if order % 2 == 0 else blurred(vertex, first, second, Fraction(1, 2)))


def verifier_of(coupling: Coupling, n: int) -> Verifier:
    """Return Verify_pi of section 3: the verifier that a coupling stands for."""

    def verify(target: LanguageModel, draft: LanguageModel, block: Prefix) -> Iterator[Branch]:
        del target, draft
        given = {y: mass for (x, y), mass in coupling.items() if x == block}
        whole = sum(given.values())
        for tau in range(len(block) + 1):
            agreeing = {y: mass for y, mass in given.items() if common_prefix(block, y) == tau}
            mass = total(agreeing.values()) / whole
            if mass:
                after = {y[tau:]: part for y, part in agreeing.items()}
                yield Branch(mass, tau, model_of(after, n))

    return verify


def model_of(law: Law, n: int) -> LanguageModel:
    """Return the language model whose blocks have a law, up to a factor."""

    def rule(prefix: Prefix) -> tuple[Fraction, ...]:
        depth = len(prefix)
        longer = ((x, mass) for x, mass in law.items() if x[:depth] == prefix and x[depth:])
        return normalised(as_row(collect((x[depth], mass) for x, mass in longer), n))

    return LanguageModel(rule, n)


def common_mass(target: LanguageModel, draft: LanguageModel, length: int) -> Fraction:
    """Return the sum of min(M_s(x^l), M_b(x^l)) over l = 1..L and all x^l, (6)."""
    heads = prefixes_up_to(target.n, length)
    return total(min(draft.mass(x), target.mass(x)) for x in heads)


def common_chances(target: LanguageModel, draft: LanguageModel, length: int) -> Fraction:
    """Return the sum of prod_i min(M_s(x_i|.), M_b(x_i|.)) over l = 1..L and all x^l, (7)."""
    return total(least_chances(target, draft, x) for x in prefixes_up_to(target.n, length))


def least_chances(target: LanguageModel, draft: LanguageModel, block: Prefix) -> Fraction:
    """Return prod_i min(M_s(x_i | x^{i-1}), M_b(x_i | x^{i-1}))."""
    chances = ((draft(block[:i])[x], target(block[:i])[x]) for i, x in enumerate(block))
    return prod(map(min, chances), start=ONE)
