"""Rows as tables: the same numbers, the same columns, and what is unknown is null."""

import copy
import math
import pickle
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from otspec import blocks, conformance, decoding, logged, models, traces
from otspec.advice import Choice, Loss
from otspec.datasets import load_smollm2
from otspec.estimate import Estimate, value_of
from otspec.frames import Rows, columns_of
from otspec.logged import Ratio
from otspec.rules import RecursiveRejection
from otspec.traces.comparison import Comparison
from otspec.traces.draft_laws import LawMeans
from otspec.traces.statistics import QUANTILES, Statistic
from otspec.traces.summary import Summary

EXACT = (["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"])
FLOAT = ([0.5, 0.3, 0.2], [0.1, 0.6, 0.3])
MODELS = models.memoryless(["1/2", "1/2"]), models.memoryless(["1/4", "3/4"])
STATISTIC = Statistic(
    "naive sampling", "iid", 2, acceptance=0.5, optimum=0.6, positions=1, temperature=1.0,
    draft_temperature=0.6, units=1,
    acceptance_interval=(math.nan, math.nan), gap_interval=(0.0, 0.2),
    gap_quantiles=dict(zip(QUANTILES, (0.0, 0.1, 0.2, 0.3, 0.4), strict=True)),
)  # fmt: skip
MEANS = LawMeans(1.0, 0.6, "iid", 2, 0.6, (0.5, 0.7), 0.0, (0.0, 0.0), "", math.nan, math.nan, 3)


@pytest.fixture(scope="module")
def on_blocks():
    return list(load_smollm2().blocks())[:2]


RESULTS = {
    "exact comparison": lambda: traces.compare(*EXACT, [1, 2]),
    "float comparison": lambda: traces.compare(*FLOAT, [1, 2]),
    "summary": lambda: traces.summarize([traces.compare(*FLOAT, [2])]),
    "statistics": lambda: Rows([STATISTIC]),
    "laws": lambda: Rows([MEANS]),
    "blocks": lambda: blocks.compare_block_rules(*MODELS, [1, 2]),
    "trees": lambda: blocks.compare_trees(*MODELS, ["2x1"]),
    "sweep": lambda: blocks.sweep(*MODELS, 4, 2, RecursiveRejection),
    "simulated sweep": lambda: blocks.sweep(*MODELS, 2, 2, RecursiveRejection, size=50),
    "best tree": lambda: Rows([blocks.best_tree(*MODELS, RecursiveRejection, 4, 2)]),
}
KINDS = (Comparison, Summary, Statistic, LawMeans, blocks.BlockComparison, blocks.TreeComparison,
         blocks.Configuration, blocks.BestTree, logged.Thresholded, Choice, Loss)  # fmt: skip


