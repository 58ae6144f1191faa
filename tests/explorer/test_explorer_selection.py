"""Pooled selection, its barriers and the region of full acceptance in the explorer's JavaScript."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import instances
import numpy as np
from explorer_arithmetic import CLOSE, LAW_CLASSES, apart, evaluated

import otspec
from otspec.rules import PooledSelection, PooledSelectionWithoutReplacement

SELECTIONS = """(cases) => cases.map(({ draft, target, k, law }) => {
  const found = a.selection(law, draft, target, k);
  const optimum = a.optimum(law, draft, target, k);
  return { ...found, optimum, groups: [0, 0.25, 0.5, 0.75].map((w) => a.groupsAt(found, w)) };
})"""
POOLED = (PooledSelection, PooledSelectionWithoutReplacement)


def _selections() -> tuple[list[Any], list[dict[str, Any]]]:
    """Return exact rules of Python, and what JavaScript finds for the same pairs."""
    rules, given = [], []
    for index, (draft, target) in enumerate(instances.pairs(3, 240, 7)):
        kind, k = POOLED[index % 2], 1 + index // 2 % 4
        if kind.law_class.exists(otspec.distributions.as_distribution(draft), k):
            rules.append(kind(draft, target, k))
            floats = {"draft": instances.floats(draft), "target": instances.floats(target)}
            given.append(floats | {"k": k, "law": kind.law_class.name})
    return rules, evaluated(SELECTIONS, given)


def test_selections_are_pythons() -> None:
    """Lifetimes, too: exact ones, which tell tied ratios and knots that are just tight."""
    for rule, found in zip(*_selections(), strict=True):
        knots, tokens = found["knots"], found["tokens"]
        assert apart([knot["mass"] for knot in knots], rule.knots) < CLOSE
        assert [found["pools"][pool]["tokens"] for pool in range(len(knots) - 1)] == [
            np.flatnonzero((rule.pool == pool) & (rule.draft > 0)).tolist()
            for pool in range(len(knots) - 1)
        ]
        assert apart([token["selected"] for token in tokens], rule.law_of_selection) < CLOSE
        assert abs(found["acceptance"] - rule.acceptance()) < CLOSE
        assert abs(found["acceptance"] + found["rejected"] - 1) < CLOSE
        # Of equally good cuts the shortest, which rounding must not decide.
        cut = otspec.optimal_acceptance(rule.law, rule.target).cut
        assert found["cutTokens"] == found["optimum"]["cut"] == list(cut)
        residual = np.maximum(rule.target - rule.law_of_selection, 0)
        assert apart([token["residual"] for token in tokens], residual) < CLOSE
        assert apart([token["chance"] for token in tokens], rule.coupling.chances) < CLOSE
        lifetimes = [float(knot["lifetime"]) for knot in knots]
        for lifetime, wanted in zip(lifetimes, rule.lifetimes.astype(float), strict=True):
            # Where the bound has no kink, a barrier changes nothing.
            assert lifetime == wanted or abs(lifetime - wanted) < CLOSE or wanted == 1


def test_barriers_select_with_the_law_that_is_shown() -> None:
    """B is the mean of the chord interpolations of G on the barriers: integrated over w."""
    for _, found in zip(*_selections(), strict=True):
        knots = found["knots"]
        mass, inside = (np.array([knot[name] for knot in knots]) for name in ("mass", "inside"))
        lifetimes = np.array([float(knot["lifetime"]) for knot in knots])
        moments = np.unique(np.append(np.clip(lifetimes, 0, 1), 0))
        mean = np.zeros(len(knots))
        for start, end in pairwise(moments):
            barriers = lifetimes > start
            mean += (end - start) * np.interp(mass, mass[barriers], inside[barriers])
        assert moments[-1] == 1
        assert apart(mean, [knot["selected"] for knot in knots]) < CLOSE
        for w, groups in zip((0, 0.25, 0.5, 0.75), found["groups"], strict=True):
            ends = np.flatnonzero(lifetimes > w)
            assert [group["to"] for group in groups] == ends[1:].tolist()
            assert apart([group["chance"] for group in groups], np.diff(inside[ends])) < CLOSE
            drafted = sorted(token for group in groups for token in group["tokens"])
            assert drafted == [i for i, each in enumerate(found["tokens"]) if each["draft"] > 0]


def test_selection_of_long_vectors() -> None:
    rng = np.random.default_rng(4)
    logits = 6 * rng.standard_normal((2, 3_000))
    softmax = np.exp(logits - logits.max(axis=1, keepdims=True))
    draft, target = map(
        otspec.distributions.as_distribution, softmax / softmax.sum(axis=1)[:, None]
    )
    pair = {"draft": draft.tolist(), "target": target.tolist()}
    given = [pair | {"k": 16, "law": kind.law_class.name} for kind in POOLED]
    for kind, selection in zip(POOLED, evaluated(SELECTIONS, given), strict=True):
        rule = kind(draft, target, 16)
        selected = [token["selected"] for token in selection["tokens"]]
        assert apart(selected, rule.law_of_selection) < CLOSE
        assert abs(selection["acceptance"] - rule.acceptance()) < CLOSE


REGIONS = """(cases) => cases.map(({ draft, ks, targets }) => a.LAWS.map((law) => ks.map((k) => {
  if (a.refusal(law.name, draft, k)) return null;
  const region = a.everythingAccepted(law.name, draft, k);
  return { ...region, inside: targets.map((target) => region.isInside(target)) };
})))"""


def test_everything_is_accepted_just_inside_the_region() -> None:
    """Bounds from the laws' tables; the optimum of targets near the border; vertices around it."""
    rng = np.random.default_rng(5)
    drafts = [instances.pair(rng, 3, kind)[0] for kind in instances.KINDS for _ in range(3)]
    weights = [instances.weights(rng, 3, 12, 0.2) for _ in range(6)]
    targets = [instances.floats(each) for each in weights]
    given = [
        {"draft": instances.floats(draft), "ks": [1, 2, 3], "targets": targets} for draft in drafts
    ]
    seen = set()
    for draft, found in zip(drafts, evaluated(REGIONS, given), strict=True):
        for law_class, regions in zip(LAW_CLASSES.values(), found, strict=True):
            for k, region in zip((1, 2, 3), regions, strict=True):
                if region is None:
                    continue
                law = law_class(draft, k)
                bounds = {tuple(each["tokens"]): each["least"] for each in region["bounds"]}
                wanted = {A: law.inside(A) for A in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))}
                assert bounds.keys() == wanted.keys()
                assert all(abs(bounds[A] - wanted[A]) < CLOSE for A in wanted)
                for target, inside in zip(weights, region["inside"], strict=True):
                    exact = all(sum(target[i] for i in A) >= wanted[A] for A in wanted)
                    assert inside is exact
                    assert exact is bool(otspec.optimal_acceptance(law, target).acceptance == 1)
                seen |= set(region["inside"])
                _check_vertices(region["vertices"], wanted)
    assert seen == {True, False}


