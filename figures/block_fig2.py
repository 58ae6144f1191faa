"""Block, figure 2: memoryless Bernoulli models, token against block verification."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from figures.contract import PAGE, Item, Numbers, Settings
from figures.looks import look
from otspec.blocks import BLOCK_RULES, compare_block_rules, memoryless

TARGET = Fraction(3, 4)
"""q: P(1) of the large model."""
DRAFTS = (Fraction(1, 4), Fraction(1, 2), Fraction(9, 10))
"""p: P(1) of the small model; the paper's choice is in its picture only."""
LENGTHS = tuple(range(1, 11))
STYLES = ("-", "--", "-")


@dataclass(frozen=True)
class KeptTokens:
    """Kept tokens E[τ] against L, exactly.

    Parameters
    ----------
    lengths : tuple of int
    kept : dict
        p → rule → E[τ] for each L.
    """

    lengths: tuple[int, ...]
    kept: dict[Fraction, dict[str, tuple[Fraction, ...]]]


def bernoulli(chance: Fraction) -> Any:
    """Return the model whose every token is 1 with the same chance."""
    return memoryless([1 - chance, chance])


def compute(settings: Settings) -> KeptTokens:
    """Return all curves."""
    lengths = LENGTHS[:4] if settings.quick else LENGTHS
    kept = {}
    for p in DRAFTS:
        rows = compare_block_rules(bernoulli(p), bernoulli(TARGET), lengths)
        kept[p] = {
            rule.title: tuple(row.expected for row in rows if row.rule == rule.title)
            for rule in BLOCK_RULES
        }
    return KeptTokens(lengths, kept)


def numbers(data: KeptTokens) -> Numbers:
    """Return one row for each p and L."""
    titles = tuple(rule.title for rule in BLOCK_RULES)
    rows = [
        (float(p), length, *(float(curves[title][i]) for title in titles))
        for p, curves in data.kept.items()
        for i, length in enumerate(data.lengths)
    ]
    return Numbers(("draft P(1)", "L", *titles), tuple(rows))


def draw(axes: list[Any], data: KeptTokens) -> None:
    """Draw one panel for each draft."""
    for panel, (p, curves) in zip(axes, data.kept.items(), strict=True):
        for rule, style in zip(BLOCK_RULES, STYLES, strict=True):
            panel.plot(data.lengths, curves[rule.title], label=rule.title,
                       **look(rule.title, linestyle=style))  # fmt: skip
        panel.set_title(f"draft Ber({float(p):g}), target Ber({float(TARGET):g})")
        panel.set_xlabel("drafted tokens L")
        panel.set_xticks(data.lengths[1::2])
        panel.set_ylim(0, 7)
    axes[0].set_ylabel("kept tokens per block, E[τ]")
    axes[0].legend(loc="upper left", borderaxespad=0.1)


ITEM = Item(
    name="block_fig2",
    title="Memoryless Bernoulli models: kept tokens against the length of the draft",
    source="Block, figure 2",
    compute=compute,
    numbers=numbers,
    draw=draw,
    size=(PAGE[0], 2.5),
    panels=(1, 3),
)
