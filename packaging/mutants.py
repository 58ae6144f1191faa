"""Draw random mutants of a room, and run the tests of that room against each.

A room is a folder of ``otspec`` with a folder of tests of the same name. A mutant is its code with
one operator, comparison, constant or function replaced. ``make mutants`` calls this script. An
interrupted run goes on where it stopped, and survivors of an earlier run are tried again first.
"""

from __future__ import annotations

import ast
import hashlib
import os
import random
import shlex
import shutil
import subprocess
import sys
import tomllib
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import click
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.ast.ast_query import ASTQuery
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.operators.provider import OperatorProvider
from cosmic_ray.testing import run_tests
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkItem, WorkResult
from coverage import CoverageData

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "mutants"
TREE = FOLDER / "tree"
"""A copy of the project: the mutants are written there."""
LOOPS = FOLDER / "loops"
"""Where Numba keeps machine code."""
EQUIVALENT = ROOT / "packaging" / "equivalent_mutants.toml"
WALK = "tests/house/test_frozen.py"
"""Goes through an object of every class: it belongs to the tests of every room."""
MEMORY = 12 * 2**30
"""Address space of a process that runs tests, in bytes: a mutant may ask for any amount."""

BINARY = {
    "Add": "Sub", "Sub": "Add", "Mul": "Div Add", "Div": "Mul", "FloorDiv": "Mul", "Mod": "Mul",
    "Pow": "Mul", "LShift": "RShift", "RShift": "LShift", "BitOr": "BitAnd", "BitAnd": "BitOr",
    "BitXor": "BitOr",
}  # fmt: skip
COMPARISONS = {
    "Lt": "LtE GtE", "LtE": "Lt Gt", "Gt": "GtE LtE", "GtE": "Gt Lt", "Eq": "NotEq", "NotEq": "Eq",
    "Is": "IsNot", "IsNot": "Is",
}  # fmt: skip
OTHERS = (
    "NumberReplacer", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr",
    "ReplaceOrWithAnd", "ReplaceUnaryOperator_Delete_USub", "ReplaceUnaryOperator_Delete_Not",
)  # fmt: skip
FUNCTIONS = [
    ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"),
    ("floor", "ceil"), ("cumsum", "cumprod"), ("zeros", "ones"), ("log", "log1p"),
]  # fmt: skip


class ReplaceFunction(Operator):
    """Replaces a function by its counterpart, such as ``min`` by ``max``."""

    swapped = {**dict(FUNCTIONS), **{second: first for first, second in FUNCTIONS}}  # noqa: RUF012

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Yield where a name has a counterpart."""
        if node.type == "name" and node.value in self.swapped and not node.is_definition():
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Replace the name."""
        del index
        node.value = self.swapped[node.value]
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        """Return none: the tests have them."""
        return ()


def operators() -> dict[str, Operator]:
    """Return the operators that make mutants, by name."""
    names = [
        *(f"ReplaceBinaryOperator_{old}_{new}" for old in BINARY for new in BINARY[old].split()),
        *(
            f"ReplaceComparisonOperator_{old}_{new}"
            for old in COMPARISONS
            for new in COMPARISONS[old].split()
        ),
        *OTHERS,
    ]
    provider = OperatorProvider()
    return {name: provider[name]() for name in names} | {"ReplaceFunction": ReplaceFunction()}


OPERATORS = operators()


def mutants(path: Path) -> list[MutationSpec]:
    """Return all mutants of a file, some of which do not compile."""
    nodes = list(ast_nodes(get_ast(path.read_text(encoding="utf-8"))))
    return [
        MutationSpec(
            module_path=path, operator_name=name, occurrence=occurrence,
            start_pos=start, end_pos=end,
            definition_name=ASTQuery(node).get_definition_name(),
        )
        for name, operator in OPERATORS.items()
        for occurrence, (node, (start, end)) in enumerate(
            (node, place) for node in nodes for place in operator.mutation_positions(node)
        )
    ]  # fmt: skip


