"""Losses of JAX: equal to those of PyTorch's code path in value, with checked gradients."""

import numpy as np
import pytest

import otspec
from otspec.learning import (
    acceptance_loss,
    kullback_leibler_loss,
    length_loss,
    objectives,
    rule_loss,
    total_variation_loss,
)

jax = pytest.importorskip("jax")
jnp = jax.numpy


@pytest.fixture
def wide():
    """JAX with 64 bits."""
    from jax import experimental

    with (jax.enable_x64 if hasattr(jax, "enable_x64") else experimental.enable_x64)(True):
        yield


def rows(shape, seed=0):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=shape) * 1.5
    target = np.exp(logits + rng.normal(size=shape))
    return jnp.asarray(logits), jnp.asarray(target / target.sum(-1, keepdims=True))


def checked(loss, logits):
    """Compare the gradient with differences, in compiled functions."""
    from jax.test_util import check_grads

    compiled = jax.jit(loss)
    check_grads(lambda z: compiled(jnp.asarray(z)), (logits,), order=1, modes=["rev"])
    return compiled(logits)


@pytest.mark.parametrize(
    ("law", "k"),
    [("iid", 1), ("iid", 3), ("without-replacement", 3), ("hub", 2), ("top-plus-one", 3)],
)
def test_losses_of_the_optimum(law, k, wide):
    logits, target = rows((2, 9), seed=k)
    found = checked(lambda z: acceptance_loss(z, target, k, law), logits)
    for row, wanted, loss in zip(np.array(logits), np.array(target), found, strict=True):
        draft = np.exp(row) / np.exp(row).sum()
        made = otspec.drafts.LAWS[law](draft, k, normalize=True)
        best = otspec.optimal_acceptance(made, wanted, normalize=True)
        assert float(loss) == pytest.approx(1 - best.acceptance, abs=1e-12)


@pytest.mark.parametrize("rule", ["recursive-rejection", "k-sequential", "gumbel-coupling"])
def test_losses_of_rules(rule, wide):
    logits, target = rows((2, 9))
    found = checked(lambda z: rule_loss(z, target, 2, rule), logits)
    assert ((found > 0) & (found < 1)).all()
    if rule == "gumbel-coupling":
        for row, wanted, loss in zip(np.array(logits), np.array(target), found, strict=True):
            race = otspec.rules.GumbelCoupling(np.exp(row), wanted, 2, normalize=True)
            assert float(loss) == pytest.approx(1 - race.acceptance(), abs=1e-12)
        narrow = jax.vmap(lambda z, q: rule_loss(z, q, 2, rule))(
            logits.astype("float32"), target.astype("float32")
        )
        assert narrow.dtype == jnp.float32
        np.testing.assert_allclose(narrow, found, atol=1e-6)


def test_other_losses(wide):
    logits, target = rows((2, 3, 7))
    checked(lambda z: length_loss(z, target, [1, 1, 1], tokens=jnp.array([[0, 1, 2]] * 2)), logits)
    divergence = checked(lambda z: kullback_leibler_loss(z, target, temperature=0.7), logits)
    draft = jax.nn.softmax(logits / 0.7)
    assert jnp.allclose(divergence, (target * jnp.log(target / draft)).sum(-1), atol=1e-12)
    both = kullback_leibler_loss(logits, None, target_logits=jnp.log(target) * 0.7, temperature=0.7)
    assert jnp.allclose(both, divergence, atol=1e-12)


def test_half_precision_in_chunks(monkeypatch):
    """Without 64 bits, and more rows than are worked on at once."""
    monkeypatch.setattr(objectives, "SMALL", 64)
    rng = np.random.default_rng(0)
    logits = jnp.asarray(rng.normal(size=(37, 8)), jnp.bfloat16)
    target = jnp.asarray(rng.dirichlet(np.ones(8), 37), jnp.float32)
    loss, gradient = jax.value_and_grad(lambda z: total_variation_loss(z, target).sum())(logits)
    draft = jax.nn.softmax(logits.astype(jnp.float32))
    exact = np.maximum(np.array(target - draft), 0).sum()
    assert float(loss) == pytest.approx(exact, rel=1e-5)
    assert gradient.dtype == jnp.bfloat16
    outside = np.array(target > draft)
    wanted = np.array(draft) * ((np.array(draft) * outside).sum(-1, keepdims=True) - outside)
    np.testing.assert_allclose(np.array(gradient, dtype=np.float32), wanted, atol=1e-4, rtol=2**-7)
