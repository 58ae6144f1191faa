"""The exact law of what code does that draws random numbers, which has not to be changed for it."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from otspec._base import Number, as_callable, as_integer, as_real
from otspec.auditing.black_box import second_argument
from otspec.auditing.enumeration import row_of
from otspec.chance import LEAST, Branch, CannotFollowError, branches
from otspec.conformance.following.interception import intercepted, nothing_escapes
from otspec.conformance.following.numpy_draws import FollowedGenerator
from otspec.conformance.following.order import Pending
from otspec.conformance.following.symbols import RandomNumber

MOST_WAYS = 20_000  # default: most ways through code that are followed


def exact_law(
    function: Callable[..., Any], *arguments: Any, least: float = LEAST, most: int = MOST_WAYS
) -> dict[Any, Number]:
    """Return the exact law of what a function returns: all its random choices are followed.

    The calls that it makes of PyTorch, NumPy and ``random`` are intercepted, and the function is
    called once for each way that they can go. Uniform numbers are real numbers here, not multiples
    of 2⁻²⁴, and are only known by what they are compared with.

    Parameters
    ----------
    function : callable
        It must do the same each time for the same random numbers; state that it keeps from one
        call to the next is not reset.
    *arguments : object
        What to call it with.
    least : float
        A choice of a smaller chance counts as rounding, and is never taken; code in float32 needs
        about 1e-7 where chances that are 0 or 1 are not computed as such.
    most : int
        The most ways to follow.

    Returns
    -------
    dict
        Outcome -> chance; tensors, arrays and lists are turned into tuples.

    Raises
    ------
    CannotFollowError
        The function uses a random number in a way whose chances are not known; the message says
        which. Also if there are too many ways, or random numbers are drawn where it is not seen.
    ValueError
        No function, or limits that are none.

    Examples
    --------
    >>> import random
    >>> exact_law(lambda: random.random() < 0.25 and random.random() < 0.5)
    {True: 0.125, False: 0.875}
    """
    as_callable(function, "function", "code that draws random numbers")
    least, most = checked_limits(least, most)

    def run(chance: Branch) -> list[tuple[Any, Number]]:
        try:
            with intercepted(chance) as read:
                answer = function(*arguments)
            return _all_ways(outcome(answer, chance, read), chance)
        except CannotFollowError:
            raise
        except Exception as error:
            error.add_note(f"This way through the code has the chance {float(chance.mass):.3g}.")
            raise

    law: dict[Any, Number] = {}
    with nothing_escapes():
        for _, ways in branches(run, least=least, most=most):
            for result, mass in ways:
                law[result] = law.get(result, 0) + mass
    return law


def checked_limits(least: float, most: int) -> tuple[float, int]:
    """Return the limits of :func:`exact_law`."""
    chance = float(as_real(least, "least"))
    if not 0 <= chance < 1:
        raise ValueError(f"least is {least}: it must be at least 0 and below 1, as 1e-7 is")
    return chance, as_integer(most, "most", 1)


def exact_kernel(
    function: Callable[..., Any],
    n: int | None = None,
    *,
    least: float = LEAST,
    most: int = MOST_WAYS,
) -> Callable[[tuple[int, ...]], Any]:
    """Return the kernel of a verifier that draws random numbers, for :func:`otspec.audit`.

    Parameters
    ----------
    function : callable
        Drafts, a tuple of int, → token, or (token, which draft was accepted); tensors and arrays
        of one element are fine. A second argument that has no default gets a
        ``numpy.random.Generator``.
    n : int, optional
        Number of tokens.
    least, most
        As for :func:`exact_law`.

    Returns
    -------
    callable
        Drafts → distribution of the token, shape (n,); without ``n`` a dict, token → chance,
        which audits take as well. What cannot be followed is raised by it as a
        ``CannotFollowError``, which audits report.

    Raises
    ------
    ValueError
        No function, or no such number.

    Examples
    --------
    >>> import random, otspec
    >>> draft, target = [0.5, 0.3, 0.2], [0.1, 0.6, 0.3]
    >>> def verify(x):
    ...     if random.random() < target[x[0]] / draft[x[0]]:
    ...         return x[0]
    ...     left = [max(q - p, 0) for p, q in zip(draft, target)]
    ...     return random.choices(range(3), weights=left)[0]
    >>> report = otspec.audit(exact_kernel(verify), law=otspec.IID(draft, 1), target=target)
    >>> report.lossless
    True
    """
    as_callable(function, "function", "a verifier: drafts to a token")
    length = None if n is None else as_integer(n, "n", 1)
    checked_limits(least, most)
    wants_generator = second_argument(function) is not None

    def kernel(x: tuple[int, ...]) -> Any:
        arguments = (x, FollowedGenerator()) if wants_generator else (x,)
        tokens: dict[int, Number] = {}
        for result, mass in exact_law(function, *arguments, least=least, most=most).items():
            token = _token(result)
            tokens[token] = tokens.get(token, 0) + mass
        if length is None:
            return tokens
        kinds = {type(mass) for mass in tokens.values()}
        exact = Fraction in kinds and float not in kinds
        return np.array(row_of(tokens, length), dtype=object if exact else float)

    return kernel


def _token(result: Any) -> int:
    """Return the token of what a verifier returned."""
    first = result
    while isinstance(first, tuple) and first:
        first = first[0]
    if type(first) is not int:
        raise ValueError(f"it returned {result!r}: it must return a token, or a token and more")
    return first


def outcome(value: Any, chance: Branch, read: Callable[[Any], Any]) -> Any:
    """Return a result as something hashable, with tokens that are not drawn yet."""
    if isinstance(value, RandomNumber):
        raise chance.refused("it returns a random number")
    if hasattr(value, "tolist"):
        return outcome(read(value).tolist(), chance, read)
    if isinstance(value, (tuple, list)):
        return tuple(outcome(each, chance, read) for each in value)
    if isinstance(value, dict):
        return tuple((outcome(k, chance, read), outcome(v, chance, read)) for k, v in value.items())
    return value


def _all_ways(result: Any, chance: Branch) -> list[tuple[Any, Number]]:
    """Draw the tokens of a result, the last one in all its ways; return how likely each is."""
    tokens = list(dict.fromkeys(_undrawn(result)))
    for token in tokens[:-1]:
        token.value()
    ways = tokens[-1].ways() if tokens else None
    if ways is None:
        found = _drawn(result, {})
        return [(found, chance.mass)]
    return [(_drawn(result, {tokens[-1]: value}), mass) for value, mass in ways]


def _undrawn(result: Any) -> Iterator[Pending]:
    if isinstance(result, Pending):
        yield result
    elif isinstance(result, tuple):
        for each in result:
            yield from _undrawn(each)


def _drawn(result: Any, values: dict[Any, Any]) -> Any:
    """Return a result with tokens drawn, or as given."""
    if isinstance(result, Pending):
        return values[result] if result in values else result.value()
    if isinstance(result, tuple):
        return tuple(_drawn(each, values) for each in result)
    return result
