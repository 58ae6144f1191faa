"""What a language model is: a map from a prefix to the distribution of the next token."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from otspec.arithmetic import Array, Number, as_number, as_numbers, is_exact
from otspec.distributions import Distribution, as_distribution, check_alike
from otspec.programs.block import LanguageModel

Prefix: TypeAlias = tuple[int, ...]
"""Token ids from the first to the last."""

REMEMBERED = 1 << 16
"""How many answers of a callable are kept."""


class Model(ABC):
    """A language model over n tokens, and the laws that follow from its answers.

    Subclasses give :attr:`n`, :attr:`exact` and :meth:`__call__`; those that forget what is
    long past give :meth:`context` too, which makes exact computations on them quick.
    """

    n: int
    """Vocabulary size."""
    exact: bool
    """Whether probabilities are ``Fraction`` rather than float."""

    @abstractmethod
    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the token after a prefix, shape (n,)."""

    def context(self, prefix: Prefix) -> Prefix:
        """Return what is remembered of a prefix.

        Law: if ``context(x) == context(z)``, then ``model(x + y)`` equals ``model(z + y)`` for
        all y.
        """
        return prefix

    def after(self, prefix: Prefix) -> Model:
        """Return the model of what follows a prefix."""
        return Continued(self, prefix) if prefix else self

    def mass(self, prefix: Prefix) -> Number:
        """Return the probability of a text of that length to be this one."""
        total = self.number(1)
        for depth, token in enumerate(prefix):
            total = total * self(prefix[:depth])[token]
        return as_number(total, like=self(()))

    def texts(self, length: int) -> Iterator[tuple[Prefix, Number]]:
        """Yield every text of positive probability with its probability, in lexicographic order.

        Parameters
        ----------
        length : int
            Number of tokens; there may be n**length texts.
        """
        yield from self._texts((), self.number(1), length)

    def _texts(self, prefix: Prefix, mass: Number, length: int) -> Iterator[tuple[Prefix, Number]]:
        if len(prefix) == length:
            yield prefix, mass
            return
        for token, chance in enumerate(self(prefix).tolist()):
            if chance > 0:
                yield from self._texts((*prefix, token), mass * chance, length)

    def number(self, value: Any) -> Number:
        """Return a scalar in the model's arithmetic."""
        return as_number(value, like=np.empty(0, dtype=object if self.exact else float))


class Continued(Model):
    """A model of what follows a prefix.

    Parameters
    ----------
    model : Model
    start : tuple of int
    """

    def __init__(self, model: Model, start: Prefix) -> None:
        self._model, self._start = model, start
        self.n, self.exact = model.n, model.exact

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the token after the start and a prefix, shape (n,)."""
        return self._model(self._start + prefix)

    def context(self, prefix: Prefix) -> Prefix:
        """Return what the model remembers of the start and a prefix."""
        return self._model.context(self._start + prefix)

    def after(self, prefix: Prefix) -> Model:
        """Return the model of what follows the start and a prefix."""
        return self._model.after(self._start + prefix)


class CallableModel(Model):
    """A user's own model: any callable from a prefix to a distribution.

    Answers are checked, and the last ones remembered.

    Parameters
    ----------
    model : callable
        tuple of int → array_like, shape (n,).
    name : str
        What error messages call it.

    Raises
    ------
    ValueError
        Answers that are no distributions, or unlike the one for the empty prefix in length or
        arithmetic; the message names the prefix.
    """

    def __init__(self, model: LanguageModel, name: str = "model") -> None:
        self._first = as_distribution(model(()), f"{name}(())")
        self.n, self.exact = len(self._first), is_exact(self._first)

        def answer(prefix: Prefix) -> Distribution:
            row = as_distribution(model(prefix), f"{name}({prefix})")
            check_alike(f"{name}(())", self._first, f"{name}({prefix})", row)
            return row

        self._answer = lru_cache(REMEMBERED)(answer)

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the token after a prefix, shape (n,)."""
        return self._answer(prefix) if prefix else self._first


