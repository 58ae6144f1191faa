"""The figures book: one file per figure or table, on top of the package, which never imports it."""

from importlib import import_module

MODULES = (
    "spectr_fig4",
    "spectr_fig5",
    "spectr_fig6",
    "spectr_tab1",
    "canonical_fig2",
    "canonical_fig3",
    "canonical_fig5",
    "canonical_tab1",
    "canonical_tab3",
    "spechub_fig5",
    "spechub_fig7",
    "spechub_tab1",
    "spechub_tab4",
    "spechub_tab5",
    "spechub_fig9",
    "block_fig2",
    "block_tab2",
    "mcsd_fig3",
    "mcsd_fig4",
    "mcsd_tab2",
    "mcsd_tab4",
    "acceptance_gap",
    "cut_simplex",
    "pooled_barriers",
    "pooled_gain",
    "draft_laws",
    "shared_noise",
    "cutting_drafts",
    "block_rules",
    "block_trees",
    "best_tree",
    "tree_optimum",
    "lossy_frontier",
    "train_for_k",
    "advice",
)
"""The modules of the items, in the order of tables."""

for _module in MODULES:
    import_module(f"figures.{_module}")
