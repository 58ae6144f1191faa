"""The table of commands: what it says of each, and that it is all that the list of them needs."""

import subprocess
import sys

import click
import pytest

from otspec.cli.commands import HELP, Commands
from otspec.cli.main import main, otspec


def test_the_list_says_what_each_command_says_of_itself(capsys):
    assert list(otspec.commands) == list(HELP) == sorted(HELP)
    for name, command in otspec.commands.items():
        assert command.name == name
        assert command.help.split("\n\n")[0] == HELP[name]
    assert main([]) == 0
    with click.Context(otspec) as context:
        formatter = context.make_formatter()
        click.Group.format_commands(otspec, context, formatter)
    assert capsys.readouterr().out.endswith(formatter.getvalue())
    assert all(f"\n  {name} " in formatter.getvalue() for name in HELP)


def test_commands_can_be_added_and_removed():
    commands, own = Commands(), click.Command("own")
    commands["own"] = own
    assert commands["own"] is own
    assert len(commands) == len(HELP) + 1
    del commands["own"]
    assert "own" not in commands
    with pytest.raises(KeyError):
        commands["own"]


def test_an_unknown_command_is_one_line(capsys):
    assert main(["unknown"]) == 2
    assert capsys.readouterr().err == "otspec: No such command 'unknown'.\n"


@pytest.mark.parametrize(
    ("arguments", "spared"),
    [
        ("['--help']", {"numpy", "otspec.distributions"}),
        ("['accept', '1,0', '0,1']", {"otspec.traces", "otspec.trees", "otspec.cli.trace"}),
    ],
)
def test_a_command_imports_what_it_needs_only(arguments, spared):
    program = f"""
import sys
from otspec.cli.main import main
assert main({arguments}) == 0
print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert not spared & set(done.stderr.split())
