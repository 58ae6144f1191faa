"""What arguments may be, and the words with which all others are refused.

Each checker takes the value and the name that error messages call it, and returns the plain Python
value or raises a ``ValueError`` of one line with argument, value and fix. ``True`` is no integer,
nor is ``2.0``; NumPy's scalars and arrays of no dimension count as the numbers that they hold.
"""

import math
import operator
import sys
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from otspec._base.arithmetic import IntArray, Number, as_scalar
from otspec._base.coerce import as_array, is_masked, reason, shown
from otspec._base.extras import memory
from otspec._base.registry import meant


def as_parents(values: Any, name: str) -> tuple[int, ...]:
    """Return the parent of each node, −1 for what follows the prompt directly."""
    given = as_list(values, name, "a sequence of nodes")
    parents = [plain_integer(parent) for parent in given]
    found = []
    for node, parent in enumerate(parents):
        if parent is None:
            raise ValueError(f"{name}[{node}] is {shown(given[node])}: it must be an integer")
        if not -1 <= parent < node:
            raise ValueError(
                f"{name}[{node}] is {parent}: a parent comes before its child, and -1 stands "
                "for the prompt"
            )
        found.append(parent)
    return tuple(found)


def depths_of(parents: tuple[int, ...]) -> list[int]:
    """Return each node's depth; 1 for what follows the prompt directly."""
    depths: list[int] = []
    for parent in parents:
        depths.append(1 if parent < 0 else depths[parent] + 1)
    return depths


