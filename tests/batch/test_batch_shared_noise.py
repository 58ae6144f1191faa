"""Noise from a seed and a position: its bits are those of the source, its races have their laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from batch_backends import Backend
from scipy import stats

from otspec import batch
from otspec.batch._array_api.library import library_of
from otspec.batch._array_api.shared_noise import threefry

LIBRARIES = ["array_api_strict", "torch", "torch-cuda", "jax", "cupy"]
DRAFT, TARGET = [0.5, 0.3, 0.2], [0.1, 0.6, 0.3]
PI = ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3))
KNOWN = {
    ((0, 0), (0, 0)): (0x6B200159, 0x99BA4EFE),
    ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2): (0x1CB996FC, 0xBB002BE7),
    PI: (0xC4923A9C, 0x483DF7A0),
}
"""Known answers of Threefry-2x32 with 20 rounds, of its authors' library Random123."""


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_bits_are_those_of_the_source(name):
    library = library_of(Backend(name).array(np.zeros(1, dtype=np.float32)))
    for (key, counter), wanted in KNOWN.items():
        words = [
            library.xp.full((1,), word, dtype=library.xp.int64 if "torch" in name else
                            library.xp.uint32, device=library.device)
            for word in counter
        ]  # fmt: skip
        assert tuple(int(word[0]) for word in threefry(library, key, *words)) == wanted


def noise_of(seed):
    return lambda like, positions: batch.shared_noise(like, positions, seed)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LIBRARIES)
def test_the_noise_of_every_library_is_that_of_numpy(name, dtype):
    backend, like = Backend(name), np.zeros((40, 97), dtype=dtype)
    if backend.widest == np.float32:
        like = like.astype(np.float32)
    positions = np.arange(40, dtype=np.int32) * 100_003
    for seed in (0, 1, 2**32, 2**64 - 1):
        wanted = batch.shared_noise(like, positions, seed)
        found = backend.call(noise_of(seed), like, positions)
        assert found.dtype == wanted.dtype == like.dtype
        # Two logarithms, each right to 2 of the last digits, and a rounding.
        assert found == pytest.approx(wanted, rel=5 * float(np.finfo(like.dtype).eps), abs=0)


def noise(rows, seed=1, size=3, dtype=np.float64):
    like = np.zeros((rows, size), dtype=dtype)
    return batch.shared_noise(like, np.arange(rows), seed)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_noise_is_exponential_and_independent(dtype):
    values = noise(200_000, size=4, dtype=dtype)
    assert (values > 0).all()
    others = noise(200_000, seed=2**32 + 1, size=4, dtype=dtype)  # another half of the key
    for column in range(4):
        assert stats.kstest(values[:, column], "expon").pvalue > 1e-6
    pairs = [
        (values[:, 0], values[:, 1]),
        (values[:-1, 0], values[1:, 0]),
        (values[:, 2], others[:, 2]),
    ]
    for one, other in pairs:
        assert stats.spearmanr(one, other).pvalue > 1e-6
    # Small numbers are as fine as large ones: no two of 800,000 are equal below 1/1,000.
    small = np.sort(values[values < 1e-3])
    assert len(small) > 500
    assert (np.diff(small) > 0).all()


def test_position_seed_and_token_are_all_that_counts():
    whole = noise(50, size=20)
    assert (
        batch.shared_noise(np.zeros((3, 20)), np.asarray([7, 0, 7]), 1) == whole[[7, 0, 7]]
    ).all()
    assert (batch.shared_noise(np.zeros((50, 9)), np.arange(50), 1) == whole[:, :9]).all()
    assert (batch.shared_noise(np.zeros((5, 10, 20)), np.arange(50).reshape(5, 10), 1)
            == whole.reshape(5, 10, 20)).all()  # fmt: skip
    last = batch.shared_noise(np.zeros((1, 2)), np.asarray([2**32 - 1]), 1)
    assert not np.isin(last, whole).any()


def test_acceptance_is_the_integral_of_the_theory():
    """k = 1: Σ_y 1/Σ_z max(p_z/p_y, q_z/q_y); k = 2: 2009/2090, by hand from section 16."""
    rows = 400_000
    shared = noise(rows)
    drafts = batch.sample_from_noise(np.tile(DRAFT, (rows, 1)), shared, 3)
    assert (np.sort(drafts, axis=1) == [0, 1, 2]).all()
    targets = np.tile(TARGET, (rows, 1))
    first = sum(
        1 / sum(max(p / DRAFT[y], q / TARGET[y]) for p, q in zip(DRAFT, TARGET, strict=True))
        for y in range(3)
    )
    for k, wanted in ((1, first), (2, second_by_quadrature()), (3, 1.0)):
        found = batch.gumbel_coupling(targets, drafts[:, :k], shared)
        assert abs(found.accepted.mean() - wanted) <= 5 * math.sqrt(wanted * (1 - wanted) / rows)
        hits = found.accepted
        assert (
            np.take_along_axis(drafts, found.index[:, None], 1)[hits, 0] == found.token[hits]
        ).all()
        assert (found.index[~hits] == -1).all()
    counts = np.bincount(found.token, minlength=3)
    assert stats.chisquare(counts, np.multiply(TARGET, rows)).pvalue > 1e-6
    counts = np.bincount(drafts[:, 0] * 3 + drafts[:, 1], minlength=9)
    for x, y in ((0, 1), (1, 2), (2, 0)):
        mass = DRAFT[x] * DRAFT[y] / (1 - DRAFT[x])
        assert abs(counts[3 * x + y] / rows - mass) <= 5 * math.sqrt(mass * (1 - mass) / rows)


