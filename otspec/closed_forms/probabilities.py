"""Draft and target over two tokens, each given by the probability of token 1."""

from __future__ import annotations

from typing import Any

from otspec._base.arguments import as_real
from otspec._base.arithmetic import Number
from otspec.distributions import as_pair


def as_two_probabilities(draft: Any, target: Any) -> tuple[Number, Number]:
    """Check the probabilities of token 1 of a draft and of a target over two tokens.

    Raises
    ------
    ValueError
        A probability outside [0, 1], or a mixture of exact and float.
    """
    p, q = (
        as_real(value, name, 0, 1, wanted="a probability, between 0 and 1")
        for value, name in ((draft, "draft"), (target, "target"))
    )
    as_pair([1 - p, p], [1 - q, q])
    return p, q
