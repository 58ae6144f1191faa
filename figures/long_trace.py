"""What block rules keep of the drafted blocks of the long trace: a record, and how it is made.

``python -m figures.long_trace long.npz`` writes it anew; ``docs/sample.md`` says where the trace
comes from.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable
from pathlib import Path

from figures.contract import Settings
from otspec.blocks import BLOCK_RULES, BlockComparison, BlockVerify, LoggedBlock
from otspec.logged.comparison import mean_and_error
from otspec.traces import load_trace
from otspec.writing import write_text

RECORD = Path(__file__).with_name("long_trace.csv")
RECORDED = "long SmolLM2 trace"
_DIGITS = 8

Kept = dict[int, dict[str, tuple[float, ...]]]
"""Length L -> title of a rule -> what it keeps of each block, in expectation."""


def kept_by_block(settings: Settings) -> tuple[Kept, str]:
    """Return what rules keep of each block, and whose: the long trace's unless one is given."""
    if settings.trace is not None:
        return computed(settings.logged().blocks()), settings.input
    kept: Kept = {}
    with RECORD.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            cells = row.items()
            title = row["rule"]
            for length in (int(name) for name, _ in cells if name.isdecimal()):
                of_rules = kept.setdefault(length, {})
                of_rules[title] = (*of_rules.get(title, ()), float(row[str(length)]))
    return kept, RECORDED


def computed(blocks: Iterable[LoggedBlock]) -> Kept:
    """Return what rules keep of each block, for all lengths that every block has."""
    logged = list(blocks)
    longest = min(len(block.tokens) for block in logged)
    return {
        length: {
            rule.title: tuple(float(block.expected(rule, length)) for block in logged)
            for rule in BLOCK_RULES
        }
        for length in range(1, longest + 1)
    }


def compared(kept: Kept, length: int) -> dict[str, BlockComparison]:
    """Return the means over the blocks, rule by rule."""
    means = {title: mean_and_error(values) for title, values in kept[length].items()}
    optimum, _ = means[BlockVerify.title]
    return {
        title: BlockComparison(title, length, mean, optimum, error)
        for title, (mean, error) in means.items()
    }


def record(kept: Kept) -> str:
    """Return the record: a line for each block and rule."""
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["text", "rule", *kept])
    for number in range(len(kept[1][BlockVerify.title])):
        for rule in BLOCK_RULES:
            cells = (round(each[rule.title][number], _DIGITS) for each in kept.values())
            lines.writerow([number, rule.title, *cells])
    return text.getvalue()


if __name__ == "__main__":
    write_text(RECORD, record(computed(load_trace(sys.argv[1]).blocks())))
