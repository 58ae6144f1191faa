"""Verifiers of drafted trees, step by step: top-down, by scaled targets, and leaf to root."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from validation.drafted import CHILDREN, Ending, Forest, Verifier
from validation.instances import Exact
from validation.models import LanguageModel, Prefix
from validation.notation import ONE, ZERO, Tokens, normalised, positive, total
from validation.oracles import spread


class Choice(NamedTuple):
    """What a rule for one token does with some drafts."""

    chances: tuple[Fraction, ...]
    """That each of them is selected."""
    rest: Exact
    """The masses of the tokens that are drawn instead."""


TokenRule = Callable[[Exact, Exact, Tokens, str], Choice]
"""(draft, target, drafted children, how they are drafted) to what is done. The target may have a
token more than the draft, which is never drafted."""


def rejection(draft: Exact, target: Exact, drafted: Tokens, children: str) -> Choice:
    """Recursive rejection: accept in turn by min(1, q/p), go on with the residual."""
    p, q, left = padded(draft, target), target, ONE
    chances = []
    for token in drafted:
        chance = min(ONE, q[token] / p[token])
        chances.append(left * chance)
        left *= 1 - chance
        q = normalised(positive(q, p))
        if children == "distinct":
            p = normalised(tuple(ZERO if i == token else mass for i, mass in enumerate(p)))
    return Choice(tuple(chances), tuple(left * mass for mass in q))


def naive(draft: Exact, target: Exact, drafted: Tokens, children: str) -> Choice:
    """Naive sampling: draw from the target, and look whether the token was drafted."""
    del draft, children
    return _divided(drafted, target)


def sequential(draft: Exact, target: Exact, drafted: Tokens, children: str) -> Choice:
    """K-Seq for i.i.d. drafts, with a number that is at most 1/1024 above the least for it."""
    del children
    if not drafted:
        return Choice((), target)
    p, k = padded(draft, target), len(drafted)
    kept, rest = common_and_rest(p, target, k, least_inflation(p, target, k)[1])
    left, chances = ONE, []
    for token in drafted:
        chances.append(left * kept[token] / p[token])
        left -= chances[-1]
    return Choice(tuple(chances), tuple(left * mass for mass in normalised(rest)))


def common_and_rest(p: Exact, q: Exact, k: int, rho: Fraction) -> tuple[Exact, Exact]:
    """Return min(p, q/rho), and what the k drafts leave of the target; below 0 for a small rho."""
    kept = tuple(min(one, other / rho) for one, other in zip(p, q, strict=True))
    beta = total(kept)
    times = (1 - (1 - beta) ** k) / beta if beta else Fraction(k)
    return kept, tuple(mass - times * each for mass, each in zip(q, kept, strict=True))


@lru_cache(maxsize=4096)
def least_inflation(p: Exact, q: Exact, k: int) -> tuple[Fraction, Fraction]:
    """Return numbers at most 1/1024 apart between which the least rho of K-Seq is."""
    low, high = ONE, Fraction(k)
    if min(common_and_rest(p, q, k, low)[1]) >= 0:
        return low, low
    while high - low > Fraction(1, 1024):
        middle = (low + high) / 2
        fits = min(common_and_rest(p, q, k, middle)[1]) >= 0
        low, high = (low, middle) if fits else (middle, high)
    return low, high


def optimal(draft: Exact, target: Exact, drafted: Tokens, children: str) -> Choice:
    """Select with an optimal coupling of drafts and target, found as a maximum flow."""
    if not drafted:
        return Choice((), target)
    rows, rest = _plan(draft, target, len(drafted), children)
    row = rows[drafted]
    chances = tuple(
        row.get(token, ZERO) if token not in drafted[:i] else ZERO
        for i, token in enumerate(drafted)
    )
    left = 1 - total(chances)
    return Choice(chances, tuple(left * mass for mass in rest))


@lru_cache(maxsize=4096)
def _plan(
    draft: Exact, target: Exact, k: int, children: str
) -> tuple[Mapping[Tokens, Mapping[int, Fraction]], Exact]:
    """Return which token is selected of each drafts, given them, and the law of all others."""
    table = CHILDREN[children](draft, k)
    flow = spread(table, target)
    rows: dict[Tokens, dict[int, Fraction]] = {drafted: {} for drafted in table}
    sent = [ZERO] * len(target)
    for (drafted, token), mass in flow.items():
        rows[drafted][token] = mass / table[drafted]
        sent[token] += mass
    return rows, normalised(positive(target, sent))


def _divided(drafted: Tokens, law: Exact) -> Choice:
    chances = tuple(
        law[token] if token not in drafted[:i] else ZERO for i, token in enumerate(drafted)
    )
    rest = tuple(ZERO if token in drafted else mass for token, mass in enumerate(law))
    return Choice(chances, rest)


def padded(draft: Exact, target: Exact) -> Exact:
    """Return the draft over the tokens of the target."""
    return (*draft, *(ZERO,) * (len(target) - len(draft)))


def top_down(rule: TokenRule, children: str = "iid") -> Verifier:
    """Return the verifier that applies a rule for one token from the root on."""

    def verify(target: LanguageModel, draft: LanguageModel, forest: Forest) -> Iterator[Ending]:
        yield from node(target, draft, forest, (), ONE)

    def node(
        target: LanguageModel, draft: LanguageModel, forest: Forest, prefix: Prefix, mass: Fraction
    ) -> Iterator[Ending]:
        drafted = tuple(token for token, _ in forest)
        chances, rest = rule(draft(prefix), target(prefix), drafted, children)
        for (token, below), chance in zip(forest, chances, strict=True):
            if chance:
                yield from node(target, draft, below, (*prefix, token), mass * chance)
        yield Ending(mass * total(rest), prefix, normalised(rest))

    return verify


def scaled(rule: TokenRule, children: str = "iid") -> Verifier:
    """Return the verifier by scaled targets: a node of weight w wants (w M_b, 1 − w).

    The last token means that the node is not kept. A child that the rule selects with probability
    a_i, given the drafts, is visited with weight a_i/(1 − a_1 − … − a_{i−1}); if neither it nor
    anything below is kept, the next child follows, and after the last the rule's drawn token.
    """

    def verify(target: LanguageModel, draft: LanguageModel, forest: Forest) -> Iterator[Ending]:
        yield from node(target, draft, forest, (), ONE)[0]

    def node(
        target: LanguageModel,
        draft: LanguageModel,
        forest: Forest,
        prefix: Prefix,
        weight: Fraction,
    ) -> tuple[list[Ending], Fraction]:
        """Return how it ends in or below a node, and the probability that it does not."""
        wanted = (*(weight * mass for mass in target(prefix)), 1 - weight)
        drafted = tuple(token for token, _ in forest)
        chances, rest = rule(draft(prefix), wanted, drafted, children)
        found: list[Ending] = []
        going, left = ONE, ONE
        for (token, below), chance in zip(forest, chances, strict=True):
            if not left:
                break
            inner, missed = node(target, draft, below, (*prefix, token), chance / left)
            found += [ending._replace(mass=going * ending.mass) for ending in inner]
            going, left = going * missed, left - chance
        last = normalised(rest)
        if going and any(last):
            found.append(Ending(going * (1 - last[-1]), prefix, normalised(last[:-1])))
            going *= last[-1]
        return found, going

    return verify


def traversal(children: str = "iid") -> Verifier:
    """Return Traversal Verification: leaves are accepted or deleted, depth first."""

    def verify(target: LanguageModel, draft: LanguageModel, forest: Forest) -> Iterator[Ending]:
        yield from node(target, draft, forest, (), ONE)[0]

    def node(
        target: LanguageModel,
        draft: LanguageModel,
        forest: Forest,
        prefix: Prefix,
        weight: Fraction,
    ) -> tuple[list[Ending], Fraction]:
        wanted, drafted, going = target(prefix), draft(prefix), ONE
        found: list[Ending] = []
        for token, below in forest:
            chance = min(ONE, weight * wanted[token] / drafted[token])
            inner, missed = node(target, draft, below, (*prefix, token), chance)
            found += [ending._replace(mass=going * ending.mass) for ending in inner]
            going *= missed
            if not going:
                return found, going
            # The child is deleted: what is left of the target, the weight and the draft.
            left = positive(tuple(weight * mass for mass in wanted), drafted)
            weight = total(left) / (total(left) + 1 - weight)
            wanted = normalised(left)
            if children == "distinct":
                drafted = normalised(
                    tuple(ZERO if i == token else mass for i, mass in enumerate(drafted))
                )
        found.append(Ending(going * weight, prefix, wanted))
        return found, going * (1 - weight)

    return verify