def children_of(parents: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the children of the prompt, and of each node."""
    found: list[list[int]] = [[] for _ in range(len(parents) + 1)]
    for child, parent in enumerate(parents):
        found[parent + 1].append(child)
    return tuple(map(tuple, found))


_SETS = (set, frozenset)
MOST_ITEMS = 1_000_000
"""Most entries of arguments that are lists of other things than probabilities, such as ``ks``."""


def as_integer(
    value: Any,
    name: str,
    least: int,
    most: int | None = None,
    *,
    wanted: str = "an integer",
    otherwise: str = "pass a smaller one",
) -> int:
    """Check an integer from ``least`` to ``most``."""
    # The error message says to pass what is `wanted`, or `otherwise` where it is too large.
    number = plain_integer(value)
    if number is None:
        example = "" if isinstance(value, (bool, np.bool_)) else f", such as {name}={max(least, 2)}"
        raise ValueError(f"{name} must be an integer, got {shown(value)}: pass {wanted}{example}")
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {shown(number)}: pass {wanted}")
    if most is not None and number > most:
        limit = f"{most:,}" if most < 10**18 else f"{most:.0e}"
        raise ValueError(f"{name} must be at most {limit}, got {shown(number)}: {otherwise}")
    return number


def plain_integer(value: Any) -> int | None:
    """Return an integer of any kind as a Python ``int``; None for what is none."""
    if isinstance(value, (bool, np.bool_)) or is_masked(value):
        return None
    try:
        return operator.index(value)
    except Exception:  # __index__ is the caller's code
        return None


def as_size(size: Any, *, least: int = 0, width: int = 1) -> int:
    """Check a sample size, given how many numbers are kept for each of the samples."""
    number = as_integer(size, "size", least, wanted="how many samples to draw")
    if number * width * 8 > memory() / 2:
        raise ValueError(
            f"size is {shown(number)}, and each sample takes {shown(width)} numbers: that is more "
            "than half of this machine's memory; draw fewer at a time"
        )
    return number


def as_seed(seed: Any, name: str = "seed") -> int:
    """Check a seed: an integer, at least 0."""
    return as_integer(seed, name, 0, wanted="an integer of your choice")


def as_generator(rng: Any, name: str = "rng") -> np.random.Generator:
    """Check a generator of random numbers: a ``numpy.random.Generator``."""
    if not isinstance(rng, np.random.Generator):
        raise ValueError(
            f"{name} is {shown(rng)}: it must be a numpy.random.Generator, such as "
            "numpy.random.default_rng(0)"
        )
    return rng


def as_flag(value: Any, name: str) -> bool:
    """Check a truth value: ``True`` or ``False``, since ``"no"`` would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {shown(value)}: it must be True or False")
    return bool(value)


def as_choice(value: Any, name: str, choices: Iterable[str]) -> str:
    """Check one of some names."""
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        closest = meant(str(value), known) if type(value) is str else ""
        one = ", ".join(known)
        raise ValueError(f"{name} is {shown(value)}: it must be one of {one}{closest}")
    return str(value)


def as_callable(value: Any, name: str, wanted: str) -> Callable[..., Any]:
    """Check something that is called, such as a kernel."""
    if not callable(value):
        raise ValueError(f"{name} is {shown(value)}: it must be {wanted}")
    return value


def as_instance(value: Any, name: str, kind: type | tuple[type, ...], wanted: str) -> Any:
    """Check the type of an object, such as a rule."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} is {shown(value)}: it must be {wanted}")
    return value


def as_path(path: Any) -> Path:
    """Check the path of a file: text or a path."""
    if not isinstance(path, (str, PathLike)):
        raise ValueError(f"path is {shown(path)}: it must be the name of a file")
    try:
        return Path(path)
    except Exception as error:  # __fspath__ is the caller's code, and may give bytes
        raise ValueError(f"path cannot be read as a name of a file ({reason(error)})") from error


def as_real(
    value: Any,
    name: str,
    least: float = -math.inf,
    most: float = math.inf,
    *,
    wanted: str | None = None,
    open_below: bool = False,
    infinite: bool = False,
) -> Number:
    """Check a finite real number within bounds, above ``least`` if ``open_below``."""
    number = as_scalar(value, name)
    above = number > least if open_below else number >= least
    largest = sys.float_info.max
    finite = infinite or -largest <= number <= largest
    if not (above and number <= most and finite):
        bounds = f"at least {least:g}" if most == math.inf else f"between {least:g} and {most:g}"
        must = wanted or ("a finite number" if above and not finite else bounds)
        raise ValueError(f"{name} is {shown(value)}: it must be {must}")
    return number


def as_float_above(
    value: Any, name: str, least: float, most: float = math.inf, *, wanted: str | None = None
) -> float:
    """Check a real number above a bound that is used as a float."""
    number = float(as_real(value, name, least, most, wanted=wanted, open_below=True))
    if number <= least:
        raise ValueError(f"{name} is {shown(value)}, which floats round to {least:g}: raise it")
    return number


def as_list(values: Any, name: str, wanted: str, most: int | None = None) -> list[Any]:
    """Return what a collection holds, in order; for the error message, what is ``wanted``."""
    # Text, sets, mappings and masked entries are refused, and more than `most`.
    _refuse_unordered(values, name, wanted, True)
    most = MOST_ITEMS if most is None else most
    items = []
    for item in as_steps(values, name, wanted):
        items.append(item)
        if len(items) > most:
            raise ValueError(f"{name} has more than {most:,} entries: pass fewer")
    return items


def as_tokens(
    values: Any, n: int, name: str, *, count: int | None = None, unordered: bool = False
) -> tuple[int, ...]:
    """Check token ids below n; of more than ``count`` the last that is returned is −1."""
    wanted = f"{'a collection' if unordered else 'a sequence'} of integer token ids"
    _refuse_unordered(values, name, wanted, not unordered)
    if type(values) in (tuple, list) and (count is None or len(values) <= count):
        plain = tuple(values)  # all at once, as a text of many tokens wants it
        if set(map(type, plain)) == {int} and min(plain) >= 0 and max(plain) < n:
            return plain
    tokens: list[int] = []
    for i, value in enumerate(as_steps(values, name, wanted)):
        if i == count:
            return (*tokens, -1)
        if i == MOST_ITEMS and type(values) not in (list, tuple, np.ndarray):
            raise ValueError(f"{name} has more than {MOST_ITEMS:,} entries: pass a list of them")
        token = plain_integer(value)
        if token is None or not 0 <= token < n:
            place = f"{name} holds" if unordered else f"{name}[{i}] is"
            what = "are integers" if token is None else "run"
            raise ValueError(f"{place} {shown(value)}, but token ids {what} from 0 to {n - 1}")
        tokens.append(token)
    return tuple(tokens)


def how_many(values: Any, tokens: tuple[int, ...], count: int) -> str:
    """Say how many tokens there were where :func:`as_tokens` was to look at ``count``."""
    if type(values) in (list, tuple, np.ndarray):
        return str(len(values))
    return f"more than {count}" if len(tokens) > count else str(len(tokens))


def as_permutation(order: Any, n: int, name: str = "order", what: str = "token id") -> IntArray:
    """Check an order of all token ids, or of other things that are numbered."""
    array = as_array(order, name)
    if array.dtype.kind in "iu" and array.shape == (n,):
        ids: IntArray = array.astype(np.intp)
        if ((ids >= 0) & (ids < n)).all() and (np.bincount(ids, minlength=n) == 1).all():
            return ids
    raise ValueError(
        f"{name} is {shown(order)}: it must hold each {what} from 0 to {n - 1} exactly once"
    )


def _refuse_unordered(values: Any, name: str, wanted: str, sets: bool) -> None:
    if isinstance(values, (str, bytes, bytearray, Mapping, *(_SETS if sets else ()))):
        raise ValueError(f"{name} is {shown(values)}: it must be {wanted}")
    if is_masked(values):
        raise ValueError(f"{name} has masked entries: fill or drop them first")


def as_steps(values: Any, name: str, wanted: str) -> Iterable[Any]:
    """Yield what a collection holds; whatever its own code raises is refused."""
    _refuse_unordered(values, name, wanted, False)
    try:
        yield from values
    except Exception as error:  # __iter__ is the caller's code
        why = "" if isinstance(error, TypeError) else f" ({reason(error)})"
        raise ValueError(f"{name} is {shown(values)}: it must be {wanted}{why}") from error
