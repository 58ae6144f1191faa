"""The commands by name: each module is imported when its command is used."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any

import click

HELP = {
    "accept": "How often can one of k drafts be accepted at best?",
    "advise": (
        "Say which draft law, rule and tree give most tokens per second, from logs and costs."
    ),
    "audit": "Is a rule lossless? Exactly, on random rational instances.",
    "blocks": "How many drafted tokens each rule keeps of a block: exactly, or on a logged trace.",
    "compare": "Compare all rules with the optimum for one draft and one target.",
    "conform": (
        "Is an engine's verification lossless? From samples, with a stated power and error rate."
    ),
    "generate": "Decode texts with drafts, without loss: they are distributed as the target's.",
    "laws": "Which draft law is best on logged traces: the optimum of each, and its best rule.",
    "policies": (
        "Which drafting policies are lossless, and which cuts look at the tokens they cut?"
    ),
    "simulate": (
        "Accept lengths from logged tokens, as an engine would count them, without the models."
    ),
    "solve": "Solve the optimal transport problem as a linear program.",
    "trace": "Mean acceptance of the optimum and of all rules over language-model traces.",
    "vectors": "Write what a right verifier answers, for the tests of engines in other languages.",
}
"""What each command does: the first sentence of its help, for the list of all of them."""
_FUNCTIONS = {"generate": "generate_text"}


class Commands(MutableMapping[str, click.Command]):
    """The commands, of which each is imported when it is asked for.

    Examples
    --------
    >>> Commands()["accept"].name
    'accept'
    """

    def __init__(self) -> None:
        self._found: dict[str, click.Command | None] = dict.fromkeys(HELP)

    def __getitem__(self, name: str) -> click.Command:
        found = self._found[name]
        if found is None:
            module = import_module(f"otspec.cli.commands.{name}")
            found = self._found[name] = getattr(module, _FUNCTIONS.get(name, name))
        return found

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._found[name] = command

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


class CommandGroup(click.Group):
    """A group that lists its commands without importing them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, commands=Commands())

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002  Click's
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the list of the commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(HELP.items()))
