"""Instances of programs for blocks and trees, and of their plans, from arrays a caller keeps."""

from __future__ import annotations

import otspec
from otspec import blocks, programs
from otspec.blocks.planned_block import PlannedRest
from otspec.models.joint_contexts import GivenBeginning

DRAFT, TARGET = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]


def model(give, row=DRAFT):
    """Return a language model with a table of the caller's arrays."""
    return otspec.models.TableModel(give.mapping({(): give(row), (0,): give(TARGET)}))


def drafted_sets(give):
    """Return the law of a drafted set of one or two sequences."""
    chances = {frozenset([(0,), (1,)]): give.number("1/4"), frozenset([(0,)]): give.number("3/4")}
    return programs.DraftedSets(give.mapping(chances), 3)


def residuals(give):
    """Return residuals of one token after each context of :func:`model`."""
    return give.sequence([programs.Residual(text, give(TARGET)) for text in ((), (0,))])


def planned(give):
    """Return a plan of blocks of one token that hands over one of them."""
    ends = {((token,), int(token == 0)): give.number("1/3") for token in range(3)}
    shares = give.sequence([give.number("2/3"), give.number("1/3")])
    models = model(give), model(give, TARGET)
    return blocks.HandOverPlan(*models, 1, residuals(give), [ends, ends], shares)


PROGRAMS = {
    "given beginning": lambda give: GivenBeginning(model(give), give(TARGET)),
    "residual": lambda give: programs.ResidualsProgram(
        model(give), model(give, TARGET), 1, residuals(give)
    ).residuals[0],
    "residuals program": lambda give: programs.ResidualsProgram(
        model(give), model(give, TARGET), 1, residuals(give)
    ),
    "one token program": lambda give: programs.OneTokenProgram(model(give), model(give, TARGET), 1),
    "window program": lambda give: programs.WindowProgram(model(give), model(give, TARGET), 1, 1),
    "plan of blocks": planned,
    "handed residual": lambda give: planned(give).rule({0: give.number("1")}).target,
    "ended block": lambda give: next(planned(give).rule({0: 1}).outcomes()).following,
    "hand over": lambda give: planned(give).rule({0: give.number("1")}),
    "long run": lambda give: blocks.LongRun(1, 1, 2, planned(give).rule({1: 1})),
    "block program": lambda give: programs.BlockProgram(model(give), model(give, TARGET), 1),
    "candidates": lambda give: programs.CandidateProgram(
        drafted_sets(give).candidates, model(give), 1
    ),
    "block plan": lambda give: programs.BlockProgram(model(give), model(give, TARGET), 1).plan(
        "highs"
    ),
    "drafted sets": drafted_sets,
    "path program": lambda give: programs.PathProgram(drafted_sets(give), model(give, TARGET)),
    "path plan": lambda give: programs.PathProgram(drafted_sets(give), model(give, TARGET)).solve(
        "highs"
    ),
    "drafted tree": lambda give: programs.DraftedNodes(model(give), give.sequence([2, 1])),
    "text program": lambda give: programs.TextProgram(
        programs.DraftedNodes(model(give), give.sequence([2])), model(give, TARGET), within=0.5
    ),
    "text optimum": lambda give: programs.TextProgram(
        programs.DraftedNodes(model(give), give.sequence([2])), model(give, TARGET), within=0.5
    ).solve(),
    "price bound": lambda give: programs.PriceBound.of(
        drafted_sets(give), model(give, TARGET), "one", (give(DRAFT)[:1], give(DRAFT))
    ),
    "planned rest": lambda give: PlannedRest(
        model(give), (give(DRAFT)[:1], give(DRAFT)), give.sequence([])
    ),
    "planned block": lambda give: blocks.PlannedBlock(
        model(give),
        model(give, TARGET),
        blocks.TokenVerification(model(give), model(give, TARGET), 1),
    ),
}