def second_by_quadrature():
    """Σ_y q(y) ∫ e^{−t} P(fewer than two of the others come before y) dt, by a sum over u."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    u, weights, total = (nodes + 1) / 2, weights / 2, 0.0
    for y in range(3):
        late = [
            u ** max(TARGET[y] * DRAFT[z] / DRAFT[y] - TARGET[z], 0) for z in range(3) if z != y
        ]
        before = 1 - np.array(late)
        total += TARGET[y] * float(weights @ (1 - before[0] * before[1]))
    return total


def test_the_token_is_the_same_whatever_was_drafted():
    rng = np.random.default_rng(0)
    targets = rng.dirichlet(np.ones(50), size=300)
    shared = noise(300, size=50)
    plain = batch.gumbel_coupling(targets, np.zeros((300, 1), dtype=int), shared).token
    assert (plain == (shared / targets).argmin(axis=1)).all()
    for k in (1, 4):
        drafts = rng.integers(50, size=(300, k))
        mask = rng.random((300, k)) < 0.5
        found = batch.gumbel_coupling(targets, drafts, shared, mask=mask)
        assert (found.token == plain).all()
        assert (found.accepted == ((drafts == plain[:, None]) & mask).any(axis=1)).all()
    logits = np.log(targets) + rng.normal(size=(300, 1))  # a row of logits has no scale
    drafts = plain[:, None]
    assert batch.gumbel_coupling(logits, drafts, shared, logits=True).accepted.all()


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_library_gives_the_token_of_numpy(name):
    backend, rng = Backend(name), np.random.default_rng(3)
    targets = rng.dirichlet(np.full(1_000, 0.1), size=100).astype(np.float32)
    drafts = rng.integers(1_000, size=(100, 2))
    own = batch.shared_noise(targets, np.arange(100), 9)
    wanted = batch.gumbel_coupling(targets, drafts, own)
    shared = backend.call(lambda *rows: batch.shared_noise(*rows, 9), targets, np.arange(100))
    found = backend.call(batch.gumbel_coupling, targets, drafts, shared)
    # Where the first two arrive within rounding of each other, the logarithm decides.
    with np.errstate(over="ignore"):
        times = np.sort(own / np.where(targets > 0, targets, np.nan), axis=1)
    close = times[:, 1] <= times[:, 0] * (1 + 1e-5)
    assert close.mean() < 0.05
    assert (np.asarray(found.token)[~close] == wanted.token[~close]).all()


@pytest.mark.parametrize("name", LIBRARIES)
def test_degenerate_rows(name):
    backend = Backend(name)
    targets = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 1e-37, 0]], dtype=np.float32)
    shared = backend.call(lambda *rows: batch.shared_noise(*rows, 0), targets, np.arange(4))
    drafts = np.array([[2, 0], [0, 1], [1, 2], [1, 1]])
    found = backend.call(batch.gumbel_coupling, targets, drafts, shared)
    assert found.token.tolist() == [2, -1, 0, 1]
    assert found.accepted.tolist() == [True, False, False, True]
    assert found.index.tolist() == [0, -1, -1, 0]
    drawn = backend.call(lambda *rows: batch.sample_from_noise(*rows, 2), targets, shared)
    assert drawn.tolist() == [[2, -1], [-1, -1], [0, -1], [1, -1]]


def test_what_does_not_fit_is_refused_by_name():
    rows, drafts, shared = np.full((2, 4), 0.25), np.zeros((2, 1), dtype=int), np.ones((2, 4))
    with pytest.raises(ValueError, match=r"noise is float64 of shape \(2, 3\): it must be"):
        batch.gumbel_coupling(rows, drafts, shared[:, :3])
    with pytest.raises(ValueError, match="noise is float16"):
        batch.gumbel_coupling(rows, drafts, shared.astype(np.float16))
    with pytest.raises(ValueError, match="logits"):
        batch.gumbel_coupling(rows, drafts, shared, logits=2)
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        batch.shared_noise(rows, np.arange(2), -1)
    with pytest.raises(ValueError, match="seed"):
        batch.shared_noise(rows, np.arange(2), 2**64)
    with pytest.raises(ValueError, match=r"positions is float64 of shape \(2,\)"):
        batch.shared_noise(rows, np.ones(2), 0)
    with pytest.raises(ValueError, match="positions is int64"):
        batch.shared_noise(rows, np.arange(3), 0)
    with pytest.raises(
        ValueError, match=r"must be integers of shape \(2, 3\), a position for each"
    ):
        batch.shared_noise(np.full((2, 3, 4), 0.25), np.arange(2), 0)
    with pytest.raises(ValueError, match="k"):
        batch.sample_from_noise(rows, shared, 5)
