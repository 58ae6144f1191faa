"""One colour and one marker for each rule, the same in every picture of the book."""

from __future__ import annotations

from typing import Any

from otspec import IID
from otspec.blocks import RULES
from otspec.rules import ImportanceSampling
from otspec.traces.charts import look_of

_OTHERS = {
    ImportanceSampling.title: {"color": "#882255", "marker": "X"},
    **{rule.title: {"color": rule.colour, "marker": rule.marker} for rule in RULES.values()},
}


def look(rule: str, **more: Any) -> dict[str, Any]:
    """Return the keywords with which a line of a rule is plotted.

    Parameters
    ----------
    rule : str
        Its title; "optimum" for the optimum.
    more
        Keywords of this picture, such as a line style for another draft law.
    """
    known = _OTHERS[rule] if rule in _OTHERS else look_of(rule, IID.name)
    return {"color": known["color"], "marker": known["marker"]} | more
