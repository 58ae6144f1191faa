"""What must hold on every example: exact statements with ==, floats against the exact path.

Each check takes an example, raises AssertionError with what it saw, and returns how many
comparisons it made. Oracles share no code with what they check: tables and literal kernels of
:mod:`oracles` for exact numbers, the same floats read as fractions for floats.
"""

from __future__ import annotations

from fractions import Fraction

import fuzz_batches
import fuzz_endings
import fuzz_selection
import fuzz_texts
import numpy as np
import oracles
from fuzz_instances import Example, exact_example, float_example
from instances import EPS, LAWS, law_case, shares

import otspec
from otspec import rules

IID_RULES = {
    "naive": rules.NaiveSampling,
    "recursive": rules.RecursiveRejection,
    "k-sequential": rules.KSequential,
    "pooled": rules.PooledSelection,
    "fewest": lambda draft, target, k: rules.PooledSelection(draft, target, k, pools="fewest"),
    "bins": lambda draft, target, k: rules.PooledSelection(draft, target, k, pools=16),
}
OPTIMAL = ("pooled", "fewest", "SpecHub", "pooled distinct", "coupling", "target only")


def applicable(example: Example) -> dict:
    """The rules that take an example."""
    found = dict(IID_RULES)
    if example.k == 1:
        found["coupling"] = rules.MaximalCoupling
    if example.k == 2:
        found["SpecHub"] = rules.SpecHub
    if example.k <= example.support:
        found["recursive distinct"] = rules.RecursiveRejectionWithoutReplacement
        found["drawn draft"] = rules.DrawnDraft
        found["target only"] = rules.TargetOnly
        if example.k == 2:
            found["pooled distinct"] = rules.PooledSelectionWithoutReplacement
    return found


def table_of(name: str, example: Example, draft) -> oracles.Table:
    """The drafts that a rule verifies, from their definition."""
    if "distinct" in name:
        return oracles.without_replacement_table(draft, example.k)
    if name == "target only":
        return oracles.fixed_table(oracles.likeliest(draft, example.k))
    if name == "drawn draft":
        return oracles.top_plus_one_table(draft, example.k)
    if name == "SpecHub":
        return oracles.hub_table(draft)
    return oracles.iid_table(draft, example.k)


def literal(name: str, example: Example, rho: Fraction | None) -> oracles.Joint | None:
    """The rule's algorithm as it is written, where it is one that tries drafts in turn."""
    pair = example.draft, example.target
    if name in ("recursive", "coupling", "recursive distinct"):
        return oracles.in_turn_joint(*pair, example.k, distinct="distinct" in name)
    return oracles.in_turn_joint(*pair, example.k, rho=rho) if name == "k-sequential" else None


def exact_laws(example: Example) -> int:
    """Tables, prefixes, marginals and optima of all laws are those of their definitions."""
    rng, done = np.random.default_rng(example.seed), 0
    for name in LAWS:
        case = law_case(name, example.draft, example.k, example.seed)
        if case is None:
            continue
        law, order = case.exact, rng.permutation(example.n)
        tuples, masses = law.tuples()
        found = dict(zip(map(tuple, tuples.tolist()), masses, strict=True))
        assert found == case.table, (name, found)
        prefixes = oracles.inside_prefixes(case.table, order.tolist())
        assert list(law.inside_prefixes(order)) == prefixes, name
        cut = int(rng.integers(example.n + 1))
        assert law.inside(order[:cut]) == prefixes[cut], name
        for i in range(law.k):
            assert list(law.marginal(i)) == oracles.marginal(case.table, i, example.n), (name, i)
        best = otspec.optimal_acceptance(law, list(example.target))
        assert best.acceptance == oracles.optimum(case.table, example.target), (name, best)
        best.check()
        done += 5 + law.k
    return done


def exact_optima(example: Example) -> int:
    """Many k from one sort are the optima one by one; they do not fall."""
    ks = range(1, example.k + 2)
    found = otspec.optimal_acceptances(list(example.draft), list(example.target), ks)
    wanted = [oracles.optimum(oracles.iid_table(example.draft, k), example.target) for k in ks]
    assert list(found) == wanted
    assert wanted == sorted(wanted)
    return 2 * len(wanted)


def exact_rules(example: Example) -> int:
    """Every rule is lossless, has the acceptance that it states, and at most the optimum."""
    done = 0
    for name, make in applicable(example).items():
        rule = make(list(example.draft), list(example.target), example.k)
        table = table_of(name, example, example.draft)
        rows = {x: rule.joint_kernel(x) for x in table}
        kernel = {x: list(row.sum(axis=0)) for x, row in rows.items()}.__getitem__
        output = oracles.output(table, kernel, example.n)
        assert output == list(example.target), (name, output)
        accepted = oracles.acceptance(table, kernel)
        assert rule.acceptance() == accepted, (name, rule.acceptance(), accepted)
        assert rule.accepted().by_token.sum() == accepted, name
        best = oracles.optimum(table, example.target)
        assert accepted <= best, (name, accepted, best)
        assert accepted == best or name not in OPTIMAL, (name, accepted, best)
        first = oracles.by_position(
            table, {x: row.tolist() for x, row in rows.items()}.__getitem__, rule.k
        )
        assert rule.accepted().by_position.tolist() == first, name
        joint = literal(name, example, getattr(rule, "rho", None))
        if joint is not None:
            for x in table:
                assert rows[x].tolist() == joint(x), (name, x)
        done += 6 + (len(table) if joint else 0)
    return done


