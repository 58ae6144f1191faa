"""Couplings of blocks: the optimum is the sum of the common mass of all prefixes.

Theory, 8; Block, eqs. 3-5.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from instances import floats, fractions, pairs, weights
from programs_table import VALUE_ERROR
from searching import NIGHTLY, enough

from otspec.programs import BlockProgram, formulation
from otspec.solvers import Status, solve

HALVES = fractions("1/2", "1/2")

# How many pairs of models for each alphabet and length: what rational arithmetic affords.
SIZES = {(2, 1): 16, (2, 2): 24, (2, 3): 16, (3, 1): 16, (3, 2): 8}
if NIGHTLY:
    SIZES |= {(2, 3): 24, (2, 4): 1, (3, 2): 24}


def markov_model(rng, start, zeros):
    """The next token depends on the last one only."""
    n = len(start)
    rows = [weights(rng, n, 6, zeros) for _ in range(n)]
    return lambda prefix: rows[prefix[-1]] if prefix else start


def table_model(rng, start, zeros, length):
    """The next token depends on the whole prefix."""
    n = len(start)
    rows = {
        x: weights(rng, n, 6, zeros) for d in range(1, length) for x in product(range(n), repeat=d)
    }
    return lambda prefix: rows[prefix] if prefix else start


def models(n, length, count, seed):
    """Draft and target models of all kinds: first tokens as in pairs, some alike throughout."""
    rng = np.random.default_rng(seed)
    for index, (draft, target) in enumerate(pairs(seed, count, n, fewest=n)):
        zeros = (0.0, 0.3)[index % 2]
        if index % 3:
            first, second = (table_model(rng, start, zeros, length) for start in (draft, target))
        else:
            first, second = (markov_model(rng, start, zeros) for start in (draft, target))
        yield (first, first) if index % 8 == 5 else (first, second)


def mass(model, prefix):
    """M(x^l) = Π M(x_i | x^{i−1})."""
    result = Fraction(1)
    for i, token in enumerate(prefix):
        result *= model(prefix[:i])[token]
    return result


def common_mass(draft, target, n, length):
    """Σ_l Σ_{x^l} min(M_s(x^l), M_b(x^l)), l from 1 to L."""
    prefixes = (x for depth in range(1, length + 1) for x in product(range(n), repeat=depth))
    return sum(min(mass(draft, x), mass(target, x)) for x in prefixes)


@pytest.mark.parametrize(("n", "length"), SIZES)
def test_the_optimum_is_the_common_mass_of_all_prefixes_exactly(n, length):
    solved, lowest, highest = 0, length, 0
    for draft, target in models(n, length, SIZES[n, length], seed=140):
        solution = solve(BlockProgram(draft, target, length).build())
        assert solution.solver == "rational"
        assert type(solution.value) is Fraction
        assert solution.value == common_mass(draft, target, n, length)
        lowest, highest = min(lowest, solution.value), max(highest, solution.value)
        solved += 1
    assert solved == enough(SIZES[n, length])
    if solved >= 8:
        assert (lowest, highest) == (0, length)  # disjoint and equal models are among them


@pytest.mark.parametrize("solver", ["highs", "cvxpy"])
@pytest.mark.parametrize(("n", "length"), [(2, 3), (2, 4), (3, 2)])
def test_float_solvers_agree(n, length, solver):
    for draft, target in models(n, length, 10, seed=141):
        as_floats = [lambda prefix, m=model: floats(m(prefix)) for model in (draft, target)]
        solution = solve(BlockProgram(*as_floats, length).build(), solver)
        expected = common_mass(draft, target, n, length)
        assert type(solution.value) is float
        assert abs(solution.value - expected) <= VALUE_ERROR


def test_one_token_blocks_of_one_token_alphabets():
    def certain(prefix):
        return [1.0]

    solution = solve(BlockProgram(certain, certain, 3).build())
    assert solution.status is Status.OPTIMAL
    assert abs(solution.value - 3) <= VALUE_ERROR


def test_the_program_is_the_one_of_the_definition():
    n, length = 3, 2
    draft, target = next(models(n, length, 1, seed=142))
    model = BlockProgram(draft, target, length)
    program = model.build()
    blocks = list(product(range(n), repeat=length))
    names = [f"pi({x[0]}, {x[1]} -> {y[0]}, {y[1]})" for x in blocks for y in blocks]
    assert list(program.column_names) == names
    assert list(program.row_names) == [
        f"{side}({x[0]}, {x[1]})" for side in ("draft", "target") for x in blocks
    ]
    masses = [mass(draft, x) for x in blocks] + [mass(target, y) for y in blocks]
    assert program.row_lower.tolist() == program.row_upper.tolist() == masses
    common = [(x[0] == y[0]) * (1 + (x[1] == y[1])) for x in blocks for y in blocks]
    assert program.objective.tolist() == common
    dense = np.zeros(program.shape, dtype=int)
    np.add.at(dense, (program.rows, program.columns), program.coefficients.astype(int))
    count = len(blocks)
    expected = [[int(i == r) for i in range(count) for _ in range(count)] for r in range(count)]
    expected += [[int(j == r) for _ in range(count) for j in range(count)] for r in range(count)]
    assert dense.tolist() == expected
    assert (program.lower == 0).all()
    assert (program.upper == np.inf).all()
    size = model.size()
    assert (size.rows, size.columns, size.coefficients) == (18, 81, 162)


def recording(model):
    calls = Counter()

    def recorded(prefix):
        calls[prefix] += 1
        return model(prefix)

    return recorded, calls


def test_blocks_beyond_the_memory_are_refused_before_the_models_are_asked(monkeypatch):
    recorded, calls = recording(lambda _: [0.5, 0.5])
    model = BlockProgram(recorded, recorded, 12)
    assert model.size().columns == 2**24
    monkeypatch.setattr(formulation, "memory", lambda: model.size().bytes - 1)
    with pytest.raises(ValueError, match=r"16,777,216 variables.*: use shorter blocks"):
        model.build()
    assert set(calls) == {()}


def test_each_prefix_is_asked_for_a_tuple_shorter_than_the_block():
    recorded, calls = recording(lambda _: HALVES)
    BlockProgram(recorded, recorded, 3).build()
    assert set(calls) == {x for depth in range(3) for x in product(range(2), repeat=depth)}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (("1/2", "1/3"), r"draft\(1, 0\) sums to 5/6"),
        (("3/2", "-1/2"), r"draft\(1, 0\)"),
        (
            ("1/3", "1/3", "1/3"),
            r"draft\(1, 0\) has 3|draft\(\) has 2 tokens and draft\(1, 0\) has 3",
        ),
        ((0.5, 0.5), r"draft\(\) is exact but draft\(1, 0\) is float"),
    ],
)
def test_an_answer_that_is_no_distribution_is_named_by_its_prefix(answer, message):
    def wrong(prefix):
        return answer if prefix == (1, 0) else HALVES

    with pytest.raises(ValueError, match=message):
        BlockProgram(wrong, lambda _: HALVES, 3).build()
    with pytest.raises(ValueError, match=message.replace("draft", "target")):
        BlockProgram(lambda _: HALVES, wrong, 3).build()


def test_models_that_do_not_fit_each_other_are_refused():
    def thirds(prefix):
        return fractions("1/3", "1/3", "1/3")

    with pytest.raises(ValueError, match=r"draft\(\) has 2 tokens and target\(\) has 3"):
        BlockProgram(lambda _: HALVES, thirds, 1)
    with pytest.raises(ValueError, match=r"draft\(\) is exact but target\(\) is float"):
        BlockProgram(lambda _: HALVES, lambda _: [0.5, 0.5], 1)
    with pytest.raises(ValueError, match=r"draft\(\) sums to 1/2"):
        BlockProgram(lambda _: ("1/2", 0), thirds, 1)


@pytest.mark.parametrize("length", [0, -1, 1.5, True, "2"])
def test_lengths_that_are_no_positive_integers_are_refused(length):
    with pytest.raises(ValueError, match="length"):
        BlockProgram(lambda _: HALVES, lambda _: HALVES, length)
