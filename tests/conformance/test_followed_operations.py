"""What code does to random numbers, followed: against plain numbers in their place.

Of one uniform number the law is the share of a fine grid. Of several that are only ranked it is
that over all orders.
"""

import math
from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from tiny_models import transformers

from otspec.chance import CannotFollowError
from otspec.conformance import exact_law
from otspec.conformance.following.order import clipped

transformers()

import torch  # noqa: E402 # only where it is installed

NAN = float("nan")
GRID = (np.arange(20_000) + 0.5) / 20_000


def inplace(name, *arguments):
    """Return a method that changes a tensor, as a function."""

    def change(u):
        getattr(u, name)(*arguments)
        return u

    return change


def iadd(u):
    u += 0.5
    return u


def isub(u):
    u -= 0.5
    return u


def imul(u):
    u *= 2
    return u


def itruediv(u):
    u /= 2
    return u


def ipow(u):
    u **= 2
    return u


HALF = torch.tensor(0.5, dtype=torch.float64)
OPERATIONS = {
    "add": lambda u: u.add(0.5) < 0.9,
    "add reversed": lambda u: 0.5 + u < 0.9,
    "add in place": lambda u: inplace("add_", 0.25)(u) <= 0.9,
    "iadd": lambda u: iadd(u) < 0.9,
    "sub": lambda u: u.sub(0.5) < -0.1,
    "subtract": lambda u: torch.subtract(u, 0.25) < 0.1,
    "sub in place": lambda u: inplace("sub_", 0.25)(u) < 0.1,
    "isub": lambda u: isub(u) < -0.1,
    "sub reversed": lambda u: 0.75 - u < 0.3,
    "rsub": lambda u: torch.rsub(u, 0.75) < 0.3,
    "mul": lambda u: u.mul(3) < 0.9,
    "multiply": lambda u: torch.multiply(u, -3) < -0.9,
    "mul reversed": lambda u: 3 * u < 0.9,
    "mul in place": lambda u: inplace("mul_", 3)(u) < 0.9,
    "imul": lambda u: imul(u) < 0.9,
    "div": lambda u: u.div(3) < 0.1,
    "true divide": lambda u: torch.true_divide(u, -3) < -0.1,
    "div reversed": lambda u: 0.2 / u < 0.9,
    "div in place": lambda u: inplace("div_", 4)(u) < 0.1,
    "itruediv": lambda u: itruediv(u) < 0.1,
    "pow": lambda u: u.pow(3) < 0.3,
    "pow of a root": lambda u: u**0.5 < 0.3,
    "pow reversed": lambda u: (2 ** u.log()) < 0.6,
    "pow in place": lambda u: inplace("pow_", 3)(u) < 0.3,
    "ipow": lambda u: ipow(u) < 0.3,
    "negative power": lambda u: u**-2 < 9,
    "neg": lambda u: -u < -0.3,
    "negative": lambda u: torch.negative(u) >= -0.3,
    "neg in place": lambda u: inplace("neg_")(u) > -0.3,
    "abs": lambda u: (u - 0.4).abs() < 0.3,
    "abs in place": lambda u: inplace("abs_")(u - 0.4) < 0.3,
    "log": lambda u: u.log() < -0.7,
    "log in place": lambda u: inplace("log_")(u) < -0.7,
    "log of the mirrored": lambda u: (1 - u).log() < -0.7,
    "log of a multiple": lambda u: (3 * u).log() < 0.2,
    "log of the log": lambda u: (-u.log()).log() < 0.2,
    "log of a power": lambda u: (u**2).log() < -0.7,
    "gumbel": lambda u: -(-u.log()).log() * 2 + 1 < 1.3,
    "log1p": lambda u: (-u).log1p() < -0.7,
    "log1p in place": lambda u: inplace("log1p_")(-u) < -0.7,
    "exp": lambda u: u.log().exp() < 0.3,
    "exp of a multiple": lambda u: (2 * u.log() + 1).exp() < 0.3,
    "exp of a number less 1": lambda u: (u.log() - 1).exp() < 0.2,
    "exp of a clock": lambda u: (-2 * -u.log()).exp() < 0.3,
    "exp of a Gumbel number": lambda u: (-2 * (-u.log()).log() + 1).exp() < 2.3,
    "exp in place": lambda u: inplace("exp_")(u.log()) < 0.3,
    "sqrt": lambda u: u.sqrt() < 0.3,
    "sqrt in place": lambda u: inplace("sqrt_")(u) < 0.3,
    "sqrt of a clock": lambda u: (-u.log()).sqrt() < 0.7,
    "reciprocal": lambda u: u.reciprocal() < 3,
    "reciprocal of a negative number": lambda u: (-u).reciprocal() < -2,
    "reciprocal of a clock": lambda u: (-u.log()).reciprocal() < 3,
    "reciprocal in place": lambda u: inplace("reciprocal_")(u) < 3,
    "floor": lambda u: (3 * u).floor() < 1.5,
    "floor in place": lambda u: inplace("floor_")(3 * u) == 2,
    "long": lambda u: (3 * u).long() == 1,
    "le": lambda u: u.le(0.3),
    "less equal": lambda u: torch.less_equal(u, 0.3),
    "gt": lambda u: u.gt(0.3),
    "greater": lambda u: torch.greater(u, 0.3),
    "ge": lambda u: u.ge(0.3),
    "ge reversed": lambda u: torch.tensor(0.3, dtype=torch.float64) >= u,
    "eq": lambda u: u == 0.25,
    "ne": lambda u: torch.ne(u, 0.25),
    "isnan": torch.isnan,
    "isinf": torch.isinf,
    "isfinite": torch.isfinite,
    "nan to num": lambda u: torch.nan_to_num(u) < 0.3,
    "clamp min": lambda u: u.clamp_min(0.4) < 0.3,
    "clamp max": lambda u: u.clamp_max(0.4) > 0.5,
    "clamp min in place": lambda u: inplace("clamp_min_", 0.4)(u) < 0.3,
    "clamp max in place": lambda u: inplace("clamp_max_", 0.4)(u) > 0.5,
    "clamp": lambda u: (u.clamp(0.2, 0.6) - 0.4).abs() < 0.3,
    "clamp by name": lambda u: torch.clamp(u, max=0.6) > 0.7,
    "clip": lambda u: u.clip(min=0.4) < 0.3,
    "clamp in place": lambda u: inplace("clamp_", 0.2, 0.6)(u) < 0.1,
    "maximum": lambda u: torch.maximum(u, HALF) < 0.4,
    "minimum": lambda u: torch.minimum(u, HALF) > 0.6,
    "max of two": lambda u: torch.max(u, HALF) < 0.4,
    "min of two": lambda u: torch.min(u, other=HALF) > 0.6,
    "clamp below": lambda u: u.clamp_min(0.4) < 0.7,
    "clamp above": lambda u: u.clamp_max(0.6) > 0.3,
    "larger of two": lambda u: torch.maximum(u, HALF) < 0.7,
    "smaller of two": lambda u: torch.minimum(u, HALF) < 0.3,
    "where": lambda u: torch.where(u < 0.5, u, 1.0) < 0.3,
    "where, twice": lambda u: torch.where(u < 0.5, u, 1 - u) < 0.3,
}


