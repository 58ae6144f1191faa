"""Algorithms 3 and 4 on exact language models: as printed, and as they should read.

Drafts are tuples of sequences of tokens. A plan is from p^{⊗k} to q: it takes p, q and k and
returns the law of the output for given drafts.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import chain, product
from math import prod

from validation.claim import equal
from validation.notation import ONE, ZERO, collect, iid, normalized, same
from validation.oracles import best_coupling
from validation.spectr.algorithms import alg_2


@lru_cache(maxsize=4096)
def best_plan(draft, target, k):
    """Return an optimal plan, as a linear program would."""
    law, coupling = iid(draft, k), best_coupling(iid(draft, k), target)
    return {x: {y: mass / law[x] for (z, y), mass in coupling.items() if z == x} for x in law}


@lru_cache(maxsize=4096)
def sequential_plan(draft, target, k):
    """Return algorithm 2 with ρ = k, which is valid for every pair."""
    return alg_2(draft, target, k, Fraction(k)).kernel()


PLANS = {"optimal": best_plan, "k-Seq": sequential_plan}


def as_set(found):
    """Keep one of equal sequences, in the order of their first appearance."""
    return tuple(dict.fromkeys(found))


def as_nodes(drafts, factors=()):
    """Return each draft as a chain of nodes: of a token, and a tuple of the nodes below it.

    With expansion factors the drafts are the leaves of a tree, and its nodes are returned."""
    size = len(drafts) // factors[0] if factors else 1
    blocks = (drafts[i : i + size] for i in range(0, len(drafts) if drafts[0] else 0, size))
    return tuple((b[0][0], as_nodes([z[1:] for z in b], factors[1:])) for b in blocks)


def draft_selection(draft, target, plan, nodes, gather=tuple):
    """Follow algorithm 3: yield what each branch returns, with its probability.

    ``gather`` is what step 11 makes of what is left of the drafts that agree with the selected
    token: a set, as printed, or all of it."""
    kernel = plan(draft(()), target(()), len(nodes))
    for y, mass in kernel[tuple(token for token, _ in nodes)].items():
        agreeing, after = [below for token, below in nodes if token == y], [((), ONE)]
        if any(agreeing) and mass:
            later = draft.after((y,)), target.after((y,))
            after = draft_selection(*later, plan, gather(chain(*agreeing)), gather)
        elif agreeing:
            after = (((extra,), chance) for extra, chance in enumerate(target((y,))))
        yield from (((y, *rest), mass * chance) for rest, chance in after)


def independent_drafts(model, length, k):
    """Return the law of the drafts of (7), independent and of one law."""
    law = model.blocks(length)
    return {drawn: prod(map(law.__getitem__, drawn), start=ONE) for drawn in product(law, repeat=k)}


def prefix_tree(model, factors, gather=as_set):
    """Return the law of S_L of algorithm 4, drawing from ``model``.

    ``gather`` is the union of step 6: of sets, as printed, or with multiplicity."""
    states = {((),): ONE}
    for factor in factors:
        grown = []
        for leaves, mass in states.items():
            for drawn in product(*(iid(model(leaf), factor).items() for leaf in leaves)):
                new = ((*leaf, y) for leaf, (x, _) in zip(leaves, drawn, strict=True) for y in x)
                grown.append((gather(new), mass * prod(chance for _, chance in drawn)))
        states = collect(grown)
    return states


def decoded(draft, target, plan, drafts, factors=(), gather=tuple):
    """Return the law of what algorithm 3 adds to the context, for drafts or trees with a law."""
    return collect(
        (output, mass * chance) for given, mass in drafts.items() for output, chance
        in draft_selection(draft, target, plan, as_nodes(given, factors), gather))  # fmt: skip


def continues_as_target(outputs, target):
    """Each token, given those before it and that it is decoded at all, is the large model's."""
    reached = collect((y[:i], mass) for y, mass in outputs.items() for i in range(len(y) + 1))
    equal(reached[()], ONE, "total probability")
    for prefix in sorted({output[:i] for output in outputs for i in range(len(output))}, key=len):
        going_on = [reached.get((*prefix, y), ZERO) for y in range(target.n)]
        same(normalized(going_on), target(prefix), f"chance, if more than {prefix} is decoded,")
    return ZERO
