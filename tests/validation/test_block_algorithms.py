"""The algorithms of the preprint as printed, beside the package's and by themselves; decoding."""

import random
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from programs_table import VALUE_ERROR

from otspec.programs import BlockProgram
from otspec.rules import MaximalCoupling
from otspec.solvers import solve
from validation.block.section_2 import SpecDec
from validation.block_algorithms import (
    block_acceptance,
    block_verify,
    block_verify_as_printed,
    block_verify_in_context,
    block_verify_one_token,
    residual,
    token_verify,
)
from validation.claim import Fails
from validation.models import LARGER, MODELS, SHORT, Table, memoryless, models
from validation.notation import some_coupling
from validation.verified_blocks import Coupling, Outcomes, most_common, outcomes

HALF = Fraction(1, 2)
EVEN, FIRST, SECOND = (HALF, HALF), (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))
VERIFIERS = {
    "token": token_verify,
    "block": block_verify,
    "as printed": block_verify_as_printed,
    "in context": block_verify_in_context,
    "one token": block_verify_one_token,
}


def drawn(domain, count, seed):
    """Random targets, drafts and lengths."""
    for one in islice(domain.random(np.random.default_rng(seed)), count):
        yield one["target"], one["draft"], one["length"]


def both(domain, count, seed):
    """The smallest of a domain and random ones, as many."""
    smallest = islice(domain.small(), count)
    yield from ((one["target"], one["draft"], one["length"]) for one in smallest)
    yield from drawn(domain, count, seed)


# --- algorithms as printed, against the rest of the project ------------------------------------


@pytest.mark.parametrize("name", VERIFIERS)
def test_one_token_is_the_maximal_coupling(name):
    for large, small, _ in both(models(((2, 1), (3, 1))), 60, 1):
        draft, target = small(()), large(())
        rule = MaximalCoupling(draft, target)
        found = outcomes(VERIFIERS[name], large, small, 1)
        for x in np.flatnonzero(draft):
            law = Outcomes(each for each in found if each.draft == (x,)).output_law()
            kernel = rule.kernel([x])
            assert [law.get((y,), 0) / draft[x] for y in range(len(draft))] == kernel.tolist()
        accepted = sum(each.mass * each.accepted for each in found)
        assert accepted == rule.acceptance()


@pytest.mark.parametrize("name", ["token", "block", "one token"])
def test_masses_of_branches_sum_to_one(name):
    for target, draft, length in drawn(MODELS, 40, 2):
        for block in draft.blocks(length):
            assert sum(branch.mass for branch in VERIFIERS[name](target, draft, block)) == 1


def test_readings_of_algorithm_3_agree_where_nothing_is_accepted_in_part():
    # Then what follows X^tau is either the whole prefix or nothing.
    for target, draft, _ in drawn(models(((2, 2), (3, 2))), 60, 5):
        for block in draft.blocks(2):
            for one, other in zip(
                block_verify(target, draft, block),
                block_verify_as_printed(target, draft, block),
                strict=True,
            ):
                assert one[:2] == other[:2]
                if one.accepted == 0:
                    assert one.following.blocks(2) == other.following.blocks(2)


def test_the_network_simplex_agrees_with_the_exact_block_program():
    for target, draft, length in both(models(SHORT), 35, 3):
        solution = solve(BlockProgram(draft, target, length).build(), "rational")
        assert solution.value == most_common(target, draft, length)


def test_the_network_simplex_agrees_with_the_block_program_in_floats():
    for target, draft, length in drawn(models(((2, 3), (3, 2))), 10, 4):
        as_floats = [lambda x, m=model: [float(p) for p in m(x)] for model in (draft, target)]
        solution = solve(BlockProgram(*as_floats, length).build(), "highs")
        assert abs(solution.value - most_common(target, draft, length)) <= VALUE_ERROR


def test_couplings_have_their_marginals_and_differ():
    different = []
    for target, draft, length in drawn(models(), 10, 6):
        laws = [model.blocks(length) for model in (draft, target)]
        some = [Coupling(some_coupling(*laws, order)) for order in range(6)]
        for pi in some:
            pi.joins(*laws)
        different.append(len({tuple(sorted(pi.items())) for pi in some}))
    assert max(different) > 3


def test_a_division_of_nothing_by_nothing_is_a_counterexample():
    target, draft = Table((FIRST, SECOND, FIRST)), memoryless(FIRST)
    assert sum(outcomes(block_verify_as_printed, target, draft, 2).output_law().values()) == 0
    assert outcomes(block_verify, target, draft, 2).output_law() == {(0, 1): 1}
    with pytest.raises(Fails, match="0/0"):
        list(block_acceptance(target, memoryless(SECOND), (0, 0)))
    assert residual(memoryless(EVEN), memoryless(EVEN), ()) == (0, 0)


