"""The loss of shared noise for several drafts: its formula in dual numbers, over all tuples."""

from itertools import pairwise

import numpy as np
import pytest
from exact_derivatives import Dual, added, random_pairs, without_replacement

import otspec
from otspec.learning import rule_loss

torch = pytest.importorskip("torch")


def lost(draft, target, k, direction):
    """Return 1 − β and its derivative: y is no draft if k others come before it in its race."""
    mean = sum(p * d for p, d in zip(draft, direction, strict=True))
    moved = [Dual(p, p * (d - mean)) for p, d in zip(draft, direction, strict=True)]
    total = Dual(0)
    for y, mass in enumerate(target):
        if not mass:
            continue
        rates = [Dual(mass) * p - moved[y] * Dual(q) for p, q in zip(moved, target, strict=True)]
        rates = [rate if rate.value > 0 else Dual(0) for rate in rates]
        rates[y] = moved[y]
        rates = [rate / added(rates) for rate in rates]
        missed = added(part for x, part in without_replacement(rates, k) if y not in x)
        total = total + Dual(mass) * missed
    return total


def as_logits(draft):
    return torch.log(torch.tensor([float(p) for p in draft], dtype=torch.float64)).requires_grad_()


def near_ties(draft, target):
    """Whether tokens of equal q/p are different: rounding chooses one of the sides."""
    pairs = list(zip(draft, target, strict=True))
    return any(
        p * b == a * q and q and (p, q) != (a, b) for p, q in pairs for a, b in pairs
    )  # fmt: skip


def test_values_and_gradients_are_the_fractions():
    """Tolerance: a few hundred roundings, and 1e-14 of the quadrature for each token."""
    compared = 0
    for i, (draft, target) in enumerate(random_pairs(16, seed=5, largest=5)):
        k = min(len(draft), 2 + i % 3)
        units = np.eye(len(draft), dtype=int).tolist()
        exact = [lost(draft, target, k, unit) for unit in units]
        assert 1 - exact[0].value == otspec.rules.GumbelCoupling(draft, target, k).acceptance()
        logits = as_logits(draft)
        wanted = torch.tensor([float(q) for q in target], dtype=torch.float64)
        found = rule_loss(logits, wanted, k, "gumbel-coupling")
        assert found.item() == pytest.approx(float(exact[0].value), abs=1e-12)
        if not near_ties(draft, target):
            found.backward()
            slopes = [float(each.slope) for each in exact]
            np.testing.assert_allclose(logits.grad, slopes, atol=1e-12)
            compared += len(draft) > 2
    assert compared > 5


@pytest.mark.parametrize("k", [2, 4])
def test_nothing_is_lost_where_draft_and_target_are_the_same(k):
    """Tolerance: 1e-14 of the quadrature for each token."""
    draft = torch.tensor([0.4, 0.3, 0.2, 0.1, 0.0], dtype=torch.float64)
    logits = torch.log(draft).requires_grad_()
    found = rule_loss(logits, torch.softmax(logits.detach(), -1), k, "gumbel-coupling")
    found.backward()
    assert found.item() == pytest.approx(0, abs=1e-13)
    np.testing.assert_allclose(logits.grad, np.zeros(5), atol=1e-13)


def test_zeros():
    """Where supports are disjoint all is lost; a token that is never drafted is lost."""
    logits = torch.tensor([0.0, 0.5, 1.0, -np.inf, -np.inf], dtype=torch.float64).requires_grad_()
    apart = torch.tensor([0, 0, 0, 0.5, 0.5], dtype=torch.float64)
    found = rule_loss(logits, apart, 2, "gumbel-coupling")
    found.backward()
    assert found.item() == pytest.approx(1, abs=1e-13)
    assert not logits.grad.any()
    some = torch.tensor([0, 0.5, 0.25, 0.25, 5e-324], dtype=torch.float64)
    found = rule_loss(logits, some, 4, "gumbel-coupling")
    found.backward()
    assert found.item() == pytest.approx(0.25, abs=1e-13)
    assert logits.grad.abs().max() < 1e-15
    one = torch.zeros(2, 1, dtype=torch.float64)
    assert rule_loss(one, one + 1, 1, "gumbel-coupling").tolist() == [0, 0]


@pytest.mark.parametrize("k", [2, 4])
def test_gradcheck_of_one_race(k):
    rng = np.random.default_rng(k)
    logits = torch.tensor(rng.normal(size=(2, 6))).requires_grad_()
    target = torch.softmax(torch.tensor(rng.normal(size=(2, 6))), -1)
    assert torch.autograd.gradcheck(
        lambda z: rule_loss(z, target, k, "gumbel-coupling", temperature=0.8), logits
    )


