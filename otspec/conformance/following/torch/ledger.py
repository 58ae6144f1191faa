"""Which elements of which tensors are random numbers, and the random calls, as branches."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from otspec._base import Array
from otspec.conformance.following.order import Chosen, Pending, distinct
from otspec.conformance.following.symbols import RandomNumber
from otspec.conformance.following.torch.streams import TorchStreams

KNOWN = -1  # number of an element without an entry: the tensor holds its value


class _Storage(NamedTuple):
    numbers: Any  # int64 tensor, shape (elements,)
    kept: Any  # a tensor in the storage, which therefore stays where it is


class Ledger:
    """The random numbers, and the tokens not drawn yet, that stand for elements of tensors.

    Where an element has an entry, what the tensor itself holds is NaN, or far below 0. It is to be
    used where no interception is open.
    """

    def __init__(self, streams: TorchStreams) -> None:
        import torch

        self.streams, self.chance = streams, streams.chance
        self._int64, self._int32 = torch.int64, torch.int32
        self._entries: list[Any] = []
        self._storages: dict[int, _Storage] = {}

    def holds(self, tensor: Any) -> bool:
        """Whether something may be entered for a tensor's elements."""
        return bool(self._storages) and _address(tensor) in self._storages

    def read(self, answer: Any) -> Any:
        """Return what code answers; tokens that are not drawn yet stay so in tensors of them."""
        if not is_tensor(answer) or not self.holds(answer):
            return answer
        tokens = answer.dtype in (self._int64, self._int32)
        return self.elements(answer) if tokens else self.values(answer)

    def numbers(self, tensor: Any) -> Any:
        """Return the numbers of the entries, a tensor like it; a view that can be written to."""
        storage = self._storages.get(_address(tensor))
        if storage is None:
            return tensor.new_full(tensor.shape, KNOWN, dtype=self._int64)
        shape, stride, start = tensor.shape, tensor.stride(), tensor.storage_offset()
        return storage.numbers.as_strided(shape, stride, start)

    def number(self, value: Any) -> int:
        """Return the number of a new entry; a plain number has none."""
        if not isinstance(value, (RandomNumber, Pending)):
            return KNOWN
        self._entries.append(value)
        return len(self._entries) - 1

    def open(self, tensor: Any, numbers: Any = None) -> None:
        """Begin to enter the elements of a tensor."""
        if tensor.numel() == 0:
            return
        if _address(tensor) not in self._storages:
            size = tensor.untyped_storage().nbytes() // tensor.element_size()
            nothing = tensor.new_full((size,), KNOWN, dtype=self._int64)
            self._storages[_address(tensor)] = _Storage(nothing, tensor.detach())
        if numbers is not None:
            self.numbers(tensor).copy_(numbers)

    def put(self, tensor: Any, values: Array) -> Any:
        """Give a tensor's elements values, in an object array of its shape; return the tensor."""
        numbers = [self.number(value) for value in values.ravel().tolist()]
        unknown = math.nan if tensor.is_floating_point() else -(2**31)
        plain = [
            value if number == KNOWN else unknown
            for value, number in zip(values.ravel().tolist(), numbers, strict=True)
        ]
        tensor.detach().copy_(tensor.new_tensor(plain, requires_grad=False).reshape(tensor.shape))
        wanted = tensor.new_tensor(numbers, dtype=self._int64, requires_grad=False)
        self.open(tensor, wanted.reshape(tensor.shape))
        return tensor

    def values(self, tensor: Any) -> Array:
        """Return a tensor's elements as an object array: random numbers, and plain ones."""
        self.settle(tensor)
        return self.elements(tensor)

    def elements(self, tensor: Any) -> Array:
        """Return the same, with tokens that are not drawn yet."""
        values = tensor.flatten().tolist()
        if self.holds(tensor):
            numbers = self.numbers(tensor).flatten().tolist()
            values = [
                value if number == KNOWN else self._entries[number]
                for value, number in zip(values, numbers, strict=True)
            ]
        return objects(values, tuple(tensor.shape))

    def is_random(self, tensor: Any) -> bool:
        """Whether random numbers, and not only tokens, are among a tensor's elements."""
        numbers = self.numbers(tensor).flatten().tolist()
        return any(n != KNOWN and isinstance(self._entries[n], RandomNumber) for n in numbers)

    def settle(self, tensor: Any) -> bool:
        """Draw the tokens that a tensor holds; return whether it holds plain numbers then."""
        if not self.holds(tensor):
            return True
        numbers = self.numbers(tensor)
        entered = (numbers != KNOWN).nonzero().tolist()
        open_still = False
        for place in map(tuple, entered):
            number = int(numbers[place])
            if number == KNOWN:  # drawn meanwhile: one element may be at several places
                continue
            entry = self._entries[number]
            if isinstance(entry, Pending):
                tensor.detach()[place] = entry.value()
                numbers[place] = KNOWN
            else:
                open_still = True
        return not open_still


def is_tensor(value: Any) -> bool:
    """Whether something is a tensor."""
    return hasattr(value, "untyped_storage")


