"""Means over the positions of a run with confidence intervals, part by part."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from otspec._base import Array, ArrowTable
from otspec.frames import Rows
from otspec.logged.comparison import Ratio, Tally
from otspec.traces.comparison import OPTIMUM
from otspec.traces.readers import Source
from otspec.traces.summary import Summary

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)  # of the gap; each accurate to half of a ten-thousandth
_STEPS = 10_000  # of the gap between 0 and 1


class Key(NamedTuple):
    """What is averaged together: columns of the parts of a run."""

    temperature: float
    draft_temperature: float
    drafts: str
    rule: str
    k: int


@dataclass(frozen=True)
class Statistic(Summary):
    """One rule under one draft law, k and temperature of each model, over all positions.

    Parameters
    ----------
    rule, drafts, k, acceptance, optimum, positions
        As in :class:`otspec.traces.Summary`.
    temperature, draft_temperature : float
        Of the target and of the draft.
    units : int
        How many texts, or positions if there is one text only, the intervals treat as
        independent.
    acceptance_interval, gap_interval : tuple of float
        Where the means over more such text lie, with 95% confidence; NaN for one unit.
    gap_quantiles : dict of float to float
        Level -> the smallest gap that at least this share of the positions does not exceed.
    """

    temperature: float
    draft_temperature: float
    units: int
    acceptance_interval: Annotated[tuple[float, float], "probability"]
    gap_interval: Annotated[tuple[float, float], "probability"]
    gap_quantiles: Annotated[dict[float, float], QUANTILES, "probability"]


class Means:
    """Means of numbers over positions or texts in order, and their intervals; no rows are kept."""

    def __init__(self, *, by_text: bool) -> None:
        self.positions = 0
        self._by_text = by_text
        self._tally: Tally  # of units: the numbers less the origin, and positions
        self._origin: Array  # the means of the first unit, and 0
        self._text: int | None = None
        self._open: Array = np.zeros(0)  # sums of the text that the next part may go on with

    def add(self, texts: Array, *values: Array) -> None:
        """Add positions in order: their texts and each of the numbers, all of shape (m,), m > 0."""
        rows = np.stack([*values, np.ones(len(texts))])
        if not self.positions:
            self._tally = Tally.of(np.zeros((0, len(rows))))
        self.positions += len(texts)
        if not self._by_text:
            self._add_units(rows)
            return
        starts = np.flatnonzero(np.diff(texts, prepend=texts[0] - 1))
        sums = np.add.reduceat(rows, starts, axis=1)
        if texts[0] == self._text:
            sums[:, 0] += self._open
        else:
            self._close()
        self._add_units(sums[:, :-1])
        self._text, self._open = int(texts[-1]), sums[:, -1]

    def _close(self) -> None:
        """Count the last text as complete."""
        if self._text is not None:
            self._add_units(self._open[:, None])
        self._text = None

    def _add_units(self, sums: Array) -> None:
        if sums.shape[1]:
            if not self._tally.texts:
                self._origin = np.append(sums[:-1, 0] / sums[-1, 0], 0.0)
            self._tally += Tally.of((sums - self._origin[:, None] * sums[-1]).T)

    @property
    def units(self) -> int:
        """How many positions or texts there are, the last text as it is."""
        self._close()
        return self._tally.texts

    def mean(self, place: int, low: float, high: float) -> Ratio:
        """Return the mean of a number, the last text as it is, and its interval in its range."""
        self._close()
        unit, origin = np.eye(len(self._origin)), float(self._origin[place])
        value, least, most = self._tally.ratio(unit[place], unit[-1])
        return Ratio(
            origin + value, max(origin + least, low), min(origin + most, high)
        )  # NaN stays


class _Group:
    """What is kept of one rule, law, k and pair of temperatures while parts go by."""

    def __init__(self, *, by_text: bool) -> None:
        self.means = Means(by_text=by_text)  # of acceptance, optimum and gap
        self.histogram = np.zeros(_STEPS + 1, np.int64)

    def add(self, texts: Array, acceptance: Array, optimum: Array) -> None:
        """Add positions in order, all arrays of shape (m,)."""
        gap = optimum - acceptance
        steps = np.clip(np.rint(gap * _STEPS), 0, _STEPS).astype(int)
        self.histogram += np.bincount(steps, minlength=_STEPS + 1)
        self.means.add(texts, acceptance, optimum, gap)

    def statistic(self, key: Key) -> Statistic:
        """Return what was added, the last text as it is, under the name of the group."""
        acceptance, optimum, gap = (self.means.mean(place, 0.0, 1.0) for place in range(3))
        reached = np.cumsum(self.histogram)
        return Statistic(
            **key._asdict(),
            # The same number, also where sums round differently.
            acceptance=optimum.value if key.rule == OPTIMUM else acceptance.value,
            optimum=optimum.value,
            positions=self.means.positions,
            units=self.means.units,
            acceptance_interval=acceptance[1:],
            gap_interval=gap[1:],
            # The smallest gap that at least this share of the positions does not exceed.
            gap_quantiles={
                level: float(np.searchsorted(reached, level * self.means.positions)) / _STEPS
                for level in QUANTILES
            },
        )


def statistics_of(tables: Iterable[tuple[Source, ArrowTable]], *, by_text: bool) -> Rows[Statistic]:
    """Average the parts of a run, by temperature, k and law as in the tables, the optimum first.

    Positions of one text depend on each other, so that intervals take whole texts as units: a text
    is a row of positions along the last position axis of a source, or a cluster of them. ``tables``
    come in order: each source's positions one after the other. If there is only one text,
    ``by_text`` must be False: positions are units.
    """
    groups: dict[Key, _Group] = {}
    for offset, source, table in with_offsets(tables):
        texts = offset + table["position"].to_numpy() // source.cluster_length
        values = [table[name].to_numpy() for name in ("acceptance", "optimum")]
        for key, rows in groups_of(table):
            columns = (column[rows] for column in (texts, *values))
            groups.setdefault(key, _Group(by_text=by_text)).add(*columns)
    found = [group.statistic(key) for key, group in groups.items()]
    return Rows(found, Statistic, "means over positions")


def clustered_mean(
    values: Array, texts: Array, low: float, high: float
) -> tuple[float, tuple[float, float]]:
    """Return the mean over positions, and where that over more such text lies, with 95% confidence.

    ``values`` and ``texts``, of shape (m,), are m ≥ 1 numbers between ``low`` and ``high`` and
    which text each is of. Texts are the independent units, or positions if there is one text. The
    interval is NaN for one unit.
    """
    _, which = np.unique(texts, return_inverse=True)
    order = np.argsort(which, kind="stable")
    means = Means(by_text=bool(which.max() > 0))
    means.add(which[order], values[order])
    mean, *ends = means.mean(0, low, high)
    return mean, (ends[0], ends[1])


def texts_of(sources: Iterable[Source]) -> int:
    """Return the number of texts of all sources."""
    return sum(source.clusters for source in sources)


def with_offsets(
    tables: Iterable[tuple[Source, ArrowTable]],
) -> Iterator[tuple[int, Source, ArrowTable]]:
    """Yield with each table how many texts there are before its source."""
    offset, last = 0, None
    for source, table in tables:
        if last is not None and source != last:
            offset += last.clusters
        last = source
        yield offset, source, table


def groups_of(table: ArrowTable) -> Iterator[tuple[Key, Array]]:
    """Yield each group of a table and its rows, in order of first appearance."""
    encoded = [table[name].combine_chunks() for name in Key._fields]
    encoded = [c if hasattr(c, "dictionary") else c.dictionary_encode() for c in encoded]
    code = np.zeros(table.num_rows, np.int64)
    for column in encoded:
        code = code * len(column.dictionary) + column.indices.to_numpy()
    _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    ends = np.cumsum(np.bincount(inverse))
    for group in np.argsort(first):
        rows = order[ends[group - 1] if group else 0 : ends[group]]
        yield Key(*(column[int(rows[0])].as_py() for column in encoded)), rows
