"""Checks of the claims on block verification fail once something is broken."""

from fractions import Fraction
from itertools import islice

import pytest

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
from validation.verified_blocks import (
    best_transport,
    common_mass,
    common_prefix,
    outcomes,
)
from validation.models import (
    SIZES,
    LanguageModel,
    random_models,
    table,
)
from validation.block_algorithms import (
    Branch,
    block_acceptance,
    block_verify,
    block_verify_as_printed,
    block_verify_in_context,
    rejected,
    remaining,
    residual,
    residuals_of_whole_prefix,
    token_verify,
)
from validation.claim import Counterexample, Fails, Search, equal
from validation.notation import normalised, positive

HALF = Fraction(1, 2)
EVEN, FIRST, SECOND = (HALF, HALF), (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))


def small(instances=60, seed=0):
    # The time limit is for a machine that is busy: the number of instances comes first.
    return Search(seconds=20.0 if instances > 60 else 10.0, instances=instances, seed=seed)


def refuted(check, instances=60):
    return isinstance(check(small(instances)), Counterexample)


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
