"""The work of ``otspec trace``: rules compared at each position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from otspec._base.extras import needed
from otspec.rules.base.pair_rule import named_rules
from otspec.rules.importance.importance_sampling import FREE
from otspec.traces.comparison import compare
from otspec.traces.readers.logged_numbers import Warping
from otspec.traces.runs.work import Chunk, Work

if TYPE_CHECKING:
    import pyarrow as pa

_WORDS = ("source", "drafts", "rule")
"""The columns of words, which are stored once each."""


@dataclass(frozen=True)
class Settings(Work):
    """Rules compared at every position.

    All sources of a run are compared with the same settings.

    Parameters
    ----------
    ks : tuple of int
    laws : tuple of str
        Draft laws, by name.
    warpings : tuple of Warping
    free : int
        As for :func:`otspec.traces.compare`.
    only : tuple of str
        Which rules, by name; by default as :func:`otspec.traces.compare` has them.

    Raises
    ------
    ValueError
        A rule that there is not, or one for drafts of none of the laws.
    """

    ks: tuple[int, ...]
    laws: tuple[str, ...]
    warpings: tuple[Warping, ...]
    free: int = FREE
    only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        named_rules(self.only, self.laws)

    def table_of(self, chunk: Chunk) -> pa.Table:
        """Compare the rules at the positions of a chunk.

        Returns
        -------
        pyarrow.Table
            Columns source, position, temperature, draft_temperature, drafts, rule, k,
            acceptance, optimum; a row per comparison, positions ascending.

        Raises
        ------
        ValueError
            Unreadable arrays; a row that no distribution follows from, with its file and position.
        """
        pa = needed("pyarrow", "a run over traces", "runs")

        schema = pa.schema(
            [
                ("source", pa.dictionary(pa.int32(), pa.string())),
                ("position", pa.int64()),
                ("temperature", pa.float64()),
                ("draft_temperature", pa.float64()),
                ("drafts", pa.dictionary(pa.int32(), pa.string())),
                ("rule", pa.dictionary(pa.int32(), pa.string())),
                ("k", pa.int32()),
                ("acceptance", pa.float64()),
                ("optimum", pa.float64()),
            ]
        )
        # Where no law has such numbers of drafts there are no rows.
        columns = list(zip(*self._rows(chunk), strict=True)) or [()] * len(schema)
        arrays = [
            pa.array(column, field.type.value_type if field.name in _WORDS else field.type)
            for field, column in zip(schema, columns, strict=True)
        ]
        return pa.table(
            [
                array.dictionary_encode() if field.name in _WORDS else array
                for field, array in zip(schema, arrays, strict=True)
            ],
            schema=schema,
        )

    def _rows(self, chunk: Chunk) -> Iterator[tuple[object, ...]]:
        name = chunk.source.name
        pairs = chunk.source.pairs(chunk.start, chunk.stop, self.warpings)
        for position, warping, draft, target in pairs:
            try:
                compared = compare(
                    draft, target, self.ks, self.laws, only=self.only, free=self.free
                )
            except ValueError as error:
                raise ValueError(f"position {position}: {error}") from error
            for row in compared:
                yield (
                    name,
                    position,
                    warping.temperature,
                    warping.of("draft").temperature,
                    row.drafts,
                    row.rule,
                    row.k,
                    float(row.acceptance),
                    float(row.optimum),
                )
