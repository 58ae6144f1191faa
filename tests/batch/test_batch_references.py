"""Batch rules at full vocabulary against a plain loop over the rows, token by token."""

from functools import cache

import numpy as np
import pytest
from batch_precision import pair
from batch_references import REFERENCES
from batch_table import RULES, drafts_of

from otspec import batch

ROWS = 12
SEEDS = {1_000: 5, 128_256: 2}
"""How many times as many rows at a size of the vocabulary."""


@cache
def pairs(n, dtype, seed):
    """The rows that every rule is given."""
    found = [pair(n, dtype, seed + row) for row in range(ROWS)]
    return tuple(np.stack(part) for part in zip(*found, strict=True))


def rows(n, dtype, k, name, seed):
    draft, target = pairs(n, dtype, seed)
    rng = np.random.default_rng(seed)
    drafts = drafts_of(name, draft, rng.random((ROWS, k)), k)
    uniforms = rng.random((ROWS, k + 1))
    uniforms[::3, :-1] = 1 - 1e-3 * uniforms[::3, :-1]  # many rejections
    return draft, target, drafts, uniforms


def as_reference(name, draft, target, drafts, uniforms):
    draft, target = draft.astype(float), target.astype(float)
    function = REFERENCES[name][0]
    return function(draft / draft.sum(), target / target.sum(), drafts.tolist(), uniforms)


@pytest.mark.parametrize("n", SEEDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("name", REFERENCES)
def test_every_token_is_the_reference_s(name, dtype, n):
    k = REFERENCES[name][1]
    # A cut is off by a few roundings of sums that are at most 1, times the slope of u^k, over
    # the share of the uniform number's range that it is the cut of.
    near = 64 * k * np.finfo(dtype).eps
    differing = 0
    for seed in range(0, SEEDS[n] * ROWS, ROWS):
        draft, target, drafts, uniforms = rows(n, dtype, k, name, seed)
        result = getattr(batch, name)(draft, target, drafts, uniforms)
        for row in range(ROWS):
            arguments = draft[row], target[row], drafts[row]
            got = int(result.token[row]), int(result.index[row])
            wanted = as_reference(name, *arguments, uniforms[row])
            assert result.accepted[row] == (got[0] in drafts[row])
            if got == wanted:
                continue
            differing += 1
            moved = [
                np.clip(uniforms[row] + sign * near * unit, 0, 1 - 1e-16)
                for sign in (-1, 1)
                for unit in np.eye(k + 1)
            ]
            assert got in [as_reference(name, *arguments, near_by) for near_by in moved]
    # 128,256 cuts of the last number: it is within a few roundings of one in a row out of ten.
    assert differing <= (0 if dtype == np.float64 else 8)


def test_the_references_reject_and_accept():
    assert set(REFERENCES) == set(RULES)
    for name, (_, k) in REFERENCES.items():
        draft, target, drafts, uniforms = rows(1_000, np.float64, k, name, 0)
        index = getattr(batch, name)(draft, target, drafts, uniforms).index
        assert (index < 0).any(), name
        assert (index >= 0).any(), name