def _check_vertices(vertices: list[list[float]], least: dict[tuple[int, ...], Any]) -> None:
    """Each is in the polytope and on two of its edges; in order they turn one way."""
    for vertex in vertices:
        slack = [sum(vertex[i] for i in A) - float(bound) for A, bound in least.items()]
        assert min(slack) > -CLOSE
        assert sum(abs(each) < CLOSE for each in slack) >= 2
        assert abs(sum(vertex) - 1) < CLOSE
    # Every order of the tokens gives one: the corners that double description would find.
    for first, second, third in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]:
        corner = [0.0, 0.0, 0.0]
        corner[first] = float(least[(first,)])
        corner[third] = 1 - float(least[tuple(sorted((first, second)))])
        corner[second] = 1 - corner[first] - corner[third]
        assert min(apart(vertex, corner) for vertex in vertices) < CLOSE
    if len(vertices) > 2:
        points = np.array(vertices)[:, :2]
        edges = np.roll(points, -1, axis=0) - points
        after = np.roll(edges, -1, axis=0)
        turns = edges[:, 0] * after[:, 1] - edges[:, 1] * after[:, 0]
        assert (turns > -CLOSE).all()


DRAWS = """(cases) => cases.map(({ draft, target, k, law, count }) => {
  const found = a.selection(law, draft, target, k);
  let state = 12345;
  const uniform = () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
  const some = (many) => Array.from({ length: many }, uniform);
  const counts = () => ({ output: draft.map(() => 0), kept: 0 });
  const [pooled, shared] = [counts(), counts()];
  const count_ = (into, draw) => { into.output[draw.output] += 1; into.kept += Number(draw.kept); };
  for (let i = 0; i < count; i += 1) {
    const [w, member, keep, correction] = some(4);
    const uniforms = { drafts: some(k), w, member, keep, correction };
    count_(pooled, a.pooledDraw(found, uniforms));
    count_(shared, a.sharedDraw(draft, target, k, some(draft.length)));
  }
  return { pooled, shared };
})"""


def test_single_draws_have_the_law_of_the_rules() -> None:
    """Each count is binomial: within five standard deviations, for one fixed seed."""
    count = 20_000
    pairs = [([0.5, 0.3, 0.2], [0.1, 0.6, 0.3], 2), ([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], 3)]
    cases = [
        {"draft": draft, "target": target, "k": k, "law": kind.law_class.name, "count": count}
        for draft, target, k in pairs for kind in POOLED
    ]  # fmt: skip
    kinds = {kind.law_class.name: kind for kind in POOLED}
    for case, found in zip(cases, evaluated(DRAWS, cases), strict=True):
        rule = kinds[case["law"]](case["draft"], case["target"], case["k"])
        noisy = otspec.rules.GumbelCoupling(case["draft"], case["target"], case["k"])
        for drawn, accepted in ((found["pooled"], rule), (found["shared"], noisy)):
            for seen, chance in (
                *zip(drawn["output"], case["target"], strict=True),
                (drawn["kept"], float(accepted.acceptance())),
            ):
                spread = (count * chance * max(0.0, 1 - chance)) ** 0.5
                assert abs(seen - count * chance) <= 5 * spread + 1e-6
