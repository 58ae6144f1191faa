"""The law of a batch rule's output at full vocabulary, from the numbers that its code computes.

Everything is put together in float64, so that what remains is the rounding of the code itself: of
its sums, and of the blocks that the draws go through.
"""

from __future__ import annotations

import itertools

import numpy as np
from barrier_lives import lifetimes_of

from otspec.batch._array_api.inversion import off_drafts, without
from otspec.batch._array_api.k_sequential import safe_rho
from otspec.batch._array_api.library import BLOCK, library_of
from otspec.batch._array_api.pooled.clock_pools import arrival_pools
from otspec.batch._array_api.pooled.graded_pools import graded_pools
from otspec.batch._array_api.recursive_rejection import Residual
from otspec.batch._array_api.spechub import find_hub, hub_shares
from otspec.batch._array_api.sums import block_sums, excess, the_draft, the_target
from otspec.rules.pooled.exponential_clocks import all_below


def drawn_law(library, draft, target, weight, blocks):
    """The law of a draw: of blocks by their sums, of tokens in a block by their weights."""
    weights = weight(library.narrowed(draft), library.narrowed(target)).astype(float)
    padded = np.concatenate([weights, np.zeros(-len(weights) % BLOCK)]).reshape(-1, BLOCK)
    inner = padded.sum(axis=1, keepdims=True)
    within = np.divide(padded, inner, out=np.zeros_like(padded), where=inner > 0)
    law = within * (blocks / (blocks.sum() or 1))[:, None]
    return law.ravel()[: len(weights)]


def chances(wanted, offered):
    """min(1, wanted/offered), and 0 where nothing is wanted."""
    ratio = np.divide(wanted, offered, out=np.ones_like(wanted), where=offered > wanted)
    return np.where(wanted > 0, ratio, 0)


def recursive_rejection(draft, target, k):
    library = library_of(draft)
    p, q = draft.astype(float), target.astype(float)
    state = Residual.at_first(library, draft, target)
    law, reached = np.zeros_like(p), 1.0
    for i in range(k):
        state = state.after() if i else state
        chance = chances(*state.offer(p, q))
        law += reached * p * chance
        reached *= (p * (1 - chance)).sum() / p.sum()
    rest, (_, lacking) = state.at_last()
    return law + reached * drawn_law(library, draft, target, rest, lacking)


@np.errstate(all="ignore")
def k_sequential(draft, target, k):
    library = library_of(draft)
    p, q = draft.astype(float), target.astype(float)
    rho = safe_rho(library, draft, target, np.full(1, float(k)))
    rest = excess(library, rho)
    whole, lacking = block_sums(library, draft, target, the_target, rest)
    beta = (whole.sum() - lacking.sum()) / rho
    keep = np.clip(1 - sum((1 - beta) ** i for i in range(k)) / rho, 0, 1)
    kept = np.minimum(p, q / rho)
    missed = 1 - kept.sum() / p.sum()

    def weight(drafted, wanted):
        share = library.narrowed(keep)
        return share * wanted + (1 - share) * rest(drafted, wanted)

    blocks = keep * whole + (1 - keep) * lacking
    drawn = drawn_law(library, draft, target, weight, blocks)
    return kept * sum(missed**i for i in range(k)) + missed**k * drawn


@np.errstate(all="ignore")
def pooled_selection(draft, target, k):
    library = library_of(draft)
    p, q = draft.astype(float), target.astype(float)
    pools = graded_pools(library, draft, target, np.full(1, float(k)), 6)
    below, part = pools.level(pools.filled(p, q))
    last = len(pools.grades) - 1
    masses = np.bincount(below, p * (1 - part), last + 1)
    masses += np.bincount(np.minimum(below + 1, last), p * part, last + 1)
    knots = np.concatenate([[0], np.cumsum(masses)]) / masses.sum()

    def chord(i, j):
        return sum(knots[i] ** a * knots[j] ** (k - 1 - a) for a in range(k))

    return selected_law(draft, target, pools, chord)


@np.errstate(all="ignore")
def pooled_selection_without_replacement(draft, target, k):
    """The law if λ is right; the curve comes from the exact rule's code, by the true parts."""
    library = library_of(draft)
    p, q, factor = draft.astype(float), target.astype(float), library.factor
    pools = arrival_pools(library, draft, target, np.full(1, float(k)), k, 6)
    below, part = pools.law.level(pools.law.filled(p * factor, q * factor))
    heavy, last = p > pools.heavy.border, len(pools.law.grades) - 1
    masses, heights = [], [0.0]
    for knot in range(1, last + 2):
        inside = p / p.sum() * ((below < knot) * (1 - part) + (below + 1 < knot) * part)
        inside[below == last] = p[below == last] / p.sum() * (knot > last)
        masses.append(inside.sum())
        above = max(1 - masses[-1], 0.0) if knot <= last else 0.0
        heights.append(all_below(inside[heavy], inside[~heavy].sum(), above, k))
    knots = np.array([0, *masses])

    def chord(i, j):
        wide = knots[j] - knots[i]
        return (heights[j] - heights[i]) / wide if wide > 1e-15 else 0.0

    return selected_law(draft, target, pools.law, chord, factor)


