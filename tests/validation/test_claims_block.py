"""Claims of the preprint on block verification, and checks that their checks can fail."""

import random
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from programs_table import VALUE_ERROR, needs_cdd

from otspec.programs import BlockProgram
from otspec.rules import MaximalCoupling
from otspec.solvers import solve
from validation.block import (
    CLAIMS,
    block_level,
    loop,
    memoryless,
    optimum,
    speculative,
    tables,
    token_proofs,
)
from validation.block.checks import occurs, over_models
from validation.block.couplings import (
    Outcomes,
    best_transport,
    common_mass,
    common_prefix,
    outcomes,
    some_coupling,
)
from validation.block.decoding import SpecDec
from validation.block.models import (
    SIZES,
    LanguageModel,
    models,
    random_models,
    smallest_models,
    table,
)
from validation.block.printed import (
    Branch,
    block_acceptance,
    block_verify,
    block_verify_as_printed,
    block_verify_in_context,
    block_verify_one_token,
    rejected,
    remaining,
    residual,
    residuals_of_whole_prefix,
    token_verify,
)
from validation.claim import Counterexample, Evidence, Fails, Search, Verdict, equal
from validation.notation import normalised, positive

HALF = Fraction(1, 2)
EVEN, FIRST, SECOND = (HALF, HALF), (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))
VERIFIERS = {
    "token": token_verify,
    "block": block_verify,
    "as printed": block_verify_as_printed,
    "in context": block_verify_in_context,
    "one token": block_verify_one_token,
}

# Refuted as printed, and how many of the smallest instances are enough to see it.
REFUTED = {
    "block.alg1b": 60,
    "block.sec2a": 60,
    "block.alg2b": 60,
    "block.sec3.1c": 60,
    "block.sec3.1d": 60,
    "block.sec3.1e": 60,
    "block.sec3.1f": 60,
    "block.alg3": 60,
    "block.alg3b": 600,
    "block.eq10": 60,
    "block.lem3": 60,
    "block.sec4.1b": 60,
    "block.sec4.1c": 600,
    "block.sec5": 60,
    "block.appAb": 60,
    "block.appC": 60,
}


def small(instances=60, seed=0):
    # The time limit is for a machine that is busy: the number of instances comes first.
    return Search(seconds=20.0 if instances > 60 else 10.0, instances=instances, seed=seed)


def refuted(check, instances=60):
    return isinstance(check(small(instances)), Counterexample)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdicts_as_printed_and_as_corrected(claim):
    outcome = claim.check(small(REFUTED.get(claim.id, 60)))
    assert (outcome.verdict is Verdict.REFUTED) == (claim.id in REFUTED)
    assert (claim.corrected is not None) == (claim.id in REFUTED)
    found = [outcome] if claim.corrected is None else [claim.corrected.check(small(seed=5))]
    for holds in found:
        assert isinstance(holds, Evidence)
        assert holds.instances >= 14  # tables have no more; the others reach 60
        assert holds.scope


def test_identifiers_are_of_this_paper_and_different():
    names = [claim.id for claim in CLAIMS]
    assert len(set(names)) == len(names)
    assert set(REFUTED) <= set(names)
    assert all(name.startswith("block.") for name in names)


# --- models ---------------------------------------------------------------------------------


def size(instance):
    n, length = len(instance["draft"][0]), instance["length"]
    total = n + length
    for name in ("draft", "target"):
        model = table(instance[name])
        for block in {x[:i] for x in model.blocks(length) for i in range(length)}:
            total += max(mass.denominator for mass in model(block))
    return total


def test_the_smallest_models_come_by_size_each_once():
    first = list(islice(smallest_models(SIZES), 800))
    sizes = [size(instance) for instance in first]
    assert sizes == sorted(sizes)
    assert len({(each["draft"], each["target"], each["length"]) for each in first}) == 800
    assert {(len(each["draft"][0]), each["length"]) for each in first} == set(SIZES)


def test_the_smallest_models_are_all_there():
    # Up to relabelling: the draft descends, and the target where the draft is tied.
    first = islice(smallest_models(((2, 1),)), 40)
    found = [(each["draft"][0][0], each["target"][0][0]) for each in first]
    chances = {Fraction(a, d) for d in range(1, 4) for a in range(d + 1)}
    expected = {(p, q) for p in chances for q in chances if p > HALF or (p == HALF and q >= HALF)}
    assert expected <= set(found)
    assert all(p >= HALF for p, _ in found)


