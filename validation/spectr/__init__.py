"""SpecTr (Sun et al., 2023), where p is the draft and q the target."""

from importlib import import_module

MODULES = ("section_2_4", "section_5_6", "section_7_d", "appendix_a", "appendix_b", "appendix_c",
           "tables")  # fmt: skip
for _module in MODULES:
    import_module(f"{__name__}.{_module}")
