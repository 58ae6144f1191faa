"""Accept lengths as engines count them: against counted decodings, and in the forms of engines."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from searching import NIGHTLY
from test_replay import decoded, logged, of_tree

from otspec.blocks import BLOCK_RULES
from otspec.logged import (
    ENGINE_FORMS,
    AcceptLengths,
    LoggedBlock,
    Tally,
    lengths_on_blocks,
    lengths_on_texts,
    replay,
)
from otspec.logged.metrics import counts_of
from otspec.models import TableModel, memoryless
from otspec.rules import PooledSelection, RecursiveRejection, RecursiveRejectionWithoutReplacement
from otspec.rules.base import accepted
from otspec.rules.rejection import without_replacement

pytestmark = pytest.mark.usefixtures("rules_made_once")

DRAFT = TableModel({(): [0.5, 0.5], (0,): [0.75, 0.25]})
TARGET = TableModel({(): [0.25, 0.75], (1,): [0.5, 0.5]})
EXACT = (
    TableModel({(): ["1/2", "1/2"], (0,): ["3/4", "1/4"]}),
    TableModel({(): ["1/4", "3/4"], (1,): ["1/2", "1/2"]}),
)
TREE = "2x1"


def texts_of(number, count, seed=0):
    """Texts that are drawn from the target."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        text = ()
        while len(text) < number:
            text = (*text, int(rng.choice(2, p=TARGET(text))))
        yield logged(DRAFT, TARGET, text)


def counters(number):
    """What an engine counts when it decodes: E of calls, and of calls that keep at least l."""
    ways = decoded(of_tree(RecursiveRejection, TREE), *EXACT, number)
    calls, reached = 0, np.zeros(2)
    for each in ways.values():
        for mass, taus in each:
            calls += float(mass) * len(taus)
            reached += [float(mass) * sum(tau >= level for _, tau in taus) for level in (1, 2)]
    return calls, reached


def test_over_all_texts_the_metrics_are_the_counters_of_an_engine():
    number = 4
    calls, reached = counters(number)
    rows = [
        (float(mass), replay(logged(DRAFT, TARGET, text), RecursiveRejection, TREE))
        for text, mass in EXACT[1].texts(number)
    ]
    total = sum(mass * each.calls for mass, each in rows)
    assert total == pytest.approx(calls, rel=1e-12)
    lengths = sum(mass * each.lengths for mass, each in rows)
    assert lengths[::-1].cumsum()[::-1][1:] == pytest.approx(reached, rel=1e-12)


def test_metrics_are_ratios_of_sums_over_the_calls_of_all_texts():
    texts = list(texts_of(6, 30))
    found = lengths_on_texts(iter(texts), RecursiveRejection, TREE)
    replays = [replay(text, RecursiveRejection, TREE) for text in texts]
    calls = sum(each.calls for each in replays)
    taus = sum(each.lengths for each in replays)
    marginal = [taus[1:].sum() / calls, taus[2] / calls]
    assert [rate.value for rate in found.marginal] == pytest.approx(marginal)
    conditional = [marginal[0], marginal[1] / marginal[0]]
    assert [rate.value for rate in found.conditional] == pytest.approx(conditional)
    assert found.accepted.value == pytest.approx(sum(marginal))
    assert found.acceptance_length.value == pytest.approx(1 + sum(marginal))
    assert found.tokens_per_call.value == pytest.approx(6 * 30 / calls)
    assert found.acceptance_rate.value == pytest.approx(sum(marginal) / 4)
    assert found.rates == pytest.approx(marginal)
    assert found.law == pytest.approx(taus / calls)
    assert (found.drafted, found.depth, found.tally.texts) == (4, 2, 30)
    for measured in (*found.marginal, *found.conditional, found.accepted, found.tokens_per_call):
        assert measured.low < measured.value < measured.high


def test_parts_are_added():
    texts = list(texts_of(5, 12))
    whole = lengths_on_texts(texts, PooledSelection, TREE)
    parts = [lengths_on_texts(some, PooledSelection, TREE) for some in (texts[:5], texts[5:])]
    both = parts[0] + parts[1]
    assert both.accepted == pytest.approx(whole.accepted, rel=1e-12)
    other = lengths_on_texts(texts, PooledSelection, "2")
    with pytest.raises(ValueError, match="add those of one tree"):
        both + other


def test_tallies_of_some_texts_add_up_to_that_of_all():
    rows = np.array([[3, 5], [2, 7], [4, 1]])
    found = Tally.of(rows[:2]) + Tally.of(rows[2:])
    assert (found.texts, found.sums.tolist()) == (3, [9, 13])
    assert found.products.tolist() == [[29, 33], [33, 75]]
    assert "products" not in repr(found)  # m² numbers


