"""Losses for JAX: chunks of rows, forward and backward. Importing this imports JAX."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

from otspec.batch._array_api.library import library_of
from otspec.learning.objectives import BACKWARD, FORWARD, Objective, State, softmax

Array: TypeAlias = Any


@partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4))
def loss_of(
    logits: Array, target: Array, objective: Objective, temperature: float, target_logits: bool
) -> Array:
    """Return the loss of each row: (..., V), (..., V) -> (...)."""
    return _forward(logits, target, objective, temperature, target_logits)[0]


def _forward(
    logits: Array, target: Array, objective: Objective, temperature: float, target_logits: bool
) -> tuple[Array, tuple[Array, Array, State]]:
    def solve(logits: Array, target: Array) -> tuple[Array, State]:
        logits, target = _read(logits, target, temperature, target_logits)
        library = library_of(logits)
        loss, state = objective.solve(library, logits, target)
        return loss.astype(library.dtype), state

    loss, state = _in_chunks(solve, objective, FORWARD, logits, target)
    return loss, (logits, target, state)


def _backward(
    objective: Objective,
    temperature: float,
    target_logits: bool,
    kept: tuple[Array, Array, State],
    upstream: Array,
) -> tuple[Array, None]:
    logits, target, state = kept

    def pull(logits: Array, target: Array, upstream: Array, *state: Array) -> Array:
        dtype = logits.dtype
        logits, target = _read(logits, target, temperature, target_logits)
        gradient = objective.gradient(library_of(logits), logits, target, state)
        return (gradient * (upstream / temperature)[..., None]).astype(dtype)

    return _in_chunks(pull, objective, BACKWARD, logits, target, upstream, *state), None


loss_of.defvjp(_forward, _backward)


def _in_chunks(work: Callable[..., Any], objective: Objective, share: int, *arrays: Array) -> Any:
    """Apply a function of rows to a few of them at once: (..., m) each, or (...)."""
    *lead, size = arrays[0].shape
    flat = [part.reshape(-1, *part.shape[len(lead) :]) for part in arrays]
    rows = len(flat[0])
    step = objective.rows_at_once(rows, size, share)
    whole = rows - rows % step
    if step >= rows:
        found = work(*flat)
    else:
        chunked = [part[:whole].reshape(-1, step, *part.shape[1:]) for part in flat]
        found = jax.lax.map(lambda each: work(*each), chunked)
        found = jax.tree.map(lambda part: part.reshape(-1, *part.shape[2:]), found)
        if whole < rows:
            rest = work(*(part[whole:] for part in flat))
            found = jax.tree.map(lambda *both: jnp.concatenate(both), found, rest)
    return jax.tree.map(lambda part: part.reshape(*lead, *part.shape[1:]), found)


def _read(
    logits: Array, target: Array, temperature: float, target_logits: bool
) -> tuple[Array, Array]:
    """Return rows of logits over the temperature, and of the target's probabilities."""
    library = library_of(logits)
    logits, target = library.narrowed(logits) / temperature, library.narrowed(target)
    return logits, softmax(library, target / temperature) if target_logits else target
