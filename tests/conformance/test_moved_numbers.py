"""Where random numbers are after PyTorch has moved them: where plain numbers would be."""

import math

import numpy as np
import pytest
from tiny_models import transformers

from otspec.chance import CannotFollowError
from otspec.conformance import exact_law

transformers()

import torch  # noqa: E402 # only where it is installed

PLACES = torch.tensor([[2, 0], [1, 1]])
MASK = torch.tensor([[True, False, True], [False, False, True]])
FLAT = torch.tensor([4, 0, 5])


def plain(*shape):
    return torch.full(shape, -1.0, dtype=torch.float64)


def changed(name, *arguments):
    """Return a method that changes a tensor, as a function."""
    return lambda x: getattr(x, name)(*arguments)


def stored(*place, value=-1.0):
    def change(x):
        x[place] = value
        return x

    return change


def stored_in_plain(x):
    buffer = plain(3, 3)
    buffer[1:, :2] = x[:, 1:]
    return buffer


MOVES = {
    "row": lambda x: x[1],
    "column": lambda x: x[:, 2],
    "entry": lambda x: x[0, 1],
    "backwards": lambda x: x[-1, ::2],
    "mask": lambda x: x[MASK],
    "indices": lambda x: x[:, torch.tensor([2, 0])],
    "new axis": lambda x: x[:, None],
    "reshape": lambda x: x.reshape(3, 2),
    "reshape_as": lambda x: x.reshape_as(plain(3, 2)),
    "view": lambda x: x.view(-1),
    "view_as": lambda x: x.view_as(plain(6, 1)),
    "flatten": lambda x: x.flatten(),
    "unflatten": lambda x: x.unflatten(1, (3, 1)),
    "ravel": lambda x: x.ravel(),
    "squeeze": lambda x: x[:1].squeeze(0),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "expand": lambda x: x[None].expand(2, 2, 3),
    "expand_as": lambda x: x[:1].expand_as(plain(2, 3)),
    "broadcast_to": lambda x: torch.broadcast_to(x[0], (2, 3)),
    "repeat": lambda x: x.repeat(1, 2),
    "tile": lambda x: x.tile(2, 1),
    "repeat_interleave": lambda x: x.repeat_interleave(2, 1),
    "permute": lambda x: x.permute(1, 0),
    "transpose": lambda x: x.transpose(0, 1),
    "t": lambda x: x.t(),
    "movedim": lambda x: x.movedim(0, 1),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "flip": lambda x: x.flip(0, 1),
    "roll": lambda x: x.roll(1, 1),
    "unbind": lambda x: x.unbind(1)[2],
    "split": lambda x: x.split([1, 2], 1)[1],
    "chunk": lambda x: x.chunk(2)[1],
    "narrow": lambda x: x.narrow(1, 1, 2),
    "select": lambda x: x.select(1, 2),
    "gather": lambda x: x.gather(1, PLACES),
    "index_select": lambda x: x.index_select(1, torch.tensor([2, 1])),
    "take": lambda x: x.take(FLAT),
    "take_along_dim": lambda x: x.take_along_dim(PLACES, 1),
    "masked_select": lambda x: x.masked_select(MASK),
    "diagonal": lambda x: x.diagonal(1),
    "cat": lambda x: torch.cat([x[:, 2:], plain(2, 1), x], 1),
    "concat by name": lambda x: torch.concat(tensors=[plain(1, 3), x], dim=0),
    "stack": lambda x: torch.stack([x[0], plain(3), x[1]]),
    "hstack": lambda x: torch.hstack([x, plain(2, 1)]),
    "vstack": lambda x: torch.vstack([plain(1, 3), x]),
    "masked_fill": lambda x: x.masked_fill(MASK, -1.0),
    "masked_fill_": changed("masked_fill_", MASK, -1.0),
    "masked_fill of plain": lambda x: plain(2, 3).masked_fill(MASK, x[0, 1]),
    "stored": stored(1, 2),
    "stored by a mask": stored(MASK),
    "stored in plain": stored_in_plain,
    "copy_": lambda x: plain(2, 3).copy_(x),
    "copy_ of plain": changed("copy_", plain(2, 3)),
    "fill_": lambda x: plain(2).fill_(x[1, 1]),
    "fill_ of plain": changed("fill_", -1.0),
    "where": lambda x: torch.where(MASK, x, -1.0),
    "where not": lambda x: torch.where(MASK, plain(2, 3), x),
    "scatter": lambda x: plain(2, 3).scatter(1, PLACES[:, :1], x),
    "scatter_": lambda x: plain(2, 3).scatter_(1, PLACES[:, :1], x[:, 2:]),
    "scatter of a number": lambda x: x.scatter(1, PLACES, -1.0),
    "scatter by name": lambda x: plain(2, 3).scatter(1, PLACES[:, :1], src=x),
    "index_copy": lambda x: plain(2, 3).index_copy(0, torch.tensor([1, 0]), x),
    "index_copy_": lambda x: plain(2, 3).index_copy_(0, torch.tensor([1, 0]), x),
    "clone": lambda x: x.clone(),
    "contiguous": lambda x: x.t().contiguous(),
    "detach": lambda x: x.detach(),
    "to": lambda x: x.to(torch.float64),
    "double": lambda x: x[0].double(),
    "a clone is apart": lambda x: stored(1, 2)(x.clone()),
    "tensor of a list": lambda x: torch.tensor([x[1, 2].item(), -1.0, x[0, 0].item()]).double(),
    "as_tensor": lambda x: torch.as_tensor([[x[1, 2].item()], [-1.0]], dtype=torch.float64),
    "empty": lambda x: torch.cat([x[:0], x[1:]]),
}


