"""The verifier of transformers itself: lossless but for what it raises, and how it is weighted."""

from functools import partial
from unittest import mock

import pytest
from small_texts import block_texts, rows_of_block, total_variation
from tiny_models import transformers

from otspec.conformance import adapters

transformers()

import torch  # noqa: E402
from transformers.generation.utils import _speculative_sampling  # noqa: E402


def of(function, dtype, least):
    return total_variation(block_texts(adapters.transformers_chain(function), dtype, least))


@pytest.mark.parametrize(
    ("dtype", "least", "allowed"), [("float64", 1e-12, 1e-15), ("float32", 1e-6, 2e-7)]
)
def test_it_has_the_law_of_the_target(dtype, least, allowed):
    """In float32 all but four roundings of each ratio."""
    assert of(_speculative_sampling, dtype, least) <= allowed


def test_its_ensembles_have_not():
    weighted = partial(_speculative_sampling, assistant_ensemble_weight=0.5)
    assert of(weighted, "float64", 1e-12) > 0.1


def test_it_says_how_many_tokens_it_kept():
    def miscounts(*arguments):
        tokens, kept = _speculative_sampling(*arguments)
        return tokens, kept + 1

    with pytest.raises(ValueError, match="there must be one token more"):
        adapters.transformers_chain(miscounts)(**rows_of_block((0, 1)))


def verified(draft, target, token, number):
    """Verify one token with one uniform number, or return how what is raised begins."""
    draft, target = (torch.tensor([rows], dtype=torch.float64) for rows in (draft, target))
    with mock.patch.object(torch, "rand_like", lambda like: torch.full_like(like, number)):
        try:
            tokens, kept = _speculative_sampling(
                torch.tensor([[token]]), draft.log().float(), 1, target.log().float()
            )
        except RuntimeError as error:
            return str(error)[:38]
    return tokens[0].tolist(), int(kept)


ALL_BUT_ONE = 1 - 2.0**-24
"""The greatest number that ``torch.rand_like`` draws in float32."""
NO_ROW = "probability tensor contains either `in"
"""What ``torch.multinomial`` says of NaN."""


@pytest.mark.parametrize(
    ("draft", "target", "number", "answer"),
    [
        ((0.5, 0.3, 0.2), (0.5, 0.3, 0.2), ALL_BUT_ONE, ([0, 1], 1)),
        ((0.5, 0.5, 0), (0, 1, 0), 0.0, ([0, 1], 1)),
        ((0.5, 0.5, 0), (0, 1, 0), 2.0**-24, ([1], 0)),
        ((0, 1, 0), (0.5, 0.5, 0), ALL_BUT_ONE, ([0, 1], 1)),
        ((0, 1, 0), (0, 1, 0), 0.0, NO_ROW),
        ((0.5, 0.5, 0), (0, 0, 0), 0.5, NO_ROW),
    ],
    ids=[
        "draft = target: kept",
        "target 0, number 0: kept",
        "target 0: rejected",
        "draft 0: kept",
        "both 0: no residual",
        "nothing allowed: no row",
    ],
)
def test_what_it_does_at_the_edges(draft, target, number, answer):
    """The first token, and after it the second for certain."""
    assert verified([draft], [target, (0, 1, 0)], 0, number) == answer


def test_a_rejection_that_rounding_alone_makes_has_no_residual():
    """The drafted token is some roundings less likely, and no other is more likely."""
    draft = torch.tensor([[[0.0, -6.0, 0.0]]])
    target = draft.repeat(1, 2, 1)
    target[0, 0, 1] -= 5 * 2.0**-21
    before, after = draft.softmax(-1)[0, 0], target.softmax(-1)[0, 0]
    assert after[1] / before[1] < ALL_BUT_ONE
    assert (after <= before).all()
    with (
        mock.patch.object(torch, "rand_like", lambda like: torch.full_like(like, ALL_BUT_ONE)),
        pytest.raises(RuntimeError, match=NO_ROW),
    ):
        _speculative_sampling(torch.tensor([[1]]), draft, 1, target)
