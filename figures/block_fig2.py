"""Block, figure 2: memoryless Bernoulli models, token against block verification."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from figures.axes import name_rules, rule_lines
from figures.contract import Settings
from figures.curves import Curves
from figures.registry import item
from otspec.blocks import BLOCK_RULES, compare_block_rules
from otspec.models import memoryless

TARGET = Fraction(3, 4)
"""q: P(1) of the large model."""
DRAFTS = (Fraction(1, 4), Fraction(1, 2), Fraction(9, 10))
"""p: P(1) of the small model; the paper's choice is in its picture only."""
LENGTHS = tuple(range(1, 11))
STYLES = tuple({"linestyle": style} for style in ("-", "--", "-"))


def bernoulli(chance: Fraction) -> Any:
    """Return the model whose every token is 1 with the same chance."""
    return memoryless([1 - chance, chance])


@item("block_fig2", "Block, figure 2", size=(7.0, 2.5), panels=(1, 3))
class KeptTokens(Curves):
    """For each p the kept tokens E[τ] against L, exactly."""

    title = "Memoryless Bernoulli models: kept tokens against the length of the draft"

    columns = ("draft P(1)", "L")

    @classmethod
    def compute(cls, settings: Settings) -> KeptTokens:
        """Return all curves."""
        lengths = LENGTHS[:4] if settings.quick else LENGTHS
        kept: dict[Fraction, dict[str, tuple[Fraction, ...]]] = {}
        for p in DRAFTS:
            rows = compare_block_rules(bernoulli(p), bernoulli(TARGET), lengths)
            kept[p] = {
                rule.title: tuple(row.expected for row in rows if row.rule == rule.title)
                for rule in BLOCK_RULES.values()
            }
        return cls(lengths, kept)

    def draw(self, axes: list[Any]) -> None:
        """Draw one panel for each draft."""
        for panel, (p, lines) in zip(axes, self.curves.items(), strict=True):
            rule_lines(panel, self.xs, lines, styles=STYLES)
            panel.set(title=f"draft Ber({float(p):g})")
            panel.set(xlabel="drafted tokens L", xticks=self.xs[1::2], ylim=(0, 7))
        axes[0].set_ylabel("kept tokens per block, E[τ]")
        axes[0].annotate(f"target Ber({float(TARGET):g})", (0.05, 0.9), xycoords="axes fraction")
        name_rules(axes[-1])
