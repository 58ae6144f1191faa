"""What every lossy rule answers: what a rule does, and the law of its output."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from otspec._base.arguments import as_real
from otspec._base.arithmetic import Array, Number, is_exact
from otspec._base.coerce import shown
from otspec._base.registry import Registry, subclass_of
from otspec.distributions import Distribution
from otspec.rules.base.pair_rule import PairRule


@dataclass(frozen=True, eq=False)
class LossyRule(PairRule):
    """A rule whose output is not distributed as the target, and that says how it is distributed.

    :attr:`target` is what the output should be distributed as, and :attr:`declared_output` what it
    is distributed as: a formula for any vocabulary, which :func:`otspec.audit` compares with the
    enumerated law. Parameters and errors: :class:`otspec.rules.PairRule`; a parameter of the rule
    is written in the arithmetic of the distributions, and keyword only.
    """

    compared: ClassVar[bool] = False
    source: ClassVar[str]
    """Where the rule is described."""

    def __post_init__(self, normalize: bool) -> None:
        super().__post_init__(normalize)
        for each in fields(self):
            if each.metadata:
                given = getattr(self, each.name)
                checked = as_parameter(given, each.name, self.draft, **each.metadata)
                self._hold(**{each.name: checked})

    @property
    @abstractmethod
    def declared_output(self) -> Distribution:
        """The law of the output, shape (n,)."""


LOSSY_RULES: Registry[type[LossyRule]] = Registry(
    "lossy rule", "otspec.lossy_rules", subclass_of(LossyRule)
)
"""The published lossy rules by name, in the order of tables.

Those of other packages join by an entry point of the group ``otspec.lossy_rules``.
"""


LARGEST = 1e300
"""The bound of parameters that have no other."""


def between(least: float, most: float, *, open_below: bool = False) -> dict[str, Any]:
    """Return the metadata of a field that is a parameter: a number between bounds."""
    return {"least": least, "most": most, "open_below": open_below}


def as_parameter(
    value: Any, name: str, like: Array, least: float, most: float, *, open_below: bool = False
) -> Number:
    """Return a parameter of a rule in the arithmetic of its distributions.

    ``like``: a distribution of the rule. ``least`` and ``most``: its bounds. ``open_below``:
    ``least`` itself is too small.
    """
    number = as_real(value, name, least, most, open_below=open_below)
    if not is_exact(like):
        return float(number)
    if isinstance(number, float):
        raise ValueError(
            f"{name} is {shown(value)}, a float beside exact distributions: write it as an exact "
            "number such as '3/10'"
        )
    return number
