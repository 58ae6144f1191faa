"""Traces: warping, pairs of distributions, comparisons, means, and the figures of the real one."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.special import softmax

import otspec
from otspec._base.tables import listed
from otspec.datasets import load_smollm2
from otspec.datasets.smollm2 import bundled_file
from otspec.distributions import as_distribution
from otspec.drafts import LAWS
from otspec.plots import acceptance, look_of
from otspec.rules import compared_rules
from otspec.traces import Trace, compare, summarize, warp
from otspec.traces.summary import attained_by, attains

EPS = np.finfo(float).eps
KS = (1, 2, 4, 8, 16)
POSITIONS = 12
"""Of the bundled trace, where all rules are compared."""
OPTIMA = (0.4641, 0.5936, 0.6919, 0.7614, 0.8046)
"""Mean optimum of the 72 positions of a trace of eight blocks at T = 1, to four digits."""
RECURSIVE_REJECTION = (0.4641, 0.5593, 0.6376, 0.7003, 0.7455)


def random_logits(shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).normal(scale=3, size=shape).astype(dtype)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_warp_is_the_softmax(temperature):
    logits = random_logits(1000)
    expected = softmax(logits.astype(float) / temperature)
    # The exponents are below 25 / 0.3 and rounded once each way before the exponential.
    assert np.abs(warp(logits, temperature=temperature) / expected - 1).max() < 4 * EPS * 100


def test_warp_keeps_the_top_k_and_what_ties_with_it():
    kept = warp(np.array([1.0, 3.0, 2.0, 2.0, 0.0]), top_k=2) > 0
    assert kept.tolist() == [False, True, True, True, False]


@pytest.mark.parametrize("top_k", [5, 6, 10**9])
def test_a_top_k_of_everything_changes_nothing(top_k):
    logits = random_logits(5)
    assert (warp(logits, top_k=top_k) == warp(logits)).all()


@pytest.mark.parametrize(
    ("top_p", "kept"), [(0.3, 1), (0.5, 1), (0.51, 2), (0.8, 2), (0.81, 3), (1.0, 4)]
)
def test_warp_keeps_the_fewest_tokens_that_reach_top_p(top_p, kept):
    # Powers of two have exact logarithms' softmax up to rounding; 0.5 and 0.8 leave room for it.
    probabilities = warp(np.log([0.5000001, 0.3000001, 0.1, 0.0999998]), top_p=top_p)
    assert np.count_nonzero(probabilities) == kept
    assert probabilities.sum() == pytest.approx(1, abs=4 * EPS)


def test_masked_tokens_get_probability_zero():
    assert warp(np.array([-np.inf, 0.0, 0.0])).tolist() == [0.0, 0.5, 0.5]


def test_extreme_logits_and_temperatures_warp_without_a_warning():
    assert warp(np.array([6e4, -6e4], np.float16)).tolist() == [1.0, 0.0]
    assert warp(np.array([1.0, 0.0]), temperature=1e-300).tolist() == [1.0, 0.0]
    assert warp(np.array([1.0, 0.0]), temperature=1e300).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("logits", "options", "says"),
    [
        ([0.0, np.nan], {}, r"logits\[1\] is nan"),
        ([0.0, np.inf], {}, r"logits\[1\] is inf"),
        ([-np.inf, -np.inf], {}, "no token to draw"),
        ([0.0], {"temperature": 0.0}, "temperature is 0.0.*top_k=1"),
        ([0.0], {"temperature": np.nan}, "temperature is nan"),
        ([0.0], {"temperature": np.inf}, "temperature is inf"),
        ([0.0], {"top_k": 0}, "top_k must be at least 1, got 0"),
        ([0.0], {"top_p": 0.0}, "top_p is 0.0"),
        ([0.0], {"top_p": 1.1}, "top_p is 1.1"),
    ],
)
def test_warp_refuses_what_is_no_distribution(logits, options, says):
    with pytest.raises(ValueError, match=says):
        warp(np.array(logits), **options)


def test_pairs_come_in_order_and_are_warped_alike():
    trace = Trace(random_logits((2, 3, 7), 1), random_logits((2, 3, 7), 2))
    found = list(trace.pairs(temperature=0.5, top_k=3))
    assert [position for position, _, _ in found] == list(np.ndindex(2, 3))
    for position, draft, target in found:
        assert (draft == warp(trace.draft_logits[position], temperature=0.5, top_k=3)).all()
        assert (target == warp(trace.target_logits[position], temperature=0.5, top_k=3)).all()
        # Checked once: what is checked already is returned as it is.
        assert as_distribution(draft) is draft
        assert as_distribution(target) is target


@pytest.mark.parametrize(
    ("draft", "target", "says"),
    [
        (np.zeros((2, 3)), np.zeros((2, 4)), "same positions"),
        (np.zeros(3), np.zeros(3), "at least one position"),
        (np.zeros((0, 3)), np.zeros((0, 3)), "at least one position"),
        (np.zeros((2, 0)), np.zeros((2, 0)), "at least one position"),
        (np.zeros((2, 3), int), np.zeros((2, 3)), "draft_logits has type int64"),
        ([[0.0]], np.zeros((1, 1)), "draft_logits has type list"),
    ],
)
def test_traces_of_unusable_shape_or_type_are_refused(draft, target, says):
    with pytest.raises(ValueError, match=says):
        Trace(draft, target)


def test_compare_agrees_with_the_rules_one_by_one():
    draft, target = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
    rows = compare(draft, target, [1, 2, 3])
    assert {row.drafts for row in rows} == set(LAWS)
    classes = {rule.title: rule for rule in compared_rules()}
    for row in rows:
        assert isinstance(row.acceptance.value, Fraction)
        assert row.gap >= 0
        if row.rule != "optimum":
            assert row.acceptance == classes[row.rule](draft, target, row.k).acceptance()
    assert sum(row.rule == "SpecHub" for row in rows) == 1


def test_compare_leaves_out_laws_that_do_not_exist():
    rows = compare([1, 0], [1, 0], [2])
    assert {row.drafts for row in rows} == {"iid", "hub"}
    assert compare([1, 0], [1, 0], []) == []


def test_compare_refuses_an_unknown_law():
    with pytest.raises(ValueError, match="laws holds 'urn'"):
        compare([1], [1], [1], ["urn"])


def test_means_are_over_the_positions_where_a_law_exists():
    positions = [
        compare([0.5, 0.5], [0.25, 0.75], [2], ["iid", "without-replacement"]),
        compare([1.0, 0.0], [0.25, 0.75], [2], ["iid", "without-replacement"]),
    ]
    means = {(row.rule, row.drafts): row for row in summarize(positions)}
    assert means["optimum", "iid"].positions == 2
    assert means["optimum", "iid"].acceptance == (1.0 + 0.25) / 2
    assert means["optimum", "without-replacement"].positions == 1
    assert means["recursive rejection", "iid"].gap >= 0


def test_floats_attain_the_optimum_up_to_rounding_and_fractions_exactly():
    assert attains(0.5, 0.5)
    assert attains(0.5 - 1e-12, 0.5)
    assert not attains(0.5 - 1e-8, 0.5)
    assert attains(Fraction(1, 2), Fraction(1, 2))
    assert not attains(Fraction(1, 2) - Fraction(1, 10**30), Fraction(1, 2))


def test_names_are_listed_in_words():
    names = ["a", "b", "c"]
    assert [listed(names[:i], "or") for i in (1, 2, 3)] == ["a", "a or b", "a, b or c"]
    assert attained_by(["a"]) == "a attains it"
    assert attained_by(["a", "b"]) == "a and b attain it"


def drawn(rows):
    """The chart's lines by label, and its shaded areas."""
    axes = Figure().add_subplot()
    acceptance(rows, axes)
    return {line.get_label(): line for line in axes.get_lines()}, list(axes.collections)


