"""Random lossy rules, lossy optima, tied selections and batches of trees, each with its oracle."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import oracles
from batch_tree_laws import depths_of, law_of_selection, random_model, widths_of
from fuzz_instances import Example, float_row
from instances import shares
from published_cases import PUBLISHED
from scipy.special import rel_entr
from tied_pairs import tied_pair, tolerance

import otspec
from otspec import batch
from otspec.rules import ImportanceSampling
from otspec.rules.lossy import LOSSY_RULES

TREES = ((-1, -1), (-1, 0), (-1, -1, 0), (-1, 0, 0))
SIZE = 4_000
"""Trees in a batch."""
TREE_RULES = ("recursive_rejection", "k_sequential", "pooled_selection")


def lossy_laws(example: Example) -> int:
    """The output and the acceptance of each published lossy rule are those of its source."""
    done, pair = 0, (list(example.draft), list(example.target))
    for name, published in PUBLISHED.items():
        table = oracles.iid_table(example.draft, 1)
        if LOSSY_RULES[name].only_k != 1:  # the likeliest tokens are the drafts
            table = oracles.fixed_table(oracles.likeliest(example.draft, 1))
        for parameters in published.parameters:
            rule = LOSSY_RULES[name](*pair, 1, **parameters)
            kernel = published.kernel(*pair, **parameters)
            for x in table:
                assert list(rule.kernel(x)) == kernel(x), (name, parameters, x)
            assert rule.acceptance() == oracles.acceptance(table, kernel), (name, parameters)
            done += 1 + len(table)
    return done


def frontier(example: Example) -> int:
    """min(1, α + ε) can be accepted at a total variation of ε, for each law with its table."""
    done, pair = 0, (list(example.draft), list(example.target))
    for distinct in (False, True):
        if distinct and example.k > example.support:
            continue
        law = (otspec.WithoutReplacement if distinct else otspec.IID)(pair[0], example.k)
        table = oracles.without_replacement_table if distinct else oracles.iid_table
        best = oracles.optimum(table(example.draft, example.k), example.target)
        for step in range(1, 9):
            budget = Fraction(step**2, 64)
            found = otspec.optimal_acceptance(law, pair[1], total_variation=budget)
            assert found.acceptance == min(1, best + budget), (law, budget)
            found.check()
            done += 2
    return done


ORDERS = (0.1, 0.5, 0.9, 1.5, 2, 5)
AMOUNTS = (0.0, 1e-6, 1e-3, 0.05, 0.5, 3.0)
OUTPUTS = 4
"""How many outputs within a budget are tried."""


def divergence(order: float, output: np.ndarray, target: np.ndarray) -> float:
    """Rényi's by its definition; of order 1 Kullback and Leibler's, of order 0 the reverse one."""
    pairs = list(zip(output.tolist(), target.tolist(), strict=True))
    if any(o > 0 and not q > 0 for o, q in pairs) and order >= 1:
        return math.inf
    if order == 0:
        lacking = any(q > 0 and not o > 0 for o, q in pairs)
        if lacking:
            return math.inf
        return math.fsum(q * (math.log(q) - math.log(o)) for o, q in pairs if q > 0)
    both = [(math.log(o), math.log(q)) for o, q in pairs if o > 0 and q > 0]
    if order == 1:
        return math.fsum(math.exp(o) * (o - q) for o, q in both)
    parts = [order * o + (1 - order) * q for o, q in both]
    if not parts:
        return math.inf
    highest = max(parts)
    return (highest + math.log(math.fsum(math.exp(x - highest) for x in parts))) / (order - 1)


def divergence_optima(seed: int) -> int:
    """The output that is declared is within the budget and is accepted so often; none more often.

    Accepted of drafts by a table is, of any output, what the cheapest cut allows.
    """
    rng = np.random.default_rng([seed, 12])
    n, k = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    draft, target = float_row(rng, n), float_row(rng, n)
    table = oracles.iid_table(shares(draft), k)
    order, amount = (float(rng.choice(each)) for each in ((0, 1, *ORDERS), AMOUNTS))
    named = {0: "reverse_kullback_leibler", 1: "kullback_leibler"}
    budget = {named[order]: amount} if order in named else {"renyi": (order, amount)}
    best = otspec.optimal_acceptance(otspec.IID(draft, k), target, **budget)
    best.check()
    # Logarithms of at most 745 are multiplied by the order, and rounded a few times.
    limit = 4e-12 * (1 + order)
    where = draft, target, k, budget
    assert abs(float(oracles.optimum(table, shares(best.output))) - best.acceptance) <= limit, where
    assert divergence(order, best.output, target) <= amount + limit, where
    towards = [best.selection, draft, *rng.dirichlet(np.full(n, 0.5), OUTPUTS - 2)]
    for other in towards:
        part = 0.0
        for step in 0.5 ** np.arange(40):  # as far as the budget goes
            output = (1 - part - step) * target + (part + step) * other
            if part + step <= 1 and divergence(order, output, target) <= amount - limit:
                part += step
        output = (1 - part) * target + part * other
        assert float(oracles.optimum(table, shares(output))) <= best.acceptance + limit, where
    return 2 + len(towards)


def ties(seed: int) -> int:
    """Importance sampling of tied masses selects in floats what it selects in fractions."""
    draft, target = tied_pair(np.random.default_rng([seed, 5]), seed)
    n, k = len(draft), 2 + seed % 3
    exact = ImportanceSampling(draft, target, k, free=n)
    close = ImportanceSampling(*(np.array(x, float) for x in (draft, target)), k, free=n)
    wrong = np.abs(close.law_of_selection - exact.law_of_selection.astype(float)).sum()
    assert wrong <= tolerance(n, k), (draft, target, k, wrong)
    return 1


def batch_trees(seed: int) -> int:
    """A batch of trees keeps with the law of the same rule of otspec.blocks.

    A share p of N rows is seen as s with N KL(s, p) above log(2/δ) with probability δ at most
    (Chernoff's bound): δ is 1e-12, so that a right batch fails once in 10¹⁰ runs.
    """
    rng = np.random.default_rng([seed, 6])
    parents = TREES[int(rng.integers(len(TREES)))]
    name = TREE_RULES[int(rng.integers(len(TREE_RULES)))]
    models = [random_model(2, int(rng.integers(2**32)), zeros=bool(rng.integers(2))) for _ in "pq"]
    wanted, seen = law_of_selection(name, *models, parents), Counter()
    drafts = np.zeros((SIZE, len(parents)), dtype=int)
    rows = np.zeros((2, SIZE, len(parents) + 1, 2))
    texts = [[()] * SIZE]
    for node, parent in enumerate((None, *parents)):
        if parent is not None:
            chance = rows[0, np.arange(SIZE), parent + 1, 1]
            drafts[:, node - 1] = rng.random(SIZE) < chance
            pairs = zip(texts[parent + 1], drafts[:, node - 1].tolist(), strict=True)
            texts.append([(*text, token) for text, token in pairs])
        for side, model in enumerate(models):
            known = {text: model(text) for text in set(texts[-1])}
            rows[side, :, node] = [known[text] for text in texts[-1]]
    depth, widest = max(depths_of(parents)), max(widths_of(parents))
    uniforms = rng.random((SIZE, depth + 1, widest + 1))
    found = batch.tree_verification(*rows, drafts, uniforms, parents, rule=name)
    for row, (node, token) in enumerate(
        zip(found.node.tolist(), found.token.tolist(), strict=True)
    ):
        seen[texts[node + 1][row], token] += 1
    for each in seen.keys() | wanted.keys():
        share, right = seen[each] / SIZE, float(wanted.get(each, 0.0))
        where = name, parents, each, share, right
        assert right > 0 or not share, where
        far = rel_entr([share, 1 - share], [right, max(1 - right, 1e-300)]).sum()
        assert SIZE * far <= math.log(2 / 1e-12), where
    return len(wanted)
