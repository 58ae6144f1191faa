"""What importance sampling accepts, token by token: sums without tuples against every tuple."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from instances import floats, pairs, weights
from searching import of_all

from otspec.distributions import as_pair
from otspec.rules import ImportanceSampling, NotExactError
from otspec.rules.importance import acceptance as importance_laws
from otspec.rules.importance import stages
from otspec.rules.importance.selection import StagedSelection, followed


def cases(seed, count, ks=(1, 2, 3, 4)):
    """Exact rules with all options in turn, of at most three tokens."""
    rng = np.random.default_rng(seed)
    for index, (draft, target) in enumerate(pairs(seed, count, 3)):
        n, k = len(draft), ks[index % len(ks)]
        options = {"free": int(rng.integers(0, n + 1))} if index % 3 else {}
        if index % 5 == 4:
            options["alphabet"] = int(rng.integers(1, n + 1))
        if k > 1 and index % 2:
            options["others"] = [weights(rng, n, 12, 0.3) for _ in range(k - 1)]
        yield draft, target, k, options


def by_tuples(rule):
    """(first draft, how many drafts are y, y) → how likely y is the output, from the kernel."""
    law = np.full((rule.k, rule.k, len(rule.target)), Fraction(0), dtype=object)
    for x, mass in zip(*rule.law.tuples(), strict=True):
        drafts = x.tolist()
        for y, chance in enumerate(rule.kernel(drafts)):
            if y in drafts:
                law[drafts.index(y), drafts.count(y) - 1, y] += mass * chance
    return law


def test_sums_are_every_tuple_and_kernel():
    lost = 0
    for draft, target, k, options in cases(3_300, 80):
        rule = ImportanceSampling(draft, target, k, **options)
        law = by_tuples(rule)
        assert rule.accepted().by_position_and_token.tolist() == law.sum(axis=1).tolist()
        assert rule.accepted().by_token.tolist() == law.sum(axis=(0, 1)).tolist()
        assert rule.acceptance() == law.sum()
        assert type(rule.acceptance()) is Fraction
        counted = rule.accepted().counted
        assert counted.accepted.tolist() == law.sum(axis=0).tolist()
        assert (counted.accepted.sum(axis=0) + counted.rejected).tolist() == list(target)
        for y in range(len(draft)):
            column = rule.estimate().of_token_by_position(y)
            assert [each.high for each in column] == [float(m) for m in law[:, :, y].sum(axis=1)]
            assert all(each.low == each.high == each for each in column)
            total = rule.estimate().of_token(y)
            assert total.low == total.high == float(law[:, :, y].sum())
        lost += rule.acceptance() < 1
        if "others" in options:
            options["others"] = [floats(other) for other in options["others"]]
        close = ImportanceSampling(floats(draft), floats(target), k, **options)
        assert close.acceptance() == pytest.approx(float(rule.acceptance()), abs=1e-13)
    assert lost > of_all(30)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_several_numbers_of_drafts_share_their_stages(k):
    rng = np.random.default_rng(3_301)
    draft, target = rng.dirichlet(np.full(50, 0.3), size=2)
    found = ImportanceSampling.acceptances(draft, target, (5, k, 1, 3), free=7)
    assert found[1] == ImportanceSampling(draft, target, k, free=7).acceptance()
    assert ImportanceSampling.acceptances(draft, target, ()) == []
    assert ImportanceSampling.acceptances(draft, target, [2]) == [
        ImportanceSampling(draft, target, 2).acceptance()
    ]


def test_estimates_of_several_numbers_are_those_of_each(monkeypatch):
    monkeypatch.setattr(importance_laws, "MOST_STEPS", 0)
    draft, target = np.random.default_rng(3_302).dirichlet(np.full(20, 0.3), size=2)
    found = ImportanceSampling.acceptances(draft, target, (2, 3, 4), free=5)
    rules = [ImportanceSampling(draft, target, k, free=5) for k in (2, 3, 4)]
    assert found == [rules[0].acceptance(), *(rule.estimate().probability for rule in rules[1:])]
    # Of k drafts there are k² pairs: up to so many of all samples are looked at.
    monkeypatch.setattr(importance_laws, "MOST_COMPARED", 4_000)
    some = ImportanceSampling.acceptances(draft, target, (3, 4, 20), free=5)
    sizes = zip((3, 4, 20), (444, 250, 50), strict=True)
    rules_of = {k: ImportanceSampling(draft, target, k, free=5) for k in (3, 4, 20)}
    assert some == [rules_of[k].estimate(size).probability for k, size in sizes]
    with pytest.raises(NotExactError, match=r"3 drafts .* 20 tokens .* estimate\(\) simulates"):
        _ = rules[1].accepted().by_position_and_token
    with pytest.raises(NotExactError):
        _ = rules[1].accepted().counted


@pytest.mark.parametrize(("k", "options"), [(2, {}), (3, {"free": 2}), (3, {"alphabet": 2})])
def test_estimates_by_draft_are_unbiased(k, options):
    draft, target = [0.5, 0.3, 0.1, 0.1], [0.1, 0.2, 0.4, 0.3]
    rule = ImportanceSampling(draft, target, k, **options)
    found = rule.estimate(4_000, seed=1).by_position_and_token.value
    # Each entry is a mean of 4,000 numbers between 0 and 1: Hoeffding, at 1e-9.
    assert np.abs(found - rule.accepted().by_position_and_token).max() <= 0.052
    assert np.abs(rule.estimate(4_000, seed=1).by_token.value - found.sum(axis=0)).max() <= 1e-15


def test_a_flow_and_a_linear_program_select_as_well():
    rng = np.random.default_rng(3_303)
    for free in (1, 3, 10, 40):
        draft, target = rng.dirichlet(np.full(40, 0.3), size=2)
        by_flow, by_program = (
            np.minimum(ImportanceSampling(draft, target, 2, free=free, solver=solver)
                       .law_of_selection, target).sum()
            for solver in (None, "highs")
        )  # fmt: skip
        assert by_flow == pytest.approx(by_program, abs=1e-9)


def test_the_rational_solver_selects_exactly_as_well():
    for draft, target, k, options in cases(3_305, 24, ks=(2,)):
        by_flow, by_program = (
            ImportanceSampling(draft, target, k, solver=solver, **options).verified.known
            for solver in (None, "rational")
        )
        assert type(by_flow) is Fraction
        assert by_flow == by_program


@pytest.mark.parametrize("exact", [True, False])
def test_many_tuples_are_selected_from_as_few_are(exact):
    """Beyond 4,096 drafts floats go through machine code, and fractions stay exact."""
    pair = as_pair(["1/2", "1/4", "1/8", "1/8"], ["1/16", "3/16", "1/4", "1/2"])
    draft, target = pair if exact else map(np.array, map(floats, pair))
    selection = StagedSelection((draft,) * 3, target, 4)
    few = np.array(list(np.ndindex(4, 4, 4)))
    weights = selection.weights(np.tile(few, (24, 1)))
    wanted = np.tile(selection.weights(few), (24, 1))
    assert type(weights[0, 0]) is (Fraction if exact else np.float64)
    assert (weights == wanted).all() if exact else weights == pytest.approx(wanted, abs=1e-15)
    assert weights.sum(axis=1) == pytest.approx(1)


def test_more_drafts_may_accept_less_if_few_tokens_are_free():
    """Each stage is truncated anew, so that a draft more can take away what is wanted."""
    rng = np.random.default_rng(3_304)
    draft, target = rng.dirichlet(np.full(60, 0.3), size=2)
    few = ImportanceSampling.acceptances(draft, target, (2, 8, 16), free=1)
    every = ImportanceSampling.acceptances(draft, target, (2, 8, 16), free=60)
    assert few[2] < few[1]
    assert every == sorted(every)


def test_more_free_tokens_than_the_memory_holds_pairs_of_are_refused(monkeypatch):
    monkeypatch.setattr(stages, "memory", lambda: 800)
    pair = [0.5, 0.25, 0.25, 0.0], [0.25, 0.25, 0.25, 0.25]
    assert ImportanceSampling(*pair, 2, free=3).acceptance() > 0.5
    with pytest.raises(ValueError, match=r"free is 4: .*; use fewer free tokens"):
        ImportanceSampling(*pair, 2, free=99).acceptance()
    # 80 bytes for each of 10⁸ pairs are 8·10⁹.
    with pytest.raises(ValueError, match=r"free is 10,000: .* about 7\.45 GiB, more than"):
        stages._refuse_many_free(10_000)
    monkeypatch.setattr(stages, "memory", lambda: 8 * 10**9)
    stages._refuse_many_free(10_000)


def test_a_draft_is_the_first_that_is_its_token_or_not():
    drafts = np.array([[0, 0, 1, 2], [0, 1, 1, 0], [1, 0, 2, 2], [0, 1, 0, 3]])
    rule = ImportanceSampling([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], 4, free=1)
    stages = rule.estimate().verified.selection.of_first(4).passed()
    for k, drawn in followed(stages, drafts):
        wanted = [[column[i] not in column[:i] for column in drafts.T.tolist()] for i in range(k)]
        assert drawn.first.tolist() == wanted
