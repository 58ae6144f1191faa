"""Options that several commands share."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from otspec.cli.arguments import CountList, NumberList, read_distribution
from otspec.distributions import Distribution, check_alike
from otspec.drafts import IID, LAWS

Command = TypeVar("Command", bound=Callable[..., Any])


class PairCommand(click.Command):
    """A command whose arguments may be numbers that start with a minus sign."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse with a blank before such numbers, so that they are not taken for options."""
        numbers = re.compile(r"-(\d|\.\d|inf)")
        return super().parse_args(ctx, [f" {arg}" if numbers.match(arg) else arg for arg in args])


def counts_option(default: str) -> Callable[[Command], Command]:
    """Return the option -k with a default."""
    return click.option(
        "-k", "ks", type=CountList(), default=default, show_default=True,
        help="Numbers of drafts, separated by commas.",
    )  # fmt: skip


def law_option(default: str | None, purpose: str) -> Callable[[Command], Command]:
    """Return the option --drafts."""
    return click.option(
        "--drafts", type=click.Choice(tuple(LAWS)), default=default, show_default=True, help=purpose
    )


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")

_TEMPERATURE = 1.0


def temperature_option(command: Command) -> Command:
    """Add the option --temperature."""
    return click.option(
        "--temperature", type=float, default=_TEMPERATURE, show_default=True,
        help="Divide logits by this.",
    )(command)  # fmt: skip


def temperatures_option(command: Command) -> Command:
    """Add the option --temperature for several."""
    return click.option(
        "--temperature", "temperatures", type=NumberList(), default=str(_TEMPERATURE),
        show_default=True, help="Divide logits by each of these, separated by commas.",
    )(command)  # fmt: skip


def filled(**words: str) -> Callable[[Command], Command]:
    """Fill words that follow from tables into the docstring of a command, which its help shows."""

    def decorator(command: Command) -> Command:
        if command.__doc__ is not None:  # as under python -OO
            command.__doc__ = inspect.cleandoc(command.__doc__).format(**words)
        return command

    return decorator


def pair_command(
    counts: str, law: str | None = IID.name, purpose: str = "How the drafts are drawn."
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of DRAFT and TARGET, numbers of drafts and a draft law.

    The function gets them as ``pair``, ``ks`` and ``drafts``.

    Parameters
    ----------
    counts : str
        The numbers of drafts by default.
    law : str, optional
        The law by default, by name.
    purpose : str
        What the command needs the law for.
    """

    def decorator(command: Callable[..., Any]) -> click.Command:
        optional = counts_option(counts)(law_option(law, purpose)(command))
        return click.command(cls=PairCommand)(pair_arguments(optional))

    return decorator


def pair_arguments(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add DRAFT, TARGET and what says how to read them; the command gets them as ``pair``."""

    @wraps(command)
    def with_pair(
        draft: str,
        target: str,
        exact: bool,
        logits: bool,
        temperature: float,
        normalize: bool,
        **rest: Any,
    ) -> Any:
        pair = read_pair(
            draft, target, exact=exact, logits=logits, temperature=temperature, normalize=normalize
        )
        return command(pair=pair, **rest)

    decorators = (
        click.argument("draft"),
        click.argument("target"),
        click.option("--exact", is_flag=True, help="Read decimals exactly; print fractions."),
        click.option("--logits", is_flag=True, help="The numbers are logits: take their softmax."),
        temperature_option,
        click.option("--normalize", is_flag=True, help="Scale both to sum 1."),
    )
    for decorator in reversed(decorators):
        with_pair = decorator(with_pair)
    return with_pair


def read_pair(
    draft: str, target: str, *, exact: bool, logits: bool, temperature: float, normalize: bool
) -> tuple[Distribution, Distribution]:
    """Read DRAFT and TARGET.

    Raises
    ------
    ValueError
        As :func:`read_distribution`; different lengths; one exact and one not; a temperature
        without --logits; --logits with --exact.
    """
    if temperature != _TEMPERATURE and not logits:
        raise ValueError(f"--temperature {temperature} needs --logits: probabilities are final")
    if logits and exact:
        raise ValueError("--exact and --logits exclude each other: a softmax is not rational")
    first, second = (
        read_distribution(
            text, name, exact=exact, logits=logits, temperature=temperature, normalize=normalize
        )
        for name, text in (("draft", draft), ("target", target))
    )
    try:
        check_alike("draft", first, "target", second)
    except ValueError as error:
        hint = "" if exact or len(first) != len(second) else " (or add --exact)"
        raise ValueError(f"{error}{hint}") from error
    return first, second
