"""Drafts that a policy withdraws, against masking each tuple of drafts by hand."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from instances import Exact, pairs
from searching import enough

import otspec
from otspec import Masked, drafts
from otspec.drafts import LAWS
from otspec.optimum import price_of_mask
from otspec.rules import RULES, KSequential

Table = list[tuple[tuple[int, ...], Fraction]]


def by_hand(law: otspec.DraftLaw, keep: tuple[int, ...]) -> Table:
    """Every tuple of drafts, −1 in the place of a draft that is withdrawn, with its mass."""
    tuples, masses = law.tuples()
    return [
        (tuple(token if token in keep else -1 for token in drafts), mass)
        for drafts, mass in zip(tuples.tolist(), masses.tolist(), strict=True)
    ]


def best_by_hand(table: Table, target: Exact) -> Fraction:
    """min over A of q(A) + 1 − P(every draft that is left is in A), over all sets A."""
    n = len(target)
    return min(
        sum((target[y] for y in members), Fraction(0))
        + 1
        - sum(mass for drafts, mass in table if {*drafts} <= {-1, *members})
        for size in range(n + 1)
        for members in combinations(range(n), size)
    )


def cases(seed: int, count: int) -> Iterator[tuple[Exact, Exact, tuple[int, ...]]]:
    rng = np.random.default_rng(seed)
    for draft, target in pairs(seed, count, 4):
        yield draft, target, tuple(np.flatnonzero(rng.random(len(draft)) < 0.6).tolist())


@pytest.mark.parametrize("name", list(RULES))
def test_every_rule_keeps_the_target_and_accepts_what_enumeration_says(name: str) -> None:
    rule = RULES[name]
    kind, k = rule.law_class or drafts.IID, rule.only_k or 2
    tried = 0
    for number, (draft, target, keep) in enumerate(cases(len(name), 110)):
        if isinstance(kind, type) and not kind.exists(np.array(draft), k):
            continue
        law, tried = kind(draft, k), tried + 1
        masked, table = Masked(law, keep), by_hand(law, keep)
        made, null = rule.of_law(masked, target), len(target)
        output, accepted = [Fraction(0)] * null, Fraction(0)
        kernels = {}
        for left, mass in table:
            named = tuple(null if token < 0 else token for token in left)
            if named not in kernels:
                kernels[named] = made.kernel(named)
            for y, share in enumerate(kernels[named].tolist()[:null]):
                output[y] += mass * share
                accepted += mass * share * (y in left)
        assert tuple(output) == target
        assert accepted == made.acceptance()
        best = otspec.optimal_acceptance(masked, target)
        assert accepted <= best.acceptance == best_by_hand(table, target)
        if number % 10 == 0:
            best.check()
    assert tried > enough(110) / 4


@pytest.mark.parametrize("name", list(LAWS))
def test_the_law_is_that_of_tuples_masked_by_hand(name: str) -> None:
    rng = np.random.default_rng(5)
    for draft, _, keep in cases(7, 40):
        if not LAWS[name].exists(np.array(draft), 2):
            continue
        law, n = LAWS[name](np.array(draft), 2), len(draft)
        masked, table = Masked(law, keep), by_hand(law, keep)
        named: dict[tuple[int, ...], Fraction] = {}
        for left, mass in table:
            x = tuple(n if token < 0 else token for token in left)
            named[x] = named.get(x, Fraction(0)) + mass
        tuples, masses = masked.tuples()
        assert dict(zip(map(tuple, tuples.tolist()), masses.tolist(), strict=True)) == named
        assert len(tuples) == len(named)
        assert otspec.chance.law_of(masked.draw) == named
        order = rng.permutation(n + 1)
        inside = masked.inside_prefixes(order)
        for j in range(n + 2):
            members = set(order[:j].tolist())
            wanted = sum(mass for x, mass in named.items() if {*x} <= members)
            assert inside[j] == masked.inside(members) == wanted
        for i in range(2):
            marginal = [sum(m for x, m in named.items() if x[i] == y) for y in range(n + 1)]
            assert masked.marginal(i).tolist() == marginal
        assert masked.withdrawn() == sum(mass * x.count(n) for x, mass in named.items())
        assert set(map(tuple, masked.sample(20, rng).tolist())) <= set(named)


def test_the_cut_that_looks_at_its_token_is_lossy_and_the_mask_is_the_cure() -> None:
    draft, target = ["9/10", "1/10"], ["1/2", "1/2"]
    masked = Masked(otspec.IID(draft, 1), keep=[0])
    rule = KSequential.of_law(masked, target)
    assert rule.kernel([2]).tolist() == [0, 1, 0]  # (q − p·1_C)₊: token 1 follows
    assert otspec.audit(rule).lossless

    def forgets(x: tuple[int, ...]) -> list[Fraction]:
        plain = otspec.rules.MaximalCoupling(draft, target)
        return [*(plain.kernel(x) if x[0] < 2 else map(Fraction, target)), Fraction(0)]

    report = otspec.audit(forgets, law=masked, target=target)
    assert not report.lossless
    assert report.output.tolist() == [Fraction(11, 20), Fraction(9, 20), 0]


def test_kernels_may_leave_out_the_null_token() -> None:
    masked = Masked(otspec.IID(["9/10", "1/10"], 1), keep=[0])
    kernels = {"forgets": ["1/2", "1/2"], "knows": [0, 1]}  # given a withdrawn draft
    for name, row in kernels.items():
        report = otspec.audit(
            lambda x, row=row: ["5/9", "4/9"] if x == (0,) else row,
            law=masked,
            target=["1/2", "1/2"],
        )
        assert report.lossless is (name == "knows")
        if name == "forgets":
            assert report.output.tolist() == [Fraction(11, 20), Fraction(9, 20), 0]


@pytest.mark.parametrize("kind", [drafts.IID, drafts.WithoutReplacement])
def test_floats_at_a_large_vocabulary_agree_with_fractions(kind: type) -> None:
    rng = np.random.default_rng(3)
    weights = rng.integers(1, 50, (2, 40))
    draft, target = (tuple(Fraction(int(w), int(row.sum())) for w in row) for row in weights)
    keep = [y for y in range(40) if draft[y] > Fraction(1, 45)]
    exact = otspec.optimal_acceptance(Masked(kind(draft, 2), keep), target)
    floats = [np.array(row, dtype=float) for row in (draft, target)]
    found = otspec.optimal_acceptance(Masked(kind(floats[0], 2), keep), floats[1])
    assert found.acceptance == pytest.approx(float(exact.acceptance), abs=1e-13)
    assert found.cut == exact.cut
    found.check()


def test_prices_are_what_is_not_accepted() -> None:
    for draft, target, keep in cases(11, 40):
        law = otspec.IID(draft, 2)
        price = price_of_mask(Masked(law, keep), target)
        assert price.every == otspec.optimal_acceptance(law, target).acceptance
        assert price.price == price.every - best_by_hand(by_hand(law, keep), target) >= 0
        assert price.withdrawn == 2 * sum(p for y, p in enumerate(draft) if y not in keep)


def test_plans_and_other_laws_take_masks() -> None:
    target = ["1/10", "3/5", "3/10"]
    joint = otspec.Joint([["1/4", "1/4", 0], [0, "1/4", 0], [0, 0, "1/4"]])
    for law in (joint, otspec.Fixed([0, 1], n=3), otspec.IID(["1/2", "1/4", "1/4"], 2)):
        for keep in ([], [1], [0, 2], [0, 1, 2]):
            masked = Masked(law, keep)
            wanted = best_by_hand(by_hand(law, tuple(keep)), tuple(map(Fraction, target)))
            plan = otspec.optimal_plan(masked, target)
            plan.check()
            best = otspec.optimal_acceptance(masked, target)
            best.check()
            assert plan.acceptance == best.acceptance == wanted


@pytest.mark.parametrize("name", list(LAWS))
def test_lossy_outputs_are_proved_and_never_the_null_token(name: str) -> None:
    kept, refused = 0, 0
    for draft, target, keep in cases(len(name), 40):
        if not LAWS[name].exists(np.array(draft), 2):
            continue
        masked = Masked(LAWS[name](draft, 2), keep)
        table, null = by_hand(masked.law, keep), masked.null
        most = 1 - sum(mass for drafts, mass in table if {*drafts} == {-1})  # not all withdrawn
        wanted = min(best_by_hand(table, target) + Fraction(1, 20), Fraction(1))
        try:
            best = otspec.optimal_acceptance(masked, target, total_variation="1/20")
        except ValueError:  # the next test has its message
            assert wanted > most or 0 in target
            refused += 1
            continue
        best.check()
        assert best.output is not None
        assert best.acceptance == wanted <= most
        assert best.output[null] == 0
        assert masked.nulls == (null,)
        again = Masked(masked, [*keep, null])
        assert otspec.optimal_acceptance(again, target, total_variation="1/20").acceptance == wanted
        kept += 1
    assert kept > 3
    assert refused > 0


def test_a_budget_for_outputs_that_no_text_has_is_refused() -> None:
    masked, target = Masked(otspec.IID(["1/2", "1/2"], 1), [0]), ["1/4", "3/4"]
    assert otspec.optimal_acceptance(masked, target, total_variation="1/4").acceptance == 1 / 2
    assert otspec.optimal_plan(masked, target, total_variation="1/4").acceptance == 1 / 2
    for call in (otspec.optimal_acceptance, otspec.optimal_plan):
        with pytest.raises(ValueError, match=r"null token 2.*at most total_variation='1/4'"):
            call(masked, target, total_variation="1/3")
    floats, row = Masked(otspec.IID([0.5, 0.5], 1), [0]), [0.25, 0.75]
    with pytest.raises(ValueError, match=r"renyi.*at most total_variation=0.25"):
        otspec.optimal_acceptance(floats, row, renyi=(0.5, 0.2))
    best = otspec.optimal_acceptance(floats, row, kullback_leibler=5.0)
    assert best.acceptance == pytest.approx(0.5, abs=1e-12)
    wide = otspec.Independent(np.full((2, 200), 1 / 200))  # of which no selection is known
    with pytest.raises(ValueError, match=r"at most total_variation=0\.2(5|49999)"):
        otspec.optimal_acceptance(
            Masked(wide, range(100)), np.full(200, 1 / 200), total_variation=0.6
        )


def test_what_is_no_mask_is_refused() -> None:
    law = otspec.IID(["1/2", "1/2"], 1)
    with pytest.raises(ValueError, match=r"keep .*3"):
        Masked(law, keep=[3])
    with pytest.raises(ValueError, match="law"):
        Masked([0.5, 0.5], keep=[0])
    masked = Masked(law, keep=[0])
    assert masked.as_target(["1/2", "1/2", 0]).tolist() == masked.as_target(["1/2", "1/2"]).tolist()
    with pytest.raises(ValueError, match="null token 2"):
        masked.as_target(["1/2", "1/4", "1/4"])
    with pytest.raises(ValueError, match="pass these, or a Masked law"):
        otspec.rules.SpecHub.of_law(masked, ["1/2", "1/2"])
    with pytest.raises(ValueError, match="Masked law"):
        price_of_mask(law, ["1/2", "1/2"])
