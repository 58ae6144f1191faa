"""Trees of drafts that command lines name: as text, or in a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import complaint, run

MODELS = ("--draft", "1/2,1/2", "--target", "1/4,3/4")


@pytest.mark.parametrize(
    ("content", "tree"),
    [
        ("[[0],[0,0],[1]]", "[[]][]"),
        ("[-1,-1,0]", "[[]][]"),
        ('{"parents": [-1,-1,0,1]}', "2x1"),
        ('{"paths": [[0],[0,0]], "top": true}', "top1xtop1"),
    ],
)
def test_trees_are_read_from_files(capsys, tmp_path, monkeypatch, content, tree):
    monkeypatch.chdir(tmp_path)
    Path("tree.json").write_text(content, encoding="utf-8")
    named = run(capsys, "blocks", *MODELS, "-L", "1", "--tree", "tree.json")
    assert named == run(capsys, "blocks", *MODELS, "-L", "1", "--tree", tree)
    assert f"\n{tree} " in named


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"tree": [0]}', "tree.json: it holds tree: write paths such as [[0],[0,0],[1]], or"),
        ('{"parents": [-1], "paths": [[0]]}', "tree.json: it holds parents, paths: write"),
        ("[[0,0]]", "tree.json: it holds the path [0, 0], but not [0]"),
        ("[0]", "tree.json: parents[0] is 0: a parent comes before its child"),
        ("[]", "tree.json: it holds []: write paths"),
        ('{"parents": [-1], "top": [0]}', "tree.json: top is ['0']: write true"),
    ],
)
def test_files_that_hold_no_tree_are_refused_in_one_line(
    capsys, tmp_path, monkeypatch, content, says
):
    monkeypatch.chdir(tmp_path)
    Path("tree.json").write_text(content, encoding="utf-8")
    assert says in complaint(capsys, "blocks", *MODELS, "--tree", "tree.json")
