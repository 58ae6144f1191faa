"""Every optimisation problem that the papers write down, as a model that a reader can inspect."""

from typing import Literal

from otspec.arguments import as_choice, as_flag
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.programs.block import BlockProgram
from otspec.programs.candidates import CandidateProgram
from otspec.programs.compact import CompactMaxFlow
from otspec.programs.formulation import Formulation, Size
from otspec.programs.importance import Importance
from otspec.programs.maxflow import MaxFlow
from otspec.programs.membership import Membership
from otspec.programs.reduced import Reduced
from otspec.programs.truncated import TruncatedImportance

ProgramName = Literal["membership", "reduced", "importance", "maxflow", "compact"]

PROGRAMS: dict[str, type[Formulation]] = {
    "membership": Membership,
    "reduced": Reduced,
    "importance": Importance,
    "maxflow": MaxFlow,
    "compact": CompactMaxFlow,
}
"""The formulations of the optimal acceptance by name; ``"compact"`` is for two drafts only."""


def formulate(
    program: str, law: DraftLaw, target: Distribution, *, sets: bool = True
) -> Formulation:
    """Return a formulation by name.

    Parameters
    ----------
    program : str
        One of :data:`PROGRAMS`.
    law : DraftLaw
    target : array_like, shape (n,)
        Of the law's length and arithmetic.
    sets : bool
        One row per set of distinct drafts instead of one per tuple. The compact network's nodes
        are tokens, so that it has neither.

    Raises
    ------
    ValueError
        An unknown name, or a law that the program does not take.
    """
    program, sets = as_choice(program, "program", PROGRAMS), as_flag(sets, "sets")
    if program == "compact":
        return CompactMaxFlow(law, target)
    return PROGRAMS[program](law, target, sets)


__all__ = [
    "PROGRAMS",
    "BlockProgram",
    "CandidateProgram",
    "CompactMaxFlow",
    "Formulation",
    "Importance",
    "MaxFlow",
    "Membership",
    "ProgramName",
    "Reduced",
    "Size",
    "TruncatedImportance",
    "formulate",
]