def close(law, wanted):
    assert law.keys() == wanted.keys()
    assert all(float(law[each]) == pytest.approx(wanted[each], abs=1.1e-4) for each in wanted)


@pytest.mark.parametrize("name", OPERATIONS)
def test_one_number_has_the_law_of_a_grid(name):
    function = OPERATIONS[name]
    plain = Counter((bool(each),) for each in function(torch.tensor(GRID)))
    wanted = {said: count / len(GRID) for said, count in plain.items()}
    close(exact_law(lambda: function(torch.rand(1, dtype=torch.float64))), wanted)


PYTHON = {
    "plus": lambda u: +u < 0.3,
    "minus": lambda u: -u <= -0.3,
    "abs": lambda u: abs(u - 0.4) < 0.3,
    "int": lambda u: int(4 * u - 1.5),
    "trunc": lambda u: math.trunc(4 * u - 1.5),
    "floor": lambda u: math.floor(3 * u),
    "power": lambda u: u**3 < 0.3,
    "root": lambda u: (1 - u) ** 0.5 < 0.3,
    "inverse": lambda u: 2 / u > 3,
    "inverse of a power": lambda u: 1 / u**2 > 3,
    "log": lambda u: np.log(2 * u) < -0.3,
    "exp": lambda u: np.exp(3 * np.log(u)) < 0.3,
    "nan": lambda u: (u < NAN, u > NAN, u * NAN < 1),
    "infinite": lambda u: (u < math.inf, u + math.inf > 1, (u - 0.4) * math.inf > 0),
    "nothing": lambda u: (u * 0 == 0, u >= 0, u <= 1, u > 1, u < 0),
    "true": bool,
    "several": lambda u: (u < 0.2, u < 0.7, 1 - u < 0.5),
    "powers of one number": lambda u: (u**2 < u**3, u**3 < u**2, u > u**2, u < u),
    "roots of one number": lambda u: (u**0.5 < u**0.25, -(u**2) < -(u**3), 1 / u < 1 / u**2),
    "multiples of one clock": lambda u: (
        -2 * np.log(u) < -3 * np.log(u),
        3 * np.log(u) < 2 * np.log(u),
        np.log(u) < np.log(u),
    ),
    "logarithms of one clock": lambda u: (
        np.log(-2 * np.log(u)) < np.log(-3 * np.log(u)),
        np.log(-np.log(u)) > 1 + np.log(-np.log(u)),
    ),
}


