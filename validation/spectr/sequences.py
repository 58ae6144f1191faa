"""Algorithms 3 and 4 on exact language models: as printed, and as they should read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from validation.claim import equal
from validation.instances import Exact, distributions, random_distribution
from validation.notation import ONE, ZERO, Tokens, collect, iid
from validation.spectr.couplings import best_coupling
from validation.spectr.printed import Rule, k_sequential, maximal_coupling, residual_made_whole

Model = tuple[Exact, ...]
"""The law of the first token, then the law after each token: a Markov chain."""
Kernel = Callable[[Tokens], Sequence[Fraction]]
Plan = Callable[[Exact, Exact, int], Kernel]
"""A transport plan from p^{⊗k} to q, as a kernel, for given p, q and k."""
Gather = Callable[[Iterable[Tokens]], tuple[Tokens, ...]]
Outputs = dict[Tokens, Fraction]


class Models(NamedTuple):
    """The small and the large model."""

    draft: Model
    target: Model


def next_law(model: Model, prefix: Tokens) -> Exact:
    """Return the law of the next token."""
    return model[1 + prefix[-1]] if prefix else model[0]


def probability(model: Model, tokens: Tokens) -> Fraction:
    """Return the probability of a sequence."""
    chances = (next_law(model, tokens[:i])[token] for i, token in enumerate(tokens))
    return prod(chances, start=ONE)


def as_set(sequences: Iterable[Tokens]) -> tuple[Tokens, ...]:
    """Keep one of equal sequences, in the order of their first appearance."""
    return tuple(dict.fromkeys(sequences))


@lru_cache(maxsize=4096)
def best_plan(draft: Exact, target: Exact, k: int) -> Kernel:
    """Return an optimal plan, as a linear program would."""
    law = iid(draft, k)
    coupling, _ = best_coupling(law, target)
    tokens = range(len(draft))
    return {x: [coupling[x, y] / mass for y in tokens] for x, mass in law.items()}.__getitem__


@lru_cache(maxsize=4096)
def sequential_plan(draft: Exact, target: Exact, k: int) -> Kernel:
    """Return Algorithm 2 with ρ = k, which is valid for every pair."""
    rule = k_sequential(draft, target, k, Fraction(k), residual_made_whole)
    return _kernel(rule, draft, k).__getitem__


@lru_cache(maxsize=4096)
def coupling_plan(draft: Exact, target: Exact, k: int) -> Kernel:
    """Return Algorithm 1, for one draft."""
    return _kernel(maximal_coupling(draft, target), draft, k).__getitem__


def _kernel(rule: Rule, draft: Exact, k: int) -> dict[Tokens, list[Fraction]]:
    found = {x: [ZERO] * len(draft) for x in iid(draft, k)}
    for x, row in found.items():
        for branch in rule(x):
            row[branch.output] += branch.mass
    return found


PLANS: Mapping[str, Plan] = {"optimal": best_plan, "k-Seq": sequential_plan}


def draft_selection(
    models: Models,
    plan: Plan,
    prefix: Tokens,
    length: int,
    drafts: Sequence[Tokens],
    gather: Gather = as_set,
) -> Iterator[tuple[Tokens, Fraction]]:
    """Follow Algorithm 3 through all its branches.

    Parameters
    ----------
    models, plan
        What step 1 takes its plan from.
    prefix, length, drafts
        The input: what is decoded so far, L and S.
    gather : callable
        What step 11 makes of the remaining drafts: a set, as printed, or all of them.

    Yields
    ------
    tuple
        What a branch returns, and its probability.
    """
    draft_law, target_law = next_law(models.draft, prefix), next_law(models.target, prefix)
    first_tokens = tuple(z[0] for z in drafts)
    for y, mass in enumerate(plan(draft_law, target_law, len(drafts))(first_tokens)):
        here = (*prefix, y)
        if mass == 0:
            continue
        if length == 1:
            if y in first_tokens:
                for extra, chance in enumerate(next_law(models.target, here)):
                    yield (*here, extra), mass * chance
            else:
                yield here, mass
            continue
        remaining = gather(z[1:] for z in drafts if z[0] == y)
        if not remaining:
            yield here, mass
        else:
            deeper = draft_selection(models, plan, here, length - 1, remaining, gather)
            for output, chance in deeper:
                yield output, mass * chance


def sequences(model: Model, length: int) -> Outputs:
    """Return the law of the first tokens of a model."""
    tokens = range(len(model) - 1)
    return collect((each, probability(model, each)) for each in product(tokens, repeat=length))


def independent_drafts(
    model: Model, length: int, count: int
) -> Iterator[tuple[tuple[Tokens, ...], Fraction]]:
    """Yield the drafts of (7), independent and of one law, with their probabilities."""
    law = sequences(model, length)
    for drawn in product(law, repeat=count):
        yield drawn, prod((law[each] for each in drawn), start=ONE)


def selected(
    models: Models,
    plan: Plan,
    length: int,
    drafts: Iterable[tuple[Sequence[Tokens], Fraction]],
    gather: Gather = tuple,
) -> Outputs:
    """Return the law of what Algorithm 3 adds to the context, for random drafts."""
    return collect(
        (output, chance * mass)
        for given, chance in drafts
        for output, mass in draft_selection(models, plan, (), length, given, gather)
    )


def continues_as_target(outputs: Outputs, target: Model) -> Fraction:
    """Each token, given those before it and that it is decoded at all, is the large model's."""
    reached = collect(
        (output[:i], mass) for output, mass in outputs.items() for i in range(len(output) + 1)
    )
    n = len(target) - 1
    slack = equal(reached[()], ONE, "total probability")
    for prefix in sorted({output[:i] for output in outputs for i in range(len(output))}, key=len):
        going_on = [reached.get((*prefix, y), ZERO) for y in range(n)]
        for y, wanted in enumerate(next_law(target, prefix)):
            what = f"probability of token {y} after {prefix}, if one more is decoded"
            slack = equal(going_on[y] / sum(going_on), wanted, what)
    return slack


