"""What is replaced while random choices are followed is put back, whatever happens."""

import random

import numpy as np
import pytest
from tiny_models import transformers

from otspec.chance import Branch, CannotFollowError
from otspec.conformance import exact_kernel, exact_law
from otspec.conformance.following.interception import intercepted, nothing_escapes
from otspec.conformance.following.numpy_draws import FollowedGenerator

transformers()

import torch  # noqa: E402 # only where it is installed
from torch.overrides import _get_current_function_mode_stack as modes  # noqa: E402


def shared():
    """Return what of the three modules could be left changed."""
    functions = [getattr(module, name) for module in (np.random, random) for name in dir(module)]
    states = random.getstate(), repr(np.random.get_state()), torch.get_rng_state().tolist()
    return functions, states, modes(), torch.rand, torch.Tensor.exponential_


class Interrupted(BaseException):
    pass


@pytest.mark.parametrize("error", [None, ValueError, Interrupted, CannotFollowError])
def test_all_is_put_back(error):
    def run():
        u = random.random(), np.random.rand(), torch.rand(1)
        if error is not None and u[0] < 0.5 and u[1] < 0.5 and u[2] < 0.5:
            raise error
        return u[0] < 0.5

    before = shared()
    if error is None:
        exact_law(run)
    else:
        with pytest.raises(error):
            exact_law(run)
    assert shared() == before


def test_nothing_is_replaced_outside():
    chance = Branch()
    with nothing_escapes(), intercepted(chance):
        assert random.random() < 0.5
    assert isinstance(random.random(), float)
    assert isinstance(np.random.rand(), float)
    assert torch.rand(1).item() < 1
    assert len(chance.taken) == 1


def test_two_at_once_are_refused():
    with (
        intercepted(Branch()),
        pytest.raises(CannotFollowError, match="inside code"),
        intercepted(Branch()),
    ):
        pass


def test_a_followed_generator_is_of_no_use_outside():
    with pytest.raises(CannotFollowError, match="where nothing is followed"):
        FollowedGenerator().random()


def test_functions_that_were_imported_alone_are_told():
    draw = random.random
    with pytest.raises(CannotFollowError, match="random numbers of random in a way that is not"):
        exact_law(lambda: draw() < 0.5)
    rand = np.random.rand
    with pytest.raises(CannotFollowError, match="random numbers of numpy in a way that is not"):
        exact_law(lambda: rand() < 0.5)
    like = torch.rand_like  # of PyTorch they are followed
    assert exact_law(lambda: bool(like(torch.ones(1)) < 0.5)) == {True: 0.5, False: 0.5}


def test_a_generator_is_passed_to_what_takes_one():
    def verify(x, rng):
        assert isinstance(rng, np.random.Generator)
        return x[0] if rng.random() < 0.25 else int(rng.choice(2, p=[0.5, 0.5]))

    assert exact_kernel(verify)((1,)) == {1: 0.625, 0: 0.375}
    assert exact_kernel(verify, 3)((1,)).tolist() == [0.375, 0.625, 0]


def test_a_generator_that_is_kept_is_followed_in_every_run():
    made = []

    def run():
        if not made:
            made.append(np.random.default_rng(0))
        return made[0].random() < 0.25

    assert exact_law(run) == {True: 0.25, False: 0.75}