@pytest.mark.parametrize("name", PYTHON)
def test_one_number_of_numpy_has_the_law_of_a_grid(name):
    def said(u):
        found = PYTHON[name](u)
        return tuple(map(bool, found)) if isinstance(found, tuple) else int(found)

    plain = Counter(said(float(u)) for u in GRID[::2])
    wanted = {each: 2 * count / len(GRID) for each, count in plain.items()}
    close(exact_law(lambda: said(np.random.default_rng().random())), wanted)


RANKED = {
    "argmax": lambda x: x.argmax(),
    "argmax of a dimension": lambda x: x.argmax(0),
    "argmax of the last": lambda x: x.argmax(1),
    "argmax of the last by its number from behind": lambda x: x.argmax(dim=-1),
    "argmax that keeps it": lambda x: x.argmax(1, keepdim=True),
    "argmax of all that keeps its axes": lambda x: x.argmax(keepdim=True),
    "argmax that keeps it, by place": lambda x: x.argmax(0, True),
    "max that keeps the dimension, by place": lambda x: x.max(1, True).indices,
    "min of a dimension": lambda x: x.min(0).indices,
    "sort of the last, by place": lambda x: x.sort(1, True).indices,
    "argsort by place": lambda x: x.argsort(-1, True),
    "topk by place": lambda x: x.topk(2, 1, False).indices,
    "argmin": lambda x: x.argmin(),
    "argmin of a dimension": lambda x: torch.argmin(x, dim=0, keepdim=True),
    "max": lambda x: x.max(1).indices,
    "max that keeps the dimension": lambda x: x.max(0, keepdim=True)[1],
    "min": lambda x: torch.min(x, dim=-1).indices,
    "largest is in the first row": lambda x: x.max() == x[0].max(),
    "sort": lambda x: x.sort().indices,
    "sort of the last": lambda x: x.sort(1, descending=True).indices,
    "argsort": lambda x: x.argsort(),
    "argsort descending": lambda x: torch.argsort(x, dim=-1, descending=True),
    "topk": lambda x: x.topk(1).indices,
    "topk of the last": lambda x: x.topk(1, 1).indices,
    "two smallest": lambda x: x.topk(2, dim=-1, largest=False).indices,
    "below": lambda x: x[0] < x[1],
    "above": lambda x: x[:, 0] > x[:, 1],
    "maximum": lambda x: torch.maximum(x[0, 0], x[1, 1]) == x[0, 0],
    "minimum": lambda x: torch.minimum(x[0, 0], x[1, 1]) == x[0, 0],
    "transposed": lambda x: x.t().argmax(1),
    "flipped": lambda x: x.flip(0).argmax(),
}


def plainly(found):
    """Return what was said with its shape, which is part of it."""
    array = np.asarray(found.tolist() if hasattr(found, "tolist") else found)
    return array.shape, tuple(array.ravel().tolist())


@pytest.mark.parametrize("name", RANKED)
def test_ranks_of_four_numbers_have_the_law_of_all_orders(name):
    function = RANKED[name]
    orders = [torch.tensor(each).double().reshape(2, 2) / 4 for each in permutations(range(4))]
    plain = Counter(plainly(function(each)) for each in orders)
    assert exact_law(lambda: plainly(function(torch.rand(2, 2)))) == pytest.approx(
        {said: count / 24 for said, count in plain.items()}, abs=1e-12
    )