def by_differentiation(logits, target, k):
    """Return the loss from its integral, over all pairs of tokens, for PyTorch to differentiate."""
    draft = torch.softmax(logits, -1)
    rates = torch.clip(draft * (target / draft)[:, None] - target, min=0)  # (y, z)
    nodes, weights = map(torch.tensor, np.polynomial.legendre.leggauss(12))
    ends = [0, *(2.0**i for i in range(-8, 7))]
    pieces = list(pairwise(ends))
    times = torch.cat([a + (b - a) / 2 * (1 + nodes) for a, b in pieces])
    shares = torch.cat([(b - a) / 2 * weights for a, b in pieces])
    counts = [torch.ones(len(draft), len(times)), *[torch.zeros(1, 1)] * (k - 1)]
    for rate in rates.T:
        missing = torch.exp(-rate[:, None] * times)
        fewer = [torch.zeros(1, 1), *counts[:-1]]
        counts = [c * missing + f * (1 - missing) for c, f in zip(counts, fewer, strict=True)]
    return 1 - target @ (sum(counts) @ (shares * torch.exp(-times)))


@pytest.mark.parametrize(("spread", "apart"), [(1, 0.05), (2, 1), (4, 3)])
def test_panels_are_the_integrals_of_all_pairs(spread, apart):
    """Tolerance: 1e-10 for the panels; of equal ratios there are none."""
    rng = np.random.default_rng(spread)
    logits = spread * rng.normal(size=90)
    target = torch.softmax(torch.tensor(logits + apart * rng.normal(size=90)), -1)
    one, other = (torch.tensor(logits).requires_grad_() for _ in range(2))
    found = rule_loss(one, target, 3, "gumbel-coupling")
    found.backward()
    exact = by_differentiation(other, target, 3)
    exact.backward()
    assert found.item() == pytest.approx(exact.item(), abs=1e-10)
    torch.testing.assert_close(one.grad, other.grad, atol=1e-9, rtol=0)


@pytest.mark.parametrize("k", [2, 8])
def test_a_full_vocabulary(k):
    """Against differences of what the rule accepts: off by the square of the step."""
    trace = otspec.datasets.load_smollm2()
    rng = np.random.default_rng(k)
    draft, target = (
        np.asarray(part)[3, 0].astype(float) for part in (trace.draft_logits, trace.target_logits)
    )
    target += 1e-3 * rng.normal(size=len(target))  # of equal ratios, but for rounding
    wanted, direction = np.exp(target - target.max()), rng.normal(size=len(draft))
    logits = torch.tensor(draft).requires_grad_()
    loss = rule_loss(logits, None, k, "gumbel-coupling", target_logits=torch.tensor(target))
    loss.backward()
    assert logits.grad.sum().item() == pytest.approx(0, abs=1e-13)

    def accepted(step):
        moved = np.exp(draft + step * direction - draft.max())
        return otspec.rules.GumbelCoupling(moved, wanted, k, normalize=True).acceptance()

    assert 1 - loss.item() == pytest.approx(accepted(0), abs=1e-13)
    slope = (accepted(1e-6) - accepted(-1e-6)) / 2e-6
    assert (logits.grad.numpy() @ direction).item() == pytest.approx(-slope, abs=1e-7)


def test_half_precision_and_rows_that_are_no_numbers():
    rng = np.random.default_rng(0)
    wide = torch.tensor(rng.normal(size=(2, 3, 7))).bfloat16().double().requires_grad_()
    target = torch.softmax(torch.tensor(rng.normal(size=(2, 3, 7))), -1)
    exact = rule_loss(wide, target, 2, "gumbel-coupling")
    exact.sum().backward()
    half = wide.detach().bfloat16().requires_grad_()
    found = rule_loss(half, target.float(), 2, "gumbel-coupling")
    found.sum().backward()
    assert found.dtype == torch.float32
    assert half.grad.dtype == torch.bfloat16
    torch.testing.assert_close(found.double(), exact, atol=1e-6, rtol=0)
    torch.testing.assert_close(half.grad.double(), wide.grad, atol=1e-6, rtol=2**-7)
    rows = torch.zeros(3, 4)
    rows[1, 2] = float("nan")
    rows[2] = -float("inf")
    assert rule_loss(rows, torch.full((3, 4), 0.25), 2, "gumbel-coupling").isnan().tolist() == [
        False, True, True,
    ]  # fmt: skip
