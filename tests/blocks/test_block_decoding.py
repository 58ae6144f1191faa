"""Decoding block after block: the whole law of the text, by chance, and its audit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from block_models import ALGORITHMS, Pair, every_other, model_pairs, within
from instances import EPS, fractions
from programs import ways
from searching import NIGHTLY, enough

from otspec.auditing import audit_blocks
from otspec.blocks import (
    BLOCK_RULES,
    BlockRule,
    BlockVerification,
    BlockVerificationPreprint,
    Decoded,
    HierarchicalVerification,
    TokenVerification,
    decode,
    decoded_after,
    decoded_law,
)
from otspec.models import memoryless
from validation.block.section_2 import SpecDec
from validation.verified_blocks import best_transport, common_prefix

WHOLE = {(2, 1): (6, 8), (2, 2): (6, 8), (2, 3): (6, 8), (3, 1): (4, 8), (3, 2): (4, 8)}
"""How long the texts are for each alphabet and block, and for how many pairs of models."""
HALVES, FIRST = fractions("1/2", "1/2"), fractions(1, 0)
CHAINED = Pair({(): HALVES, (0,): FIRST, (1,): FIRST}, {(): FIRST, (0,): HALVES, (1,): FIRST}, 2)
"""A pair of which the preprint's rule decodes less than the token rule in two blocks."""


def every_way(rule, tokens):
    """The law of the first tokens, block after block, each looked at anew."""
    law = {}
    for outcome in rule.outcomes() if tokens else ():
        head = outcome.accepted[:tokens]
        if len(head) == tokens:
            law[head] = law.get(head, 0) + outcome.mass
            continue
        for token, chance in enumerate(outcome.following(())):
            if chance:
                draft = rule.draft.after((*outcome.accepted, token))
                rest = replace(rule, draft=draft, target=outcome.following.after((token,)))
                for more, mass in every_way(rest, tokens - len(head) - 1).items():
                    text = (*head, token, *more)
                    law[text] = law.get(text, 0) + outcome.mass * chance * mass
    return law if tokens else {(): 1}


@pytest.mark.parametrize("rule_class", [HierarchicalVerification, BlockVerificationPreprint])
def test_what_is_found_once_for_each_state_is_what_every_way_gives(rule_class):
    """Also of a rule that is not lossless, whose texts depend on where blocks begin."""
    for pair in islice(model_pairs(9, 2, 2, 6), 5):
        rule = rule_class(*pair.exact, 2)
        assert decoded_law(rule, 5) == every_way(rule, 5)


@pytest.mark.parametrize("rule_class", BLOCK_RULES.values())
@pytest.mark.parametrize(("n", "length"), WHOLE)
def test_whole_texts_have_the_targets_law_exactly(n, length, rule_class):
    most, count = WHOLE[n, length]
    for case in every_other(706, n, length, count, list(BLOCK_RULES.values()).index(rule_class)):
        rule = rule_class(*case.exact, length)
        for tokens in (1, length, length + 1, most):
            law = decoded_law(rule, tokens)
            assert law == dict(rule.target.texts(tokens))
            assert list(law) == sorted(law)
            assert {type(mass) for mass in law.values()} == {Fraction}


def test_corrections_end_with_their_blocks_however_long_the_text_is():
    models = memoryless([0.9, 0.1]), memoryless([0.1, 0.9])
    decoded = decode(BlockVerificationPreprint(*models, 8), 500, np.random.default_rng(0))
    assert len(decoded.tokens) >= 500


@pytest.mark.parametrize("rule_class", BLOCK_RULES.values())
def test_longer_texts_over_three_tokens_have_the_targets_law(rule_class):
    case = next(model_pairs(707, 3, 2, 1))
    rule = rule_class(*case.exact, 2)
    tokens = 6 if NIGHTLY else 5
    assert decoded_law(rule, tokens) == dict(rule.target.texts(tokens))


@pytest.mark.parametrize(("n", "length"), [(2, 1), (2, 2), (2, 3), (3, 2)])
def test_the_preprints_rule_is_the_best_coupling_of_blocks(n, length):
    for case in model_pairs(708, n, length, 12):
        draft, target = case.exact
        rule = BlockVerificationPreprint(draft, target, length)
        coupling = {}
        for block, mass in draft.texts(length):
            for head, outcome in ways(rule, block).items():
                for more, share in outcome.following.texts(length - len(head)):
                    pair = block, head + more
                    coupling[pair] = coupling.get(pair, 0) + mass * outcome.mass * share
        for side, model in enumerate((draft, target)):
            marginal = {}
            for blocks, mass in coupling.items():
                marginal[blocks[side]] = marginal.get(blocks[side], 0) + mass
            assert marginal == dict(model.texts(length))
        value = sum(mass * common_prefix(*blocks) for blocks, mass in coupling.items())
        literal_target, literal_draft = case.literal
        best = best_transport(
            literal_draft.blocks(length), literal_target.blocks(length), common_prefix
        )
        assert value == best == rule.expected()


