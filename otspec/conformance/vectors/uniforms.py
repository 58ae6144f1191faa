"""Answers to given uniform numbers, of the reference vectors, by the convention of otspec.batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from otspec import batch
from otspec._base.arithmetic import Array
from otspec.conformance.vectors.distributions import Drafts, Group, groups

FUNCTIONS: dict[tuple[str, str], Callable[..., Any]] = {
    ("tokens", "maximal-coupling"): batch.maximal_coupling,
    ("tokens", "recursive-rejection"): batch.recursive_rejection,
    ("tokens", "recursive-rejection-without-replacement"): (
        batch.recursive_rejection_without_replacement
    ),
    ("block", "token"): batch.token_verification,
    ("block", "block-published"): batch.block_verification,
}
"""The functions whose use of uniform numbers is the convention, by kind and rule."""
GRID = 128
"""Uniform numbers are odd multiples of 1/128: float16 has them."""
MARGIN = 2.0**-9
"""So far each may be off without another answer, so that rounding decides nothing."""
TRIES = 8
"""Rows of uniform numbers that are tried for each tuple of drafts."""


def uniform_vectors(kind: str) -> Iterator[dict[str, Any]]:
    """Yield the vectors of a kind."""
    rng = np.random.default_rng(0)
    for group in groups(kind):
        if (group.kind, group.rule) in FUNCTIONS:
            for drafts, _ in group.drafted():
                yield from _of_drafts(group, drafts, rng)


def _of_drafts(group: Group, drafts: Drafts, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield, of some rows of uniform numbers, those with answers of their own that are firm."""
    width = len(drafts) + 1
    corners = np.array(list(product((-MARGIN, 0.0, MARGIN), repeat=width)))
    tried = (2 * rng.integers(GRID // 2, size=(TRIES, width)) + 1) / GRID
    found = answers_to(group, drafts, (tried[:, None] + corners).reshape(-1, width))
    seen: set[tuple[int, int]] = set()
    for row, uniforms in enumerate(tried.tolist()):
        answers = {*found[row * len(corners) : (row + 1) * len(corners)]}
        if len(answers) == 1 and not answers <= seen:
            seen |= answers
            ((mark, token),) = answers
            yield {
                "group": group.name,
                "drafts": list(drafts),
                "uniforms": uniforms,
                "mark": mark,
                "token": token,
            }


def answers_to(group: Group, drafts: Drafts, uniforms: Array) -> list[tuple[int, int]]:
    """Return mark and token for each row of uniform numbers, shape (rows, drafts + 1)."""
    draft, target = (
        np.array(group.rows(table, drafts), dtype=float)
        for table in (group.pair.draft, group.pair.target)
    )
    models = (draft[0], target[0]) if group.kind == "tokens" else (draft[:-1], target)
    rows = [np.broadcast_to(model, (len(uniforms), *model.shape)) for model in models]
    tokens = np.broadcast_to(np.array(drafts), (len(uniforms), len(drafts)))
    found = FUNCTIONS[group.kind, group.rule](*rows, tokens, uniforms)
    marks = found.index if group.kind == "tokens" else found.length
    return list(zip(marks.tolist(), found.token.tolist(), strict=True))