def places(function, x):
    """Return the shape of a result, and of each element its place before or what it is."""
    before = x.flatten().tolist()
    found = function(x)
    elements = found.flatten().tolist()
    return tuple(found.shape), tuple(before.index(y) if y in before else y for y in elements)


@pytest.mark.parametrize("name", MOVES)
def test_numbers_are_where_plain_ones_would_be(name):
    function = MOVES[name]
    wanted = places(function, torch.arange(6, dtype=torch.float64).reshape(2, 3))
    law = exact_law(lambda: places(function, torch.rand(2, 3, dtype=torch.float64)))
    assert law == {wanted: 1}


@pytest.mark.parametrize("name", ["view", "t", "flip", "expand", "select", "clone", "reshape"])
def test_only_a_view_sees_what_is_stored_later(name):
    def run(x):
        view = MOVES[name](x)
        x[0, 0] = -1.0
        return view

    wanted = places(run, torch.arange(6, dtype=torch.float64).reshape(2, 3))
    assert exact_law(lambda: places(run, torch.rand(2, 3, dtype=torch.float64))) == {wanted: 1}


EDGES = torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64)
SEARCHED = {
    "searchsorted": lambda x: torch.searchsorted(EDGES, x),
    "right": lambda x: torch.searchsorted(EDGES, x, right=True),
    "side": lambda x: torch.searchsorted(EDGES, x, side="right"),
    "left": lambda x: torch.searchsorted(EDGES, x, side="left"),
    "by name": lambda x: torch.searchsorted(sorted_sequence=EDGES, input=x, right=True),
    "bucketize": lambda x: torch.bucketize(x, EDGES),
    "bucketize right": lambda x: torch.bucketize(x, EDGES, right=True),
    "bucketize by name": lambda x: torch.bucketize(input=x, boundaries=EDGES),
    "rows": lambda x: torch.searchsorted(torch.stack([EDGES, EDGES / 2]), x.repeat(2, 1)),
}