def test_all_rows_are_distributions_and_random_models_are_reproducible():
    some = list(islice(random_models(3), 200))
    assert some == list(islice(random_models(3), 200))
    assert some != list(islice(random_models(4), 200))
    for instance in some + list(islice(models(0), 200)):
        for rows in (instance["draft"], instance["target"]):
            assert len(rows) == sum(len(rows[0]) ** depth for depth in range(instance["length"]))
            assert all(sum(row) == 1 for row in rows)


def test_after_longer_prefixes_the_last_tokens_count():
    rows = (EVEN, FIRST, SECOND, *[(Fraction(i, 9), Fraction(9 - i, 9)) for i in range(4)])
    model = table(rows)
    assert model(()) == EVEN
    assert (model((0,)), model((1,))) == (FIRST, SECOND)
    assert model((1, 0)) == rows[5]
    assert model((0, 1, 1, 0)) == rows[5]
    assert table((EVEN,))((1, 0, 1)) == EVEN
    assert table(rows[:3])((0, 0, 1)) == SECOND
    assert model.after((1,))((0,)) == rows[5]
    assert model.mass((1, 1, 0)) == HALF * rows[2][1] * rows[6][0]
    assert sum(model.blocks(3).values()) == 1


# --- algorithms as printed, against the rest of the project ------------------------------------


@pytest.mark.parametrize("name", VERIFIERS)
def test_one_token_is_the_maximal_coupling(name):
    for instance in islice(models(1, ((2, 1), (3, 1)), enumerated=60), 120):
        draft, target = instance["draft"][0], instance["target"][0]
        rule = MaximalCoupling(draft, target)
        found = outcomes(VERIFIERS[name], table((target,)), table((draft,)), 1)
        for x in np.flatnonzero(draft):
            law = Outcomes(each for each in found if each.draft == (x,)).output_law()
            kernel = rule.kernel([x])
            assert [law.get((y,), 0) / draft[x] for y in range(len(draft))] == kernel.tolist()
        accepted = sum(each.mass * each.accepted for each in found)
        assert accepted == rule.acceptance()


@pytest.mark.parametrize("name", ["token", "block", "one token"])
def test_masses_of_branches_sum_to_one(name):
    for instance in islice(random_models(2), 40):
        target, draft = table(instance["target"]), table(instance["draft"])
        for block in draft.blocks(instance["length"]):
            assert sum(branch.mass for branch in VERIFIERS[name](target, draft, block)) == 1


def test_readings_of_algorithm_3_agree_where_nothing_is_accepted_in_part():
    # Then what follows X^tau is either the whole prefix or nothing.
    for instance in islice(random_models(5, ((2, 2), (3, 2))), 60):
        target, draft = table(instance["target"]), table(instance["draft"])
        for block in draft.blocks(2):
            for one, other in zip(
                block_verify(target, draft, block),
                block_verify_as_printed(target, draft, block),
                strict=True,
            ):
                assert one[:2] == other[:2]
                if one.accepted == 0:
                    assert one.following.blocks(2) == other.following.blocks(2)


@needs_cdd
def test_the_network_simplex_agrees_with_the_exact_block_program():
    for instance in islice(models(3, ((2, 1), (2, 2), (3, 1)), enumerated=40), 70):
        target, draft = table(instance["target"]), table(instance["draft"])
        length = instance["length"]
        solution = solve(BlockProgram(draft, target, length).build(), "rational")
        laws = draft.blocks(length), target.blocks(length)
        assert solution.value == best_transport(*laws, common_prefix)


def test_the_network_simplex_agrees_with_the_block_program_in_floats():
    for instance in islice(random_models(4, ((2, 3), (3, 2))), 10):
        length = instance["length"]
        target, draft = table(instance["target"]), table(instance["draft"])
        as_floats = [lambda x, m=model: [float(p) for p in m(x)] for model in (draft, target)]
        solution = solve(BlockProgram(*as_floats, length).build(), "highs")
        laws = draft.blocks(length), target.blocks(length)
        assert abs(solution.value - best_transport(*laws, common_prefix)) <= VALUE_ERROR


