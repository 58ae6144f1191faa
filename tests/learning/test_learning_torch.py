"""Losses of PyTorch: values by other code of the package, gradients by fractions and gradcheck."""

import numpy as np
import pytest
from exact_derivatives import gradients, random_pairs

import otspec
from otspec.batch import _dispatch, _rows
from otspec.batch._array_api.library import library_of
from otspec.learning import (
    acceptance_gradient,
    acceptance_loss,
    kullback_leibler_loss,
    objectives,
    rule_loss,
    total_variation_loss,
)

torch = pytest.importorskip("torch")

LAWS = [("iid", 1), ("iid", 2), ("iid", 7), ("without-replacement", 2), ("without-replacement", 4),
        ("hub", 2), ("top-plus-one", 3)]  # fmt: skip
inf = float("inf")
RULES = ["recursive-rejection", "k-sequential", "gumbel-coupling"]


def rows(shape, seed=0, spread=1.5):
    """Logits of a draft, and distributions of a target that resembles it."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=shape) * spread
    target = logits + rng.normal(size=shape)
    return torch.tensor(logits), torch.softmax(torch.tensor(target), -1)


@pytest.mark.parametrize("law", ["iid", "without-replacement", "hub"])
def test_gradients_are_the_fractions(law):
    """Tolerance: a few hundred roundings; of the quadrature of distinct drafts 1e-13 and those."""
    compared = 0
    for i, (draft, target) in enumerate(random_pairs(60, seed=11, largest=4)):
        k = 2 if law == "hub" else 1 + i % min(len(draft), 3)
        alpha, slopes = gradients(draft, target, k, law)
        if any(len(each) > 1 for each in slopes):
            continue  # floats may take another of the minimal sets
        if law == "hub" and sorted(draft)[-1] == sorted(draft)[-2]:
            continue  # rounding decides which of two hubs it is
        logits = torch.log(torch.tensor([float(p) for p in draft], dtype=torch.float64))
        logits.requires_grad_()
        loss = acceptance_loss(
            logits, torch.tensor([float(q) for q in target], dtype=torch.float64), k, law
        )
        loss.backward()
        assert loss.item() == pytest.approx(float(1 - alpha), abs=1e-12)
        exact = acceptance_gradient(draft, target, k, law)
        np.testing.assert_allclose(logits.grad, [-float(part) for part in exact], atol=1e-12)
        compared += 1
    assert compared > 25


@pytest.mark.parametrize(("law", "k"), LAWS)
def test_losses_are_those_of_the_optimum(law, k):
    logits, target = rows((3, 4, 40))
    found = acceptance_loss(logits, target, k, law)
    assert found.shape == (3, 4)
    for place in np.ndindex(3, 4):
        draft = torch.softmax(logits[place], -1).numpy()
        made = otspec.drafts.LAWS[law](draft, k, normalize=True)
        best = otspec.optimal_acceptance(made, target[place].numpy(), normalize=True)
        assert found[place].item() == pytest.approx(1 - best.acceptance, abs=1e-12)


@pytest.mark.parametrize(("law", "k"), LAWS)
def test_gradcheck(law, k):
    logits, target = rows((2, 9), seed=k)
    logits.requires_grad_()
    assert torch.autograd.gradcheck(lambda z: acceptance_loss(z, target, k, law), logits)
    assert torch.autograd.gradcheck(
        lambda z: acceptance_loss(
            z, None, k, law, target_logits=torch.log(target), temperature=0.7
        ),
        logits,
    )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("k", [1, 3])
def test_gradcheck_of_rules(rule, k):
    logits, target = rows((2, 9), seed=k)
    logits.requires_grad_()
    assert torch.autograd.gradcheck(lambda z: rule_loss(z, target, k, rule), logits)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_losses_of_rules_are_those_of_the_rules(k):
    logits, target = rows((3, 12))
    for row, wanted in zip(logits, target.numpy(), strict=True):
        draft = torch.softmax(row, -1).numpy()
        for name, kind in (
            ("recursive-rejection", otspec.rules.RecursiveRejection),
            ("k-sequential", otspec.rules.KSequential),
        ):
            made = kind(draft, wanted, k, normalize=True)
            accepted = made.accepted().by_position.sum()
            loss = rule_loss(row, torch.tensor(wanted), k, name)
            assert loss.item() == pytest.approx(1 - accepted, abs=1e-12)
        loss = rule_loss(row, torch.tensor(wanted), k, "gumbel-coupling").item()
        race = 1 - otspec.rules.GumbelCoupling(draft, wanted, k, normalize=True).acceptance()
        assert loss == pytest.approx(race, abs=1e-12)


def test_the_losses_to_compare_with():
    logits, target = rows((5, 30))
    draft = torch.softmax(logits, -1)
    variation = total_variation_loss(logits, target)
    torch.testing.assert_close(variation, (target - draft).clip(min=0).sum(-1))
    torch.testing.assert_close(variation, acceptance_loss(logits, target, 1))
    divergence = kullback_leibler_loss(logits, target)
    torch.testing.assert_close(divergence, (target * (target / draft).log()).sum(-1))
    logits.requires_grad_()
    assert torch.autograd.gradcheck(lambda z: kullback_leibler_loss(z, target), logits)


def test_a_soft_minimum_tends_to_the_optimum_from_above():
    logits, target = rows((6, 40))
    hard = acceptance_loss(logits, target, 4)
    soft = [acceptance_loss(logits, target, 4, softness=s) for s in (0.1, 0.01, 0.001)]
    assert (soft[0] < soft[1]).all()
    assert (soft[1] < soft[2]).all()
    assert (soft[2] <= hard + 1e-12).all()
    # 64 tangents, each within 1/128 of the best one's place: second order in that.
    assert (hard - soft[2] < 0.01).all()
    few, wanted = rows((1, 9))
    few.requires_grad_()
    assert torch.autograd.gradcheck(lambda z: acceptance_loss(z, wanted, 4, softness=0.05), few)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("law", "k"), [("iid", 3), ("hub", 2), ("without-replacement", 2)])
def test_other_dtypes(dtype, law, k):
    """The loss is that of the rounded logits, to float32; the gradient has their dtype."""
    logits, target = rows((40, 50))
    rounded = logits.to(dtype).requires_grad_()
    loss = acceptance_loss(rounded, target.float(), k, law)
    assert loss.dtype == torch.float32
    wide = rounded.detach().double().requires_grad_()
    exact = acceptance_loss(wide, target.float().double(), k, law)
    torch.testing.assert_close(loss.double(), exact, atol=5e-6, rtol=0)
    loss.sum().backward()
    exact.sum().backward()
    assert rounded.grad.dtype == dtype
    step = torch.finfo(dtype).eps
    torch.testing.assert_close(rounded.grad.double(), wide.grad, atol=1e-5, rtol=step)


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (2, 3, 700), (2, 70_000)])
def test_machine_code_for_float32_is_as_near_as_arrays(shape, monkeypatch):
    """Both are compared with float64; a softmax in float32 is off by what its exponents are."""
    logits, target = rows(shape, spread=4)
    logits[..., 0] = -inf if shape[-1] > 1 else 0.0
    target = target.float()
    losses = [lambda z, q, k=k: acceptance_loss(z, q, k) for k in (1, 2, 5)]
    losses += [lambda z, q, rule=rule: rule_loss(z, q, 3, rule) for rule in RULES[:2]]
    for loss in losses:
        wide = logits.clone().requires_grad_()
        exact = loss(wide, target.double())
        exact.sum().backward()
        # By one thread, by all, and by operations on arrays.
        for by_row, shared in ((True, 1 << 21), (True, 1), (False, 1)):
            monkeypatch.setattr(_dispatch, "ROWS", by_row)
            monkeypatch.setattr(_rows, "_SHARED", shared)
            single = logits.float().requires_grad_()
            found = loss(single, target)
            found.sum().backward()
            torch.testing.assert_close(found.double(), exact, atol=3e-6, rtol=0)
            # Of a token so close to a threshold that it may be on either side, or of several.
            torch.testing.assert_close(single.grad.double(), wide.grad, atol=1e-5, rtol=1e-5)


def test_a_softmax_of_rows_by_machine_code():
    logits = torch.tensor(
        [
            [0.0, -1e4, 88.0, 88.5],
            [-inf, 3.0, -inf, 3.0],
            [1e30, 1e30, 0.0, -1e30],
            [-90, -95, 0, 1],
        ]
    )
    wide = torch.softmax(logits.double(), -1)
    found = objectives.softmax(library_of(logits), logits)
    # e^v is 0 below the normal numbers; v itself has a rounding of its own.
    torch.testing.assert_close(found.double(), wide, atol=1e-37, rtol=1e-5)
    for nothing in (float("nan"), inf):
        none = objectives.softmax(library_of(logits), torch.tensor([[0.0, nothing], [0.0, 1.0]]))
        assert torch.isnan(none[0]).any()
        assert none[1].tolist() == pytest.approx([0.26894142, 0.73105858], rel=1e-6)
    assert torch.isnan(objectives.softmax(library_of(logits), torch.full((1, 2), -inf))).all()


def test_rows_of_a_real_vocabulary():
    """Heavy and light tokens: the value by the package's own race, the gradient by differences."""
    trace = otspec.datasets.load_smollm2()
    draft, target = (
        torch.tensor(np.asarray(part)[3, 0]).double()
        for part in (trace.draft_logits, trace.target_logits)
    )
    wanted = torch.softmax(target, -1)
    direction = torch.randn(len(draft), dtype=torch.float64, generator=torch.manual_seed(1))
    for law, k in (("iid", 4), ("without-replacement", 2), ("without-replacement", 4)):
        logits = draft.clone().requires_grad_()
        loss = acceptance_loss(logits, wanted, k, law)
        loss.backward()
        pair = torch.softmax(draft, -1).numpy(), wanted.numpy()
        best = otspec.optimal_acceptances(*pair, [k], law=law, normalize=True)[0]
        assert loss.item() == pytest.approx(1 - best, abs=2e-13)
        step = 1e-5
        around = [
            acceptance_loss(draft + sign * step * direction, wanted, k, law) for sign in (1, -1)
        ]
        slope = (around[0] - around[1]) / (2 * step)
        # Differences are off by the square of the step and by 1e-13 over it.
        assert slope.item() == pytest.approx((logits.grad @ direction).item(), abs=1e-7)


