"""All items of the book, in the order of the papers and then our own, and those of others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

from figures.contract import Item
from otspec._base.coerce import shown
from otspec._base.registry import Registry

Shown = TypeVar("Shown", bound=Item)


def _check_item(name: str, item: Any) -> None:
    if not (isinstance(item, type) and issubclass(item, Item) and item.name == name):
        raise ValueError(f"{shown(item)} is no subclass of Item with the name {shown(name)}")


ITEMS: Registry[type[Item]] = Registry("item", "otspec.figures", _check_item)
"""The classes of the items, by name."""


@dataclass_transform(frozen_default=True)
def item(name: str, source: str, **more: Any) -> Callable[[type[Shown]], type[Shown]]:
    """Make a class one of the book's items: a frozen dataclass with a place in the registry.

    Parameters
    ----------
    name, source : str
        As of :class:`figures.contract.Item`.
    more
        Of its other class variables: ``size``, ``panels``, ``seed``, ``traced``.

    Returns
    -------
    callable
        The decorator.

    Raises
    ------
    TypeError
        A class variable that its base does not have.
    """

    def registered(kind: type[Shown]) -> type[Shown]:
        for variable, value in {"name": name, "source": source, **more}.items():
            if not any(variable in vars(base).get("__annotations__", {}) for base in kind.mro()):
                raise TypeError(f"{kind.__name__} has no class variable {variable}")
            setattr(kind, variable, value)
        return ITEMS.register(dataclass(frozen=True)(kind))

    return registered


def named_item(name: str) -> type[Item]:
    """Return an item by name.

    Raises
    ------
    ValueError
        No item of that name.
    """
    if name not in ITEMS:
        raise ValueError(f"there is no item {name!r}: see python -m figures --list")
    return ITEMS[name]
