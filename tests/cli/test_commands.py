"""The table of commands: what it says of each, and that it is all that the list of them needs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from otspec.cli.main import GROUPS, Commands, main, otspec

HELP = {name: said for group in GROUPS.values() for name, said in group.items()}
PAGE = Path(__file__).parents[2] / "docs/command_line.md"


def test_the_list_says_what_each_command_says_of_itself(capsys):
    assert list(otspec.commands) == list(HELP)
    for name, command in otspec.commands.items():
        assert command.name == name
        assert command.help.split("\n\n")[0] == HELP[name]
    assert main([]) == 0
    listed = "".join(capsys.readouterr().out.split())  # lines break at hyphens, too
    assert all("".join([name, *text.split()]) in listed for name, text in HELP.items())


def test_the_page_of_commands_has_each():
    listed = re.findall(r"`otspec ([a-z]+)", PAGE.read_text(encoding="utf-8").split("\n## ")[1])
    assert list(dict.fromkeys(listed)) == list(HELP)


@pytest.mark.parametrize("width", [60, 80])
def test_help_fits_its_width_and_is_not_cut(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    for arguments in ([], *([name] for name in otspec.commands)):
        assert main([*arguments, "--help"]) == 0
        usage, *lines = capsys.readouterr().out.splitlines()
        assert usage.startswith("Usage: otspec ")
        assert max(map(len, (usage, *lines))) <= width, arguments
        assert not [line for line in lines if line.endswith("...")], arguments


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["acept"], "No such command 'acept'; did you mean 'accept'?"),
        (["compar"], "No such command 'compar'; did you mean 'compare'?"),
        (["accept", "--drats", "iid"], "No such option '--drats'; did you mean '--drafts'?"),
        (["accept", "1", "1", "--drafts", "idd"], "'top'; did you mean 'iid'?"),
        (["audit", "pooled-selecton"], "; did you mean 'pooled-selection'?"),
        (["simulate", "--rule", "tokn"], "; did you mean 'token'?"),
        (["laws", "--drafts", "hubs"], "; did you mean 'hub'?"),
        (["conform", "x:y", "--kind", "bloc"], "; did you mean 'block'?"),
        (["simulate", "--rule", "pooled"], "; did you mean 'pooled-selection'?"),
        (["audit", "pooled_selection"], "for instance my_rules:my_rule; did you mean 'pool"),
        (["audit", "json:load_"], "has no attribute 'load_'; did you mean 'load'?"),
    ],
)
def test_the_closest_name_alone_is_suggested(capsys, arguments, says):
    assert main(arguments) == 2
    line = capsys.readouterr().err
    assert says in line
    assert line.count("did you mean") == 1
    assert "one of:" not in line


def test_a_name_of_no_command_is_refused():
    commands = Commands()
    assert len(commands) == len(HELP)
    assert "own" not in commands
    with pytest.raises(KeyError):
        commands["own"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["accept"], "'DRAFT'; write for instance otspec accept 1/2,3/10,1/5 1/10,3/5,3/10 -k 1,2"),
        (["audit"], "'RULE'; write for instance otspec audit otspec.rules:RecursiveRejection"),
        (["advise"], "'--draft-cost'; write for instance otspec advise --draft-cost 0.05 --t"),
        (["accept", "0.5", "0.5", "1"], "; write otspec accept [OPTIONS] DRAFT TARGET, numbers"),
        (["accept", "[0.5, 0.5]", "1,0"], "draft is '[0.5, 0.5]': write numbers with commas betw"),
        (["accept", "1,0", "50%,50%"], "target is '50%,50%': write numbers with commas between"),
        (["audit", "k.py"], "'k.py' names a file: write the module as Python imports it from here"),
        (["audit", "k.py"], ", such as k:NAME"),
        (["audit", "x/k.py:rule"], "such as k:rule"),
        (["trace", "--report", "x.pdf"], "--report x.pdf is to be HTML: end its name with .html"),
        (["trace", "--report", "no/x.html"], "no/x.html: there is no folder "),
        (["advise", "--draft-cost", "a", "--target-cost", "1"], "--draft-cost is 'a': write the "),
    ],
)  # fmt: skip
def test_messages_say_what_to_write(capsys, arguments, says):
    assert main(arguments) == 2
    line = capsys.readouterr().err
    assert says in line
    assert line.count("\n") == 1


def test_an_unknown_command_is_one_line(capsys):
    assert main(["unknown"]) == 2
    assert capsys.readouterr().err == (
        "otspec: No such command 'unknown'; otspec --help lists them\n"
    )


def test_an_option_that_is_close_to_none_has_no_suggestion(capsys):
    # To Click --depth is close, by its dashes.
    assert main(["blocks", "--report", "page.html"]) == 2
    assert capsys.readouterr().err == (
        "otspec: No such option '--report'; otspec blocks --help lists them\n"
    )


@pytest.mark.parametrize(
    ("arguments", "spared"),
    [
        ("['--help']", {"numpy", "otspec.distributions"}),
        (
            "['accept', '1,0', '0,1']",
            {"otspec.traces", "otspec.blocks.trees", "otspec.cli.commands.trace"},
        ),
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
