"""Traversal Verification row by row: leaves are kept or deleted, depth first (Theory, 22)."""

import numpy as np

from otspec.batch._numba.compiled import accepts, inner_code, machine_code, quotient
from otspec.batch._numba.passes import blocks_of, draw, excess, factor_of, rest_in_blocks
from otspec.batch._numba.recursive_rejection_without_replacement import left_of
from otspec.batch._numba.sequences.drafted_block import highest

SCALE = 0  # nodes: c over the factor, if the target lacks (target − c·draft)₊ there
REJECTED = 1  # nodes: W, the probability that the children so far are deleted, 1 − w more
SHARE = 2  # nodes: 1 over the draft's scaled mass off the children that were deleted
WEIGHT = 3  # nodes: w, with which the node is kept, itself or something below it
KINDS = 4  # how many rows the array of these has; its columns are the text and the nodes


@machine_code
def verify(
    draft, target, drafts, uniforms, valid, node, length, token, parents, turns, distinct: bool
) -> None:
    """Visit the nodes of each row's tree, each after all that is below it, until one is kept."""
    sums, factor = blocks_of(draft[0, 0]), factor_of(draft) if distinct else 1.0
    known, none = np.empty((KINDS, parents.size + 1)), np.empty(0, np.int64)
    for row in range(draft.shape[0]):
        kept = -1
        _begin(known, 0, 1.0, factor)
        for turn in range(turns.shape[0]):
            child = turns[turn, 0]
            own, above = child + 1, parents[child] + 1
            if turns[turn, 1]:
                weight = 0.0
                if valid[row, child]:
                    its, wanted = draft[row, above], target[row, above]
                    weight = _chance(its, wanted, drafts[row, child], known[:, above], factor)
                _begin(known, own, weight, factor)
            elif _stays(known[:, own], uniforms[row, child]):
                kept = child
                break
            elif valid[row, child] and known[WEIGHT, above] > 0:
                its, wanted = draft[row, above], target[row, above]
                _delete(its, wanted, known[:, above], factor, sums)
                if distinct:
                    share = _share(its, parents, drafts[row], valid[row], child, factor)
                    known[SHARE, above] = share
        node[row], length[row], at = kept, 0, kept
        while at >= 0:
            length[row] += 1
            at = parents[at]
        its, wanted = draft[row, kept + 1], target[row, kept + 1]
        rest = excess((factor, 1.0), known[SCALE, kept + 1])
        rest_in_blocks(its, wanted, rest, sums)
        token[row] = draw(its, wanted, rest, 0.0, sums, none, uniforms[row, -1])


@inner_code
def _begin(known, place: int, weight: float, factor: float) -> None:
    """Write what is known of a node before any of its children is deleted."""
    known[SCALE, place], known[REJECTED, place] = 0.0, 1.0
    known[SHARE, place], known[WEIGHT, place] = 1 / factor, weight


@inner_code
def _chance(draft, target, token: int, above, factor: float) -> float:
    """Return with which probability a child is kept, itself or something below it."""
    drafted, wanted = factor * np.float64(draft[token]), np.float64(target[token])
    lacking = above[WEIGHT] * (wanted - min(wanted, above[SCALE] * drafted))
    if not lacking > 0:
        return 0.0
    return min(quotient(lacking, above[REJECTED] * above[SHARE] * drafted, 1.0), 1.0)


@inner_code
def _stays(own, uniform: float) -> bool:
    """Return whether a node is kept, once all below it is deleted."""
    return accepts(uniform, own[REJECTED] - (1 - own[WEIGHT]), own[REJECTED])


@inner_code
def _delete(draft, target, above, factor: float, sums) -> None:
    """Take what a deleted child was offered off what its parent lacks."""
    most, weight = highest(draft), above[WEIGHT]
    added = min(quotient(above[REJECTED] * above[SHARE], weight, most), most)
    above[SCALE] = np.float64(draft.dtype.type(above[SCALE] + added))
    rest = rest_in_blocks(draft, target, excess((factor, 1.0), above[SCALE]), sums)
    above[REJECTED] = weight * rest + (1 - weight)


@inner_code
def _share(draft, parents, drafts, valid, child: int, factor: float) -> float:
    """Return 1 over the scaled mass of the draft off a child and its earlier siblings."""
    out, number, left = np.empty(child + 1, np.int64), 0, 0.0
    undrafted = blocks_of(draft)
    for other in range(child + 1):
        if parents[other] == parents[child] and valid[other]:
            out[number] = drafts[other]
            number += 1
            left = left_of(draft, 1.0, out[:number], undrafted)
    return quotient(1.0, factor * left, 0.0)
