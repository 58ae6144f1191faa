"""One or more instances of every class of the package, made from arrays that a caller keeps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from advice_instances import TEXTS
from program_instances import DRAFT, PROGRAMS, TARGET, model
from tree_instances import BEST_TREES

import otspec
from otspec import auditing, blocks, models, programs, rules, solvers, traces
from otspec._base.arithmetic import as_numbers
from otspec.blocks import TREE_VERIFIERS, policies
from otspec.blocks.block_verification import ChainedResiduals
from otspec.blocks.carry_over import HandedOver, KeptTarget
from otspec.blocks.trees.shapes import LEAF
from otspec.blocks.trees.verifiers.greedy_multi_path import ClippedRanks, GreatestPath
from otspec.blocks.trees.verifiers.leaf_to_root import over_drafts
from otspec.blocks.trees.verifiers.nodes import Node, Nodes
from otspec.blocks.trees.verifiers.planned_tree import NodeProgram
from otspec.blocks.trees.verifiers.traversal_verify import rejections
from otspec.coupling import Coupling
from otspec.distributions import as_distribution
from otspec.drafts.base import Support, support
from otspec.drafts.without_replacement import WithOne
from otspec.estimate import Estimates
from otspec.models.base import Continued
from otspec.models.derived import LoggedModel, OneCorrectedToken
from otspec.optimum.budgets import Outputs
from otspec.optimum.cuts.levels import WaterFilling
from otspec.optimum.plan import Plan
from otspec.optimum.pools.knots import Histogram, Knots
from otspec.optimum.pools.pools import (
    Pools,
    SelectionLaw,
    by_bins,
    by_thresholds,
    by_token,
    clipped_law,
)
from otspec.ratios import Pair
from otspec.rules.importance.acceptance import VerifiedSelection
from otspec.rules.importance.selection import StagedSelection
from otspec.rules.lossy import LOSSY_RULES
from otspec.rules.pooled.barriers import Barriers, PowerMasses, SummedMasses, find_barriers
from otspec.rules.pooled.exponential_clocks import ClockedDrafts
from otspec.rules.pooled.graded import by_grade
from otspec.rules.priority.cut_pools import CutPool
from otspec.rules.priority.order_search import Mixture, Weighed
from otspec.rules.priority.pooled_mixtures import Problem
from otspec.rules.rejection.rejected_paths import DistinctPaths
from otspec.rules.spechub import HubShares
from otspec.solvers import LinearProgram, Names, Sense, Solution, Status


def keep_one(text, draft):
    """Keep token 1 after any text."""
    del text, draft
    return [1]


def stopping(give):
    """Return the best policy, solved in no time."""
    best = policies.best_stopping(model(give), model(give), 1, (0, 0))
    return replace(best, solution=replace(best.solution, seconds=0.0))


def one_token(draft, chance):
    """Draft one token."""
    return [(chance.choose(draft(())),)]


def verify_nothing(drafts, chance):
    """Keep nothing: the program of a rule."""
    del drafts, chance
    return -1


def first(drafts, chance):
    """Accept the first draft."""
    return 0


HEIGHTS = ["0", "1/4", "16/25", "1"]
TOKENS = (1, 0)
LAW = otspec.IID(DRAFT, 2)
SEEN = support(LAW)
PROGRAM = programs.Reduced(LAW, as_distribution(TARGET)).build()
SOLUTION = solvers.solve(PROGRAM, "rational")


def logged(give):
    """Return a logged block of two tokens."""
    rows = [give.sequence([give(row)] * 3) for row in (DRAFT, TARGET)]
    return otspec.logged.LoggedBlock(*rows, give.sequence(TOKENS))


def linear_program(give):
    """Return a linear program of the caller's arrays."""
    arrays = [
        give(getattr(PROGRAM, name))
        for name in (
            *("objective", "rows", "columns", "coefficients"),
            *("row_lower", "row_upper", "lower", "upper"),
        )
    ]
    return LinearProgram("reduced", Sense.MAXIMIZE, *arrays, *names(give))