def test_the_third_reading_agrees_with_the_right_one_on_two_tokens_of_two():
    # There one token is left where another was rejected, so that no residual can be wrong.
    for target, draft, _ in drawn(models(((2, 2),)), 60, 8):
        law = outcomes(block_verify_in_context, target, draft, 2).output_law()
        assert law == target.blocks(2)


def test_larger_models_are_among_the_random_ones_only():
    sizes = {(target.n, length) for target, _, length in drawn(MODELS, 60, 0)}
    assert set(LARGER) < sizes
    small = islice(MODELS.small(), 400)
    assert not set(LARGER) & {(one["target"].n, one["length"]) for one in small}


# --- decoding ---------------------------------------------------------------------------------


def test_equal_models_decode_whole_blocks():
    model = Table((EVEN, FIRST, EVEN))
    for verify in (token_verify, block_verify, block_verify_one_token):
        assert SpecDec(verify, model, model, 2).mean_tokens(3) == 9
        law = SpecDec(verify, model, model, 2).decode(5)
        assert {calls for _, calls in law} == {2}
        assert sum(law.values()) == 1


def test_certain_models_that_disagree_decode_one_token_per_call():
    target, draft = memoryless(FIRST), memoryless(SECOND)
    for verify in (token_verify, block_verify, block_verify_one_token):
        assert SpecDec(verify, target, draft, 2).decode(3) == {((0, 0, 0), 3): 1}


def sampled_tokens(rng, target, draft, accept_blocks):
    """Return how many tokens two iterations decode, drawn step by step in floats, L = 2."""

    def draw(row):
        return rng.choices(range(2), weights=[float(chance) for chance in row])[0]

    def mass(model, x):
        product = 1.0
        for i, token in enumerate(x):
            product *= float(model(x[:i])[token])
        return product

    def residual_row(large, small, x):
        parts = [max(mass(large, (*x, y)) - mass(small, (*x, y)), 0.0) for y in range(2)]
        return [part / sum(parts) for part in parts]

    def accepted(large, small, x):
        if not accept_blocks:
            for i in range(2):
                if rng.random() > min(1.0, large(x[:i])[x[i]] / small(x[:i])[x[i]]):
                    return i
            return 2
        if rng.random() <= min(1.0, mass(large, x) / mass(small, x)):
            return 2
        for i in (1, 0):
            parts = [mass(large, (*x[:i], y)) - mass(small, (*x[:i], y)) for y in range(2)]
            remain, reject = sum(max(d, 0) for d in parts), sum(max(-d, 0) for d in parts)
            if rng.random() * reject <= remain:
                return i
        raise AssertionError

    total = 0
    for _ in range(2):
        x = (draw(draft(())),)
        x += (draw(draft(x)),)
        tau = accepted(target, draft, x)
        head = x[:tau]

        def following(more, head=head, tau=tau, large=target, small=draft):
            if tau == 2 or (len(more) >= 2 - tau if accept_blocks else more):
                return large(head + more)
            if accept_blocks:
                return residual_row(large, small, head + more)
            parts = [max(p - q, 0.0) for p, q in zip(large(head), small(head), strict=True)]
            return [part / sum(parts) for part in parts]

        z = draw(following(()))
        target = lambda more, rule=following, z=z: rule((z, *more))  # noqa: E731
        draft = lambda more, model=draft, head=(*head, z): model(head + more)  # noqa: E731
        total += tau + 1
    return total


@pytest.mark.parametrize(
    ("verify", "accept_blocks", "exact"),
    [(token_verify, False, Fraction(121, 32)), (block_verify, True, Fraction(57, 16))],
)
def test_sampling_confirms_that_two_blocks_can_decode_less(verify, accept_blocks, exact):
    target, draft = Table((FIRST, EVEN, FIRST)), Table((EVEN, FIRST, FIRST))
    assert SpecDec(verify, target, draft, 2).mean_tokens(2) == exact
    rng = random.Random(11)  # noqa: S311
    size = 6_000
    sample = [sampled_tokens(rng, target, draft, accept_blocks) for _ in range(size)]
    error = np.std(sample) / size**0.5
    # Five standard errors: a chance of less than one in a million. The two means are 10 apart.
    assert abs(np.mean(sample) - float(exact)) <= 5 * error
    assert 10 * error < Fraction(121, 32) - Fraction(57, 16)