def test_the_interval_is_that_of_a_ratio_of_sums():
    """Against the jackknife over texts, which leaves out each in turn."""
    rng = np.random.default_rng(3)
    below = rng.integers(5, 20, 400).astype(float)
    above = below * rng.normal(2, 0.3, 400)
    found = Tally.of(np.stack([above, below], axis=1)).ratio(np.eye(2)[0], np.eye(2)[1])
    left_out = (above.sum() - above) / (below.sum() - below)
    error = math.sqrt(399 / 400 * ((left_out - left_out.mean()) ** 2).sum())
    assert found.value == pytest.approx(above.sum() / below.sum(), rel=1e-12)
    assert found.high - found.value == pytest.approx(1.966 * error, rel=0.01)
    assert found.value - found.low == pytest.approx(found.high - found.value)


def test_one_text_has_no_interval_and_no_call_no_rate():
    one = lengths_on_texts(texts_of(6, 1), RecursiveRejection, TREE)
    assert math.isnan(one.accepted.low)
    assert one.accepted.value > 0
    never = memoryless([1.0, 0.0]), memoryless([0.0, 1.0])
    text = logged(*never, (1, 1, 1))
    nothing = lengths_on_texts([text, text], RecursiveRejection, TREE)
    assert nothing.accepted == (0, 0, 0)
    assert nothing.acceptance_length == (1, 1, 1)
    assert math.isnan(nothing.conditional[1].value)
    assert nothing.rates == (0, 0)


def test_where_all_is_kept_the_intervals_end_at_the_whole_tree():
    text = logged(memoryless([0.0, 1.0]), memoryless([0.0, 1.0]), (1,) * 6)
    everything = lengths_on_texts([text, text], RecursiveRejection, "1x1")
    assert everything.accepted == (2, 2, 2)
    assert everything.acceptance_length == everything.tokens_per_call == (3, 3, 3)


@pytest.mark.parametrize("rule", [*BLOCK_RULES.values(), RecursiveRejection])
def test_drafted_blocks_give_means_without_bias(rule):
    tree = "1x1" if rule in BLOCK_RULES.values() else TREE
    blocks, masses = [], []
    for text, mass in EXACT[0].texts(2):
        heads = [text[:depth] for depth in range(2)]
        rows = [[model(head) for head in heads] for model in (DRAFT, TARGET)]
        blocks.append(LoggedBlock(*rows, text))
        masses.append(float(mass))
    single = [lengths_on_blocks([block], rule, tree).accepted.value for block in blocks]
    wanted = [
        float(
            block.expected(rule, 2)
            if rule in BLOCK_RULES.values()
            else block.expected_of_tree(tree, rule)
        )
        for block in blocks
    ]
    assert single == pytest.approx(wanted, rel=1e-12)
    found = lengths_on_blocks(blocks, rule, tree)
    assert found.acceptance_length.value == pytest.approx(1 + np.mean(wanted))
    assert found.tokens_per_call.value == pytest.approx(1 + np.mean(wanted))
    with pytest.raises(ValueError, match="drafted blocks, whose tokens are weighted, give means"):
        found.draw(5)
    counted = AcceptLengths(found.drafted, found.tally, bounded=True)
    for both in (found + counted, counted + found):
        with pytest.raises(ValueError, match="drafted blocks, whose tokens are weighted"):
            both.draw(5)


def test_texts_of_one_rate_have_intervals_of_no_width():
    """Rounding takes some of the squares, which are all 0, below it."""
    rng, below = np.random.default_rng(3), 0
    for _ in range(50):
        tally = Tally.of(np.outer(rng.uniform(1, 9, 5), rng.uniform(1, 9, 3)))
        value, low, high = tally.ratio(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))
        direction = np.array([1.0, -value, 0])
        below += direction @ tally.products @ direction < 0
        assert low == pytest.approx(value, rel=1e-6)
        assert high == pytest.approx(value, rel=1e-6)
    assert below > 5


def test_rates_of_noisy_estimates_are_those_of_a_law():
    counts = np.array([[1, 2.3, 0.4, 0.9, 1.2], [1, 2.3, 0.5, 1.9, -0.1]])
    found = AcceptLengths(3, Tally.of(counts), bounded=False)
    assert [rate.value for rate in found.marginal] == pytest.approx([0.45, 1.4, 0.55])
    assert found.rates == pytest.approx((0.45, 0.45, 0.45))
    assert sum(found.law) == pytest.approx(1)
    below = AcceptLengths(1, Tally.of(np.array([[1, 1, 0.5], [1, 1, -1]])), bounded=False)
    assert [rate.value for rate in below.marginal] == [-0.25]
    assert (below.rates, below.law) == ((0,), (1, 0))
    above = AcceptLengths(2, Tally.of(np.array([[2, 6, 2.5, 1]])), bounded=False)
    assert [rate.value for rate in above.marginal] == [1.25, 0.5]
    assert (above.rates, above.law) == ((1, 0.5), (0, 0.5, 0.5))


