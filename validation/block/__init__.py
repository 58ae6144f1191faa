"""The preprint on optimal block-level draft verification.

M_s is the draft, M_b the target, L the draft length; an instance has tables of next-token
distributions (:class:`validation.models.Table`). Tables 2 to 4 are at the end."""

from importlib import import_module

for _module in ("section_2", "section_3", "section_3_1", "section_4_5", "appendix_a_b", "tables"):
    import_module(f"{__name__}.{_module}")
