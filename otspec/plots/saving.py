"""Pictures in files: vectors whose text is text, the same for the same numbers, whole or not."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from otspec._base.arguments import as_integer, as_path
from otspec._base.coerce import shown
from otspec._base.extras import needed
from otspec._base.writing import in_one_step
from otspec.plots.canvas import in_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
