"""How lines of rules are drawn and called, the same in every chart."""

from __future__ import annotations

from typing import Any

from otspec._base.coerce import shown
from otspec.blocks import TREE_VERIFIERS
from otspec.blocks.single_draft import BLOCK_RULES
from otspec.drafts import IID, LAWS
from otspec.plots.canvas import ink
from otspec.rules import PairRule, compared_rules
from otspec.traces.comparison import OPTIMUM

_OF_OPTIMUM: dict[str, Any] = {"marker": "o", "linewidth": 2.0}


def as_title(rule: Any) -> str:
    """Check the title of a rule.

    Raises
    ------
    ValueError
        No text.
    """
    if not isinstance(rule, str):
        raise ValueError(f"rule is {shown(rule)}: pass the title of a rule, or 'optimum'")
    return rule


def look_of(rule: str, drafts: str = IID.name) -> dict[str, Any]:
    """Return how a line is drawn: colour by rule, an open marker where lines may coincide.

    Parameters
    ----------
    rule : str
        The title of a rule for one token, or ``"optimum"``, which has the colour of the ink in the
        style at hand; one that no table has is grey.
    drafts : str
        The draft law, by name.

    Returns
    -------
    dict
        Keywords of ``Axes.plot``.

    Raises
    ------
    ValueError
        A title that is no text; or Matplotlib is not installed.
    """
    if as_title(rule) == OPTIMUM:
        size = LAWS[drafts].marker_size if drafts in LAWS else 5
        look = _OF_OPTIMUM | {"color": ink(), "markersize": size}
        return look if drafts == IID.name else look | {"markerfacecolor": "none"}
    known = next((known for known in compared_rules() if known.title == rule), PairRule)
    look = {"color": known.colour, "marker": known.marker, "linewidth": 1.4}
    if known.broad:
        broad = {"markersize": 13, "markerfacecolor": "none", "markeredgewidth": 1.8}
        return look | broad | {"linewidth": 5.0, "zorder": 1.5}
    if known.only_k == 1:
        return look | {"markersize": 11, "markerfacecolor": "none"}
    return look | {"markersize": 5}


def look_of_several(rule: str) -> dict[str, Any]:
    """Return how the line of a rule for several tokens is drawn.

    Parameters
    ----------
    rule : str
        The title of a rule for blocks or for trees, or of one for one token, which trees apply
        depth by depth; ``"optimum"``; one that no table has is grey. Rules for whole trees have
        the colour and the marker of the rule that they lift, open and with a dashed line.

    Returns
    -------
    dict
        Keywords of ``Axes.plot``.

    Raises
    ------
    ValueError
        A title that is no text; or Matplotlib is not installed.
    """
    if as_title(rule) == OPTIMUM:
        opened = {"markersize": 10, "markerfacecolor": "none", "zorder": 1.5}
        return _OF_OPTIMUM | {"color": ink()} | opened
    whole = {known.title: (known.colour, known.marker) for known in TREE_VERIFIERS.values()}
    blocks = {known.title: (known.colour, known.marker) for known in BLOCK_RULES.values()}
    depths = {known.title: (known.colour, known.marker) for known in compared_rules()}
    unknown = PairRule.colour, PairRule.marker
    colour, marker = (whole | blocks | depths).get(rule, unknown)
    look = {"color": colour, "marker": marker, "linewidth": 1.4, "markersize": 5}
    opened = {"linestyle": "--", "markerfacecolor": "none", "markersize": 8}
    return look | (opened if rule in whole else {})


def style_of(drafts: str) -> str | tuple[int, tuple[int, ...]]:
    """Return the line style of a draft law; a solid line for one without a name."""
    return LAWS[drafts].line_style if drafts in LAWS else "-"


def label_of(rule: str, drafts: str) -> str:
    """Return what a line is called: the rule, or of which drafts the optimum is, but for i.i.d."""
    return rule if rule != OPTIMUM or drafts == IID.name else f"{rule}, {drafts}"
