"""All items of the book, in the order of the papers and then our own."""

from __future__ import annotations

from importlib import import_module

from figures.contract import Item

NAMES = (
    "spectr_fig4",
    "spectr_fig5",
    "spectr_fig6",
    "spectr_tab1",
    "canonical_fig2",
    "canonical_tab3",
    "spechub_fig5",
    "spechub_tab1",
    "spechub_tab4",
    "spechub_fig9",
    "block_fig2",
    "block_tab2",
    "mcsd_fig3",
    "mcsd_fig4",
    "mcsd_tab4",
    "acceptance_gap",
    "cut_simplex",
    "pooled_barriers",
    "pooled_gain",
    "block_rules",
    "block_trees",
)


def item(name: str) -> Item:
    """Return an item by name.

    Raises
    ------
    ValueError
        No item of that name.
    """
    if name not in NAMES:
        raise ValueError(f"there is no item {name!r}: see python -m figures --list")
    found: Item = import_module(f"figures.{name}").ITEM
    return found
