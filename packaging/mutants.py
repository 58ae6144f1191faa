"""Draw random mutants of a room, and run the tests of that room against each.

A room is a folder of ``otspec`` (see :data:`FOLDERS`) with a folder of tests of its name. A mutant
is its code with one operator, comparison, constant or function replaced. ``make mutants`` calls
this script. An interrupted run goes on where it stopped, and survivors of an earlier run are tried
again first.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree as ET

import click
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkItem, WorkResult
from coverage import CoverageData
from mutations import changed, draw, identity
from short_tests import Short
from short_tests import run as run_tests

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "mutants"
TREE = FOLDER / "tree"
"""A copy of the project: the mutants are written there."""
LOOPS = FOLDER / "loops"
"""Where Numba keeps machine code."""
FOLDERS = {"trees": "blocks/trees", "lossy": "rules/lossy"}
"""Where a room lies in ``otspec`` if that is no folder of its name."""
EQUIVALENT = ROOT / "packaging" / "equivalent_mutants.toml"
WALKS = "tests/house/test_frozen.py", "tests/house/test_defaults.py"
"""Go through all classes and functions: they belong to the tests of every room."""
BESIDE = {"trees": ["tests/blocks/test_block_programs.py"]}
"""Tests of a room that stand in the folder of another one."""
MEMORY = 12 * 2**30
"""Address space of a process that runs tests, in bytes: a mutant may ask for any amount."""


def equivalents() -> set[tuple[str, ...]]:
    """Return the mutants that are known to be equivalent: file, function, line before and after."""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]
    return {tuple(each[name] for name in ("file", "function", "line", "mutant")) for each in listed}


def _file_of(case: ET.Element) -> str:
    """Return the file of a test; the report names another one for tests that are decorated."""
    path = str(case.get("classname")).replace(".", "/") + ".py"
    return path if (TREE / path).exists() else str(case.get("file"))


class Room:
    """A room's tests: which of them run which lines, and how long they take."""

    def __init__(self, name: str, longest: float, near: bool) -> None:
        self.name, self.longest, self.near = name, longest, near
        self.code = f"otspec/{FOLDERS.get(name, name)}"
        inside = [room for room, folder in FOLDERS.items() if folder.startswith(f"{name}/")]
        tests = [*(f"tests/{room}" for room in (name, *inside)), *BESIDE.get(name, ())]
        self.folders = [*tests, self.code, *WALKS]
        files = sorted(path for each in self.folders for path in TREE.glob(f"{each}/**/*.py"))
        code = b"".join(path.read_bytes() for path in files)
        key = hashlib.sha256(code + str(longest).encode()).hexdigest()[:12]
        self.lines = FOLDER / f"{name}-{key}.coverage"
        self.times = FOLDER / f"{name}-{key}.xml"
        if not self.times.exists():
            self._measure()
        cases = ET.parse(self.times).getroot().iter("testcase")  # noqa: S314
        self.seconds = {
            f"{_file_of(case)}::{case.get('name')}": float(case.get("time", 0))
            for case in cases
            if all(case.find(each) is None for each in ("skipped", "failure", "error"))
        }
        self.data = CoverageData(str(self.lines))
        self.data.read()
        # A test that is not found would look like a mutant that is killed.
        status, output = self._run(list(self.seconds), "--collect-only")
        if status:
            raise click.ClickException(f"the tests are not found: {output[-2_000:]}")

    def _measure(self) -> None:
        """Run the tests once as they are; what fails or takes long is left out."""
        click.echo(f"{self.name}: which tests run which lines")
        words = [
            *self.folders, f"--cov={self.code}", "--cov-context=test", "--cov-report=",
            f"--junitxml={self.times}", "-o", "junit_family=xunit1",
        ]  # fmt: skip
        status, output = run_tests(
            words, FOLDER / f"{self.name}.log", keep=True, plugins=[Short(self.longest)],
            COVERAGE_FILE=str(self.lines),
        )  # fmt: skip
        if status:
            click.echo(output[-3_000:])

    def _run(self, tests: list[str], *options: str) -> tuple[int | None, str]:
        listed = FOLDER / f"{self.name}.tests"
        listed.write_text("\n".join(tests), encoding="utf-8")
        limit = 60 + 5 * sum(self.seconds[test] for test in tests)
        return run_tests([*options, f"@{listed}"], FOLDER / f"{self.name}.log", limit=limit)

    def tests_of(self, mutant: MutationSpec) -> list[str]:
        """Return the tests that run the line of a mutant, the files of quick ones first."""
        by_line = self.data.contexts_by_lineno(str(mutant.module_path))
        found = set(by_line.get(mutant.start_pos[0], ()))
        if "" in found:  # what is run when a module is imported may matter to all of it
            found = set().union(*by_line.values()) - {""} or set(self.seconds)
        found = {each.partition("|")[0] for each in found}
        tests = [test for test in self.seconds if test in found]
        files: dict[str, float] = defaultdict(float)
        for test in tests:
            files[test.partition("::")[0]] += self.seconds[test]
        return sorted(tests, key=lambda test: files[test.partition("::")[0]])

    def kills(self, mutant: MutationSpec) -> str:
        """Return how the tests notice a mutant that is on disk; empty if they do not."""
        near = self.tests_of(mutant)
        others = [test for test in self.seconds if test not in set(near)]
        for tests in (near, others):
            if not tests or (tests is others and near and self.near):
                continue
            status, output = self._run(tests, "-x", "--tb=no")
            if status != 0:
                return "timeout" if status is None else output
        return ""


