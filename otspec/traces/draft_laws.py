"""Which draft law is best on a trace: the optimum and the best rule of each (Theory, 1)."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from otspec._base import ArrowTable
from otspec.drafts import IID
from otspec.frames import Rows
from otspec.traces.comparison import OPTIMUM
from otspec.traces.readers import Source
from otspec.traces.statistics import Key, Means, groups_of, with_offsets
from otspec.traces.summary import independent_of_drafts

Interval = Annotated[tuple[float, float], "probability"]
Mean = Annotated[float, "probability"]


@dataclass(frozen=True)
class LawMeans:
    """What a draft law makes possible at a number of drafts, over the positions of a trace.

    Parameters
    ----------
    temperature, draft_temperature : float
        Of the target and of the draft.
    drafts : str
        The law, by name.
    k : int
    optimum : float
        The mean of the most that any rule accepts.
    above_iid : float
        The mean of how much that is above the optimum of as many i.i.d. drafts.
    optimum_interval, above_iid_interval : tuple of float
        Where the mean over more such text lies, with 95% confidence; NaN for one unit.
    rule : str
        The title of the rule that accepts the most, of those that verify such drafts; "" if none.
    acceptance : float
        What it accepts, on average; NaN if there is none.
    independence_price : float
        The optimum minus what the best rule accepts whose output depends on no draft, on average;
        NaN where no rule from shared noise was compared.
    positions : int
        How many positions the means are over.
    """

    temperature: float
    draft_temperature: float
    drafts: str
    k: int
    optimum: Mean
    optimum_interval: Interval
    above_iid: Mean
    above_iid_interval: Interval
    rule: str
    acceptance: Mean
    independence_price: Mean
    positions: int


def law_means(tables: Iterable[tuple[Source, ArrowTable]], *, by_text: bool) -> Rows[LawMeans]:
    """Return what each draft law makes possible, by temperature, k and law as in the tables.

    ``tables`` are the parts of a run, in order, each looked at once; a ValueError asks for i.i.d.
    drafts among them. ``by_text`` is as for :func:`otspec.traces.statistics.statistics_of`.
    """
    groups: dict[Key, Means] = {}
    for offset, source, table in with_offsets(tables):
        positions, acceptance, optima = (
            table[name].to_numpy() for name in ("position", "acceptance", "optimum")
        )
        found = dict(groups_of(table))
        for key, rows in found.items():
            values = [acceptance[rows]]
            if key.rule == OPTIMUM:
                iid = found.get(key._replace(drafts=IID.name))
                if iid is None:
                    raise ValueError(f"the run has no {IID.name} drafts: compare those, too")
                # I.i.d. drafts are at every position.
                beside = optima[iid][np.searchsorted(positions[iid], positions[rows])]
                values = [optima[rows], optima[rows] - beside]
            texts = offset + positions[rows] // source.cluster_length
            groups.setdefault(key, Means(by_text=by_text)).add(texts, *values)
    means = [_means(groups, key) for key in groups if key.rule == OPTIMUM]
    return Rows(means, LawMeans, "means over positions")


def _means(groups: dict[Key, Means], key: Key) -> LawMeans:
    accepted = {
        other.rule: means.mean(0, 0.0, 1.0).value
        for other, means in groups.items()
        if other != key and other._replace(rule=OPTIMUM) == key
    }
    best = max(accepted, key=lambda rule: accepted[rule], default="")
    own = groups[key]
    optimum, above = own.mean(0, 0.0, 1.0), own.mean(1, -1.0, 1.0)
    independent = [accepted[rule] for rule in independent_of_drafts(accepted)]
    return LawMeans(
        temperature=key.temperature,
        draft_temperature=key.draft_temperature,
        drafts=key.drafts,
        k=key.k,
        optimum=optimum.value,
        optimum_interval=optimum[1:],
        above_iid=above.value,
        above_iid_interval=above[1:],
        rule=best,
        acceptance=accepted.get(best, math.nan),
        independence_price=optimum.value - max(independent, default=math.nan),
        positions=own.positions,
    )
