"""The best rule in the long run (Theory, 20), and what no rule is above (Theory, 21)."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from itertools import pairwise, product
from math import prod

import numpy as np
import pytest
from block_models import model_pairs, within
from ending_models import calls_of_texts, each_ending, law_up_to_end
from instances import pair
from searching import enough

from otspec.blocks import (
    BlockVerification,
    BlockVerificationPreprint,
    DraftedTree,
    decode,
    decoded_after,
    decoded_law,
    long_run,
    simulate,
)
from otspec.models import CallableModel, EndingModel, NGramModel, TableModel, markov, memoryless
from otspec.programs import OneTokenProgram, Residual, ResidualsProgram, WindowProgram
from otspec.solvers import solve

COIN = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
CHAINS = (
    markov([["2/5", "3/5"], ["1/2", "1/2"]], first=[["1/3", "2/3"]]),
    markov([["3/4", "1/4"], ["1/5", "4/5"]]),
)


@pytest.fixture(scope="module")
def coin():
    """The coin with blocks of two tokens, residuals of one."""
    return long_run(*COIN, 2, reach=1, past=2)


@pytest.fixture(scope="module")
def chains():
    return long_run(*CHAINS, 2, reach=1, past=2)


def fair_row(row, n):
    """Rows without zeros, so that every context leads to every other."""
    return (np.asarray(row) * 9 + Fraction(1, n)) / 10


def irreducible_pairs(seed, n, length, count):
    for case in model_pairs(seed, n, length, count):
        yield [
            markov(np.array([fair_row(model((last,)), n) for last in range(n)], dtype=object))
            for model in case.exact
        ]


def exact_null(matrix):
    """The law π with π P = π, by elimination."""
    n = len(matrix)
    rows = [[matrix[j][i] - (i == j) for j in range(n)] + [Fraction(0)] for i in range(n)]
    rows[-1] = [Fraction(1)] * (n + 1)
    for i in range(n):
        pivot = next(k for k in range(i, n) if rows[k][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(n):
            if k != i:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[-1] for row in rows]


def published_long_run(draft, target, length):
    """Tokens per call of published block verification, over the last tokens of its blocks."""
    n = target.n
    moves, tokens = [], []
    for last in range(n):
        rule = BlockVerification(draft.after((last,)), target.after((last,)), length)
        moves.append([Fraction(0)] * n)
        for outcome in rule.outcomes():
            for token, chance in enumerate(outcome.following(())):
                moves[-1][token] += outcome.mass * chance
        tokens.append(rule.efficiency())
    return sum(map(prod, zip(exact_null(moves), tokens, strict=True)))


def test_the_coin_gains_by_handing_over_residuals(coin):
    assert coin.one_token == Fraction(19, 8) == BlockVerification(*COIN, 2).efficiency()
    assert coin.rate == Fraction(47, 19)
    assert coin.rate <= coin.bound == coin.rate + coin.gap
    assert (
        coin.rate > BlockVerificationPreprint(*COIN, 2).efficiency()
    )  # the best coupling of one block


@pytest.mark.parametrize("found", ["coin", "chains"])
def test_the_rule_is_lossless_block_after_block(found, request):
    rule = request.getfixturevalue(found).policy
    target = COIN[1] if found == "coin" else CHAINS[1]
    for tokens in (1, 3, 6):
        assert decoded_law(rule, tokens) == dict(target.texts(tokens))
    for alike in (copy.deepcopy(rule), pickle.loads(pickle.dumps(rule))):  # noqa: S301 -- ours
        assert decoded_law(alike, 3) == dict(target.texts(3))


@pytest.mark.parametrize("found", ["coin", "chains"])
def test_what_is_kept_is_drafted(found, request):
    rule = request.getfixturevalue(found).policy
    rules = [rule]
    for outcome in rule.outcomes():
        for token, chance in enumerate(outcome.following(())):
            if chance > 0:
                text = (*outcome.accepted, token)
                rules.append(
                    rule.restarted(rule.draft.after(text), outcome.following.after((token,)))
                )
    for each in rules:
        masses = {}
        for block, mass in each.draft.texts(2):
            found = list(each.outcomes_of(DraftedTree.chain(block, each.draft, each.target)))
            assert sum(outcome.mass for outcome in found) == 1
            for outcome in found:
                assert block[: len(outcome.accepted)] == outcome.accepted
                masses[outcome.accepted] = masses.get(outcome.accepted, 0) + mass * outcome.mass
        outcomes = {outcome.accepted: outcome.mass for outcome in each.outcomes()}
        assert {head: mass for head, mass in masses.items() if mass > 0} == outcomes


def test_from_its_own_mixture_of_residuals_every_block_is_alike(coin):
    plan = coin.policy.plan
    rule = plan.rule({i: share for i, share in enumerate(plan.shares) if share > 0})
    for blocks in (1, 2, 3):
        assert decoded_after(rule, blocks) == blocks * coin.rate


@pytest.mark.parametrize("found", ["coin", "chains"])
def test_each_block_brings_nearly_the_rate(found, request):
    result = request.getfixturevalue(found)
    decoded = [float(decoded_after(result.policy, blocks)) for blocks in (1, 2, 3, 4)]
    off = [abs(more - less - float(result.rate)) for less, more in pairwise(decoded)]
    assert off[-1] < 0.01
    assert off == sorted(off, reverse=True)


def test_drawn_texts_have_the_targets_frequencies(coin):
    size, rng, counts = 300, np.random.default_rng(7), {}
    for _ in range(size):
        text = decode(coin.policy, 3, rng).tokens[:3]
        counts[text] = counts.get(text, 0) + 1
    assert within(counts, dict(COIN[1].texts(3)), size)
    estimate = simulate(coin.policy, 200)
    assert estimate.low <= coin.policy.efficiency() <= estimate.high


def test_floats_find_the_same():
    models = [memoryless([float(chance) for chance in model(())]) for model in COIN]
    found = long_run(*models, 2, reach=1, past=2)
    exact = long_run(*COIN, 2, reach=1, past=2)
    for name in ("one_token", "rate", "bound"):
        assert getattr(found, name) == pytest.approx(float(getattr(exact, name)), abs=1e-8)
    law = decoded_law(found.policy, 3)
    assert law == pytest.approx({text: float(mass) for text, mass in COIN[1].texts(3)}, abs=1e-8)


@pytest.mark.parametrize(("n", "length", "count"), [(2, 1, 9), (2, 2, 18), (2, 3, 9), (3, 2, 9)])
def test_the_published_rule_is_the_best_of_one_corrected_token_here(n, length, count):
    """No theorem: it was so in every pair that was looked at."""
    for draft, target in irreducible_pairs(1_903, n, length, count):
        value = solve(OneTokenProgram(draft, target, length).build()).value
        assert value == published_long_run(draft, target, length)


def test_without_residuals_the_two_programs_agree():
    for draft, target in irreducible_pairs(1_904, 2, 2, 9):
        plain = [Residual((last,), np.array(Fraction(1), dtype=object)) for last in range(2)]
        start = Residual((), plain[0].law)
        value = solve(ResidualsProgram(draft, target, 2, [start, *plain]).build()).value
        assert value == solve(OneTokenProgram(draft, target, 2).build()).value


@pytest.mark.parametrize(("n", "length", "count"), [(2, 1, 9), (2, 2, 6), (3, 1, 2)])
def test_nothing_is_above_the_bound(n, length, count):
    for draft, target in irreducible_pairs(1_905, n, length, count):
        found = long_run(draft, target, length, reach=1, past=1)
        assert found.one_token <= found.rate <= found.bound <= length + 1
        assert type(found.bound) is type(found.rate) is Fraction


def test_equal_models_keep_everything_and_disjoint_ones_nothing():
    same = long_run(COIN[1], COIN[1], 2, past=1)
    assert same.one_token == same.rate == same.bound == 3
    apart = long_run(memoryless([1, 0]), memoryless([0, 1]), 2, past=1)
    assert apart.one_token == apart.rate == apart.bound == 1


def test_longer_pasts_lower_the_bound_and_any_duals_prove_one():
    bounds = [long_run(*COIN, 1, past=past).bound for past in (0, 2, 4)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > bounds[-1]
    program = WindowProgram(*COIN, 1, 1)
    solution = solve(program.build())
    exact = program.certified(solution)
    assert exact == 1 / solution.value
    rough = program.certified(solve(program.build().as_floats(), "highs"))
    assert type(rough) is Fraction
    assert exact <= rough <= exact + Fraction(1, 10**6)


def test_a_rule_from_its_mixture_satisfies_the_program_of_the_bound(coin):
    """Where its blocks begin and how far they keep, integrated over a long text, is feasible."""
    program = WindowProgram(*COIN, 2, 0)
    plan = coin.policy.plan
    rule = plan.rule({i: share for i, share in enumerate(plan.shares) if share > 0})
    shares = dict.fromkeys(product(range(3), program.windows), Fraction(0))
    for outcome in rule.outcomes():
        for text, mass in outcome.following.texts(3 - len(outcome.accepted)):
            for kept in range(len(outcome.accepted) + 1):
                shares[kept, (0, outcome.accepted + text)] += outcome.mass * mass / coin.rate
    primal = np.array(list(shares.values()), dtype=object)
    linear = program.build()
    activity = linear.activity(primal)
    assert all(low <= value <= high for low, value, high in zip(
        linear.row_lower, activity, linear.row_upper, strict=True
    ))  # fmt: skip
    assert linear.value(primal) == 1 / coin.rate


@pytest.mark.parametrize(
    ("text", "law", "names"),
    [
        ((-1,), ["1/2", "1/2"], "text"),
        ((), ["1/2", "1/3"], "law"),
        ((), [["1/2", "1/2"]], "law has shape"),
        ((), 2, "law"),
        ((), ["1/2", "1/4", "1/4"], r"the law of residuals\[0\]"),
        ((5,), ["1/2", "1/2"], "text"),
        ((), [0.5, 0.5], r"the law of residuals\[0\]"),
    ],
)
def test_residuals_are_texts_and_laws_of_the_alphabet(text, law, names):
    with pytest.raises(ValueError, match=names):
        ResidualsProgram(*COIN, 1, [Residual(text, law)])


def test_what_cannot_be_is_refused():
    forgets_nothing = NGramModel([0, 1, 1, 0] * 4, 2, 1)
    assert long_run(forgets_nothing, COIN[1], 1, past=0).rate >= 1
    for arguments, names in (
        ({"reach": -1}, "reach"),
        ({"past": -1}, "past"),
        ({"past": 2.5}, "past"),
        ({"reach": 10**6}, "reach"),
    ):
        with pytest.raises(ValueError, match=names):
            long_run(*COIN, 2, **arguments)
    with pytest.raises(ValueError, match="length"):
        long_run(*COIN, 0)
    with pytest.raises(ValueError, match="contexts"):
        long_run(CallableModel(lambda prefix: COIN[0](prefix[:0])), COIN[1], 1)
    plan = long_run(*COIN, 1, past=0).policy
    with pytest.raises(ValueError, match="what the plan hands over"):
        plan.restarted(*COIN)


def bounded(seed, count, longest, n=3):
    """Pairs of models; the target's texts are over with the last token, at most so long."""
    rng = np.random.default_rng(seed)
    for _ in range(enough(count)):
        rows = [
            {
                prefix: fair_row(pair(rng, n, "dense")[side], n)
                for depth in range(longest)
                for prefix in product(range(n - 1), repeat=depth)
            }
            for side in (0, 1)
        ]
        last = [Fraction(token == n - 1) for token in range(n)]
        rows[1] |= {prefix: last for prefix in rows[1] if len(prefix) == longest - 1}
        yield TableModel(rows[0]), TableModel(rows[1]), {n - 1}