def plain(value):
    """Return what a cell of a number, a word or a list should be."""
    value = value_of(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    return list(value) if isinstance(value, tuple) else getattr(value, "text", value)


def check_cell(row, name, cell):
    """Check a cell of a column that is named after an attribute, or after a part of one."""
    attribute, _, part = name.rpartition("_")
    if hasattr(row, name):
        wanted = plain(getattr(row, name))
        assert cell == (float(wanted) if isinstance(wanted, Fraction) else wanted)
    elif part == "exact":
        value = value_of(getattr(row, attribute))
        assert cell is None or Fraction(cell) == value
        assert (cell is None) == isinstance(value, float)
    elif hasattr(row, f"{attribute}_interval"):
        assert cell == plain(getattr(row, f"{attribute}_interval")[part == "high"])
    elif part in ("low", "high", "confidence"):
        value = getattr(row, attribute)
        assert cell == (getattr(value, part) if isinstance(value, Estimate) else None)
    else:
        assert cell == plain(getattr(row, attribute)[float(part)])


@pytest.mark.parametrize("name", RESULTS)
def test_every_cell_says_what_the_row_says(name):
    rows = RESULTS[name]()
    table = rows.to_arrow()
    assert table.num_rows == len(rows) > 0
    for row, cells in zip(rows, table.to_pylist(), strict=True):
        for column, cell in cells.items():
            check_cell(row, column, cell)


@pytest.mark.parametrize("name", RESULTS)
def test_pandas_and_polars_have_the_same_cells(name):
    rows = RESULTS[name]()
    wanted = rows.to_arrow().to_pylist()
    assert rows.to_polars().to_dicts() == wanted
    frame = rows.to_pandas()
    for name in frame.columns:
        cells = [row[name] for row in wanted]
        missing = [cell is None for cell in cells]
        assert frame[name].isna().tolist() == missing
        known = [
            cell for cell in frame[name] if not np.ndim(cell) and cell == cell and cell is not None
        ]
        if not frame[name].map(np.ndim).any():
            assert known == [cell for cell in cells if cell is not None]


def test_arrow_pandas_and_polars_have_the_same_types():
    rows = traces.compare(*EXACT, [2])
    schema = rows.to_arrow().schema
    assert (schema.field("k").type, schema.field("gap").type) == (pa.int64(), pa.float64())
    assert schema.field("acceptance_exact").type == pa.string()
    assert str(rows.to_pandas().dtypes["k"]) == "int64"
    assert str(rows.to_polars().schema["acceptance"]) == "Float64"
    assert blocks.sweep(*MODELS, 2, 2, RecursiveRejection).to_polars()["branching"].to_list() == [
        [2, 1],
        [1, 2],
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_tables_without_rows_have_the_same_columns(kind):
    empty = Rows((), kind).to_arrow()
    assert empty.num_rows == 0
    filled = [
        rows.to_arrow() for rows in (make() for make in RESULTS.values()) if rows.kind is kind
    ]
    for table in filled:
        assert table.schema.equals(empty.schema)  # but for the metadata
        assert pa.concat_tables([table.replace_schema_metadata(), empty.replace_schema_metadata()])


def test_exact_and_float_results_have_one_schema():
    exact, floats = (traces.compare(*pair, [2]).to_arrow() for pair in (EXACT, FLOAT))
    assert exact.schema.equals(floats.schema, check_metadata=True)
    assert exact["gap_exact"].null_count == 0
    assert floats["gap_exact"].null_count == len(floats)


def test_no_digit_of_an_exact_number_is_lost():
    rows = traces.compare(*EXACT, [1, 3])
    table = rows.to_arrow()
    for name in ("acceptance", "optimum", "gap"):
        found = [Fraction(cell) for cell in table[f"{name}_exact"].to_pylist()]
        assert found == [getattr(row, name) for row in rows]


def test_an_estimate_has_its_interval():
    estimate = Estimate.between(0.25, 0.5)
    rows = Rows([blocks.TreeComparison("2x1", "a rule", estimate)])
    (cells,) = rows.to_arrow().to_pylist()
    assert cells["expected"] == 0.25
    assert (cells["expected_low"], cells["expected_high"]) == (0.25, 0.5)
    assert (cells["expected_confidence"], cells["expected_exact"]) == (1.0, None)
    assert (cells["nodes"], cells["efficiency"]) == (4, 1.25)


def test_what_is_not_known_is_null():
    (cells,) = Rows([STATISTIC]).to_arrow().to_pylist()
    assert (cells["acceptance_low"], cells["acceptance_high"]) == (None, None)
    assert (cells["gap_low"], cells["gap_high"]) == (0.0, 0.2)
    assert cells["gap_quantiles_0.95"] == 0.4
    assert Rows([MEANS]).to_arrow()["acceptance"].to_pylist() == [None]


def test_the_metadata_say_what_rows_are_of_and_in_which_unit(on_blocks):
    schema = logged.compare_on_blocks(on_blocks, [1]).to_arrow().schema
    assert schema.metadata[b"rows"] == b"BlockComparison"
    assert schema.metadata[b"source"] == b"2 logged blocks"
    assert b"otspec" in schema.metadata
    assert schema.field("expected").metadata == {b"unit": b"tokens"}
    exact = schema.field("expected_exact").metadata
    assert exact == {b"unit": b"tokens", b"part": b"exact"}


@pytest.mark.parametrize("make", [RESULTS["exact comparison"], RESULTS["sweep"]])
def test_rows_are_the_list_that_they_were(make):
    rows = make()
    plain_list = list(rows)
    assert isinstance(rows, list)
    assert rows == plain_list
    assert plain_list == rows
    assert repr(rows) == repr(plain_list)
    assert sorted(rows, key=repr) == sorted(plain_list, key=repr)
    assert rows[1] == plain_list[1]
    assert rows[1:] == plain_list[1:]
    assert rows[1:].to_arrow().equals(Rows(plain_list[1:], rows.kind).to_arrow())
    assert rows[:0].to_arrow().schema == rows.to_arrow().schema


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda rows: pickle.loads(pickle.dumps(rows))],  # noqa: S301
)
def test_copies_and_pickles_make_the_same_table(copied):
    rows = traces.compare(*EXACT, [2])
    again = copied(rows)
    assert again == rows
    assert again.to_arrow().equals(rows.to_arrow(), check_metadata=True)


