"""Packages that are imported where they are used, or not at all."""

import subprocess
import sys

import pytest

ARROW_FIRST = """
import sys

import pyarrow as pa
from otspec.extras import let_arrow_do_without_pandas

let_arrow_do_without_pandas()
table = pa.table({"kept": pa.array([1.0, 2.0])})
assert "pandas" not in sys.modules
assert table.to_pandas()["kept"].sum() == 3
import pandas

assert pa.array(pandas.Series([1, 2])).to_pylist() == [1, 2]
"""


def test_arrow_does_without_pandas_until_it_is_asked_for():
    pytest.importorskip("pandas")
    done = subprocess.run(
        [sys.executable, "-c", ARROW_FIRST], capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
