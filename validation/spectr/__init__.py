"""SpecTr (Sun et al., 2023), where p is the draft and q the target."""

MODULES = ("section_2_4", "section_5_6", "section_7_d", "appendix_a", "appendix_b", "appendix_c",
           "tables")  # fmt: skip
