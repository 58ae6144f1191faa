"""Every optimization problem that the papers write down, as a model that a reader can inspect."""

# ruff: noqa: I001 -- programs are registered in the order of tables

from typing import TypeAlias

from otspec._base import as_choice, as_flag
from otspec.distributions import DistributionLike
from otspec.drafts import DraftLaw
from otspec.programs.formulation import PROGRAMS, Formulation, Size
from otspec.programs.one_token import CompactMaxFlow, Importance, MaxFlow, Membership, Reduced
from otspec.programs.truncated import TruncatedImportance
from otspec.programs.sequences.block import BlockPlan, BlockProgram
from otspec.programs.candidates import CandidateProgram
from otspec.programs.sequences.chained_residuals import Residual, ResidualsProgram
from otspec.programs.sequences.one_corrected_token import OneTokenProgram
from otspec.programs.sequences.past_windows import WindowProgram
from otspec.programs.sequences.drafted_texts import Drafted, DraftedSets
from otspec.programs.sequences.drafted_nodes import DraftedNodes
from otspec.programs.sequences.kept_texts import KeptTexts
from otspec.programs.sequences.path_program import PathPlan, PathProgram
from otspec.programs.sequences.text_program import PriceBound, TextOptimum, TextProgram, depth_bound

ProgramName: TypeAlias = str
"""One of :data:`PROGRAMS`: ``"membership"``, ``"reduced"``, ``"importance"``, ``"maxflow"``,
``"compact"`` (two drafts only), or one that another package adds."""


def formulate(
    program: ProgramName, law: DraftLaw, target: DistributionLike, *, sets: bool = True
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
    kind = PROGRAMS[as_choice(program, "program", PROGRAMS)]
    return kind(law, target, as_flag(sets, "sets") and not kind.in_tuples)


__all__ = [
    "PROGRAMS",
    "BlockPlan",
    "BlockProgram",
    "CandidateProgram",
    "CompactMaxFlow",
    "Drafted",
    "DraftedNodes",
    "DraftedSets",
    "Formulation",
    "Importance",
    "KeptTexts",
    "MaxFlow",
    "Membership",
    "OneTokenProgram",
    "PathPlan",
    "PathProgram",
    "PriceBound",
    "ProgramName",
    "Reduced",
    "Residual",
    "ResidualsProgram",
    "Size",
    "TextOptimum",
    "TextProgram",
    "TruncatedImportance",
    "WindowProgram",
    "depth_bound",
    "formulate",
]
