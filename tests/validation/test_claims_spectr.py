"""The claims of SpecTr: verdicts, and checks that can fail."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from validation.claim import Counterexample, Evidence, Search, at_least
from validation.notation import collect, total_variation
from validation.spectr import (
    CLAIMS,
    bounds,
    couplings,
    examples,
    figures,
    guarantee,
    many_drafts,
    one_draft,
    printed,
    proofs,
    selection,
    sequences,
    sequential,
    trees,
)

HALF = Fraction(1, 2)
BY_ID = {claim.id: claim for claim in CLAIMS}
REFUTED = {
    "alg1b",
    "eq1",
    "eq5",
    "eq6",
    "alg3",
    "eq8",
    "thm2",
    "tab1a",
    "secA.2c",
    "fig4c",
    "fig6",
    "secB.1b",
    "secC.1b",
    "secC.1c",
    "secC.1e",
    "secC.1g",
    "secC.1j",
    "secC.1l",
    "secC.2",
    "alg4a",
    "alg4b",
    "secD.b",
}


def reduced():
    return Search(seconds=1.0, instances=60)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_verdict_as_printed(claim):
    outcome = claim.check(reduced())
    if claim.id.removeprefix("spectr.") in REFUTED:
        assert isinstance(outcome, Counterexample)
        assert claim.corrected is not None
    else:
        assert isinstance(outcome, Evidence)
        assert outcome.instances > 0
        assert outcome.worst >= 0
        assert outcome.scope


@pytest.mark.parametrize(
    "claim", [claim for claim in CLAIMS if claim.corrected], ids=lambda c: c.id
)
def test_the_corrected_statement_holds(claim):
    outcome = claim.corrected.check(reduced())
    assert isinstance(outcome, Evidence)
    assert outcome.instances > 0


def test_every_claim_expected_to_fail_exists():
    assert {f"spectr.{name}" for name in REFUTED} <= set(BY_ID)


def test_the_page_lists_the_claims_in_order():
    page = Path(__file__).parents[2] / "docs" / "claims" / "spectr.md"
    table = page.read_text(encoding="utf-8").split("## Left out")[0]
    assert re.findall(r"^\| `?(spectr\.[\w.]+)`? \|", table, re.MULTILINE) == list(BY_ID)


def always(value):
    return lambda *_, **__: value


def draws_from_target(draft, target):
    """Algorithm 1 with q for its residual."""

    def run(x):
        chance = min(Fraction(1), target[x[0]] / draft[x[0]])
        rest = [printed.Branch((1 - chance) * mass, y, None) for y, mass in enumerate(target)]
        return [printed.Branch(chance, x[0], 0), *rest]

    return run


def forgets_rho(draft, target, k, rho, drawn=printed.residual):
    """Algorithm 2 that accepts with min(1, q/p)."""

    def as_before(*_):
        return drawn(draft, target, k, rho)

    return printed.k_sequential(draft, target, k, Fraction(1), as_before)


def overlap(draft, target, *_):
    """A hypothesis that is too weak: any ρ at all."""
    return total_variation(draft, target) < 1


def ends_with_token_0(models, plan, length, drafts, gather=tuple):
    """Algorithm 3 that makes its last token certain."""
    outputs = sequences.selected(models, plan, length, drafts, gather)
    return collect(((*output[:-1], 0), mass) for output, mass in outputs.items())


def uncoupled(law, target, *_):
    """A joint law whose outputs are uniform, whatever the target."""
    n = len(target)
    return {(x, y): mass / n for x, mass in law.items() for y in range(n)}


def twice(law, target, *_):
    """A joint law of too much mass."""
    return {(x, y): mass for x, mass in law.items() for y in range(len(target))}


def merged_tree(model, factors, _):
    """A prefix tree that merges equal sequences."""
    return sequences.prefix_tree(model, factors)


def one_draft_form(p, q, *_):
    """The closed form for k = 1."""
    return min(p, q) + min(1 - p, 1 - q)


def of_one_more(function):
    return lambda p, q, k, rho: function(p, q, k + 1, rho)


def copies(model, length, count):
    return (((z,) * count, mass) for z, mass in sequences.sequences(model, length).items())


def slack_bound(p, q, k):
    return couplings.upper_bound(p, q, k) * 9 / 10


ONE = Fraction(1)
BROKEN = [
    ("alg1a", one_draft, "maximal_coupling", draws_from_target),
    ("sec4", one_draft, "maximal_coupling", draws_from_target),
    ("sec2a", one_draft, "total_variation", always(0)),
    ("sec2b", one_draft, "coupling_plan", lambda _, q, __: always(q[::-1])),
    ("sec2c", one_draft, "selected", ends_with_token_0),
    ("fig3", one_draft, "CHOSEN", (0, 1, 3, 4)),
    ("ex1", one_draft, "ONE", HALF),
    ("claim1", one_draft, "some_coupling", uncoupled),
    ("eq2", many_drafts, "some_coupling", twice),
    ("lem1a", many_drafts, "optimum", lambda *pqk: Fraction(1, pqk[2])),
    ("lem1b", many_drafts, "least_cut", always((HALF, ()))),
    ("lem1c", many_drafts, "least_cut", always((ONE, ()))),
    ("eq4", many_drafts, "least_cut", always((ONE, ()))),
    ("sec5a", many_drafts, "product", lambda values, repeat: [(y,) * repeat for y in values]),
    ("lem2", many_drafts, "best_coupling", lambda *pq: (couplings.best_coupling(*pq)[0], 10**9)),
    ("sec5b", many_drafts, "ONE_LESS_1_E", Fraction(64, 100)),
    ("alg2a", sequential, "k_sequential", forgets_rho),
    ("alg2b", sequential, "k_sequential", forgets_rho),
    ("thm1a", sequential, "k_sequential", forgets_rho),
    ("thm1a", sequential, "at_or_above_root", overlap),
    ("thm1b", sequential, "ONE_LESS_1_E", Fraction(99, 100)),
    ("thm1c", sequential, "f", lambda *args: printed.f(*args) + args[3] / 7),
    ("sec6a", sequential, "optimum", always(ONE)),
    ("sec7", selection, "selected", always({(0,) * 9: ONE})),
    ("tab1b", selection, "SPEEDUPS", dict.fromkeys(selection.SPEEDUPS, (HALF, ONE))),
    ("tab1c", selection, "SPEEDUPS", dict.fromkeys(selection.SPEEDUPS, (HALF, ONE))),
    ("lem3a", bounds, "upper_bound", slack_bound),
    ("lem3b", bounds, "share", always(Fraction(2))),
    ("lem3c", bounds, "upper_bound", slack_bound),
    ("lem3d", bounds, "upper_bound", slack_bound),
    ("secA.2a", bounds, "some_coupling", twice),
    ("secA.2b", bounds, "k_sequential", forgets_rho),
    ("secA.2d", bounds, "total_variation", always(HALF)),
    ("secA.3a", bounds, "bound_of_set", lambda *args: couplings.bound_of_set(*args) / 2),
    ("secA.3b", bounds, "share", always(Fraction(2))),
    ("fig4a", figures, "closed_form", always(HALF)),
    ("fig4b", figures, "acceptance_at_root", always((HALF, HALF))),
    ("fig4d", figures, "p_acc", always(HALF)),
    ("fig5", figures, "p_acc", always(HALF)),
    ("eq10", examples, "closed_form", one_draft_form),
    ("secB.1a", examples, "closed_form", one_draft_form),
    ("secB.1c", examples, "optimum", always(ONE)),
    ("secB.1d", examples, "closed_form", one_draft_form),
    ("secB.1e", examples, "closed_form", one_draft_form),
    ("secB.1f", examples, "uniform", lambda d, _: sequential.uniform(d, d)),
    ("secB.1g", examples, "accepted", always(HALF)),
    ("secB.1h", examples, "bound_of_set", always(HALF)),
    ("secB.2a", examples, "beta", lambda *args: 1 / args[2]),
    ("secB.2b", examples, "f", of_one_more(printed.f)),
    ("secB.2c", examples, "accepted", always(HALF)),
    ("lem4a", proofs, "f", lambda *args: -printed.f(*args)),
    ("lem4b", proofs, "f", lambda *args: printed.f(*args) + 1),
    ("secC.1a", proofs, "beta", always(HALF)),
    ("secC.1d", proofs, "at_or_above_root", overlap),
    ("secC.1f", proofs, "k_sequential", forgets_rho),
    ("secC.1h", guarantee, "p_acc", lambda *args: printed.p_acc(*args) + HALF),
    ("secC.1i", guarantee, "beta", always(HALF)),
    ("secC.1k", guarantee, "quotient", lambda _, x: 1 - x),
    ("eq11", guarantee, "share", always(Fraction(3, 2))),
    ("eq12", guarantee, "share", always(Fraction(3, 2))),
    ("secD.a", trees, "prefix_tree", merged_tree),
    ("tab4", trees, "EFFICIENCIES", dict.fromkeys(trees.EFFICIENCIES, HALF)),
]
BROKEN_CORRECTIONS = [
    ("alg1b", one_draft, "residual_of_one", always((HALF,))),
    ("eq1", one_draft, "optimum", always(ONE)),
    ("eq5", sequential, "residual", always((HALF, HALF))),
    ("eq6", sequential, "f", always(Fraction(0))),
    ("alg3", selection, "selected", ends_with_token_0),
    ("eq8", selection, "independent_drafts", copies),
    ("thm2", selection, "selected", ends_with_token_0),
    ("tab1a", selection, "SPEEDUPS", dict.fromkeys(selection.SPEEDUPS, (HALF, ONE))),
    ("secA.2c", bounds, "k_sequential", forgets_rho),
    ("fig4c", figures, "closed_form", always(HALF)),
    ("fig6", figures, "multi_round", always(ONE)),
    ("secB.1b", examples, "int", lambda flag: 1 - flag),
    ("secC.1b", proofs, "beta", lambda *args: args[2]),
    ("secC.1c", proofs, "p_acc", always(Fraction(2))),
    ("secC.1e", proofs, "k_sequential", forgets_rho),
    ("secC.1g", proofs, "residual_made_whole", lambda *args: args[0]),
    ("secC.1j", guarantee, "beta", always(HALF)),
    ("secC.1l", guarantee, "union_bound", lambda k, x: at_least(x, 1 - (1 - x) ** k)),
    ("secC.2", guarantee, "decoded", lambda *args: sequences.sequences(args[0], 1)),
    ("alg4a", trees, "prefix_tree", always({((0, 0),) * 4: ONE})),
    ("alg4b", trees, "prefix_tree", merged_tree),
    ("secD.b", trees, "tree_selection", lambda *_: iter([((0,), ONE)])),
]


def test_every_check_is_broken_once():
    assert {row[0] for row in BROKEN} == {name[7:] for name in BY_ID} - REFUTED
    assert {row[0] for row in BROKEN_CORRECTIONS} == REFUTED


@pytest.mark.parametrize(
    ("name", "module", "part", "broken"), BROKEN, ids=[f"{row[0]}-{row[2]}" for row in BROKEN]
)
def test_a_check_fails_once_something_is_broken(name, module, part, broken, monkeypatch):
    monkeypatch.setattr(module, part, broken, raising=False)  # also built-in functions
    outcome = BY_ID[f"spectr.{name}"].check(Search(seconds=2.0, instances=400))
    assert isinstance(outcome, Counterexample)


@pytest.mark.parametrize(
    ("name", "module", "part", "broken"),
    BROKEN_CORRECTIONS,
    ids=[f"{row[0]}-{row[2]}" for row in BROKEN_CORRECTIONS],
)
def test_the_check_of_a_correction_can_fail(name, module, part, broken, monkeypatch):
    monkeypatch.setattr(module, part, broken, raising=False)  # also built-in functions
    outcome = BY_ID[f"spectr.{name}"].corrected.check(Search(seconds=2.0, instances=400))
    assert isinstance(outcome, Counterexample)
