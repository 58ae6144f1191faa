"""What must hold of whole batches on rows of any magnitude, in every dtype.

Each check draws a batch from a seed and returns how many rows it compared. The oracles are the
rows themselves: which tokens can come out, and the rules' acceptance in float64 or exactly.
"""

from __future__ import annotations

import numpy as np
from batch_table import RULES, drafts_number, reference
from fuzz_instances import float_row
from instances import shares

import otspec
from otspec import batch

ROWS = 64
DTYPES = (np.float64, np.float32, np.float16)
REFERENCES = ("maximal_coupling", "recursive_rejection", "spechub")
"""Those whose acceptance is compared with the reference's."""
QUADRATURE = {np.float32: 3e-8, np.float64: 1e-13}
"""What a curve that is a quadrature may be off."""


def rows(rng: np.random.Generator, n: int, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """A draft and a target for each row of a batch; some rows are equal."""
    draft = np.stack([float_row(rng, n, dtype) for _ in range(ROWS)])
    target = np.stack([float_row(rng, n, dtype) for _ in range(ROWS)])
    same = rng.random(ROWS) < 0.1
    target[same] = draft[same]
    return draft, target


def drafts_for(rule: str, draft: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Drafts of the law that the rule is for; rows with too few tokens repeat one."""
    size = len(draft)
    drafts = np.zeros((size, k), dtype=np.int64)
    for i, row in enumerate(draft.astype(float)):
        support = np.flatnonzero(row)
        if "without" in rule and len(support) >= k:
            drafts[i] = rng.permutation(support)[:k]
        elif rule == "spechub":
            hub = int(np.argmax(row))
            off = rng.choice(support[support != hub]) if len(support) > 1 else hub
            drafts[i] = rng.permutation([hub, off])
        else:
            drafts[i] = rng.choice(support, k)
    return drafts


def tokens(seed: int) -> int:
    """Only tokens of positive target probability come out, and the marks fit them."""
    rng = np.random.default_rng([seed, 3])
    done = 0
    for rule in RULES:
        n, k = int(rng.integers(1, 40)), drafts_number(rule, 0) or int(rng.integers(1, 6))
        dtype = DTYPES[int(rng.integers(len(DTYPES)))]
        draft, target = rows(rng, n, dtype)
        drafts = drafts_for(rule, draft, k, rng)
        if "without" in rule:
            enough = (draft > 0).sum(axis=1) >= k
            draft, target, drafts = draft[enough], target[enough], drafts[enough]
        uniforms = rng.random((len(draft), k + 1))
        uniforms[rng.random(uniforms.shape) < 0.1] = 0.0
        uniforms[rng.random(uniforms.shape) < 0.1] = np.nextafter(1.0, 0.0)
        found = getattr(batch, rule)(draft, target, drafts, uniforms)
        at = np.arange(len(draft))
        chance = target[at, found.token]
        where = (rule, dtype.__name__, n, k, seed)
        assert (chance > 0).all(), (*where, np.flatnonzero(chance <= 0)[:3])
        among = (drafts == found.token[:, None]).any(axis=1)
        assert (found.accepted == among).all(), where
        picked = drafts[at, np.maximum(found.index, 0)]
        assert ((found.index < 0) | (picked == found.token)).all(), where
        done += 3 * len(draft)
    return done


def acceptances(seed: int) -> int:
    """Acceptance is a probability, at most the optimum, and that of the rule read exactly."""
    rng = np.random.default_rng([seed, 4])
    n, k = int(rng.integers(1, 8)), int(rng.integers(1, 5))
    dtype = DTYPES[int(rng.integers(len(DTYPES)))]
    draft, target = rows(rng, n, dtype)
    # Rows are taken as they are: what they lack of 1 may be missing k times.
    lacking = np.abs(draft.astype(float).sum(axis=1) - 1) + np.abs(
        target.astype(float).sum(axis=1) - 1
    )
    computed = np.float64 if dtype == np.float64 else np.float32
    limit = 8 * (k + 1) * (n + 2) * float(np.finfo(computed).eps) + (k + 1) * lacking
    best = batch.acceptance.optimal_acceptance(draft, target, k)
    done = 0
    for name, row in RULES.items():
        only_k = row.k
        if name == "recursive_rejection_without_replacement":
            continue
        most = best if (only_k or k) == k else None
        options = () if only_k else (k,)
        found = getattr(batch.acceptance, name)(draft, target, *options)
        where = (name, dtype.__name__, n, k, seed)
        assert ((found >= -limit) & (found <= 1 + limit)).all(), (*where, found)
        if name == "pooled_selection_without_replacement":
            for i in np.flatnonzero((draft > 0).sum(axis=1) >= k)[:2]:
                pair = shares(draft[i].astype(float)), shares(target[i].astype(float))
                law = otspec.WithoutReplacement(pair[0], k)
                wanted = otspec.optimal_acceptance(law, pair[1]).acceptance
                assert found[i] <= wanted + limit[i] + QUADRATURE[computed], (*where, int(i))
        elif most is not None and name != "spechub":
            over = found - most - limit
            assert (over <= 0).all(), (*where, over.max())
        if name in REFERENCES:
            for i in rng.integers(ROWS, size=2):
                pair = shares(draft[i].astype(float)), shares(target[i].astype(float))
                wanted = reference(name, *map(list, pair), k).acceptance()
                assert abs(found[i] - wanted) <= limit[i], (*where, int(i), found[i], float(wanted))
        done += 2 * ROWS
    return done
