"""Claims of the preprint on block verification: verdicts, and the models they are checked on."""

from fractions import Fraction
from itertools import islice

import pytest

from validation.block import (
    CLAIMS,
)
from validation.models import (
    SIZES,
    models,
    random_models,
    smallest_models,
    table,
)
from validation.claim import Counterexample, Evidence, Search, Verdict

HALF = Fraction(1, 2)
EVEN, FIRST, SECOND = (HALF, HALF), (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))

# Refuted as printed, and how many of the smallest instances are enough to see it.
REFUTED = {
    "block.alg1b": 60,
    "block.sec2a": 60,
    "block.alg2b": 60,
    "block.sec3.1c": 60,
    "block.sec3.1d": 60,
    "block.sec3.1e": 60,
    "block.sec3.1f": 60,
    "block.alg3": 60,
    "block.alg3b": 600,
    "block.eq10": 60,
    "block.lem3": 60,
    "block.sec4.1b": 60,
    "block.sec4.1c": 600,
    "block.sec5": 60,
    "block.appAb": 60,
    "block.appC": 60,
}


def small(instances=60, seed=0):
    # The time limit is for a machine that is busy: the number of instances comes first.
    return Search(seconds=20.0 if instances > 60 else 10.0, instances=instances, seed=seed)


def refuted(check, instances=60):
    return isinstance(check(small(instances)), Counterexample)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdicts_as_printed_and_as_corrected(claim):
    outcome = claim.check(small(REFUTED.get(claim.id, 60)))
    assert (outcome.verdict is Verdict.REFUTED) == (claim.id in REFUTED)
    assert (claim.corrected is not None) == (claim.id in REFUTED)
    found = [outcome] if claim.corrected is None else [claim.corrected.check(small(seed=5))]
    for holds in found:
        assert isinstance(holds, Evidence)
        assert holds.instances >= 14  # tables have no more; the others reach 60
        assert holds.scope


def test_identifiers_are_of_this_paper_and_different():
    names = [claim.id for claim in CLAIMS]
    assert len(set(names)) == len(names)
    assert set(REFUTED) <= set(names)
    assert all(name.startswith("block.") for name in names)


# --- models ---------------------------------------------------------------------------------


def size(instance):
    n, length = len(instance["draft"][0]), instance["length"]
    total = n + length
    for name in ("draft", "target"):
        model = table(instance[name])
        for block in {x[:i] for x in model.blocks(length) for i in range(length)}:
            total += max(mass.denominator for mass in model(block))
    return total


def test_the_smallest_models_come_by_size_each_once():
    first = list(islice(smallest_models(SIZES), 800))
    sizes = [size(instance) for instance in first]
    assert sizes == sorted(sizes)
    assert len({(each["draft"], each["target"], each["length"]) for each in first}) == 800
    assert {(len(each["draft"][0]), each["length"]) for each in first} == set(SIZES)


def test_the_smallest_models_are_all_there():
    # Up to relabelling: the draft descends, and the target where the draft is tied.
    first = islice(smallest_models(((2, 1),)), 40)
    found = [(each["draft"][0][0], each["target"][0][0]) for each in first]
    chances = {Fraction(a, d) for d in range(1, 4) for a in range(d + 1)}
    expected = {(p, q) for p in chances for q in chances if p > HALF or (p == HALF and q >= HALF)}
    assert expected <= set(found)
    assert all(p >= HALF for p, _ in found)


def test_all_rows_are_distributions_and_random_models_are_reproducible():
    some = list(islice(random_models(3), 200))
    assert some == list(islice(random_models(3), 200))
    assert some != list(islice(random_models(4), 200))
    for instance in some + list(islice(models(0), 200)):
        for rows in (instance["draft"], instance["target"]):
            assert len(rows) == sum(len(rows[0]) ** depth for depth in range(instance["length"]))
            assert all(sum(row) == 1 for row in rows)


def test_after_longer_prefixes_the_last_tokens_count():
    rows = (EVEN, FIRST, SECOND, *[(Fraction(i, 9), Fraction(9 - i, 9)) for i in range(4)])
    model = table(rows)
    assert model(()) == EVEN
    assert (model((0,)), model((1,))) == (FIRST, SECOND)
    assert model((1, 0)) == rows[5]
    assert model((0, 1, 1, 0)) == rows[5]
    assert table((EVEN,))((1, 0, 1)) == EVEN
    assert table(rows[:3])((0, 0, 1)) == SECOND
    assert model.after((1,))((0,)) == rows[5]
    assert model.mass((1, 1, 0)) == HALF * rows[2][1] * rows[6][0]
    assert sum(model.blocks(3).values()) == 1