def test_the_chart_shades_what_the_rules_below_the_optimum_leave():
    ks = (1, 2, 3)
    draft, target = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
    lines, (shade,) = drawn(compare(draft, target, ks, ["iid"]))
    assert (lines["pooled selection"].get_ydata() == lines["optimum"].get_ydata()).all()
    corners = {tuple(corner) for corner in shade.get_paths()[0].vertices.tolist()}
    for rule in ("optimum", "k-sequential"):
        acceptance = np.asarray(lines[rule].get_ydata())
        assert corners >= set(zip(ks, acceptance.tolist(), strict=True))


def test_the_chart_shades_nothing_where_all_rules_attain_the_optimum():
    assert drawn(compare([1, 0], [1, 0], [1, 2], ["iid"]))[1] == []
    assert drawn(compare([0.5, 0.5], [0.1, 0.9], [2], ["hub"]))[1] == []


def test_each_rule_has_a_look_of_its_own_and_lines_that_coincide_open_markers():
    looks = [look_of(rule.title, rule.law_class.name) for rule in compared_rules()]
    assert len({look["color"] for look in looks}) == len(looks)
    assert len({look["marker"] for look in looks}) == len(looks)
    opened = {
        rule.title
        for rule, look in zip(compared_rules(), looks, strict=True)
        if look.get("markerfacecolor") == "none"
    }
    assert opened == {"maximal coupling", "pooled selection", "pooled selection (distinct)"}


