"""Options of commands on logged tokens: which model they were drawn from, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, NamedTuple

import click

from otspec.cli.shared.arguments import Choice
from otspec.cli.shared.options import Command
from otspec.traces import Warp, Warping
from otspec.traces.accept_lengths import of_target
from otspec.traces.readers import Source
from otspec.traces.readers.logged_numbers import SIDES


class Drawn(NamedTuple):
    """What is said of logged tokens."""

    temperature: float | None
    side: str | None

    def sources(self, named: Sequence[Source]) -> list[Source]:
        """Return sources whose tokens were drawn from the model that is named, if one is."""
        return [replace(each, sampled=self.side or each.sampled) for each in named]

    def how(self, sources: Sequence[Source], warpings: Sequence[Warping]) -> Warp:
        """Return how the tokens were drawn.

        Raises
        ------
        ValueError
            Tokens of both models; or texts of the target that are looked at in another way than
            they were drawn.
        """
        if not of_target(sources):
            return Warp(1.0 if self.temperature is None else self.temperature)
        looked = {warping.of("target").temperature for warping in warpings}
        wanted = {self.temperature} - {None} or set(list(looked)[:1])
        if looked != wanted:
            raise ValueError(
                f"--temperature is {', '.join(f'{each:g}' for each in sorted(looked))}, but calls "
                "are counted along texts that were drawn as the target is looked at, which is one "
                "temperature; log drafted blocks to ask about others"
            )
        return warpings[0].of("target")


def drawn_options(command: Command) -> Callable[..., Any]:
    """Add --drawn-temperature and --drawn-from, which the command gets as ``drawn``."""

    @wraps(command)
    def with_drawn(drawn_temperature: float | None, drawn_from: str | None, **options: Any) -> Any:
        return command(drawn=Drawn(drawn_temperature, drawn_from), **options)

    temperature = click.option(
        "--drawn-temperature", type=float,
        help="At which the logged tokens were drawn. [default: texts of the target as it is "
        "looked at, drafted blocks at 1]",
    )  # fmt: skip
    side = click.option(
        "--drawn-from", type=Choice(SIDES),
        help="Whose tokens were logged. [default: by the name of the array]",
    )  # fmt: skip
    changed: Callable[..., Any] = temperature(side(with_drawn))
    return changed