def names(give):
    """Return the names of rows and columns, in a list and in blocks."""
    size = PROGRAM.shape[1]
    columns = give.sequence([("x", give(np.arange(size)[:, None]))])
    return give.sequence(list(PROGRAM.row_names)), Names(columns)


def pools(give, make, *arguments):
    """Return pools of the checked distributions."""
    return make(as_distribution(give(DRAFT)), as_distribution(give(TARGET)), *arguments)


def selection_law(give):
    """Return the law of two drafts, from fields of the caller's."""
    law = clipped_law(pools(give, by_token), as_numbers(give(HEIGHTS), "heights"))
    return SelectionLaw(law.pools, give(law.masses), give(law.tight), law.cut)


def barriers(give):
    """Return barriers of the caller's arrays."""
    law = clipped_law(pools(give, by_token), as_numbers(give(HEIGHTS), "heights"))
    found = find_barriers(law, SummedMasses(np.diff(as_numbers(give(HEIGHTS), "heights"))))
    parts = found.lifetimes, found.starts, found.ends, found.spans, found.rises, found.parents
    return Barriers(found.pools, found.heights, *map(give, (*parts, found.origins)))


def plan(give):
    """Return a plan of the caller's arrays."""
    accepted = give(np.minimum(SEEN.masses[SEEN.rows], as_distribution(TARGET)[SEEN.tokens]) / 4)
    return Plan(seen(give), give(TARGET), accepted)


def seen(give):
    """Return a support of the caller's arrays."""
    parts = map(give, (SEEN.keys, SEEN.masses, SEEN.rows, SEEN.tokens))
    return Support(otspec.IID(give(DRAFT), 2), True, *parts)


