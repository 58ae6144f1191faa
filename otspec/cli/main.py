"""The command group, and how every error becomes one line."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

import click

from otspec._base.tables import forgive_encodings, keep_answers_apart, say
from otspec.cli.messages import said_of
from otspec.cli.shared.signals import Terminated
from otspec.cli.table import CommandGroup
from otspec.version import __version__


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="otspec")
@click.pass_context
def otspec(context: click.Context) -> None:
    """Say how much speculative decoding can accept at best, and which rule gets there.

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

    Parameters
    ----------
    command : click.Command
    arguments : sequence of str, optional
        By default those of the process.
    name : str
        What the command is called in messages.
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
