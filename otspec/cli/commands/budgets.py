"""Options that say how far an output may be from the target."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from otspec._base.arithmetic import Number, as_scalar, is_exact
from otspec._base.scalars import as_float
from otspec.distributions import Distribution

_NUMBERS = {
    "total_variation": "By how much the output may be off, from 0 to 1.",
    "kullback_leibler": "How large D(output||target) may be, in nats.",
    "reverse_kullback_leibler": "How large D(target||output) may be, in nats.",
}


def budget_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of budgets; the command gets those that are given as ``budgets``.

    It is called with ``pair``, whose arithmetic they have.
    """

    @wraps(command)
    def with_budgets(
        pair: tuple[Distribution, Distribution], renyi: str | None, **rest: Any
    ) -> Any:
        texts = {name: rest.pop(name) for name in _NUMBERS}
        budgets: dict[str, Any] = {
            name: _read(text, _option(name), pair[1])
            for name, text in texts.items()
            if text is not None
        }
        if renyi is not None:
            cells = renyi.split(",")
            if len(cells) != 2:
                raise ValueError(f"--renyi is {renyi!r}: write an order and a budget, as 2,0.1")
            budgets["renyi"] = [_read(cell, "--renyi", pair[1]) for cell in cells]
        return command(pair=pair, budgets=budgets, **rest)

    decorators = [
        *(click.option(_option(name), metavar="NUMBER", help=help_) for name, help_ in
          _NUMBERS.items()),
        click.option("--renyi", metavar="ORDER,NUMBER",
                     help="How large the Renyi divergence of an order may be, in nats."),
    ]  # fmt: skip
    for decorator in reversed(decorators):
        with_budgets = decorator(with_budgets)
    return with_budgets


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _read(text: str, option: str, target: Distribution) -> Number:
    if is_exact(target):
        return as_scalar(text.strip(), option)
    try:
        return float(as_scalar(text.strip(), option))
    except ValueError:
        return as_float(text.strip(), option)
