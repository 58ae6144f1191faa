"""Repeat verdicts on a checkout, or write the page's table from those that are recorded.

python docs/wild ssd path/to/ssd
python docs/wild --table
"""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path
from typing import Any

from table import FOLDER, RECORDED, in_words, write_table

SCRIPTS = {path.stem: f"{path.parent.name}.{path.stem}" for path in FOLDER.glob("*/*.py")}


def main() -> None:
    """Print the verdict of each case of a script."""
    parser = argparse.ArgumentParser(prog="python docs/wild", description="Repeat verdicts.")
    parser.add_argument("script", nargs="?", choices=sorted(SCRIPTS), help="which repository")
    parser.add_argument("checkout", nargs="?", type=Path, help="a clone of it")
    parser.add_argument("--record", action="store_true", help="keep the results for the page")
    parser.add_argument("--table", action="store_true", help="write the page's table")
    options = parser.parse_args()
    if options.table:
        write_table()
        return
    if options.script is None or options.checkout is None:
        parser.error("name a script and a checkout, or pass --table")
    repeat(options.script, options.checkout, record=options.record)


def repeat(script: str, folder: Path, *, record: bool) -> None:
    """Try all cases of a script on a checkout."""
    from checkout import Checkout
    from verdict import tried

    module = import_module(SCRIPTS[script])
    checkout = Checkout(folder)
    found = checkout.commit() or module.COMMIT
    if found != module.COMMIT:
        print(f"This checkout is at {found}; the page's verdicts are of {module.COMMIT}.")  # noqa: T201
    for case in module.CASES:
        result = {"repository": module.REPOSITORY, "commit": found, "script": script}
        result |= tried(case, checkout)
        print(f"{result['name']}, {result['file']}:{result['line']}: {in_words(result)}")  # noqa: T201
        if record:
            add(result)


def add(result: dict[str, Any]) -> None:
    """Put a result in the place of an earlier one of its name."""
    results = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else []
    key = (result["repository"], result["name"])
    kept = [each for each in results if (each["repository"], each["name"]) != key]
    ordered = sorted([*kept, result], key=lambda each: (each["repository"].lower(), each["name"]))
    RECORDED.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
