"""Which mutants there are of a program, and how some of them are drawn."""

from __future__ import annotations

import ast
import random
import re
import uuid
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.ast.ast_query import ASTQuery
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.operators.provider import OperatorProvider
from cosmic_ray.work_item import MutationSpec, WorkItem

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


NO_MEANING = re.compile(
    r"strict=(True|False)|like=[\w.]+\[[ -]*\d+\]|[*/](?=,)|maxsize=[ -]*\d+|copy=(True|False)"
)
"""What may change without a mutant: an assertion of equal lengths, which of some numbers of one
arithmetic others are made like, the mark of arguments that are keywords only, how much is kept to
save time, and whether equal numbers are copied."""


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
    if NO_MEANING.sub("", before) == NO_MEANING.sub("", after):
        return None
    return new, before.strip(), after.strip()


def identity(tree: Path, mutant: MutationSpec, before: str, after: str) -> tuple[str, ...]:
    """Return what the list of equivalent mutants knows a mutant by."""
    path = mutant.module_path.relative_to(tree).as_posix()
    return path, mutant.definition_name or "", before, after


def draw(
    tree: Path, folder: str, count: int, seed: int, known: set[tuple[str, ...]], within: str = ""
) -> Iterator[WorkItem]:
    """Yield mutants of a folder that are not known: a place uniformly, then one of those there.

    ``within``: a part of the paths of the files.
    """
    generator = random.Random(seed)  # noqa: S311
    paths = [path for path in sorted(tree.glob(f"{folder}/**/*.py")) if within in path.as_posix()]
    every = [each for path in paths for each in mutants(path)]
    every.sort(key=lambda each: (each.module_path, each.start_pos, each.operator_name))
    places = [
        list(found) for _, found in groupby(every, lambda each: (each.module_path, each.start_pos))
    ]
    generator.shuffle(places)
    for place in places:
        if count == 0:
            return
        mutant = generator.choice(place)
        found = changed(mutant)
        if found and identity(tree, mutant, *found[1:]) not in known:
            count -= 1
            yield WorkItem.single(uuid.uuid4().hex, mutant)
