"""PyTorch, followed: which rule each of its functions follows, and a mode that sees all calls."""

import math
import operator
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from otspec.conformance.following.order import clipped
from otspec.conformance.following.torch import ranks
from otspec.conformance.following.torch.ledger import DRAWS, REFUSED, Draws, Ledger
from otspec.conformance.following.torch.rules import (
    Call,
    Rule,
    concerned,
    copied,
    elementwise,
    moved,
    named,
    plainly,
)

_SHAPES = (
    "__get__", "size", "dim", "ndimension", "numel", "nelement", "stride", "storage_offset",
    "is_contiguous", "__len__", "element_size", "is_floating_point", "is_complex", "get_device",
    "data_ptr", "zeros_like", "ones_like", "empty_like", "full_like", "new_zeros", "new_ones",
    "new_empty", "new_full", "__repr__", "__str__", "__format__", "__hash__", "__dir__",
    "requires_grad_", "is_same_size", "result_type", "_is_view", "is_cuda",
)  # fmt: skip
_COPIES = (
    "to", "type", "float", "double", "half", "bfloat16", "long", "int", "type_as", "cpu", "cuda",
    "clone", "contiguous", "detach", "pin_memory",
)  # fmt: skip
_MOVES: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(
        (
            "__getitem__", "reshape", "reshape_as", "view", "view_as", "flatten", "unflatten",
            "ravel", "squeeze", "squeeze_", "unsqueeze", "unsqueeze_", "expand", "expand_as",
            "broadcast_to", "repeat", "tile", "repeat_interleave", "permute", "transpose", "t",
            "movedim", "swapaxes", "flip", "roll", "unbind", "split", "chunk", "narrow", "select",
            "gather", "index_select", "take", "take_along_dim", "masked_select", "diagonal",
        ),
        (0,),
    ),
    **dict.fromkeys(("cat", "concat", "concatenate", "stack", "hstack", "vstack"), (0,)),
    **dict.fromkeys(("masked_fill", "masked_fill_", "__setitem__"), (0, 2)),
    **dict.fromkeys(("copy_", "fill_"), (0, 1)),
    "where": (1, 2),
    **dict.fromkeys(("scatter", "scatter_", "index_copy", "index_copy_"), (0, 3)),
}  # fmt: skip