def test_couplings_have_their_marginals_and_differ():
    for instance in islice(random_models(6), 10):
        laws = [table(instance[side]).blocks(instance["length"]) for side in ("draft", "target")]
        some = [some_coupling(*laws, order) for order in range(6)]
        for pi in some:
            assert [pi.marginal(side) for side in (0, 1)] == laws
    assert len({tuple(sorted(pi.items())) for pi in some}) > 3


# --- decoding ---------------------------------------------------------------------------------


def test_equal_models_decode_whole_blocks():
    model = table((EVEN, FIRST, EVEN))
    for verify in (token_verify, block_verify, block_verify_one_token):
        assert SpecDec(verify, model, model, 2).mean_tokens(3) == 9
        law = SpecDec(verify, model, model, 2).decode(5)
        assert {calls for _, calls in law} == {2}
        assert sum(law.values()) == 1


def test_certain_models_that_disagree_decode_one_token_per_call():
    target, draft = table((FIRST,)), table((SECOND,))
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
    target, draft = table((FIRST, EVEN, FIRST)), table((EVEN, FIRST, FIRST))
    assert SpecDec(verify, target, draft, 2).mean_tokens(2) == exact
    rng = random.Random(11)  # noqa: S311
    size = 6_000
    sample = [sampled_tokens(rng, target, draft, accept_blocks) for _ in range(size)]
    error = np.std(sample) / size**0.5
    # Five standard errors: a chance of less than one in a million. The two means are 10 apart.
    assert abs(np.mean(sample) - float(exact)) <= 5 * error
    assert 10 * error < Fraction(121, 32) - Fraction(57, 16)


# --- checks that can fail ---------------------------------------------------------------------


def plain_continuation(target, draft, block):
    """Algorithm 3 with M_b instead of the residuals."""
    for mass, tau in block_acceptance(target, draft, block):
        yield Branch(mass, tau, target.after(block[:tau]))


def swapped(target, draft, block):
    """Algorithm 3 with p_rej / p_remain for p_remain / p_rej."""
    mass = 1 - min(Fraction(1), target.mass(block) / draft.mass(block))
    yield Branch(1 - mass, len(block), target.after(block))
    for tau in range(len(block) - 1, -1, -1):
        left, right = (rule(target, draft, block[:tau]) for rule in (remaining, rejected))
        chance = min(Fraction(1), right / left) if left else Fraction(1)
        following = residuals_of_whole_prefix(target, draft, block[:tau], len(block) - tau)
        yield Branch(mass * chance, tau, following)
        mass *= 1 - chance


def one_residual_token(target, draft, block):
    """Algorithm 3 with a single residual token, then M_b."""
    for mass, tau in block_acceptance(target, draft, block):
        head = block[:tau]
        following = residuals_of_whole_prefix(target, draft, head, min(len(block) - tau, 1))
        yield Branch(mass, tau, following)


def never(target, draft, block):
    """Lossless, but it accepts nothing."""
    del draft, block
    yield Branch(Fraction(1), 0, target)


def whole_block_or_none(target, draft, block):
    """Accept the block or draw it anew from the residual of blocks: lossless, but dear."""
    n, length = target.n, len(block)
    chance = min(Fraction(1), target.mass(block) / draft.mass(block))
    yield Branch(chance, length, target.after(block))
    rest = {x: max(mass - draft.mass(x), Fraction(0)) for x, mass in target.blocks(length).items()}

    def rule(prefix):
        if len(prefix) >= length:
            return target(prefix)
        parts = [
            sum((m for x, m in rest.items() if x[: len(prefix) + 1] == (*prefix, y)), Fraction(0))
            for y in range(n)
        ]
        return normalised(tuple(parts))

    if chance < 1:
        yield Branch(1 - chance, 0, LanguageModel(rule, n))


@pytest.mark.parametrize("verify", [plain_continuation, swapped, one_residual_token])
def test_verifiers_that_are_not_lossless_are_found(verify):
    assert refuted(over_models(block_level.lossless(verify), SIZES), 600)


def test_a_single_residual_token_is_found_in_what_is_decoded():
    assert refuted(over_models(loop.decodes(one_residual_token), ((2, 2),)), 600)
    assert not refuted(over_models(loop.decodes(whole_block_or_none), ((2, 2),)))


def test_broken_verifiers_break_theorem_1(monkeypatch):
    check = next(claim.check for claim in CLAIMS if claim.id == "block.thm1")
    for verify in (swapped, one_residual_token, never, token_verify):
        monkeypatch.setattr(optimum, "block_verify", verify)
        assert refuted(check, 600)


