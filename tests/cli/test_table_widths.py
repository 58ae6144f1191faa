"""Tables in terminals of every width, and in pipes: no number is ever cut."""

import re

import pytest
from searching import by_day
from test_terminal import COMMANDS

from otspec._base.tables import print_table
from otspec.cli.main import main

COLUMNS = ("rule", "drafts", "time of a call", "kept, 95% interval", "")
ROWS = [
    ("pooled selection (distinct)", "without-replacement", "1.375", "0.764 to 3.012", "≈0.5"),
    ("SpecHub", "hub", "0.9", "", "12/35"),
]
CELLS = {cell for row in ROWS for cell in row if cell}
NATURAL = sum(max(map(len, column)) for column in zip(COLUMNS, *ROWS, strict=True)) + 2 * 4
"""Two blanks are between columns."""


@pytest.fixture(params=[1, 10, 40, 60, NATURAL - 1, NATURAL, 120, None])
def width(request, monkeypatch):
    """The width of the terminal; None for a pipe."""
    if request.param is not None:
        monkeypatch.setenv("TTY_COMPATIBLE", "1")
        monkeypatch.setenv("COLUMNS", str(request.param))
    return request.param


def test_cells_are_whole_at_every_width(width, capsys):
    print_table(COLUMNS, ROWS, text=2)
    out = capsys.readouterr().out
    assert all(cell in out for cell in CELLS)
    assert "…" not in out
    longest = max(map(len, out.splitlines()))
    if width is None or width >= NATURAL:
        assert (len(out.splitlines()), longest) == (3, NATURAL)
    else:
        assert out.startswith(f"({NATURAL} columns do not fit into {width}: as lists)\n\nrule: ")
        assert out.count("rule: ") == 2
        assert "time of a call: 1.375" in out
        assert "kept, 95% interval: \n" not in out


@pytest.mark.parametrize("columns", by_day([None, "80"], ["80"]))
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "a complaint"])
def test_no_command_cuts_a_number(name, columns, monkeypatch, capsys):
    if columns is not None:
        monkeypatch.setenv("TTY_COMPATIBLE", "1")
        monkeypatch.setenv("COLUMNS", columns)
    assert main(list(COMMANDS[name])) == 0
    out = capsys.readouterr().out
    # A fraction of very many digits is shortened in its middle, and ≈ says so.
    assert not re.search(r"[\d.]…(?!\d)", out)
