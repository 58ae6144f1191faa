"""What arithmetic makes of a random number, how numbers race, and which is first: by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest
from each_case import each
from scipy.special import gammainc, gammaincc

from otspec.chance import CannotFollowError
from otspec.conformance import exact_law
from otspec.conformance.following.order import clipped, distinct, extreme, place_among, ranked
from otspec.conformance.following.products import Products, Racer, _integral
from otspec.conformance.following.streams import current
from otspec.conformance.following.symbols import (
    exponential_number,
    gumbel_number,
    uniform_number,
)
from otspec.conformance.following.uniform import Uniform

INF, NAN = math.inf, math.nan
UNIFORM, CLOCK = (False, False), (False, True)  # mirrored, and of an exponential number
MIRRORED = (True, False)


class NoChance:
    """Refuses all choices: what is tried makes none."""

    @staticmethod
    def refused(what):
        return CannotFollowError(what)


def uniform():
    return uniform_number(NoChance())


def clock():
    return exponential_number(NoChance())


def gumbel():
    return gumbel_number(NoChance())


def log(number):
    return number.log()


def exp(number):
    return number.exp()


def sqrt(number):
    return number.sqrt()


@each(
    "made,wanted",
    [
        (uniform, (UNIFORM, 0, 1, 1)),
        (clock, (CLOCK, 0, 1, 1)),
        (gumbel, (CLOCK, 0, -1, 0)),
        (lambda: +uniform(), (UNIFORM, 0, 1, 1)),
        (lambda: -(uniform() + 3), (UNIFORM, -3, -1, 1)),
        (lambda: 2 + uniform() + 1, (UNIFORM, 3, 1, 1)),
        (lambda: uniform() - 2, (UNIFORM, -2, 1, 1)),
        (lambda: 2 - uniform(), (UNIFORM, 2, -1, 1)),
        (lambda: 3 * (uniform() + 1) * 2, (UNIFORM, 6, 6, 1)),
        (lambda: (uniform() + 1) / 4, (UNIFORM, Fraction(1, 4), Fraction(1, 4), 1)),
        (lambda: 3 / uniform(), (UNIFORM, 0, 3, -1)),
        (lambda: 1 / (2 * uniform()), (UNIFORM, 0, Fraction(1, 2), -1)),
        (lambda: (3 * uniform()) ** 2, (UNIFORM, 0, 9, 2)),
        (lambda: (uniform() / 2) ** 2, (UNIFORM, 0, 0.25, 2)),
        (lambda: (uniform() ** 2) ** 3, (UNIFORM, 0, 1, 6)),
        (lambda: sqrt(4 * uniform()), (UNIFORM, 0, 2, Fraction(1, 2))),
        (lambda: (-2 * uniform()) ** -1, (UNIFORM, 0, Fraction(-1, 2), -1)),
        (lambda: uniform() * 0, None),
        # s (1 − u) has no shift.
        (lambda: (3 - 3 * uniform()) ** 2, (MIRRORED, 0, 9, 2)),
        (lambda: (2 * (1 - uniform())) ** -1, (MIRRORED, 0, Fraction(1, 2), -1)),
        # A shift that only keeps a number from 0 is none.
        (lambda: (uniform() + 1e-9) ** 2, (UNIFORM, 0, 1, 2)),
        (lambda: (-2 * uniform() - 2e-9) ** -1, (UNIFORM, 0, Fraction(-1, 2), -1)),
        # Logarithms: of u, minus an exponential number.
        (lambda: log(uniform()), (CLOCK, 0, -1, 1)),
        (lambda: log(uniform() ** 3), (CLOCK, 0, -3, 1)),
        (lambda: log(5 * uniform()), (CLOCK, math.log(5), -1, 1)),
        (lambda: log(1 - uniform()), ((True, True), 0, -1, 1)),
        (lambda: log(clock()), (CLOCK, 0, 1, 0)),
        (lambda: log(5 * clock() ** 2), (CLOCK, math.log(5), 2, 0)),
        # Exponentials, their inverse.
        (lambda: exp(-clock()), (UNIFORM, 0, 1, 1)),
        (lambda: exp(math.log(2) - 3 * clock()), (UNIFORM, 0, 2, 3)),
        (lambda: exp(clock().log()), (CLOCK, 0, 1, 1)),
        (lambda: exp(math.log(2) + 3 * clock().log()), (CLOCK, 0, 2, 3)),
        (lambda: exp(gumbel()), (CLOCK, 0, 1, -1)),
        (lambda: 2 ** -clock(), (UNIFORM, 0, 1, math.log(2))),
    ],
)
def test_what_arithmetic_makes_of_a_number(made, wanted):
    number = made()
    if wanted is None:
        assert number == 0
        return
    kind, *numbers = wanted
    assert (number.mirrored, number.clock) == kind
    assert [number.shift, number.factor, number.power] == pytest.approx(numbers, rel=1e-15)
    exact = all(isinstance(each, int | Fraction) for each in numbers[:2])
    assert not exact or (number.shift, number.factor) == tuple(numbers[:2])


def test_infinity_and_nan_of_arithmetic():
    number = uniform()
    assert number + INF == INF - number == number * INF == INF
    assert number - INF == number * -INF == -INF
    assert all(map(math.isnan, (number + NAN, NAN * number, number / NAN, number**NAN)))
    assert number / INF == 0


@each(
    "made,race",
    [
        # Which function of a clock times a factor; the factor; whether the function rises.
        (uniform, (("uniform", 0, 1, True), 1, False)),
        (lambda: 2 - 3 * uniform(), (("uniform", 2, -3, True), 1, True)),
        (lambda: 1 - uniform() / 2, (("uniform", 1, Fraction(-1, 2), True), 1, True)),
        (lambda: uniform() ** 4, (("uniform", 0, 1, True), 4, False)),
        (lambda: uniform() ** -0.5, (("uniform", 0, 1, False), 0.5, True)),
        (lambda: uniform() ** -4, (("uniform", 0, 1, False), 4, True)),
        (lambda: -(uniform() ** -4), (("uniform", 0, -1, False), 4, False)),
        (clock, (("power", 0, True, 1), 1, True)),
        (lambda: 1 - 3 * clock(), (("power", 1, False, 1), 3, False)),
        (lambda: 9 * clock() ** 2, (("power", 0, True, 2), 3, True)),
        (lambda: 8 / clock(), (("power", 0, True, -1), Fraction(1, 8), False)),
        (lambda: -8 / clock(), (("power", 0, False, -1), Fraction(1, 8), True)),
        (lambda: log(clock()), (("log", 1), 1, True)),
        (lambda: gumbel() + 2, (("log", -1), math.exp(-2), False)),
        (lambda: 3 * clock().log() + 6, (("log", 3), math.exp(2), True)),
    ],
)
def test_which_race_a_number_runs_in(made, race):
    (kind, factor, rising), (found, of_clock, up) = race, made().race()
    assert (found, up) == (kind, rising)
    assert of_clock == pytest.approx(factor, rel=1e-15)


def bounded(number, low, high):
    number.uniform.low, number.uniform.high = low, high
    return number


@each(
    "made,ends",
    [
        (uniform, (0, 1)),
        (lambda: bounded(uniform(), 0.25, 0.5), (0.25, 0.5)),
        (lambda: bounded(3 - 2 * uniform(), 0.25, 0.5), (2, 2.5)),
        (lambda: bounded((1 - uniform()) ** 2, 0.25, 0.5), (0.25, 0.5625)),
        (lambda: bounded(1 / uniform(), 0.25, 0.5), (2, 4)),
        (lambda: 1 / uniform(), (1, INF)),
        (clock, (0, INF)),
        (lambda: bounded(clock(), math.exp(-2), math.exp(-1)), (1, 2)),
        (lambda: log(clock()), (-INF, INF)),
        (lambda: bounded(gumbel() + 1, math.exp(-2), math.exp(-1)), (1 - math.log(2), 1)),
    ],
)
def test_between_which_ends_a_number_lies(made, ends):
    assert made()._ends() == pytest.approx(ends, rel=1e-15)


@each(
    "function,what",
    [
        (lambda: (uniform() - 0.5) ** 2, "takes powers of a random number plus another number"),
        (lambda: (uniform() + 1.1e-9) ** 2, "takes powers of a random number plus another"),
        (lambda: (1 - clock()) ** 2, "takes powers of a random number plus another number"),
        (lambda: (1 - uniform() ** 2) ** 2, "takes powers of a random number plus another number"),
        ((uniform() + 1).log, "takes the logarithm of a random number plus another"),
        ((-uniform()).log, "logarithm of a random number that may be negative"),
        (lambda: log(gumbel()), "logarithm of a random number that may be negative"),
        (lambda: (-uniform()) ** 2, "powers of a random number that may be negative"),
        (lambda: gumbel() ** -1, "powers of a random number that may be negative"),
        (lambda: exp(uniform()), "takes the exponential of a random number"),
        ((clock() ** 2).exp, "takes the exponential of a random number"),
        (lambda: uniform() + uniform(), "adds two random numbers"),
        (lambda: uniform() - clock(), "subtracts two random numbers"),
        (lambda: uniform() / uniform(), "divides two random numbers"),
        (lambda: 2 * uniform() * (uniform() + 1), "multiplies two random numbers"),
        (lambda: uniform() * clock(), "multiplies two random numbers"),
        (lambda: clock() * clock(), "multiplies two random numbers"),
        (lambda: float(uniform()), "turns a random number into a float, or stores it among"),
        (lambda: [1][uniform()], "takes a random number for an integer"),
        (lambda: int(clock()), "rounds a random number without bounds"),
        (lambda: int(1e9 * uniform()), "rounds a random number without bounds"),
        (lambda: int(-1e9 * uniform()), "rounds a random number without bounds"),
        (lambda: math.floor(uniform() - 0.5), "rounds a random number that may be negative"),
    ],
)
def test_what_of_arithmetic_is_refused(function, what):
    with pytest.raises(CannotFollowError, match=f"it {what}|{what}"):
        function()


@each(
    "compared,wanted",
    [
        (lambda: (uniform() < 0, uniform() > 0, uniform() <= 1, uniform() > 1), (0, 1, 1, 0)),
        (lambda: (uniform() ** 2 < -0.5, clock() ** 2 < -0.5, clock() < 0), (0, 0, 0)),
        (lambda: (1 / uniform() < -0.5, 1 / uniform() < 0, 1 / uniform() < 1), (0, 0, 0)),
        (lambda: (-1 / uniform() < -0.5, 1 / clock() > -2), (1, 1)),
        (lambda: (log(uniform()) < 0, log(uniform()) > 0, log(uniform()) < 3), (1, 0, 1)),
        (lambda: (gumbel() < INF, gumbel() > -INF, clock() < INF), (1, 1, 1)),
        (lambda: (1 - uniform() < 0, 1 - uniform() < 1, 2 - uniform() > 1), (0, 1, 1)),
        (lambda: (uniform() < NAN, uniform() > NAN, clock() <= NAN, clock() >= NAN), (0, 0, 0, 0)),
        (
            lambda: (uniform() < uniform() + 1, uniform() - 1 > uniform(), clock() > -clock()),
            (1, 0, 1),
        ),
        (lambda: (uniform() + 1 < uniform(), clock() > uniform() - 1), (0, 1)),
    ],
)
def test_what_is_certain_is_no_choice(compared, wanted):
    assert compared() == tuple(map(bool, wanted))


LATER = "a random number with a number, and then with another random number"


@each(
    "function,what",
    [
        (lambda _u, _v, e, f: e < 1 and f < 1 and e < 2 * f, LATER),
        (lambda u, v, *_: u < 0.5 and 1 - v < 0.5 and u**2 < (1 - v) ** 2, LATER),
        (lambda u, v, e, _: e < u * v, "random numbers of different kinds with each other"),
        (lambda u, v, *_: u * v < uniform_number(current()), "a product of random numbers with"),
        (lambda u, v, *_: u < 1 - v, "random numbers of different kinds with each other"),
        (lambda u, *_: u**2 < (1 - u) ** 2, "a random number with itself, changed"),
    ],
)
def test_comparisons_that_are_refused(function, what):
    with pytest.raises(CannotFollowError, match=f"it compares {what}"):
        exact_law(lambda: function(*uniforms(2), *clocks(2)))


def test_the_same_number_is_equal_and_has_one_hash():
    number = uniform()
    assert number == number + 0
    assert hash(number) == hash(2 * number / 2)
    for other in (uniform(), number + 1, 2 * number, number**2, 1 - number, 1, "u"):
        assert number != other
    assert bool(number)


def test_whole_parts_have_the_lengths_of_their_intervals():
    def rounded():
        number = 3.5 * np.random.default_rng().random() - 1.25
        return int(number), math.trunc(number)

    law = exact_law(rounded)
    # From −1.25 to 2.25, towards 0.
    lengths = {(-1, -1): 0.25, (0, 0): 2, (1, 1): 1, (2, 2): 0.25}
    assert law == pytest.approx({whole: length / 3.5 for whole, length in lengths.items()})
    assert exact_law(lambda: int(np.random.default_rng().random()), most=1) == {0: 1}
    with pytest.raises(CannotFollowError, match="more than 1 ways"):  # no refusal to round
        exact_law(lambda: int((1e9 - 1) * np.random.default_rng().random()), most=1)


def test_distinct_tokens_of_whole_masses_have_fractions():
    law = exact_law(lambda: tuple(each.value() for each in distinct(current(), [1, 2, 3], 2)))
    assert law[0, 1] == Fraction(1, 6) * Fraction(2, 5)
    assert all(isinstance(mass, Fraction) for mass in law.values())


@each("masses,count", [([1, 0, 2], 3), ([Fraction(1, 2), 0], 2), ([0, 0], 1)])
def test_more_distinct_tokens_than_have_a_chance_are_refused(masses, count):
    def drawn():
        return distinct(current(), masses, count)[-1].value()

    with pytest.raises(CannotFollowError, match="it draws more distinct tokens than have a chance"):
        exact_law(drawn)


def test_a_size_is_the_distance_from_0():
    def sized():
        number = np.random.default_rng().random() - 0.25
        size = abs(number)
        return bool(size < 0.25), bool(size < 0.5)

    # Below 1/2 the distance from 1/4 is less than 1/4.
    law = {(True, True): 0.5, (False, True): 0.25, (False, False): 0.25}
    assert exact_law(sized) == pytest.approx(law)


def test_places_of_plain_numbers():
    """Of equal ones the first; NaN is both the largest and the smallest."""
    for largest, wanted in ((True, [1, 3, 0, 2]), (False, [2, 0, 1, 3])):
        assert ranked([2, 5, 1, 5], largest, 4) == wanted
        assert ranked([2, 5, 1, 5], largest, 1) == wanted[:1]
        assert extreme([1, NAN, 7, NAN], largest) == 1
        assert extreme([4], largest) == extreme([4, 4], largest) == 0
    edges = [1, 2, 2, 3]
    assert [place_among(edges, x, right=False) for x in (0, 1, 2, 2.5, 3, 4)] == [0, 0, 1, 3, 3, 4]
    assert [place_among(edges, x, right=True) for x in (0, 1, 2, 2.5, 3, 4)] == [0, 1, 3, 3, 4, 4]
    assert [clipped(x, 1, 2) for x in (0, 1, 1.5, 2, 3)] == [1, 1, 1.5, 2, 2]
    assert clipped(0, None, 2) == 0
    assert clipped(3, 1, None) == 3


def uniforms(count):
    return [uniform_number(current()) for _ in range(count)]


def one_alone():
    """A number that is the largest for want of others ran in no race."""
    (u,) = uniforms(1)
    return extreme([u], True), bool(u < 0.25)


def half_known():
    u, v = uniforms(2)
    return bool(u < 0.5), extreme([u, v], True)


def clocks(count, *places):
    """Return exponential numbers, some of which may come twice."""
    found = [exponential_number(current()) for _ in range(count)]
    return [found[place] for place in places] or found


@each(
    "function,law,ways",
    [
        # Clocks of rates 1, 1/2 and 1/3: one choice finds the first.
        (lambda: extreme([i * e for i, e in enumerate(clocks(3), 1)], False),
         {0: 6 / 11, 1: 3 / 11, 2: 2 / 11}, 3),
        # The largest of three: which is last, after whoever is first.
        (lambda: extreme(clocks(3), True), {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}, 6),
        # Multiples are no race for the largest; of uniform numbers the largest is the first clock.
        (lambda: extreme([2 * e for e in clocks(2)], True), {0: 1 / 2, 1: 1 / 2}, 2),
        (lambda: extreme([2 * e for e in clocks(3)], True), {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}, 6),
        (lambda: extreme(uniforms(3), True), {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}, 3),
        (lambda: extreme(uniforms(3), False), {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}, 6),
        (one_alone, {(0, True): 1 / 4, (0, False): 3 / 4}, 2),
        # One number is known to be below 1/2, or not.
        (half_known, {(True, 0): 1 / 8, (True, 1): 3 / 8, (False, 0): 3 / 8, (False, 1): 1 / 8}, 6),
        # A bound below a number is no way of its own.
        (lambda: clipped(uniforms(1)[0] - 0.4, -0.5, None) < 0.6, {True: 1}, 1),
        (lambda: tuple(each.value() for each in distinct(current(), [1, 0, 2, 3], 3)),
         {(0, 2, 3): 1 / 6 * 2 / 5, (0, 3, 2): 1 / 6 * 3 / 5, (2, 0, 3): 1 / 3 / 4,
          (2, 3, 0): 1 / 3 * 3 / 4, (3, 0, 2): 1 / 2 / 3, (3, 2, 0): 1 / 2 * 2 / 3}, 6),
        (lambda: int(distinct(current(), [1, 0, 3], 2)[0].value()), {0: 1 / 4, 2: 3 / 4}, 2),
        # The first place of a number that is there twice.
        (lambda: extreme(clocks(2, 0, 0, 1), False), {0: 1 / 2, 2: 1 / 2}, 2),
        (lambda: extreme(clocks(2, 1, 0, 0), True), {0: 1 / 2, 1: 1 / 2}, 2),
        # A constant beside clocks: none is below it, or one of those that are.
        (lambda: extreme([*clocks(1), math.log(2)], False), {0: 1 / 2, 1: 1 / 2}, 2),
        (lambda: extreme([math.log(2), *clocks(1)], True), {0: 1 / 2, 1: 1 / 2}, 2),
        (lambda: extreme([0, *clocks(2)], True), {1: 1 / 2, 2: 1 / 2}, 2),
        (lambda: extreme([0, *clocks(2)], False), {0: 1}, 1),
    ],
)  # fmt: skip
def test_the_first_of_random_numbers(function, law, ways):
    assert exact_law(function, most=ways) == pytest.approx(law, abs=1e-15)
    if ways > 1:
        with pytest.raises(CannotFollowError, match=f"more than {ways - 1} ways"):
            exact_law(function, most=ways - 1)


@each(
    "bounds,chance",
    [
        # Of exponential times t_1 < t_2 < t_3, by their gamma laws.
        ([(0, INF)], 1),
        ([(0, 2)], 1 - math.exp(-2)),
        ([(1, 2)], math.exp(-1) - math.exp(-2)),
        ([(0, INF), (0, 2)], 1 - 3 * math.exp(-2)),
        ([(0, INF), (2, INF)], 3 * math.exp(-2)),
        ([(0, 1), (2, INF)], math.exp(-1) * math.exp(-1)),
        ([(0, INF), (0, INF), (0, 2)], 1 - 5 * math.exp(-2)),
        ([(0, 1), (1, 2), (2, INF)], math.exp(-2)),
        ([(1, 2), (0, 1)], 0),
        # More events than factorials of floats go: the last is at a time of the gamma law.
        ([(0, INF)] * 199 + [(0, 200)], gammainc(200, 200)),
        ([(0, INF)] * 999 + [(1_000, INF)], gammaincc(1_000, 1_000)),
    ],
)
def test_the_chance_of_times_between_bounds(bounds, chance):
    digits = 1e-15 * max(1, math.lgamma(len(bounds) + 1))  # of the logarithm of the factorial
    assert _integral(bounds) == pytest.approx(chance, abs=digits)


def test_a_product_knows_its_bounds():
    products = Products(NoChance(), 0.25, 1)
    assert products.bounds == [(0, pytest.approx(math.log(4)))]
    product = products.longer(0, Uniform(NoChance()))
    assert (product.low, product.high) == (0, 1)
    assert not product.below(0)
    assert product.below(1)
    assert products.below(0, 0.25) is False
    products.bounds[1] = (math.log(2), math.log(8))
    assert (product.low, product.high) == pytest.approx((1 / 8, 1 / 2), rel=1e-15)


@each("factor,alike", [(2, True), (2 * (1 + 9e-7), True), (2 * (1 + 2e-6), False), (3, False)])
def test_factors_that_count_as_the_same(factor, alike):
    assert Racer(NoChance(), 2).alike(factor) == alike


def test_a_uniform_number_knows_what_is_beyond_its_bounds():
    uniform = Uniform(NoChance())
    assert not uniform.narrowed
    uniform.low, uniform.high = 0.25, 0.5
    assert uniform.narrowed
    assert uniform.bounds == (0.25, 0.5)
    assert [uniform.below(x) for x in (0.0, 0.25, 0.5, 1.0, NAN)] == [
        False,
        False,
        True,
        True,
        False,
    ]
    assert (uniform > 0.25, uniform >= 0.5, uniform <= 0.5) == (True, False, True)
    for low, high in ((0, 0.5), (0.5, 1)):
        uniform.low, uniform.high = low, high
        assert uniform.narrowed
        with pytest.raises(CannotFollowError, match="with a number, and then with another random"):
            uniform.racer(1, mirrored=False)
