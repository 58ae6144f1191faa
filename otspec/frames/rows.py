"""Lists of rows of one class, their files, and tables of Arrow, pandas or polars."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from itertools import chain, islice
from os import PathLike
from typing import IO, TYPE_CHECKING, Any, SupportsIndex, TypeVar, overload

from otspec._base import as_instance, as_path, as_steps, display, in_one_step, needed, shown
from otspec.frames.columns import Column, columns_of, has_fields
from otspec.version import __version__

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Tabular(ABC):
    """A result that is a table; whoever has :meth:`to_arrow` has the others."""

    __slots__ = ()

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return the table of Arrow, whose metadata say what it is."""

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame of pandas; where nothing is known stands what pandas has for that.

        Raises
        ------
        ValueError
            Pandas is not installed.
        """
        needed("pandas", "to_pandas", "frames")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Return a data frame of polars; where nothing is known stands null.

        Raises
        ------
        ValueError
            Polars is not installed.
        """
        polars = needed("polars", "to_polars", "frames")
        return polars.from_arrow(self.to_arrow())


Kind = TypeVar("Kind")
_WANTED = "rows of one class, a dataclass or a named tuple"


class Rows(list[Kind], Tabular):
    """A list of rows of one class, with the tables that it makes.

    It compares and prints as the list that it is. A slice is one again, a sum is a plain list:
    ``Rows(some + others)``.

    Parameters
    ----------
    items : iterable
        Instances of a dataclass or of a named tuple.
    kind : type, optional
        Their class; by default that of the first. It decides the columns, see
        :func:`otspec.frames.columns_of`.
    source : str
        What the rows are of, for the metadata of tables.

    Examples
    --------
    >>> from otspec.traces import compare
    >>> rows = compare(["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"], ks=[2], laws=["iid"])
    >>> table = Rows(row for row in rows if row.gap == 0).to_arrow()
    >>> table["rule"].to_pylist(), table["acceptance_exact"].to_pylist()
    (['optimum', 'importance sampling', 'pooled selection'], ['17/20', '17/20', '17/20'])
    """

    kind: type[Kind] | None
    source: str

    def __init__(
        self, items: Iterable[Kind] = (), kind: type[Kind] | None = None, source: str = ""
    ) -> None:
        steps = iter(as_steps(items, "items", _WANTED))
        first = list(islice(steps, 1))
        if kind is None and first:
            kind = type(first[0])
            if not has_fields(kind):
                raise ValueError(f"items[0] is {shown(first[0])}: items must be {_WANTED}")
        super().__init__(chain(first, steps))
        self.kind = kind
        self.source = source

    @overload
    def __getitem__(self, index: SupportsIndex) -> Kind: ...
    @overload
    def __getitem__(self, index: slice) -> Rows[Kind]: ...
    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Rows(found, self.kind, self.source) if isinstance(index, slice) else found

    def _repr_html_(self) -> str:
        return display().rows_html(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        display().rows_pretty(self, printer, cycle)

    def to_arrow(self) -> pa.Table:
        """Return the table of Arrow: a row for each, the same columns also if there is none.

        Result: the metadata of the table say what rows are and what of, those of a column its unit.

        Raises
        ------
        ValueError
            Rows of different classes, or no row and no class.
        """
        pa = needed("pyarrow", "a table", "runs")

        kind = self.kind
        if kind is None:
            raise ValueError("there are no rows: pass kind, the class of rows that would be there")
        columns = columns_of(kind)
        for index, row in enumerate(self):
            as_instance(row, f"items[{index}]", kind, f"a {kind.__name__}, as the others are")
        arrays = [column.cells(self) for column in columns]
        schema = pa.schema([_field(column) for column in columns], _metadata(kind, self.source))
        return pa.table(dict(zip(schema.names, arrays, strict=True)), schema)


def _field(column: Column) -> pa.Field:
    pa = needed("pyarrow", "a table", "runs")
    of_type = pa.type_for_alias(column.item_type or column.type)
    said = {name: getattr(column, name) for name in ("unit", "part") if getattr(column, name)}
    return pa.field(column.name, pa.list_(of_type) if column.item_type else of_type, metadata=said)


def _metadata(kind: type, source: str) -> dict[str, str]:
    about = (kind.__doc__ or "").strip().partition("\n")[0]
    said = {"otspec": __version__, "rows": kind.__name__, "about": about, "source": source}
    return {name: text for name, text in said.items() if text}


def write_table(table: pa.Table, path: str | PathLike[str]) -> None:
    """Write a table into a file, in one step.

    Parameters
    ----------
    table : pyarrow.Table
    path : path
        Ends with ``.parquet``, ``.arrow`` (Arrow's file format, which Feather is) or ``.csv``.
        CSV has no lists, whose items are written with blanks between them.

    Raises
    ------
    ValueError
        Another ending, or something else than a table.
    OSError
        The file cannot be written.
    """
    pa = needed("pyarrow", "a table", "runs")
    as_instance(table, "table", pa.Table, "a table of Arrow, such as rows.to_arrow()")
    to = as_path(path)
    write = WRITERS[check_ending(to)]
    with in_one_step(to) as stream:
        write(table, stream)


def check_ending(path: str | PathLike[str]) -> str:
    """Return the ending of a file of a table.

    Raises
    ------
    ValueError
        Another one.
    """
    to = as_path(path)
    if to.suffix not in WRITERS:
        raise ValueError(f"{to} is to be a table: end its name with {' or '.join(WRITERS)}")
    return to.suffix


def _parquet(table: pa.Table, stream: IO[bytes]) -> None:
    needed("pyarrow.parquet", "a table", "runs").write_table(table, stream)


def _arrow(table: pa.Table, stream: IO[bytes]) -> None:
    with needed("pyarrow.ipc", "a table", "runs").new_file(stream, table.schema) as writer:
        writer.write_table(table)


def _csv(table: pa.Table, stream: IO[bytes]) -> None:
    pa = needed("pyarrow", "a table", "runs")
    for index, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            cells = [None if items is None else " ".join(map(str, items))
                     for items in table[index].to_pylist()]  # fmt: skip
            table = table.set_column(index, field.name, pa.array(cells, pa.string()))
    needed("pyarrow.csv", "a table", "runs").write_csv(table, stream)


WRITERS: dict[str, Callable[[pa.Table, IO[bytes]], None]] = {  # by the ending of the file
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".csv": _csv,
}
