"""The small language models on which claims about blocks and trees are checked."""

from fractions import Fraction
from itertools import islice

import numpy as np

from validation.block.section_3 import occurs
from validation.claim import Counterexample
from validation.domains import given
from validation.models import SIZES, Table, models
from validation.search import Search

HALF = Fraction(1, 2)
EVEN, FIRST, SECOND = (HALF, HALF), (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))


def size(instance):
    length = instance["length"]
    total = instance["draft"].n + length
    for model in (instance["draft"], instance["target"]):
        for block in {x[:i] for x in model.blocks(length) for i in range(length)}:
            total += max(mass.denominator for mass in model(block))
    return total


def rows(instance):
    return instance["draft"].rows, instance["target"].rows, instance["length"]


def test_the_smallest_models_come_by_size_each_once():
    first = list(islice(models().small(), 800))
    sizes = [size(instance) for instance in first]
    assert sizes == sorted(sizes)
    assert len(set(map(rows, first))) == 800
    assert {(each["draft"].n, each["length"]) for each in first} == set(SIZES)


def test_the_smallest_models_are_all_there():
    # Up to relabeling: the draft descends, and the target where the draft is tied.
    first = islice(models(((2, 1),)).small(), 40)
    found = [(each["draft"](())[0], each["target"](())[0]) for each in first]
    chances = {Fraction(a, d) for d in range(1, 4) for a in range(d + 1)}
    expected = {(p, q) for p in chances for q in chances if p > HALF or (p == HALF and q >= HALF)}
    assert expected <= set(found)
    assert all(p >= HALF for p, _ in found)


def test_all_rows_are_distributions_and_random_models_are_reproducible():
    def drawn(seed):
        return list(islice(models().random(np.random.default_rng(seed)), 200))

    some = drawn(3)
    assert list(map(rows, some)) == list(map(rows, drawn(3)))
    assert list(map(rows, some)) != list(map(rows, drawn(4)))
    for instance in some + list(islice(models().small(), 200)):
        for model in (instance["draft"], instance["target"]):
            assert len(model.rows) == sum(model.n**depth for depth in range(instance["length"]))
            assert all(sum(row) == 1 for row in model.rows)


def test_after_longer_prefixes_the_last_tokens_count():
    some = (EVEN, FIRST, SECOND, *[(Fraction(i, 9), Fraction(9 - i, 9)) for i in range(4)])
    model = Table(some)
    assert model(()) == EVEN
    assert (model((0,)), model((1,))) == (FIRST, SECOND)
    assert model((1, 0)) == some[5]
    assert model((0, 1, 1, 0)) == some[5]
    assert Table((EVEN,))((1, 0, 1)) == EVEN
    assert Table(some[:3])((0, 0, 1)) == SECOND
    assert model.after((1,))((0,)) == some[5]
    assert model.mass((1, 1, 0)) == HALF * some[2][1] * some[6][0]
    assert sum(model.blocks(3).values()) == 1


def test_a_table_is_told_with_the_prefixes_of_its_rows():
    assert str(Table((EVEN,))) == "(1/2, 1/2) after every prefix"
    assert (
        str(Table((EVEN, FIRST, SECOND))) == "(1/2, 1/2) after (); (1, 0) after 0; (0, 1) after 1"
    )
    assert str(Table((EVEN, FIRST, FIRST))) == "(1/2, 1/2) after (), else (1, 0)"


def test_what_never_occurs_is_refuted():
    numbers = given(*({"n": n} for n in range(5)))
    found = occurs(Search(), numbers, lambda n: Fraction(min(n, 0)))
    assert isinstance(found, Counterexample)
    found = occurs(Search(), numbers, lambda n: Fraction(max(n - 2, 0)))
    assert (found.instances, found.worst, found.scope) == (5, 1, "n <= 4; occurs in 2")
