"""Auditing black boxes: the stated error rates, by simulation, and what can never happen."""

from __future__ import annotations

import math

import numpy as np
import pytest
from instances import fractions
from scipy.stats import binom
from searching import enough

import otspec
from otspec.auditing import deviation
from otspec.rules import KSequential, NaiveSampling, RecursiveRejection

DRAFT, TARGET = [0.5, 0.3, 0.2], [0.2, 0.5, 0.3]
LAW = otspec.IID(DRAFT, 2)
RULE = RecursiveRejection(DRAFT, TARGET, 2)
CERTAINTY = 1e-6
"""How likely each simulation below is to fail for a test that keeps its promises."""


def drawn_from(distribution):
    """A batched black box that ignores the drafts."""

    def sampler(drafts, rng):
        return rng.choice(len(distribution), len(drafts), p=distribution)

    return sampler


def accepting(rule):
    """A batched black box that returns the token and the accepted index of a rule."""
    n = rule.law.n
    rows = {tuple(x): rule.joint_kernel(x).ravel() for x in rule.law.tuples()[0].tolist()}

    def sampler(drafts, rng):
        cells = np.array([rng.choice(len(rows[x]), p=rows[x]) for x in map(tuple, drafts.tolist())])
        return cells % n, np.where(cells // n == rule.k, -1, cells // n)

    return sampler


@pytest.mark.parametrize(
    ("target", "size"),
    [
        (TARGET, 50),
        (TARGET, 1_000),
        ([0.9, 0.0999, 1e-4, 0.0], 300),  # rare tokens and an impossible one
        (np.full(100, 0.01), 60),  # more tokens than samples
    ],
)
def test_a_correct_sampler_is_called_inconsistent_as_seldom_as_stated(target, size):
    law, trials, rate = otspec.IID(np.full(len(target), 1 / len(target)), 1), enough(400), 0.05
    most, alarms = binom.isf(CERTAINTY, trials, rate), 0
    assert binom.cdf(most, trials, 1 / 2) < CERTAINTY  # a rate of 1/2 would be found
    for seed in range(trials):
        found = otspec.audit_samples(
            drawn_from(target), law, target, size, seed, false_alarm=rate, batched=True
        )
        assert found.impossible is None
        assert found.consistent is (found.p_value > rate)
        alarms += not found.consistent
    assert alarms <= most


def test_the_rate_is_used_up_where_the_statistic_has_many_values():
    trials, rate = enough(400, 200), 0.2
    alarms = sum(
        not otspec.audit_samples(
            drawn_from(TARGET), LAW, TARGET, 5_000, seed, false_alarm=rate, batched=True
        ).consistent
        for seed in range(trials)
    )
    # Ties keep it a little below the rate: 20 of the first 99 simulated values are exactly 1/5.
    assert binom.ppf(CERTAINTY, trials, 0.15) <= alarms <= binom.isf(CERTAINTY, trials, rate)


def test_the_joint_test_keeps_its_rate_too():
    trials, rate, size = enough(200, 60), 0.05, 60
    sampler = accepting(RULE)
    alarms = sum(
        not otspec.audit_samples(
            sampler, LAW, TARGET, size, seed, false_alarm=rate, batched=True, rule=RULE
        ).consistent
        for seed in range(trials)
    )
    assert alarms <= binom.isf(CERTAINTY, trials, rate)


def moved(target, distance, sources, sinks):
    """A distribution at that total variation: taken from some tokens, given to others."""
    result = np.array(target, dtype=float)
    result[sources] -= distance / len(sources)
    result[sinks] += distance / len(sinks)
    assert (result >= 0).all()
    return result


UNIFORM = np.full(20, 0.05)


@pytest.mark.parametrize("false_alarm", [0.05, 0.01])
@pytest.mark.parametrize(
    ("target", "size", "sources", "sinks"),
    [
        (TARGET, 400, [1], [0]),
        (TARGET, 400, [0, 1], [2]),
        (UNIFORM, 1_000, range(10), range(10, 20)),  # spread evenly: the hardest to see
        (UNIFORM, 1_000, range(1, 20), [0]),
        ([0.6, 0.399, 1e-3], 500, [0], [2]),
    ],
)
def test_an_error_of_the_stated_resolution_is_found(target, size, sources, sinks, false_alarm):
    law, trials = otspec.IID(np.full(len(target), 1 / len(target)), 1), enough(100, 40)
    options = {"false_alarm": false_alarm, "batched": True}
    resolution = otspec.audit_samples(
        drawn_from(target), law, target, size, 0, **options
    ).resolution
    assert 0 < resolution < 0.6
    wrong = moved(target, resolution, list(sources), list(sinks))
    found = sum(
        not otspec.audit_samples(drawn_from(wrong), law, target, size, seed, **options).consistent
        for seed in range(trials)
    )
    assert found >= binom.ppf(CERTAINTY, trials, deviation.POWER)


def test_a_report_says_what_was_seen():
    wrong = [0.5, 0.2, 0.3]
    found = otspec.audit_samples(drawn_from(wrong), LAW, TARGET, 2_000, 1, batched=True)
    assert not found.consistent
    assert found.p_value < deviation.BEYOND  # by the bound: nothing is simulated
    assert found.false_alarm == 1e-3
    assert found.token in (0, 1)
    # Four standard deviations of the frequency of token 0, at most 1/2 / sqrt(size) each.
    assert abs(found.total_variation - 0.3) <= 4 * 0.5 / math.sqrt(2_000)
    assert found.impossible is None
    assert otspec.audit_samples(drawn_from(wrong), LAW, TARGET, 2_000, 1, batched=True) == found


# What black boxes look like


@pytest.mark.parametrize("rule_class", [RecursiveRejection, KSequential, NaiveSampling])
@pytest.mark.parametrize("exact", [True, False])
def test_the_samplers_of_rules_are_consistent(rule_class, exact):
    exactly = fractions("1/2", "3/10", "1/5"), fractions("1/5", "1/2", "3/10")
    rule = rule_class(*(exactly if exact else (DRAFT, TARGET)), 2)
    found = otspec.audit_samples(rule.sample, rule.law, rule.target, 1_000, 5)
    assert found.consistent  # fails with probability 1e-3 at other seeds
    assert found.impossible is None


@pytest.mark.parametrize(
    "answer",
    [
        lambda token, _: token,
        lambda token, _: np.int64(token),
        lambda token, _: np.uint8(token),
        lambda token, _: np.array(token),
        lambda token, x: (token, token in x),
        lambda token, x: (token, np.bool_(token in x)),
        lambda token, x: (token, x.index(token) if token in x else -1),
        lambda token, x: (np.int32(token), np.int32(x.index(token) if token in x else -1)),
    ],
)
@pytest.mark.parametrize("takes_rng", [True, False])
def test_black_boxes_of_all_kinds_are_understood(answer, takes_rng):
    own = np.random.default_rng(9)

    def with_rng(x, rng):
        return answer(RULE.sample(x, rng)[0], x)

    def without_rng(x):
        return answer(RULE.sample(x, own)[0], x)

    found = otspec.audit_samples(with_rng if takes_rng else without_rng, LAW, TARGET, 500, 7)
    assert found.consistent
    assert found.impossible is None


def test_batched_black_boxes_are_called_once():
    calls = []

    def sampler(drafts):
        calls.append(drafts.shape)
        rng = np.random.default_rng(1)
        tokens = rng.choice(3, len(drafts), p=TARGET)
        return tokens, (drafts == tokens[:, None]).any(axis=1)

    assert otspec.audit_samples(sampler, LAW, TARGET, 500, 0, batched=True).consistent
    assert calls == [(500, 2)]
    assert otspec.audit_samples(accepting(RULE), LAW, TARGET, 500, 0, batched=True).consistent


@pytest.mark.parametrize("batched", [True, False])
def test_torch_tensors_are_understood(batched):
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(0)
    target = torch.tensor(TARGET)

    def sampler(x):
        size = len(x) if batched else 1
        tokens = torch.multinomial(target, size, replacement=True, generator=generator)
        return tokens if batched else tokens[0]

    assert otspec.audit_samples(sampler, LAW, TARGET, 500, 0, batched=batched).consistent


# What never happens


@pytest.mark.parametrize(
    ("sampler", "says"),
    [
        (lambda x, rng: (RULE.sample(x, rng)[0], 0), "the token is not the accepted draft"),
        (lambda x, rng: (RULE.sample(x, rng)[0], True), "is said to be one of the drafts"),
    ],
)
def test_an_impossible_answer_is_named(sampler, says):
    found = otspec.audit_samples(sampler, LAW, TARGET, 500, 0)
    assert not found.consistent
    assert found.p_value == 0
    assert says in found.impossible
    assert found.impossible.startswith("drafts (")


def test_a_token_of_probability_zero_is_impossible():
    target = [0.5, 0.5, 0.0]
    found = otspec.audit_samples(
        drawn_from([0.5, 0.495, 0.005]), LAW, target, 2_000, 0, batched=True
    )
    assert not found.consistent
    assert found.impossible == "token 2 came out, which has probability 0 there"
    assert otspec.audit_samples(drawn_from(target), LAW, target, 2_000, 0, batched=True).consistent


# Dependence between the output and the accepted draft


SPREAD = KSequential(DRAFT, TARGET, 2)
"""A rule that may accept any token in any round."""


def crossed(drafts, rng):
    """Outputs distributed as the target, of which the last draft is said to be accepted."""
    tokens, _ = accepting(SPREAD)(drafts, rng)
    last = drafts.shape[1] - 1 - np.argmax((drafts == tokens[:, None])[:, ::-1], axis=1)
    return tokens, np.where((drafts == tokens[:, None]).any(axis=1), last, -1)


def test_a_wrong_accepted_draft_is_seen_by_the_joint_test_only():
    marginal = otspec.audit_samples(crossed, LAW, TARGET, 3_000, 4, batched=True)
    joint = otspec.audit_samples(crossed, LAW, TARGET, 3_000, 4, batched=True, rule=SPREAD)
    assert marginal.consistent
    assert joint.impossible is None  # nothing that could not be, only too often
    assert not joint.consistent
    right = otspec.audit_samples(
        accepting(SPREAD), LAW, TARGET, 3_000, 4, batched=True, rule=SPREAD
    )
    assert right.consistent


# Errors


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"size": 0}, "size must be at least 1, got 0"),
        ({"false_alarm": 0.0}, "false_alarm is 0.0: it must be at least 1/5000"),
        ({"false_alarm": 1.0}, "false_alarm is 1.0"),
        ({"target": [0.5, 0.5]}, "law has 3 tokens and target has 2"),
        ({"target": fractions("1/5", "1/2", "3/10")}, "target is exact but law is float"),
        ({"sampler": lambda _: 3}, "token outside 0..2"),
        ({"sampler": lambda _: 0.0}, "type float64"),
        ({"sampler": lambda _: [0, 1]}, r"shape \(20, 2\)"),
        ({"sampler": lambda x: (x[0], True, 0)}, "sampler"),
        ({"sampler": lambda x: (x[0], 2)}, "sampler"),
        ({"sampler": lambda x: (x[0], 0.7)}, "sampler"),
        ({"sampler": lambda x: (x[0], (0, 1))}, "sampler"),
        ({"sampler": lambda x: (0, 0) if x[0] == 0 else 1}, "sampler"),
        ({"sampler": lambda _: np.zeros(3, int), "batched": True}, r"shape \(3,\)"),
        ({"sampler": lambda x: x[0], "rule": RULE}, "must return the accepted index"),
        ({"sampler": lambda x: (x[0], True), "rule": RULE}, "must return the accepted index"),
    ],
)
def test_unusable_input_is_refused(options, says):
    given = {"sampler": lambda x: x[0], "law": LAW, "target": TARGET, "size": 20, "seed": 0}
    with pytest.raises(ValueError, match=says):
        otspec.audit_samples(**(given | options))