@pytest.mark.parametrize("rule_class", BLOCK_RULES.values())
@pytest.mark.parametrize(("n", "length", "blocks"), [(2, 1, 4), (2, 2, 3), (2, 3, 2), (3, 2, 2)])
def test_several_blocks_decode_as_many_tokens_as_the_algorithm(n, length, blocks, rule_class):
    for case in every_other(709, n, length, 8, list(BLOCK_RULES.values()).index(rule_class)):
        rule = rule_class(*case.exact, length)
        assert decoded_after(rule, 1) == rule.efficiency()
        for count in range(1, blocks + 1):
            wanted = SpecDec(ALGORITHMS[rule_class], *case.literal, length).mean_tokens(count)
            found = decoded_after(rule, count)
            assert found == wanted
            assert type(found) is Fraction


def test_after_two_blocks_the_preprints_rule_may_be_behind_the_token_rule():
    block, token = (
        rule(*CHAINED.exact, 2) for rule in (BlockVerificationPreprint, TokenVerification)
    )
    assert block.expected() >= token.expected()
    assert decoded_after(block, 2) == Fraction(57, 16)
    assert decoded_after(token, 2) == Fraction(121, 32)
    rough = BlockVerificationPreprint(*CHAINED.float, 2)
    assert decoded_after(rough, 2) == 57 / 16
    for blocks in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="blocks"):
            decoded_after(block, blocks)


def test_the_next_block_of_the_preprints_rule_has_what_is_left_of_the_residuals_as_target():
    """Target after X^0: residuals at (), then at (0) or (1), then the target's own rows."""
    rule = BlockVerificationPreprint(*CHAINED.exact, 2)
    [following] = [each.following for each in rule.outcomes() if each.accepted == ()]
    # At (): (1, 0) − (1/2, 1/2); at (0): 2·(1/2, 1/2) − (1, 0), all on token 1.
    assert following(()).tolist() == [1, 0]
    assert following((0,)).tolist() == [0, 1]
    assert following((0, 1)).tolist() == rule.target((0, 1)).tolist()
    rest = following.after((0,))
    assert rest(()).tolist() == [0, 1]
    assert rest.after((1,))(()).tolist() == rule.target((0, 1)).tolist()
    assert following.after(()).mass((0, 1)) == 1
    next_rule = rule.restarted(rule.draft.after((0,)), rest)
    assert type(next_rule) is BlockVerificationPreprint
    assert next_rule.length == 2
    assert next_rule.expected() == Fraction(0)


