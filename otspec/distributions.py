"""What a distribution is: the one door through which every probability enters.

Arithmetic follows the input. Floats of any width become float64; integers, ``Fraction``,
``Decimal`` and strings such as ``"3/10"`` become an object array of ``Fraction`` and stay
exact through every function of the package. The two never meet: a mixture is an error.
"""

import math
from collections.abc import Iterable
from enum import Enum
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from otspec._base import as_flag, as_integer, as_tokens, plain, read_only
from otspec._base.arithmetic import Array, IntArray, as_numbers, exact_sum, is_exact

Distribution: TypeAlias = npt.NDArray[Any]
"""A checked, read-only array of shape (n,): float64, or object holding ``Fraction``."""
DistributionLike: TypeAlias = Any
"""Whatever :func:`as_distribution` takes: a list, tuple or array of numbers or strings."""

SUM_TOLERANCE = 1e-9
"""How far a float sum may be from 1 before it is refused: nothing renormalizes silently."""
_CHECKED: WeakValueDictionary[int, Distribution] = WeakValueDictionary()
"""What :func:`as_distribution` has returned, by id: nobody can change it, so it stays checked."""
LARGEST_K = 10**100  # most drafts; the square of their number is still a float


class Unasked(Enum):
    """What ``normalize`` is where a function does not have it, so that no message advises it."""

    FALSE = False


Normalize: TypeAlias = bool | Unasked


def as_distribution(
    values: DistributionLike, name: str = "distribution", *, normalize: Normalize = Unasked.FALSE
) -> Distribution:
    """Check a sequence of probabilities and return it as an array.

    Law: it is idempotent. Raises ``ValueError``: not one-dimensional, empty, a mixture of floats
    and exact numbers, not a number, NaN, infinite, negative, masked, or a wrong sum. The message
    names the argument, index and value.

    Parameters
    ----------
    values : array_like, shape (n,)
        Floats (any width), or exact numbers: ``int``, ``Fraction``, ``Decimal``, strings such
        as ``"3/10"`` or ``"0.3"``. Zeros are legal. Integers next to floats count as floats.
    name : str
        What error messages call the argument.
    normalize : bool, optional
        Scale to sum 1 instead of refusing another sum. A function that has this option passes it
        on, and the message about a wrong sum advises it.

    Returns
    -------
    ndarray, shape (n,), read-only
        A copy: float64 for floats, object array of ``Fraction`` for exact input. Float sums within
        1e-9 of 1 are scaled to 1; exact sums must be exactly 1.

    Examples
    --------
    >>> as_distribution([0.5, 0.5])
    array([0.5, 0.5])
    >>> as_distribution(["1/2", "0.3", "1/5"])
    array([Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)], dtype=object)
    >>> as_distribution([3, 1], normalize=True)
    array([Fraction(3, 4), Fraction(1, 4)], dtype=object)
    """
    if not isinstance(normalize, Unasked):
        normalize = as_flag(normalize, "normalize")
    known = _CHECKED.get(id(values))
    if known is not None and known is values:
        return known
    array = as_numbers(values, name, 1)
    if array.size == 0:
        raise ValueError(f"{name} is empty: a distribution needs at least one token")
    if is_exact(array):
        entries = array.tolist()
        total: Any = exact_sum(entries)
        proper = all(entry.numerator >= 0 for entry in entries)
    else:
        with np.errstate(over="ignore"):
            total = array.sum()
        # One pass each: NaN makes the minimum NaN, and infinity the sum infinite.
        proper = array.min() >= 0 and total < np.inf
    if not proper:
        _refuse_improper(array, name)
    checked = read_only(_scaled(array, total, name, normalize))
    _CHECKED[id(checked)] = checked
    return checked


def as_pair(
    draft: DistributionLike, target: DistributionLike, *, normalize: Normalize = Unasked.FALSE
) -> tuple[Distribution, Distribution]:
    """Check a draft and a target, of one length and arithmetic; else ``ValueError``."""
    checked = (
        as_distribution(draft, "draft", normalize=normalize),
        as_distribution(target, "target", normalize=normalize),
    )
    check_alike("draft", checked[0], "target", checked[1])
    return checked


