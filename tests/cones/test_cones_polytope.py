"""The polytope of selection laws: priority orders and token sets describe the same one.

Theory, 3; Cones, 6.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import permutations, product

import oracles
import pytest
from instances import LAWS, fractions, law_cases
from programs_table import needs_cdd

import otspec
from otspec.cones import polytope, selection_polytope

pytestmark = needs_cdd


def selected_by_order(table, order):
    """The law of the draft that comes first in an order, tuple by tuple."""
    law = [Fraction(0)] * len(order)
    for x, mass in table.items():
        law[min(x, key=order.index)] += mass
    return tuple(law)


def test_two_tokens_by_hand():
    """b(0) is between both drafts 0, 1/9, and any draft 0, 5/9; b(1) likewise 4/9 to 8/9."""
    found = selection_polytope(otspec.IID(["1/3", "2/3"], 2))
    assert found.vertices == (fractions("1/9", "8/9"), fractions("5/9", "4/9"))
    assert found.facets == ((0,), (1,))
    assert found.agree


@pytest.mark.parametrize(("n", "k"), [(3, 2), (3, 6), (4, 2), (4, 6), (5, 3)])
def test_iid_drafts_have_all_vertices_and_all_facets(n, k):
    draft = fractions(*(Fraction(2 * token + 1, n * n) for token in range(n)))
    found = selection_polytope(otspec.IID(draft, k))
    orders = list(permutations(range(n)))
    assert len(found.vertices) == len(orders)
    assert [sum(1 << token for token in it) for it in found.facets] == sorted(
        range(1, 2**n - 1), key=lambda mask: (mask.bit_count(), oracles.members(mask))
    )
    assert found.agree


@pytest.mark.parametrize("name", LAWS)
def test_both_descriptions_agree_for_every_law(name):
    for case, target in law_cases(name, 17, 40, 4, 3):
        found = selection_polytope(case.exact)
        n = len(target)
        orders = {selected_by_order(case.table, order) for order in permutations(range(n))}
        assert found.agree
        assert found.unnamed == ()
        assert set(found.vertices) == orders
        assert found.vertices == tuple(sorted(orders)) == found.vertices_from_facets
        inside = oracles.inside_every_set(case.table, n)
        for facet in found.facets:
            mass = inside[sum(1 << token for token in facet)]
            gaps = [sum(b[token] for token in facet) - mass for b in found.vertices]
            assert min(gaps) == 0 < max(gaps)


def test_a_target_in_the_polytope_is_accepted_with_certainty():
    law = otspec.IID(["1/2", "1/3", "1/6"], 2)
    found = selection_polytope(law)
    for weights in product(range(2), repeat=len(found.vertices)):
        if not any(weights):
            continue
        mixed = [
            sum(weight * b[token] for weight, b in zip(weights, found.vertices, strict=True))
            / sum(weights)
            for token in range(3)
        ]
        assert otspec.optimal_acceptance(law, mixed).acceptance == 1


def test_the_hub_makes_a_cube():
    """Each other token meets the hub alone, so that its share is chosen for itself."""
    found = selection_polytope(otspec.Hub(["1/2", "1/4", "1/8", "1/8"]))
    assert (len(found.vertices), len(found.facets)) == (8, 6)
    assert found.agree


def test_a_wrong_description_is_noticed(monkeypatch):
    law = otspec.IID(["1/2", "1/3", "1/6"], 2)
    monkeypatch.setattr(polytope, "vertices", lambda *_: [fractions("1/2", "1/4", "1/4")])
    assert not selection_polytope(law).agree
    monkeypatch.undo()
    wrong = [fractions("-1", "1", "1", "1")], []
    monkeypatch.setattr(polytope, "facets", lambda _: wrong)
    # b(V) = 1 holds at all vertices: no facet.
    assert selection_polytope(law).unnamed == (fractions("-1", "1", "1", "1"),)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (otspec.IID([0.5, 0.5], 2), "law is in floats.*pass Fractions or strings such as '3/10'"),
        (otspec.IID([1] * 9, 2, normalize=True), "law has n = 9 tokens.*362,880 priority orders"),
    ],
)
def test_bad_input_is_named(law, message):
    with pytest.raises(ValueError, match=message):
        selection_polytope(law)


def test_without_pycddlib_the_advice_is_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "cdd", None)
    with pytest.raises(ValueError, match=r"pip install 'otspec\[cones\]'"):
        selection_polytope(otspec.IID(["1/2", "1/2"], 2))
