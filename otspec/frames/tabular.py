"""What can be had as a table of Arrow, pandas or polars."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from otspec._base.extras import needed

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
            pandas is not installed.
        """
        needed("pandas", "to_pandas", "frames")
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return a data frame of polars; where nothing is known stands null.

        Raises
        ------
        ValueError
            polars is not installed.
        """
        polars = needed("polars", "to_polars", "frames")
        frame: pl.DataFrame = polars.from_arrow(self.to_arrow())
        return frame
