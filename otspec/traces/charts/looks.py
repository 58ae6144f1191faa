"""How lines of rules are drawn and called, the same in every chart."""

from __future__ import annotations

from typing import Any

from otspec.drafts import IID, LAWS
from otspec.rules import ALL_RULES
from otspec.rules.barrier_rule import BarrierRule
from otspec.traces.comparison import OPTIMUM

# Okabe and Ito's colours, which colour-blind readers can tell apart; one rule, one look.
_COLOURS = ("#0072B2", "#D55E00", "#999999", "#56B4E9", "#009E73", "#E69F00", "#CC79A7", "#332288")
_MARKERS = ("s", "^", "v", "o", "D", "P", "h", "p")


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
    index, known = next((i, known) for i, known in enumerate(ALL_RULES) if known.title == rule)
    look = {"color": _COLOURS[index], "marker": _MARKERS[index], "linewidth": 1.4}
    if issubclass(known, BarrierRule):  # optimal for their drafts
        broad = {"markersize": 13, "markerfacecolor": "none", "markeredgewidth": 1.8}
        return look | broad | {"linewidth": 5.0, "zorder": 1.5}
    if known.only_k == 1:
        return look | {"markersize": 11, "markerfacecolor": "none"}
    return look | {"markersize": 5}


def label_of(rule: str, drafts: str) -> str:
    """Return what a line is called: the rule, and its draft law if that is not i.i.d."""
    return rule if drafts == IID.name else f"{rule}, {drafts}"