def test_a_larger_bound_than_that_of_lemma_1_is_no_optimum():
    def too_large(target, draft, length):
        laws = draft.blocks(length), target.blocks(length)
        optimal = best_transport(*laws, common_prefix)
        return equal(optimal, common_mass(target, draft, length + 1))

    assert refuted(over_models(too_large))


def test_verifiers_that_accept_less_are_found():
    assert refuted(over_models(loop.more_tokens(never, (1,))))
    assert not refuted(over_models(loop.more_tokens(block_verify, (1,))))


def test_verifiers_that_ask_for_more_scores_are_found():
    def costly(target, draft, length):
        return loop.asks_only_what_is_scored(target, draft, length, whole_block_or_none)

    assert refuted(over_models(costly, loop.LOOPS), 600)


def test_decoding_that_goes_on_after_the_end_is_found(monkeypatch):
    monkeypatch.setattr(speculative, "LOSSLESS", (one_residual_token,))
    assert refuted(next(claim.check for claim in CLAIMS if claim.id == "block.alg1"), 600)


def test_another_rule_than_token_verify_breaks_appendix_a(monkeypatch):
    monkeypatch.setattr(token_proofs, "token_verify", block_verify)
    for name in ("block.lem4", "block.appAb", "block.appAc"):
        claim = next(claim for claim in CLAIMS if claim.id == name)
        assert refuted(claim.corrected.check if claim.corrected else claim.check, 600)


def test_a_division_of_nothing_by_nothing_is_a_counterexample():
    target, draft = table((FIRST, SECOND, FIRST)), table((FIRST, FIRST, FIRST))
    assert sum(outcomes(block_verify_as_printed, target, draft, 2).output_law().values()) == 0
    assert outcomes(block_verify, target, draft, 2).output_law() == {(0, 1): 1}
    with pytest.raises(Fails, match="0/0"):
        list(block_acceptance(target, table((SECOND,)), (0, 0)))


def test_the_third_reading_agrees_with_the_right_one_on_two_tokens_of_two():
    # There one token is left where another was rejected, so that no residual can be wrong.
    for instance in islice(random_models(8, ((2, 2),)), 60):
        target, draft = table(instance["target"]), table(instance["draft"])
        law = outcomes(block_verify_in_context, target, draft, 2).output_law()
        assert law == target.blocks(2)


def test_what_never_occurs_is_refuted():
    instances = [{"n": n} for n in range(5)]
    found = occurs(small(), instances, lambda n: Fraction(min(n, 0)), "five numbers")
    assert isinstance(found, Counterexample)
    found = occurs(small(), instances, lambda n: Fraction(max(n - 2, 0)), "five numbers")
    assert (found.instances, found.worst, found.scope) == (5, 1, "five numbers; occurs in 2")


def test_a_wrong_number_in_a_table_is_found(monkeypatch):
    check = next(claim.check for claim in CLAIMS if claim.id == "block.tab3")
    assert len(tables.printed_rows(4)) == 14
    for printed, wrong in (("+0.587", "+0.857"), ("-0.024", "+0.024")):
        changed = {
            **tables.PRINTED,
            4: tuple(row.replace(printed, wrong) for row in tables.PRINTED[4]),
        }
        assert changed[4] != tables.PRINTED[4]
        monkeypatch.setattr(tables, "PRINTED", changed)
        assert refuted(check)
        monkeypatch.undo()


def test_the_formulas_of_the_example():
    row, other = (Fraction(1, 4), Fraction(3, 4)), EVEN
    assert memoryless.token_sum(other, row, 1, 2) == Fraction(3, 4) + Fraction(9, 16)
    # Bin(2, 1/2) = (1, 2, 1) / 4 against Bin(2, 3/4) = (1, 6, 9) / 16.
    assert memoryless.block_sum(other, row, 2, 2) == Fraction(1 + 6 + 4, 16)
    assert memoryless.binomial(2, Fraction(3, 4)) == tuple(Fraction(i, 16) for i in (1, 6, 9))


def test_residuals_leave_mass_out_where_they_are_not_defined():
    model = table((EVEN,))
    assert residual(model, model, ()) == (0, 0)
    assert positive(FIRST, EVEN) == (HALF, 0)
