"""Plain float64 references for single rows: the textbook form, given the same uniform numbers."""

from __future__ import annotations

import numpy as np

from otspec.batch._array_api.k_sequential import safe_rho
from otspec.batch._array_api.library import library_of
from otspec.rules import Graded, PooledSelection, PooledSelectionWithoutReplacement, SpecHub


def inverted(weights, uniform):
    """The token that a uniform number falls on."""
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, uniform * sums[-1], side="right"))


def chance(wanted, offered):
    return min(1.0, wanted / offered) if offered > 0 else float(wanted > 0)


def in_turn(draft, target, drafts, uniforms, *, distinct=False):
    draft, target = draft.copy(), target.copy()
    for i, x in enumerate(drafts):
        if uniforms[i] < chance(target[x], draft[x]):
            return x, i
        rest = np.maximum(target - draft, 0)
        target = rest / rest.sum()
        if distinct:
            draft[x] = 0
            draft = draft / draft.sum()
    return inverted(target, uniforms[-1]), -1


def maximal_coupling(draft, target, drafts, uniforms):
    return in_turn(draft, target, drafts, uniforms)


def recursive_rejection(draft, target, drafts, uniforms):
    return in_turn(draft, target, drafts, uniforms)


def recursive_rejection_without_replacement(draft, target, drafts, uniforms):
    return in_turn(draft, target, drafts, uniforms, distinct=True)


@np.errstate(all="ignore")
def k_sequential(draft, target, drafts, uniforms):
    k = len(drafts)
    rho = float(safe_rho(library_of(draft), draft, target, np.full(1, float(k))))
    kept = np.minimum(draft, target / rho)
    beta = kept.sum()
    for i, x in enumerate(drafts):
        if uniforms[i] < chance(target[x], rho * draft[x]):
            return x, i
    rest = np.maximum(target - kept * (1 - (1 - beta) ** k) / beta, 0)
    return inverted(rest, uniforms[-1]), -1


def spechub(draft, target, drafts, uniforms):
    joint = SpecHub(draft, target).joint_kernel(drafts)
    hub = int(np.argmax(draft))
    off, last = (0, 1) if drafts[1] == hub else (1, 0)
    first = joint[off, drafts[off]]
    if uniforms[0] < first:
        return drafts[off], off
    if uniforms[1] < chance(joint[last, hub], 1 - first):
        return hub, last
    # The hub's part of the residual comes first.
    rest = joint[2].copy()
    rest[hub] = 0
    position = uniforms[2] * joint[2].sum()
    if position < joint[2, hub]:
        return hub, -1
    return inverted(rest, (position - joint[2, hub]) / rest.sum()), -1


def pooled_selection(draft, target, drafts, uniforms, grades=6):
    k = len(drafts)
    rule = PooledSelection(draft, target, k, pools=Graded(grades))
    pools = rule.wanted_law.pools
    placed, left = [], []
    for x, u in zip(drafts, uniforms[:k], strict=True):
        part = pools.part[x]
        placed.append(int((pools.upper if u < part else pools.index)[x]))
        left.append(u / part if u < part else (u - part) / (1 - part))
    lowest = max(j for j in range(max(placed) + 1) if rule.lifetimes[j] > left[0])
    among = [i for i in range(k) if placed[i] >= lowest]
    choice = left[-1] * len(among)
    chosen = among[int(choice)]
    x, law = drafts[chosen], rule.law_of_selection
    if choice - int(choice) < chance(target[x], law[x]):
        return x, chosen
    return inverted(np.maximum(target - law, 0), uniforms[-1]), -1


def split(uniform, share):
    """Whether a uniform number is below a share, and what is left of it."""
    low = uniform < share
    return low, uniform / share if low else (uniform - share) / (1 - share)


def arrival(rule, drafts, arrived, uniform):
    """Advance to the next arrival that counts: its draft, the pools it is in, and what is left."""
    pools, draft, last = rule.wanted_law.pools, rule.draft, len(rule.knots) - 1
    before = drafts[:arrived]
    light = [x for x in before if not pools.heavy[x]]
    heavy = [x for x in before if pools.heavy[x]]
    left, again = 1 - draft[before].sum(), draft[light].sum()
    new, uniform = split(uniform, left / (left + again))
    x = drafts[arrived]
    if not new:
        sums = np.cumsum(draft[light]) / again
        i = int(np.searchsorted(sums, uniform, side="right"))
        x, uniform = light[i], (uniform - (sums[i] - draft[light[i]] / again)) * again
        uniform /= draft[x]
    up, uniform = split(uniform, pools.part[x])
    over = [
        sum(draft[y] * (1 - pools.below([y], np.array([knot]))[0, 0]) for y in heavy)
        for knot in range(last + 1)
    ]
    none = [(left + again) / (left + again + mass) for mass in over]
    highest = sum(uniform >= share for share in none)
    low = none[highest - 1] if highest else 0
    uniform = (uniform - low) / (none[highest] - low)
    return x, (highest - 1, int((pools.upper if up else pools.index)[x])), uniform


def pooled_selection_without_replacement(draft, target, drafts, uniforms, grades=6):
    k, arrived, tokens, befores, hit, left = len(drafts), 0, [], [], [], []
    rule = PooledSelectionWithoutReplacement(draft, target, k, pools=Graded(grades))
    pools = rule.wanted_law.pools
    for stage in range(k):
        x, both, uniform = arrival(rule, drafts, arrived, uniforms[stage])
        befores.append(arrived)
        arrived += x == drafts[arrived]
        tokens.append(x)
        hit.extend(both)
        left.append(uniform)
    top, lives = max(hit), rule.lifetimes
    lowest = max(j for j in range(top + 1) if lives[j] > left[0])
    end = min(j for j in range(top + 1, len(lives)) if lives[j] > left[0])
    below = pools.below(np.array(drafts), np.array([lowest, end]))
    heavy = pools.heavy[drafts]
    inside = draft[drafts] * (below[:, 1] - below[:, 0]) * heavy
    over = draft[drafts] * (1 - below[:, 1]) * heavy
    earliest = next(i for i, pool in enumerate(hit) if pool >= lowest)
    first = np.arange(k) == drafts.index(tokens[earliest // 2])
    if earliest % 2 == 0:
        first = np.where(np.arange(k) < befores[earliest // 2], inside, 0)
        first = first / first.sum()
    inside[arrived:] = over[arrived:] = 0
    counted = 1 - draft[drafts[:arrived]][heavy[:arrived]].sum() + over.sum()
    above, group = 1 - rule.knots[end], rule.knots[end] - rule.knots[lowest]
    share = above / group * inside.sum() / counted
    chosen = (1 - share) * first
    chosen = chosen + share * inside / inside.sum() if share > 0 else chosen
    sums = np.cumsum(chosen) / chosen.sum()
    i = int(np.searchsorted(sums, left[-1], side="right"))
    rest = (left[-1] - (sums[i] - chosen[i] / chosen.sum())) / (chosen[i] / chosen.sum())
    x, law = drafts[i], rule.law_of_selection
    if rest < chance(target[x], law[x]):
        return x, i
    return inverted(np.maximum(target - law, 0), uniforms[-1]), -1


REFERENCES = {
    "maximal_coupling": (maximal_coupling, 1),
    "recursive_rejection": (recursive_rejection, 4),
    "recursive_rejection_without_replacement": (recursive_rejection_without_replacement, 4),
    "k_sequential": (k_sequential, 4),
    "spechub": (spechub, 2),
    "pooled_selection": (pooled_selection, 4),
    "pooled_selection_without_replacement": (pooled_selection_without_replacement, 4),
}
