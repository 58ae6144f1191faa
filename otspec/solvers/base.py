"""What a solver is, and the registry of solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from otspec._base.arguments import as_callable, as_flag, as_instance
from otspec._base.registry import Registry, instance_of
from otspec.solvers.linear_program import LinearProgram
from otspec.solvers.solution import Solution


def _always() -> bool:
    return True


@dataclass(frozen=True)
class Solver:
    """A way to solve linear programs, which is called with one.

    Parameters
    ----------
    name : str
        What command lines and tables call it.
    solve : callable
        :class:`LinearProgram` → :class:`Solution`, not checked yet.
    exact : bool
        It takes exact data only, and solves them exactly; others compute in floats and round
        exact data.
    available : callable
        Says whether what it needs is installed.
    """

    name: str
    solve: Callable[[LinearProgram], Solution]
    exact: bool = False
    available: Callable[[], bool] = _always

    def __post_init__(self) -> None:
        as_callable(self.solve, "solve", "a callable from a LinearProgram to a Solution")
        as_flag(self.exact, "exact")
        as_callable(self.available, "available", "a callable without arguments")

    def __call__(self, program: LinearProgram) -> Solution:
        """Solve a program; the solution is not checked yet."""
        found: Solution = as_instance(
            self.solve(program), "what solve returns", Solution, "a Solution"
        )
        return found

    def fits(self, exact: bool) -> bool:
        """Return whether it can be used for exact data, or for floats."""
        return (exact or not self.exact) and self.available()


SOLVERS: Registry[Solver] = Registry("solver", "otspec.solvers", instance_of(Solver))
"""The solvers by name; by default the first that is as exact as the data is used."""
register = SOLVERS.register


def default_solver(program: LinearProgram) -> Solver:
    """Return the solver for a program for which none is named."""
    return next(solver for solver in SOLVERS.values() if solver.exact == program.exact)
