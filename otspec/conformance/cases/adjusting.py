"""Names and vocabularies as an engine has them: other parameters, more tokens, reserved ids."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import update_wrapper
from typing import Any

import numpy as np

from otspec._base.arguments import as_callable, as_instance, as_tokens
from otspec._base.coerce import shown
from otspec.conformance.cases.cases import Case

MOST_RESERVED = 1024
"""Ids that no text has, at most."""


class Named:
    """A function some of whose parameters have other names, by which it is called.

    Raises
    ------
    ValueError
        No callable, names that are none, or of parameters that it does not have.
    """

    def __init__(self, function: Callable[..., Any], names: Mapping[str, str]) -> None:
        as_callable(function, "verifier", "a callable that takes draft, target and drafts")
        wanted = "a dict from the verifier's names to ours, such as {'p': 'draft'}"
        given = dict(as_instance(names, "names", Mapping, wanted))
        taken = inspect.signature(function).parameters
        for name, ours in given.items():
            if name not in taken or not (isinstance(ours, str) and ours.isidentifier()):
                raise ValueError(
                    f"names maps {shown(name)} to {shown(ours)}: the verifier takes "
                    f"{', '.join(taken)}, so pass {wanted}"
                )
        back = {given.get(name, name): name for name in taken}
        if len(back) < len(taken):
            raise ValueError(f"names is {shown(given)}: two parameters get the same name")
        update_wrapper(self, function)
        self.function, self.back = function, back
        self.__signature__ = inspect.Signature(
            [
                each.replace(name=given.get(name, name), kind=inspect.Parameter.KEYWORD_ONLY)
                for name, each in taken.items()
                if each.kind
                not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            ]
        )

    def __call__(self, **given: Any) -> Any:
        """Call the function by its own names."""
        own = {self.back[name]: value for name, value in given.items()}
        taken = inspect.signature(self.function).parameters.items()
        first = [name for name, each in taken if each.kind is each.POSITIONAL_ONLY]
        return self.function(*[own.pop(name) for name in first if name in own], **own)


def renamed_parameters(function: Any, names: Any) -> Any:
    """Return a function by other names of its parameters; itself without any."""
    return function if names is None else Named(function, names)


def as_reserved(reserved: Any, vocabulary: int) -> tuple[int, ...]:
    """Return ids that no text has, of a large vocabulary.

    Raises
    ------
    ValueError
        No ids, or too many of them for the cases.
    """
    found = as_tokens(reserved, vocabulary, "reserved", count=MOST_RESERVED, unordered=True)
    if -1 in found or len(set(found)) > vocabulary - 8:
        raise ValueError(
            f"reserved is {shown(reserved)}: pass at most {min(MOST_RESERVED, vocabulary - 8)} ids"
        )
    return tuple(sorted(set(found)))


def placed(case: Case, least: int, reserved: tuple[int, ...]) -> Case:
    """Return a case of at least so many tokens, none of whose symbols is a reserved id.

    Parameters
    ----------
    case : Case
        A small one, whose tokens are its symbols; or one in a large vocabulary.
    """
    if case.named and not reserved and least <= case.n:
        return case
    if case.named:
        free = np.setdiff1d(np.arange(case.n + len(reserved)), reserved)[: case.n]
        symbols = np.full(max(least, int(free[-1]) + 1), case.n)
        symbols[free] = np.arange(case.n)
        return replace(case, symbols=symbols)
    symbols = case.symbols.copy()
    symbols[list(reserved)] = case.n
    free = np.flatnonzero(symbols == case.n)
    free = free[~np.isin(free, reserved)]
    for symbol in sorted(set(range(case.n)) - set(symbols.tolist())):
        # The place beside the one that is reserved is as near to a border.
        was = int(np.flatnonzero(case.symbols == symbol)[0])
        nearest = free[np.abs(free - was).argmin()]
        symbols[nearest], free = symbol, free[free != nearest]
    return replace(case, symbols=symbols)
