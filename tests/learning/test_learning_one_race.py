"""The loss of shared noise for several drafts: its formula in dual numbers, over all tuples."""

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
    for i, (draft, target) in enumerate(random_pairs(24, seed=5, largest=5)):
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
    assert compared > 8


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
    assert not logits.grad.any()
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


def test_many_tokens_are_raced_some_at_a_time(monkeypatch):
    """Tolerance: 1e-6 for float32; blocks change the order of sums only."""
    from otspec.learning import one_race

    rng = np.random.default_rng(0)
    logits = torch.tensor(rng.normal(size=(2, 30)) * 2)
    target = torch.softmax(logits + torch.tensor(rng.normal(size=(2, 30))), -1)
    whole = rule_loss(logits.float(), target.float(), 3, "gumbel-coupling")
    monkeypatch.setattr(one_race, "AT_ONCE", 1 << 20)
    parts = rule_loss(logits.float(), target.float(), 3, "gumbel-coupling")
    torch.testing.assert_close(whole, parts, atol=1e-6, rtol=0)
    for row, wanted, found in zip(logits.numpy(), target.numpy(), parts, strict=True):
        rule = otspec.rules.GumbelCoupling(np.exp(row), wanted, 3, normalize=True)
        assert found.item() == pytest.approx(1 - rule.acceptance(), abs=1e-6)


def test_larger_vocabularies_are_refused():
    rows = torch.zeros(257)
    with pytest.raises(ValueError, match="257 tokens"):
        rule_loss(rows, rows + 1 / 257, 2, "gumbel-coupling")
    assert rule_loss(rows, rows + 1 / 257, 1, "gumbel-coupling").item() == pytest.approx(
        0, abs=1e-6
    )
