"""What audits found in published algorithms and public code, with exact counterexamples."""

from __future__ import annotations

import re
from pathlib import Path

from docs.note.results import Results
from otspec.auditing import audit_blocks
from otspec.blocks import BlockVerification, HierarchicalVerification
from otspec.models import memoryless
from validation.claim import Counterexample
from validation.registry import CLAIMS
from validation.search import Search
from validation.spectr import section_7_d, sequences

DOCS = Path(__file__).parents[1]
CLAIMED = {
    "spectr.alg3": "spectr",
    "spechub.alg3a": "spechub",
    "gbv.code": "gbv",
}
"""Claims that fail, and what the note calls them."""
SHOWN = {"spectr", "spechub"}
"""Those whose instances and claims are printed; the other one is of fair coins."""
COIN = (["1/2", "1/2"], ["1/4", "3/4"])


def counterexamples(results: Results) -> None:
    """Add for each claim the smallest counterexample, what comes out there and what was claimed.

    Raises
    ------
    AssertionError
        A claim holds.
    """
    for claim, name in CLAIMED.items():
        outcome = CLAIMS[claim].check(Search())
        if not isinstance(outcome, Counterexample):
            raise AssertionError(f"{claim} holds: the note says that it fails")
        found, _, claimed = outcome.found.rpartition(", not ")
        results.add(f"{name}.found", found.rpartition(": ")[2])
        if "plan" in outcome.instance:
            results.add(f"{name}.plan", outcome.instance["plan"])
            _with_k_seq(results, name, outcome.instance)
        if name not in SHOWN:
            continue
        results.add(f"{name}.claimed", claimed)
        for law in ("draft", "target"):
            results.add(f"{name}.{law}", _shown(outcome.instance[law]))


def _with_k_seq(results: Results, name: str, instance: dict[str, object]) -> None:
    """Add what comes out there if the plan is k-sequential selection."""
    given = {key: instance[key] for key in ("draft", "target", "length", "k")}
    outputs = section_7_d.decoded(**given, plan="k-Seq", gather=sequences.as_set)
    longer = {text: mass for text, mass in outputs.items() if len(text) > 1}
    zero = sum(mass for text, mass in longer.items() if text[1] == 0)
    results.add(f"{name}.kseq", zero / sum(longer.values()))


def blocks(results: Results) -> None:
    """Add what a rule of public code keeps of blocks of two tokens, and how far off it is."""
    models = [memoryless(masses) for masses in COIN]
    coded = audit_blocks(HierarchicalVerification(*models, 2))
    capped = audit_blocks(BlockVerification(*models, 2))
    if coded.lossless or not capped.lossless:
        raise AssertionError(
            "the rule of the public code is to be lossy, and that with the cap not"
        )
    page = (DOCS / "blocks.md").read_text(encoding="utf-8")
    results.add("hsd.commit", _one(r"`algorithm.py` at commit (\w+)", page))
    results.add("hsd.draft", f"({', '.join(COIN[0])})")
    results.add("hsd.target", f"({', '.join(COIN[1])})")
    results.add("hsd.kept", coded.expected)
    results.add("hsd.off", coded.total_variation)
    results.add("hsd.capped", capped.expected)


def engines(results: Results) -> None:
    """Add what was measured of engines that cannot be run here, as their page records it."""
    page = (DOCS / "engines.md").read_text(encoding="utf-8")
    line = _one(r".*`enable_block_verify`.*", page)
    results.add("ascend.samples", _one(r"([\d,]+) samples", line))
    results.add("ascend.found", _one(r"probability ([\d.]+)", line))
    results.add("ascend.target", _one(r"not (\d\.\d+)", line))
    results.add("ascend.length", _one(r"blocks of (\d)", line))
    results.add("ascend.commit", _one(r"vllm-ascend \(commit (\w+)\)", page))
    results.add("eagle.commit", _one(r"EAGLE \(commit (\w+)\)", page))
    results.add("eagle.trees", _one(r"exactly, (\d+) random trees", page))
    results.add("vllm.version", _one(r"vLLM ([\d.]+), its kernels", page))
    results.add("vllm.cells", _one(r"in (\d+) cells", page))
    results.add("vllm.chi", _one(r"χ² of (\d+ and \d+)", page))
    results.add("transformers.version", _one(r"generation/utils.py` \((\S+)\)", page))
    results.add("vllm.samples", _one(r"([\d,]+) samples of blocks of 0 to 2", page))


def verdicts(results: Results) -> None:
    """Add how many claims of papers were checked, and what came of it."""
    table = (DOCS / "tables" / "verdicts.md").read_text(encoding="utf-8").splitlines()
    names = [cell.strip() for cell in table[0].strip("| ").split("|")]
    (line,) = [line for line in table if "**all papers**" in line]
    counts = dict(zip(names, (cell.strip() for cell in line.strip("| ").split("|")), strict=True))
    results.add("claims.all", counts["all"])
    results.add("claims.papers", _papers(table))
    results.add("claims.hold", int(counts["holds"]) + int(counts["proved"]))
    results.add("claims.wrong", counts["wrong"])
    results.add("claims.condition", counts["needs a condition"])
    results.add("claims.rest", int(counts["misprint"]) + int(counts["degenerate"]))


def _papers(table: list[str]) -> int:
    """Return how many rows of the table are of a paper."""
    return table.index(next(line for line in table if "**all papers**" in line)) - 2


def _one(pattern: str, text: str) -> str:
    """Return the group, or all, of the one match."""
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"nothing in the records is like {pattern!r}: read the page again")
    return found[found.re.groups]


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(map(str, value)) + ")"
    return str(value)
