"""The exact laws of the batch rules on rows of one dominant token and a rest next to nothing."""

import batch_table
import numpy as np
import pytest
from arrival_laws import token_law
from batch_paths import every_path, path, taking  # noqa: F401 # path is a fixture
from batch_precision import pooled_selection, variation
from batch_table import drafts_number, reference
from each_case import each
from extreme_rows import REJECTED, bisected, fractions, kernel_of, rows, spread, supported

import otspec
from otspec import batch

BOUNDS = {np.float32: 1e-6, np.float64: 1e-13}
"""Above what is documented for rows that sum to 1, which is 2e-7 and 1e-15."""
RULES = {
    name: drafts_number(name, 3 if "without" in name else 2)
    for name in batch_table.RULES
    if not name.startswith("pooled_selection")  # which have their own tests below
}
LARGE = 520
CASES = [(dtype, case) for dtype in BOUNDS for case in rows(dtype)]
EVERY_CASE = each(("dtype", "case"), CASES)


def exact(name, draft, target):
    """The rule on the very entries as fractions, with as many drafts as there are tokens."""
    k = RULES[name]
    if "without" in name:
        k = min(k, np.count_nonzero(draft))
    return reference(name, fractions(draft), fractions(target), k)


@EVERY_CASE
@pytest.mark.parametrize(("name", "taken"), every_path(RULES))
def test_the_law_of_the_token_is_the_target(name, taken, dtype, case):
    draft, target = rows(dtype)[case]
    rule = exact(name, draft, target)
    tuples, masses = rule.law.tuples()
    weights = np.array([float(mass) for mass in masses])
    with taking(taken):
        kernel = kernel_of(name, draft, target, np.asarray(tuples))
    assert np.isfinite(kernel).all()
    law = np.tensordot(weights, kernel, axes=1)
    assert not law[:, target == 0].any()
    wanted = np.array([float(entry) for entry in fractions(target)])
    assert 0.5 * np.abs(law.sum(axis=0) - wanted).sum() <= BOUNDS[dtype]
    if name == "k_sequential":
        return  # at another ρ than the smallest
    exactly = np.array([rule.joint_kernel(x) for x in tuples.tolist()], dtype=float)
    apart = np.abs(kernel - exactly).sum(axis=(1, 2))
    assert weights @ apart <= 2 * BOUNDS[dtype]


@EVERY_CASE
@pytest.mark.parametrize(
    ("name", "taken"), every_path(["recursive_rejection_without_replacement", "spechub"])
)
def test_the_law_in_a_large_vocabulary(name, taken, dtype, case):
    """Three blocks of a draw; the same rows otherwise."""
    draft, target = rows(dtype)[case]
    wide = [spread(row, LARGE) for row in (draft, target)]
    places = np.linspace(0, LARGE - 1, len(draft)).astype(int)
    rule = exact(name, draft, target)
    tuples, masses = rule.law.tuples()
    if tuples.shape[1] > 2:
        tuples, masses = tuples[:6], masses[:6]
    with taking(taken):
        found = kernel_of(name, *wide, places[np.asarray(tuples)])
    exactly = np.array([rule.joint_kernel(x) for x in tuples.tolist()], dtype=float)
    weights = np.array([float(mass) for mass in masses])
    assert weights @ np.abs(found[..., places] - exactly).sum(axis=(1, 2)) <= 2 * BOUNDS[dtype]


@EVERY_CASE
def test_pooled_selection_puts_its_law_together_rightly(dtype, case):
    draft, target = rows(dtype)[case]
    for k in (1, 2, 4):
        law = pooled_selection(draft, target, k)
        assert not law[target == 0].any()
        assert variation(law, target) <= BOUNDS[dtype]


@EVERY_CASE
def test_pooled_selection_of_distinct_drafts_puts_its_law_together_rightly(dtype, case):
    draft, target = rows(dtype)[case]
    wanted = np.array([float(entry) for entry in fractions(target)])
    for k in range(1, min(3, np.count_nonzero(draft)) + 1):
        for heavy in (32, 1):
            law = token_law(draft, target, k, heavy)
            assert not law[target == 0].any()
            assert 0.5 * np.abs(law - wanted).sum() <= BOUNDS[dtype]


@EVERY_CASE
def test_acceptance_is_that_of_the_exact_rule(dtype, case):
    draft, target = rows(dtype)[case]
    pair = fractions(draft), fractions(target)

    def close(found, wanted):
        assert abs(float(found) - float(wanted)) <= BOUNDS[dtype]

    acceptance = batch.acceptance
    close(
        acceptance.maximal_coupling(draft, target),
        exact("maximal_coupling", draft, target).acceptance(),
    )
    close(acceptance.spechub(draft, target), exact("spechub", draft, target).acceptance())
    for k in (1, 2, 3):
        best = otspec.optimal_acceptance(otspec.IID(pair[0], k), pair[1]).acceptance
        close(batch.optimal_acceptance(draft, target, k), best)
        recursive = otspec.rules.RecursiveRejection(*pair, k)
        close(acceptance.recursive_rejection(draft, target, k), recursive.acceptance())
        for inexact in (acceptance.k_sequential, acceptance.pooled_selection):
            assert 0 <= inexact(draft, target, k) <= float(best) + BOUNDS[dtype]
    for k in range(1, min(3, np.count_nonzero(draft)) + 1):
        best = otspec.optimal_acceptance(otspec.WithoutReplacement(pair[0], k), pair[1]).acceptance
        found = acceptance.pooled_selection_without_replacement(draft, target, k)
        assert 0 <= found <= float(best) + BOUNDS[dtype]
    rule = exact("recursive_rejection_without_replacement", draft, target)
    tuples, masses = rule.law.tuples()
    many = (np.broadcast_to(row, (len(tuples), len(row))) for row in (draft, target))
    found = acceptance.recursive_rejection_without_replacement(*many, np.asarray(tuples))
    assert np.isfinite(found).all()
    close(np.array([float(mass) for mass in masses]) @ found, rule.acceptance())


