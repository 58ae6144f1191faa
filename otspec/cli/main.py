"""The command line: the table of commands, and how every error becomes one line."""

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from otspec._base import meant
from otspec._base.tables import forgive_encodings, keep_answers_apart, say
from otspec.cli.shared.progress import Terminated
from otspec.version import __version__

GROUPS = {  # what each command is for, by group: the list of all commands
    "One pair of distributions": {
        "accept": "How often can one of k drafts be accepted at best? And what proves it?",
        "compare": "Which rule comes closest to the optimum?",
    },
    "Logs and models": {
        "trace": "Mean acceptance of the optimum and of all rules over logs.",
        "laws": "Which draft law is best on the logs, and with which rule.",
        "simulate": "Accept lengths from logged tokens, as an engine would count them.",
        "advise": "Which draft law, rule and tree are fastest, from logs and costs.",
        "generate": "Decode a text of a real model with drafts, without loss.",
    },
    "Verifiers": {
        "audit": "Is a rule lossless? Exactly, on random rational instances.",
        "conform": "Is an engine's verification lossless? From samples, with error rates.",
        "vectors": "Write reference vectors for engines in other languages.",
    },
    "Research": {
        "blocks": "How many tokens of a block or tree each rule keeps, and which tree is best.",
        "policies": "Which drafting policies are lossless?",
        "solve": "Solve the optimal transport problem as a linear program.",
    },
}
COMMANDS = [name for group in GROUPS.values() for name in group]
_FUNCTIONS = dict(zip(COMMANDS, COMMANDS, strict=True)) | {"generate": "generate_text"}


class Commands(Mapping[str, click.Command]):
    """The commands, of which each is imported when it is asked for.

    Examples
    --------
    >>> Commands()["accept"].name
    'accept'
    """

    def __getitem__(self, name: str) -> click.Command:
        function = _FUNCTIONS[name]
        return getattr(import_module(f"otspec.cli.commands.{name}"), function)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class CommandGroup(click.Group):
    """A group that lists its commands without importing them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"commands": Commands()})

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002  Click's
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the commands of each group, aligned over all groups."""
        widest = max(map(len, COMMANDS))
        for group, commands in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(f"{name:{widest}}", said) for name, said in commands.items()])


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(__version__, prog_name="otspec")
@click.pass_context
def otspec(context: click.Context) -> None:
    """Compute how much speculative decoding can accept at best, and which rule gets there.

    Each command has --help with an example. Commands that read logs take the bundled ones if
    none are named.

    Exit status: 0 fine, 1 a rule or a verifier is not lossless, 2 bad input.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    return run(otspec, arguments, "otspec")


def run(command: click.Command, arguments: Sequence[str] | None, name: str) -> int:
    """Run a command and return its exit status.

    Bad input is one line on standard error and status 2, never a traceback. From here on the
    standard streams write in ASCII what their encodings lack. With the arguments of the process,
    nothing but answers reaches its standard output.

    ``arguments``: by default those of the process. ``name``: what the command is called in
    messages.
    """
    if arguments is None:
        keep_answers_apart()
    forgive_encodings()
    try:
        given = sys.argv[1:] if arguments is None else list(arguments)
        typed = shlex.join([name, *map(str, given)])
        status = command.main(args=given, prog_name=name, standalone_mode=False, obj=typed)
    except click.Abort:
        return _complain(name, "interrupted", 130)
    except Terminated as error:
        return _complain(name, "terminated", int(error.code or 1))
    except BrokenPipeError:
        # The reader of a pipe went away; keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except click.ClickException as error:
        return _complain(name, said_of(error), 2)
    except (ValueError, OSError, ImportError) as error:
        return _complain(name, str(error), 2)
    return status if isinstance(status, int) else 0


def _complain(name: str, message: str, status: int) -> int:
    say(f"{name}: {' '.join(message.split())}", err=True)
    return status


_EXAMPLE = re.compile(r"^ *Example: (.+?)(?:\n *\n|\Z)", re.MULTILINE | re.DOTALL)


def said_of(error: click.ClickException) -> str:
    """Return what is said of an error of Click's, which asks for the closest name alone."""
    known = getattr(error, "possibilities", None) or ()
    misspelt = getattr(error, "command_name", None) or getattr(error, "option_name", None)
    closest = meant(misspelt or "", known)
    if closest:
        return f"{error.message.removesuffix('.')}{closest}"
    # Click's own suggestions are close by their dashes.
    words, fix = error.message if known else error.format_message(), _fix(error)
    return f"{words.removesuffix('.')}; {fix}" if fix else words


def _fix(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    if context is None:
        return ""
    if isinstance(error, click.MissingParameter):
        found = _EXAMPLE.search(context.command.help or "")
        return f"write for instance {' '.join(found[1].split())}" if found else ""
    if getattr(error, "command_name", None) or isinstance(error, click.NoSuchOption):
        return f"{context.command_path} --help lists them"
    if error.message.startswith("Got unexpected extra"):
        pieces = " ".join(context.command.collect_usage_pieces(context))
        numbers = ", numbers separated by commas" if "DRAFT" in pieces else ""
        return f"write {context.command_path} {pieces}{numbers}"
    return ""
