"""Seeds for all random numbers that a process shares, which are put back afterwards."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest

from otspec.auditing.black_box import seeded


def numbers():
    """What the three of them draw next, pairs of normal numbers included."""
    drawn = [random.random(), random.gauss(0, 1), np.random.random(), np.random.standard_normal()]  # noqa: NPY002, S311
    torch = sys.modules.get("torch")
    return drawn if torch is None else [*drawn, float(torch.rand(())), float(torch.randn(()))]


@pytest.fixture(params=["with PyTorch", "without"])
def loaded(request, monkeypatch):
    if request.param == "without":
        monkeypatch.delitem(sys.modules, "torch", raising=False)
    else:
        pytest.importorskip("torch")


@pytest.mark.parametrize("seed", [0, 1, 2**32, 10**30])
def test_the_same_seed_draws_the_same_numbers(loaded, seed):
    runs = []
    for _ in range(2):
        numbers()
        with seeded(seed):
            runs.append([numbers() for _ in range(3)])
    assert runs[0] == runs[1]
    with seeded(seed + 1):
        assert all(a != b for a, b in zip(numbers(), runs[0][0], strict=True))


def fail_seeded():
    with seeded(7):
        np.random.seed(3)  # noqa: NPY002
        numbers()
        raise KeyError


def test_the_numbers_of_the_caller_go_on_as_if_nothing_had_been(loaded):
    with seeded(5):
        numbers()
        undisturbed = [numbers() for _ in range(3)]
    with seeded(5):
        numbers()
        found = [numbers()]
        with seeded(6):
            numbers()
        found.append(numbers())
        with pytest.raises(KeyError):
            fail_seeded()
        found.append(numbers())
    assert found == undisturbed


def test_any_bit_generator_of_numpy_is_put_back():
    own = np.random.PCG64(3)
    before, state = np.random.get_bit_generator(), np.random.get_state(legacy=False)  # noqa: NPY002
    try:
        np.random.set_bit_generator(own)
        with seeded(0):
            np.random.random()  # noqa: NPY002
        assert np.random.get_bit_generator() is own
        assert own.state == np.random.PCG64(3).state
    finally:
        np.random.set_bit_generator(before)
        np.random.set_state(state)  # noqa: NPY002


def test_no_two_of_them_draw_the_same_numbers():
    torch = pytest.importorskip("torch")
    with seeded(0):
        ours, theirs = np.random.randint(0, 2**32, 2_000), torch.randint(0, 2**32, (2_000,))  # noqa: NPY002
    assert len(set(ours.tolist()) & set(theirs.tolist())) <= 2


class Cuda:
    """CUDA as PyTorch shows it: two devices, which have random numbers from their start on."""

    def __init__(self, started):
        self.started, self.waiting, self.states = started, [], ["first", "second"]

    def is_initialized(self):
        return self.started

    def get_rng_state_all(self):
        assert self.started
        return list(self.states)

    def set_rng_state_all(self, states):
        assert self.started
        self.states = states

    def manual_seed_all(self, seed):
        self.waiting.append(seed)


@pytest.mark.parametrize("started", [True, False])
def test_cuda_is_put_back_and_not_started(monkeypatch, started):
    torch = pytest.importorskip("torch")
    cuda = Cuda(started)
    monkeypatch.setattr(torch, "cuda", cuda)
    monkeypatch.setattr(torch, "manual_seed", lambda _: cuda.manual_seed_all("seeded"))
    before = torch.initial_seed()
    with seeded(0):
        cuda.states = ["used", "used"] if started else cuda.states
        assert cuda.waiting == ["seeded"]
    assert cuda.states == ["first", "second"]
    assert cuda.waiting == (["seeded"] if started else ["seeded", before])


@pytest.mark.parametrize("seed", [-1, 1.5, "7", None, True])
def test_other_seeds_are_refused(seed):
    with pytest.raises(ValueError, match="seed"), seeded(seed):
        pass