def as_k(
    k: Any, name: str = "k", most: int = LARGEST_K, *, otherwise: str = "pass a smaller one"
) -> int:
    """Check a number of drafts, or another number of things under another name.

    Raises ``ValueError``: no integer (``True`` and ``2.0`` are none), below 1, or above ``most``.
    """
    wanted = "the number of drafts" if name == "k" else "a positive integer"
    return as_integer(k, name, 1, most, wanted=wanted, otherwise=otherwise)


def complement(probabilities: Distribution) -> Array:
    """Return 1 − p token by token, without losing the digits of a token close to 1."""
    # Only one token can exceed one half; for that one the others are added up instead, so that the
    # result is zero only when it really is.
    rest: Array = 1 - probabilities
    heavy = int(np.argmax(probabilities))
    rest[heavy] = probabilities[:heavy].sum() + probabilities[heavy + 1 :].sum()
    return rest


def normalized(residual: Array, fallback: Distribution) -> Distribution:
    """Return a residual as a distribution; ``fallback`` where there is none to draw from."""
    total = residual.sum()
    if total == 0:
        return fallback
    return residual / total


def check_alike(first_name: str, first: Array, second_name: str, second: Array) -> None:
    """Refuse two distributions of different length or different arithmetic, by ``ValueError``."""
    if len(first) != len(second):
        raise ValueError(
            f"{first_name} has {len(first)} tokens and {second_name} has {len(second)}: "
            "both must be over the same vocabulary"
        )
    if is_exact(first) != is_exact(second):
        exact, inexact = (first_name, second_name) if is_exact(first) else (second_name, first_name)
        raise ValueError(
            f"{exact} is exact but {inexact} is float: write both as Fractions or strings such as "
            "'3/10', or both as floats"
        )


def token_set(tokens: Iterable[int], n: int) -> IntArray:
    """Return distinct token ids in ascending order; ``ValueError`` for ids outside 0..n−1."""
    if type(tokens) is np.ndarray and _are_ids(tokens, n):
        # At once: there may be as many as the vocabulary has.
        return np.flatnonzero(np.bincount(tokens.astype(np.intp), minlength=n))
    ids = sorted(set(as_tokens(tokens, n, "tokens", unordered=True)))
    return np.array(ids, dtype=np.intp)


def _are_ids(tokens: Array, n: int) -> bool:
    """Whether a plain array is a list of integers in 0..n−1."""
    if tokens.dtype.kind not in "iu" or tokens.ndim != 1:
        return False
    return len(tokens) == 0 or bool(tokens.min() >= 0 and tokens.max() < n)


def _refuse_improper(array: Distribution, name: str) -> None:
    if not is_exact(array):
        unusable = np.flatnonzero(~np.isfinite(array))
        if unusable.size:
            index = int(unusable[0])
            raise ValueError(
                f"{name}[{index}] is {array[index]}: every probability must be a finite number; "
                "look at where it was computed"
            )
    negative = np.flatnonzero(array < 0)
    if negative.size:
        index = int(negative[0])
        raise ValueError(
            f"{name}[{index}] is {plain(array[index])}, which is negative: probabilities are "
            "at least 0 (if these are logits, take their softmax first)"
        )


def _scaled(array: Distribution, total: Any, name: str, scaling: Normalize) -> Distribution:
    normalize = scaling is True
    advice = "divide it by its sum" if scaling is Unasked.FALSE else "pass normalize=True to scale"
    if total == 0 and normalize:
        raise ValueError(f"{name} is zero everywhere: there is nothing to normalize")
    if is_exact(array):
        if total == 1:
            return array
        if not normalize:
            raise ValueError(f"{name} sums to {plain(total)}, not exactly 1: {advice}")
        return array / total
    if not math.isfinite(total):
        raise ValueError(f"{name} sums to {total}: scale it down before passing it")
    # Pairwise summation of scaled values is within this of 1, so scaling again changes nothing.
    if abs(total - 1) <= np.finfo(float).eps * (2 + math.log2(len(array))):
        return array
    if abs(total - 1) > SUM_TOLERANCE and not normalize:
        raise ValueError(
            f"{name} sums to {float(total)!r}, not 1 (within {SUM_TOLERANCE:g}): {advice}"
        )
    return array / total