class TableModel(Model):
    """A table of distributions by the last tokens.

    The token after a prefix has the row of the longest listed ending of the prefix. So one row
    for the empty prefix is a memoryless model; with a row for every text of up to m tokens the
    model is a Markov chain of order m whose first tokens have rows of their own, and every model
    of the first m + 1 tokens is such a table.

    Parameters
    ----------
    rows : mapping
        From tuples of token ids to distributions, all of one length and one arithmetic. The empty
        tuple must be among them.
    name : str
        What error messages call the model.

    Raises
    ------
    ValueError
        No row for the empty prefix, a prefix that holds no token id, or an unusable distribution.

    Examples
    --------
    >>> model = TableModel({(): ["1/2", "1/2"], (1,): ["1/3", "2/3"]})
    >>> model((0, 1))
    array([Fraction(1, 3), Fraction(2, 3)], dtype=object)
    >>> model.mass((1, 0, 1))
    Fraction(1, 12)
    """

    def __init__(self, rows: Mapping[Prefix, Any], name: str = "model") -> None:
        if () not in rows:
            raise ValueError(
                f"{name} has no row for the empty prefix: add the distribution of the first token"
            )
        self._rows = {
            prefix: as_distribution(row, _row(name, prefix)) for prefix, row in rows.items()
        }
        first = self._rows[()]
        self.n, self.exact = len(first), is_exact(first)
        self.order = max(map(len, rows))
        for prefix, row in self._rows.items():
            check_alike(_row(name, ()), first, _row(name, prefix), row)
            if not all(0 <= token < self.n for token in prefix):
                raise ValueError(
                    f"{_row(name, prefix)}: token ids run from 0 to {self.n - 1}, the length of "
                    "the rows less one"
                )

    @property
    def rows(self) -> dict[Prefix, Distribution]:
        """The rows by the prefixes that they are for."""
        return dict(self._rows)

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the token after a prefix, shape (n,)."""
        for start in range(max(0, len(prefix) - self.order), len(prefix)):
            if prefix[start:] in self._rows:
                return self._rows[prefix[start:]]
        return self._rows[()]

    def context(self, prefix: Prefix) -> Prefix:
        """Return the last tokens, as many as rows tell apart."""
        return prefix[max(0, len(prefix) - self.order) :]

    def after(self, prefix: Prefix) -> Model:
        """Return the model of what follows a prefix, of which only the end is kept."""
        return Continued(self, self.context(prefix)) if prefix else self


def memoryless(row: Any) -> TableModel:
    """Return the model that draws every token from one distribution.

    Parameters
    ----------
    row : array_like, shape (n,)

    Raises
    ------
    ValueError
        No distribution.
    """
    return TableModel({(): row})


def markov(transition: Any, first: Sequence[Any] | None = None) -> TableModel:
    """Return a Markov chain of order m.

    Parameters
    ----------
    transition : array_like, shape (n,) * m + (n,)
        Entry (x_1, …, x_m): the distribution of the token after x_1 … x_m.
    first : sequence of array_like, optional
        The distributions of the first m tokens: item j has shape (n,) * j + (n,). By default the
        mean over what could have stood before, all of it equally likely.

    Returns
    -------
    TableModel

    Raises
    ------
    ValueError
        Shapes that do not fit, or rows that are no distributions.

    Examples
    --------
    >>> chain = markov([["1/2", "1/2"], ["1/4", "3/4"]], first=[["1", "0"]])
    >>> chain.mass((0, 1, 1))
    Fraction(3, 8)
    """
    rows = as_numbers(transition, "transition")
    n, order = rows.shape[-1], rows.ndim - 1
    if order < 1 or set(rows.shape) != {n}:
        raise ValueError(
            f"transition has shape {rows.shape}: a chain of order m over n tokens needs n in all "
            "of its m + 1 axes, m at least 1"
        )
    starts = [_start(rows, depth) for depth in range(order)]
    if first is not None:
        starts = [as_numbers(start, f"first[{depth}]") for depth, start in enumerate(first)]
        shapes = [start.shape for start in starts]
        if shapes != [(n,) * (depth + 1) for depth in range(order)]:
            raise ValueError(
                f"first has shapes {shapes}: for order {order} over {n} tokens it needs "
                f"{[(n,) * (depth + 1) for depth in range(order)]}"
            )
    table = {
        prefix: level[prefix]
        for depth, level in enumerate([*starts, rows])
        for prefix in np.ndindex(*(n,) * depth)
    }
    return TableModel(table)


def _start(rows: Array, depth: int) -> Array:
    """Return the mean of the rows over all but the last so many tokens of their contexts."""
    n, order = rows.shape[-1], rows.ndim - 1
    missing = rows.reshape(n ** (order - depth), *(n,) * (depth + 1))
    mean: Array = missing.sum(axis=0) / as_number(len(missing), like=rows)
    return mean


def as_models(draft: Any, target: Any) -> tuple[Model, Model]:
    """Check a draft and a target model that are to be compared.

    Parameters
    ----------
    draft, target : callable
        Any maps from a prefix, a tuple of token ids, to a distribution; a :class:`Model` is
        returned as it is.

    Raises
    ------
    ValueError
        Not callable, or different vocabularies or arithmetics.
    """
    models = []
    for name, model in (("draft", draft), ("target", target)):
        if not callable(model):
            raise ValueError(
                f"{name} is {type(model).__name__}: a language model is a callable from a prefix "
                "to a distribution; for one that draws every token alike use memoryless(row)"
            )
        models.append(model if isinstance(model, Model) else CallableModel(model, name))
    check_alike("draft(())", models[0](()), "target(())", models[1](()))
    return models[0], models[1]


def _row(name: str, prefix: Prefix) -> str:
    return f"{name}[{' '.join(map(str, prefix))}]"
