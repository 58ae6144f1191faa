"""What commands print, and the files that they write: checked beforehand, written whole."""

import io
import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import click

from otspec._base import ArrowTable, Number, needed, shortened, written
from otspec._base.tables import say
from otspec.estimate import Estimate, Quantity, value_of
from otspec.frames import check_ending, write_table


def print_json(content: Any) -> None:
    """Print one JSON document in ASCII; fractions are strings such as ``"17/20"``."""
    text = json.dumps(content, default=_jsonable, indent=2)
    # The one control character that JSON leaves as it is.
    say(*text.replace("\x7f", "\\u007f").split("\n"))


def _jsonable(value: Any) -> Any:
    if isinstance(value, Fraction):
        return written(value)
    if isinstance(value, Quantity):
        return value.value
    raise TypeError(f"{type(value).__name__} has no JSON form")


def shown(value: Number | Quantity, digits: int = 4) -> str:
    """Return a number for a table: decimals, the fraction if exact, ≈ if it is an estimate."""
    decimal = f"{float(value):z.{digits}f}"
    if isinstance(value, Estimate):
        return f"≈{decimal}"
    number = value_of(value)
    if not isinstance(number, Fraction):
        return decimal
    fraction = shortened(number)
    return f"{decimal} {'≈' if '…' in fraction else '='} {fraction}"


def shown_set(tokens: Sequence[int], most: int = 8) -> str:
    """Return a token set, cut short if it is large."""
    listed = ", ".join(map(str, tokens[:most]))
    return f"{{{listed}}}" if len(tokens) <= most else f"{{{listed}, … {len(tokens):,} tokens}}"


def percent(value: Number | Quantity) -> str:
    """Return a probability as a percentage for a sentence."""
    return f"{100 * float(value):.1f}%"


TableMaker: TypeAlias = Callable[[], ArrowTable]  # what a table is made by, if one is wanted


def command_line() -> str:
    """Return the command line that is run, as it can be typed; empty if it was not typed."""
    typed = click.get_current_context().obj
    return typed if isinstance(typed, str) else ""


def check_place(path: Path) -> None:
    """Try whether a file can be written, and leave everything as it was."""
    place = path.resolve()
    if place.is_dir():
        raise IsADirectoryError(f"{path} is a directory: name a file")
    if place.is_file():
        with place.open("ab"):
            return
    if not place.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {place.parent}: make it first")
    if not place.exists():
        with place.open("xb"):
            pass
        place.unlink()


def check_picture(ending: str) -> None:
    """Try whether pictures of that kind can be drawn here."""
    if not ending:
        raise ValueError("the name of the picture has no ending: write one such as .png or .svg")
    needed("matplotlib", "drawing", "plots")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1, 1))
    FigureCanvasAgg(figure)
    figure.text(0, 0, "k")
    figure.savefig(io.BytesIO(), format=ending.removeprefix("."))


def check_table(path: Path | None) -> None:
    """Try whether a table can be written to a file, if one is named."""
    if path is not None:
        check_ending(path)
        needed("pyarrow", "a table", "runs")
        check_place(path)


def table_written(path: Path | None, make: TableMaker, *, silent: bool) -> bool:
    """Write a table if a file is named, and say where unless ``silent``."""
    if path is None:
        return True
    done = was_written("the table", lambda: write_table(make(), path))
    if done and not silent:
        say(f"table: {path}")
    return done


def was_written(what: str, write: Callable[[], object]) -> bool:
    """Write what comes after the results, and say in one line why if that fails."""
    try:
        write()
    except Exception as error:  # whatever the picture does
        reason = " ".join(str(error).split()) or type(error).__name__
        say(f"otspec: {what} was not written: {reason}", err=True)
        return False
    return True
