"""Arrays that nobody can change, and objects that hold them: alike after copies and pickles."""

import functools
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

Value = TypeVar("Value")
Arguments = ParamSpec("Arguments")


def read_only(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the same numbers in memory that nobody can write to, copied unless it is already."""
    # A flag says only that this view is not to be written through, while its owner may still write.
    # Numbers are kept in `bytes`, which never change; objects in an array of their own, of which a
    # view is handed out, whose flag cannot be set back.
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
    """Return a value with all arrays read-only, also inside tuples and dictionaries."""
    # A dictionary is a new one; what holds no array is returned as it is.
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


def display() -> Any:
    """Return :mod:`otspec.display`, which says what is shown of each class."""
    # It is found by its name, when something is shown: it stands above all that it shows.
    return import_module("otspec.display")


class Shown:
    """What is shown on one line, or as a card, by the rows of :mod:`otspec.display`."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Otherwise a dataclass would write one of its own, which prints all that it holds.
        if "__repr__" not in vars(cls):
            for name in ("__repr__", "_repr_pretty_"):  # IPython takes the first that it finds
                setattr(cls, name, getattr(cls, name))

    def __repr__(self) -> str:
        return display().line(self)

    def __rich_repr__(self) -> Iterator[tuple[str, Any]]:
        yield from display().parts(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        display().pretty(self, printer, cycle)

    def _repr_html_(self) -> str:
        return display().card_of(self).html()


class cached_property(functools.cached_property[Value]):  # noqa: N801  as that of functools
    """A property whose value is computed once and then remembered, all arrays in it read-only."""

    def __init__(self, func: Callable[[Any], Value]) -> None:

        @functools.wraps(func)
        def freezing(holder: Any) -> Value:
            return frozen(func(holder))

        super().__init__(freezing)


def remembered(
    method: Callable[Concatenate[Any, Arguments], Value],
) -> cached_property[Callable[Arguments, Value]]:
    """Return a method that computes each answer once, by its arguments."""

    def known(holder: Any) -> Any:
        return functools.cache(functools.partial(method, holder))

    return cached_property(known)


class Frozen(Shown):
    """An object whose arrays are its own, so that nobody else can change what it says.

    A dataclass gets read-only copies of the arrays that it is made of, and tuples for lists; one
    with a ``__post_init__`` of its own passes arrays through :func:`read_only`, or a check that
    does, or calls :meth:`__post_init__` here. Copies and pickles are made without what its
    :class:`cached_property` remember, and hold read-only arrays like the original.
    """

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
            if not isinstance(getattr(kind, name, None), functools.cached_property)
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(frozen(state))
