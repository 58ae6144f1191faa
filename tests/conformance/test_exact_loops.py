"""Stand-ins for public verifiers: the exact law of the rule that they are, or the exact error."""

import itertools
import math

import numpy as np
import pytest
from tiny_models import transformers

import otspec
from otspec.conformance import exact_kernel, exact_law, exact_texts
from otspec.models import memoryless

transformers()

import engine_loops  # noqa: E402 # only where PyTorch is installed
import torch  # noqa: E402
from engine_loops import tensor  # noqa: E402

PAIRS = {
    "usual": ([0.5, 0.3, 0.2], [0.1, 0.6, 0.3]),
    "zeros": ([0.5, 0.5, 0.0], [0.0, 0.25, 0.75]),
    "ties": ([0.4, 0.4, 0.2], [0.2, 0.4, 0.4]),
    "the same": ([0.5, 0.3, 0.2], [0.5, 0.3, 0.2]),
    "random": tuple(np.random.default_rng(5).dirichlet(np.ones(3), 2).tolist()),
}


def vllm(draft, target, **faults):
    def verify(x):
        shape = (1, len(x), len(draft))
        p, q = (tensor(each).expand(shape) for each in (draft, target))
        bonus = torch.multinomial(tensor(target), 1)[None]
        return engine_loops.vllm(torch.tensor([x]), p, q, bonus, **faults)[0]

    return verify


def sglang(draft, target, **thresholds):
    return lambda x: engine_loops.sglang(x, np.array(target), **thresholds)


def eagle(draft, target, **faults):
    return lambda x: engine_loops.eagle(
        tensor(target).log(), torch.tensor(x), tensor(draft), **faults
    )


def mcsd(draft, target):
    return lambda x: engine_loops.mcsd(tensor(target), tensor(draft), torch.tensor(x))


def specinfer(draft, target):
    return lambda x, rng: engine_loops.specinfer(x, np.array(draft), np.array(target), rng)


VERIFIERS = {
    "vllm": (vllm, 1, otspec.rules.MaximalCoupling),
    "sglang": (sglang, 2, otspec.rules.TargetOnly),
    "eagle": (eagle, 2, otspec.rules.RecursiveRejectionWithoutReplacement),
    "mcsd": (mcsd, 2, otspec.rules.RecursiveRejection),
    "specinfer": (specinfer, 2, otspec.rules.RecursiveRejection),
}


def in_any_order(kernel, x):
    return np.mean([kernel(order) for order in itertools.permutations(x)], axis=0)


@pytest.mark.parametrize("name", VERIFIERS)
@pytest.mark.parametrize("pair", PAIRS)
def test_the_law_is_that_of_the_rule(name, pair):
    make, k, rule_class = VERIFIERS[name]
    draft, target = PAIRS[pair]
    rule = rule_class(draft, target) if k == 1 else rule_class(draft, target, k)
    kernel = exact_kernel(make(draft, target), len(draft))
    report = otspec.audit(kernel, law=rule.law, target=target, tolerance=1e-14)
    assert report.lossless, report.witness
    assert math.isclose(report.acceptance, rule.acceptance(), abs_tol=1e-14)
    for x in rule.law.tuples()[0].tolist():
        wanted = in_any_order(rule.kernel, x) if name == "specinfer" else rule.kernel(x)
        found = kernel(tuple(x)).astype(float)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-14)


def test_a_token_recovered_from_the_target_is_caught_with_its_exact_error():
    draft, target = (np.array(each) for each in PAIRS["usual"])
    kernel = exact_kernel(vllm(draft, target, recovered_from="target"), 3)
    report = otspec.audit(kernel, law=otspec.IID(draft, 1), target=target)
    kept = np.minimum(draft, target)
    wrong = kept + (1 - kept.sum()) * target
    assert not report.lossless
    assert report.total_variation == pytest.approx(abs(wrong - target).sum() / 2, abs=1e-15)


def test_siblings_that_are_not_taken_out_of_the_draft_are_caught():
    draft, target = PAIRS["usual"]
    law = otspec.WithoutReplacement(draft, 2)
    report = otspec.audit(exact_kernel(eagle(draft, target, again=False)), law=law, target=target)
    assert not report.lossless
    rule = otspec.rules.RecursiveRejection(draft, target, 2)
    wrong = sum(mass * rule.kernel(x) for x, mass in zip(*law.tuples(), strict=True))
    assert report.output.tolist() == pytest.approx(wrong.tolist(), abs=1e-14)
    assert report.total_variation == pytest.approx(0.06, abs=1e-14)


def test_thresholds_are_caught_with_their_exact_error():
    draft, target = PAIRS["usual"]
    verify = sglang(draft, target, threshold_acc=0.5)
    report = otspec.audit(exact_kernel(verify), law=otspec.TopK(draft, 2), target=target)
    # 0 comes with chance 0.1 / 0.5, 1 as soon as the coin is below (0.1 + 0.6) / 0.5: always.
    assert report.output.tolist() == pytest.approx([0.2, 0.8, 0], abs=1e-15)
    assert report.total_variation == pytest.approx(0.3, abs=1e-15)


def test_typical_acceptance_has_the_error_that_it_is_made_for():
    draft, target = PAIRS["usual"]
    logits = tensor(target).log()

    def verify(x):
        return engine_loops.medusa(logits, x[0], threshold=0.25, alpha=1.0)

    report = otspec.audit(exact_kernel(verify), law=otspec.IID(draft, 1), target=target)
    # Tokens 1 and 2 are above the bar; 0 is rejected, and then the target is drawn from.
    wrong = [0.5 * 0.1, 0.3 + 0.5 * 0.6, 0.2 + 0.5 * 0.3]
    assert report.output.tolist() == pytest.approx(wrong, abs=1e-15)
    assert report.total_variation == pytest.approx(0.05, abs=1e-15)


