"""Losses of PyTorch against a softmax of the same logits, and their memory against the logits."""

import time
import tracemalloc
import weakref

import numpy as np
import pytest

from otspec.learning import acceptance_loss, kullback_leibler_loss, rule_loss

torch = pytest.importorskip("torch")

NOISE = 1.5
"""How far a ratio of two medians may be off on a shared machine."""


def rows(count, size, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    logits = 3 * rng.standard_normal((count, size), dtype=np.float32)
    target = torch.softmax(
        torch.tensor(logits + rng.standard_normal(logits.shape, dtype=np.float32)), -1
    )
    return torch.tensor(logits).to(getattr(torch, dtype)), target


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("size", [49_152, 128_256])
@pytest.mark.parametrize("k", [1, 4])
def test_the_loss_against_softmaxes(size, k, report_ratio):
    logits, target = rows(32, size)
    learnt, upstream = logits.clone().requires_grad_(), torch.randn_like(logits)

    def stepped(made, *upstream):
        learnt.grad = None
        made().backward(*upstream)

    for what, ours, reference, other in (
        ("", lambda: acceptance_loss(logits, target, k),
         "torch.softmax(logits, -1)", lambda: torch.softmax(logits, -1)),
        (" and its gradient", lambda: stepped(lambda: acceptance_loss(learnt, target, k).sum()),
         "torch.softmax and its gradient",
         lambda: stepped(lambda: torch.softmax(learnt, -1), upstream)),
    ):  # fmt: skip
        measured = report_ratio(
            f"learning.acceptance_loss{what}, float32 (32, {size:,}), k = {k}, one thread",
            ours,
            reference,
            other,
            "3x",
            rounds=9,
            clock=time.process_time,  # which other work on the machine does not lengthen
        )
        assert measured.ratio < 3 * NOISE


@pytest.mark.parametrize("k", [1, 4])
def test_the_loss_and_its_gradient_against_those_of_a_divergence(k, report_ratio):
    logits, target = rows(32, 49_152)
    logits.requires_grad_()

    def stepped(loss):
        logits.grad = None
        loss().sum().backward()

    for name, other in (
        ("PyTorch's kl_div of log_softmax, and its gradient", lambda: torch.nn.functional.kl_div(
            torch.log_softmax(logits, -1), target, reduction="none").sum(-1)),
        ("kullback_leibler_loss and its gradient", lambda: kullback_leibler_loss(logits, target)),
    ):  # fmt: skip
        report_ratio(
            f"acceptance_loss and its gradient, float32 (32, 49,152), k = {k}",
            lambda: stepped(lambda: acceptance_loss(logits, target, k)),
            name,
            lambda other=other: stepped(other),
            "informational",
            rounds=7,
            clock=time.process_time,
        )


def test_other_losses_against_softmaxes(report_ratio):
    logits, target = rows(4, 49_152)
    for name, loss in (
        ("acceptance_loss, hub", lambda: acceptance_loss(logits, target, 2, "hub")),
        ("acceptance_loss, without replacement, k = 4",
         lambda: acceptance_loss(logits, target, 4, "without-replacement")),
        ("rule_loss, recursive rejection, k = 4",
         lambda: rule_loss(logits, target, 4, "recursive-rejection")),
        ("rule_loss, k-sequential, k = 4", lambda: rule_loss(logits, target, 4, "k-sequential")),
        ("rule_loss, shared noise, k = 1", lambda: rule_loss(logits, target, 1, "gumbel-coupling")),
        ("rule_loss, shared noise, k = 4", lambda: rule_loss(logits, target, 4, "gumbel-coupling")),
    ):  # fmt: skip
        report_ratio(
            f"learning.{name}, float32 (4, 49,152)",
            loss,
            "torch.softmax(logits, -1)",
            lambda: torch.softmax(logits, -1),
            "informational",
            rounds=5,
            clock=time.process_time,
        )


class Held(torch.utils._python_dispatch.TorchDispatchMode):
    """The most bytes alive at once: tensors that operations made, and arrays of NumPy."""

    def __init__(self, *inputs):
        super().__init__()
        self.held, self.now, self.peak = {}, 0, 0
        self.inputs = {part.untyped_storage().data_ptr() for part in inputs}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        for part in found if isinstance(found, tuple | list) else [found]:
            if isinstance(part, torch.Tensor):
                storage = part.untyped_storage()
                place, size = storage.data_ptr(), storage.nbytes()
                # One that cannot be resized is an array's, which is traced.
                if size and storage.resizable() and place not in self.inputs | self.held.keys():
                    self.held[place] = size
                    self.now += size
                    weakref.finalize(storage, self._gone, place)
        self.peak = max(self.peak, self.now + tracemalloc.get_traced_memory()[1])
        tracemalloc.reset_peak()
        return found

    def _gone(self, place):
        self.now -= self.held.pop(place, 0)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_memory_beyond_the_inputs(dtype):
    """The gradient is as large as the logits; all else has to fit into a fifth of that."""
    logits, target = rows(64, 49_152, dtype)
    logits.requires_grad_()
    acceptance_loss(logits[:1], target[:1], 4).sum().backward()  # caches
    logits.grad = None
    tracemalloc.start()
    try:
        with Held(logits, target) as memory:
            acceptance_loss(logits, target, 4).sum().backward()
    finally:
        tracemalloc.stop()
    assert 1 < memory.peak / logits.untyped_storage().nbytes() < 1.2