def copied() -> None:
    """Copy what git tracks, so that no mutant is ever written over the code itself."""
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, encoding="utf-8")
    names = {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    for path in TREE.rglob("*"):
        if path.is_file() and path.suffix != ".pyc" and str(path.relative_to(TREE)) not in names:
            path.unlink()
    for name in names:
        old, new = ROOT / name, TREE / name
        if not new.exists() or new.stat().st_mtime != old.stat().st_mtime:
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(old, new)


def tried(room: Room, item: WorkItem) -> WorkResult:
    """Write a mutant to the copy, run the tests, and put the code back."""
    (mutant,) = item.mutations
    code, *_ = changed(mutant) or ("",)
    kept = mutant.module_path.with_suffix(".kept")
    shutil.copy2(mutant.module_path, kept)
    if "otspec._base.compiling" in code:
        # Machine code is kept by the file of its loop, whatever that calls.
        shutil.rmtree(LOOPS, ignore_errors=True)
    try:
        mutant.module_path.write_text(code, encoding="utf-8")
        output = room.kills(mutant)
    finally:
        kept.replace(mutant.module_path)
    outcome = TestOutcome.KILLED if output else TestOutcome.SURVIVED
    return WorkResult(WorkerOutcome.NORMAL, output[-500:], outcome)


def told(item: WorkItem, result: WorkResult) -> str:
    """Return a line on a mutant."""
    (mutant,) = item.mutations
    _, before, after = changed(mutant) or ("", "", "")
    place = f"{mutant.module_path.relative_to(TREE)}:{mutant.start_pos[0]}"
    how = "timeout" if result.output == "timeout" else result.test_outcome.value
    return f"{how:8} {place} {mutant.definition_name}: {before} → {after}"


def run(room: Room, records: WorkDB, count: int, seed: int, within: str) -> tuple[int, int]:
    """Try the survivors of an earlier run, what it left, then new mutants; return two counts.

    Returns
    -------
    drawn, survivors : int
        Of all runs, without mutants that are known to be equivalent.
    """
    known = equivalents() | {()}  # which is what is no mutant

    def of(item: WorkItem) -> tuple[str, ...]:
        found = changed(item.mutations[0])
        return identity(TREE, item.mutations[0], *found[1:]) if found else ()

    pending = list(records.pending_work_items)
    again = [item for item, result in records.completed_work_items if not result.is_killed]
    if not pending:
        drawn = set(map(of, records.work_items))
        records.add_work_items(draw(TREE, room.code, count, seed, known | drawn, within))
        pending = list(records.pending_work_items)
    for item in [*again, *pending]:
        if of(item) not in known:
            result = tried(room, item)
            records.set_result(item.job_id, result)
            click.echo(told(item, result))
    counted = [pair for pair in records.completed_work_items if of(pair[0]) not in known]
    return len(counted), sum(not result.is_killed for _, result in counted)


@click.command()
@click.argument("rooms", nargs=-1, required=True)
@click.option("--count", default=20, help="Mutants of each room.")
@click.option("--seed", type=int, default=None, help="Of the draw; by default another each time.")
@click.option("--longest", default=60.0, help="Leave out what takes a test function more seconds.")
@click.option("--near", is_flag=True, help="Run no other tests than those that run the line.")
@click.option("--within", default="", help="Draw only in files with this in their path.")
def main(
    rooms: tuple[str, ...], count: int, seed: int | None, longest: float, near: bool, within: str
) -> None:
    """Draw mutants of rooms, and say how many of them the tests of the room notice."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    copied()
    os.chdir(TREE)
    os.environ.update(PYTHONPATH=str(TREE), NUMBA_CACHE_DIR=str(LOOPS))
    with suppress(ImportError, ValueError, OSError):  # not on Windows, nor beyond a limit
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    seed = random.SystemRandom().randrange(2**32) if seed is None else seed
    click.echo(f"seed {seed}")
    lines, left = [], 0
    for name in rooms:
        room = Room(name, longest, near)
        sources = sorted((TREE / room.code).rglob("*.py"))
        key = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
        with use_db(FOLDER / f"{name}-{key}.sqlite") as records:
            drawn, survivors = run(room, records, count, seed, within)
        left += survivors
        lines.append(f"{name}: {drawn - survivors} of {drawn} mutants are killed")
    click.echo("\n".join(lines))
    sys.exit(left > 0)


if __name__ == "__main__":
    main()
