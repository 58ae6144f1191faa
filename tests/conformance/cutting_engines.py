"""Engines and verifiers that cut drafts: right ones, and each with one fault of its policy."""

from functools import partial

import numpy as np
from text_engines import BlockEngine, choose, emitted, token_engine, tree_engine


def whole(draft, drafts, parents):
    """Cut nothing."""
    return np.ones(drafts.shape, dtype=bool)


def drop_unlikely(draft, drafts, parents):
    """Drop tokens that the draft gives less than 1/2, and what is below them."""
    rows, there = np.arange(len(drafts)), np.ones(drafts.shape, dtype=bool)
    for node, parent in enumerate(parents):
        there[:, node] = draft[rows, parent + 1, drafts[:, node]] >= 0.5
        if parent >= 0:
            there[:, node] &= there[:, parent]
    return there


def prune(draft, drafts, parents):
    """Keep the half with the likeliest paths of what was drawn."""
    rows, path = np.arange(len(drafts)), np.ones((len(drafts), len(parents) + 1))
    for node, parent in enumerate(parents):
        path[:, node + 1] = path[:, parent + 1] * draft[rows, parent + 1, drafts[:, node]]
    order = np.argsort(-path[:, 1:], axis=1, kind="stable")
    there = np.zeros(drafts.shape, dtype=bool)
    there[rows[:, None], order[:, : -(-len(parents) // 2)]] = True
    return there


class Cut(BlockEngine):
    """Blocks of which a cut leaves some drafts."""

    def __init__(self, cut, **options):
        super().__init__(**options)
        self.cut = cut

    def verified(self, draft, target, text, uniforms):
        drafts = text[:, 1:]
        there = self.cut(draft, drafts, tuple(range(-1, drafts.shape[1] - 1)))
        kept = self.verify(draft, target, drafts, uniforms, mask=there)
        return emitted(drafts, kept.length, kept.token)


class StopAfterUnlikely(BlockEngine):
    """A token that the draft gives less than 1/2 counts, and nothing is drafted after it."""

    def verified(self, draft, target, text, uniforms):
        drafts, there = text[:, 1:], np.ones((len(text), self.block), dtype=bool)
        likely = drop_unlikely(draft, drafts, tuple(range(-1, self.block - 1)))
        there[:, 1:] = likely[:, :-1]
        kept = self.verify(draft, target, drafts, uniforms, mask=there)
        return emitted(drafts, kept.length, kept.token)


class ShortestOfBatch(BlockEngine):
    """All rows are cut to the fewest drafts that one keeps, and the target goes on."""

    def __init__(self, own=False, **options):
        super().__init__(**options)
        self.own = own  # whether the token after the cut is the row's own

    def verified(self, draft, target, text, uniforms):
        drafts = text[:, 1:]
        kept = self.verify(draft, target, drafts, uniforms)
        fewest = kept.length.min()
        token = choose(target[:, fewest], uniforms[:, -1])
        if self.own:
            token = drafts[:, min(fewest, self.block - 1)]
        token = np.where(kept.length == fewest, kept.token, token)
        return emitted(drafts, np.full(len(text), fewest), token)


ENGINES = {
    "block": Cut,
    "tree": lambda cut: partial(tree_engine, prune=cut),
    "tokens": lambda cut: partial(token_engine, prune=cut),
}


def down(draft, target, drafts, parents, there, rng):
    """Verify the tree of one row by recursive rejection."""
    node = -1
    while True:
        wanted = target[node + 1].astype(float)
        for child in [child for child, parent in enumerate(parents) if parent == node]:
            if not there[child]:
                continue
            offered, token = draft[node + 1], drafts[child]
            if rng.random() * offered[token] < wanted[token]:
                node = child
                break
            wanted = np.maximum(wanted - offered, 0)
            wanted = wanted / wanted.sum()
        else:
            return node, rng.choice(len(wanted), p=wanted / wanted.sum())


def kept_of(draft, target, drafts, parents, there, rng):
    """Return the last kept node of each row, and the token after it."""
    rows = zip(draft, target, drafts, there, strict=True)
    answers = [down(*row[:3], parents, row[3], rng) for row in rows]
    return tuple(np.array(part) for part in zip(*answers, strict=True))


def tree_verifier(cut):
    def verify(draft, target, drafts, parents, mask, rng):
        there = mask & cut(draft, drafts, parents)
        return kept_of(draft, target, drafts, parents, there, rng)

    return verify


def block_verifier(cut):
    def verify(draft, target, drafts, mask, rng):
        parents = tuple(range(-1, drafts.shape[1] - 1))
        node, token = tree_verifier(cut)(draft, target, drafts, parents, mask, rng)
        return node + 1, token

    return verify


def token_verifier(cut):
    def verify(draft, target, drafts, mask, rng):
        k = drafts.shape[1]
        after = target[:, None].repeat(k + 1, axis=1)
        index, token = tree_verifier(cut)(draft[:, None], after, drafts, (-1,) * k, mask, rng)
        return np.where(index < 0, token, drafts[np.arange(len(drafts)), index]), index

    return verify


VERIFIERS = {"block": block_verifier, "tree": tree_verifier, "tokens": token_verifier}


def shortest_of_batch(draft, target, drafts, mask, rng, own=False):
    """Cut the rows of a batch to the fewest drafts that one keeps, and go on with the target."""
    length, token = block_verifier(whole)(draft, target, drafts, mask, rng)
    fewest = length.min()
    for row in np.flatnonzero(length > fewest):
        last = target[row, fewest].astype(float)
        drawn = drafts[row, fewest] if own else rng.choice(len(last), p=last / last.sum())
        token[row] = drawn
    return np.full(len(length), fewest), token
