"""The door to the terminal: lines and tables that any encoding can show, and that cannot act on it.

What is not printable is escaped, so that no name moves the cursor, reverses the text or starts a
line of its own; what the encoding of the stream lacks is written in ASCII.
"""

import codecs
import io
import os
import sys
from collections.abc import Sequence

import click
from rich.console import Console
from rich.table import Table

_WIDEST = 100_000  # a width at which no table is cut off
_PLAIN = {
    "≈": "~", "…": "...", "×": "x", "·": "*", "−": "-", "–": "-", "—": "-", "≤": "<=", "≥": ">=",
    "→": "->", "τ": "tau", "ρ": "rho", "λ": "lambda", "Σ": "sum", "‘": "'", "’": "'", "“": '"',
    "”": '"', "━": "-", "╸": "-", "╺": "-",
}  # fmt: skip
"""How our own signs look in ASCII."""
_IN_ASCII = "otspec-plain"


def keep_answers_apart() -> None:
    """Let nothing but answers reach the standard output of this process."""
    # Libraries write to descriptor 1, some of them from C. From here on that is standard error, for
    # the processes that this one starts as well; answers go to where descriptor 1 led before. The
    # process has to be ours: nothing is changed where standard output is closed or was replaced.
    stream = sys.__stdout__
    if stream is None or stream is not sys.stdout:
        return
    stream.flush()
    kept = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY) if sys.stderr is None else 2, 1)
    sys.stdout = os.fdopen(kept, "w", encoding=stream.encoding, errors=stream.errors, closefd=False)


def printable(text: str) -> str:
    r"""Return a text whose characters all have a look of their own, on one line.

    Examples
    --------
    >>> printable("trace\x1b[2J.npz")
    'trace\\x1b[2J.npz'
    >>> printable("draft \u2264 1")
    'draft ≤ 1'
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text
    )


def listed(names: Sequence[str], word: str) -> str:
    """Return names as "a", "a or b", "a, b or c", with the given word before the last."""
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last


def say(*lines: object, err: bool = False) -> None:
    """Print lines, each made :func:`printable`; none is an empty line."""
    for line in lines or ("",):
        _write(printable(str(line)), err=err)


def say_more(text: str) -> None:
    """Print a piece of a text, which may have ends of lines and need not end with one."""
    _write("\n".join(map(printable, text.split("\n"))), end="")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, text: int = 1) -> None:
    """Print aligned columns; the first ``text`` of them to the left, numbers to the right."""
    # Nothing is cut off. On a terminal that is too narrow each row is a list, and a line says so; a
    # pipe or a file has no width.
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        table.add_column(
            printable(column), justify="left" if index < text else "right", no_wrap=True
        )
    for row in rows:
        table.add_row(*map(printable, row))
    console = Console(highlight=False, markup=False)
    there = console.width if console.is_terminal else None
    console.width = _WIDEST
    console.width = console.measure(table).maximum
    if there is not None and there < console.width:
        _print_lists(columns, rows, f"{console.width} columns do not fit into {there}: as lists")
        return
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        _write(line.rstrip())


def _print_lists(columns: Sequence[str], rows: Sequence[Sequence[str]], why: str) -> None:
    """Print each row as a list of its cells that say something, each with its column's name."""
    say(f"({why})")
    for row in rows:
        say()
        for column, cell in zip(columns, row, strict=True):
            if cell:
                say(f"{column}: {cell}" if column else cell)


def forgive_encodings() -> None:
    """Let standard output and standard error write in ASCII what their encodings lack."""
    # Also what does not come through `say`: progress bars, help and warnings.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_IN_ASCII)


def _write(line: str, *, err: bool = False, end: str = "\n") -> None:
    # Click writes UTF-8 to a stream that wants ASCII; what is ASCII already stays it.
    encoding = getattr(sys.stderr if err else sys.stdout, "encoding", None) or "utf-8"
    click.echo(line.encode(encoding, _IN_ASCII).decode(encoding) + end, err=err, nl=False)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    plain = (_PLAIN.get(each, each).encode("ascii", "backslashreplace") for each in missing)
    return b"".join(plain).decode("ascii"), error.end


codecs.register_error(_IN_ASCII, _in_ascii)