def _negligible(function: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a function of a number that has no chance to be special."""
    return lambda value, *_: function(value)


def _swapped(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda one, two: function(two, one)


_ELEMENTWISE: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(("add", "__add__", "__radd__"), operator.add),
    **dict.fromkeys(("sub", "subtract", "__sub__"), operator.sub),
    **dict.fromkeys(("rsub", "__rsub__"), _swapped(operator.sub)),
    **dict.fromkeys(("mul", "multiply", "__mul__", "__rmul__"), operator.mul),
    **dict.fromkeys(("div", "divide", "true_divide", "__truediv__", "__div__"), operator.truediv),
    **dict.fromkeys(("__rdiv__", "__rtruediv__"), _swapped(operator.truediv)),
    **dict.fromkeys(("pow", "__pow__"), operator.pow),
    "__rpow__": _swapped(operator.pow),
    **dict.fromkeys(("neg", "negative", "__neg__"), operator.neg),
    **dict.fromkeys(("abs", "absolute", "__abs__"), abs),
    "log": _negligible(lambda x: x.log()),
    "log1p": _negligible(lambda x: (x + 1).log()),
    "exp": _negligible(lambda x: x.exp()),
    "sqrt": _negligible(lambda x: x.sqrt()),
    "reciprocal": _negligible(lambda x: 1 / x),
    "floor": _negligible(math.floor),
    **dict.fromkeys(("lt", "less", "__lt__", "le", "less_equal", "__le__"), operator.lt),
    **dict.fromkeys(("gt", "greater", "__gt__", "ge", "greater_equal", "__ge__"), operator.gt),
    **dict.fromkeys(("eq", "__eq__"), operator.eq),
    **dict.fromkeys(("ne", "not_equal", "__ne__"), operator.ne),
    **dict.fromkeys(("isnan", "isinf"), lambda _: False),
    "isfinite": lambda _: True,
    "nan_to_num": _negligible(lambda x: x),
    "clamp_min": lambda x, low: clipped(x, low, None),
    "clamp_max": lambda x, high: clipped(x, None, high),
    "maximum": lambda one, two: one if one > two else two,
    "minimum": lambda one, two: one if one < two else two,
}
_CHANGED = (
    "add", "sub", "mul", "div", "pow", "neg", "abs", "log", "log1p", "exp", "sqrt", "reciprocal",
    "clamp_min", "clamp_max", "floor",
)  # fmt: skip
_SUMS: Mapping[str, Callable[..., Any]] = {
    "sum": np.sum, "mean": np.mean, "prod": np.prod, "cumsum": np.cumsum, "cumprod": np.cumprod
}  # fmt: skip
_READ = ("item", "tolist", "numpy", "__array__", "__float__", "__int__", "__bool__", "__index__")


def _either_bound(rule: Rule) -> Rule:
    """Return a rule of clamp, which may be given either bound by name."""

    def named(ledger: Ledger, call: Call) -> Any:
        bounds = ranks.argument(call, 1, "min", None), ranks.argument(call, 2, "max", None)
        return rule(ledger, Call(call.function, (call.args[0], *bounds), {}))

    return named


def _rules() -> dict[str, Rule]:
    table: dict[str, Rule] = dict.fromkeys(_SHAPES, plainly) | dict.fromkeys(_COPIES, copied)
    table |= {name: moved(*data) for name, data in _MOVES.items()}
    table |= {name: elementwise(function) for name, function in _ELEMENTWISE.items()}
    table |= {f"{name}_": elementwise(_ELEMENTWISE[name], in_place=True) for name in _CHANGED} | {
        name: elementwise(_ELEMENTWISE[f"__{name[3:]}"], in_place=True)
        for name in ("__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__")
    }
    for name in ("clamp", "clip", "clamp_"):
        table[name] = _either_bound(elementwise(clipped, in_place=name == "clamp_"))
    table |= dict.fromkeys(_READ, ranks.read)
    table |= {name: ranks.accumulated(function) for name, function in _SUMS.items()}
    table |= dict.fromkeys(("tensor", "as_tensor", "asarray"), ranks.made)
    table |= dict.fromkeys(("searchsorted", "bucketize"), ranks.searched)
    table |= {"argmax": ranks.arg_extreme(True), "argmin": ranks.arg_extreme(False)}
    for name, largest, pairwise in (("max", True, "maximum"), ("min", False, "minimum")):
        table[name] = ranks.extreme_with_place(largest, table[pairwise])
    table["topk"] = ranks.ranking(
        2,
        lambda call, _: int(ranks.argument(call, 1, "k", 1)),
        lambda call: bool(ranks.argument(call, 3, "largest", True)),
    )
    for name in ("sort", "argsort"):
        table[name] = ranks.ranking(
            1, lambda _, size: size, lambda call: bool(ranks.argument(call, 2, "descending", False))
        )
    return table


RULES: MappingProxyType[str, Rule] = MappingProxyType(_rules())
"""Name of the function -> what it does to random numbers among its arguments."""


@cache
def torch_mode() -> Callable[[Ledger], Any]:
    """Return what makes a context manager in which PyTorch's random numbers are branches."""
    from torch.overrides import TorchFunctionMode

    class Followed(TorchFunctionMode):  # type: ignore[misc]
        """Calls of PyTorch's functions and methods, also of those that other code kept."""

        def __init__(self, ledger: Ledger) -> None:
            super().__init__()
            self._ledger = ledger

        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            """Do one call."""
            del types
            return called(self._ledger, func, args, kwargs or {})

    return Followed


def called(ledger: Ledger, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Do one call of PyTorch, inside a mode that is closed meanwhile."""
    name = named(function)
    if name in DRAWS:
        options = dict(kwargs)
        with ledger.streams.of(options.pop("generator", None)):
            return getattr(Draws(ledger), name)(*args, **options)
    if name in REFUSED:
        raise ledger.chance.refused(f"it draws with torch's {name}")
    # Most calls end here: this is the path to be kept short.
    if not concerned(args, ledger) and not (kwargs and concerned(kwargs.values(), ledger)):
        return function(*args, **kwargs)
    call, rule = Call(function, args, kwargs), RULES.get(name)
    if rule is not None:
        return rule(ledger, call)
    if not call.settled(ledger):
        raise ledger.chance.refused(f"it passes a random number to torch's {name}")
    return function(*args, **kwargs)
