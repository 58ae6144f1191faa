"""What several pictures do to their axes: lines of rules, and their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from figures.looks import look
from otspec.plots.axes import label_ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def rule_lines(
    axes: Axes,
    xs: Sequence[Any],
    lines: Mapping[str, Sequence[Any]],
    errors: Mapping[str, Sequence[float]] | None = None,
    styles: Iterable[Mapping[str, Any]] = repeat({}),
    named: bool = True,
) -> Axes:
    """Draw a line for each rule, in its look, and return the axes.

    Parameters
    ----------
    axes : Axes
    xs : sequence of number
    lines : mapping of str to sequence of number
        The title of a rule → its values.
    errors : mapping of str to sequence of float, optional
        The title of a rule → its standard errors, as bars.
    styles : iterable of mapping
        For each line what it has besides its look.
    named : bool
        Whether the legend is to have the rules.
    """
    for (rule, values), style in zip(lines.items(), styles, strict=False):
        keywords = look(rule, **({"label": rule if named else None} | dict(style)))
        if errors is None:
            axes.plot(xs, values, **keywords)
        else:
            axes.errorbar(xs, values, yerr=errors[rule], capsize=0, elinewidth=0.6, **keywords)
    return axes


def name_rules(*panels: Axes) -> None:
    """Write the names of lines at their ends, in each of the panels."""
    for axes in panels:
        handles, names = axes.get_legend_handles_labels()
        lines = [handle if isinstance(handle, Line2D) else handle[0] for handle in handles]
        label_ends(axes, dict(zip(names, lines, strict=True)))


def legend_outside(axes: Axes, of: Axes | None = None, **more: Any) -> Axes:
    """Put a legend to the right of the axes, where it covers no data, and return the axes.

    Parameters
    ----------
    axes : Axes
    of : Axes, optional
        The panel whose lines are named; by default these.
    more
        Keywords of Matplotlib's legend.
    """
    place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    axes.legend(*(of or axes).get_legend_handles_labels(), **(place | more))
    return axes
