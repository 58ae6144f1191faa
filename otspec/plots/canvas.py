"""Where plots are drawn: on axes that are given, or on new ones in the package's style."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from otspec.arguments import as_instance
from otspec.extras import needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLE = "otspec.plots.otspec"
"""The style sheet of all pictures, by the name that Matplotlib finds it by."""
PAGE = "otspec.plots.page"
"""What goes on top of it for pages that are bright or dark."""
SMALL = (4.6, 3.0)
"""Inches of a picture without a legend beside it."""
WIDE = (6.6, 3.2)
"""Inches of a picture with a legend beside it."""


@contextmanager
def panel_on(axes: Axes | None, size: tuple[float, float] = WIDE) -> Iterator[Axes]:
    """Give the axes to draw on: those that are given, or new ones, drawn in the package's style.

    Parameters
    ----------
    axes : matplotlib.axes.Axes, optional
    size : pair of float
        Inches of a new figure. Nothing of pyplot is touched.

    Raises
    ------
    ValueError
        Something else than axes; or Matplotlib is not installed.
    """
    needed("matplotlib", "drawing", "plots")
    from matplotlib import style
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    if axes is not None:
        yield as_instance(axes, "axes", Axes, "Matplotlib's axes, or None for new ones")
        return
    with style.context(STYLE):
        yield Figure(figsize=size, layout="constrained").add_subplot()


def ink() -> str:
    """Return the colour of text in the style at hand: the optimum and outlines have it."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])