WITNESS = auditing.Witness(0, Fraction(1, 2), ((0, 1),), "it is not")
EXACT = {  # from exact arrays or from float ones
    **BEST_TREES,
    **PROGRAMS,
    "iid": lambda give: otspec.IID(give(DRAFT), 3),
    "one draft": lambda give: otspec.IID(give(DRAFT), 1),
    "independent": lambda give: otspec.Independent(give.sequence([give(DRAFT), give(TARGET)])),
    "without replacement": lambda give: otspec.WithoutReplacement(give(DRAFT), 2),
    "three distinct": lambda give: otspec.WithoutReplacement(give(DRAFT), 3),
    "hub": lambda give: otspec.Hub(give(DRAFT)),
    "two hubs": lambda give: otspec.TwoHubs(give(DRAFT)),
    "spechub of two hubs": lambda give: rules.SpecTwoHubs(give(DRAFT), give(TARGET)),
    "shares of hubs": lambda give: HubShares(give(DRAFT), give(TARGET), give(DRAFT)),
    "certain hub": lambda give: otspec.Hub(give(["0", "1", "0"])),
    "top plus one": lambda give: otspec.TopPlusOne(give(DRAFT), 2),
    "top": lambda give: otspec.TopK(give(DRAFT), 2),
    "masked": lambda give: otspec.Masked(otspec.WithoutReplacement(give(DRAFT), 2), [1]),
    "masked rule": lambda give: rules.RecursiveRejectionWithoutReplacement.of_law(
        otspec.Masked(otspec.WithoutReplacement(give(DRAFT), 2), [1]), give(TARGET)
    ),
    "joint": lambda give: otspec.Joint(give([["1/2", "0"], ["1/4", "1/4"]])),
    "support": seen,
    "optimum": lambda give: otspec.Optimum(
        otspec.IID(give(DRAFT), 2), give(TARGET), Fraction(17, 20), (0,)
    ),
    "lossy optimum": lambda give: otspec.LossyOptimum(
        otspec.IID(give(DRAFT), 2),
        give(TARGET),
        Fraction(9, 10),
        (0,),
        otspec.optimum.TotalVariation(Fraction(1, 20)),
    ),
    "frontier program": lambda give: otspec.optimum.FrontierProgram(
        otspec.IID(give(DRAFT), 2), give(TARGET), total_variation=1
    ),
    "best law": lambda give: otspec.optimum.best_law([give(DRAFT), give(TARGET)], 2),
    "safest law": lambda give: otspec.optimum.safest_law(give(DRAFT), 2, total_variation=1),
    "inclusion bound": lambda give: otspec.optimum.inclusion_bound([give(DRAFT), give(TARGET)], 2),
    "vessels": lambda give: WaterFilling(
        as_numbers(give(DRAFT), "x"), as_numbers(give(TARGET), "x")
    ),
    "outputs": lambda give: Outputs(as_distribution(give(DRAFT)), as_distribution(give(TARGET))),
    "plan": plan,
    "decomposition": lambda give: plan(give).decomposition,
    "planned": lambda give: rules.PlannedRule(plan(give)),
    "program": lambda give: rules.ProgramRule(otspec.IID(give(DRAFT), 2), give(TARGET), first),
    "coupling": lambda give: rules.MaximalCoupling(give(DRAFT), give(TARGET)),
    "coupled laws": lambda give: Coupling(give(DRAFT), give(TARGET)),
    "fixed": lambda give: otspec.Fixed(give(np.array([2, 0])), 3),
    "drawn draft": lambda give: rules.DrawnDraft(give(DRAFT), give(TARGET), 2),
    "one race": lambda give: rules.GumbelCoupling(give(DRAFT), give(TARGET), 2),
    "lists": lambda give: rules.GumbelLists(give(DRAFT), give(TARGET), 2),
    "target only": lambda give: rules.TargetOnly(give(DRAFT), give(TARGET), 2),
    "naive": lambda give: rules.NaiveSampling(give(DRAFT), give(TARGET), 2),
    "recursive": lambda give: rules.RecursiveRejection(give(DRAFT), give(TARGET), 2),
    "draft is target": lambda give: rules.RecursiveRejection(give(DRAFT), give(DRAFT), 2),
    **{
        kind.title: lambda give, kind=kind: kind.of_pair(
            give(DRAFT), give(TARGET), kind.only_k or 2
        )
        for kind in LOSSY_RULES.values()
    },
    "distinct": lambda give: rules.RecursiveRejectionWithoutReplacement(
        give(DRAFT), give(TARGET), 2
    ),
    "k-sequential": lambda give: rules.KSequential(give(DRAFT), give(TARGET), 2),
    "spechub": lambda give: rules.SpecHub(give(DRAFT), give(TARGET)),
    "importance": lambda give: rules.ImportanceSampling(give(DRAFT), give(TARGET), 2),
    "alphabet": lambda give: rules.ImportanceSampling(
        give(DRAFT), give(TARGET), 2, others=give.sequence([give(TARGET)]), alphabet=2
    ),
    "truncated alphabet": lambda give: rules.TruncatedAlphabet(
        give(DRAFT), give(TARGET), 2, kept=2
    ),
    "kept tokens": lambda give: rules.TruncatedAlphabet(
        give(DRAFT), give(TARGET), 2, kept=give(np.array([2, 0])), rule=rules.RecursiveRejection
    ),
    "staged": lambda give: StagedSelection(give.sequence([give(DRAFT)] * 2), give(TARGET), 2),
    "verified": lambda give: VerifiedSelection(
        StagedSelection((give(DRAFT),), give(TARGET), 2), give(TARGET), 1, give(TARGET)
    ),
    "pooled": lambda give: rules.PooledSelection(give(DRAFT), give(TARGET), 3),
    "earliest": lambda give: rules.EarliestPooledSelection(give(DRAFT), give(TARGET), 2),
    "fewest": lambda give: rules.PooledSelection(give(DRAFT), give(TARGET), 2, "fewest"),
    "bins": lambda give: rules.PooledSelection(give(DRAFT), give(TARGET), 2, 8),
    "thresholds": lambda give: rules.PooledSelection(
        give(DRAFT), give(TARGET), 2, give(["1/2", "7/4"])
    ),
    "graded": lambda give: rules.PooledSelection(give(DRAFT), give(TARGET), 2, rules.Graded(3)),
    "thresholds of a partition": lambda give: rules.Thresholds(give(["1/2", "7/4"])),
    "heights": lambda give: PowerMasses(pools(give, by_token), 2),
    "summed heights": lambda give: SummedMasses(give(DRAFT)),
    "by grade": lambda give: pools(give, by_grade, 2, 3),
    "arrived drafts": lambda give: ClockedDrafts(
        give(DRAFT), give(np.array([True, False, True])), give(DRAFT)
    ),
    "pooled clocks": lambda give: rules.PooledSelectionWithoutReplacement(
        give(DRAFT), give(TARGET), 2, rules.Graded(3, 1)
    ),
    "pooled distinct": lambda give: rules.PooledSelectionWithoutReplacement(
        give(DRAFT), give(TARGET)
    ),
    "model by model": lambda give: rules.RecursiveRejectionIndependent(
        otspec.Independent(give.sequence([give(DRAFT), give(TARGET)])), give(TARGET)
    ),
    "priorities": lambda give: rules.PriorityMixture(otspec.IID(give(DRAFT), 2), give(TARGET)),
    "by token": lambda give: pools(give, by_token),
    "by bins": lambda give: pools(give, by_bins, 4),
    "by thresholds": lambda give: pools(give, by_thresholds, as_numbers(give(["1"]), "it")),
    "own pools": lambda give: Pools(
        *map(give, (DRAFT, TARGET, DRAFT, TARGET, np.arange(3), DRAFT))
    ),
    "knots": lambda give: Knots(give(DRAFT), give(TARGET)),
    "thresholds alone": lambda give: Histogram(give(["1/2", "7/4"])),
    "selection law": selection_law,
    "barriers": barriers,
    "mixture": lambda give: Mixture(
        give(np.array([[0, 1, 2]])),
        *(give(["1"]), give(DRAFT), Fraction(1, 2), Fraction(1, 2)),
        *(give(np.array([0])), give(np.array([0, 1, 2]))),
    ),
    "weighed": lambda give: Weighed(
        give(np.array([[0, 1, 2]])), give(["1"]), give(DRAFT), give(TARGET)
    ),
    "pools of a mixture": lambda give: rules.PriorityMixture(
        otspec.IID(give(DRAFT), 2), give(TARGET), pools=give(np.array([0, 1, 1]))
    ),
    "different drafts": lambda give: Problem(give([DRAFT, TARGET]), give(TARGET)),
    "pool beside a cut": lambda give: CutPool(
        give(np.array([0, 2])), True, give([DRAFT, TARGET]), give(TARGET), give(["1", "2"])
    ),
    "names": lambda give: names(give)[1],
    "linear program": linear_program,
    "solution": lambda give: Solution(
        linear_program(give),
        "rational",
        Status.OPTIMAL,
        SOLUTION.value,
        give(SOLUTION.primal),
        give(SOLUTION.duals),
        3,
        0.5,
    ),
    **{
        name: lambda give, kind=kind: kind(otspec.IID(give(DRAFT), 2), give(TARGET))
        for name, kind in programs.PROGRAMS.items()
    },
    "truncated": lambda give: programs.TruncatedImportance(
        otspec.IID(give(DRAFT), 2), give(TARGET), free=2
    ),
    "table": model,
    "warped": lambda give: models.WarpedModel(model(give), temperature="1/2", top_k=2),
    "with null": lambda give: models.masked(model(give), model(give), keep_one)[0],
    "ending": lambda give: models.EndingModel(model(give), [1]),
    "continued": lambda give: Continued(model(give), (0,)),
    "corrected": lambda give: OneCorrectedToken(model(give), give(TARGET)),
    "residuals": lambda give: ChainedResiduals(model(give), model(give, TARGET), 2),
    **{
        kind.title: lambda give, kind=kind: kind(model(give), model(give, TARGET), 2)
        for kind in (
            *blocks.BLOCK_RULES.values(),
            blocks.CarryOverVerification,
            blocks.HierarchicalVerification,
        )
    },
    "kept target": lambda give: KeptTarget(model(give), model(give, TARGET), 0, None),
    "handed over": lambda give: HandedOver(
        KeptTarget(model(give), model(give, TARGET), 0, None),
        (),
        give(TARGET),
        after_correction=True,
    ),
    "tree": lambda give: blocks.DraftSelection(
        model(give), model(give, TARGET), give.sequence([2, 1]), rules.RecursiveRejection
    ),
    "planned tree": lambda give: blocks.PlannedTree(
        model(give), model(give, TARGET), give.sequence([2])
    ),
    "layers": lambda give: blocks.LayerVerification(
        model(give), model(give, TARGET), give.sequence([2])
    ),
    "node program": lambda give: NodeProgram(
        as_distribution(give(TARGET)), {(LEAF, None, None): 1}, {}
    ),
    "first highest path": lambda give: blocks.FirstHighestPath(
        model(give), model(give, TARGET), give.sequence([2])
    ),
    "clipped ranks": lambda give: ClippedRanks(model(give), model(give, TARGET), 2),
    "policy with a verifier": lambda give: policies.PolicyRule(
        model(give), model(give), policies.Policy("one", "one token", one_token, 1), verify_nothing
    ),
    "best stopping": stopping,
    "sequence race": lambda give: policies.SequenceRace(model(give), model(give), 2, 2),
    "own program": lambda give: blocks.ProgramTree(
        model(give), model(give, TARGET), give.sequence([2, 1]), verify_nothing
    ),
    "greatest path": lambda give: GreatestPath(model(give), model(give, TARGET), 2),
    **{
        kind.title: lambda give, kind=kind: kind(
            model(give), model(give, TARGET), give.sequence([2, 1])
        )
        for kind in TREE_VERIFIERS.values()
    },
    "arrivals": lambda give: over_drafts(
        rules.RecursiveRejection(give(DRAFT), give(TARGET), 2), merge=True
    ),
    "rejections": lambda give: next(rejections(give(DRAFT), give(TARGET), 1, 2)),
    "nodes": lambda give: Nodes(model(give), model(give, TARGET), rules.RecursiveRejection, True),
    "node": lambda give: Node(rules.RecursiveRejection(give(DRAFT), give(TARGET), 2), True),
    "accepted": lambda give: Node(
        rules.RecursiveRejection(give(DRAFT), give(TARGET), 2), True
    ).accepted(True),
    "logged block": logged,
    "logged model": lambda give: LoggedModel(give.sequence([give(DRAFT)] * 2), TOKENS),
    "audit": lambda give: auditing.Audit(
        False, give(DRAFT), give(TARGET), 0, Fraction(1, 2), 0, 0.0, WITNESS, give(DRAFT)
    ),
}
FLOAT = {  # from float arrays only
    **TEXTS,
    "drafts with one": lambda give: WithOne(give(DRAFT), 0, 2),
    "trace": lambda give: traces.Trace(
        give(np.zeros((2, 3, 4))),
        give(np.ones((2, 3, 4))),
        give(np.array([[1, 2], [0, 0]])),
        give.sequence(["one", "two"]),
        traces.Trace(give(np.zeros((1, 2, 4))), give(np.ones((1, 2, 4))), give(np.array([[3]]))),
    ),
    "pair": lambda give: Pair(give(DRAFT), give(TARGET)),
    "estimates": lambda give: Estimates.of_means(give(np.ones(2) / 2), 10),
    "paths": lambda give: DistinctPaths(Pair(give(DRAFT), give(TARGET)), 2, 10),
    "paths rule": lambda give: DistinctPaths(Pair(give(DRAFT), give(TARGET)), 2, 10).of_first(2),
    "accepted": lambda give: rules.NaiveSampling(give(DRAFT), give(TARGET), 2).accepted(),
    "drawn drafts": lambda give: rules.NaiveSampling(give(DRAFT), give(TARGET), 2).estimate(5),
    "counted drafts": lambda give: rules.PooledSelection(give(DRAFT), give(TARGET), 2).estimate(5),
    "distinct drafts": lambda give: rules.PooledSelectionWithoutReplacement(
        give(DRAFT), give(TARGET), 2
    ).estimate(5),
    "mixed drafts": lambda give: rules.PriorityMixture(
        otspec.IID(give(DRAFT), 2), give(TARGET)
    ).estimate(5),
    "drawn noise": lambda give: rules.GumbelCoupling(give(DRAFT), give(TARGET), 2).estimate(5),
    "selection estimate": lambda give: rules.ImportanceSampling(
        give(DRAFT), give(TARGET), 2
    ).estimate(5),
}