def test_blocks_of_a_batch_are_those_of_token_verification():
    draft, target = [0.5, 0.5], [0.25, 0.75]

    def generate(p, q, length):
        drafts = np.random.choice(2, length, p=p(()))
        text = vllm(p(()).tolist(), q(()).tolist())(drafts.tolist()).tolist()
        text = text[: text.index(-1)] if -1 in text else text
        return [*text, *np.random.choice(2, length, p=q(()))]

    report = exact_texts(generate, memoryless(draft), memoryless(target), 2)
    assert report.lossless
    assert len(report.texts) == 4


def two_steps(draft, target, length):
    """Say a text as gpt-fast does, one drafted token per step."""
    text = ()
    while len(text) < length:
        text += tuple(engine_loops.gpt_fast(draft, target, text, 1).tolist())
    return text


def with_kept_numbers(draft, target, length):
    """Say a text with uniform numbers that are drawn once and used in every step."""
    text, numbers = (), torch.rand(1, dtype=torch.float64)
    while len(text) < length:
        text += tuple(engine_loops.gpt_fast(draft, target, text, 1, numbers).tolist())
    return text


def test_texts_of_several_steps_are_the_targets():
    draft = memoryless([0.5, 0.5])
    target = memoryless([0.25, 0.75])
    report = exact_texts(two_steps, draft, target, 3, tolerance=1e-14)
    assert report.lossless
    assert report.texts[0, 0, 0] == pytest.approx(1 / 64, abs=1e-15)


def test_numbers_that_are_used_again_in_the_next_step_are_caught():
    draft, target = memoryless([0.5, 0.5]), memoryless([0.25, 0.75])
    one_step = exact_texts(with_kept_numbers, draft, target, 1, tolerance=1e-14)
    assert one_step.lossless
    report = exact_texts(with_kept_numbers, draft, target, 2, tolerance=1e-14)
    assert not report.lossless
    # 0 is drafted with 1/2 and kept with 1/2; the numbers decide alike in both steps. A step that
    # keeps its draft says a token of the target as well, and is the last one.
    half = with_one_number()
    assert {x: float(m) for x, m in report.texts.items()} == pytest.approx(half, abs=1e-15)
    wrong = sum(abs(m - wanted(x)) for x, m in half.items()) / 2
    assert report.total_variation == pytest.approx(wrong, abs=1e-15)


def wanted(text):
    return math.prod((0.25, 0.75)[token] for token in text)


def with_one_number():
    """Return the law of two tokens: the number is below 1/2, where all is kept, or it is not."""
    law = dict.fromkeys(itertools.product(range(2), repeat=2), 0.0)
    for low in (True, False):
        for x in range(2):
            if low or x == 1:  # kept
                for bonus in range(2):
                    law[x, bonus] += 0.5 * 0.5 * (0.25, 0.75)[bonus]
            else:  # 1 comes instead, and the next step decides alike
                law[1, 1] += 0.5 * 0.5 * 1.0
    return law


def test_one_number_for_the_draft_and_its_acceptance_is_caught():
    draft, target = memoryless([0.5, 0.5]), memoryless([0.25, 0.75])

    def generate(p, q, length):
        text = ()
        while len(text) < length:
            u = torch.rand((), dtype=torch.float64)
            edges = torch.cumsum(tensor(p(text)), -1)
            x = torch.searchsorted(edges, u[None]).item()
            ratio = q(text)[x] / p(text)[x]
            text += (x if u <= ratio else 1,)
        return text

    report = exact_texts(generate, draft, target, 1)
    # 0 is drafted if u is below 1/2, and then u is below the ratio 1/2 as well.
    assert not report.lossless
    assert report.total_variation == pytest.approx(0.25, abs=1e-15)
    assert report.witness in ((0,), (1,))


def test_an_engine_that_raises_is_given_no_verdict():
    draft, target = memoryless([0.5, 0.5]), memoryless([0.25, 0.75])
    report = exact_texts(lambda *_: [0], draft, target, 2)
    assert (report.lossless, report.reason) == (
        None,
        "the engine fails with ValueError: generate returned 1 tokens: it must return 2",
    )
    assert (report.texts, report.total_variation, report.witness, report.error) == ({}, *[None] * 3)
    report = exact_texts(lambda *_: [int(float(torch.rand(1)))], draft, target, 1)
    assert report.reason.startswith("the engine fails with CannotFollowError: it turns a random")


def test_races_that_are_not_used_cost_nothing():
    """One token of 300 positions is used: each of the others would be a branch of its own."""
    law = exact_law(lambda: torch.multinomial(torch.ones(300, 3), 1)[7])
    assert law == {(i,): pytest.approx(1 / 3) for i in range(3)}


def test_a_product_of_numbers_where_one_belongs_has_its_exact_law():
    draft, target = (tensor(each).expand(2, 3) for each in PAIRS["usual"])
    law = exact_law(engine_loops.block_of_products, torch.tensor([0, 0]), draft, target)
    one, both = 0.2, 0.04  # the ratio of each draft, and of both
    wanted = {
        2: both * (1 - math.log(both)),
        1: one - both - both * math.log(one / both),
    }
    assert law == pytest.approx({**wanted, 0: 1 - sum(wanted.values())}, abs=1e-15)
    # One number for the block keeps both with chance 0.04, and one of them with 0.16.
    assert law[2] > 4 * both
