"""The tables of the page "Which rule should I use?": ``python docs/which_rule.py``.

What is accepted is computed, what it costs and what trees keep is taken from generated tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import otspec
from otspec.blocks import BlockVerification, BlockVerificationPreprint, TokenVerification
from otspec.datasets import letters
from otspec.drafts import LAWS
from otspec.ratios import Pair
from otspec.rules import (
    DrawnDraft,
    MaximalCoupling,
    PairRule,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    PriorityMixture,
    RecursiveRejection,
    RecursiveRejectionIndependent,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    TargetOnly,
)

TABLES = Path(__file__).parent / "tables"
TIMED = ("(1, 128,256)", "(32, 128,256)")
"""Rows and tokens of the calls whose times are shown, as the table of peers names them."""
TEMPERATURES = (0.6, 1.5)
"""Of the drafts that differ."""


class Case(NamedTuple):
    """A way to draw the drafts of one token, the rule for it, and the usual one."""

    drafts: str
    rule: type[PairRule]
    k: int
    usual: type[PairRule] | None = None


CASES = (
    Case("[one](../quickstart.md)", MaximalCoupling, 1),
    Case("[4, i.i.d.](../pooled.md)", PooledSelection, 4, RecursiveRejection),
    Case(
        "[4 distinct ones, drawn without replacement](../pooled_beyond.md)",
        PooledSelectionWithoutReplacement,
        4,
        RecursiveRejectionWithoutReplacement,
    ),
    Case("[the likeliest and one drawn](../rules.md)", SpecHub, 2),
    Case("[the 3 likeliest and one drawn](../theory.md#theory-14)", DrawnDraft, 4),
    Case("[the 4 likeliest: greedy, deterministic](../rules.md#certain-drafts)", TargetOnly, 4),
)


def one_token() -> str:
    """Return the table of rules for the drafts of one token."""
    head = ("drafts", "rule", "accepts", "at best", "rejection", "ms")
    return _table(head, [*map(_row, CASES), _different_drafts()])


def _row(case: Case) -> Sequence[str]:
    """Return the row of a case: means over the bundled trace, and what calls take."""
    name = case.rule.law_class.name
    optima = [
        float(otspec.optimal_acceptance(LAWS[name](draft, case.k), target).acceptance)
        for draft, target in _pairs()
    ]
    return (
        case.drafts, _named("rules", case.rule.__name__, case.rule.batch),
        _number(_mean(case.rule, case.k)), _number(float(np.mean(optima))),
        _number(_mean(case.usual, case.k)) if case.usual else "",
        _times(case.rule.batch),
    )  # fmt: skip


@cache
def _pairs() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return draft and target at each position of the bundled trace."""
    return [(draft, target) for _, draft, target in otspec.datasets.load_smollm2().pairs()]


def _mean(rule: type[PairRule], k: int) -> float:
    """Return what a rule accepts, on average over the trace."""
    accepted = [rule.acceptances_of(Pair(*pair), [k]) for pair in _pairs()]
    return float(np.mean([float(value) for (value,) in accepted]))


def _different_drafts() -> Sequence[str]:
    """Return the row of two drafts from different models: here one model, at two temperatures."""
    trace = otspec.datasets.load_smollm2()
    cold, warm = (trace.pairs(draft_temperature=each) for each in TEMPERATURES)
    rules, usual = [], []
    for (_, first, target), (_, second, _) in zip(cold, warm, strict=True):
        law = otspec.Independent([first, second])
        rules.append(PriorityMixture(law, target, gap=1e-3, pools=128))
        usual.append(RecursiveRejectionIndependent(law, target).acceptance())
    accepted = float(np.mean([rule.mixture.accepted for rule in rules]))
    bound = float(np.mean([rule.bound for rule in rules]))
    return (
        "[2, from two models](../different_drafts.md)",
        _named("rules", PriorityMixture.__name__, None),
        _number(accepted), _number(bound), _number(float(np.mean(usual))), "",
    )  # fmt: skip


def one_block() -> str:
    """Return the table of rules for one drafted block: letters, four at a time, after no text."""
    models = letters(exact=False)
    rows = []
    for rule in (TokenVerification, BlockVerification, BlockVerificationPreprint):
        kept = rule(models.bigram, models.trigram, length=4).expected()
        name = _named("blocks", rule.__name__, rule.batch)
        rows.append((rule.title, name, _number(kept), _times(rule.batch)))
    return _table(("rule", "name", "keeps of 4", "ms"), rows)


def one_tree() -> str:
    """Return what rules keep of two paths of two letters, from the table of the optimum."""
    columns, rows = _read("tree_optimum.md")
    names = {
        "rejection": ("recursive rejection at each node", "DraftSelection", "tree_verification"),
        "pooled": ("pooled selection at each node", "DraftSelection", "tree_verification"),
        "traversal": ("traversal verification", "TraversalVerify", "traversal_verification"),
        "universal": ("universal tree", "UniversalTree", None),
        "greedy multi-path": ("greedy multi-path", "GreedyMultiPath", "greedy_multi_path"),
    }
    shown = [dict(zip(columns, row, strict=True)) for row in rows]
    iid, distinct = [
        next(row for row in shown if row["draft"] == "bigram" and row["tree"] == "2x1" and
             row["drafts"] == drafts)
        for drafts in ("i.i.d.", "distinct")
    ]  # fmt: skip
    most = "one token, at most"
    found = [
        (words, _named("blocks", name, batch), iid[key], distinct[key])
        for key, (words, name, batch) in names.items()
    ]
    found.append(("optimum", "", iid[most], distinct[most]))
    return _table(("rule", "name", "keeps of i.i.d. drafts", "of distinct drafts"), found)


def _named(module: str, rule: str, function: str | None) -> str:
    """Return links to the class of a rule and to its batch function, if there is one."""
    name = f"{{class}}`~otspec.{module}.{rule}`"
    return f"{name} <br> {{func}}`batch.{function} <otspec.batch.{function}>`" if function else name


def _number(value: float) -> str:
    """Return a number with the digits that other pages have."""
    return f"{value:.4f}"


def _times(function: str | None) -> str:
    """Return the milliseconds of calls, from the first row that the table of peers has of each."""
    columns, rows = _read("peers.md")
    measured = columns.index("peer", columns.index("peer") + 1) + 1
    times = [
        next((row[measured] for row in rows if row[:2] == [shape, f"`{function}`"]), "")
        for shape in TIMED
    ]
    return ", ".join(time.removesuffix(" ms") for time in times if time)


@cache
def _read(name: str) -> tuple[list[str], list[list[str]]]:
    """Return the columns and the rows of a generated table."""
    lines = (TABLES / name).read_text(encoding="utf-8").splitlines()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("|")
    ]
    return rows[0], rows[2:]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


PAGES = {"one_token.md": one_token, "one_block.md": one_block, "one_tree.md": one_tree}
"""The generated tables, by file in docs/tables."""


def main() -> None:
    """Write all tables."""
    for name, content in PAGES.items():
        (TABLES / f"which_{name}").write_text(content(), encoding="utf-8")


if __name__ == "__main__":
    main()
