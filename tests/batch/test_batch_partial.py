"""Rows of drafts that a policy withdraws, against the exact law of a masked rule."""

from __future__ import annotations

import numpy as np
import pytest

from otspec import IID, Masked, batch, models, rules
from otspec.blocks import BlockVerification, TokenVerification

N = 60_000
KEEP = (0, 2)
DRAFT, TARGET = np.array([0.4, 0.35, 0.25]), np.array([0.2, 0.3, 0.5])
PARTIAL = np.array([0.4, 0.0, 0.25])


def within(counts: np.ndarray, law: np.ndarray) -> bool:
    """Five standard deviations of each count: wrong once in 10^6."""
    return bool((np.abs(counts - N * law) <= 5 * np.sqrt(N * law * (1 - law)) + 1e-6).all())


@pytest.mark.parametrize(
    ("name", "k"),
    [
        ("maximal_coupling", 1),
        ("recursive_rejection", 2),
        ("k_sequential", 2),
        ("pooled_selection", 2),
    ],
)
def test_withdrawn_drafts_leave_the_target(name: str, k: int) -> None:
    rng = np.random.default_rng(k)
    drafts = rng.choice(3, size=(N, k), p=DRAFT)
    drafts = np.where(np.isin(drafts, KEEP), drafts, -1)
    rows = [np.broadcast_to(row, (N, 3)) for row in (PARTIAL, TARGET)]
    found = getattr(batch, name)(*rows, drafts, rng.random((N, k + 1)), partial=True)
    assert within(np.bincount(found.token, minlength=3), TARGET)
    assert not (found.accepted & (drafts == -1).all(axis=1)).any()
    plain = np.where(drafts < 0, 1, drafts)  # who verifies a null token as token 1 is lossy
    wrong = getattr(batch, name)(
        np.broadcast_to(PARTIAL / PARTIAL.sum(), (N, 3)), rows[1], plain, rng.random((N, k + 1))
    )
    assert not within(np.bincount(wrong.token, minlength=3), TARGET)
    if name == "recursive_rejection":
        law = Masked(IID(DRAFT, k), KEEP)
        chance = rules.RecursiveRejection.of_law(law, TARGET).acceptance()
        kept = (found.token[:, None] == drafts).any(axis=1).sum()
        assert within(np.array([kept]), np.array([chance]))


@pytest.mark.parametrize("rule", [TokenVerification, BlockVerification])
def test_blocks_with_a_withdrawn_token_are_the_target_s_text(rule: type) -> None:
    rng = np.random.default_rng(1)
    length = 2
    drafts = rng.choice(3, size=(N, length), p=DRAFT)
    drafts = np.where(np.isin(drafts, KEEP), drafts, 3)
    draft = np.broadcast_to(PARTIAL, (N, length, 3))
    target = np.broadcast_to(TARGET, (N, length + 1, 3))
    verify = getattr(batch, rule.batch)
    found = verify(draft, target, drafts, rng.random((N, length + 1)), partial=True)
    first = np.where(found.length > 0, drafts[:, 0], found.token)
    assert within(np.bincount(first, minlength=3), TARGET)
    pair = models.masked(models.memoryless(DRAFT), models.memoryless(TARGET), lambda _, __: KEEP)
    for kept in range(length + 1):
        law = sum(o.mass for o in rule(*pair, length).outcomes() if len(o.accepted) == kept)
        assert within(np.array([(found.length == kept).sum()]), np.array([law]))


def test_whole_rows_are_as_they_were_and_flags_are_flags() -> None:
    rng = np.random.default_rng(0)
    draft = rng.dirichlet(np.ones(5), 50)
    target, drafts, uniforms = (
        rng.dirichlet(np.ones(5), 50),
        rng.integers(0, 5, (50, 2)),
        rng.random((50, 3)),
    )
    with_flag = batch.recursive_rejection(draft, target, drafts, uniforms, partial=True)
    plain = batch.recursive_rejection(draft, target, drafts, uniforms)
    assert (with_flag.index == plain.index).all()
    with pytest.raises(ValueError, match="partial"):
        batch.recursive_rejection(draft, target, drafts, uniforms, partial=1)
