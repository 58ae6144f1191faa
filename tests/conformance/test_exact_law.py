"""The exact laws of code that draws with NumPy and ``random``, compared with what they are."""

import bisect
import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from otspec.chance import CannotFollowError
from otspec.conformance import exact_law

P = [0.2, 0.3, 0.5]
TOKENS = dict(enumerate(P))
PAIRS = {(i, j): P[i] * P[j] for i in range(3) for j in range(3)}
DISTINCT = {(i, j): P[i] * P[j] / (1 - P[i]) for i in range(3) for j in range(3) if i != j}


def below(chance):
    return {True: chance, False: 1 - chance}


BELOW = below(0.3)


def gumbels():
    return -np.log(-np.log(np.random.rand(3)))


def guarded_gumbels():
    return -np.log(-np.log(np.random.default_rng().random(3) + 1e-20) + 1e-20)


def by_hand(u):
    for token, edge in enumerate(np.cumsum(P)):
        if u <= edge:
            return token
    return 2


def kept_generator(rng=np.random.default_rng):
    return rng(3).random() < 0.3


LAWS = {
    "random": (lambda: random.random() < 0.3, BELOW),
    "mirrored": (lambda: 1 - random.random() < 0.3, BELOW),
    "scaled": (lambda: random.random() * 2 <= 0.6, BELOW),
    "ratio": (lambda: 0.3 / random.random() >= 1, BELOW),
    "logarithm": (lambda: np.log(np.random.random()) < math.log(0.3), BELOW),
    "logarithm of the mirrored": (lambda: np.log(1 - np.random.rand()) < math.log(0.3), BELOW),
    "square root": (lambda: np.sqrt(np.random.rand()) < math.sqrt(0.3), BELOW),
    "bounds": (lambda: random.uniform(1, 3) < 1.6, BELOW),
    "exponential": (lambda: random.expovariate(2) < -math.log(0.7) / 2, BELOW),
    "array": (lambda: np.random.rand(2) < P[:2], {
        (True, True): 0.06, (True, False): 0.14, (False, True): 0.24, (False, False): 0.56,
    }),
    "used twice": (lambda: [u := random.random(), (u < 0.3, u < 0.5)][1], {
        (True, True): 0.3, (False, True): 0.2, (False, False): 0.5,
    }),
    "integer": (lambda: int(random.random() * 3), dict.fromkeys(range(3), 1 / 3)),
    "rounded towards 0": (lambda: int(random.uniform(-1.5, 1)), {-1: 0.2, 0: 0.8}),
    "by hand": (lambda: by_hand(random.random()), TOKENS),
    "bisect": (lambda: bisect.bisect(np.cumsum(P).tolist(), random.random()), TOKENS),
    "searchsorted": (lambda: np.searchsorted(np.cumsum(P), np.random.rand()), TOKENS),
    "several searched": (lambda: np.searchsorted(np.cumsum(P), np.random.rand(2)), PAIRS),
    "argmax of a mask": (lambda: np.argmax(np.cumsum(P) > np.random.rand()), TOKENS),
    "choices": (lambda: random.choices(range(3), P)[0], TOKENS),
    "cumulative": (lambda: random.choices(range(3), cum_weights=[2, 5, 10])[0], TOKENS),
    "choice": (lambda: np.random.choice(3, p=P), TOKENS),
    "choice of arrays": (lambda: np.random.choice([7, 8, 9], p=P) - 7, TOKENS),
    "generator": (lambda: np.random.default_rng(1).choice(3, p=P), TOKENS),
    "state": (lambda: np.random.RandomState(1).choice(3, p=P), TOKENS),
    "two choices": (lambda: np.random.choice(3, 2, p=P), PAIRS),
    "two distinct": (lambda: np.random.choice(3, 2, False, P), DISTINCT),
    "multinomial": (lambda: np.random.multinomial(1, P).argmax(), TOKENS),
    "counts": (lambda: np.random.multinomial(2, P)[0], {0: 0.64, 1: 0.32, 2: 0.04}),
    "binomial": (lambda: np.random.binomial(2, 0.2), {0: 0.64, 1: 0.32, 2: 0.04}),
    "integers": (lambda: np.random.default_rng().integers(1, 3), {1: 0.5, 2: 0.5}),
    "randrange": (lambda: random.randrange(2), {0: 0.5, 1: 0.5}),
    "race": (lambda: np.argmax(P / np.random.exponential(size=3)), TOKENS),
    "race backwards": (lambda: np.argmin(np.random.standard_exponential(3) / P), TOKENS),
    "exponential of a logarithm": (
        lambda: np.exp(np.log(np.random.exponential())) < 0.5, below(1 - math.exp(-0.5)),
    ),
    "exponential of a Gumbel number": (
        lambda: np.exp(-np.random.gumbel()) < 0.5, below(1 - math.exp(-0.5)),
    ),
    "kind of a choice": (
        lambda: (type(np.random.choice(1)).__name__, np.random.choice(1, ()).shape),
        {("int", ()): 1},
    ),
    "gumbel": (lambda: np.argmax(np.log(P) + np.random.gumbel(size=3)), TOKENS),
    "gumbels": (lambda: np.argmax(np.log(P) + gumbels()), TOKENS),
    "guarded": (lambda: np.argmax(np.log(P) + guarded_gumbels()), TOKENS),
    "powers": (lambda: np.argmax(np.random.rand(3) ** (1 / np.array(P))), TOKENS),
    "order": (lambda: np.argsort(np.random.exponential(size=3) / P)[:2], DISTINCT),
    "permutation": (lambda: np.random.permutation(3)[:2], dict.fromkeys(DISTINCT, 1 / 6)),
    "shuffle": (lambda: [x := [0, 1], np.random.shuffle(x), x[0]][2], {0: 0.5, 1: 0.5}),
    "shuffled": (lambda: random.sample(range(3), 1)[0], dict.fromkeys(range(3), 1 / 3)),
    "two distinct of two": (
        lambda: tuple(np.random.choice(3, 2, False, [0.2, 0.8, 0])), {(0, 1): 0.2, (1, 0): 0.8}
    ),
    # Calls of Python with all their arguments.
    "bounds below 0": (lambda: random.uniform(-2, 0.5) < -1.25, BELOW),
    "exponential of a rate": (lambda: random.expovariate(0.5) < 3, below(1 - math.exp(-1.5))),
    "range with a step": (lambda: random.randrange(3, 9, 2), dict.fromkeys((3, 5, 7), 1 / 3)),
    "range from a start": (lambda: random.randrange(-1, 1), {-1: 0.5, 0: 0.5}),
    "both ends": (lambda: random.randint(2, 4), dict.fromkeys((2, 3, 4), 1 / 3)),
    "bits": (lambda: random.getrandbits(2), dict.fromkeys(range(4), 1 / 4)),
    "cumulative of two": (
        lambda: tuple(random.choices("ab", cum_weights=[1, 4], k=2)),
        {("a", "a"): 1 / 16, ("a", "b"): 3 / 16, ("b", "a"): 3 / 16, ("b", "b"): 9 / 16},
    ),
    # Calls of NumPy with all their arguments: the distribution functions are those of textbooks.
    "uniform of bounds": (lambda: np.random.uniform(2, 6) < 3, {True: 1 / 4, False: 3 / 4}),
    "uniform of many bounds": (
        lambda: tuple(np.random.uniform([0, -2], [10, 2]) < [1, 1]),
        {(True, True): .1 * .75, (True, False): .1 * .25, (False, True): .9 * .75,
         (False, False): .9 * .25},
    ),
    "exponential of a mean": (lambda: np.random.exponential(4) < 3, below(1 - math.exp(-3 / 4))),
    "exponentials of means": (
        lambda: np.argmin(np.random.exponential([1, 3, 1.5])), {0: 0.5, 1: 1 / 6, 2: 1 / 3}
    ),
    "gumbel of a place": (lambda: np.random.gumbel(2) < 3, below(math.exp(-math.exp(-1)))),
    "gumbel of a place and a scale": (
        lambda: np.random.gumbel(2, 3) < 4, below(math.exp(-math.exp(-2 / 3))),
    ),
    "gumbel of a negative place": (
        lambda: np.random.default_rng().gumbel(loc=-1, scale=2, size=1)[0] < 0,
        below(math.exp(-math.exp(-1 / 2))),
    ),
    "gumbels of places": (lambda: np.argmax(np.random.gumbel(np.log(P).tolist())), TOKENS),
    "randint of bounds": (lambda: np.random.randint(3, 5), {3: 0.5, 4: 0.5}),
    "randint below": (lambda: np.random.randint(2), {0: 0.5, 1: 0.5}),
    "integers with their end": (
        lambda: np.random.default_rng().integers(4, 6, endpoint=True),
        dict.fromkeys((4, 5, 6), 1 / 3),
    ),
    "a choice without masses": (lambda: np.random.choice(4), dict.fromkeys(range(4), 1 / 4)),
    "a row of an array": (
        lambda: tuple(np.random.default_rng().choice([[1, 2], [3, 4]])),
        {(1, 2): 0.5, (3, 4): 0.5},
    ),
    "many trials": (lambda: tuple(np.random.binomial(1, 0.2, 2)), {
        (0, 0): 0.64, (0, 1): 0.16, (1, 0): 0.16, (1, 1): 0.04,
    }),
    "rows of counts": (
        lambda: np.random.multinomial(1, [0.2, 0.8], 2).tolist()[1][0], {0: 0.8, 1: 0.2}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAWS)
def test_a_law_is_right(name):
    function, wanted = LAWS[name]
    law = exact_law(function)
    assert law.keys() == wanted.keys()
    assert all(math.isclose(law[each], wanted[each], abs_tol=1e-14) for each in wanted)


def test_fractions_stay_fractions():
    third = Fraction(1, 3)
    assert exact_law(lambda: 1 - random.random() * 2 < third) == {
        True: 2 * third, False: third
    }  # fmt: skip
    law = exact_law(lambda: random.choices(range(3), [third, 0, 2 * third])[0])
    assert law == {0: third, 2: 2 * third}


def test_a_race_of_fractions_is_exact():
    def run():
        clocks = [-random.expovariate(rate) for rate in (Fraction(1, 6), Fraction(5, 6))]
        return clocks.index(max(clocks))

    assert exact_law(run) == {0: Fraction(1, 6), 1: Fraction(5, 6)}


REFUSED = {
    "adds two random numbers": lambda: random.random() + random.random() < 1,
    "multiplies two random numbers": lambda: random.random() * random.expovariate(1) < 0.5,
    "products of random numbers": lambda: np.prod(np.random.rand(2)) * np.prod(np.random.rand(2)),
    "and then compares it with a number": lambda: [u := np.random.rand(2), u[0] * u[1], u[1] < 0.5],
    "that is used elsewhere": lambda: [u := np.random.rand(2), u[1] < 0.5, u[0] * u[1] < 0.5][2],
    "by two others": lambda: [u := np.random.rand(3), u[0] * u[1], u[0] * u[2]][1:],
    "into a float": lambda: float(random.random()),
    "stores it among floats": lambda: np.array([np.random.rand()], dtype=float),
    "without bounds": lambda: int(random.expovariate(1)),
    "returns a random number": lambda: [random.random()],
    "numpy.random.normal": lambda: np.random.normal() < 0,
    "normal of NumPy's generators": lambda: np.random.default_rng().normal() < 0,
    "random.gauss": lambda: random.gauss(0, 1) < 0,
    "random.seed": lambda: random.seed(1),
    "among chances": lambda: random.choices(range(2), [0, 0]),
    "may be negative": lambda: (-random.random()) ** 0.5,
    "plus another number": lambda: 1 / (2 + random.random()) < 0.4,
    "random numbers of different kinds": lambda: random.random() < random.expovariate(1),
    "another one, or multiplies them": lambda: [
        u := np.random.rand(2),
        u[0] < u[1],
        u[0] < 0.5,
    ][1:],
    "follows random choices inside": lambda: exact_law(random.random),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_followed_is_named(what):
    with pytest.raises(CannotFollowError, match=what):
        exact_law(REFUSED[what])


def test_a_refusal_that_the_code_catches_is_one():
    def run():
        try:
            return float(random.random()) < 0.5
        except CannotFollowError:
            return True

    with pytest.raises(CannotFollowError, match="into a float"):
        exact_law(run)


def test_a_race_cannot_be_run_again_with_other_rates():
    def run():
        clocks = np.random.exponential(size=2)
        return np.argmax([0.5, 0.5] / clocks), np.argmax([0.2, 0.8] / clocks)

    with pytest.raises(CannotFollowError, match="other probabilities"):
        exact_law(run)


def test_a_race_run_again_has_the_same_winner():
    def run():
        clocks = np.random.exponential(size=3)
        return np.argmax(P / clocks), np.argmin(clocks / P)

    assert exact_law(run) == pytest.approx({(i, i): P[i] for i in range(3)})


def test_products_of_uniform_numbers_are_times_of_a_poisson_process():
    product = exact_law(lambda: np.prod(np.random.rand(3)) < 0.3)
    time = -math.log(0.3)
    assert product[False] == pytest.approx(1 - 0.3 * (1 + time + time**2 / 2), abs=1e-15)
    assert exact_law(lambda: [u := random.random(), u * u < 0.25][1])[True] == 0.5

    def late():
        u = np.random.default_rng().random(2)
        return bool(u[0] * u[1] < 0.3), bool(u[0] < 0.5)

    assert exact_law(late) == pytest.approx({
        (True, True): 0.3 + 0.3 * math.log(0.5 / 0.3), (False, True): 0.2 - 0.3 * math.log(5 / 3),
        (True, False): 0.3 * math.log(2), (False, False): 0.5 - 0.3 * math.log(2),
    })  # fmt: skip


def test_products_compared_in_any_order_are_as_likely():
    edges = [0.7, 0.3, 0.2]

    def run(order):
        products = np.cumprod(np.random.default_rng().random(3))
        answers = {place: bool(products[place] < edges[place]) for place in order}
        return tuple(answers[place] for place in range(3))

    forward = exact_law(run, (0, 1, 2))
    assert len(forward) == 8
    for order in itertools.permutations(range(3)):
        assert exact_law(run, order) == pytest.approx(forward, abs=1e-15)


def test_numbers_with_bounds_are_ranked():
    def run():
        u = np.random.default_rng().random(2)
        return bool(u[0] < 0.5), bool(u[1] < 0.8), bool(u[0] < u[1]), bool(u[1] < u[0])

    assert exact_law(run) == pytest.approx({
        (True, True, True, False): 0.275, (True, True, False, True): 0.125,
        (True, False, True, False): 0.1, (False, True, True, False): 0.045,
        (False, True, False, True): 0.355, (False, False, True, False): 0.08,
        (False, False, False, True): 0.02,
    })  # fmt: skip


def test_few_bits_are_followed(monkeypatch):
    monkeypatch.setattr("otspec.conformance.following.interception._MOST_BITS", 3)
    assert exact_law(lambda: random.getrandbits(3)) == dict.fromkeys(range(8), 1 / 8)
    with pytest.raises(CannotFollowError, match="getrandbits"):
        exact_law(lambda: random.getrandbits(4))


def test_more_distinct_draws_than_there_are_have_the_error_of_numpy():
    with pytest.raises(ValueError, match="Fewer non-zero entries in p than size"):
        exact_law(lambda: np.random.choice(3, 3, False, [0.2, 0.8, 0]))


def test_too_many_ways_are_refused():
    with pytest.raises(CannotFollowError, match="more than 100 ways"):
        exact_law(lambda: np.random.rand(7) < 0.5, most=100)
    assert len(exact_law(lambda: np.random.rand(7) < 0.5, most=128)) == 128


@pytest.mark.parametrize("least", [-0.1, 1, 1.5])
def test_what_is_left_out_is_a_chance_below_one(least):
    with pytest.raises(ValueError, match=r"least is .*: it must be at least 0 and below 1"):
        exact_law(random.random, least=least)
    assert exact_law(lambda: random.random() < 0.5, least=0) == {True: 0.5, False: 0.5}


def test_a_loop_that_only_chance_ends_ends():
    def run():
        return next(tries for tries in range(10**9) if random.random() < 0.5)

    law = exact_law(run)
    assert law[2] == 0.125
    assert sum(law.values()) == pytest.approx(1, abs=1e-15)
    with pytest.raises(CannotFollowError, match="random choices in one run"):
        exact_law(lambda: next(i for i in range(10**9) if random.random() > Fraction(1, 2)))


def test_rounding_is_no_choice():
    assert exact_law(lambda: random.random() < 1 - 1e-15) == {True: 1.0}
    assert exact_law(lambda: random.random() < 1 - 1e-8, least=1e-7) == {True: 1.0}
    assert len(exact_law(lambda: random.random() < 1 - 1e-8)) == 2
