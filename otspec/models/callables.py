"""Any callable as a language model: its answers are checked, and the last ones remembered."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from otspec._base.arguments import as_callable, as_tokens
from otspec._base.arithmetic import is_exact
from otspec._base.frozen import cached_property
from otspec.distributions import Distribution, as_distribution, check_alike
from otspec.models.base import LanguageModel, Model, Prefix, as_prefix

REMEMBERED = 1 << 16
"""How many answers of a callable are kept."""


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
    # Whoever reads a text to answer is not asked yet: an empty row is as long and as exact.
    rows = [np.empty(model.n, dtype=object if model.exact else float) for model in models]
    check_alike("draft(())", rows[0], "target(())", rows[1])
    return models[0], models[1]