@pytest.mark.parametrize(("law", "k"), LAWS)
def test_degenerate_rows(law, k):
    same = torch.tensor([2.0, 1.0, 0.5, 0.0], dtype=torch.float64)
    logits = torch.stack([same, torch.tensor([0.0, 0.0, 0.0, 0.0]), same, same]).requires_grad_()
    target = torch.stack(
        [torch.softmax(same, -1), torch.full((4,), 0.25), torch.eye(4)[0], torch.eye(4)[3]]
    ).double()
    loss = acceptance_loss(logits, target, k, law)
    loss.sum().backward()
    assert ((loss >= 0) & (loss <= 1)).all()
    if law in ("iid", "without-replacement"):
        assert loss[:2].abs().max() < 1e-12  # draft = target
    assert torch.isfinite(logits.grad).all()
    assert logits.grad.sum(-1).abs().max() < 1e-12
    if law == "iid":
        masked = torch.tensor([0.0, -inf, 0.0, -inf], dtype=torch.float64, requires_grad=True)
        disjoint = acceptance_loss(masked, torch.tensor([0.0, 0.5, 0.0, 0.5]).double(), k)
        disjoint.backward()
        assert disjoint.item() == 1
        assert (masked.grad == 0).all()
        alone = torch.zeros(2, 1, requires_grad=True)
        acceptance_loss(alone, torch.ones(2, 1), k).sum().backward()
        assert (alone.grad == 0).all()
        assert acceptance_loss(torch.zeros(0, 5), torch.zeros(0, 5), k).shape == (0,)


