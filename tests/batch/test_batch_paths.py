"""Greedy multi-path block verification of batches: its exact law, a reference, its rounding."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from batch_laws import law_of
from batch_paths import path  # noqa: F401 # a fixture
from batch_precision import pair, variation
from batch_references import inverted
from programs import ways

from otspec import batch
from otspec.batch._array_api.library import library_of
from otspec.batch._array_api.sequences.greatest_path import _skewed
from otspec.blocks import GreedyMultiPath, TokenTree
from otspec.models import memoryless

pytestmark = pytest.mark.usefixtures("path")
ROUNDING = 1e-12
CASES = {
    "dense": ([0.5, 0.3, 0.2], [0.1, 0.4, 0.5]),
    "zeros": ([0.5, 0.5, 0.0], [0.0, 0.3, 0.7]),
    "ties": ([0.25, 0.25, 0.5], [0.125, 0.125, 0.75]),
    "equal": ([0.5, 0.375, 0.125], [0.5, 0.375, 0.125]),
    "disjoint": ([0.5, 0.5, 0.0], [0.0, 0.0, 1.0]),
    "certain": ([1.0, 0.0, 0.0], [0.25, 0.75, 0.0]),
}


def law_of_batch(draft, target, paths, known=()):
    """The law of (kept, token) given the drafted paths, (L + 1, n), integrated from the code."""
    paths, n = np.array(paths), len(draft)
    k, length = paths.shape

    def outcome(uniforms):
        rows = len(uniforms)
        result = batch.greedy_multi_path(
            np.broadcast_to(draft, (rows, k, length, n)),
            np.broadcast_to(target, (rows, k, length + 1, n)),
            np.broadcast_to(paths, (rows, k, length)),
            uniforms,
        )
        return result.length * n + result.token

    law = law_of(outcome, length + 1, (length + 1) * n, known=known)
    return law.reshape(length + 1, n)


def law_of_rule(rule, paths):
    """The same by the rule of otspec.blocks."""
    law = np.zeros((rule.length + 1, rule.target.n))
    for head, outcome in ways(rule, *tree_of(paths)).items():
        law[len(head)] = outcome.mass * outcome.following(())
    return law


def tree_of(paths):
    """The drafted tree of some paths."""
    tokens = tuple(token for each in paths for token in each)
    length = len(paths[0])
    parents = [place - 1 if place % length else -1 for place in range(len(tokens))]
    return TokenTree(tuple(parents)), tokens


@pytest.mark.parametrize("case", CASES)
def test_one_token_has_the_rule_s_law(case):
    draft, target = map(np.array, CASES[case])
    rule = GreedyMultiPath(memoryless(draft), memoryless(target), paths=2, length=1)
    for x in itertools.product(np.flatnonzero(draft).tolist(), repeat=2):
        paths = [(token,) for token in x]
        found, wanted = law_of_batch(draft, target, paths), law_of_rule(rule, paths)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=ROUNDING)


def test_two_tokens_of_two_paths_have_the_rule_s_law_and_the_target_s_text():
    draft, target, n, length = np.array([0.7, 0.3]), np.array([0.4, 0.6]), 2, 2
    rule = GreedyMultiPath(memoryless(draft), memoryless(target), paths=2, length=length)
    text, kept = np.zeros((n, n, n)), 0.0
    after = target[:, None] * target[None, :]
    blocks = itertools.product(range(n), repeat=length)
    for paths in itertools.combinations_with_replacement(blocks, 2):
        law = law_of_batch(draft, target, paths)
        np.testing.assert_allclose(law, law_of_rule(rule, paths), rtol=0, atol=ROUNDING)
        mass, head = draft[np.array(paths)].prod(), max(ways(rule, *tree_of(paths)), key=len)
        assert len(head) == length  # the whole path is kept with some probability
        mass *= 1 if paths[0] == paths[1] else 2  # in either order
        kept += mass * (law.sum(axis=1) @ np.arange(length + 1))
        for tau, token in itertools.product(range(length + 1), range(n)):
            weight = mass * law[tau, token]
            text[*head[:tau], token] += weight * (1, target, after)[length - tau]
    wanted = target[:, None, None] * after
    np.testing.assert_allclose(text, wanted, rtol=0, atol=ROUNDING)
    assert kept == pytest.approx(rule.expected(), abs=ROUNDING)


def problem(rows, k, length, n, dtype, seed=0):
    """Paths that share rows where they begin alike: all of them at the first place."""
    rng = np.random.default_rng(seed)
    pairs = [pair(n, dtype, seed + i) for i in range(rows * k * (length + 1))]
    both = (np.stack(part).reshape(rows, k, length + 1, n) for part in zip(*pairs, strict=True))
    draft, target = both
    draft[:, :, 0], target[:, :, 0] = draft[:, :1, 0], target[:, :1, 0]
    draft = draft[:, :, :length].copy()
    drafts = batch.sample_iid(draft, rng.random((rows, k, length, 1)))[..., 0]
    return draft, target, drafts, rng.random((rows, length + 1))


def reference(draft, target, drafts, uniforms):
    """The rule as it is written down, in float64, with places in the order of the ranks."""
    k, length = drafts.shape
    alike, below, mass, weight = list(range(k)), 0.0, 1.0, 1.0
    tau, rows, weights = 0, [], [1.0]
    for i in range(length):
        p, q = draft[alike[0], i], target[alike[0], i]
        ratios = np.where(p > 0, q / np.where(p > 0, p, 1), -1)
        token = max((drafts[each, i] for each in alike), key=lambda t: (ratios[t], t))
        alike = [each for each in alike if drafts[each, i] == token]
        order = np.argsort(ratios, kind="stable")
        upper = below + mass * np.cumsum(p[order], dtype=float)
        lower = np.concatenate([[below], upper[:-1]])
        law = (upper**k - lower**k) / ((below + mass) ** k - below**k)
        rows.append((order, law, q[order].astype(float)))
        place = int(np.flatnonzero(order == token)[0])
        weight = min(1.0, weight * q[token] / law[place])
        weights.append(weight)
        below, mass = lower[place], mass * p[token]
    for i in range(1, length + 1):
        if i < length:
            _, law, q = rows[i]
            rest = np.maximum(weights[i] * q - law, 0).sum()
            chance = rest / (rest + 1 - weights[i]) if rest + 1 - weights[i] > 0 else 1.0
        else:
            chance = weights[i]
        if uniforms[i - 1] < chance:
            tau = i
    if tau == length:
        return alike[0], tau, inverted(target[alike[0], length], uniforms[-1])
    order, law, q = rows[tau]
    drawn = inverted(np.maximum(weights[tau] * q - law, 0), uniforms[-1])
    return alike[0], tau, int(order[drawn])


@pytest.mark.parametrize("n", [40, 32_000])
def test_every_row_is_the_reference_s(n):
    arguments = problem(12, 3, 3, n, np.float64)
    result = batch.greedy_multi_path(*arguments)
    wanted = [reference(*row) for row in zip(*arguments, strict=True)]
    assert list(zip(*(part.tolist() for part in result), strict=True)) == wanted
    assert len(set(result.length.tolist())) > 2
    assert len(set(result.path.tolist())) == 3


@pytest.mark.parametrize("k", [1, 2, 8, 1_000])
@pytest.mark.parametrize(("dtype", "bound"), [(np.float32, 1e-7), (np.float64, 4e-15)])
def test_the_law_of_the_chosen_token_at_full_vocabulary(dtype, bound, k):
    draft, target = pair(128_256, dtype, 1)
    drafted = draft[np.argsort(target / draft, kind="stable")]
    library, share = library_of(draft), np.asarray(0.25)
    law, _ = _skewed(library, drafted, share, np.asarray(7), k)
    assert law.dtype == dtype
    sums = np.cumsum(drafted.astype(np.longdouble) / drafted.astype(np.longdouble).sum())
    powers = (share + (1 - share) * np.concatenate([[0], sums])) ** k
    wanted = np.diff(powers) / (1 - np.longdouble(share) ** k)
    assert (
        variation(law.astype(float), wanted.astype(float)) < bound
        if dtype is np.float32
        else bound * k
    )


def test_one_path_is_block_verification():
    draft, target, drafts, uniforms = problem(16, 1, 3, 300, np.float64)
    chosen, length, _ = batch.greedy_multi_path(draft, target, drafts, uniforms)
    single = batch.block_verification(draft[:, 0], target[:, 0], drafts[:, 0], uniforms)
    assert not chosen.any()
    np.testing.assert_array_equal(length, single.length)


def test_tokens_of_target_probability_0_are_neither_kept_nor_drawn():
    draft, target, drafts, uniforms = problem(200, 2, 2, 12, np.float32)
    target[..., ::3] = 0
    target /= target.sum(axis=-1, keepdims=True)
    for extreme in (0.0, 1 - 2**-24):
        uniforms = uniforms.astype(np.float32)
        uniforms[::2] = extreme
        best, length, token = batch.greedy_multi_path(draft, target, drafts, uniforms)
        assert (token % 3 != 0).all()
        chosen = drafts[np.arange(200), best]
        assert (chosen[np.arange(2) < length[:, None]] % 3 != 0).all()


def test_a_row_without_a_target_gives_no_token():
    draft, target, drafts, uniforms = problem(3, 2, 2, 12, np.float64)
    target[1] = 0
    assert batch.greedy_multi_path(draft, target, drafts, uniforms).token.tolist()[1] == -1