HALVES = {
    # What is said of numbers of which it is known in which half they are: of those in one half each
    # order is as likely as any other.
    "argmax": lambda x: x.argmax(),
    "argmin": lambda x: x.argmin(),
    "sort": lambda x: x.sort().indices,
    "two largest": lambda x: x.topk(2).indices,
    "two smallest": lambda x: x.topk(2, largest=False).indices,
    "of one minus them": lambda x: (1 - x).argmax(),
    "of their logarithms": lambda x: x.log().argmin(),
    "of one over them": lambda x: x.reciprocal().max(-1).indices,
}


@pytest.mark.parametrize("name", HALVES)
def test_numbers_that_are_known_to_lie_in_a_half_are_ranked(name):
    function = HALVES[name]

    def run():
        x = torch.rand(3, dtype=torch.float64)
        return plainly(torch.stack([x[0] < 0.5, x[1] < 0.5, x[2] < 0.5])), plainly(function(x))

    wanted = Counter()
    for halves in product((True, False), repeat=3):
        for order in permutations(range(3)):
            x = torch.tensor(order, dtype=torch.float64) / 8 + 0.125
            x[~torch.tensor(halves)] += 0.5
            wanted[((3,), halves), plainly(function(x))] += 1 / 48
    assert exact_law(run) == pytest.approx(dict(wanted), abs=1e-12)


