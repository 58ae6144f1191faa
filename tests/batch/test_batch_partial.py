"""Rows of drafts that a policy withdraws, against the exact law of a masked rule."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from otspec import IID, Masked, batch, models, optimal_acceptance, rules
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


WHOLE = np.append(PARTIAL, 1 - PARTIAL.sum())


@pytest.mark.parametrize(
    ("name", "sampler", "rule"),
    [
        ("recursive_rejection_without_replacement", batch.sample_without_replacement,
         rules.RecursiveRejectionWithoutReplacement),
        ("pooled_selection_without_replacement", batch.sample_without_replacement, None),
        ("spechub", batch.sample_spechub, rules.SpecHub),
    ],
)  # fmt: skip
def test_distinct_drafts_of_which_one_is_null_leave_the_target(
    name: str, sampler: Any, rule: Any
) -> None:
    rng = np.random.default_rng(3)
    drafts = sampler(np.broadcast_to(WHOLE, (N, 4)), rng.random((N, 2)))
    drafts = np.where(drafts == 3, -1, drafts)
    assert (drafts == -1).sum(axis=1).max() == 1
    rows = [np.broadcast_to(row, (N, 3)) for row in (PARTIAL, TARGET)]
    found = getattr(batch, name)(*rows, drafts, rng.random((N, 3)), partial=True)
    assert within(np.bincount(found.token, minlength=3), TARGET)
    if rule is not None:
        law = rule(WHOLE, np.append(TARGET, 0), 2).acceptance()
        kept = (found.token[:, None] == drafts).any(axis=1).sum()
        assert within(np.array([kept]), np.array([law]))


def test_blocks_of_the_preprint_with_null_tokens_are_the_target_s_text() -> None:
    rng, length = np.random.default_rng(5), 2
    draft = np.broadcast_to(PARTIAL, (N, length, 3))
    target = np.broadcast_to(TARGET, (N, length + 1, 3))
    texts, known, corrections = np.zeros((N, 3 * length + 3), int), np.zeros(N, int), None
    rows = np.arange(N)
    while known.min() < 3:
        drafts = rng.choice(4, size=(N, length), p=WHOLE)
        drafts = np.where(drafts == 3, -1, drafts)
        found = batch.block_verification_preprint(
            draft, target, drafts, rng.random((N, length + 1)), partial=True,
            corrections=corrections,
        )  # fmt: skip
        step = np.append(drafts, found.token[:, None], axis=1)
        step[rows, found.length] = found.token
        texts[rows[:, None], known[:, None] + np.arange(length + 1)] = step
        known, corrections = np.minimum(known + found.length + 1, 6), found.corrections
    for place in range(3):
        assert within(np.bincount(texts[:, place], minlength=3), TARGET)
    both = texts[:, 0] * 3 + texts[:, 1]
    assert within(np.bincount(both, minlength=9), np.outer(TARGET, TARGET).ravel())


@pytest.mark.parametrize("name", ["greedy_multi_path", "tree_verification", "traversal"])
def test_trees_with_withdrawn_drafts_are_the_target_s_text(name: str) -> None:
    rng, parents = np.random.default_rng(7), (-1, -1, 0, 1)
    drafts = rng.choice(4, size=(N, 4), p=WHOLE)
    drafts = np.where(drafts == 3, -1, drafts)
    if name == "greedy_multi_path":
        paths = drafts[:, [[0, 2], [1, 3]]]
        draft = np.broadcast_to(PARTIAL, (N, 2, 2, 3))
        target = np.broadcast_to(TARGET, (N, 2, 3, 3))
        found = batch.greedy_multi_path(draft, target, paths, rng.random((N, 3)), partial=True)
        first = np.where(found.length > 0, paths[np.arange(N), found.path, 0], found.token)
    else:
        draft, target = (np.broadcast_to(row, (N, 5, 3)) for row in (PARTIAL, TARGET))
        mask = np.ones((N, 4), dtype=bool)
        mask[:, 2:] = drafts[:, :2] >= 0
        if name == "tree_verification":
            uniforms, verify = rng.random((N, 3, 3)), batch.tree_verification
        else:
            uniforms, verify = rng.random((N, 5)), batch.traversal_verification
        found = verify(draft, target, drafts, uniforms, parents, mask=mask, partial=True)
        top = np.where(found.node >= 2, np.array(parents)[found.node], found.node)
        first = np.where(found.node >= 0, drafts[np.arange(N), top], found.token)
    assert (first >= 0).all()
    assert within(np.bincount(first, minlength=3), TARGET)
    two = found.length == 2
    assert two.any()
    assert within(np.bincount(found.token[two], minlength=3) * (N / two.sum()), TARGET)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_acceptances_of_partial_rows_are_those_of_the_masked_law(k: int) -> None:
    accept = batch.acceptance
    law = Masked(IID(DRAFT, k), KEEP)
    rows = PARTIAL[None], TARGET[None]
    best = float(optimal_acceptance(law, TARGET).acceptance)
    assert batch.optimal_acceptance(*rows, k, partial=True) == pytest.approx(best, abs=1e-12)
    turns = accept.recursive_rejection(*rows, k, partial=True)
    wanted = rules.RecursiveRejection.of_law(law, TARGET).acceptance()
    # There a residual token that happens to be a draft counts as accepted; here it does not.
    assert turns[0] <= wanted + 1e-12
    assert accept.maximal_coupling(*rows, partial=True)[0] == pytest.approx(0.45, abs=1e-12)
    for name in ("k_sequential", "pooled_selection", "pooled_selection_without_replacement"):
        found = getattr(accept, name)(*rows, k if "without" not in name else 1, partial=True)
        assert 0.4 < found[0] <= best + 1e-9
    hub = rules.SpecHub(WHOLE, np.append(TARGET, 0), 2).acceptance()
    assert accept.spechub(*rows, partial=True)[0] == pytest.approx(float(hub), abs=1e-12)
    drafts = np.array([[0, -1], [-1, 2]])
    both = [np.broadcast_to(row, (2, 3)) for row in (PARTIAL, TARGET)]
    whole = [np.broadcast_to(row, (2, 4)) for row in (WHOLE, np.append(TARGET, 0))]
    one = accept.recursive_rejection_without_replacement(*both, drafts, partial=True)
    other = accept.recursive_rejection_without_replacement(*whole, drafts % 4)
    assert one == pytest.approx(other, abs=1e-15)


def test_nothing_is_withdrawn_and_everything_checked_unless_that_is_asked_for() -> None:
    functions = [function for _, function in inspect.getmembers(batch, inspect.isfunction)]
    options = [inspect.signature(function).parameters for function in functions]
    for name, fewest in (("partial", 10), ("checked", 12)):
        defaults = [each[name].default for each in options if name in each]
        assert len(defaults) >= fewest
        assert not any(defaults)
