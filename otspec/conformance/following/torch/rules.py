"""What calls of PyTorch do to random numbers among the elements: moved, compared, ranked."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from otspec._base import Array
from otspec.conformance.following.symbols import RandomNumber
from otspec.conformance.following.torch.ledger import Ledger, is_tensor, objects


class Call(NamedTuple):
    """A call of a function or method of PyTorch."""

    function: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What it is called: methods, operators and functions alike."""
        return named(self.function)

    def settled(self, ledger: Ledger) -> bool:
        """Draw the tokens among the arguments; return whether there are plain numbers only."""
        return all(
            ledger.settle(leaf) if is_tensor(leaf) else not isinstance(leaf, RandomNumber)
            for leaf in list(self.leaves())
        )

    def leaves(self) -> Iterator[Any]:
        """Return the arguments, and what is in those that are lists."""
        return _leaves((self.args, *self.kwargs.values()))

    def plainly(self) -> Any:
        """Call the function as if random numbers were NaN."""
        args = mapped(self.args, _as_nan)
        return self.function(*args, **{k: mapped(v, _as_nan) for k, v in self.kwargs.items()})


def named(function: Any) -> str:
    """Return the name of a function or method of PyTorch."""
    return getattr(function, "__name__", None) or str(function)


Rule = Callable[[Ledger, Call], Any]


def plainly(ledger: Ledger, call: Call) -> Any:
    """Shapes, types and views: nothing is read."""
    del ledger
    return call.plainly()


def moved(*data: int) -> Rule:
    """Return the rule of functions that move elements of some of their arguments."""

    def rule(ledger: Ledger, call: Call) -> Any:
        _settle_others(ledger, call, data)
        moving = [v for place, v in enumerate(call.args) if place in data]
        moving += [v for name, v in call.kwargs.items() if name in _DATA]
        result = call.plainly()
        if not concerned(moving, ledger):
            return result
        if call.name in _IN_PLACE:
            ledger.open(call.args[0])
        elif all(ledger.holds(it) for it in _leaves(result) if is_tensor(it) and it.numel()):
            if call.name == "view" and result.dtype != call.args[0].dtype:
                raise ledger.chance.refused("it reads the bits of a random number")
            return result  # views

        def numbers(value: Any) -> Any:
            return ledger.numbers(value) if is_tensor(value) else ledger.number(value)

        args = [mapped(v, numbers) if i in data else v for i, v in enumerate(call.args)]
        kwargs = {k: mapped(v, numbers) if k in _DATA else v for k, v in call.kwargs.items()}
        entered = _leaves(call.function(*args, **kwargs))
        for tensor, each in zip(_leaves(result), entered, strict=True):
            if is_tensor(tensor):
                ledger.open(tensor, each)
        changed = call.args[0] if call.name in _IN_PLACE else None
        if changed is not None and not changed.is_floating_point() and ledger.is_random(changed):
            raise ledger.chance.refused("it stores a random number among integers")
        return result

    return rule


_DATA = frozenset({"input", "tensors", "other", "value", "src", "source"})
_IN_PLACE = frozenset(
    {"__setitem__", "copy_", "masked_fill_", "fill_", "scatter_", "index_copy_", "masked_scatter_"}
)


def _settle_others(ledger: Ledger, call: Call, data: tuple[int, ...]) -> None:
    """Draw tokens that are indices or masks."""
    others = [value for place, value in enumerate(call.args) if place not in data]
    named = [value for name, value in call.kwargs.items() if name not in _DATA]
    if not Call(call.function, (others, named), {}).settled(ledger):
        raise ledger.chance.refused(f"it takes random numbers for indices, in torch's {call.name}")


def copied(ledger: Ledger, call: Call) -> Any:
    """Conversions: the elements stay where they are; as integers they are rounded."""
    source = call.args[0]
    if not ledger.settle(source):
        result = call.plainly()
        if ledger.holds(result):
            return result
        if result.is_floating_point():
            ledger.open(result, ledger.numbers(source))
            return result
        values = ledger.values(source)
        return ledger.put(result, objects([int(v) for v in values.ravel()], values.shape))
    return call.plainly()


def elementwise(function: Callable[..., Any], *, in_place: bool = False) -> Rule:
    """Return the rule of an operation on each element."""

    def rule(ledger: Ledger, call: Call) -> Any:
        for name in ("alpha", "rounding_mode", "out"):
            given = call.kwargs.get(name)
            if is_tensor(given) or given not in (None, 1):
                raise ledger.chance.refused(f"it passes {name}= with a random number")
        operands = [*call.args, *(v for k, v in call.kwargs.items() if k in _OPERANDS)]
        if call.settled(ledger):
            return call.function(*call.args, **call.kwargs)
        wanted = [ledger.values(it) if is_tensor(it) else objects([it], ()) for it in operands]
        result = call.plainly()
        values = _each(function, wanted, objects(result.flatten().tolist(), tuple(result.shape)))
        if in_place:
            return ledger.put(call.args[0], values)
        if result.is_floating_point():
            return ledger.put(result, values)
        if values.size == 1:
            return result.fill_(values.item())
        return result.copy_(result.new_tensor(values.tolist()))

    return rule


_OPERANDS = frozenset({"other", "exponent", "min", "max"})


def _each(function: Callable[..., Any], operands: list[Array], plain: Array) -> Array:
    """Do something with each element that is random; the others are known."""
    if plain.size == 1:  # saves most of the time
        each = [one.item() for one in operands]
        random = any(isinstance(one, RandomNumber) for one in each)
        return objects([function(*each)], plain.shape) if random else plain
    *rows, known = np.broadcast_arrays(*operands, plain)
    values = [
        function(*each) if any(isinstance(one, RandomNumber) for one in each) else value
        for *each, value in zip(
            *(row.ravel().tolist() for row in rows), known.ravel().tolist(), strict=True
        )
    ]
    return objects(values, known.shape)


def concerned(values: Iterable[Any], ledger: Ledger) -> bool:
    """Return whether a random number is among some values, or in what is in them."""
    for value in values:
        if type(value) in _NO_NUMBERS:
            continue
        if hasattr(value, "untyped_storage"):  # a tensor; this is called most often of all
            found = ledger.holds(value)
        elif isinstance(value, (tuple, list)):
            found = concerned(value, ledger)
        elif isinstance(value, np.ndarray) and value.dtype == object:
            found = concerned(value.ravel().tolist(), ledger)
        else:
            found = isinstance(value, RandomNumber)
        if found:
            return True
    return False


_NO_NUMBERS = frozenset({int, float, bool, str, slice, type(None)})


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, np.ndarray) and value.dtype == object:
        yield from value.ravel().tolist()
    else:
        yield value


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """Return an argument with its tensors and random numbers replaced."""
    if type(value) in (tuple, list):
        return type(value)(mapped(each, function) for each in value)
    known = is_tensor(value) or isinstance(value, (float, int, RandomNumber))
    return function(value) if known else value


def _as_nan(value: Any) -> Any:
    return math.nan if isinstance(value, RandomNumber) else value
