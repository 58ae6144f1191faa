"""How lines of rules are drawn and called, the same in every chart."""

from __future__ import annotations

from typing import Any

from otspec.drafts import IID, LAWS
from otspec.rules import compared_rules
from otspec.traces.comparison import OPTIMUM


def look_of(rule: str, drafts: str) -> dict[str, Any]:
    """Return how a line is drawn: colour by rule, an open marker where lines may coincide.

    Parameters
    ----------
    rule : str
        Its title, or ``"optimum"``.
    drafts : str
        The draft law, by name.

    Returns
    -------
    dict
        Keywords of ``Axes.plot``.
    """
    if rule == OPTIMUM:
        look = {"color": "#000000", "marker": "o", "linewidth": 2.0}
        look |= {"markersize": LAWS[drafts].marker_size}
        return look if drafts == IID.name else look | {"markerfacecolor": "none"}
    known = next(known for known in compared_rules() if known.title == rule)
    look = {"color": known.colour, "marker": known.marker, "linewidth": 1.4}
    if known.broad:
        broad = {"markersize": 13, "markerfacecolor": "none", "markeredgewidth": 1.8}
        return look | broad | {"linewidth": 5.0, "zorder": 1.5}
    if known.only_k == 1:
        return look | {"markersize": 11, "markerfacecolor": "none"}
    return look | {"markersize": 5}


def label_of(rule: str, drafts: str) -> str:
    """Return what a line is called: the rule, or of which drafts the optimum is, but for i.i.d."""
    return rule if rule != OPTIMUM or drafts == IID.name else f"{rule}, {drafts}"
