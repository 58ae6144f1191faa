"""One color and one marker for each rule, the same in every picture of the book."""

from __future__ import annotations

from typing import Any

from otspec.plots import look_of_several


def look(rule: str, **more: Any) -> dict[str, Any]:
    """Return the keywords with which a line of a rule is plotted.

    Parameters
    ----------
    rule : str
        Its title; "optimum" for the optimum.
    more
        Keywords of this picture, such as a line style for another draft law.
    """
    known = look_of_several(rule)
    return {"color": known["color"], "marker": known["marker"]} | more
