"""Blocks and trees of drafts that are withdrawn by token: texts are the target's, exactly."""

from __future__ import annotations

import numpy as np
import pytest

from otspec import audit_blocks
from otspec.blocks import (
    BLOCK_RULES,
    TREE_RULES,
    TREE_VERIFIERS,
    BlockVerification,
    DraftSelection,
    TokenVerification,
)
from otspec.models import EndingModel, Prefix, markov, masked, memoryless

DRAFT = markov([["3/4", "1/4"], ["1/3", "2/3"]])
TARGET = markov([["1/4", "3/4"], ["1/2", "1/2"]])
DRAWN = [name for name in TREE_RULES if name != "target-only"]
KEEPS = {
    "none": lambda _, __: [],
    "all": lambda _, __: [0, 1],
    "by path": lambda text, _: [0, 1] if not text else [1 - text[-1]],
}


@pytest.mark.parametrize("keep", list(KEEPS))
@pytest.mark.parametrize("name", list(BLOCK_RULES))
def test_every_rule_for_blocks_takes_masked_models(name: str, keep: str) -> None:
    rule = BLOCK_RULES[name](*masked(DRAFT, TARGET, KEEPS[keep]), 2)
    report = audit_blocks(rule, 3, optimum=False)
    assert report.lossless
    plain = BLOCK_RULES[name](DRAFT, TARGET, 2).expected()
    wanted = {"none": 0, "all": plain}.get(keep)
    assert report.expected < plain if wanted is None else report.expected == wanted


@pytest.mark.parametrize("name", [*TREE_VERIFIERS, *DRAWN])
def test_every_rule_for_trees_takes_masked_models(name: str) -> None:
    pair = masked(DRAFT, TARGET, KEEPS["by path"])
    rule = (
        TREE_VERIFIERS[name](*pair, "2x1")
        if name in TREE_VERIFIERS
        else DraftSelection(*pair, "2x2", TREE_RULES[name])
    )
    assert audit_blocks(rule, 2, optimum=False).lossless


def test_tokens_are_kept_as_often_as_a_sum_over_texts_says() -> None:
    def keep(text: Prefix, _: object = None) -> list[int]:
        return [1] if text in ((), (1, 1)) else [0, 1]

    kept = 0
    for text, mass in [*DRAFT.texts(1), *DRAFT.texts(2), *DRAFT.texts(3)]:
        wanted = TARGET.mass(text)
        whole = all(token in keep(text[:i]) for i, token in enumerate(text))
        ratios = [
            min(1, TARGET(text[:i])[token] / DRAFT(text[:i])[token]) for i, token in enumerate(text)
        ]
        kept += whole * mass * np.prod(ratios)
        assert wanted > 0
    assert TokenVerification(*masked(DRAFT, TARGET, keep), 3).expected() == kept


def test_texts_that_end_and_models_after_a_text() -> None:
    target = EndingModel(TARGET, [1])
    draft, wanted = masked(DRAFT, target, lambda text, _: [1] if len(text) == 1 else [0, 1])
    assert [wanted.ended(text) for text in ((1,), (0, 2), (0,))] == [True, True, False]
    assert audit_blocks(BlockVerification(draft, wanted, 3), 4).lossless
    after = draft.after((0,))
    assert draft((0,)).tolist() == [0, DRAFT((0,))[1], DRAFT((0,))[0]]
    assert after(()).tolist() == draft((0,)).tolist()
    assert after.begun()(()).tolist() == [
        *DRAFT((0,)),
        0,
    ]  # of its first token nothing is withdrawn
    assert draft((2,)).tolist() == [0, 0, 1]


def test_what_does_not_fit_is_refused() -> None:
    half = memoryless(["1/2", "1/2"])
    with pytest.raises(ValueError, match="keep"):
        masked(half, half, [0])
    with pytest.raises(ValueError, match="keep"):
        masked(half, half, lambda _, __: [2])[0](())
