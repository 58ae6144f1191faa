"""The page's table: results that are recorded, with what causes them and how to mend them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
RECORDED = FOLDER / "verdicts.json"
CAUSES = FOLDER / "causes.toml"
TABLE = FOLDER.parent / "tables" / "wild.md"
HEAD = (
    "| function | mode | verdict | cause | fix | script |\n| --- | --- | --- | --- | --- | --- |\n"
)


def in_words(result: dict[str, Any]) -> str:
    """Return a verdict as a sentence."""
    if result["lossless"]:
        return "lossless"
    named = f"; it looks like: {result['looks_like'][0]}" if result["looks_like"] else ""
    return f"lossy, total variation {result['total_variation']}{named}"


def written(results: list[dict[str, Any]], causes: dict[str, dict[str, str]]) -> str:
    """Return the table: lossy first, in the order of the repositories."""
    lines = []
    for each in sorted(results, key=lambda result: result["lossless"]):
        why = causes.get(f"{each['repository']}: {each['name']}", {})
        place = f"https://github.com/{each['repository']}/blob/{each['commit']}/{each['file']}#L{each['line']}"
        name = f"[{each['repository']}]({place}) `{each['commit'][:7]}`: {each['name']}"
        verdict = "lossless" if each["lossless"] else f"lossy, {each['total_variation']}"
        cells = (
            name,
            each["mode"],
            verdict,
            why.get("cause", ""),
            why.get("fix", ""),
            f"`{each['script']}`",
        )
        lines.append(f"| {' | '.join(cells)} |\n")
    return HEAD + "".join(lines)


def write_table() -> None:
    """Write the table."""
    results = json.loads(RECORDED.read_text(encoding="utf-8"))
    TABLE.write_text(
        written(results, tomllib.loads(CAUSES.read_text(encoding="utf-8"))), encoding="utf-8"
    )