@np.errstate(all="ignore")
def selected_law(draft, target, pools, chord, factor=1.0):
    """The law of the token for graded pools, given the chords of the curve between two knots."""
    library = library_of(draft)
    p, q = draft.astype(float), target.astype(float)
    filled = pools.filled(p * factor, q * factor)
    below, part = pools.level(filled)
    claimed = p * pools.over(filled)
    slopes = slopes_of(lifetimes_of(pools), chord)
    above = np.minimum(below + 1, len(slopes) - 1)
    selected = p * (slopes[below] * (1 - part) + slopes[above] * part)
    accepted = selected * chances(q, claimed)
    rest = pools.rest()
    (blocks,) = block_sums(library, draft, target, rest)
    drawn = drawn_law(library, draft, target, rest, blocks)
    return accepted + (selected.sum() - accepted.sum()) * drawn


def slopes_of(lifetimes, chord):
    """How much more often than drafted each pool is selected, if barriers live that long."""
    times = np.unique(np.clip([0, *lifetimes, 1], 0, 1))
    slopes = np.zeros(len(lifetimes) - 1)
    for start, end in itertools.pairwise(times):
        alive = np.flatnonzero(lifetimes > (start + end) / 2)
        for i, j in itertools.pairwise(alive):
            slopes[i:j] += (end - start) * chord(i, j)
    return slopes


def spechub(draft, target, k):
    """The law of SpecHub's token; k is 2 whatever is asked for."""
    library = library_of(draft)
    p, q = draft.astype(float), target.astype(float)
    hub = find_hub(library, draft)
    shares = hub_shares(library, draft, target, hub)
    a = int(hub.token)
    off = np.arange(len(p)) != a
    others = p[off].sum()
    total = p.sum()
    last, first = np.where(off, p, 0) / total, np.where(off, p / others * p[a], 0) / total
    x_last = last * chances(q, p)
    x_first = first * chances(q - np.minimum(q, p), hub.odds * (library.factor * p))
    law = x_last + x_first
    taken_last = chances(shares.last_taken, shares.last) * (last - x_last).sum()
    taken_first = chances(shares.first_taken, shares.first) * (first - x_first).sum()
    law[a] += taken_last + taken_first
    rest = excess(library, hub.scale, library.factor)
    (blocks,) = block_sums(library, draft, target, rest)
    blocks = without(library, draft, target, rest, blocks, hub.token[..., None])
    drawn = drawn_law(library, np.where(off, draft, 0), np.where(off, target, 0), rest, blocks)
    lacking = blocks.sum() + shares.rest
    drawn = drawn * blocks.sum() / lacking
    drawn[a] += shares.rest / lacking
    return law + (1 - law.sum()) * drawn


def without_replacement(draft, target, k):
    """The law of recursive rejection of at most two distinct drafts, small vocabularies only."""
    library = library_of(draft)
    p, q = draft.astype(float), target.astype(float)
    p = p / p.sum()
    first = Residual.at_first(library, draft, target, 1 / library.factor, library.factor)
    chance = chances(q, p)
    law = p * chance
    for x in np.flatnonzero(chance < 1) if k > 1 else ():
        share = 1 / (off_drafts(library, draft, np.array([x]), draft[[x]])[1] * library.factor)
        state = first.after(share)
        left = np.where(np.arange(len(p)) == x, 0, p)
        second = left / left.sum()
        passed = chances(*state.offer(draft.astype(float), q))
        mass = p[x] * (1 - chance[x])
        law += mass * second * passed
        rest, (_, lacking) = state.at_last()
        drawn = drawn_law(library, draft, target, rest, lacking)
        law += mass * (second * (1 - passed)).sum() * drawn
    if k > 1:
        return law
    rest, (_, lacking) = first.at_last()
    return law + (1 - law.sum()) * drawn_law(library, draft, target, rest, lacking)


def iid(draft, target, k):
    """The law of one i.i.d. draft; it should be the draft."""
    library = library_of(draft)
    (blocks,) = block_sums(library, draft, draft, the_draft)
    return drawn_law(library, draft, draft, the_draft, blocks)


RULES = {
    "recursive rejection": recursive_rejection,
    "k-sequential": k_sequential,
    "pooled selection": pooled_selection,
    "pooled selection, distinct": pooled_selection_without_replacement,
    "SpecHub": spechub,
}


def pair(n, dtype, seed=0):
    """Dense random rows, rounded to a dtype."""
    noise = np.random.default_rng(seed).gumbel(scale=2, size=(2, n))
    draft, target = np.exp(noise[0]), np.exp(0.7 * noise[0] + 0.5 * noise[1])
    return (draft / draft.sum()).astype(dtype), (target / target.sum()).astype(dtype)


def variation(law, target):
    """Total variation distance from the target, scaled to sum to 1."""
    wanted = target.astype(float)
    return 0.5 * np.abs(law - wanted / wanted.sum()).sum()
