"""Khisti et al. (2024): canonical architectures and limits of multi-draft speculative sampling.

p is the draft, q the target, k (printed K) the number of drafts, b the law of the draft that the
first step selects, by weights β_y(x). α_ij is the probability that the drafts are i and j in any
order and i is selected. ``order`` is the number of one of many β, couplings, or held α_ij.
"""

from importlib import import_module

for _module in ("section_3", "section_4", "appendix_a", "appendix_b_c", "appendix_d"):
    import_module(f"{__name__}.{_module}")
