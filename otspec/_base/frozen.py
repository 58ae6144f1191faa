"""Arrays that nobody can change, and objects that hold them: alike after copies and pickles."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any

import numpy as np
import numpy.typing as npt

from otspec.cards import Carded


def read_only(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the same numbers in memory that nobody can write to.

    Parameters
    ----------
    values : ndarray

    Returns
    -------
    ndarray
        A copy, unless the memory is safe already: a flag says only that this view is not to be
        written through, while its owner may still write. Numbers are kept in ``bytes``, which
        never change, so that such an array can be shared whoever passes it. Objects are kept in
        an array of their own; what is handed out is a view, whose flag cannot be set back.
    """
    if values.dtype.hasobject:
        owner = values.copy()
        owner.flags.writeable = False
        return owner.view()
    if _is_immutable(values):
        return values
    return np.ndarray(values.shape, values.dtype, values.tobytes())


def _is_immutable(values: npt.NDArray[Any]) -> bool:
    """Whether the memory of an array belongs to ``bytes``."""
    owner: Any = values
    while type(owner) is np.ndarray:
        owner = owner.base
    return type(owner) is bytes


def frozen(value: Any) -> Any:
    """Return a value with all arrays read-only, also inside tuples and dictionaries.

    A dictionary is a new one; what holds no array is returned as it is.
    """
    if isinstance(value, np.ndarray):
        return read_only(value)
    if type(value) is dict:
        return {key: frozen(item) for key, item in value.items()}
    if isinstance(value, tuple) and _may_hold_arrays(value):
        make = getattr(value, "_make", tuple)
        return make(map(frozen, value))
    return value


def _may_hold_arrays(values: tuple[Any, ...]) -> bool:
    """Whether to look into a tuple: one of many token ids is told by its types alone."""
    return any(issubclass(kind, (np.ndarray, tuple, dict)) for kind in set(map(type, values)))


class Frozen(Carded):
    """An object whose arrays are its own, so that nobody else can change what it says.

    A dataclass gets read-only copies of the arrays that it is made of, and tuples for lists; one
    with a ``__post_init__`` of its own passes arrays through :func:`read_only`, or through a
    check that does, or calls :meth:`__post_init__` here. What a ``cached_property`` remembers is
    made read-only too.

    Copies and pickles are made without what is remembered, since it can be computed again, and
    hold read-only arrays like the original.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for member in vars(cls).values():
            if isinstance(member, cached_property):
                member.func = _freezing(member.func)

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            vars(self)[name] = frozen(tuple(value) if type(value) is list else value)

    def _hold(self, **values: Any) -> None:
        """Set fields while the object is being made, as read-only values."""
        vars(self).update(frozen(values))

    def __getstate__(self) -> dict[str, Any]:
        kind = type(self)
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(frozen(state))


def _freezing(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function of a property with a read-only result."""

    @wraps(function)
    def freezing(self: Any) -> Any:
        return frozen(function(self))

    return freezing