def test_rows_of_several_classes_are_refused_in_one_line():
    mixed = [*traces.compare(*FLOAT, [2]), STATISTIC]
    with pytest.raises(ValueError, match=r"items\[17\] is Statistic.* must be a Comparison"):
        Rows(mixed).to_arrow()
    with pytest.raises(ValueError, match="there are no rows: pass kind"):
        Rows().to_arrow()
    with pytest.raises(ValueError, match="must be rows of one class"):
        Rows(5)
    with pytest.raises(ValueError, match=r"items\[0\] is 1: items must be rows of one class"):
        Rows([1])
    with pytest.raises(ValueError, match="kind is <class 'int'>: it must be a dataclass"):
        columns_of(int)


def test_findings_and_steps_of_decoding_are_rows_too():
    finding = conformance.Finding("alike", "law", "off", (1.0,), (0.5,))
    (cells,) = Rows([finding]).to_arrow().to_pylist()
    assert (cells["statistic"], cells["observed"], cells["expected"]) == ("law", [1.0], [0.5])
    (cells,) = Rows([decoding.Step((0, 1), 1, 2, 2)]).to_arrow().to_pylist()
    assert (cells["tokens"], cells["accepted"], cells["drafted"]) == ([0, 1], 1, 2)


class Pair(NamedTuple):
    """A named tuple, and what may be missing."""

    name: str
    share: float | None
    tried: bool
    words: tuple[str, ...]


class Measured(NamedTuple):
    """A row with a number that has an interval, and quantiles that may be missing."""

    rate: Ratio
    quantiles: Annotated[dict[float, float], (0.1, 0.9)]


def test_numbers_with_ends_and_missing_quantiles_have_their_columns():
    rows = Rows([Measured(Ratio(0.5, math.nan, 0.75), {0.9: 1.0})])
    assert rows.to_arrow().to_pylist() == [
        {"rate": 0.5, "rate_low": None, "rate_high": 0.75, "quantiles_0.1": None,
         "quantiles_0.9": 1.0}
    ]  # fmt: skip


def test_a_named_tuple_is_a_row():
    table = Rows([Pair("a", None, True, ("b", "c")), Pair("d", 0.5, False, ())]).to_arrow()
    assert table.column_names == ["name", "share", "tried", "words"]
    assert table["share"].to_pylist() == [None, 0.5]
    assert table["words"].to_pylist() == [["b", "c"], []]


@dataclass(frozen=True)
class Odd:
    """A row with a field for which there is no column."""

    name: str
    array: np.ndarray

    @property
    def both(self) -> object:
        return self.name, self.array


def test_a_field_without_a_column_is_refused():
    with pytest.raises(ValueError, match=r"no column can hold Odd.array"):
        columns_of(Odd)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_without_the_package_one_line_names_the_extra(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    rows = Rows((), Comparison)
    wanted = rf"to_{name} needs the package {name}: pip install 'otspec\[frames\]'"
    with pytest.raises(ValueError, match=wanted):
        getattr(rows, f"to_{name}")()
