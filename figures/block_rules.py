"""Rules for one drafted block against its length: on the letters, coins and the trace."""

from __future__ import annotations

from typing import Any

import numpy as np

from figures.axes import name_rules, rule_lines
from figures.contract import Numbers, Picture, Settings
from figures.long_trace import compared, kept_by_block
from figures.looks import look
from figures.on_letters import letter_pair
from figures.ratio_bounds import kept_tokens
from figures.registry import item
from otspec.blocks import BLOCK_RULES, BlockVerificationPreprint, decode
from otspec.models import memoryless
from otspec.plots.axes import label_ends

LENGTHS = tuple(range(1, 9))
SEED = 11
STEP, QUICK_STEP = 0.05, 0.2
"""Of the grid of ratios on which the letters are bounded, from below and by 0.0006 from above."""
COIN, BIASED = (0.5, 0.5), (0.25, 0.75)
TEXTS, TEXT = 8, 1_500
"""How many texts are decoded for the long run, and of how many tokens."""


def _on_letters(lengths: tuple[int, ...], quick: bool) -> dict[str, tuple[float, ...]]:
    """Return the lower bounds at a random place of the letters."""
    found = {}
    for rule in BLOCK_RULES.values():
        step = QUICK_STEP if quick else STEP
        kept = kept_tokens(letter_pair(), rule, max(lengths), step)
        found[rule.title] = tuple(1 + kept[length - 1].low for length in lengths)
    return found


def _first_blocks(models: Any, lengths: tuple[int, ...]) -> dict[str, tuple[float, ...]]:
    return {
        rule.title: tuple(float(rule(*models, length).efficiency()) for length in lengths)
        for rule in BLOCK_RULES.values()
    }


def _long_run(length: int, quick: bool) -> tuple[float, float]:
    """Return the preprint's tokens per call over long texts, and its standard error."""
    rule = BlockVerificationPreprint(memoryless(COIN), memoryless(BIASED), length)
    texts, tokens = (3, 200) if quick else (TEXTS, TEXT)
    found = [
        decode(rule, tokens, np.random.default_rng([SEED, length, text])).efficiency
        for text in range(texts)
    ]
    return float(np.mean(found)), float(np.std(found, ddof=1) / len(found) ** 0.5)


@item("block_rules", "ours", size=(7.0, 2.5), panels=(1, 3), seed=SEED, traced=True)
class TokensPerCall(Picture):
    """Tokens per call of the target against the length of the block.

    Parameters
    ----------
    lengths : tuple of int
    letters, coin, trace : dict
        Rule → tokens per call of the first block: at a random place of the letters, on two coins,
        and the mean over the blocks of the trace.
    trace_error : dict
        Rule → standard error of that mean.
    long_run, long_run_error : tuple of float
        The preprint's rule on the coins over long texts, and its standard error. The other two
        rules have the same in every block.
    """

    title = "Tokens per call against the length of the drafted block"

    lengths: tuple[int, ...]
    letters: dict[str, tuple[float, ...]]
    coin: dict[str, tuple[float, ...]]
    trace: dict[str, tuple[float, ...]]
    trace_error: dict[str, tuple[float, ...]]
    long_run: tuple[float, ...]
    long_run_error: tuple[float, ...]

    @classmethod
    def compute(cls, settings: Settings) -> TokensPerCall:
        """Return the numbers of all three panels."""
        kept, _ = kept_by_block(settings)
        lengths = LENGTHS[:4] if settings.quick else LENGTHS
        lengths = tuple(length for length in lengths if length in kept)
        coins = memoryless(COIN), memoryless(BIASED)
        rows = [compared(kept, length) for length in lengths]
        long_run = [_long_run(length, settings.quick) for length in lengths]
        return cls(
            lengths,
            _on_letters(lengths, settings.quick),
            _first_blocks(coins, lengths),
            {rule.title: tuple(float(row[rule.title].efficiency) for row in rows)
             for rule in BLOCK_RULES.values()},
            {
                rule.title: tuple(row[rule.title].error for row in rows)
                for rule in BLOCK_RULES.values()
            },
            tuple(mean for mean, _ in long_run),
            tuple(error for _, error in long_run),
        )  # fmt: skip

    def numbers(self) -> Numbers:
        """Return one row for each setting, rule and length."""
        rows: list[tuple[str, str, int, float, float]] = []
        for name, lines in (("letters", self.letters), ("coins", self.coin)):
            rows += [
                (name, rule, length, value, 0.0)
                for rule, values in lines.items()
                for length, value in zip(self.lengths, values, strict=True)
            ]
        long_run = zip(self.lengths, self.long_run, self.long_run_error, strict=True)
        rows += [("coins, long run", BlockVerificationPreprint.title, *row) for row in long_run]
        rows += [
            ("trace", rule, length, self.trace[rule][i], self.trace_error[rule][i])
            for rule in self.trace
            for i, length in enumerate(self.lengths)
        ]
        return Numbers(("setting", "rule", "L", "tokens per call", "standard error"), tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw one panel for each setting."""
        letters, coins, trace = axes
        rule_lines(letters, self.lengths, self.letters)
        rule_lines(coins, self.lengths, self.coin)
        rule_lines(trace, self.lengths, self.trace, errors=self.trace_error)
        long_run = look(BlockVerificationPreprint.title, linestyle="--", markerfacecolor="none")
        later = coins.errorbar(
            self.lengths, self.long_run, yerr=self.long_run_error, elinewidth=0.6, **long_run
        )
        titles = ("letters, first block", "two coins", "language model,\nbars: standard errors")
        ticks = self.lengths[::2] if len(self.lengths) > 4 else self.lengths
        for panel, title in zip(axes, titles, strict=True):
            panel.set(title=title, xlabel="drafted tokens L", xticks=ticks)
        letters.set_ylabel("tokens per call of the target")
        label_ends(coins, {"preprint,\nlong run": later[0]})
        name_rules(trace)
