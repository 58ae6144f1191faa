"""Every optimisation problem that the papers write down, as a model that a reader can inspect."""

from typing import Literal

from otspec.programs.block import BlockProgram
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

__all__ = [
    "PROGRAMS",
    "BlockProgram",
    "CompactMaxFlow",
    "Formulation",
    "Importance",
    "MaxFlow",
    "Membership",
    "ProgramName",
    "Reduced",
    "Size",
    "TruncatedImportance",
]