def test_draws_follow_the_law_of_a_call():
    found = lengths_on_texts(texts_of(6, 20), RecursiveRejection, TREE)
    drawn = found.draw(20_000, seed=1)
    shares = np.bincount(drawn, minlength=3) / len(drawn)
    assert shares == pytest.approx(found.law, abs=6 * 0.5 / len(drawn) ** 0.5)
    assert (found.draw(50, seed=2) == found.draw(50, seed=2)).all()


def test_intervals_stay_within_what_can_be():
    """Of two texts of one call the first keeps both drafted tokens and the second none."""
    rows = np.array([[1.0, 3, 1, 1], [1.0, 1, 0, 0]])
    found = AcceptLengths(4, Tally.of(rows), bounded=True)
    share = (0.5, 0.0, 1.0)
    assert found.accepted == (1.0, 0.0, 2.0)
    assert found.acceptance_length == (2.0, 1.0, 3.0)
    assert found.tokens_per_call == (2.0, 0.0, 3.0)
    assert found.marginal == [share, share]
    assert found.conditional == [share, (1.0, 1.0, 1.0)]
    # 2 of 8 drafted tokens are kept; the t quantile 12.706 of one degree of freedom times 1/4.
    assert found.acceptance_rate == (0.25, 0.0, 1.0)
    assert (found.rates, found.law) == ((0.5, 0.5), (0.5, 0.0, 0.5))


def test_engines_get_six_digits():
    found = AcceptLengths(3, Tally.of(np.array([[3.0, 5, 2, 0]])), bounded=True)
    forms = {name: form(found) for name, form in ENGINE_FORMS.items()}
    assert forms["vllm"]["synthetic_acceptance_rates"] == [0.666667, 0.0]
    assert forms["llama.cpp"]["--spec-synth-rates"] == "0.666667,0.000000"
    assert forms["sglang"]["SGLANG_SIMULATE_ACC_LEN"] == "1.666667"
    assert list(forms["tensorrt-llm"].values()) == ["0.666667"]
    assert forms["atom"]["--spec-decode-acceptance-length"] == "1.666667"


def test_engines_take_their_forms():
    found = AcceptLengths(3, Tally.of(np.array([[8.0, 20, 7, 4, 1]])), bounded=True)
    forms = {name: json.loads(json.dumps(form(found))) for name, form in ENGINE_FORMS.items()}
    assert forms["vllm"] == {
        "num_speculative_tokens": 3,
        "rejection_sample_method": "synthetic",
        "synthetic_acceptance_rates": [0.875, 0.5, 0.125],
    }
    assert forms["sglang"]["SGLANG_SIMULATE_ACC_LEN"] == "2.500000"
    assert forms["tensorrt-llm"] == {"TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS": "1.500000"}
    assert forms["llama.cpp"] == {
        "--spec-draft-n-max": "3",
        "--spec-synth-rates": "0.875000,0.500000,0.125000",
    }
    assert forms["atom"] == {
        "--num-speculative-tokens": "3",
        "--spec-decode-acceptance-length": "2.500000",
    }


def test_what_cannot_be_counted_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="texts is empty"):
        lengths_on_texts([], RecursiveRejection, TREE)
    with pytest.raises(ValueError, match="blocks is empty"):
        lengths_on_blocks([], RecursiveRejection, TREE)
    with pytest.raises(ValueError, match=r"texts\[0\] is 3"):
        lengths_on_texts([3], RecursiveRejection, TREE)
    monkeypatch.setattr(without_replacement, "SUM_LIMIT", 0)
    monkeypatch.setattr(accepted, "FEW", 0)
    rows = np.random.default_rng(0).dirichlet(np.ones(60), 2)
    text = LoggedBlock(rows, rows, [0, 1], sampling=rows)
    with pytest.raises(ValueError, match="is only simulated: use fewer drafts or another rule"):
        lengths_on_texts([text], RecursiveRejectionWithoutReplacement, "[[]][][][]")


def test_intervals_cover_what_many_more_texts_say():
    """Of 200 samples of 25 texts each 95 % should; at most 20 miss with probability 0.9988."""
    pool = [
        replay(text, RecursiveRejection, TREE)
        for text in texts_of(12, 250 if NIGHTLY else 120, seed=8)
    ]
    rows = np.array([counts_of(each) for each in pool])
    long = AcceptLengths(4, Tally.of(rows), bounded=True)
    rng = np.random.default_rng(9)
    covered = np.zeros(3)
    for _ in range(200):
        some = AcceptLengths(4, Tally.of(rows[rng.integers(0, len(rows), 25)]), bounded=True)
        covered += [
            one.low <= other.value <= one.high
            for one, other in (
                (some.acceptance_length, long.acceptance_length),
                (some.marginal[1], long.marginal[1]),
                (some.conditional[1], long.conditional[1]),
            )
        ]
    assert (covered >= 0.9 * 200).all()
