"""Rules row by row where machine code takes the rows, else by array operations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from otspec._base import as_flag
from otspec.batch._arguments import (
    LOGITS,
    Given,
    check_block,
    check_one_token,
    check_pair,
    problem_of,
)
from otspec.batch._array_api import drafters, k_sequential, recursive_rejection, spechub
from otspec.batch._array_api.library import Array, Problem, library_of
from otspec.batch._array_api.optimum import acceptance, best_cut
from otspec.batch._array_api.pooled import clock_selection, graded_pools
from otspec.batch._array_api.sequences import drafted_block, greatest_path, traversal
from otspec.batch._array_api.warping import Settings, probabilities
from otspec.batch._arrays import as_grades
from otspec.batch._dispatch import BLOCK, TREE, machine, reals_of, rows_of
from otspec.batch._results import KINDS, Verified, VerifiedBlock, VerifiedPath, VerifiedTree
from otspec.batch._rows import read_only


@dataclass(frozen=True)
class BatchRule:
    """What there is to know of a rule for one token, or for one block."""

    kernel: Callable[..., Any]  # takes a Problem, and the options of the rule
    rows: str  # the module of _numba that runs the rule row by row, by its function `loop`
    drafter: str = "sample_iid"  # draws the drafts that the rule is for
    k: int | None = None  # the only number of drafts that the rule takes
    masked: bool = True  # whether rows may have fewer drafts
    graded: bool = False  # whether a number of grades is an option
    loop: str = "verify"
    result: type[Any] = Verified
    places: tuple[int, int] | None = None  # of a rule for blocks, as `rows_of` takes them

    def check(self, given: Given) -> None:
        """Check the arguments."""
        if self.places is None:
            check_one_token(given, self.k)
        else:
            check_block(given)

    def row_by_row(
        self, given: Given, *options: Any, settings: Sequence[Settings | None] = ()
    ) -> Any:
        """Run the machine code, of logits with settings; None if it does not take the arguments."""
        rows = rows_of(*given, only_k=self.k, places=self.places, settings=settings)
        if rows is None:
            return None
        verify = getattr(machine(self.rows), self.loop)
        if settings:
            sources = machine("from_logits.sources")
            again = self.loop == "published"  # the only one that comes back to a row
            verify = (sources.in_parts if again else sources.of_sources)(verify)
        return self.result(*rows.run(verify, *options, kinds=KINDS[self.result]))


RULES = {
    "maximal_coupling": BatchRule(recursive_rejection.independent, "recursive_rejection", k=1),
    "recursive_rejection": BatchRule(recursive_rejection.independent, "recursive_rejection"),
    "recursive_rejection_without_replacement": BatchRule(
        recursive_rejection.distinct,
        "recursive_rejection_without_replacement",
        "sample_without_replacement",
    ),
    "k_sequential": BatchRule(k_sequential.verify, "k_sequential"),
    "pooled_selection": BatchRule(graded_pools.verify, "pooled.graded_pools", graded=True),
    "pooled_selection_without_replacement": BatchRule(
        clock_selection.verify, "pooled.clocks", "sample_without_replacement", graded=True
    ),
    "spechub": BatchRule(spechub.verify, "spechub", "sample_spechub", k=2, masked=False),
}
"""Rules for one token by name. The class of :mod:`otspec.rules` with the same law, which says how
its drafts are drawn, names the batch function."""

BLOCK_RULES = {
    name: BatchRule(
        getattr(drafted_block, loop), "sequences.drafted_block", loop=loop, result=VerifiedBlock,
        places=BLOCK,
    )
    for name, loop in (("token_verification", "token"), ("block_verification", "published"))
}  # fmt: skip
"""Rules for one block that may go row by row."""

EVERY = {**RULES, **BLOCK_RULES}


def verified(name: str, given: Given, *options: int, checked: bool) -> Any:
    """Check the arguments of a rule of the tables, and run its kernel."""
    rule = EVERY[name]
    found = rule.row_by_row(given, *options)
    if found is not None:
        return found
    return rule.kernel(problem_of(given, checked, rule.check), *options)


def selected(name: str, problem: Problem, *options: int) -> Verified:
    """Run the kernel of a rule, where the arguments were checked as part of something else."""
    given = problem.draft, problem.target, problem.drafts, problem.uniforms, problem.valid
    found = RULES[name].row_by_row(given, *options)
    return RULES[name].kernel(problem, *options) if found is None else found


def greatest(problem: Problem) -> VerifiedPath:
    """Verify the greatest of several paths, where the arguments were checked."""
    xp, drafts = problem.library.xp, problem.drafts
    uniforms = problem.uniforms[..., None, :]
    uniforms = xp.broadcast_to(uniforms, (*drafts.shape[:-1], uniforms.shape[-1]))
    rows = rows_of(problem.draft, problem.target, drafts, uniforms, None, places=BLOCK)
    if rows is None:
        return greatest_path.verify(problem)
    verify = machine("sequences.greatest_path").verify
    return VerifiedPath(*rows.together(drafts.shape[-2]).run(verify, kinds=("int64",) * 3))


def traversed(problem: Problem, parents: tuple[int, ...], distinct: bool) -> VerifiedTree:
    """Verify a tree from its leaves, where the arguments were checked."""
    given = problem.draft, problem.target, problem.drafts, problem.uniforms, problem.valid
    rows = rows_of(*given, places=TREE)
    if rows is None:
        return traversal.verify(problem, parents, distinct)
    verify = machine("sequences.traversal").verify
    found = rows.run(verify, *_as_arrays(parents), distinct, kinds=("int64",) * 3)
    return VerifiedTree(*found)


@lru_cache(maxsize=16)
def _as_arrays(parents: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the parents, and the turns of the nodes, as machine code takes them."""
    nodes, turns = np.array(parents), np.array([*traversal.turns(parents)])
    return read_only(nodes, np.int64, len(nodes)), read_only(turns, np.int64, len(turns), 2)


