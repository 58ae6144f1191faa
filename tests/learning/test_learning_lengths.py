"""The expected kept length of chains and trees, and which arguments the losses take."""

from itertools import product

import numpy as np
import pytest

from otspec.blocks import DraftSelection, TokenVerification
from otspec.learning import acceptance_loss, length_loss, rule_loss
from otspec.models import CallableModel
from otspec.rules import RecursiveRejection

torch = pytest.importorskip("torch")


def test_a_chain_with_tokens_is_exact_in_the_mean():
    """Over all texts of the target, weighted: L − E[τ] of token verification."""
    size, length, rng = 3, 3, np.random.default_rng(0)
    prefixes = [x for i in range(length) for x in product(range(size), repeat=i)]
    tables = [
        dict(zip(prefixes, rng.dirichlet(np.ones(size), len(prefixes)), strict=True))
        for _ in range(2)
    ]
    models = [CallableModel(lambda x, rows=rows: rows[x[: length - 1]]) for rows in tables]
    exact = TokenVerification(*models, length).expected()
    texts = list(product(range(size), repeat=length))
    draft, target = (
        torch.tensor(np.array([[rows[text[:i]] for i in range(length)] for text in texts]))
        for rows in tables
    )
    tokens = torch.tensor(texts)
    masses = target.gather(-1, tokens[..., None])[..., 0].prod(-1)
    lost = length_loss(torch.log(draft), target, [1] * length, tokens=tokens)
    assert length - (masses @ lost).item() == pytest.approx(exact, abs=1e-12)
    others = length_loss(
        torch.log(draft), None, [1] * length, tokens=tokens, target_logits=torch.log(target)
    )
    torch.testing.assert_close(others, lost)


@pytest.mark.parametrize("branching", [[2, 1], [3, 2], [2, 3]])
def test_a_tree_of_recursive_rejection_with_tokens_is_exact_in_the_mean(branching):
    """Over all texts of the target, weighted: L − E[τ] of that tree without merged children."""
    size, length, rng = 3, len(branching), np.random.default_rng(len(branching) + branching[0])
    prefixes = [x for i in range(length) for x in product(range(size), repeat=i)]
    tables = [
        dict(zip(prefixes, rng.dirichlet(np.ones(size), len(prefixes)), strict=True))
        for _ in range(2)
    ]
    models = [CallableModel(lambda x, rows=rows: rows[x[: length - 1]]) for rows in tables]
    exact = DraftSelection(*models, branching, RecursiveRejection, merge=False).expected()
    texts = list(product(range(size), repeat=length))
    draft, target = (
        torch.tensor(np.array([[rows[text[:i]] for i in range(length)] for text in texts]))
        for rows in tables
    )
    tokens, logits = torch.tensor(texts), torch.log(draft).requires_grad_()
    masses = target.gather(-1, tokens[..., None])[..., 0].prod(-1)
    options = {"rule": "recursive-rejection", "tokens": tokens}
    lost = length_loss(logits, target, branching, **options)
    assert length - (masses @ lost).item() == pytest.approx(exact, abs=1e-12)
    assert torch.autograd.gradcheck(
        lambda z: length_loss(z, target[:2], branching, rule=options["rule"], tokens=tokens[:2]),
        logits[:2].detach().requires_grad_(),
    )
    approximate = length_loss(logits, target, branching, rule="recursive-rejection")
    alphas = [
        1 - rule_loss(logits[:, i], target[:, i], k, "recursive-rejection")
        for i, k in enumerate(branching)
    ]
    torch.testing.assert_close(approximate, 2 - alphas[0] * (1 + alphas[1]))


def test_trees_multiply_the_acceptances_of_their_levels():
    rng = np.random.default_rng(0)
    logits = torch.tensor(rng.normal(size=(4, 3, 10)), requires_grad=True)
    target = torch.tensor(rng.dirichlet(np.ones(10), (4, 3)))
    found = length_loss(logits, target, [3, 2, 1], "without-replacement")
    alphas = [
        1 - acceptance_loss(logits[:, i], target[:, i], k, "without-replacement")
        for i, k in enumerate([3, 2, 1])
    ]
    wanted = 3 - alphas[0] * (1 + alphas[1] * (1 + alphas[2]))
    torch.testing.assert_close(found, wanted)
    assert torch.autograd.gradcheck(lambda z: length_loss(z, target[:1], [2, 1, 1]), logits[:1])
    tokens = torch.tensor(rng.integers(0, 10, (4, 3)))
    assert torch.autograd.gradcheck(
        lambda z: length_loss(z, target, [1, 1, 1], tokens=tokens), logits
    )


LOGITS, TARGET = torch.zeros(2, 3), torch.full((2, 3), 1 / 3)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.zeros(3), np.ones(3) / 3, 2), {}, "draft_logits is a numpy.ndarray"),
        ((LOGITS, TARGET.numpy(), 2), {}, "pass arrays of one library"),
        ((LOGITS, TARGET[:, :2], 2), {}, r"target_probs has shape .*give both one shape"),
        ((LOGITS, None, 2), {}, "neither of target_probs and target_logits"),
        ((LOGITS, TARGET, 2), {"target_logits": LOGITS}, "both of target_probs and"),
        ((LOGITS.int(), TARGET, 2), {}, "draft_logits has dtype"),
        ((LOGITS, TARGET, 0), {}, "k is 0: it must be at least 1"),
        ((LOGITS, TARGET, 2.5), {}, "k must be an integer, got 2.5"),
        ((LOGITS, TARGET, 2, "best"), {}, "law is 'best'"),
        ((LOGITS, TARGET, 3, "hub"), {}, "hub drafts come in pairs"),
        ((LOGITS, TARGET, 4, "without-replacement"), {}, "k is 4: it must be at most 3"),
        ((LOGITS, TARGET, 4, "top-plus-one"), {}, "k is 4: it must be at most 3"),
        ((LOGITS, TARGET, 2), {"temperature": 0}, "temperature is 0: it must be positive"),
        ((LOGITS, TARGET, 2), {"softness": -1}, "softness is -1: it must be positive"),
        ((LOGITS, TARGET, 1), {"softness": 0.1}, "k at least 2 only"),
        ((LOGITS, TARGET, 2, "hub"), {"softness": 0.1}, "k at least 2 only"),
    ],
)
def test_other_arguments_are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        acceptance_loss(*arguments, **options)


def test_other_arguments_of_rules_and_lengths_are_refused():
    with pytest.raises(ValueError, match="rule is 'best'"):
        rule_loss(LOGITS, TARGET, 2, "best")
    with pytest.raises(ValueError, match="k is 10001: it must be at most"):
        rule_loss(LOGITS, TARGET, 10_001, "recursive-rejection")
    with pytest.raises(ValueError, match="branching has 3 levels"):
        length_loss(LOGITS, TARGET, [1, 1, 1])
    with pytest.raises(ValueError, match="tokens are given for the branching"):
        length_loss(LOGITS, TARGET, [2, 1], tokens=torch.tensor([0, 1]))
    with pytest.raises(ValueError, match="tokens has shape"):
        length_loss(LOGITS, TARGET, [1, 1], tokens=torch.tensor([0, 1, 2]))
    with pytest.raises(ValueError, match="token ids are integers"):
        length_loss(LOGITS, TARGET, [1, 1], tokens=torch.tensor([0.0, 1.0]))