def is_target_given_length(outputs: Outputs, target: Model) -> Fraction:
    """Given the number of decoded tokens they are distributed as the large model's."""
    totals = collect((len(output), mass) for output, mass in outputs.items())
    for length, total in sorted(totals.items()):
        for output in product(range(len(target) - 1), repeat=length):
            found = outputs.get(output, ZERO) / total
            equal(found, probability(target, output), f"probability of {output}, given the length")
    return ZERO


def prefix_tree(
    model: Model, factors: Sequence[int], gather: Gather = as_set
) -> dict[tuple[Tokens, ...], Fraction]:
    """Return the law of S_L of Algorithm 4, drawing from ``model``.

    ``gather`` is the union of step 6: of sets, as printed, or with multiplicity.
    """
    states: dict[tuple[Tokens, ...], Fraction] = {((),): ONE}
    for factor in factors:
        grown: list[tuple[tuple[Tokens, ...], Fraction]] = []
        for leaves, mass in states.items():
            partial: list[tuple[tuple[Tokens, ...], Fraction]] = [((), mass)]
            for leaf in leaves:
                drawn = iid(next_law(model, leaf), factor).items()
                partial = [
                    (gather((*made, *((*leaf, token) for token in tokens))), sofar * chance)
                    for made, sofar in partial
                    for tokens, chance in drawn
                ]
            grown += partial
        states = collect(grown)
    return states


def tree_selection(
    models: Models,
    plan: Plan,
    factors: Sequence[int],
    blocks: Sequence[Sequence[Tokens]],
    prefix: Tokens = (),
) -> Iterator[tuple[Tokens, Fraction]]:
    """Select among the children of all nodes that agree with what is decoded, level by level.

    Parameters
    ----------
    models, plan
        As for :func:`draft_selection`.
    factors : sequence of int
        The expansion factors that are left.
    blocks : sequence of sequences
        The leaves below each node that ends with ``prefix``, children one after the other.
    prefix : tuple of int
        What is decoded so far.
    """
    draft_law, target_law = next_law(models.draft, prefix), next_law(models.target, prefix)
    children = [
        block[i : i + len(block) // factors[0]]
        for block in blocks
        for i in range(0, len(block), len(block) // factors[0])
    ]
    tokens = tuple(child[0][len(prefix)] for child in children)
    for y, mass in enumerate(plan(draft_law, target_law, len(children))(tokens)):
        here = (*prefix, y)
        agreeing = [child for child, token in zip(children, tokens, strict=True) if token == y]
        if mass == 0:
            continue
        if not agreeing:
            yield here, mass
        elif len(factors) == 1:
            for extra, chance in enumerate(next_law(models.target, here)):
                yield (*here, extra), mass * chance
        else:
            for output, chance in tree_selection(models, plan, factors[1:], agreeing, here):
                yield output, mass * chance


def model_pairs(seed: int) -> Iterator[Models]:
    """Yield models over two tokens: memoryless ones in order of size, then random Markov chains."""
    few = [law for size in (1, 2, 3) for law in distributions(2, size)]
    for draft, target in product((law for law in few if law[0] >= law[1]), few):
        yield Models((draft,) * 3, (target,) * 3)
    rng = np.random.default_rng(seed)
    while True:
        rows = [random_distribution(rng, 2, int(rng.integers(1, 6))) for _ in range(6)]
        same = rng.integers(5) == 0
        yield Models(tuple(rows[:3]), tuple(rows[:3] if same else rows[3:]))


def model_cases(
    seed: int, lengths: Sequence[int] = (1, 2), counts: Sequence[int] = (1, 2)
) -> Iterator[dict[str, Any]]:
    """Yield models, L, K and a plan: for each pair of models all of them in turn."""
    for models in model_pairs(seed):
        for length, count, plan in product(lengths, counts, PLANS):
            yield {**models._asdict(), "length": length, "count": count, "plan": plan}