def test_the_bundled_trace_is_a_position_of_each_text_and_drafted_blocks_of_others():
    trace = load_smollm2()
    assert trace.shape == (24, 1, 49152)
    assert trace.positions == len(set(trace.prompts)) == 24
    blocks = trace.drafted
    assert blocks.shape == (2, 8, 49152)
    assert len(set(trace.prompts + blocks.prompts)) == 26
    for logged in (trace, blocks):
        for logits in (logged.draft_logits, logged.target_logits):
            assert logits.dtype == np.float16
            assert (logits.max(axis=-1) == 0).all()
    # The drafted tokens were drawn from the draft model: each has positive probability there.
    assert blocks.draft_tokens.shape == (2, 8)
    for (block, position), draft, _ in blocks.pairs():
        assert draft[blocks.draft_tokens[block, position]] > 0


def test_the_bundled_depths_rotate():
    with bundled_file() as path, np.load(path) as arrays:
        assert arrays["depths"].ravel().tolist() == [text % 9 for text in range(24)]


@pytest.fixture(scope="module")
def bundled_means():
    trace = load_smollm2()
    pairs = islice(trace.pairs(), POSITIONS)
    positions = [compare(draft, target, KS, ["iid", "hub"]) for _, draft, target in pairs]
    return {(row.rule, row.drafts, row.k): row for row in summarize(positions)}


def test_on_the_bundled_trace_rules_are_ordered_as_theory_says(bundled_means):
    for k in KS:
        # Sums over n tokens, of which a k-th power or product is taken.
        slack = 49152 * k * EPS
        naive, recursive, k_sequential, optimum = (
            bundled_means[rule, "iid", k].acceptance
            for rule in ("naive sampling", "recursive rejection", "k-sequential", "optimum")
        )
        assert naive <= recursive + slack
        assert recursive <= optimum + slack
        assert (1 - (1 - 1 / k) ** k) * optimum - slack <= k_sequential <= optimum + slack
    best, rule = bundled_means["optimum", "hub", 2], bundled_means["SpecHub", "hub", 2]
    # SpecHub is optimal for its drafts; both are sums over n tokens.
    assert rule.acceptance == pytest.approx(best.acceptance, abs=49152 * EPS)


def test_on_the_bundled_trace_one_draft_is_accepted_as_total_variation_says(bundled_means):
    pairs = islice(load_smollm2().pairs(), POSITIONS)
    overlaps = [np.minimum(draft, target).sum() for _, draft, target in pairs]
    for rule in ("optimum", "recursive rejection", "k-sequential"):
        assert bundled_means[rule, "iid", 1].acceptance == pytest.approx(
            np.mean(overlaps), abs=49152 * EPS
        )


def test_the_full_trace_gives_the_known_means(full_trace_path):
    trace = load_smollm2(full_trace_path)
    assert trace.positions == 72
    positions = [compare(draft, target, KS, ["iid"]) for _, draft, target in trace.pairs()]
    means = {(row.rule, row.k): row.acceptance for row in summarize(positions)}
    for k, optimum, recursive in zip(KS, OPTIMA, RECURSIVE_REJECTION, strict=True):
        assert round(means["optimum", k], 4) == optimum
        assert round(means["recursive rejection", k], 4) == recursive


def test_the_optimum_of_a_position_comes_with_a_cut_that_proves_it():
    _, draft, target = next(load_smollm2().pairs())
    for k in KS:
        best = otspec.optimal_acceptance(otspec.IID(draft, k), target)
        best.check()
        members = np.array(best.cut, dtype=int)
        bound = target[members].sum() + 1 - draft[members].sum() ** k
        assert best.acceptance == pytest.approx(bound, abs=4 * 49152 * EPS)