@pytest.mark.parametrize("name", SEARCHED)
def test_numbers_are_searched_beside_a_plain_one_at_an_edge(name):
    function = SEARCHED[name]
    # The first number is anywhere; the second one is the second edge.
    half = torch.tensor([0.5], dtype=torch.float64)
    wanted = {}
    for eighth in range(8):
        x = torch.tensor([(eighth + 0.5) / 8, 0.5], dtype=torch.float64)
        said = tuple(function(x).flatten().tolist())
        wanted[said] = wanted.get(said, 0) + 1 / 8
    law = exact_law(
        lambda: tuple(
            function(torch.cat([torch.rand(1, dtype=torch.float64), half])).flatten().tolist()
        )
    )
    assert law == pytest.approx(wanted, abs=1e-12)


READ = {
    "sum of one": lambda u: u.sum() < 0.25,
    "sum of a row": lambda u: u[:, None].sum(1)[0] < 0.25,
    "mean of one": lambda u: u.mean() < 0.25,
    "product with plain": lambda u: torch.cat([u, torch.full((1,), 0.5).double()]).prod() < 0.125,
    "sum with plain": lambda u: torch.cat([u, torch.full((1,), 0.5).double()]).sum() < 0.75,
    "cumsum": lambda u: torch.cat([torch.full((1,), 0.5).double(), u]).cumsum(0)[1] < 0.75,
    "cumprod": lambda u: torch.cat([torch.full((1,), 0.5).double(), u]).cumprod(0)[1] < 0.125,
    "truth": lambda u: bool(u < 0.25),
    "number": lambda u: int(u < 0.25) == 1,
    "real": lambda u: float(u < 0.25) == 1.0,
    "index": lambda u: [False, True][(u < 0.25).long()],
    "long": lambda u: (4 * u).long() == 0,
    "integer": lambda u: (4 * u).int().item() == 0,
    "half": lambda u: bool(u.float()[0] < 0.25),
    "alpha of 1": lambda u: u.add(0.25, alpha=1) < 0.5,
}


@pytest.mark.parametrize("name", READ)
def test_a_number_is_read_as_what_it_is(name):
    law = exact_law(lambda: bool(READ[name](torch.rand(1, dtype=torch.float64))))
    assert law == pytest.approx({True: 0.25, False: 0.75}, abs=1e-12)


REFUSED = {
    "passes alpha= with": lambda x: x.add(x.new_ones(1), alpha=2),
    "passes rounding_mode= with": lambda x: torch.div(x, 2, rounding_mode="floor"),
    "passes out= with": lambda x: torch.add(x, 1, out=torch.zeros_like(x)),
    "reads the bits of": lambda x: x.view(torch.int64),
    "reads 6 random numbers as one": lambda x: x.item(),
    "searches among random numbers": lambda x: torch.searchsorted(x[0], torch.ones(1).double()),
    "sort with dim=": lambda x: x.sort(0),
    "indices, in torch's index_select": lambda x: plain(3).index_select(0, x[0]),
    "among integers": lambda x: torch.zeros(2, 3).long().copy_(x),
    "itself, changed": lambda x: (1 - x[0, 0]).log() < x[0, 0].log(),
    "different kinds": lambda x: -x[0, 0].log() < x[0, 1],
    "exponential of a random number": lambda x: x.exp(),
    "logarithm of a random number that may be": lambda x: (-x).log(),
    "powers of a random number that may be": lambda x: (-x) ** 3,
    "for an integer": lambda x: [0, 1][x[0, 0]],
    "into a float": lambda x: math.sin(x[0, 0]),
    "torch's poisson": torch.poisson,
    "torch's sigmoid": torch.sigmoid,
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_followed_of_tensors_is_named(what):
    with pytest.raises(CannotFollowError, match=what):
        exact_law(lambda: REFUSED[what](torch.rand(2, 3, dtype=torch.float64)))


def test_numbers_of_numpy_are_where_plain_ones_would_be():
    def run(x):
        found = np.concatenate([x[1], x[:, 0]]).reshape(5)[::-1]
        before = x.ravel().tolist()
        return tuple(before.index(y) for y in found.tolist())

    wanted = run(np.arange(6.0).reshape(2, 3))
    assert exact_law(lambda: run(np.random.default_rng().random((2, 3)))) == {wanted: 1}
