"""The claims of multi-candidate speculative decoding (Yang et al., 2024).

$p$ is the draft and $q$ the target; the paper has them the other way round. $R_n$: the first n
drafts were rejected; $p_n$, $q_n$: what p and q have become then."""

from importlib import import_module

for _module in ("sections_2_and_3", "section_4", "appendices", "tables"):
    import_module(f"{__name__}.{_module}")
