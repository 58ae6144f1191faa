"""The exact laws of the batch functions at small vocabularies, integrated from their own code."""

import itertools

import batch_table
import numpy as np
import pytest
from barrier_lives import lifetimes_of
from batch_laws import joint_kernel_of, law_of, residual_cuts
from batch_paths import PATHS, every_path, path, taking  # noqa: F401 # path is a fixture
from batch_table import drafts_number, reference_at_rho
from hypothesis import given, settings
from hypothesis import strategies as st

import otspec
from otspec import batch
from otspec.batch._array_api.library import library_of
from otspec.batch._array_api.pooled.graded_pools import graded_pools

ROUNDING = 1e-12
"""Cuts are bisected to 2⁻⁵⁵ each, a few hundred of them."""
CASES = {
    "dense": ([0.4, 0.3, 0.2, 0.1], [0.1, 0.25, 0.3, 0.35]),
    "zeros": ([0.5, 0.5, 0.0, 0.0], [0.0, 0.3, 0.7, 0.0]),
    "ties": ([0.25, 0.25, 0.25, 0.25], [0.5, 0.2, 0.2, 0.1]),
    "equal": ([0.6, 0.3, 0.1], [0.6, 0.3, 0.1]),
    "disjoint": ([0.5, 0.5, 0.0], [0.0, 0.0, 1.0]),
    "certain": ([1.0, 0.0], [0.3, 0.7]),
    "extreme": ([0.9, 0.0999, 0.0001], [0.2, 0.3, 0.5]),
}
RULES = {
    name: drafts_number(name, 2)
    for name in batch_table.RULES
    if name != "pooled_selection_without_replacement"  # thousands of cells: in test_arrival_pools
}


def pooled_cuts(draft, target, x, k):
    """Where the outcome of pooled selection may change, from what its code computes."""
    pools = np.errstate(all="ignore")(graded_pools)(
        library_of(draft), draft, target, np.full(1, float(k)), 6
    )
    # A token that is never drafted has a ratio out of range, as it has in the rule.
    lives, filled = lifetimes_of(pools), np.errstate(all="ignore")(pools.filled)(draft, target)
    _, part = pools.level(filled)
    law = draft * pools.over(filled)
    chances = np.minimum(1, target[x] / np.where(law[x] > 0, law[x], 1))
    inner = [*np.clip(lives, 0, 1)]
    for size in range(1, k + 1):
        inner += [(i + c) / size for i in range(size) for c in (0, *chances)]
    for i, share in enumerate(part[x]):
        yield i, share
        for place in inner:
            yield i, share * place
            yield i, share + (1 - share) * place


def agrees(name, taken, rule, x):
    """Compare the law of the batch function on a path with the rule's, for one tuple of drafts."""
    known = list(residual_cuts(rule, x))
    if name == "pooled_selection":
        known += pooled_cuts(rule.draft, rule.target, x, len(x))
    with taking(taken):
        found = joint_kernel_of(getattr(batch, name), rule.draft, rule.target, x, known=known)
    np.testing.assert_allclose(found, rule.joint_kernel(x), rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("name", "taken"), every_path(RULES))
def test_joint_kernels_are_the_reference_s(name, taken, case):
    draft, target = CASES[case]
    k = RULES[name]
    if "without" in name and np.count_nonzero(draft) < k:
        k = 1
    rule = reference_at_rho(name, draft, target, k)
    for x in rule.law.tuples()[0].tolist():
        agrees(name, taken, rule, x)


@pytest.mark.parametrize("taken", PATHS)
def test_three_drafts_are_the_reference_s(taken):
    draft, target = CASES["dense"]
    for name in ("recursive_rejection", "recursive_rejection_without_replacement"):
        rule = reference_at_rho(name, draft, target, 3)
        for x in ([0, 1, 2], [2, 0, 1], [3, 1, 0]):
            agrees(name, taken, rule, x)


distributions = st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any)


@pytest.mark.parametrize(("name", "taken"), every_path(RULES))
@settings(max_examples=settings().max_examples // 12)  # an integral each
@given(draft=distributions, target=distributions, data=st.data())
def test_random_kernels_are_the_reference_s(name, taken, draft, target, data):
    draft, target = (np.array(part) / sum(part) for part in (draft, target))
    k = RULES[name]
    if "without" in name and np.count_nonzero(draft) < k:
        k = 1
    rule = reference_at_rho(name, draft, target, k)
    x = data.draw(st.sampled_from(rule.law.tuples()[0].tolist()))
    agrees(name, taken, rule, x)


@pytest.mark.usefixtures("path")
def test_the_drafters_have_the_laws_that_the_rules_verify():
    for draft, _ in CASES.values():
        n, support = len(draft), np.count_nonzero(draft)
        for drafter, law in (
            (batch.sample_iid, otspec.IID(draft, 2)),
            (batch.sample_without_replacement, otspec.WithoutReplacement(draft, min(support, 2))),
            (batch.sample_spechub, otspec.Hub(draft)),
        ):
            found = drafter_law(drafter, np.array(draft), law.k)
            tuples, masses = law.tuples()
            wanted = np.zeros(n**law.k)
            wanted[np.ravel_multi_index(tuple(tuples.T), (n,) * law.k)] = masses
            np.testing.assert_allclose(found, wanted, atol=ROUNDING)


def drafter_law(drafter, draft, k):
    n = len(draft)

    def outcome(uniforms):
        tokens = drafter(np.tile(draft, (len(uniforms), 1)), uniforms)
        return np.ravel_multi_index(tuple(tokens.T), (n,) * k)

    return law_of(outcome, k, n**k)


@pytest.mark.usefixtures("path")
def test_block_verification_is_lossless_and_keeps_the_most():
    # Memoryless: every place has the same two distributions.
    draft, target = np.array([0.7, 0.3]), np.array([0.4, 0.6])
    length, n = 2, 2
    text, kept = np.zeros((n, n, n)), 0.0
    for x in itertools.product(range(n), repeat=length):
        mass = draft[list(x)].prod()

        def outcome(uniforms, x=x):
            rows = len(uniforms)
            result = batch.block_verification(
                np.tile(draft, (rows, length, 1)),
                np.tile(target, (rows, length + 1, 1)),
                np.broadcast_to(np.array(x), (rows, length)),
                uniforms,
            )
            return result.length * n + result.token

        law = law_of(outcome, length + 1, (length + 1) * n).reshape(length + 1, n)
        kept += mass * (law.sum(axis=1) @ np.arange(length + 1))
        for tau in range(length + 1):
            # What follows the drawn token is the target's own text.
            after = target[:, None] * target[None, :]
            for token in range(n):
                start = (*x[:tau], token)
                weight = mass * law[tau, token]
                text[start] += weight * (after.sum(), target, after)[length - tau]
    wanted = target[:, None, None] * target[None, :, None] * target[None, None, :]
    np.testing.assert_allclose(text, wanted, atol=ROUNDING)
    # a(s) = a(prefix) capped: Σ over prefixes of min(a(prefix) q, p mass) (theory of the block).
    a = {(): 1.0}
    for i in range(length):
        for x in itertools.product(range(n), repeat=i + 1):
            a[x] = min(a[x[:-1]] * target[x[-1]], draft[list(x)].prod())
    assert kept == pytest.approx(sum(a.values()) - 1, abs=ROUNDING)
