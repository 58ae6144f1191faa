"""The algorithms of multi-candidate speculative decoding against the rules of the package."""

from fractions import Fraction
from itertools import islice

import numpy as np
from each_case import each

import otspec
from validation.algorithms import rejection_distinct
from validation.domains import cases
from validation.mcsd import section_4, sections_2_and_3, tables
from validation.mcsd.algorithms import alg1, alg2, block, efficiency, naive
from validation.notation import as_row, collect, distinct, support

HALF = Fraction(1, 2)
DOMAIN = cases(n=3)
INSTANCES = [
    *islice(DOMAIN.small(), 0, 300, 10),
    *islice(DOMAIN.random(np.random.default_rng(5)), 30),
]


@each("case", INSTANCES)
def test_the_printed_algorithms_accept_like_the_rules_of_the_package(case):
    draft, target, k = case["draft"], case["target"], case["k"]
    rules = otspec.rules
    found = alg1(draft, target, k).accepted()
    assert found == rules.RecursiveRejection(draft, target, k).acceptance()
    found = naive(draft, target, k).accepted()
    assert found == rules.NaiveSampling(draft, target, k).acceptance()
    if k <= support(draft):
        rule = rules.RecursiveRejectionWithoutReplacement(draft, target, k)
        assert alg2(draft, target, k).accepted() == rule.acceptance()
        for x in distinct(draft, k):
            branches = rejection_distinct(target, draft, x).branches()
            law = collect((branch.output, branch.mass) for branch in branches)
            assert as_row(law, len(draft)) == tuple(rule.kernel(x))


def test_refusals_by_formula_are_those_of_the_rule_for_many_drafts():
    draft, target = (Fraction(2, 3), Fraction(1, 4), Fraction(1, 12)), (HALF, HALF / 2, HALF / 2)
    for k, refused in enumerate(section_4.refusals(draft, target, 12)[1:], start=1):
        assert refused == 1 - otspec.rules.RecursiveRejection(draft, target, k).acceptance()


def test_a_block_by_hand():
    # p = (2/3, 1/3), q = (1/2, 1/2): one draft is accepted with 5/6, two with 5/6 + 1/6 * 1/3.
    law = block(lambda _: (HALF * 4 / 3, HALF * 2 / 3), lambda _: (HALF, HALF), (2, 1))
    assert sum(law.values()) == 1
    assert efficiency(law) == 1 + Fraction(8, 9) * (1 + Fraction(5, 6))


def test_trees_and_their_rows_by_hand():
    assert sections_2_and_3.squeezed((2, 1)) == [(0,), (1,), (0, 0), (1, 0)]
    assert sections_2_and_3.candidates((2, 1)) == [[0, 2], [1, 3]]
    assert section_4.rows_of(((5, ((7, ()), (8, ()))),)) == [((0, 5), (0, 7)), ((0, 5), (1, 8))]


def test_the_tables_are_whole():
    assert len(list(tables.lines(tables.TABLES["runs"]))) == 32
    assert len(list(tables.lines(tables.TABLES["rates"]))) == 38
