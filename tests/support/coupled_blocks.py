"""The rule of a best coupling of what is drafted with the target's whole blocks."""

from dataclasses import dataclass
from functools import cached_property

from otspec.blocks import PlannedBlock
from otspec.programs import CandidateProgram


@dataclass(frozen=True, eq=False)
class CoupledBlock(PlannedBlock):
    """Keep what the best coupling of :class:`otspec.programs.CandidateProgram` keeps."""

    @cached_property
    def plan(self):
        law = self.candidates()
        length = max(len(sequence) for sequences in law for sequence in sequences)
        return CandidateProgram(law, self.target, length).plan().paths()