@EVERY_CASE
@pytest.mark.usefixtures("path")
def test_drafters_draw_next_to_nothing_in_proportion(dtype, case):
    draft, _ = rows(dtype)[case]
    k = min(2, np.count_nonzero(draft))
    tokens, second = supported(draft, draft), fractions(draft)

    def drawn(u, at=0):
        numbers = np.full((*u.shape, k), 0.5)
        numbers[..., at] = u
        many = np.tile(draft, (*u.shape, 1))
        return batch.sample_without_replacement(many, numbers)[..., at] <= tokens

    law = np.diff(bisected(drawn, tokens.shape), prepend=0)
    assert np.abs(law - [float(second[token]) for token in tokens]).sum() <= BOUNDS[dtype]
    if k == 1:
        return
    out = int(batch.sample_without_replacement(draft, np.full(k, 0.5))[0])
    law = np.diff(bisected(lambda u: drawn(u, 1), tokens.shape), prepend=0)
    left = [0 if token == out else second[token] for token in tokens]
    wanted = [float(entry / sum(left)) for entry in left]
    assert np.abs(law - wanted).sum() <= BOUNDS[dtype]
    # SpecHub's other token: given the hub, the others in proportion.
    off = np.argmax(draft) != tokens

    def other(u):
        numbers = np.stack([np.full_like(u, 0.5), u], axis=-1)
        pair = batch.sample_spechub(np.tile(draft, (*u.shape, 1)), numbers)
        first_is_hub = pair[..., 0] == np.argmax(draft)
        return np.where(first_is_hub, pair[..., 1], pair[..., 0]) <= tokens

    law = np.diff(bisected(other, tokens.shape), prepend=0)
    left = [second[token] if there else 0 for token, there in zip(tokens, off, strict=True)]
    wanted = [float(entry / sum(left)) for entry in left]
    assert np.abs(law - wanted).sum() <= BOUNDS[dtype]


@EVERY_CASE
@pytest.mark.usefixtures("path")
def test_blocks_continue_as_the_target(dtype, case):
    """Two places, the second an ordinary pair: the text's law is the product of the targets."""
    pairs = [rows(dtype)[case], [row[: len(rows(dtype)[case][0])] for row in rows(dtype)["mixed"]]]
    pairs[1] = [np.pad(row, (0, len(pairs[0][0]) - len(row))) for row in pairs[1]]
    for first, second in (pairs, pairs[::-1]):
        text = law_of_text(first, second)
        wanted = np.outer(
            *([float(entry) for entry in fractions(one[1])] for one in (first, second))
        )
        assert not text[wanted == 0].any()
        assert 0.5 * np.abs(text - wanted).sum() <= 2 * BOUNDS[dtype]


def law_of_text(first, second):
    """The law of two tokens after a block of two, (n, n)."""
    n = len(first[0])
    draft = np.stack([first[0], second[0]])
    target = np.stack([first[1], second[1], second[1]])
    places = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), axis=-1).reshape(
        -1, 2
    )
    masses = np.outer(*([float(entry) for entry in fractions(row)] for row in draft)).ravel()
    places, masses = places[masses > 0], masses[masses > 0]

    # In rows of their own: both tokens are kept, the first is, and for 1 and 0 kept tokens (which
    # a uniform number of 0 keeps, if they can be) the token that follows is at most each.
    count, every = len(places), np.repeat(places, n, axis=0)
    blocks = np.concatenate([places, places, every, every])
    numbers = np.full((len(blocks), 3), REJECTED)
    numbers[2 * count : (2 + n) * count, 0] = 0
    moved = np.repeat([1, 0, 2], [count, count, 2 * len(every)])
    tokens = np.tile(np.arange(n), 2 * count)

    def holds(u):
        many = [np.tile(part, (*u.shape, 1, 1)) for part in (draft, target)]
        drafts = np.broadcast_to(blocks, (*u.shape, 2))
        uniforms = np.tile(numbers, (len(u), 1, 1))
        uniforms[:, np.arange(len(blocks)), moved] = u
        found = batch.block_verification(*many, drafts, uniforms)
        kept = found.length[:, : 2 * count] >= np.repeat([2, 1], count)
        return np.concatenate([kept, found.token[:, 2 * count :] <= tokens], axis=1)

    below = bisected(holds, (len(blocks),))
    both, one = below[: 2 * count].reshape(2, count)
    one_kept, none_kept = np.diff(below[2 * count :].reshape(2, count, n), axis=2, prepend=0)
    text = np.zeros((n, n))
    np.add.at(text, tuple(places.T), masses * both)
    after = masses * (1 - both) * one
    np.add.at(text, places[:, 0], after[:, None] * one_kept)
    none = masses * (1 - both) * (1 - one)
    return text + np.outer(none @ none_kept, [float(entry) for entry in fractions(second[1])])
