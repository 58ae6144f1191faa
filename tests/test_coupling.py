"""Maximal coupling of any two laws, however the token was selected."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

from otspec.chance import Drawn
from otspec.coupling import Coupling, acceptance_chance, accepted_weights
from otspec.distributions import as_distribution

TINY = float(np.nextafter(0, 1))
PAIRS = {
    "one token": (["1"], ["1"]),
    "alike": (["1/2", "1/2"], ["1/2", "1/2"]),
    "disjoint": (["1", "0"], ["0", "1"]),
    "zeros in both": (["1/2", "1/2", "0", "0"], ["1/4", "0", "3/4", "0"]),
    "plain": (["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]),
}


def exact(name):
    return Coupling(*map(as_distribution, PAIRS[name]))


def in_floats(name):
    return Coupling(*(as_distribution(list(map(float, map(Fraction, law)))) for law in PAIRS[name]))


@pytest.mark.parametrize("name", PAIRS)
def test_the_output_has_the_law_of_the_target_and_agrees_as_often_as_can_be(name):
    coupling = exact(name)
    one = np.array([Fraction(1)], dtype=object)
    joint = sum(
        mass * coupling.joint_kernel([token], one) for token, mass in enumerate(coupling.selected)
    )
    assert joint.sum(axis=0).tolist() == coupling.target.tolist()
    least = [min(b, q) for b, q in zip(coupling.selected, coupling.target, strict=True)]
    assert joint[0].tolist() == coupling.accepted.tolist() == least
    assert coupling.acceptance == sum(least)
    # A residual token is never the one that was rejected, so that nothing else agrees.
    assert (coupling.residual * (1 - coupling.chances))[coupling.selected > 0].tolist() == [
        Fraction(0) for mass in coupling.selected if mass > 0
    ]


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("arithmetic", [exact, in_floats])
def test_chances_are_those_of_single_tokens(name, arithmetic):
    coupling = arithmetic(name)
    pairs = zip(coupling.target.tolist(), coupling.selected.tolist(), strict=True)
    expected = [acceptance_chance(wanted, offered) for wanted, offered in pairs]
    assert coupling.chances.tolist() == expected
    assert {type(chance) for chance in coupling.chances.tolist()} == set(map(type, expected))


@pytest.mark.parametrize(
    "masses", [(0, 0), (0, TINY), (TINY, 0), (TINY, 1), (1, TINY), (3 * TINY,) * 2]
)
def test_floats_are_divided_only_where_the_chance_is_below_one(masses):
    offered, wanted = masses
    rest = np.array([offered, 1.0]), np.array([wanted, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        coupling = Coupling(*rest)
        chance = coupling.chances[0]
        kernel = coupling.joint_kernel([0, 1], np.array([0.5, 0.5]))
    ratio = Fraction(wanted) / Fraction(offered) if offered else Fraction(wanted > 0)
    assert chance == float(min(ratio, 1))
    assert np.isfinite(kernel).all()
    assert kernel.sum() == 1


def test_a_draft_that_is_selected_twice_is_accepted_twice():
    coupling = exact("plain")
    weights = np.array([Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)], dtype=object)
    joint = coupling.joint_kernel([0, 0, 1], weights)
    assert joint[:3, 0].tolist() == [Fraction(1, 20), Fraction(1, 10), 0]
    assert joint[2, 1] == Fraction(1, 4)
    assert joint[3].tolist() == (Fraction(3, 5) * coupling.residual).tolist()


@pytest.mark.parametrize("name", PAIRS)
def test_samples_have_the_law_of_the_kernel(name):
    coupling, chance, size = in_floats(name), Drawn(np.random.default_rng(3)), 2000
    for token in np.flatnonzero(coupling.selected).tolist():
        found = [coupling.verify([token], 0, chance) for _ in range(size)]
        drawn = [token if isinstance(each, int) else chance.choose(each) for each in found]
        kernel = coupling.joint_kernel([token], np.ones(1)).sum(axis=0)
        shares = np.bincount(drawn, minlength=len(kernel)) / size
        # Hoeffding's inequality: beyond this once in 10^9 for each share.
        assert np.abs(shares - kernel).max() <= np.sqrt(np.log(2e9) / (2 * size))
        assert (kernel[drawn] > 0).all()


def test_accepted_weights_keep_within_the_target():
    weights = np.array([Fraction(1, 8), Fraction(3, 8), Fraction(1, 2)], dtype=object)
    target = as_distribution(["1/4", "3/4", "0"])
    accepted = accepted_weights(weights, np.array([0, 0, 2]), target)
    assert accepted.tolist() == [Fraction(1, 16), Fraction(3, 16), 0]
