"""How black boxes are called: their random numbers, chunks of drafts, what their errors show."""

from __future__ import annotations

import random
import sys
import traceback
from fractions import Fraction

import numpy as np
import pytest

import otspec
from otspec.auditing.black_box import randomness
from otspec.rules import RecursiveRejection

DRAFT, TARGET = [0.5, 0.3, 0.2], [0.2, 0.5, 0.3]
LAW = otspec.IID(DRAFT, 2)


def audited(sampler, size=300, **options):
    return otspec.audit_samples(sampler, LAW, TARGET, size, 1, **options)


# Random numbers


def of_random(_):
    return random.choices(range(3), TARGET)[0]  # noqa: S311


def of_numpy(_):
    return np.random.choice(3, p=TARGET)  # noqa: NPY002


def of_torch(_):
    torch = pytest.importorskip("torch")
    return torch.multinomial(torch.tensor(TARGET), 1)[0]


@pytest.mark.parametrize("sampler", [of_random, of_numpy, of_torch], ids=lambda f: f.__name__)
def test_the_numbers_that_a_process_shares_follow_from_the_seed(sampler):
    found = []
    for _ in range(2):
        sampler(None)
        found.append(audited(sampler))
    assert found[0] == found[1]
    assert found[0].consistent
    assert otspec.audit_samples(sampler, LAW, TARGET, 300, 2) != found[0]


def test_the_numbers_of_the_caller_are_left_alone():
    states = random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002
    audited(lambda x: (of_random(x) + of_numpy(x)) % 3)
    audited(lambda _: 1 // 0)
    assert random.getstate() == states[0]
    state = np.random.get_state(legacy=False)  # noqa: NPY002
    assert state["state"]["pos"] == states[1]["state"]["pos"]
    assert (state["state"]["key"] == states[1]["state"]["key"]).all()


@pytest.mark.parametrize("batched", [True, False])
def test_a_second_argument_is_what_its_name_says(batched):
    given = []

    def seeded(x, seed):
        given.append(seed)
        return np.random.default_rng(seed).choice(3, len(x) if batched else None, p=TARGET)

    def anything(x, numbers):
        assert isinstance(numbers, np.random.Generator)
        return numbers.choice(3, len(x) if batched else None, p=TARGET)

    for sampler in (seeded, anything):
        found = audited(sampler, batched=batched)
        assert found.consistent
        assert audited(sampler, batched=batched) == found
    once = len(given) // 2
    assert given[:once] == given[once:]
    assert len(set(given)) == once == (1 if batched else 300)
    assert all(type(seed) is int and 0 <= seed < 2**32 for seed in given)


@pytest.mark.parametrize("batched", [True, False])
def test_a_second_argument_named_generator_is_that_of_torch(batched):
    torch = pytest.importorskip("torch")
    target = torch.tensor(TARGET)

    def sampler(x, generator):
        size = len(x) if batched else 1
        tokens = torch.multinomial(target, size, replacement=True, generator=generator)
        return tokens if batched else tokens[0]

    found = audited(sampler, batched=batched)
    assert found.consistent
    assert audited(sampler, batched=batched) == found


def test_a_generator_of_torch_needs_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ValueError, match="needs the package torch"):
        randomness("generator", np.random.default_rng(0))


def test_tensors_are_taken_from_their_devices():
    torch = pytest.importorskip("torch")

    class Elsewhere(torch.Tensor):
        """As tensors on a GPU, which NumPy cannot read."""

        def __array__(self, *_, **__):
            raise TypeError("can't convert cuda:0 device type tensor to numpy")

        def cpu(self):
            return self.as_subclass(torch.Tensor)

    def batch(x):
        tokens = torch.multinomial(torch.tensor(TARGET), len(x), replacement=True)
        return tokens.as_subclass(Elsewhere), torch.full((len(x),), -1).as_subclass(Elsewhere)

    assert audited(batch, batched=True).consistent
    assert audited(lambda x: batch([x])[0][0]).consistent


# Chunks


def tokens_of(drafts, rng):
    return rng.choice(3, len(drafts), p=TARGET)


