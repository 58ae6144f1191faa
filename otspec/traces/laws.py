"""Which draft law is best on a trace: the optimum and the best rule of each (Theory, 1)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from otspec.arithmetic import Array
from otspec.drafts import IID
from otspec.frames import Rows
from otspec.traces.comparison import OPTIMUM
from otspec.traces.readers import Source
from otspec.traces.statistics import Key, by_group, clustered_mean

if TYPE_CHECKING:
    import pyarrow as pa

Interval = Annotated[tuple[float, float], "probability"]
Mean = Annotated[float, "probability"]


@dataclass(frozen=True)
class LawMeans:
    """What a draft law makes possible at a number of drafts, over the positions of a trace.

    Parameters
    ----------
    temperature : float
        Of the target.
    draft_temperature : float
    drafts : str
        The law, by name.
    k : int
    optimum : float
        The mean of the most that any rule accepts.
    optimum_interval : tuple of float
        Where the mean over more such text lies, with 95% confidence; NaN for one unit.
    above_iid : float
        The mean of how much that is above the optimum of as many i.i.d. drafts.
    above_iid_interval : tuple of float
    rule : str
        The title of the rule that accepts the most, of those that verify such drafts; "" if none.
    acceptance : float
        What it accepts, in the mean; NaN if there is none.
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
    positions: int


def law_means(tables: Iterable[tuple[Source, pa.Table]]) -> Rows[LawMeans]:
    """Return what each draft law makes possible, by temperature, k and law as in the tables.

    Parameters
    ----------
    tables : iterable of (Source, pyarrow.Table)
        The parts of a run that compared i.i.d. drafts, too. All are held in memory.

    Raises
    ------
    ValueError
        No i.i.d. drafts among them.
    """
    groups = by_group(tables)
    found = [_means(groups, key) for key in groups if key.rule == OPTIMUM]
    return Rows(found, LawMeans, "means over positions")


def _means(groups: dict[Key, Array], key: Key) -> LawMeans:
    texts, places, _, optima = groups[key]
    beside = groups.get(key._replace(drafts=IID.name))
    if beside is None:
        raise ValueError(f"the run has no {IID.name} drafts: compare those, too")
    accepted = {
        other.rule: float(columns[2].mean())
        for other, columns in groups.items()
        if other != key and other._replace(rule=OPTIMUM) == key
    }
    best = max(accepted, key=lambda rule: accepted[rule], default="")
    mean, interval = clustered_mean(optima, texts, 0.0, 1.0)
    # I.i.d. drafts are at every position.
    above = optima - beside[3][np.searchsorted(beside[1], places)]
    more, more_interval = clustered_mean(above, texts, -1.0, 1.0)
    return LawMeans(
        temperature=key.temperature,
        draft_temperature=key.draft_temperature,
        drafts=key.drafts,
        k=key.k,
        optimum=mean,
        optimum_interval=interval,
        above_iid=more,
        above_iid_interval=more_interval,
        rule=best,
        acceptance=accepted.get(best, math.nan),
        positions=len(optima),
    )