def objects(values: Sequence[Any], shape: tuple[int, ...]) -> Array:
    """Return an array of Python objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)


@cache
def _torch() -> Any:
    import torch

    return torch


def _address(tensor: Any) -> int:
    if tensor.layout is not _torch().strided:
        return 0
    return tensor.untyped_storage().data_ptr()


class Draws:
    """Random calls under the names that PyTorch has for them, without their generator."""

    def __init__(self, ledger: Ledger) -> None:
        import torch

        self._torch, self._ledger = torch, ledger
        self._chance, self._streams = ledger.chance, ledger.streams

    def rand(self, *size: Any, **options: Any) -> Any:
        return self._uniform(self._torch.empty(*size, **options))

    def rand_like(self, input: Any, **options: Any) -> Any:  # noqa: A002 # as callers name it
        return self._uniform(self._torch.empty_like(input, **options))

    def uniform_(self, tensor: Any, a: float = 0, b: float = 1) -> Any:
        return self._ledger.put(tensor, self._numbers(tensor, "uniform") * (b - a) + a)

    def exponential_(self, tensor: Any, lambd: float = 1) -> Any:
        return self._ledger.put(tensor, self._numbers(tensor, "exponential") / lambd)

    def bernoulli(self, input: Any, p: Any = None, *, out: Any = None) -> Any:  # noqa: A002
        return self.bernoulli_(input.clone() if out is None else out, input if p is None else p)

    def bernoulli_(self, tensor: Any, p: Any = 0.5) -> Any:
        chances = self._known(p) if hasattr(p, "tolist") else np.array(p)
        if not ((chances >= 0) & (chances <= 1)).all():
            raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
        rows = np.broadcast_to(chances, tuple(tensor.shape)).ravel().tolist()
        draws: list[Any]
        if self._streams.seeded:
            draws = [int(self._streams.number("uniform") < each) for each in rows]
        else:
            draws = [Chosen(self._chance, (1 - each, each)) for each in rows]
        return self._ledger.put(tensor, objects(draws, tuple(tensor.shape)))

    def multinomial(
        self,
        input: Any,  # noqa: A002
        num_samples: int,
        replacement: bool = False,
        *,
        out: Any = None,
    ) -> Any:
        masses = self._known(input)
        if not ((masses >= 0) & (masses < np.inf)).all():
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        if not (masses.sum(axis=-1) > 0).all():
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        if not replacement and num_samples > masses.shape[-1]:
            raise RuntimeError(
                "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
            )
        draws: list[Any] = []
        for row in masses.reshape(-1, masses.shape[-1]).tolist():
            draws += self._streams.tokens(row, num_samples, replacement)
        shape = (*masses.shape[:-1], num_samples)
        tokens = input.new_empty(shape).long() if out is None else out
        return self._ledger.put(tokens, objects(draws, shape))

    def randint(self, *bounds_and_size: Any, low: int = 0, **options: Any) -> Any:
        self._refuse_seeded("randint")
        named = [options.pop(name) for name in ("high", "size") if name in options]
        *bounds, size = (*bounds_and_size, *named)
        low, high = bounds if len(bounds) == 2 else (low, bounds[0])
        tokens = self._torch.empty(size, **{"dtype": self._torch.int64, **options})

        def one() -> Pending:
            return Pending(lambda: low + self._chance.choose([1] * (high - low)))

        return self._ledger.put(tokens, _filled(tokens, one))

    def randperm(self, n: int, **options: Any) -> Any:
        self._refuse_seeded("randperm")
        places = objects(distinct(self._chance, [1] * n, n), (n,))
        tokens = self._torch.empty(n, **{"dtype": self._torch.int64, **options})
        return self._ledger.put(tokens, places)

    def _uniform(self, tensor: Any) -> Any:
        return self._ledger.put(tensor, self._numbers(tensor, "uniform"))

    def _numbers(self, tensor: Any, kind: str) -> Any:
        return _filled(tensor, lambda: self._streams.number(kind))

    def _refuse_seeded(self, name: str) -> None:
        """Refuse draws of which nobody knows what the same seed gives."""
        if self._streams.seeded:
            raise self._chance.refused(f"it draws with torch's {name} after torch.manual_seed")

    def _known(self, tensor: Any) -> Any:
        """Return the chances that a tensor holds, as float64."""
        if not self._ledger.settle(tensor):
            raise self._chance.refused("it draws with chances that are random numbers")
        return tensor.detach().double().cpu().numpy()


def _filled(tensor: Any, make: Callable[[], Any]) -> Any:
    return objects([make() for _ in range(tensor.numel())], tuple(tensor.shape))


DRAWS = frozenset(name for name in vars(Draws) if not name.startswith("_"))  # what can be followed

REFUSED = frozenset(  # what cannot be followed
    {
        "randn", "randn_like", "normal", "normal_", "randint_like", "random_",
        "poisson", "binomial", "cauchy_", "log_normal_", "geometric_", "dropout",
        "gumbel_softmax", "rrelu",
        "alpha_dropout", "feature_dropout", "native_dropout", "_sample_dirichlet",
        "_standard_gamma",
    }
)  # fmt: skip
