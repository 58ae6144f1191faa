"""Programs draw, are followed along every branch, and replay given uniform numbers."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from otspec.chance import (
    LEAST,
    MOST_CHOICES,
    Branch,
    CannotFollowError,
    Drawn,
    Tape,
    branches,
    law_of,
)

TINY = float(np.nextafter(0, 1))
THIRDS = [Fraction(1, 6), Fraction(0), Fraction(1, 2), Fraction(1, 3)]


class Scripted:
    """A source of uniform numbers, which says how many were taken."""

    def __init__(self, *numbers):
        self.numbers, self.taken = numbers, 0

    def random(self):
        self.taken += 1
        return self.numbers[self.taken - 1]


def two_choices(chance):
    first = chance.choose(THIRDS)
    return first, chance.choose([1, first]) if first else None


def test_every_branch_has_its_exact_probability():
    wanted = {(0, None): THIRDS[0]}
    for first, second in itertools.product((2, 3), (0, 1)):
        wanted[first, second] = THIRDS[first] * Fraction([1, first][second], 1 + first)
    assert law_of(two_choices) == wanted
    assert sum(mass for mass, _ in branches(two_choices)) == 1


@pytest.mark.parametrize(
    "masses",
    [
        [1, 2, 3],
        [2.0, 0.0, 6.0],
        np.array([0.25, 0.75]),
        [np.float32(0.25), np.float32(0.75)],
        [0.5, np.float32(1.5)],
        (np.int64(1), Fraction(1, 2)),
    ],
)
def test_masses_need_not_sum_to_one(masses):
    law = law_of(lambda chance: chance.choose(masses))
    masses = [Fraction(str(mass)) for mass in masses]
    total = sum(masses)
    assert law == {i: mass / total for i, mass in enumerate(masses) if mass > 0}


@pytest.mark.parametrize(
    "masses", [[], [0], [0.0, 0.0], [1, -1, 1], [math.nan, 1.0], [-0.5, 1.5], ["1/2"] * 2]
)
def test_what_cannot_be_chosen_from_is_refused(masses):
    with pytest.raises(CannotFollowError, match="it chooses among chances"):
        law_of(lambda chance: chance.choose(masses))


@pytest.mark.parametrize(
    ("wanted", "offered", "probability"),
    [
        (0, 0, 0),  # a token that is neither wanted nor offered
        (0, 1, 0),
        (-TINY, 1.0, 0),  # what rounding leaves of nothing
        (1, 0, 1),
        (3, 2, 1),
        (2, 3, Fraction(2, 3)),
        (Fraction(1, 7), Fraction(2, 7), Fraction(1, 2)),
        (TINY, 4 * TINY, 0.25),
        (0.25, 1, 0.25),
    ],
)
def test_a_draft_is_accepted_as_often_as_it_is_wanted_of_what_is_offered(
    wanted, offered, probability
):
    law = law_of(lambda chance: chance.accept(wanted, offered))
    assert law.get(True, 0) == probability
    if 0 < probability < 1:
        below, above = probability / 2, (1 + probability) / 2
        assert Tape([float(below)]).accept(wanted, offered)
        assert not Tape([float(above)]).accept(wanted, offered)
    else:
        assert Tape([]).accept(wanted, offered) == bool(probability)


def test_nothing_is_drawn_for_what_is_certain():
    rng = Scripted()
    chance = Drawn(rng)
    assert [chance.accept(2, 1), chance.accept(1, 1), chance.accept(0, 0)] == [True, True, False]
    assert rng.taken == 0


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 775])
def test_a_choice_is_the_index_that_the_uniform_number_falls_on(n):
    rng = np.random.default_rng(n)
    masses = rng.random(n) * (rng.random(n) < 0.1)
    masses[-1] = 1
    exact = [Fraction(mass) for mass in masses.tolist()]
    sums, total = list(itertools.accumulate(exact)), sum(exact)
    rounding = n * Fraction(2) ** -52 * total
    for uniform in (0.0, 0.5, *rng.random(50).tolist(), float(np.nextafter(1, 0))):
        index = Tape([uniform]).choose(masses)
        assert masses[index] > 0
        assert sums[index] - exact[index] - rounding <= Fraction(uniform) * total
        assert Fraction(uniform) * total <= sums[index] + rounding


def test_a_sample_has_the_law_of_the_branches():
    rng, size = np.random.default_rng(5), 4_000
    drawn = [two_choices(Drawn(rng)) for _ in range(size)]
    for result, mass in law_of(two_choices).items():
        # Hoeffding's inequality: beyond this once in 10^9 for each result.
        assert abs(drawn.count(result) / size - mass) <= math.sqrt(math.log(2e9) / (2 * size))


def test_a_tape_replays_and_ends():
    uniforms = np.random.default_rng(6).random(2)
    assert two_choices(Tape(uniforms)) == two_choices(Tape(uniforms.tolist()))
    with pytest.raises(StopIteration):
        two_choices(Tape([0.9]))


def until(chance):
    tosses = 1
    while not chance.accept(0.5):
        tosses += 1
    return tosses


def test_loops_that_only_chance_ends_do_end():
    law = law_of(until, least=LEAST)
    assert law[1] == 0.5
    assert 1 - sum(law.values()) < 2e-18 * len(law)
    with pytest.raises(CannotFollowError, match=f"more than {MOST_CHOICES:,} random choices"):
        law_of(until)
    with pytest.raises(CannotFollowError, match="more than 3 ways"):
        law_of(until, least=LEAST, most=3)


def test_a_program_that_changes_when_it_is_run_again_is_refused():
    options = iter([3, 1])
    with pytest.raises(CannotFollowError, match="something else when it is run again"):
        law_of(lambda chance: chance.choose([1] * next(options)))


def test_a_choice_that_branches_share_is_weighed_once():
    class Counted(Fraction):
        read = 0

        @property
        def numerator(self):
            Counted.read += 1
            return super().numerator

    def program(chance):
        return chance.choose([Counted(1, 3), Fraction(2, 3)]), chance.choose([1, 2, 3])

    law = law_of(program)
    assert law == {(i, j): Fraction((1 + i) * (1 + j), 18) for i in range(2) for j in range(3)}
    assert Counted.read == 1


def test_a_refusal_that_the_program_catches_is_raised_all_the_same():
    def careless(chance):
        try:
            return chance.choose([])
        except CannotFollowError:
            return 0

    with pytest.raises(CannotFollowError, match="it chooses among"):
        law_of(careless)


def test_a_branch_says_which_options_were_open():
    chance = Branch([1])
    assert (chance.choose([0, 1, 0, 3]), chance.choose([5])) == (3, 0)
    assert (chance.taken, chance.mass) == ([(1, 2), (0, 1)], Fraction(3, 4))


def test_a_last_choice_has_all_its_ways_at_once():
    branch = Branch((1,), least=1e-3)
    assert branch.choose((Fraction(1, 4), Fraction(3, 4))) == 1
    assert branch.every((1, 0, 2)) == [(0, Fraction(1, 4)), (2, Fraction(1, 2))]
    # What is left out as rounding has no share, and a branch below a millionth of it is left.
    assert branch.every((0.5, 1e-4, 0.5)) == [(0, 0.375), (2, 0.375)]
    assert branch.taken == [(1, 2)]
    light = Branch((1, 1, 1), least=1e-3)
    assert [light.choose((980.0, 1.0)) for _ in range(3)] == [1, 1, 1]
    assert light.every((1.0, 1.0)) == []  # of 5.3e-10 each
    with pytest.raises(CannotFollowError, match="it chooses among chances"):
        branch.every((0, 0))
    assert branch.refusal is not None


def test_an_idle_branch_takes_the_likeliest_options_and_follows_none():
    chance = Branch([1])
    chance.idle = True
    assert [chance.choose(each) for each in ([1, 3, 2], (0.5, 0.25), np.array([0, 1]))] == [1, 0, 1]
    assert [chance.accept(wanted) for wanted in (Fraction(2, 3), Fraction(1, 3), 0)] == [
        True, False, False
    ]  # fmt: skip
    assert (chance.taken, chance.mass) == ([], 1)
    chance.idle = False
    assert (chance.choose([1, 1]), chance.mass) == (1, Fraction(1, 2))
