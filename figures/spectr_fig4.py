"""SpecTr, figure 4: two Bernoulli distributions, the optimum and k-Seq against k."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from figures.axes import name_rules, rule_lines
from figures.contract import Settings
from figures.curves import Curves, against_k
from figures.registry import item
from otspec.rules import KSequential, PairRule

DRAFT = Fraction(1, 4)
"""P(1) of the draft; tokens are 0 and 1."""
TARGETS = (Fraction(1, 10), Fraction(1, 4), Fraction(3, 4), Fraction(1))
KS = tuple(range(1, 11))


@item("spectr_fig4", "SpecTr, figure 4", size=(7.0, 2.4), panels=(1, 4))
class BernoulliCurves(Curves):
    """For each P(1) of the target the acceptance against k, exactly but for k-Seq's ρ*."""

    title = "Draft Ber(0.25): acceptance against k"

    columns = ("target P(1)", "k")

    targets: ClassVar[tuple[Fraction, ...]] = TARGETS
    rules: ClassVar[tuple[type[PairRule], ...]] = (KSequential,)
    styles: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"linestyle": "--", "zorder": 3})
    named: ClassVar[int] = 2
    """The panel whose lines have names: where they are apart."""

    @classmethod
    def compute(cls, settings: Settings) -> BernoulliCurves:
        """Return all curves."""
        ks = KS[:4] if settings.quick else KS
        draft = [1 - DRAFT, DRAFT]
        return cls(ks, {b: against_k(draft, [1 - b, b], ks, *cls.rules) for b in cls.targets})

    def draw(self, axes: list[Any]) -> None:
        """Draw one panel for each target."""
        for panel, (b, lines) in zip(axes, self.curves.items(), strict=True):
            rule_lines(panel, self.xs, lines, styles=self.styles)
            panel.set(title=f"target Ber({float(b):g})", xlabel="number of drafts k")
            panel.set(xticks=self.xs[1::2], ylim=(0, 1.05))
        axes[0].set_ylabel("acceptance")
        name_rules(axes[self.named])