class _Bare(ast.NodeTransformer):
    """Takes the annotations out of a syntax tree: they are never evaluated."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)


@cache
def meaning(code: str) -> str:
    """Return the syntax tree of a program, without annotations; empty if it does not compile."""
    try:
        compile(code, "mutant", "exec")
    except SyntaxError:
        return ""
    return ast.dump(_Bare().visit(ast.parse(code)))


def changed(mutant: MutationSpec) -> tuple[str, str, str] | None:
    """Return a mutant's code, and the line that it changes before and after; None if it is none."""
    code = mutant.module_path.read_text(encoding="utf-8")
    new = mutate_code(code, OPERATORS[mutant.operator_name], mutant.occurrence)
    if new is None or meaning(new) in ("", meaning(code)):
        return None
    pairs = zip(code.splitlines(), new.splitlines(), strict=True)
    before, after = next((old, changed) for old, changed in pairs if old != changed)
    if before.replace("strict=True", "strict=False") == after:
        return None  # it asserts that lengths are equal
    return new, before.strip(), after.strip()


def equivalents() -> set[tuple[str, ...]]:
    """Return the mutants that are known to be equivalent: file, function, line before and after."""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]
    return {tuple(each[name] for name in ("file", "function", "line", "mutant")) for each in listed}


def identity(mutant: MutationSpec, before: str, after: str) -> tuple[str, ...]:
    """Return what the list of equivalent mutants knows a mutant by."""
    path = mutant.module_path.relative_to(TREE).as_posix()
    return path, mutant.definition_name or "", before, after


def draw(room: str, count: int, seed: int, drawn: set[tuple[str, ...]]) -> Iterator[WorkItem]:
    """Yield mutants of a room at random: a place uniformly, then one of the mutants there."""
    generator = random.Random(seed)  # noqa: S311
    every = [each for path in sorted(TREE.glob(f"otspec/{room}/**/*.py")) for each in mutants(path)]
    every.sort(key=lambda each: (each.module_path, each.start_pos, each.operator_name))
    places = [
        list(found) for _, found in groupby(every, lambda each: (each.module_path, each.start_pos))
    ]
    generator.shuffle(places)
    known = equivalents() | drawn
    for place in places:
        if count == 0:
            return
        mutant = generator.choice(place)
        found = changed(mutant)
        if found and identity(mutant, *found[1:]) not in known:
            count -= 1
            yield WorkItem.single(uuid.uuid4().hex, mutant)


