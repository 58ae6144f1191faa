"""Which elements of which tensors are random numbers, and those that a seed gives again."""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from otspec._base.arithmetic import Array
from otspec.conformance.following.order import Pending
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
    address: int = tensor.untyped_storage().data_ptr()
    return address