@pytest.mark.parametrize(("law", "k"), LAWS)
def test_chunks_of_rows_make_no_difference(law, k, monkeypatch):
    logits, target = rows((37, 9))
    whole, parts = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    losses = [acceptance_loss(whole, target, k, law)]
    losses[0].sum().backward()
    monkeypatch.setattr(objectives.Objective, "rows_at_once", lambda *_: 5)
    losses.append(acceptance_loss(parts, target, k, law))
    losses[1].sum().backward()
    torch.testing.assert_close(losses[1], losses[0], atol=1e-14, rtol=0)
    torch.testing.assert_close(parts.grad, whole.grad, atol=1e-14, rtol=0)


def test_a_certain_hub():
    logits = torch.tensor([0.0, -inf, -inf], requires_grad=True)
    loss = acceptance_loss(logits, torch.tensor([0.25, 0.5, 0.25]), 2, "hub")
    loss.backward()
    assert loss.item() == 0.75
    assert (logits.grad == 0).all()


def test_distinct_drafts_of_rows_with_too_few_tokens_are_all_that_there_are():
    draft = torch.tensor([[0.0, -inf, -inf], [0.0, 1.0, -inf], [0.0, 1.0, 2.0]]).double()
    draft.requires_grad_()
    target = torch.tensor([[0.5, 0.25, 0.25]]).double().expand(3, 3)
    for k, losses in ((2, [0.5, 0.25]), (3, [0.5, 0.25, 0])):
        loss = acceptance_loss(draft, target, k, "without-replacement")
        (gradient,) = torch.autograd.grad(loss.mean(), draft)
        assert loss[: len(losses)].tolist() == pytest.approx(losses, abs=1e-12)
        assert torch.isfinite(gradient).all()
        assert (gradient[0] == 0).all()
        alone = acceptance_loss(draft[2], target[2], k, "without-replacement")
        torch.testing.assert_close(loss[2], alone, atol=1e-14, rtol=0)
    broken = torch.tensor([0.0, float("nan"), 1.0]).double()
    assert acceptance_loss(broken, target[0], 2, "without-replacement").isnan()


