"""``otspec vectors``: the document to a file or to standard output."""

import json
from pathlib import Path

from command_line import complaint, run

from otspec.conformance.vectors.vectors import reference_vectors

OPTIONS = ("--kind", "block", "--detect", "0.05")


def test_the_vectors_are_printed_or_written(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = run(capsys, "vectors", *OPTIONS)
    assert json.loads(printed) == reference_vectors(["block"], detect=0.05)
    said = run(capsys, "vectors", *OPTIONS, "--out", "vectors.json")
    assert Path("vectors.json").read_text("ascii") == printed
    assert said.startswith("vectors.json: ")
    assert "laws" in said


def test_kinds_may_be_several(capsys):
    options = ("--kind", "tree", "--kind", "block", "--rounding", "1e-3", "--detect", "0.1")
    document = json.loads(run(capsys, "vectors", *options))
    assert {group["kind"] for group in document["groups"]} == {"tree", "block"}


def test_bad_input_is_one_line(capsys, tmp_path):
    assert "--kind" in complaint(capsys, "vectors", "--kind", "text")
    assert "detect is 2" in complaint(capsys, "vectors", "--detect", "2")
    assert "directory" in complaint(capsys, "vectors", "--out", str(tmp_path))
