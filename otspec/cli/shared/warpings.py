"""Options that say how logged numbers are looked at, and how logged tokens were drawn."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, NamedTuple

import click

from otspec._base.tables import listed
from otspec.cli.shared.arguments import NUMBERS, Choice
from otspec.cli.shared.options import Command, added, temperatures_option
from otspec.models.warped import checked_warp
from otspec.traces import Warp, Warping
from otspec.traces.accept_lengths import of_target
from otspec.traces.readers import Source
from otspec.traces.readers.logged_numbers import SIDES
from otspec.warping import ORDERS

_CUTS = ("top_k", "top_p", "min_p")
_DRAFT = "draft_"


def cut_options(command: Command) -> Any:
    """Add the options --top-k, --top-p, --min-p and --order."""
    decorators = (
        click.option("--top-k", type=int, help="Keep the k largest logits."),
        click.option(
            "--top-p", type=float, help="Keep the likeliest tokens that reach this probability."
        ),
        click.option(
            "--min-p", type=float,
            help="Keep tokens with at least this share of the likeliest one's probability.",
        ),
        click.option(
            "--order", type=Choice(tuple(ORDERS)), default=next(iter(ORDERS)), metavar="ORDER",
            help=f"The order of temperature, top-k, top-p and min-p: {listed(list(ORDERS), 'or')}.",
        ),
    )  # fmt: skip
    return added(command, decorators)


def draft_cut_options(command: Command) -> Any:
    """Add the options --draft-top-k, --draft-top-p and --draft-min-p."""
    said = "Of the draft. [default: as the target's]"
    types = {"--draft-top-k": int, "--draft-top-p": float, "--draft-min-p": float}
    return added(command, [click.option(name, type=of, help=said) for name, of in types.items()])


def warping_options(command: Callable[..., Any]) -> Any:
    """Add all options of warping, of draft and target apart."""
    # The command gets warpings, a tuple of Warping: one for each temperature of the draft and each
    # of the target. If it has the option --normalize, that is in them.

    @wraps(command)
    def with_warpings(normalize: bool = False, **options: Any) -> Any:
        return command(warpings=_taken(options, normalize=normalize), **options)

    return added(with_warpings, _WARPING_OPTIONS)


def warping_option(command: Callable[..., Any]) -> Any:
    """Add the options of one warping, with one temperature of each model."""
    # The command gets it as warping; logged probabilities are not scaled.

    @wraps(command)
    def with_warping(**options: Any) -> Any:
        warping, *others = _taken(options)
        if others:
            raise ValueError("--temperature and --draft-temperature take one number each here")
        return command(warping=warping, **options)

    return added(with_warping, _WARPING_OPTIONS)


_draft_temperatures_option = click.option(
    "--draft-temperature", "draft_temperatures", type=NUMBERS, default=None,
    help="Divide the draft's logits by each of these. [default: as the target's]",
)  # fmt: skip
_WARPING_OPTIONS = (
    temperatures_option, cut_options, _draft_temperatures_option, draft_cut_options,
)  # fmt: skip


def _taken(options: dict[str, Any], **both: Any) -> tuple[Warping, ...]:
    """Take the options of warping out of all that a command is given."""
    target = {name: options.pop(name) for name in _CUTS}
    draft = {name: options.pop(_DRAFT + name) for name in _CUTS}
    temperatures, of_draft = options.pop("temperatures"), options.pop("draft_temperatures")
    order = options.pop("order")
    return warpings_of(temperatures, target, of_draft, draft, order=order, **both)


def warpings_of(
    temperatures: Sequence[float],
    target: dict[str, Any],
    draft_temperatures: Sequence[float] | None,
    draft: dict[str, Any],
    **both: Any,
) -> tuple[Warping, ...]:
    """Return a warping for each temperature of the draft and each of the target."""
    for temperature in temperatures:
        checked_warp(temperature, **target)
    own = {name: cut for name, cut in draft.items() if cut is not None}
    drafted = target | own
    for temperature in draft_temperatures or (1.0,):
        checked_warp(
            temperature, **drafted, called=lambda name: f"--{_DRAFT}{name}".replace("_", "-")
        )
    apart = draft_temperatures is not None or bool(own)
    return tuple(
        Warping(
            of_target,
            **target,
            **both,
            draft=Warp(of_target if of_draft is None else of_draft, **drafted, **both)
            if apart
            else None,
        )
        for of_draft in draft_temperatures or (None,)
        for of_target in temperatures
    )


class Drawn(NamedTuple):
    """What is said of logged tokens."""

    temperature: float | None
    side: str | None

    def sources(self, named: Sequence[Source]) -> list[Source]:
        """Return sources whose tokens were drawn from the model that is named, if one is."""
        return [replace(each, sampled=self.side or each.sampled) for each in named]

    def how(self, sources: Sequence[Source], warpings: Sequence[Warping]) -> Warp:
        """Return how the tokens were drawn."""
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


def drawn_options(command: Command) -> Any:
    """Add --drawn-temperature and --drawn-from, which the command gets as ``drawn``."""

    @wraps(command)
    def with_drawn(drawn_temperature: float | None, drawn_from: str | None, **options: Any) -> Any:
        return command(drawn=Drawn(drawn_temperature, drawn_from), **options)

    temperature = click.option(
        "--drawn-temperature", type=float,
        help="Temperature at which the logged tokens were drawn. [default: that of the target "
        "for its texts, 1 for drafted blocks]",
    )  # fmt: skip
    side = click.option(
        "--drawn-from", type=Choice(SIDES),
        help="Which model's tokens were logged. [default: by the name of the array]",
    )  # fmt: skip
    return added(with_drawn, (temperature, side))
