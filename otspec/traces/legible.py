"""Names of files and arrays in pictures and pages, whatever characters they hold."""

from __future__ import annotations

from otspec.extras import needed


def legible(text: str) -> str:
    r"""Return a text that any file in UTF-8 can hold and any page can show.

    Control characters, and the bytes of a file name that is not UTF-8, are escaped.

    Examples
    --------
    >>> legible("a\x1b[1m\udcff")
    'a\\x1b[1m\\xff'
    """
    return "".join(
        letter if letter.isprintable() else _escaped(letter) for letter in text
    )  # surrogates are not printable


def drawable(text: str) -> str:
    """Return a text that Matplotlib's font can draw: letters that it lacks are escaped.

    Else each of them would be a warning and an empty box.
    """
    fonts = needed("matplotlib.font_manager", "a picture", "plots")
    known = fonts.get_font(fonts.findfont(fonts.FontProperties())).get_charmap()
    return "".join(letter if ord(letter) in known else _escaped(letter) for letter in legible(text))


def _escaped(letter: str) -> str:
    byte = ord(letter) - 0xDC00  # how Python keeps a byte that is not UTF-8
    if 0x80 <= byte <= 0xFF:
        return f"\\x{byte:02x}"
    return letter.encode("unicode_escape", "surrogatepass").decode("ascii")
