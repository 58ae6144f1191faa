"""What the letters of a picture are."""

from __future__ import annotations

from otspec._base.arithmetic import Number
from otspec._base.extras import needed
from otspec.traces.printable import escaped, legible


def drawable(text: str) -> str:
    """Return a text that Matplotlib's font can draw: letters that it lacks are escaped.

    Else each of them would be a warning and an empty box.
    """
    fonts = needed("matplotlib.font_manager", "drawing", "plots")
    known = fonts.get_font(fonts.findfont(fonts.FontProperties())).get_charmap()
    return "".join(letter if ord(letter) in known else escaped(letter) for letter in legible(text))


def decimals(number: Number) -> str:
    """Return a number as pictures have it, with four decimals."""
    return f"{float(number):z.4f}"
