"""SpecHub: provable acceleration to multi-draft speculative decoding (2024).

p is the draft and q the target (the paper has them the other way round), a the likeliest token of
the draft, the hub, and α = Σ min(p, q). P is the law of the drafts (the paper's Q), P′ what is left
of it. OTM is the optimum of two independent drafts, OTMw of two distinct ones.
"""

from importlib import import_module

MODULES = (
    "tables", "section_2_3", "section_4",
    "appendix_a_c_e", "appendix_b", "appendix_b3", "appendix_d")  # fmt: skip
for _module in MODULES:
    import_module(f"{__name__}.{_module}")