def test_rules_on_degenerate_rows():
    draft = torch.tensor([[0.0, 0.0, -inf], [0.0, -inf, -inf], [0.0, 0.0, 0.0]], requires_grad=True)
    target = torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.5, 0.25, 0.25]])
    for rule in RULES:
        draft.grad = None
        loss = rule_loss(draft, target, 3, rule)
        loss.sum().backward()
        assert loss[:2].tolist() == pytest.approx([1, 0], abs=1e-6)
        assert torch.isfinite(draft.grad).all(), rule
        assert (draft.grad[:2].abs() < 1e-6).all()


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_loss_falls_to_the_optimum_of_the_class(k):
    """One logit for two tokens: the best of that class is found by a search over it, too."""
    target = torch.tensor([0.5, 0.1, 0.4], dtype=torch.float64)
    grid = np.linspace(0, 0.5, 2001)
    found = [
        otspec.optimal_acceptance(otspec.IID([p, p, 1 - 2 * p], k), target.numpy()).acceptance
        for p in grid
    ]
    tied = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    adam = torch.optim.Adam([tied], 0.1)
    least = 1.0
    for step in range(150):
        adam.param_groups[0]["lr"] = 0.1 * 0.96**step
        adam.zero_grad()
        loss = acceptance_loss(tied[[0, 0, 1]], target, k)
        loss.backward()
        adam.step()
        least = min(least, loss.item())
    # The grid is as fine as 2.5e-4, and over that α moves by at most 2k times as much.
    assert least == pytest.approx(1 - max(found), abs=k * 5e-4)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # PyTorch looks at it itself
def test_inside_torch_compile_and_without_gradients():
    logits, target = rows((4, 20))
    model = torch.compile(lambda z: acceptance_loss(2 * z, target, 3).mean(), backend="eager")
    logits.requires_grad_()
    model(logits).backward()
    plain = logits.detach().clone().requires_grad_()
    acceptance_loss(2 * plain, target, 3).mean().backward()
    torch.testing.assert_close(logits.grad, plain.grad)
    with torch.no_grad():
        assert not acceptance_loss(logits, target, 3).requires_grad
