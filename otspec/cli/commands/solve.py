"""``otspec solve``: the linear programs, solved by several solvers side by side."""

import sys
import time
from typing import Any

import click

from otspec._base.tables import print_table, say
from otspec.cli.shared import arguments, options, output
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw, named_law
from otspec.optimum import Optimum, optimal_acceptance
from otspec.optimum.plan import plan_from
from otspec.programs import PROGRAMS, formulate
from otspec.solvers import SOLVERS
from otspec.solvers import solve as solve_program


@options.pair_command("2")
@click.option(
    "--program",
    "programs",
    type=arguments.Choice(tuple(PROGRAMS)),
    multiple=True,
    default=("reduced",),
    help="A formulation; may be repeated.",
)
@click.option(
    "--solver",
    "solvers",
    type=arguments.Choice(tuple(SOLVERS)),
    multiple=True,
    help="A solver; may be repeated.  [default: all that fit]",
)
@click.option("--tuples", is_flag=True, help="One row per draft tuple instead of per draft set.")
@options.json_option
def solve(
    pair: tuple[Distribution, Distribution],
    ks: tuple[int, ...],
    drafts: str,
    programs: tuple[str, ...],
    solvers: tuple[str, ...],
    tuples: bool,
    as_json: bool,
) -> None:
    """Solve the optimal transport problem as a linear program.

    DRAFT and TARGET are as for `otspec accept`. Prints the size, value and time of each program
    and solver, and the cut that proves the optimum without any of them.

    Example: otspec solve 1/2,3/10,1/5 1/10,3/5,3/10 --program membership --program reduced
    """
    rows: list[dict[str, Any]] = []
    optima: list[tuple[int, Optimum]] = []
    for k in ks:
        law = named_law(drafts, pair[0], k)
        optima.append((k, optimal_acceptance(law, pair[1])))
        for program in programs:
            # Exact arithmetic needs exact numbers and a package.
            fitting = solvers or tuple(
                name for name, solver in SOLVERS.items() if solver.fits(law.exact)
            )
            rows += _solved(law, pair[1], program, fitting, not tuples)
    if as_json:
        best = [{"k": k, "acceptance": it.acceptance, "cut": it.cut} for k, it in optima]
        output.print_json({"drafts": drafts, "optima": best, "solutions": rows})
        return
    counted = ("k", "program", "solver", "rows", "variables", "iterations")
    print_table((*counted, "build s", "solve s", "value"), list(map(_cells, rows)), text=3)
    say()
    for k, optimum in optima:
        say(
            f"k = {k}: the cut A = {output.shown_set(optimum.cut)} proves that "
            f"{output.shown(optimum.acceptance, 9)} is the optimum."
        )


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    sizes = (f"{row[name]:,}" for name in ("rows", "variables"))
    times = (f"{row[name]:.4f}" for name in ("build_seconds", "solve_seconds"))
    iterations = str(row["iterations"]) if row["iterations"] >= 0 else ""
    value = output.shown(row["acceptance"], 9)
    return str(row["k"]), row["program"], row["solver"], *sizes, iterations, *times, value


def _solved(
    law: DraftLaw, target: Distribution, program: str, solvers: tuple[str, ...], sets: bool
) -> list[dict[str, Any]]:
    rows = []
    for solver in solvers:
        start = time.perf_counter()
        formulation = formulate(program, law, target, sets=sets)
        if sys.stderr.isatty():
            say(f"{program}, {solver}: {formulation.size()}", err=True)
        linear_program = formulation.build()
        built = time.perf_counter() - start
        solution = solve_program(linear_program, solver)
        plan = plan_from(formulation, solution)
        plan.check()
        rows.append(
            {
                "k": law.k,
                "program": program,
                "solver": solver,
                "rows": linear_program.shape[0],
                "variables": linear_program.shape[1],
                "iterations": solution.iterations,
                "build_seconds": built,
                "solve_seconds": solution.seconds,
                "acceptance": plan.acceptance,
            }
        )
    return rows
