"""Conditions that hold for all draft laws and targets at once, by exact polyhedral computation.

Double description and Fourier-Motzkin elimination, in integers and rationals; they need pycddlib
(the extra ``cones``). Source: Canonical, apps. B, C and D.
"""

from otspec.cones.condition import Condition
from otspec.cones.cone import Cone, certainty_cone, optimum_cone
from otspec.cones.elimination import Elimination, Step, eliminate
from otspec.cones.polytope import SelectionPolytope, selection_polytope

__all__ = [
    "Condition",
    "Cone",
    "Elimination",
    "SelectionPolytope",
    "Step",
    "certainty_cone",
    "eliminate",
    "optimum_cone",
    "selection_polytope",
]