@pytest.mark.parametrize("rule_class", BLOCK_RULES.values())
def test_decoded_texts_have_the_targets_frequencies(rule_class):
    size, tokens = enough(1_500, 500), 4
    for index, case in enumerate([CHAINED, *model_pairs(710, 2, 2, 3)]):
        rule, rng = rule_class(*case.float, 2), np.random.default_rng((11, index))
        counts: dict = {}
        calls = []
        for _ in range(size):
            found = decode(rule, tokens, rng)
            assert isinstance(found, Decoded)
            assert tokens <= len(found.tokens) <= tokens + 2  # the last block brings 3 at most
            assert -(-len(found.tokens) // 3) <= found.calls <= tokens
            assert found.efficiency == len(found.tokens) / found.calls
            text = found.tokens[:tokens]
            counts[text] = counts.get(text, 0) + 1
            calls.append(found.calls)
        assert within(counts, dict(case.exact[1].texts(tokens)), size)
        law: dict = {}
        target, draft = case.literal
        algorithm = ALGORITHMS[rule_class]
        for (_, number), mass in SpecDec(algorithm, target, draft, 2).decode(tokens).items():
            law[number] = law.get(number, 0) + mass
        assert within({number: calls.count(number) for number in set(calls)}, law, size)


def test_decoding_repeats_with_the_seed_and_refuses_no_tokens():
    rule = BlockVerificationPreprint(*CHAINED.exact, 2)
    texts = [decode(rule, 20, np.random.default_rng(seed)) for seed in (1, 1, 2, 3, 4)]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 1
    for tokens in (0, -3, 2.5, None):
        with pytest.raises(ValueError, match="tokens"):
            decode(rule, tokens, np.random.default_rng(0))


@pytest.mark.parametrize("rule_class", BLOCK_RULES.values())
def test_audits_find_all_rules_lossless_and_their_gaps(rule_class):
    for case in model_pairs(711, 2, 2, 16):
        rule = rule_class(*case.exact, 2)
        for tokens in (None, 1, 4):
            report = audit_blocks(rule, tokens)
            assert report.lossless
            assert report.witness is None
            assert (report.error, report.total_variation, report.tolerance) == (0, 0, 0)
            assert report.texts == dict(rule.target.texts(tokens or 3))
            assert report.expected == rule.expected()
            assert report.optimum == BlockVerificationPreprint(*case.exact, 2).expected()
            assert report.gap == report.optimum - report.expected
            assert report.gap >= 0
            if rule_class is BlockVerificationPreprint:
                assert report.gap == 0


def test_the_gap_of_the_published_rule_is_known():
    draft, target = memoryless(HALVES), memoryless(["1/4", "3/4"])
    report = audit_blocks(BlockVerification(draft, target, 2), 5)
    assert (report.expected, report.optimum) == (Fraction(11, 8), Fraction(23, 16))
    assert report.gap == Fraction(1, 16)
    without = audit_blocks(BlockVerification(draft, target, 2), optimum=False)
    assert without.optimum is None
    assert without.gap is None


class Uncorrected(TokenVerification):
    """Draws the next token from the target, whatever was rejected."""

    def following(self, kept, row):
        del row
        return self.target.after(kept)


class Unlimited(BlockVerification):
    """Takes M_b/M_s for p_i, as the preprint does, but corrects one token only."""

    def verify(self, drafts, chance):
        return BlockVerificationPreprint.verify(self, drafts, chance)


class Forgetful(BlockVerificationPreprint):
    """Follows the target after one corrected token, not the residuals."""

    def following(self, kept, row):
        return OneToken(super().following(kept, row), self.target.after(kept))


class OneToken:
    """The first token of one model, and then another."""

    def __init__(self, first, then):
        self.first, self.then = first, then

    def __call__(self, prefix):
        return self.then(prefix) if prefix else self.first(prefix)

    def after(self, prefix):
        return self.then.after(prefix)


@pytest.mark.parametrize("rule_class", [Uncorrected, Unlimited, Forgetful])
def test_broken_rules_are_found_with_a_text_as_witness(rule_class):
    draft, target = memoryless(HALVES), memoryless(["1/4", "3/4"])
    found = 0
    pairs = [(draft, target), *(case.exact for case in model_pairs(712, 2, 2, 24))]
    for models in pairs:
        rule = rule_class(*models, 2)
        report = audit_blocks(rule)
        wanted = dict(rule.target.texts(3))
        differences = {
            text: report.texts.get(text, 0) - wanted.get(text, 0)
            for text in {**wanted, **report.texts}
        }
        assert report.lossless == (set(differences.values()) == {0})
        assert report.total_variation == sum(map(abs, differences.values())) / 2
        if report.lossless:
            continue
        found += 1
        assert report.error == differences[report.witness]
        assert abs(report.error) == max(map(abs, differences.values()))
        # A lenient tolerance lets it pass, one below the error does not.
        assert audit_blocks(rule, tolerance=float(abs(report.error)) * 1.01).lossless
        assert not audit_blocks(rule, tolerance=float(abs(report.error)) * 0.99).lossless
    assert found >= 3
    rough = audit_blocks(rule_class(memoryless([0.5, 0.5]), memoryless([0.25, 0.75]), 2))
    exact = audit_blocks(rule_class(draft, target, 2))
    assert rough.lossless == exact.lossless
    assert abs(rough.total_variation - exact.total_variation) <= 100 * EPS


@pytest.mark.parametrize("rule_class", BLOCK_RULES.values())
def test_audits_in_floats_allow_for_rounding_only(rule_class):
    for case in model_pairs(713, 3, 2, 16):
        report = audit_blocks(rule_class(*case.float, 2), 4)
        assert report.lossless
        assert 0 < report.tolerance <= (81 + 32) * EPS
        assert report.total_variation <= 81 * report.tolerance
        assert type(report.expected) is type(report.optimum) is float
        assert report.error == 0.0
        assert report.gap >= -100 * EPS


@dataclass(frozen=True, eq=False)
class NothingDrafted(BlockRule):
    """Keeps nothing and follows the target: another kind of rule."""

    depth = 1

    def verify(self, drafts, chance):
        del drafts, chance
        return -1


def test_rules_of_another_kind_are_audited_without_an_optimum():
    rule = NothingDrafted(memoryless(HALVES), memoryless(["1/4", "3/4"]))
    with pytest.raises(ValueError, match=r"rule is NothingDrafted, .*audit it with optimum=False"):
        audit_blocks(rule)
    report = audit_blocks(rule, 3, optimum=False)
    assert report.lossless
    assert report.expected == rule.expected() == 0
    assert decode(rule, 3, np.random.default_rng(0)).calls == 3
    assert replace(rule).depth == 1
