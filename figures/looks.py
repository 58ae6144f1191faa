"""One colour and one marker for each rule, the same in every picture of the book."""

from __future__ import annotations

from typing import Any

from otspec import blocks, rules
from otspec.traces.comparison import OPTIMUM

_LOOKS: dict[str, tuple[str, str]] = {
    **{rule.title: (rule.colour, rule.marker)
       for rule in (*rules.compared_rules(), *blocks.RULES.values())},
    OPTIMUM: ("#000000", "o"),
    rules.ImportanceSampling.title: ("#882255", "X"),
}  # fmt: skip


def look(rule: str, **more: Any) -> dict[str, Any]:
    """Return the keywords with which a line of a rule is plotted.

    Parameters
    ----------
    rule : str
        Its title; "optimum" for the optimum.
    more
        Keywords of this picture, such as a line style for another draft law.
    """
    colour, marker = _LOOKS[rule]
    return {"color": colour, "marker": marker} | more
