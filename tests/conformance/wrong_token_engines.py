"""Engines for one token of several drafts, each with one fault."""

import numpy as np
from text_engines import choose

from otspec.batch import recursive_rejection, warp


def one_number(draft, target, k, rng):
    """The number that draws the first draft decides whether it is accepted."""
    uniforms = rng.random((len(draft), k + 1))
    drafts = choose(draft[:, None], uniforms[:, :k])
    return recursive_rejection(draft, target, drafts, uniforms).token


def draft_at_another_temperature(draft_logits, target_logits, k, rng):
    """Drafts are drawn at temperature 0.8, and declared at 1."""
    cold, draft, target = (
        warp(draft_logits, temperature=0.8),
        warp(draft_logits),
        warp(target_logits),
    )
    drafts = choose(cold[:, None], rng.random((len(draft), k)))
    return recursive_rejection(draft, target, drafts, rng.random((len(draft), k + 1))).token


def drafts_without_replacement(draft, target, k, rng):
    """Drafts are distinct, and verified as if they were independent."""
    left, drafts = draft.copy(), []
    for _ in range(k):
        left = np.where(left.sum(axis=1, keepdims=True) > 0, left, draft)
        drafts.append(choose(left, rng.random(len(left))))
        left[np.arange(len(left)), drafts[-1]] = 0
    drafts = np.stack(drafts, axis=1)
    return recursive_rejection(draft, target, drafts, rng.random((len(draft), k + 1))).token


def target_of_logits(draft, target_logits, k, rng, temperature):
    """The target has no temperature."""
    drafts = choose(draft[:, None], rng.random((len(draft), k)))
    uniforms = rng.random((len(draft), k + 1))
    return recursive_rejection(draft, warp(target_logits), drafts, uniforms).token


def another_index(draft, target, k, rng):
    """The index that it tells is that of another draft."""
    drafts = choose(draft[:, None], rng.random((len(draft), k)))
    answer = recursive_rejection(draft, target, drafts, rng.random((len(draft), k + 1)))
    return answer.token, drafts, np.where(answer.index > 0, answer.index - 1, answer.index)
