"""Canonical, figures 3 and 4: two drafts of equal and of different models against temperature."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import otspec
from figures.axes import name_rules
from figures.contract import Cell, Numbers, Picture, Settings
from figures.looks import look
from figures.means import CHANCE, radius
from figures.on_letters import Warping, letter_pair
from figures.registry import item
from otspec import Independent
from otspec._base.arithmetic import Array
from otspec.distributions import Distribution
from otspec.logged.comparison import mean_and_error
from otspec.rules import (
    ImportanceSampling,
    KSequential,
    RecursiveRejection,
    RecursiveRejectionIndependent,
)
from otspec.traces.comparison import OPTIMUM

TEMPERATURES, QUICK_TEMPERATURES = (0.6, 1.0, 1.4, 1.8, 2.4), (1.4,)
"""Of both drafts (figure 3), or of the second one beside a first one at 1 (figure 4)."""
FREE = 32
"""Free tokens of importance sampling's programs on the trace."""
SAMPLING, SPECTR, SPECINFER, SINGLE = (
    ImportanceSampling.title,
    KSequential.title,
    RecursiveRejection.title,
    "one draft",
)
LETTERS, TRACE = "letters", "trace"
EQUAL, DIFFERENT = "both drafts at T", "first draft at 1, second at T"
SETTINGS = tuple((models, drafts) for drafts in (EQUAL, DIFFERENT) for models in (LETTERS, TRACE))
LIMITS = {LETTERS: (0.45, 0.85), TRACE: (0.0, 0.85)}
"""Of the axis of the acceptance."""
SINGLE_LOOK = {"color": "#999999", "marker": "", "linestyle": "--"}

Place: TypeAlias = tuple[Distribution, Distribution, Distribution]
"""The first draft (at temperature 1), the draft at temperature T, and the target."""


class Mean(NamedTuple):
    """A mean over places, and half the width of its interval; 0 on the letters."""

    value: float
    radius: float


def of_equal(place: Place, exact: bool) -> dict[str, float]:
    """Return what is accepted of two drafts at T, and of one."""
    _, draft, target = place
    accepted = {
        OPTIMUM: float(otspec.optimal_acceptances(draft, target, [2])[0]),
        SPECTR: float(KSequential(draft, target, 2).acceptance()),
        SPECINFER: float(RecursiveRejection(draft, target, 2).acceptance()),
        SINGLE: float(np.minimum(draft, target).sum()),
    }
    if not exact:
        accepted[SAMPLING] = float(ImportanceSampling(draft, target, 2, free=FREE).acceptance())
    return accepted


def of_different(place: Place, exact: bool) -> dict[str, float]:
    """Return what is accepted of a draft at 1 and one at T, and of the first alone."""
    first, second, target = place
    law = Independent([first, second])
    accepted = {
        SPECINFER: float(RecursiveRejectionIndependent(law, target).acceptance()),
        SINGLE: float(np.minimum(first, target).sum()),
    }
    if exact:
        return {OPTIMUM: float(otspec.optimal_acceptance(law, target).acceptance)} | accepted
    sampled = ImportanceSampling(first, target, 2, others=[second], free=FREE)
    return accepted | {SAMPLING: float(sampled.acceptance())}


QUESTIONS = {EQUAL: of_equal, DIFFERENT: of_different}


@item("canonical_fig3", "Canonical, figures 3 and 4", size=(7.0, 4.6), panels=(2, 2), traced=True)
class DraftTemperatures(Picture):
    """Mean acceptance of two drafts of a target at temperature 1.

    Parameters
    ----------
    temperatures : tuple of float
    means : dict
        Models and drafts → rule → its mean for each temperature.
    places : int
        How many of the trace the means are over.
    """

    title = "Two drafts against their temperature: of equal models, and of different ones"

    temperatures: tuple[float, ...]
    means: dict[tuple[str, str], dict[str, tuple[Mean, ...]]]
    places: int

    @classmethod
    def compute(cls, settings: Settings) -> DraftTemperatures:
        """Return all means; at one temperature if quick."""
        temperatures = QUICK_TEMPERATURES if settings.quick else TEMPERATURES
        count = 0
        found: dict[tuple[str, str], dict[str, list[Mean]]] = {}
        for temperature in temperatures:
            weights, letters = _letter_places(temperature)
            trace = list(_trace_places(settings, temperature))
            count = len(trace)
            for drafts, question in QUESTIONS.items():
                rows = [question(place, exact=True) for place in letters]
                for rule in rows[0]:
                    value = float(weights @ np.array([row[rule] for row in rows]))
                    lines = found.setdefault((LETTERS, drafts), {})
                    lines.setdefault(rule, []).append(Mean(value, 0.0))
                rows = [question(place, exact=False) for place in trace]
                for rule in rows[0]:
                    mean, error = mean_and_error([row[rule] for row in rows])
                    lines = found.setdefault((TRACE, drafts), {})
                    lines.setdefault(rule, []).append(Mean(mean, radius(error, count)))
        means = {
            setting: {rule: tuple(values) for rule, values in found[setting].items()}
            for setting in SETTINGS
        }
        return cls(temperatures, means, count)

    def numbers(self) -> Numbers:
        """Return one row for each setting, rule and temperature."""
        rows: list[tuple[Cell, ...]] = []
        for (models, drafts), lines in self.means.items():
            for rule, means in lines.items():
                for temperature, mean in zip(self.temperatures, means, strict=True):
                    interval = "exact" if models == LETTERS else _interval(mean)
                    rows.append((models, drafts, temperature, rule, mean.value, interval))
        return Numbers(("models", "drafts", "T", "rule", "acceptance", "95% interval"), tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw equal drafts above, different ones below; the letters to the left."""
        for panel, ((models, drafts), lines) in zip(axes, self.means.items(), strict=True):
            for rule, means in lines.items():
                values, wide = np.transpose(means)
                style = SINGLE_LOOK if rule == SINGLE else look(rule)
                panel.plot(self.temperatures, values, label=rule, **style)
                if models == TRACE and rule in (SAMPLING, SINGLE):
                    ends = np.clip(values - wide, 0, 1), np.clip(values + wide, 0, 1)
                    panel.fill_between(self.temperatures, *ends, color=style["color"], alpha=0.1,
                                       linewidth=0)  # fmt: skip
            panel.set(title=f"{models}: {drafts}", ylim=LIMITS[models], xticks=self.temperatures)
        for panel in axes[::2]:
            panel.set_ylabel("mean acceptance")
        for panel in axes[2:]:
            panel.set_xlabel("temperature T")
        name_rules(axes[1], axes[3])


def _interval(mean: Mean) -> str:
    low, high = np.clip([mean.value - mean.radius, mean.value + mean.radius], *CHANCE)
    return f"{low:.3f} to {high:.3f}"


def _letter_places(temperature: float) -> tuple[Array, list[Place]]:
    """Return the places of the text, and how often each occurs."""
    first, second = (letter_pair(Warping(draft_temperature=t)) for t in (1.0, temperature))
    which = np.flatnonzero(first.places)
    rows = zip(first.draft[which], second.draft[which], first.target[which], strict=True)
    return first.places[which], list(rows)


def _trace_places(settings: Settings, temperature: float) -> Iterator[Place]:
    for (first, target), (draft, _) in zip(
        settings.pairs(), settings.pairs(1.0, temperature), strict=True
    ):
        yield first, draft, target
