"""The claims of SpecHub: stable verdicts, and checks that can fail."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import islice

import pytest

import otspec
from otspec import rules
from validation.claim import Counterexample, Search
from validation.instances import pairs
from validation.notation import distinct, normalised, positive
from validation.spechub import (
    CLAIMS,
    algorithms,
    background,
    equivalence,
    hub,
    lp,
    printed,
    programs,
    proofs,
    tables,
    theorem3,
    theorem4,
    toy,
)
from validation.spechub.instances import exact, hub_pairs, over_hubs
from validation.spechub.tables import ROWS

BY_NAME = {claim.id.removeprefix("spechub."): claim for claim in CLAIMS}
LATE = {"secB.1": 200}
"""Claims whose first counterexample comes after 60 instances."""
FIGURES = exact("1/2", "3/10", "1/5"), exact("1/10", "3/5", "3/10")


def reduced(name: str) -> Search:
    return Search(seconds=1.0, instances=LATE.get(name, 60))


@pytest.mark.parametrize("name", BY_NAME)
def test_what_is_refuted_has_a_correction_that_holds(name):
    claim = BY_NAME[name]
    outcome = claim.check(reduced(name))
    assert outcome.instances >= (0 if isinstance(outcome, Counterexample) else 1)
    assert isinstance(outcome, Counterexample) == (claim.corrected is not None)
    if claim.corrected is not None:
        corrected = claim.corrected.check(reduced(name))
        assert not isinstance(corrected, Counterexample), corrected
        assert corrected.instances >= 1


@pytest.mark.parametrize("seed", [1, 2])
def test_verdicts_do_not_depend_on_the_seed(seed):
    for name in ("thm1", "thm3", "thm4", "alg3a", "tab4", "secDa", "secB.2a", "secB.3d"):
        claim = BY_NAME[name]
        search = replace(reduced(name), seed=seed)
        assert isinstance(claim.check(search), Counterexample) == (claim.corrected is not None)
        if claim.corrected is not None:
            assert not isinstance(claim.corrected.check(replace(search)), Counterexample)


def test_statements_are_told_apart():
    assert len(BY_NAME) == len(CLAIMS)
    assert len({claim.statement for claim in CLAIMS}) == len(CLAIMS)


def test_the_toy_formulas_are_the_rules():
    settings = [(Fraction(1, 10), Fraction(7, 10)), (Fraction(1, 2), Fraction(1, 2))]
    for setting in settings:
        experiment = toy.Experiment("normal", 5, 7)
        drafts, targets = toy._pairs(experiment, setting)
        for i, pair in enumerate(zip(drafts, targets, strict=True)):
            draft, target = (law / law.sum() for law in pair)
            found = {
                "RRS": rules.RecursiveRejection(draft, target, k=2).acceptance(),
                "RRSw": rules.RecursiveRejectionWithoutReplacement(draft, target, k=2).acceptance(),
                "OTM": otspec.optimal_acceptance(otspec.IID(draft, 2), target).acceptance,
                "OTMw": otspec.optimal_acceptance(
                    otspec.WithoutReplacement(draft, 2), target
                ).acceptance,
                "SpecHub": rules.SpecHub(draft, target).acceptance(),
            }
            for method, value in found.items():
                assert experiment.acceptances(setting, method)[i] == pytest.approx(value, abs=1e-12)


def test_the_printed_tables():
    assert [sum(row.table == table for row in ROWS) for table in (1, 2, 5, 6, 7, 8, 9)] == [
        3, 3, 32, 28, 8, 16, 8,
    ]  # fmt: skip
    assert all(row.rrs < row.rrsw for row in ROWS)
    assert sum(row.spechub is None for row in ROWS) == 12


def refuted(name: str, *, corrected: bool = False) -> bool:
    claim = BY_NAME[name]
    check = claim.corrected.check if corrected else claim.check
    return isinstance(check(Search(seconds=2.0, instances=300)), Counterexample)


def forgetful(draft, target, k, *, replacement):
    """RRSw whose draft does not change after a rejection."""
    run = printed.Run(len(draft), k)
    for x, mass in distinct(draft, k).items():
        reached, wanted = mass, list(target)
        for i, token in enumerate(x):
            reached = run.accept(i, token, reached, min(Fraction(1), wanted[token] / draft[token]))
            if reached == 0:
                break
            wanted = normalised(positive(wanted, draft))
        run.draw(x, wanted, reached)
    return run


def test_a_draft_that_does_not_change_is_noticed(monkeypatch):
    monkeypatch.setattr(background, "token_rejection", forgetful)
    assert refuted("alg1b")


def test_a_repeated_use_of_the_hub_is_noticed(monkeypatch):
    monkeypatch.setattr(proofs, "spechub", printed.spechub_as_printed)
    for name in ("thm2", "secB.2b", "secB.2c", "cor1"):
        assert refuted(name), name
    monkeypatch.setattr(algorithms, "spechub", printed.spechub_as_printed)
    assert refuted("alg3a", corrected=True)
    assert refuted("alg3b", corrected=True)


def test_a_residual_that_serves_the_hub_is_noticed(monkeypatch):
    def served(target, draft, a):
        wanted, offered = printed.get_residual(target, draft, a)
        wanted[a] = max(target[a] - max(draft), Fraction(0))
        return wanted, offered

    monkeypatch.setattr(algorithms, "get_residual", served)
    assert refuted("alg2")


def test_programs_without_their_rows_are_noticed(monkeypatch):
    def boundless(table, target, *, once=False):
        return Fraction(0), {(x, x[0]): mass for x, mass in table.items()}

    for module in (programs, equivalence):
        monkeypatch.setattr(module, "simplified", boundless)
    assert refuted("thm1")
    assert refuted("sec3.2b", corrected=True)
    assert refuted("secE")


def test_couplings_are_checked(monkeypatch):
    monkeypatch.setattr(programs, "least_bound", lambda *_: Fraction(1))
    assert refuted("eq1")
    monkeypatch.setattr(proofs, "completed", lambda plan, *_, **__: plan)
    assert refuted("thm2")


def test_arcs_in_the_wrong_direction_are_noticed(monkeypatch):
    def turned(table, target):
        return lp.network({(x, x): Fraction(0) for x in range(len(target))}, target)

    monkeypatch.setattr(equivalence, "network", turned)
    assert refuted("secE")


def test_theorem_3_without_its_condition_is_noticed(monkeypatch):
    monkeypatch.setattr(theorem3, "odds", lambda _: Fraction(10))
    assert refuted("thm3", corrected=True)


def test_theorem_4_with_a_weaker_condition_is_noticed():
    slack = partial(theorem4.above_threshold, Fraction(1, 4))
    assert isinstance(over_hubs(slack)(Search(2.0, 600)), Counterexample)


def test_a_law_of_other_pairs_is_noticed(monkeypatch):
    monkeypatch.setattr(
        otspec.Hub,
        "sample",
        lambda law, size, rng: otspec.TopPlusOne(law.draft, 2).sample(size, rng),
    )
    assert refuted("secB.2a")


def test_other_limits_are_noticed(monkeypatch):
    monkeypatch.setattr(hub, "spechub", partial(printed.token_rejection, k=2, replacement=True))
    assert refuted("sec5.2b")
    assert refuted("fig6")
    assert refuted("sec4e", corrected=True) is False  # RRS accepts as much as RRS


def test_another_number_in_a_table_is_noticed(monkeypatch):
    setting = next(iter(toy.TABLE4))
    changed = {**toy.TABLE4, setting: (0.6273, 0.7120, 0.6380, 0.7345, 0.5402)}
    monkeypatch.setattr(toy, "TABLE4", changed)
    assert refuted("tab4", corrected=True)
    row = tables.LARGER[0]
    check = tables.over_rows([row._replace(spechub=row.rrsw)], tables.higher)
    assert isinstance(check(Search()), Counterexample)


def test_the_first_pairs_have_any_hub():
    first = list(islice(hub_pairs(0), 600))
    assert {"draft": exact("1/2", "1/2"), "target": exact("0", "1")} in first
    assert {"draft": exact("1/2", "1/2"), "target": exact("1", "0")} in first
    known = {(pair["draft"], pair["target"]) for pair in first}
    for pair in islice(pairs(0, 3, 2), 40):
        if max(pair["draft"]) < 1:
            assert (pair["draft"], pair["target"]) in known
