"""Where plots are drawn, in which style, and how they are written to files."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from otspec._base.arguments import as_instance, as_integer, as_path
from otspec._base.arithmetic import Array, Number
from otspec._base.coerce import shown
from otspec._base.extras import needed
from otspec._base.writing import in_one_step
from otspec.estimate import Quantity
from otspec.traces.printable import escaped, printable

if TYPE_CHECKING:
    from matplotlib.artist import Artist as Artist  # noqa: PLC0414
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414
    from matplotlib.figure import Figure as Figure  # noqa: PLC0414
    from matplotlib.lines import Line2D as Line2D  # noqa: PLC0414
else:
    Artist = Axes = Figure = Line2D = Any  # Matplotlib is imported when something is drawn


STYLE = "otspec.plots.otspec"  # style sheet of all pictures, as Matplotlib finds it
PAGE = "otspec.plots.page"  # what goes on top of it for pages that are bright or dark
WIDE = (6.6, 3.2)  # inches of a picture with a legend beside it
_ONE_AT_A_TIME = RLock()


@contextmanager
def panel_on(ax: Axes | None, size: tuple[float, float] = WIDE) -> Iterator[Axes]:
    """Give the axes to draw on: those that are given, or new ones, drawn in the package's style."""
    needed("matplotlib", "drawing", "plots")
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    if ax is not None:
        panel: Axes = as_instance(ax, "ax", Axes, "Matplotlib's axes, or None for new ones")
        if panel.name != "rectilinear":
            raise ValueError(f"axes are {panel.name}: pass rectilinear ones, or None for new ones")
        yield panel
        return
    with in_style(STYLE):
        yield Figure(figsize=size, layout="constrained").add_subplot()


@contextmanager
def in_style(*styles: str | dict[str, Any]) -> Iterator[None]:
    """Let what is drawn meanwhile have styles, and put back those of the process."""
    # One thread at a time: with two, what the first one put in place would be put back last.
    from matplotlib import style

    with _ONE_AT_A_TIME, style.context(list(styles)):
        yield


def ink() -> str:
    """Return the color of text in the style at hand: the optimum and outlines have it."""
    needed("matplotlib", "drawing", "plots")
    from matplotlib.text import Text

    return str(Text().get_color())


_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # red, green, blue (WCAG 2.2)
_DARK, _BRIGHT = 0.18, 0.21  # contrast 4.5 with white, and with #131416


def letters(color: Any) -> str:
    """Return the shade of a color in which letters are as printable as those in the style's ink."""
    from matplotlib import colors

    def light(of: Any) -> Array:
        rgb = np.array(colors.to_rgb(of))
        return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)

    ground_known = not _DARK < (of_ink := float(light(ink()) @ _LUMINANCE)) < _BRIGHT
    low, high = (
        (of_ink, of_ink) if not ground_known else (0, _DARK) if of_ink < 0.2 else (_BRIGHT, 1)
    )
    shade = light(color)
    bright = float(shade @ _LUMINANCE)
    if bright > high:
        shade = shade * high / bright
    elif bright < low:
        shade = shade + (1 - shade) * (low - bright) / (1 - bright)
    coded = np.where(shade <= 0.0031308, 12.92 * shade, 1.055 * shade ** (1 / 2.4) - 0.055)
    return str(colors.to_hex(tuple(np.clip(coded, 0, 1).tolist())))


def drawable(text: str) -> str:
    """Return a text that Matplotlib's font can draw: letters that it lacks are escaped."""
    # Else each of them would be a warning and an empty box.
    fonts = needed("matplotlib.font_manager", "drawing", "plots")
    known = fonts.get_font(fonts.findfont(fonts.FontProperties())).get_charmap()
    return "".join(it if ord(it) in known else escaped(it) for it in printable(text))


def decimals(number: Number | Quantity) -> str:
    """Return a number as pictures have it, with four decimals."""
    return f"{float(number):z.4f}"


LETTERS_AS_TEXT = {"svg.fonttype": "none", "svg.hashsalt": "otspec", "pdf.fonttype": 42}
"""What Matplotlib looks up when it writes, not when it draws."""
_NO_DATE: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def save(drawn: Axes | Figure, path: str | PathLike[str], *, dpi: int = 200) -> None:
    """Write a picture in one step: in SVG and PDF its text is text, and the file has no date.

    Parameters
    ----------
    drawn : matplotlib.axes.Axes or matplotlib.figure.Figure
        The figure, or some axes of it.
    path : path
        Its ending decides the format, as in Matplotlib.
    dpi : int
        Of formats that have pixels, up to 2,400.

    Raises
    ------
    ValueError
        Something else, or a format that Matplotlib does not write.
    OSError
        The file cannot be written.
    """
    figure, to, dots = as_figure(drawn), as_path(path), as_integer(dpi, "dpi", 1, 2_400)
    with in_style(LETTERS_AS_TEXT), in_one_step(to) as stream:
        metadata = _NO_DATE.get(to.suffix.lower())
        figure.savefig(stream, dpi=dots, format=to.suffix[1:] or None, metadata=metadata)


def as_figure(drawn: Any) -> Figure:
    """Return the figure of axes, or a figure."""
    needed("matplotlib", "drawing", "plots")
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    figure = drawn.get_figure(root=True) if isinstance(drawn, Axes) else drawn
    if not isinstance(figure, Figure):
        raise ValueError(f"drawn is {shown(drawn)}: pass Matplotlib's axes or a figure")
    return figure