@pytest.mark.parametrize("length", [1, 2])
def test_texts_that_end_follow_one_another(length):
    gains = 0
    for draft, target, end in bounded(1_906, 4, longest=length + 2):
        ending = EndingModel(target, end)
        found = long_run(draft, ending, length, reach=1, past=2)
        assert decoded_law(found.policy, 5) == law_up_to_end(target, end, 5)
        # Each text takes its calls, the next one begins anew.
        tokens, calls = calls_of_texts(found.policy)
        assert found.rate == tokens / calls
        published, preprint = (
            Fraction(*calls_of_texts(rule(draft, ending, length)))
            for rule in (BlockVerification, BlockVerificationPreprint)
        )
        assert published == found.one_token <= found.rate <= found.bound <= length + 1
        assert preprint <= found.bound
        gains += found.rate > found.one_token
    assert gains


@each_ending()
def test_the_long_run_counts_every_token_of_every_text_once(draft, target, end):
    ending = EndingModel(target, end)
    found = long_run(draft, ending, 2, reach=1, past=1)
    assert 1 <= found.one_token <= found.rate <= found.bound <= 3
    # A drafted end token that is kept ends the call: no further token comes out of it.
    published = BlockVerification(draft, ending, 2)
    tokens = sum(
        outcome.mass * (len(outcome.accepted) + (not set(outcome.accepted) & end))
        for outcome in published.outcomes()
    )
    contexts = [model.context((x,)) for model in (draft, ending) for x in {0, 1} - end]
    if not any(contexts):  # then every call is like the first
        assert found.one_token == tokens
    if not end:
        plain = long_run(draft, target, 2, reach=1, past=1)
        numbers = ("one_token", "rate", "bound")
        assert [getattr(found, name) for name in numbers] == [
            getattr(plain, name) for name in numbers
        ]


