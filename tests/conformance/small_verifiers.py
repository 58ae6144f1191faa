"""Verifiers of a few lines, each with one fault or none."""

import numpy as np

from otspec import batch


def drawn(rows, uniforms):
    """A token of each row, by the inverse of its cumulative sums."""
    sums = np.cumsum(rows, axis=-1, dtype=float)
    below = uniforms[..., None] * sums[..., -1:]
    return (sums <= below).sum(axis=-1)


def never_renormalized(draft, target, drafts, uniforms):
    """Maximal coupling of the first draft, but a rejected row is drawn from the target itself."""
    rows = np.arange(len(drafts))
    first = drafts[:, 0]
    accepted = uniforms[:, 0] * draft[rows, first] < target[rows, first]
    return np.where(accepted, first, drawn(target, uniforms[:, -1]))


def ignores_drafts(target, drafts, uniforms):
    """Right, and accepts nothing."""
    return drawn(target, uniforms[:, -1]), np.full(len(drafts), -1)


def drafts_backwards(draft, target, drafts, uniforms):
    """Recursive rejection from the last draft to the first."""
    answer = batch.recursive_rejection(draft, target, drafts[:, ::-1].copy(), uniforms)
    index = np.where(answer.index >= 0, drafts.shape[1] - 1 - answer.index, -1)
    return answer.token, index


def lucky_is_accepted(target, drafts, uniforms):
    """Naive sampling: a token of the target, which is accepted if it was drafted."""
    token = drawn(target, uniforms[:, -1])
    drafted = drafts == token[:, None]
    return token, np.where(drafted.any(axis=1), np.argmax(drafted, axis=1), -1)


def one_uniform(draft, target, drafts, uniforms):
    """Blocks token by token, with the first uniform number for all drafts."""
    shared = uniforms.copy()
    shared[:, :-1] = uniforms[:, :1]
    return batch.token_verification(draft, target, drafts, shared)


def coupled(draft, target, drafts, rng):
    """Maximal coupling of one draft in each row."""
    tokens = []
    for p, q, (x, *_) in zip(draft.astype(float), target.astype(float), drafts, strict=True):
        rest = np.maximum(q - p, 0) if (q > p).any() else q
        accepted = rng.random() * p[x] < q[x]
        tokens.append(int(x) if accepted else int(rng.choice(len(q), p=rest / rest.sum())))
    return np.array(tokens)


def one_draft(draft, target, drafts, lengths, rng):
    """Maximal coupling, without a draft a draw from the target; each row by itself."""
    tokens = []
    rows = draft.astype(float), target.astype(float), drafts, lengths
    for p, q, (x, *_), length in zip(*rows, strict=True):
        if length and rng.random() * p[x] < q[x]:
            tokens.append(int(x))
        else:
            left = np.maximum(q - p, 0) if length and (q > p).any() else q
            tokens.append(int(rng.choice(len(q), p=left / left.sum())))
    return np.array(tokens)