@pytest.mark.parametrize(
    ("chunk", "lengths"),
    [(100, [100, 100, 100]), (128, [128, 128, 44]), (300, [300]), (9**9, [300])],
)
@pytest.mark.parametrize("paired", [True, False])
def test_a_batched_sampler_is_called_with_at_most_a_chunk(chunk, lengths, paired):
    seen = []

    def sampler(drafts, rng):
        seen.append(drafts.copy())
        drafts[:] = 0  # its own copy
        tokens = tokens_of(drafts, rng)
        return (tokens, (seen[-1] == tokens[:, None]).any(axis=1)) if paired else tokens

    found = audited(sampler, batched=True, chunk=chunk)
    assert found.consistent
    assert found.impossible is None
    assert [len(each) for each in seen] == lengths
    drawn = LAW.sample(300, np.random.default_rng(1))
    assert (np.concatenate(seen) == drawn).all()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"chunk": 0, "batched": True}, "chunk must be at least 1, got 0"),
        ({"chunk": 1.0, "batched": True}, "chunk must be an integer"),
        ({"chunk": 10}, "chunk is 10 for a sampler of one draft tuple: pass batched=True"),
    ],
)
def test_unusable_chunks_are_refused(options, says):
    with pytest.raises(ValueError, match=says):
        audited(tokens_of, **options)


def test_chunks_of_different_kinds_are_refused():
    def sampler(drafts, rng):
        tokens = tokens_of(drafts, rng)
        return tokens if len(drafts) == 44 else (tokens, np.full(len(drafts), -1))

    with pytest.raises(ValueError, match="pair for some drafts only"):
        audited(sampler, batched=True, chunk=64)
    with pytest.raises(ValueError, match=r"shape \(64, 1\)"):
        audited(lambda x: np.zeros((len(x), 1), int), batched=True, chunk=64)


# Errors


def failing(_):
    raise KeyError("in the verifier")


class Unreadable:
    def __array__(self, *_, **__):
        return failing(self)


class Untold(tuple):
    """A pair that cannot be gone through."""

    __slots__ = ()

    def __iter__(self):
        return failing(self)


def late(drafts):
    return failing(drafts) if len(drafts) == 44 else np.ones(len(drafts), int)


@pytest.mark.parametrize(
    ("sampler", "options", "says"),
    [
        (failing, {}, "drafts ("),
        (failing, {"batched": True}, "the sampler fails with KeyError"),
        (late, {"batched": True, "chunk": 64}, "drafts number 256 to 299: the sampler fails"),
        (lambda _: Unreadable(), {}, "reading what the sampler returned fails with KeyError"),
        (lambda _: Unreadable(), {"batched": True}, "reading what the sampler returned fails"),
        (lambda _: Untold((0, 1)), {}, "reading what the sampler returned fails"),
        (lambda _: Untold((0, 1)), {"batched": True}, "reading what the sampler returned fails"),
        (lambda _: (0, Unreadable()), {}, "reading what the sampler returned fails"),
    ],
)
def test_every_failure_keeps_its_traceback(sampler, options, says):
    found = audited(sampler, **options)
    assert found.consistent is found.impossible is None
    assert found.reason.startswith(says)
    assert "in the verifier" in found.reason
    assert "in failing" in found.traceback
    assert "test_black_box.py" in found.traceback


def test_a_rule_that_fails_to_tell_its_law_shows_where():
    class Failing(RecursiveRejection):
        @property
        def k(self):
            return failing(self)

    rule = Failing.__new__(Failing)
    with pytest.raises(ValueError, match="rule is not for this law and target") as refused:
        audited(lambda x: (x[0], 0), rule=rule)
    assert "in failing" in "".join(traceback.format_exception(refused.value))


# Integers


@pytest.mark.parametrize(
    "target", [[0, 1, 0], (0, 1, 0), np.array([0, 1, 0]), np.array([0, 1, 0], np.uint8)]
)
def test_plain_integers_are_floats_beside_a_law_in_floats(target):
    assert otspec.audit_samples(lambda _: 1, LAW, target, 50, 0).consistent
    report = otspec.audit(lambda _: target, law=LAW, target=target)
    assert report.lossless
    assert report.output.dtype == float
    assert otspec.optimal_acceptance(LAW, target).acceptance == pytest.approx(1 - 0.7**2)
    exact = otspec.audit(lambda _: target, law=otspec.IID(["1/2", "1/4", "1/4"], 2), target=target)
    assert exact.acceptance == Fraction(7, 16)


@pytest.mark.parametrize(
    "target", [[Fraction(0), Fraction(1), Fraction(0)], ["0", "1", "0"], [0, Fraction(1), 0]]
)
def test_fractions_are_refused_beside_a_law_in_floats(target):
    for call in (
        lambda: otspec.audit_samples(lambda _: 1, LAW, target, 50, 0),
        lambda: otspec.audit(lambda _: target, law=LAW, target=target),
    ):
        with pytest.raises(ValueError, match="target is exact but law is float"):
            call()