def warped(logits: Array, settings: Settings | None) -> Array:
    """Return the probabilities of checked logits; with no settings they are given already."""
    if settings is None:
        return library_of(logits).narrowed(logits)  # half precision is float32, as of logits
    rows = reals_of(logits, settings=(settings,))
    if rows is None:
        return probabilities(library_of(logits), logits, settings)
    kind = "float32", (logits.shape[-1],)
    return rows.run(machine("from_logits.sources").written, kinds=(kind,))[0]


def straight(
    name: str,
    given: tuple[Array, ...],
    settings: Sequence[Settings | None],
    *,
    mask: Array | None = None,
    grades: Any = 6,
    checked: bool = False,
) -> Verified | VerifiedBlock | None:
    """Run a rule on logits row by row; None where they go another path, or do not fit."""
    rule = EVERY.get(name)
    if rule is None:
        return None
    as_flag(checked, "checked")
    options = (as_grades(grades),) if rule.graded else ()
    draft, target, drafts, uniforms = given
    return rule.row_by_row((draft, target, drafts, uniforms, mask), *options, settings=settings)


ACCEPTANCES: dict[str, Callable[..., Array]] = {
    "optimal_acceptance": acceptance,
    "maximal_coupling": recursive_rejection.overlap,
    "recursive_rejection": recursive_rejection.independent_acceptance,
    "recursive_rejection_without_replacement": recursive_rejection.distinct_acceptance,
    "k_sequential": k_sequential.acceptance,
    "spechub": spechub.acceptance,
    "pooled_selection": graded_pools.acceptance,
    "pooled_selection_without_replacement": clock_selection.acceptance,
}
"""What a rule accepts, by operations on arrays; :mod:`otspec.batch.acceptance` has the names."""


def optimum(draft: Array, target: Array, k: int) -> Array:
    """Return the optimum for k i.i.d. drafts of rows that fit together."""
    return accepted("optimal_acceptance", draft, target, k)


def accepted(
    name: str,
    draft: Array,
    target: Array,
    *options: Any,
    settings: Sequence[Settings | None] = (),
) -> Array:
    """Return how often a rule accepts, of rows that fit together, or of logits with settings."""
    numbers = [option for option in options if isinstance(option, int)]
    arrays = tuple(option for option in options if not isinstance(option, int))
    rows = reals_of(draft, target, settings=settings, beside=arrays)
    if rows is None:
        if settings:
            draft, target = map(warped, (draft, target), settings)
            check_pair(draft, target, LOGITS)
            return accepted(name, draft, target, *options)
        library = library_of(draft)
        return ACCEPTANCES[name](library, library.normal(draft), library.normal(target), *options)
    loop = getattr(machine("acceptance"), name)
    loop = machine("from_logits.sources").in_parts(loop) if settings else loop
    return rows.run(loop, *numbers, kinds=("float64",))[0]


def drafted(name: str, draft: Array, uniforms: Array) -> Array:
    """Return what a drafter of the table draws from rows that fit together."""
    rows = reals_of(draft, beside=(uniforms,))
    if rows is None:
        library = library_of(draft)
        return getattr(drafters, name)(library, library.normal(draft), library.widened(uniforms))
    return rows.run(getattr(machine("drafters"), name), kinds=(_ids(uniforms),))[0]


def drafted_straight(
    name: str, logits: Array, uniforms: Array, settings: Settings
) -> tuple[Array, Array]:
    """Return the same of logits, and the probabilities."""
    rows = reals_of(logits, settings=(settings,), beside=(uniforms,))
    if rows is None:
        rows = warped(logits, settings)
        return drafted(name, rows, uniforms), rows
    loop = machine("from_logits.sources").drafting(getattr(machine("drafters"), name))
    kinds = ("float32", (logits.shape[-1],)), _ids(uniforms)
    draft, found = rows.run(loop, kinds=kinds)
    return found, draft


def _ids(uniforms: Array) -> tuple[str, tuple[int, ...]]:
    return "int64", (uniforms.shape[-1],)


def top(values: Array, k: int) -> Array:
    """Return the tokens of the k largest values of each row."""
    rows = reals_of(values)
    if rows is None:
        return drafters.top(library_of(values), values, k)
    return rows.run(machine("drafters").top, kinds=(("int64", (k,)),))[0]


def optimal_cut(draft: Array, target: Array, k: int) -> tuple[Array, Array, Array]:
    """Return the c of which A, the tokens with q ≤ c·p, proves that optimum: c, p off A, q(A)."""
    rows = reals_of(draft, target)
    if rows is None:
        library = library_of(draft)
        return best_cut(library, library.normal(draft), library.normal(target), k)
    scale, outside, cost = rows.run(machine("optimum").best_cut, k, kinds=("float64",) * 3)
    return scale, outside, cost
