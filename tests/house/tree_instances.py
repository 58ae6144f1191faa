"""Instances of the classes that search for the best tree, made from arrays that a caller keeps."""

from __future__ import annotations

import numpy as np
from program_instances import DRAFT, TARGET

import otspec
from otspec import blocks, logged
from otspec.blocks import as_shape
from otspec.blocks.trees.best.acceptance_rates import Chances
from otspec.blocks.trees.best.allotment import Allotment, Allotted, Candidate, Shared
from otspec.logged import AcceptLengths, Replay, Tally
from otspec.logged.chances import LoggedChances


def chances(give):
    """Return chances of one draft or two at three places."""
    kept = {1: give([DRAFT]), 2: give([DRAFT, TARGET])}
    rows = [[[x] for x in row] for row in (DRAFT, TARGET)]
    led = {1: give(rows[:1]), 2: give(rows)}
    following = np.array([[1], [2], [2]])
    return Chances(give(DRAFT), following, (1, 2), give.mapping(kept), give.mapping(led))


def logged_chances(give):
    """Return chances at a position of each of three blocks."""
    starts = np.array([0, 1, 2])
    give.kept.append(starts)
    return LoggedChances(chances(give), chances(give), starts)


def trees_by_blocks(give):
    """Return the best trees of one node by logged chances."""
    found = logged_chances(give)
    return logged.LoggedTrees(found, blocks.BestTrees(found.averaged, 1, 1))


def dynamic_tree(give):
    """Return a dynamic tree of three nodes."""
    models = (otspec.models.TableModel(give.mapping({(): give(row)})) for row in (DRAFT, TARGET))
    return blocks.DynamicTree(*models, 3, 2)


def target_text(give):
    """Return a logged text of the target."""
    draft, target, sampling = (give.sequence([give(row)] * 2) for row in (DRAFT, TARGET, TARGET))
    return logged.LoggedBlock(draft, target, give.sequence([1, 0]), sampling=sampling)


def tally(give):
    """Return what was counted in one text: a call, two tokens, and one drafted one that is kept."""
    counts = np.array([1.0, 2.0, 1.0])
    return Tally(1, give(counts), give(np.outer(counts, counts)))


BEST_TREES = {
    "logged text of the target": target_text,
    "replay": lambda give: Replay(give([1.0, 0.5]), give([[0.5, 0.5], [1.0, 0.0]]), 2),
    "tally": tally,
    "accept lengths": lambda give: AcceptLengths(1, tally(give), bounded=True),
    "chances": chances,
    "logged chances": logged_chances,
    "candidate": lambda give: Candidate(as_shape("2"), give(DRAFT)),
    "allotment": lambda give: Allotment(chances(give), give([DRAFT]), 2),
    "allotted": lambda give: Allotted(give([DRAFT]), give.sequence([(as_shape("2"),)])),
    "shared": lambda give: Shared((give([DRAFT]),), np.array([1, 3, 3]), 3),
    "best trees": lambda give: blocks.BestTrees(chances(give), 2, 2),
    "dynamic tree": dynamic_tree,
    "trees by blocks": trees_by_blocks,
}
