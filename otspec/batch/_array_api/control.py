"""Loops and branches, which in a compiled function are part of what is compiled."""

from collections.abc import Callable
from importlib import import_module
from math import prod
from typing import Any, TypeAlias

from otspec.batch._array_api.library import Array, Library, is_torch

State: TypeAlias = tuple[Array, ...]


def repeated(library: Library, times: int, step: Callable[[State], State], state: State) -> State:
    """Return a state after several steps, which leave its shapes and dtypes as they are."""
    if library.reorders:  # JAX
        return _lax().fori_loop(0, times, lambda _, held: step(held), state)
    for _ in range(times):
        state = step(state)
    return state


def decided(library: Library, found, is_open, decide: Callable[..., Array], *rows) -> Array:
    """Return what was found, (...), or where that is open what is decided, row by row."""
    xp = library.xp
    some = xp.any(is_open)
    if library.reorders:  # JAX
        return _lax().cond(
            some, lambda: _in_turn(found, is_open, decide, *_flat(library, rows)), lambda: found
        )
    if is_torch(found):
        import torch  # it is there already

        if torch.compiler.is_compiling():
            return torch.cond(
                some,
                lambda found, is_open, *rows: xp.where(is_open, decide(*rows), found),
                lambda found, is_open, *rows: found.clone(),  # noqa: ARG005 # one signature
                (found, is_open, *rows),
            )
    if not bool(some):
        return found
    flags = xp.reshape(is_open, (-1,))
    values, rows = xp.reshape(found, (-1,)), _flat(library, rows)
    parts = [
        decide(*(part[i : i + 1] for part in rows)) if bool(flags[i]) else values[i : i + 1]
        for i in range(flags.shape[0])
    ]
    return xp.reshape(xp.concat(parts), found.shape)


def _flat(library: Library, rows: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(library.xp.reshape(part, (prod(part.shape[:-1]), part.shape[-1])) for part in rows)


def _in_turn(found, is_open, decide: Callable[..., Array], *rows) -> Array:
    """Return the same in JAX, which lets what was decided for a row go before the next."""
    lax = _lax()

    def row(given: tuple[Array, ...]) -> Array:
        found, is_open, *parts = given
        return lax.cond(is_open, lambda: decide(*(part[None] for part in parts))[0], lambda: found)

    given = found.reshape(-1), is_open.reshape(-1), *rows
    return lax.map(row, given).reshape(found.shape)


def _lax() -> Any:
    return import_module("jax.lax")
