"""Verifiers of drafted trees, step by step: top-down, by scaled targets, and leaf to root.

A rule takes (target, draft, drafted children, how they are drafted) and returns its branches."""

from fractions import Fraction
from functools import cache, lru_cache

from validation import algorithms, oracles
from validation.drafted import CHILDREN, Ending
from validation.notation import ONE, ZERO, collect, normalized, positive, total


def rejection(target, draft, drafted, children):
    """Recursive rejection, for the law of the children."""
    run = {"distinct": algorithms.rejection_distinct}.get(children, algorithms.rejection)
    return run(target, draft, drafted).branches()


def naive(target, draft, drafted, children):
    """Naive sampling: draw from the target, and look whether the token was drafted."""
    del draft, children
    return algorithms.naive(target)(drafted)


def sequential(target, draft, drafted, children):
    """K-Seq for i.i.d. drafts, with a number that is at most 1/1024 above the least for it."""
    if not drafted:
        return naive(target, draft, drafted, children)
    rho = least_inflation(draft, target, len(drafted))[1]
    return algorithms.k_sequential(draft, target, rho, drafted).branches()


@lru_cache(maxsize=4096)
def least_inflation(p, q, k):
    """Return numbers at most 1/1024 apart between which the least rho of K-Seq is."""
    return algorithms.halved(
        lambda rho: min(algorithms.remaining(p, q, k, rho)) >= 0,
        ONE, Fraction(k), Fraction(1, 1024))  # fmt: skip


def optimal(target, draft, drafted, children):
    """Select with an optimal coupling of the set of drafts and target, found as a maximum flow."""
    kernel = _selecting(target, draft, len(drafted), children)
    for y, chance in kernel[tuple(sorted(set(drafted)))].items():
        yield algorithms.Branch(chance, y, drafted.index(y) if y in drafted else None)


@lru_cache(maxsize=4096)
def _selecting(target, draft, k, children):
    table = CHILDREN[children](draft, k) if k else {(): ONE}
    sets = collect((tuple(sorted(set(drafted))), mass) for drafted, mass in table.items())
    kernel = {some: {} for some in sets}
    for (some, y), mass in oracles.best_coupling(sets, target).items():
        kernel[some][y] = mass / sets[some]
    return kernel


def choice(rule, target, draft, drafted, children):
    """Return the probability of each drafted child to be selected, and of each other token.

    The target may have a token more, which is never drafted."""
    chances, rest = [ZERO] * len(drafted), [ZERO] * len(target)
    padded = (*draft, *(ZERO,) * (len(target) - len(draft)))
    for mass, y, place in rule(target, padded, drafted, children):
        if place is None:
            rest[y] += mass
        else:
            chances[place] += mass
    return chances, rest


def top_down(rule):
    """Return the verifier that applies a rule for one token from the root on."""
    return lambda target, draft, children: walk(rule, target, draft, children, False)


OPTIMAL, REJECTION, NAIVE = map(top_down, (optimal, rejection, naive))


def scaled(rule):
    """Return the verifier by scaled targets: a node of weight w wants (w M_b, 1 − w)."""
    return lambda target, draft, children: walk(rule, target, draft, children, True)


def walk(rule, target, draft, children, scaling):
    """Return what is done with a tree: at a node of weight w a rule selects for (w M_b, 1 − w).

    The last token means that the node is not kept. A child that the rule selects with probability
    a_i, given the drafts, is visited with weight a_i/(1 − a_1 − … − a_{i−1}); if neither it nor
    anything below is kept, the next child follows, and after the last the rule's drawn token.
    Without scaling it is visited with that probability, and then has weight 1."""

    @cache
    def chosen(prefix, drafted, weight):
        wanted = (*(weight * mass for mass in target(prefix)), 1 - weight)
        return choice(rule, wanted, draft(prefix), drafted, children)

    @cache
    def node(forest, prefix, weight):
        """Return how it ends in or below a node, and the probability that it does not."""
        chances, rest = chosen(prefix, tuple(token for token, _ in forest), weight)
        found, going, left = [], ONE, ONE
        for (token, below), chance in zip(forest, chances, strict=True):
            if not chance:
                continue
            own = chance / left
            inner, missed = node(below, (*prefix, token), own if scaling else ONE)
            entered = going if scaling else chance
            found += [Ending(entered * mass, kept, row) for mass, kept, row in inner]
            left -= chance
            going = going * missed if scaling else left
        if going and any(rest):
            missed = rest[-1] / total(rest)
            found.append(Ending(going * (1 - missed), prefix, rest[:-1]))
            going *= missed
        return found, going

    return lambda forest: node(forest, (), ONE)[0]


def traversal(target, draft, children):
    """Traversal Verification: leaves are accepted or deleted, depth first."""

    @cache
    def node(forest, prefix, weight):
        wanted, drafted, going, found = target(prefix), draft(prefix), ONE, []
        for token, below in forest:
            chance = min(ONE, weight * wanted[token] / drafted[token])
            inner, missed = node(below, (*prefix, token), chance)
            found += [Ending(going * mass, kept, row) for mass, kept, row in inner]
            going *= missed
            if not going:
                return found, going
            # The child is deleted: what is left of the target, the weight and the draft.
            left = positive([weight * mass for mass in wanted], drafted)
            weight = total(left) / (total(left) + 1 - weight)
            wanted = normalized(left)
            if children == "distinct":
                drafted = normalized((*drafted[:token], ZERO, *drafted[token + 1 :]))
        return [*found, Ending(going * weight, prefix, wanted)], going * (1 - weight)

    return lambda forest: node(forest, (), ONE)[0]