@each_ending()
def test_what_is_kept_of_texts_that_end_is_drafted(draft, target, end):
    rule = long_run(draft, EndingModel(target, end), 2, reach=1, past=1).policy
    masses = {}
    for block, mass in draft.texts(2, rule.target.ended):
        for outcome in rule.outcomes_of(DraftedTree.chain(block, rule.draft, rule.target)):
            masses[outcome.accepted] = masses.get(outcome.accepted, 0) + mass * outcome.mass
    outcomes = {outcome.accepted: outcome.mass for outcome in rule.outcomes()}
    assert {head: mass for head, mass in masses.items() if mass > 0} == outcomes


def test_a_text_that_is_over_has_no_long_run():
    ending = EndingModel(COIN[1], [1])
    with pytest.raises(ValueError, match="target is the model of a text that is over"):
        long_run(COIN[0], ending.after((1,)), 1)
    lopsided = [Residual((), np.array([Fraction(1), Fraction(0)], dtype=object))]
    with pytest.raises(ValueError, match="residuals has none that is the target at the beginning"):
        ResidualsProgram(COIN[0], ending, 1, lopsided).build()
    rule = long_run(COIN[0], ending, 2, past=1).policy
    over = rule.restarted(rule.draft.after((1,)), next(
        outcome.following.after((1,)) for outcome in rule.outcomes()
        if outcome.following(())[1] > 0
    ))  # fmt: skip
    assert over.expected() == 0
    assert over.sample(np.random.default_rng(0)).accepted == ()
    assert decoded_law(over, 2) == {(): 1}
