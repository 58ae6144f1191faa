"""How likely the batch rule for distinct drafts selects each of them, from what its code computes.

All arrivals that its uniform numbers may stand for are enumerated, with the chances that the code
draws them with; so what is found has its rounding, and nothing else.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from arrival_reference import mass_of
from barrier_lives import lifetimes_of
from batch_precision import chances, drawn_law
from extreme_rows import fractions

from otspec.batch._array_api.library import Problem, library_of
from otspec.batch._array_api.pooled.clock_pools import HEAVY, arrival_pools
from otspec.batch._array_api.pooled.clock_selection import Arrivals, ArrivedDrafts
from otspec.batch._array_api.sums import block_sums


@np.errstate(all="ignore")
def pools_of(draft, target, k, grades=6, number=HEAVY):
    """The pools of one row, which are those of all tuples of drafts."""
    count = np.array([[float(k)]])
    return arrival_pools(library_of(draft), draft[None], target[None], count, k, grades, number)


@np.errstate(all="ignore")
def rung_drafts(draft, target, drafts, pools):
    """What the rule knows of the drafts, one row."""
    pair, some = (draft[None], target[None]), np.ones((1, len(drafts)))
    return ArrivedDrafts.of(
        Problem(library_of(draft), *pair, np.array([drafts]), some, None), pools
    )


@np.errstate(all="ignore")
def all_arrivals(drafts):
    """All arrivals, (N, k) each, and their probabilities (N,)."""
    k, ids = drafts.drafted.shape[-1], np.arange(drafts.drafted.shape[-1])
    repeats = drafts._repeats((ids < ids[:, None])[None], ids[None])[0]
    lefts, lights = drafts.lefts[0], np.where(drafts.heavy[0], 0, drafts.drafted[0])
    states = [((), 0, 1.0)]
    for _ in range(k):
        longer = []
        for stages, arrived, chance in states:
            counted = lefts[arrived] + lights[:arrived].sum()
            tokens = [(arrived, lefts[arrived] / counted if counted > 0 else 1.0)]
            tokens += [(i, lights[i] / counted) for i in range(arrived) if lights[i] > 0]
            for (token, share), up, again in itertools.product(
                tokens, (0, 1), range(repeats.shape[1])
            ):
                part = drafts.part[0, token]
                both = share * (part if up else 1 - part) * repeats[arrived, again]
                if both > 0:
                    stage = arrived, token, drafts.below[0, token] + up, again - 1
                    longer.append(((*stages, stage), arrived + (token == arrived), chance * both))
        states = longer
    stages, arrived, chances = zip(*states, strict=True)
    parts = np.moveaxis(np.array(stages), -1, 0)
    return Arrivals(*parts, np.array(arrived)[:, None]), np.array(chances)


def repeated(drafts, rows):
    """The same drafts in many rows."""
    many = {
        name: np.repeat(getattr(drafts, name), rows, axis=0)
        for name in ("drafted", "heavy", "below", "part", "lefts", "lights", "law", "valid")
    }
    pools = replace(drafts.pools, above=np.repeat(drafts.pools.above, rows, axis=0))
    return replace(drafts, pools=pools, **many)


@np.errstate(all="ignore")
def shares(drafts, lifetimes):
    """How likely each draft is selected, given how long barriers of the pools live: (k,)."""
    arrivals, masses = all_arrivals(drafts)
    rows = len(masses)
    same = repeated(drafts, rows)
    times = np.unique(np.clip([0, *lifetimes, 1], 0, 1))
    total = np.zeros(drafts.drafted.shape[-1])
    for start, end in itertools.pairwise(times):
        chosen = same.selection(arrivals, np.full(rows, (start + end) / 2))
        total += (end - start) * (masses @ (chosen / chosen.sum(axis=-1, keepdims=True)))
    return total


def claimed(drafts, target, tokens):
    """The law of the selected draft that acceptance goes by, and the wanted part: (k,) each."""
    wanted = target[list(tokens)].astype(float) * drafts.library.factor
    return drafts.law[0], wanted


@np.errstate(all="ignore")
def token_law(draft, target, k, number=HEAVY, grades=6):
    """The law of the token, from all drafts: (n,)."""
    library, n = library_of(draft), len(draft)
    p = fractions(draft)
    law, lost = np.zeros(n), 0.0
    pools = pools_of(draft, target, k, grades, number)
    lifetimes = lifetimes_of(pools.law)
    for x in itertools.permutations(np.flatnonzero(draft).tolist(), k):
        drafts = rung_drafts(draft, target, x, pools)
        found = float(mass_of(p, x)) * shares(drafts, lifetimes)
        b, wanted = claimed(drafts, target, x)
        accepted = found * chances(wanted, b)
        law[list(x)] += accepted
        lost += found.sum() - accepted.sum()
    rest = pools.law.rest()
    (blocks,) = block_sums(library, draft[None], target[None], rest)
    return law + lost * drawn_law(library, draft, target, lambda *pair: rest(*pair)[0], blocks[0])


def rows_with_ties(n, dtype):
    """Three rows of masses, the last one in ascending order."""
    masses = np.random.default_rng(n).choice([0, 1, 1, *range(2, 40)], size=(3, n)).astype(dtype)
    masses[:, n // 2] = 50
    masses[2].sort()
    return masses


def check_heavy(row, drafted, wanted, light):
    """Compare what was found of a row, with twice itself as the target, with a sort."""
    ordered = np.sort(row)[::-1]
    border = ordered[HEAVY] if len(row) > HEAVY else 0
    own = ordered[ordered > border]
    assert drafted[: len(own)].tolist() == own.tolist()
    assert not drafted[len(own) :].any()
    assert wanted[: len(own)].tolist() == (2 * own).tolist()
    assert light == row[row <= border].sum()
