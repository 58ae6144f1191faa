"""What advice on the bundled trace compares: tokens per call against the time of a call."""

from __future__ import annotations

from typing import Any

from figures.contract import Numbers, Picture, Settings
from figures.registry import item
from otspec.advice import Advice, advise, draw_pareto

COSTS = {"draft_cost": 0.05, "target_cost": "1:1,64:1.5"}
RULES = (
    "recursive-rejection", "k-sequential", "recursive-rejection-without-replacement", "spechub",
)  # fmt: skip
"""Those that take no second for a position."""
COLUMNS = ("rule", "drafts", "tree", "nodes", "tokens per call", "time", "speed-up")


@item("advice", "ours", size=(7.0, 4.6), traced=True)
class AdvicePicture(Picture):
    """All choices on the drafted blocks of the trace, at temperature 1.

    Parameters
    ----------
    advice : Advice
    """

    title = "What to draft: tokens per call and time of all choices"

    advice: Advice

    @classmethod
    def compute(cls, settings: Settings) -> AdvicePicture:
        """Return the advice for 32 nodes; for four and one rule if quick."""
        rules, nodes = (RULES[:1], 4) if settings.quick else (RULES, 32)
        return cls(advise(settings.logged(), **COSTS, nodes=nodes, rules=rules))

    def numbers(self) -> Numbers:
        """Return a row for each choice, the fastest first."""
        rows = [
            (
                one.rule, one.drafts, one.tree, one.nodes, float(one.tokens), one.seconds,
                one.speed_up,
            )
            for one in self.advice.choices
        ]  # fmt: skip
        return Numbers(COLUMNS, tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw all choices and those that are best for their time."""
        draw_pareto(self.advice, axes[0])
