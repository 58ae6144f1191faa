"""What rounding does to the law of the output at full vocabulary, and to a draw."""

import numpy as np
import pytest
from batch_precision import RULES, iid, pair, variation, without_replacement

import otspec

BOUNDS = {np.float32: 3e-7, np.float64: 3e-15}
"""As the documentation states."""
QUADRATURE = {np.float32: 3e-7, np.float64: 1e-13}
"""Of the rule that needs one, and of the reference's own."""


@pytest.mark.parametrize("n", [300, 32_000, 128_256])
@pytest.mark.parametrize("dtype", BOUNDS, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", RULES)
def test_total_variation_is_as_documented(name, dtype, n):
    for seed in range(2):
        draft, target = pair(n, dtype, seed)
        for k in (1, 2, 4, 8):
            law = RULES[name](draft, target, k)
            bounds = QUADRATURE if "distinct" in name else BOUNDS
            assert variation(law, target) < bounds[dtype]


@pytest.mark.parametrize("name", RULES)
def test_total_variation_on_a_language_model(name):
    for _, *rows in otspec.datasets.load_smollm2().pairs():
        draft, target = (row.astype(np.float32) for row in rows)
        assert variation(RULES[name](draft, target, 4), target) < BOUNDS[np.float32]


def test_draws_keep_the_tail_that_one_cumulative_sum_would_bias():
    draft, _ = pair(128_256, np.float32)
    sums = np.cumsum(draft)
    naive = np.diff(sums.astype(float), prepend=0) / float(sums[-1])
    assert variation(naive, draft) > 1e-5
    assert variation(iid(draft, draft, 1), draft) < 1e-7


@pytest.mark.parametrize("name", RULES)
def test_half_precision_rows_cost_their_own_rounding(name):
    draft, target = pair(32_000, np.float16)
    assert variation(RULES[name](draft, target, 4), target) < 1e-3


@pytest.mark.parametrize("dtype", BOUNDS, ids=lambda dtype: dtype.__name__)
def test_total_variation_of_distinct_drafts(dtype):
    for k in (1, 2):
        draft, target = pair(400, dtype)
        assert variation(without_replacement(draft, target, k), target) < BOUNDS[dtype]
