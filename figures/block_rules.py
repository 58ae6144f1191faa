"""Rules for one drafted block against its length: exactly, in the long run, and on the trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from figures.contract import PAGE, Item, Numbers, Settings, legend_outside
from figures.looks import look
from otspec.blocks import (
    BLOCK_RULES,
    BlockVerify,
    compare_on_blocks,
    decode,
    memoryless,
    random_pair,
)

LENGTHS = tuple(range(1, 9))
TOKENS, DIVERGENCE, SEED = 4, 0.25, 11
COIN, BIASED = (0.5, 0.5), (0.25, 0.75)
TEXTS, TEXT = 8, 1_500
"""How many texts are decoded for the long run, and of how many tokens."""


@dataclass(frozen=True)
class BlockRulesData:
    """Tokens per call of the target against the length of the block.

    Parameters
    ----------
    lengths : tuple of int
    chains, coin, trace : dict
        Rule → tokens per call of the first block: on two Markov chains, on two coins, and the
        mean over the blocks of the trace.
    trace_error : dict
        Rule → standard error of that mean.
    long_run, long_run_error : tuple of float
        The preprint's rule on the coins over long texts, and its standard error. The other two
        rules have the same in every block.
    """

    lengths: tuple[int, ...]
    chains: dict[str, tuple[float, ...]]
    coin: dict[str, tuple[float, ...]]
    trace: dict[str, tuple[float, ...]]
    trace_error: dict[str, tuple[float, ...]]
    long_run: tuple[float, ...]
    long_run_error: tuple[float, ...]


def compute(settings: Settings) -> BlockRulesData:
    """Return the numbers of all three panels."""
    blocks = list(settings.logged().blocks())
    lengths = LENGTHS[:4] if settings.quick else LENGTHS
    lengths = tuple(length for length in lengths if length <= len(blocks[0].tokens))
    chains = random_pair(TOKENS, DIVERGENCE, np.random.default_rng(SEED))
    coins = memoryless(COIN), memoryless(BIASED)
    rows = compare_on_blocks(blocks, lengths)
    long_run = [_long_run(length, settings.quick) for length in lengths]
    return BlockRulesData(
        lengths,
        _first_blocks(chains, lengths),
        _first_blocks(coins, lengths),
        {rule.title: tuple(float(row.efficiency) for row in rows if row.rule == rule.title)
         for rule in BLOCK_RULES},
        {rule.title: tuple(row.error for row in rows if row.rule == rule.title)
         for rule in BLOCK_RULES},
        tuple(mean for mean, _ in long_run),
        tuple(error for _, error in long_run),
    )  # fmt: skip


def _first_blocks(models: Any, lengths: tuple[int, ...]) -> dict[str, tuple[float, ...]]:
    return {
        rule.title: tuple(float(rule(*models, length).efficiency()) for length in lengths)
        for rule in BLOCK_RULES
    }


def _long_run(length: int, quick: bool) -> tuple[float, float]:
    """Return the preprint's tokens per call over long texts, and its standard error."""
    rule = BlockVerify(memoryless(COIN), memoryless(BIASED), length)
    texts, tokens = (3, 200) if quick else (TEXTS, TEXT)
    found = [
        decode(rule, tokens, np.random.default_rng([SEED, length, text])).efficiency
        for text in range(texts)
    ]
    return float(np.mean(found)), float(np.std(found, ddof=1) / len(found) ** 0.5)


def numbers(data: BlockRulesData) -> Numbers:
    """Return one row for each setting, rule and length."""
    rows: list[tuple[str, str, int, float, float]] = []
    for name, lines in (("Markov chains", data.chains), ("coins", data.coin)):
        rows += [
            (name, rule, length, value, 0.0)
            for rule, values in lines.items()
            for length, value in zip(data.lengths, values, strict=True)
        ]
    long_run = zip(data.lengths, data.long_run, data.long_run_error, strict=True)
    rows += [("coins, long run", BlockVerify.title, *row) for row in long_run]
    rows += [
        ("trace", rule, length, data.trace[rule][i], data.trace_error[rule][i])
        for rule in data.trace
        for i, length in enumerate(data.lengths)
    ]
    return Numbers(("setting", "rule", "L", "tokens per call", "standard error"), tuple(rows))


def draw(axes: list[Any], data: BlockRulesData) -> None:
    """Draw one panel for each setting."""
    chains, coins, trace = axes
    for rule, values in data.chains.items():
        chains.plot(data.lengths, values, label=rule, **look(rule))
        coins.plot(data.lengths, data.coin[rule], label=rule, **look(rule))
        trace.errorbar(data.lengths, data.trace[rule], label=rule, capsize=0, elinewidth=0.6,
                       yerr=data.trace_error[rule], **look(rule))  # fmt: skip
    long_run = look(BlockVerify.title, linestyle="--", markerfacecolor="none")
    coins.errorbar(data.lengths, data.long_run, yerr=data.long_run_error, elinewidth=0.6,
                   label="the preprint's in the long run", **long_run)  # fmt: skip
    chains.set_title("two Markov chains, first block")
    coins.set_title("two coins")
    trace.set_title("trace, with standard errors")
    for panel in axes:
        panel.set_xlabel("drafted tokens L")
        panel.set_xticks(data.lengths[::2] if len(data.lengths) > 4 else data.lengths)
    chains.set_ylabel("tokens per call of the target")
    handles, labels = coins.get_legend_handles_labels()
    legend_outside(trace, handles, labels)


ITEM = Item(
    name="block_rules",
    title="Tokens per call against the length of the drafted block",
    source="ours",
    compute=compute,
    numbers=numbers,
    draw=draw,
    size=(PAGE[0], 2.3),
    panels=(1, 3),
    seed=SEED,
    traced=True,
)