class Room:
    """A room's tests: which of them run which lines, and how long they take."""

    def __init__(self, name: str, longest: float, near: bool) -> None:
        self.name, self.longest, self.near = name, longest, near
        self.folders = [f"tests/{name}", f"otspec/{name}", WALK]
        files = sorted(path for each in self.folders for path in TREE.glob(f"{each}/**/*.py"))
        key = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
        self.lines = FOLDER / f"{name}-{key}.coverage"
        self.times = FOLDER / f"{name}-{key}.xml"
        if not self.times.exists():
            self._measure()
        cases = ET.parse(self.times).getroot().iter("testcase")  # noqa: S314
        self.seconds = {
            f"{case.get('file')}::{case.get('name')}": float(case.get("time", 0))
            for case in cases
            if case.find("skipped") is None and case.find("failure") is None
        }
        self.data = CoverageData(str(self.lines))
        self.data.read()
        # A test that is not found would look like a mutant that is killed.
        outcome, output = self._run(list(self.seconds), "--collect-only")
        if outcome != TestOutcome.SURVIVED:
            raise click.ClickException(f"the tests are not found: {output[-2_000:]}")

    def command(self, *words: str) -> list[str]:
        """Return a command that runs tests."""
        return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]

    def _measure(self) -> None:
        """Run the tests once as they are."""
        click.echo(f"{self.name}: which tests run which lines")
        done = subprocess.run(
            self.command(
                *self.folders, f"--cov=otspec/{self.name}", "--cov-context=test", "--cov-report=",
                f"--junitxml={self.times}", "-o", "junit_family=xunit1",
            ),
            cwd=TREE, check=False, capture_output=True, text=True, encoding="utf-8",
            env=os.environ | {"COVERAGE_FILE": str(self.lines)},
        )  # fmt: skip
        if done.returncode:
            click.echo(done.stdout[-3_000:])

    def _run(self, tests: list[str], *options: str) -> tuple[TestOutcome, str]:
        listed = FOLDER / f"{self.name}.tests"
        listed.write_text("\n".join(tests), encoding="utf-8")
        limit = 60 + 5 * sum(self.seconds[test] for test in tests)
        return run_tests(shlex.join(self.command(*options, f"@{listed}")), limit)

    def tests_of(self, mutant: MutationSpec) -> list[str]:
        """Return the tests that run the line of a mutant, the files of quick ones first."""
        by_line = self.data.contexts_by_lineno(str(mutant.module_path))
        found = {each.partition("|")[0] for each in by_line.get(mutant.start_pos[0], ())}
        # What is run when a module is imported may matter to every test.
        tests = [test for test in self.seconds if "" in found or test in found]
        tests = [test for test in tests if self.seconds[test] <= self.longest]
        files: Counter[str] = Counter()
        for test in tests:
            files[test.partition("::")[0]] += self.seconds[test]  # type: ignore[assignment]
        return sorted(tests, key=lambda test: files[test.partition("::")[0]])

    def kills(self, mutant: MutationSpec) -> str:
        """Return how the tests notice a mutant that is on disk; empty if they do not."""
        near = self.tests_of(mutant)
        others = [test for test in self.seconds if test not in set(near)]
        others = [test for test in others if self.seconds[test] <= self.longest]
        for tests in (near, others):
            if not tests or (tests is others and near and self.near):
                continue
            outcome, output = self._run(tests, "-x", "--tb=no")
            if outcome == TestOutcome.INCOMPETENT:
                raise click.ClickException(f"the tests did not run: {output}")
            if outcome == TestOutcome.KILLED:
                return output
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
    if "otspec.compiling" in code:
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


def run(room: Room, records: WorkDB, count: int, seed: int) -> tuple[int, int]:
    """Try the survivors of an earlier run, what it left, then new mutants; return two counts.

    Returns
    -------
    drawn, survivors : int
        Of all runs, without mutants that are known to be equivalent.
    """
    known = equivalents() | {()}  # which is what is no mutant

    def of(item: WorkItem) -> tuple[str, ...]:
        found = changed(item.mutations[0])
        return identity(item.mutations[0], *found[1:]) if found else ()

    pending = list(records.pending_work_items)
    again = [item for item, result in records.completed_work_items if not result.is_killed]
    if not pending:
        records.add_work_items(draw(room.name, count, seed, set(map(of, records.work_items))))
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
@click.option("--longest", default=60.0, help="Leave out tests that take more seconds.")
@click.option("--near", is_flag=True, help="Run no other tests than those that run the line.")
def main(rooms: tuple[str, ...], count: int, seed: int | None, longest: float, near: bool) -> None:
    """Draw mutants of rooms, and say how many of them the tests of the room notice."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    copied()
    os.chdir(TREE)
    os.environ.update(PYTHONPATH=str(TREE), NUMBA_CACHE_DIR=str(LOOPS))
    with suppress(ImportError):  # not on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    seed = random.SystemRandom().randrange(2**32) if seed is None else seed
    click.echo(f"seed {seed}")
    lines, left = [], 0
    for name in rooms:
        room = Room(name, longest, near)
        sources = sorted((TREE / "otspec" / name).rglob("*.py"))
        key = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
        with use_db(FOLDER / f"{name}-{key}.sqlite") as records:
            drawn, survivors = run(room, records, count, seed)
        left += survivors
        lines.append(f"{name}: {drawn - survivors} of {drawn} mutants are killed")
    click.echo("\n".join(lines))
    sys.exit(left > 0)


if __name__ == "__main__":
    main()
