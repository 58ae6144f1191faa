"""Calls of PyTorch that rank, search and read random numbers among the elements."""

from collections.abc import Callable
from typing import Any

import numpy as np

from otspec._base import Array
from otspec.conformance.following.order import Pending, extreme, place_among, ranked
from otspec.conformance.following.torch.ledger import Ledger, is_tensor, objects
from otspec.conformance.following.torch.rules import Call, Rule, mapped


def argument(call: Call, place: int, name: str, default: Any) -> Any:
    """Return an argument that may be given by place or by name."""
    return call.args[place] if len(call.args) > place else call.kwargs.get(name, default)


def arg_extreme(largest: bool) -> Rule:
    """Return the rule of argmax or argmin: a token that is drawn once it is needed."""

    def rule(ledger: Ledger, call: Call) -> Any:
        tensor = call.args[0]
        dim, keepdim = argument(call, 1, "dim", None), argument(call, 2, "keepdim", False)
        rows = _rows(ledger.values(tensor), dim)
        shape = _reduced(tuple(tensor.shape), dim, keepdim)
        places = [Pending(lambda row=row: extreme(row, largest)) for row in rows]  # type: ignore[misc]
        return ledger.put(tensor.new_empty(shape).long(), objects(places, shape))

    return rule


def extreme_with_place(largest: bool, elementwise: Rule) -> Rule:
    """Return the rule of max or min: of two tensors, of all elements, or along one dimension."""

    def rule(ledger: Ledger, call: Call) -> Any:
        tensor = call.args[0]
        dim, keepdim = argument(call, 1, "dim", None), argument(call, 2, "keepdim", False)
        if "other" in call.kwargs or is_tensor(dim):
            return elementwise(ledger, call)
        rows = _rows(ledger.values(tensor), dim)
        shape = _reduced(tuple(tensor.shape), dim, keepdim)
        places = [extreme(row, largest) for row in rows]
        values = objects([row[i] for row, i in zip(rows, places, strict=True)], shape)
        largest_values = ledger.put(tensor.new_empty(shape), values)
        if dim is None:
            return largest_values
        indices = tensor.new_tensor(places).long().reshape(shape)
        return type(call.plainly())((largest_values, indices))

    return rule


def ranking(
    dim_place: int, most: Callable[[Call, int], int], largest: Callable[[Call], bool]
) -> Rule:
    """Return the rule of topk, sort or argsort, along the last dimension."""

    def rule(ledger: Ledger, call: Call) -> Any:
        tensor = call.args[0]
        if argument(call, dim_place, "dim", -1) not in (-1, tensor.dim() - 1):
            raise ledger.chance.refused(f"it ranks random numbers in torch's {call.name} with dim=")
        rows = _rows(ledger.values(tensor), -1)
        size = most(call, tensor.shape[-1])
        shape = (*tensor.shape[:-1], size)
        orders = [ranked(row, largest(call), size) for row in rows]
        values = [row[i] for row, order in zip(rows, orders, strict=True) for i in order]
        indices = tensor.new_tensor(orders).long().reshape(shape)
        if call.name == "argsort":
            return indices
        kept = ledger.put(tensor.new_empty(shape), objects(values, shape))
        return type(call.plainly())((kept, indices))

    return rule


def searched(ledger: Ledger, call: Call) -> Any:
    """Places of random numbers among sorted plain ones: searchsorted and bucketize."""
    edges = argument(call, 0, "sorted_sequence", None)
    numbers = argument(call, 1, "input", None)
    if call.name == "bucketize":
        edges, numbers = argument(call, 1, "boundaries", None), argument(call, 0, "input", None)
    if is_tensor(numbers) and not ledger.settle(edges):
        raise ledger.chance.refused("it searches among random numbers")
    right = bool(call.kwargs.get("right", False)) or call.kwargs.get("side") == "right"
    wanted = ledger.values(numbers) if hasattr(numbers, "shape") else objects([numbers], ())
    rows = np.broadcast_to(
        objects(edges.reshape(-1, edges.shape[-1]).tolist(), edges.shape[:-1])[..., None]
        if edges.dim() > 1
        else objects([edges.tolist()], ()),
        wanted.shape,
    )
    places = [
        Pending(lambda row=row, number=number: place_among(row, number, right))  # type: ignore[misc]
        for row, number in zip(rows.ravel().tolist(), wanted.ravel().tolist(), strict=True)
    ]
    return ledger.put(edges.new_empty(wanted.shape).long(), objects(places, wanted.shape))


def read(ledger: Ledger, call: Call) -> Any:
    """Return elements as Python objects: item, tolist and numpy; random ones as they are."""
    if call.settled(ledger):
        return call.function(*call.args, **call.kwargs)
    values = ledger.values(call.args[0])
    if call.name in ("numpy", "__array__"):
        return values
    if call.name == "tolist":
        return values.tolist()
    if values.size != 1:
        raise ledger.chance.refused(f"it reads {values.size} random numbers as one")
    value = values.item()
    return value if call.name == "item" else getattr(value, call.name)()


def accumulated(function: Callable[..., Any]) -> Rule:
    """Return the rule of sums and products: of random numbers only some products are known."""

    def rule(ledger: Ledger, call: Call) -> Any:
        if call.settled(ledger):
            return call.function(*call.args, **call.kwargs)
        result, dim = call.plainly(), argument(call, 1, "dim", None)
        values = np.asarray(function(ledger.values(call.args[0]), axis=dim), dtype=object)
        return ledger.put(result, values.reshape(tuple(result.shape)))

    return rule


def made(ledger: Ledger, call: Call) -> Any:
    """Return a tensor of random numbers in a list: tensor and as_tensor."""
    if call.settled(ledger):
        return call.function(*call.args, **call.kwargs)
    given = mapped(call.args[0], lambda v: ledger.values(v).tolist() if is_tensor(v) else v)
    values = np.array(given, dtype=object)
    plain = np.full(values.shape, 0.5).tolist()
    return ledger.put(call.function(plain, *call.args[1:], **call.kwargs), values)


def _rows(values: Array, dim: int | None) -> list[list[Any]]:
    if dim is None or values.ndim == 0:
        return [values.ravel().tolist()]
    moved = np.moveaxis(values, dim, -1)
    return [list(row) for row in moved.reshape(-1, values.shape[dim])]


def _reduced(shape: tuple[int, ...], dim: int | None, keepdim: bool) -> tuple[int, ...]:
    if dim is None or not shape:
        return tuple(1 for _ in shape) if keepdim else ()
    dim %= len(shape)
    return (*shape[:dim], *((1,) if keepdim else ()), *shape[dim + 1 :])
