"""What a language model is: a map from a prefix to the distribution of the next token."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from otspec._base import Frozen, Number, as_number, cached_property, is_exact
from otspec._base.arguments import as_callable, as_instance, as_integer, as_tokens
from otspec.distributions import Distribution, DistributionLike, as_distribution, check_alike

Prefix: TypeAlias = tuple[int, ...]
"""Token ids from the first to the last."""
LanguageModel: TypeAlias = Callable[[Prefix], DistributionLike]
"""Any map from a prefix to the distribution of the next token."""
BEGINNING: Mapping[Prefix, Number] = MappingProxyType({(): Fraction(1)})
"""The law of beginnings before anything is said."""

MOST_DEPTH = 500  # most tokens of texts that are all followed, each step inside the one before


class Model(Frozen, ABC):
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

        Law: if ``context(x) == context(z)``, then ``model(x + y) == model(z + y)`` for all y.
        """
        return as_prefix(prefix, self.n)

    def after(self, prefix: Prefix) -> "Model":
        """Return the model of what follows a prefix."""
        prefix = as_prefix(prefix, self.n)
        return Continued(self, prefix) if prefix else self

    @property
    def origin(self) -> "tuple[Model, Prefix]":
        """A model and a text, after which it is this one."""
        return self, ()

    def ended(self, prefix: Prefix) -> bool:  # noqa: ARG002 # most models never end
        """Return whether a text is over, and all that go on after it: see :class:`EndingModel`."""
        return False

    def up_to_end(self, text: Prefix) -> Prefix:
        """Return a text without what is behind its end."""
        if not self.ended(text):
            return text
        return next(text[:stop] for stop in range(len(text) + 1) if self.ended(text[:stop]))

    def mass(self, prefix: Prefix) -> Number:
        """Return the probability of a text of that length to be this one; else ``ValueError``."""
        prefix = as_tokens(prefix, self.n, "prefix")
        total = self.number(1)
        for depth, token in enumerate(prefix):
            total = total * self(prefix[:depth])[token]
        return as_number(total, like=self(()))

    def texts(
        self, length: int, ended: Callable[[Prefix], bool] | None = None
    ) -> Iterator[tuple[Prefix, Number]]:
        """Return every text of positive probability with its probability, in lexicographic order.

        Parameters
        ----------
        length : int
            Number of tokens, at most 500; there may be n**length texts. Those that are over before
            are as short.
        ended : callable, optional
            Whether a text is over; by default :meth:`ended`. Drafted texts are over where the
            target's are.

        Raises
        ------
        ValueError
            No such number.
        """
        otherwise = "so many texts cannot be enumerated"
        number = as_integer(length, "length", 0, MOST_DEPTH, otherwise=otherwise)
        return self._texts((), self.number(1), number, self.ended if ended is None else ended)

    def _texts(
        self, prefix: Prefix, mass: Number, length: int, ended: Callable[[Prefix], bool]
    ) -> Iterator[tuple[Prefix, Number]]:
        if len(prefix) == length or ended(prefix):
            yield prefix, mass
            return
        for token, chance in enumerate(self(prefix).tolist()):
            if chance > 0:
                yield from self._texts((*prefix, token), mass * chance, length, ended)

    def number(self, value: Any) -> Number:
        """Return a scalar in the model's arithmetic."""
        return as_number(value, like=np.empty(0, dtype=object if self.exact else float))


class Derived(Model):
    """A model made of another one, whose texts end where the other's do."""

    def __init__(self, target: Model) -> None:
        self._target = target
        self.n, self.exact = target.n, target.exact

    def ended(self, prefix: Prefix) -> bool:
        """Return whether the other model's text is over."""
        return self._target.ended(prefix)


class Continued(Model):
    """A model of what follows a prefix."""

    def __init__(self, model: Model, start: Prefix) -> None:
        self._model, self._start = model, start
        self.n, self.exact = model.n, model.exact

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the token after the start and a prefix, shape (n,)."""
        return self._model(self._start + as_prefix(prefix, self.n))

    @property
    def origin(self) -> tuple[Model, Prefix]:
        """The model, and the start."""
        return self._model, self._start

    def context(self, prefix: Prefix) -> Prefix:
        """Return what the model remembers of the start and a prefix."""
        return self._model.context(self._start + as_prefix(prefix, self.n))

    def ended(self, prefix: Prefix) -> bool:
        """Return whether the start and a prefix are a text that is over."""
        return self._model.ended(self._start + prefix)

    def after(self, prefix: Prefix) -> Model:
        """Return the model of what follows the start and a prefix."""
        return self._model.after(self._start + as_prefix(prefix, self.n))


def as_prefix(prefix: Any, n: int) -> Prefix:
    """Check a prefix, of which texts that grow token by token need only the last one checked."""
    if type(prefix) is not tuple:
        return as_tokens(prefix, n, "prefix")
    if prefix and not (type(prefix[-1]) is int and 0 <= prefix[-1] < n):
        return as_tokens(prefix, n, "prefix")
    return prefix


def as_beginnings(beginnings: Any, model: Model) -> dict[Prefix, Number]:
    """Check a law of beginnings, such as :meth:`NGramModel.contexts`; probability 0 is left out."""
    wanted = "a mapping from prefixes to their probabilities, such as {(): 1}"
    as_instance(beginnings, "beginnings", Mapping, wanted)
    texts = [as_tokens(text, model.n, "beginnings") for text in beginnings]
    masses = as_distribution(list(beginnings.values()), "beginnings")
    if model.exact and not is_exact(masses):
        raise ValueError(
            "beginnings has probabilities in floats, but the models are exact: write fractions"
        )
    law = zip(texts, map(model.number, masses.tolist()), strict=True)
    return {text: mass for text, mass in law if mass > 0}


REMEMBERED = 1 << 16  # how many answers of a callable are kept


class CallableModel(Model):
    """A user's own model: any callable from a prefix to a distribution.

    Answers are checked, and the last ones remembered. It can be pickled if the callable can.

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
        as_callable(model, "model", "a callable from a prefix to a distribution")
        self._model, self._name = model, name
        self._first = as_distribution(model(()), f"{name}(())")
        self.n, self.exact = len(self._first), is_exact(self._first)

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution of the token after a prefix, shape (n,)."""
        prefix = as_prefix(prefix, self.n)
        return self._remembered(prefix) if prefix else self._first

    @cached_property
    def _remembered(self) -> Callable[[Prefix], Distribution]:
        return lru_cache(REMEMBERED)(self._answer)

    def _answer(self, prefix: Prefix) -> Distribution:
        prefix = as_tokens(prefix, self.n, "prefix")
        row = as_distribution(self._model(prefix), f"{self._name}({prefix})")
        check_alike(f"{self._name}(())", self._first, f"{self._name}({prefix})", row)
        return row


def as_models(draft: Any, target: Any) -> tuple[Model, Model]:
    """Check two models, maps from a prefix to a distribution, of one vocabulary and arithmetic."""
    models = []
    for name, model in (("draft", draft), ("target", target)):
        if not callable(model):
            raise ValueError(
                f"{name} is {type(model).__name__}: a language model is a callable from a prefix "
                "to a distribution; for one that draws every token alike use memoryless(row)"
            )
        models.append(model if isinstance(model, Model) else CallableModel(model, name))
    # Whoever reads a text to answer is not asked yet: an empty row is as long and as exact.
    rows = [np.empty(model.n, dtype=object if model.exact else float) for model in models]
    check_alike("draft(())", rows[0], "target(())", rows[1])
    return models[0], models[1]