CONSTANTS = {
    "argmax": (lambda x: x.argmax(), {0: 0.6, 1: 0.4}),
    "argmin": (lambda x: x.argmin(), {0: 0.4, 1: 0.6}),
    "max": (lambda x: x.max() > 0.4, {True: 0.6, False: 0.4}),
    "min": (lambda x: x.min() < 0.4, {True: 0.4, False: 0.6}),
    "sort": (lambda x: x.sort().indices, {(0, 1): 0.4, (1, 0): 0.6}),
    "topk": (lambda x: x.topk(1).indices, {(0,): 0.6, (1,): 0.4}),
    "argsort": (lambda x: x.argsort(descending=True), {(0, 1): 0.6, (1, 0): 0.4}),
    "nan": (lambda x: torch.cat([x, torch.tensor([NAN])]).argmax(), {2: 1}),
    "worst": (lambda x: torch.cat([x, torch.tensor([-math.inf])]).argmin(), {2: 1}),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_number_is_ranked_beside_a_constant(name):
    function, wanted = CONSTANTS[name]
    edge = torch.tensor([0.4], dtype=torch.float64)
    law = exact_law(lambda: function(torch.cat([torch.rand(1, dtype=torch.float64), edge])))
    assert law == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("function", ["topk", "sort", "argsort"])
def test_ranks_along_another_dimension_than_the_last_are_refused(function):
    arguments = (1, 0) if function == "topk" else (0,)
    with pytest.raises(CannotFollowError, match=f"in torch's {function} with dim="):
        exact_law(lambda: getattr(torch.rand(2, 2), function)(*arguments))
    getattr(torch.rand(2), function)(*arguments)


def known(number, low=-math.inf, high=math.inf):
    """Return a number of which it is known that it is between bounds; nothing if it is not."""
    return number if low < number < high else None


def clock():
    return np.random.default_rng().exponential()


APART = {
    # Of two kinds, which only what is known of each puts in order: both as they are, and the chance
    # that so much is known.
    "mirrored": (lambda u, e: (1 - u, known(e, 1.5)), math.exp(-1.5)),
    "plain": (lambda u, e: (known(u, high=0.25), known(e, 0.5)), 0.25 * math.exp(-0.5)),
    "mirrored square": (lambda u, e: ((1 - u) ** 2, known(e, 1.5)), math.exp(-1.5)),
    "one over the mirrored": (lambda u, e: (known(e, high=1.0), 1 / (1 - u)), 1 - math.exp(-1)),
    "negative": (lambda u, e: (-u, e), 1),
    "shifted": (lambda u, e: (u - 1, e), 1),
    "mirrored and known": (
        lambda u, e: (known(1 - u, high=0.25), known(e, 0.5)),
        0.25 * math.exp(-0.5),
    ),
    "one over": (lambda u, e: (known(e, high=1.0), 1 / u), 1 - math.exp(-1)),
    "logarithm": (lambda u, e: (known(np.log(e), high=math.log(0.5)), u - 0.5), 1 - math.exp(-0.5)),
    "multiple": (lambda u, e: (2 * u + 1, known(2 * e + 1, 3.0)), math.exp(-1)),
}


@pytest.mark.parametrize("name", APART)
def test_numbers_of_two_kinds_are_compared_where_bounds_put_them_in_order(name):
    function, chance = APART[name]

    def run():
        u, e = np.random.default_rng().random(), clock()
        pair = function(u, e)
        return None if None in pair else (bool(pair[0] < pair[1]), bool(pair[1] < pair[0]))

    law = exact_law(run)
    assert law.pop(None, 0) == pytest.approx(1 - chance, abs=1e-15)
    assert law == {(True, False): pytest.approx(chance, abs=1e-15)}


@pytest.mark.parametrize(
    ("low", "ways"), [(1e-9, 2), (1e-12, 2), (0.0, 2), (-1.0, 2), (2e-9, 3), (0.1, 3)]
)
def test_a_bound_that_only_keeps_a_number_from_0_is_no_way_of_its_own(low, ways):
    def run():
        return bool(clipped(np.random.default_rng().random(), low, None) < 0.3)

    assert exact_law(run, most=ways) == pytest.approx({True: 0.3, False: 0.7}, abs=1e-15)
    if ways > 2:
        with pytest.raises(CannotFollowError, match="more than 2 ways"):
            exact_law(run, most=2)


def test_a_bound_near_0_bounds_numbers_below_0_and_plain_ones():
    def run():
        return clipped(np.random.default_rng().random() - 0.4, 1e-10, None) < 0

    assert exact_law(run) == {False: 1}
    assert [clipped(x, 1e-10, 0.5) for x in (-1.0, 0.0, 0.25, 2.0)] == [1e-10, 1e-10, 0.25, 0.5]
    assert [clipped(x, None, 0.5) for x in (-1.0, 0.5, 2.0)] == [-1.0, 0.5, 0.5]


ERRORS = {
    "'?a'? and '?p'? must have same size": lambda: np.random.choice(3, p=[0.5, 0.5]),
    "probabilities are not non-negative": lambda: np.random.choice(2, p=[-0.5, 1.5]),
    "probabilities do not sum to 1": lambda: np.random.choice(2, p=[0.5, 0.5 + 1e-7]),
    "probabilities do not sum to": lambda: np.random.choice(2, p=[0.5, 0.5 - 1e-7]),
    "Fewer non-zero entries in p than size": lambda: np.random.choice(2, 2, False, [0.0, 1.0]),
}


@pytest.mark.parametrize("what", ERRORS)
def test_masses_are_refused_as_numpy_refuses_them(what):
    for call in (ERRORS[what], lambda: exact_law(ERRORS[what])):
        with pytest.raises(ValueError, match=what):
            call()


CALLS = {
    "uniform": (lambda rng: rng.uniform() < 0.3, 0.3),
    "exponential": (lambda rng: rng.exponential() < 0.3, 1 - math.exp(-0.3)),
    "standard exponential": (lambda rng: rng.standard_exponential() < 0.3, 1 - math.exp(-0.3)),
    "gumbel": (lambda rng: rng.gumbel() < 0.3, math.exp(-math.exp(-0.3))),
    "gumbel of a place": (lambda rng: rng.gumbel(1) < 0.3, math.exp(-math.exp(0.7))),
    "one of a size": (lambda rng: rng.gumbel(size=1)[0] < 0.3, math.exp(-math.exp(-0.3))),
    "masses that sum to 1 but for 5e-9": (lambda rng: rng.choice(2, p=[0.3, 0.7 + 5e-9]) == 0, 0.3),
    "one of two that is left": (lambda rng: rng.multinomial(1, [0.3, 0.6])[1] == 0, 0.3),
}


@pytest.mark.parametrize("kind", ["default_rng", "RandomState"])
@pytest.mark.parametrize("name", CALLS)
def test_calls_of_numpy_have_its_defaults(name, kind):
    function, chance = CALLS[name]
    assert exact_law(lambda: bool(function(getattr(np.random, kind)())))[True] == pytest.approx(
        chance, abs=1e-8
    )
