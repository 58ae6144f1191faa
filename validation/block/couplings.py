"""The coupling of draft and output blocks that a verifier makes, and couplings of other origin."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from math import lcm
from typing import NamedTuple

import networkx

from validation.block.models import LanguageModel, Prefix, prefixes
from validation.block.printed import Branch, Verifier, normalised
from validation.claim import equal

Law = Mapping[Prefix, Fraction]
Coupling = Mapping[tuple[Prefix, Prefix], Fraction]


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


def outcomes(
    verify: Verifier, target: LanguageModel, draft: LanguageModel, length: int
) -> list[Outcome]:
    """Return all ways to X^L, tau and Y^L with their probabilities."""
    return [
        Outcome(branch.mass * mass, block, branch.accepted, block[: branch.accepted] + more)
        for block, branch in verified(verify, target, draft, length)
        for more, mass in branch.following.blocks(length - branch.accepted).items()
    ]


def total(found: Iterable[Outcome]) -> Fraction:
    """Return the probability of some outcomes together."""
    return sum((each.mass for each in found), Fraction(0))


def output_law(found: list[Outcome]) -> dict[Prefix, Fraction]:
    """Return the law of Y^L."""
    law: dict[Prefix, Fraction] = {}
    for each in found:
        law[each.output] = law.get(each.output, Fraction(0)) + each.mass
    return law


def as_coupling(found: list[Outcome]) -> dict[tuple[Prefix, Prefix], Fraction]:
    """Return the joint law of X^L and Y^L."""
    law: dict[tuple[Prefix, Prefix], Fraction] = {}
    for each in found:
        pair = each.draft, each.output
        law[pair] = law.get(pair, Fraction(0)) + each.mass
    return law


def mean_accepted(found: list[Outcome]) -> Fraction:
    """Return E[tau]."""
    return sum((each.mass * each.accepted for each in found), Fraction(0))


def mean_common(coupling: Coupling) -> Fraction:
    """Return E[beta], the objective of (3)."""
    terms = (mass * common_prefix(*pair) for pair, mass in coupling.items())
    return sum(terms, Fraction(0))


def common_prefix(first: Prefix, second: Prefix) -> int:
    """Return beta, the length of the longest common prefix."""
    same = 0
    while same < len(first) and first[same] == second[same]:
        same += 1
    return same


def marginal(coupling: Coupling, side: int) -> dict[Prefix, Fraction]:
    """Return the law of the draft blocks (side 0) or of the outputs (side 1)."""
    law: dict[Prefix, Fraction] = {}
    for pair, mass in coupling.items():
        law[pair[side]] = law.get(pair[side], Fraction(0)) + mass
    return law


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


def some_coupling(first: Law, second: Law, order: int) -> dict[tuple[Prefix, Prefix], Fraction]:
    """Return a coupling: a vertex for even orders, halfway to independence for odd ones.

    The vertex fills the table from its first corner with its lines in an order drawn from a
    random generator with this seed; lexicographic order for 0 and 1.
    """
    rows, columns = sorted(first), sorted(second)
    if order > 1:
        shuffled = random.Random(order // 2)  # noqa: S311
        shuffled.shuffle(rows)
        shuffled.shuffle(columns)
    found: dict[tuple[Prefix, Prefix], Fraction] = {}
    wanted = dict(second)
    for x in rows:
        left = first[x]
        for y in columns:
            moved = min(left, wanted[y])
            if moved:
                found[x, y] = moved
                left, wanted[y] = left - moved, wanted[y] - moved
    if order % 2 == 0:
        return found
    return {
        (x, y): (found.get((x, y), Fraction(0)) + first[x] * second[y]) / 2
        for x in rows
        for y in columns
    }


def verifier_of(coupling: Coupling, n: int) -> Verifier:
    """Return Verify_pi of section 3: the verifier that a coupling stands for."""

    def verify(target: LanguageModel, draft: LanguageModel, block: Prefix) -> Iterator[Branch]:
        del target, draft
        given = {y: mass for (x, y), mass in coupling.items() if x == block}
        whole = sum(given.values())
        for tau in range(len(block) + 1):
            agreeing = {y: mass for y, mass in given.items() if common_prefix(block, y) == tau}
            mass = sum(agreeing.values(), Fraction(0)) / whole
            if mass:
                after = {y[tau:]: part for y, part in agreeing.items()}
                yield Branch(mass, tau, model_of(after, n))

    return verify


def model_of(law: Law, n: int) -> LanguageModel:
    """Return the language model whose blocks have a law, up to a factor."""

    def rule(prefix: Prefix) -> tuple[Fraction, ...]:
        parts = [Fraction(0)] * n
        for block, mass in law.items():
            if len(block) > len(prefix) and block[: len(prefix)] == prefix:
                parts[block[len(prefix)]] += mass
        return normalised(tuple(parts))

    return LanguageModel(rule, n)


def common_mass(target: LanguageModel, draft: LanguageModel, length: int) -> Fraction:
    """Return the sum of min(M_s(x^l), M_b(x^l)) over l = 1..L and all x^l, (6)."""
    return sum(
        (
            min(draft.mass(x), target.mass(x))
            for depth in range(1, length + 1)
            for x in prefixes(target.n, depth)
        ),
        Fraction(0),
    )


def common_chances(target: LanguageModel, draft: LanguageModel, length: int) -> Fraction:
    """Return the sum of prod_i min(M_s(x_i|.), M_b(x_i|.)) over l = 1..L and all x^l, (7)."""
    return sum(
        (
            least_chances(target, draft, x)
            for depth in range(1, length + 1)
            for x in prefixes(target.n, depth)
        ),
        Fraction(0),
    )


def least_chances(target: LanguageModel, draft: LanguageModel, block: Prefix) -> Fraction:
    """Return prod_i min(M_s(x_i | x^{i-1}), M_b(x_i | x^{i-1}))."""
    product = Fraction(1)
    for i, token in enumerate(block):
        product *= min(draft(block[:i])[token], target(block[:i])[token])
    return product