def rounding(example: Example) -> float:
    """By how much a probability may be off that depends on both rows to the k-th power.

    A row's entries are off by (n + 2)/2 roundings when it is scaled to 1, and sums of n terms
    by as much; a probability over k drafts by k + 1 times that. Four such stages follow each
    other at most: scaling, residual or knots, chances, sum.
    """
    return 4 * (example.k + 1) * (example.n + 2) * EPS


def float_rules(example: Example) -> int:
    """Acceptance, output and chances in floats are those of the same floats read exactly."""
    done, limit = 0, rounding(example)
    draft, target = shares(example.draft), shares(example.target)
    for name, make in applicable(example).items():
        rule = make(list(example.draft), list(example.target), example.k)
        table = table_of(name, example, draft)
        exact = make(list(draft), list(target), example.k)
        found, wanted = rule.acceptance(), exact.acceptance()
        assert abs(found - wanted) <= limit, (name, found, float(wanted), limit)
        output = np.zeros(example.n)
        for x, mass in table.items():
            row = rule.kernel(x)
            assert (row >= 0).all(), (name, x, row)
            assert abs(row.sum() - 1) <= limit, (name, x, row)
            output += float(mass) * row
            token, accepted = rule.sample(x, np.random.default_rng(example.seed))
            assert target[token] > 0, (name, x, token)
            assert accepted == (token in x), (name, x, token)
        variation = np.abs(output - np.array([float(mass) for mass in target])).sum() / 2
        assert variation <= limit + len(table) * EPS, (name, variation)
        done += 2 + 4 * len(table)
    return done


def float_laws(example: Example) -> int:
    """Optima and tables in floats are those of the same floats read exactly."""
    done, limit = 0, rounding(example)
    draft, target = shares(example.draft), shares(example.target)
    for name in ("IID", "WithoutReplacement", "Hub", "TopPlusOne", "TopK", "Fixed"):
        case = law_case(name, draft, example.k)
        if case is None:
            continue
        law = case.build(lambda _: list(example.draft))
        best = otspec.optimal_acceptance(law, list(example.target))
        wanted = oracles.optimum(case.table, target)
        assert abs(best.acceptance - wanted) <= limit, (name, best.acceptance, float(wanted))
        best.check()
        tuples, masses = law.tuples()
        for x, mass in zip(map(tuple, tuples.tolist()), masses, strict=True):
            exact = float(case.table[x])
            # Each factor keeps its digits; a product below the range of floats may vanish.
            assert abs(mass - exact) <= limit * exact + np.finfo(float).tiny, (name, x, mass, exact)
        done += 2 + len(masses)
    return done


def small_exact(seed: int) -> Example:
    """Draw an exact example whose drafts are soon enumerated."""
    return exact_example(seed, most_tokens=4, most_drafts=3)


def small_float(seed: int) -> Example:
    """Draw a float example whose drafts are soon enumerated."""
    return float_example(seed, most_tokens=5, most_drafts=3)


CHECKS = {
    "exact laws": (exact_laws, exact_example, 15_000),
    "exact optima": (exact_optima, exact_example, 5_000),
    "exact rules": (exact_rules, small_exact, 30_000),
    "texts that end": (fuzz_endings.texts_that_end, fuzz_endings.ending_example, 10_000),
    "best trees": (fuzz_endings.best_tree, fuzz_endings.ending_example, 50_000),
    "tree laws": (fuzz_texts.tree_laws, int, 105_000),
    "block laws": (fuzz_texts.block_laws, int, 200_000),
    "batch blocks": (fuzz_texts.batch_blocks, int, 20_000),
    "log averages": (fuzz_texts.log_averages, int, 20_000),
    "calls along texts": (fuzz_texts.replays, int, 20_000),
    "lossy laws": (fuzz_selection.lossy_laws, exact_example, 100_000),
    "lossy optima": (fuzz_selection.frontier, small_exact, 8_000),
    "divergence optima": (fuzz_selection.divergence_optima, int, 40_000),
    "tied selections": (fuzz_selection.ties, int, 2_000),
    "batch trees": (fuzz_selection.batch_trees, int, 4_000),
    "float laws": (float_laws, small_float, 100_000),
    "float rules": (float_rules, small_float, 100_000),
    "batch tokens": (fuzz_batches.tokens, int, 200_000),
    "batch acceptances": (fuzz_batches.acceptances, int, 100_000),
}
"""Each check, what it takes for a seed, and how many comparisons a long run makes."""
