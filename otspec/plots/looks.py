"""How lines of rules are drawn and called, the same in every chart."""

from typing import Any, NamedTuple

from otspec._base.coerce import shown
from otspec.drafts import IID
from otspec.plots.canvas import ink
from otspec.traces.comparison import OPTIMUM

_OF_OPTIMUM: dict[str, Any] = {"marker": "o", "linewidth": 2.0}


class Look(NamedTuple):
    """How the line of a rule is drawn."""

    color: str  # as Matplotlib writes it
    marker: str
    # ``"broad"`` behind the line of the optimum, which the rule attains; ``"single"`` with a large
    # open marker, for a rule for one draft; ``"tree"`` dashed with an open marker, for a rule for
    # whole trees
    drawn: str = ""


LOOKS: dict[str, Look] = {  # by the titles of rules; those of your own rules can be added
    # for one token: Okabe and Ito's colors first, which colorblind readers can tell apart
    "k-sequential": Look("#0072B2", "s"),
    "recursive rejection": Look("#D55E00", "^"),
    "importance sampling": Look("#AA4499", "X"),
    "maximal coupling": Look("#999999", "v", "single"),
    "naive sampling": Look("#56B4E9", "o"),
    "recursive rejection (distinct)": Look("#009E73", "D"),
    "SpecHub": Look("#E69F00", "P"),
    "SpecHub (two hubs)": Look("#AA7700", "p"),
    "pooled selection": Look("#CC79A7", "h", "broad"),
    "pooled selection (earliest)": Look("#CC79A7", "h", "broad"),
    "pooled selection (distinct)": Look("#6650C8", "p", "broad"),
    "coupling of the drawn draft": Look("#B0306A", "d"),
    "shared noise": Look("#8C510A", ">"),
    "shared noise (lists)": Look("#BF812D", "<"),
    "target-only verification": Look("#117733", "*"),
    # for one token, lossy
    "lenience": Look("#0072B2", "o", "single"),
    "lenience by entropy": Look("#0072B2", "<", "single"),
    "mentored decoding": Look("#56B4E9", "s", "single"),
    "interpolated target": Look("#117733", "^", "single"),
    "Cactus": Look("#009E73", "d", "single"),
    "typical acceptance": Look("#D55E00", "D", "single"),
    "relaxed acceptance (top)": Look("#E69F00", "P", "single"),
    "rollback": Look("#B0306A", "v", "single"),
    "fuzzy verification": Look("#CC79A7", "X", "single"),
    "cascade by position": Look("#6650C8", "p", "single"),
    "cascade by token": Look("#AA4499", "h", "single"),
    "target-only with thresholds": Look("#999999", "*"),
    # for one block
    "token verification": Look("#0072B2", "s"),
    "block verification (published)": Look("#009E73", "v"),
    "block verification (preprint)": Look("#D55E00", "o"),
    "hierarchical speculative decoding (public code, lossy)": Look("#CC79A7", "d"),
    # for a tree: those of the rule for one token that they lift
    "traversal verification": Look("#D55E00", "^", "tree"),
    "universal tree": Look("#CC79A7", "h", "tree"),
    "universal tree (earliest)": Look("#6699CC", "<", "tree"),
    "traversal verification (distinct)": Look("#009E73", "D", "tree"),
    "universal tree (distinct)": Look("#6650C8", "p", "tree"),
    "greedy multi-path": Look("#AA4499", "X", "tree"),
}

UNKNOWN = Look("#666666", "x")
"""The look of a rule that :data:`LOOKS` lacks."""

LAW_LOOKS: dict[str, tuple[str | tuple[int, tuple[int, ...]], int]] = {
    "iid": ("-", 6),
    "without-replacement": ("--", 9),
    "hub": (":", 12),
    "top-plus-one": ("-.", 15),
    "top": ((0, (5, 1, 1, 1, 1, 1)), 18),
}
"""By draft law: line style, and size of the marks of the optimum, which may lie on one another."""


def as_title(rule: Any) -> str:
    """Check the title of a rule."""
    if not isinstance(rule, str):
        raise ValueError(f"rule is {shown(rule)}: pass the title of a rule, or 'optimum'")
    return rule


def look_of(rule: str, drafts: str = IID.name) -> dict[str, Any]:
    """Return how a line is drawn: color by rule, an open marker where lines may coincide.

    Parameters
    ----------
    rule : str
        The title of a rule for one token, or ``"optimum"``, which has the color of the ink in the
        style at hand; one that :data:`LOOKS` lacks is gray.
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
        look = _OF_OPTIMUM | {"color": ink(), "markersize": LAW_LOOKS.get(drafts, ("-", 5))[1]}
        return look if drafts == IID.name else look | {"markerfacecolor": "none"}
    color, marker, drawn = LOOKS.get(rule, UNKNOWN)
    look = {"color": color, "marker": marker, "linewidth": 1.4}
    if drawn == "broad":
        broad = {"markersize": 13, "markerfacecolor": "none", "markeredgewidth": 1.8}
        return look | broad | {"linewidth": 5.0, "zorder": 1.5}
    if drawn == "single":
        return look | {"markersize": 11, "markerfacecolor": "none"}
    return look | {"markersize": 5}


def look_of_several(rule: str) -> dict[str, Any]:
    """Return how the line of a rule for several tokens is drawn.

    Parameters
    ----------
    rule : str
        The title of a rule for blocks or for trees, or of one for one token, which trees apply
        depth by depth; ``"optimum"``; one that :data:`LOOKS` lacks is gray. Rules for whole trees
        have the color and the marker of the rule that they lift, open and with a dashed line.

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
    color, marker, drawn = LOOKS.get(rule, UNKNOWN)
    look = {"color": color, "marker": marker, "linewidth": 1.4, "markersize": 5}
    opened = {"linestyle": "--", "markerfacecolor": "none", "markersize": 8}
    return look | (opened if drawn == "tree" else {})


def style_of(drafts: str) -> str | tuple[int, tuple[int, ...]]:
    """Return the line style of a draft law; a solid line for one without a name."""
    return LAW_LOOKS.get(drafts, ("-", 5))[0]


def label_of(rule: str, drafts: str) -> str:
    """Return what a line is called: the rule, or of which drafts the optimum is, but for i.i.d."""
    return rule if rule != OPTIMUM or drafts == IID.name else f"{rule}, {drafts}"
