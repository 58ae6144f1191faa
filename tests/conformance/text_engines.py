"""Engines of NumPy that draft and verify by otspec.batch."""

import numpy as np

from otspec.batch import block_verification, recursive_rejection, tree_verification


def choose(rows, uniforms):
    """Draw a token from each row, by a uniform number each."""
    sums = np.cumsum(rows, axis=-1)
    return (sums <= uniforms[..., None] * sums[..., -1:]).sum(axis=-1)


def emitted(drafts, length, token):
    """Return the tokens of a step, and how many there are."""
    step = np.concatenate([drafts, token[:, None]], axis=1)
    step[np.arange(len(step)), length] = token
    return step, length + 1


class BlockEngine:
    """Texts by blocks of L drafts, of parts that can be replaced."""

    def __init__(self, verify=block_verification, block=2):
        self.verify, self.block = verify, block

    def __call__(self, draft, target, prompts, length, rng):
        rows, places = np.arange(len(prompts)), np.arange(self.block + 1)
        texts = np.zeros((len(rows), length + self.block + 1), dtype=np.int64)
        known, last = np.zeros(len(rows), dtype=np.int64), prompts
        while known.min() < length:
            step, count = self.step(draft, target, last, rng)
            texts[rows[:, None], np.minimum(known, length)[:, None] + places] = step
            known, last = known + count, step[rows, count - 1][:, None]
        return texts[:, :length]

    def step(self, draft, target, last, rng):
        """Return the tokens that follow, and how many there are."""
        text = self.drafted(draft, last, rng)
        uniforms = rng.random((len(text), self.block + 1))
        return self.verified(*self.rows(draft, target, text), text, uniforms)

    def drafted(self, draft, text, rng):
        for _ in range(self.block):
            drawn = choose(draft(text), rng.random(len(text)))
            text = np.concatenate([text, drawn[:, None]], axis=1)
        return text

    def rows(self, draft, target, text):
        return draft.rows(text)[:, :-1], target.rows(text)

    def verified(self, draft, target, text, uniforms):
        kept = self.verify(draft, target, text[:, 1:], uniforms)
        return emitted(text[:, 1:], kept.length, kept.token)


def tree_engine(draft, target, prompts, length, parents, rng, prune=None):
    """Texts by trees of independent siblings, verified by recursive rejection.

    ``prune(draft, drafts, parents)`` says which of the drafts are kept; all if it is not given.
    """
    rows, depth = np.arange(len(prompts)), 2
    texts = np.zeros((len(rows), length + depth + 1), dtype=np.int64)
    known, last = np.zeros(len(rows), dtype=np.int64), prompts
    while known.min() < length:
        tree = last
        for parent in parents:
            drawn = choose(draft(tree[:, : parent + 2]), rng.random(len(rows)))
            tree = np.concatenate([tree, drawn[:, None]], axis=1)
        uniforms = rng.random((len(rows), depth + 1, 3))
        drafts, models = tree[:, 1:], (draft.rows(tree), target.rows(tree))
        mask = None if prune is None else prune(models[0], drafts, parents)
        kept = tree_verification(*models, drafts, uniforms, parents, mask=mask)
        step = np.zeros((len(rows), depth + 1), dtype=np.int64)
        step[rows, kept.length] = kept.token
        node, place = kept.node, kept.length - 1
        while (node >= 0).any():
            on = np.flatnonzero(node >= 0)
            step[on, place[on]] = tree[on, node[on] + 1]
            node = np.where(node >= 0, np.array(parents)[node], -1)
            place = place - 1
        texts[rows[:, None], np.minimum(known, length)[:, None] + np.arange(depth + 1)] = step
        known, last = known + kept.length + 1, kept.token[:, None]
    return texts[:, :length]


def token_engine(draft, target, k, rng, prune=None):
    """One token by recursive rejection of k drafts; ``prune`` as for :func:`tree_engine`."""
    drafts = choose(draft[:, None], rng.random((len(draft), k)))
    mask = None if prune is None else prune(draft[:, None], drafts, (-1,) * k)
    uniforms = rng.random((len(draft), k + 1))
    answer = recursive_rejection(draft, target, drafts, uniforms, mask=mask)
    return answer.token, drafts, answer.index
