"""Runs leave an empty file for a picture, which takes longer to draw than all else they do here.

Pictures of runs are drawn in tests/plots, and by the runs in processes of their own.
The trace that runs in processes of their own read is the same for all of them.
"""

import json
from pathlib import Path

import pytest
import trace_files as files
from run_processes import CHUNKS, OPTIONS

from otspec.cli.main import main


def _draw_nothing(monkeypatch):
    def leave(_rows, path, *, title):
        Path(path).touch()

    monkeypatch.setattr("otspec.reports.page.save_acceptance_chart", leave)


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch):
    _draw_nothing(monkeypatch)


@pytest.fixture(scope="session")
def sources(tmp_path_factory):
    """The same trace as it is read in place, and as it has to be unpacked first.

    Its chunks take long enough for a run to be caught in the middle; texts are not whole chunks.
    """
    folder = tmp_path_factory.mktemp("source")
    arrays = files.random_pair((CHUNKS * 2 // 5, 5, 4000))
    return {kind: str(files.SAVERS[kind](folder, arrays)) for kind in ("npz", "packed npz")}


@pytest.fixture(scope="session")
def source(sources):
    return sources["npz"]


def _results(out):
    parts = {path.name: path.read_bytes() for path in (out / "positions").iterdir()}
    return parts, json.loads((out / "summary.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def results():
    """Everything that a run found: the parts, byte for byte, and the summary."""
    return _results


@pytest.fixture(scope="session")
def expected(sources, tmp_path_factory):
    """What a run in one process finds in the source."""
    out = tmp_path_factory.mktemp("expected")
    with pytest.MonkeyPatch.context() as patched:
        _draw_nothing(patched)
        arguments = ["trace", sources["npz"], *OPTIONS, "--workers", "1", "--out", str(out)]
        assert main(arguments) == 0
    found = _results(out)
    assert len(found[0]) == CHUNKS
    return found
