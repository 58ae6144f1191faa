"""``--free``: the tokens in the linear programs of importance sampling, in both commands."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import run

import otspec


@pytest.mark.parametrize("free", [0, 1, 2])
def test_free_tokens_are_those_of_importance_sampling(capsys, tmp_path, free):
    options = ("-k", "2,3", "--drafts", "iid", "--free", free, "--json")
    rows = json.loads(run(capsys, "compare", "0.4,0.3,0.2,0.1", "0.1,0.2,0.3,0.4", *options))
    path = tmp_path / "one.npz"
    pair = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
    np.savez(path, draft_probabilities=pair[:1], target_probabilities=pair[1:])
    summary = json.loads(run(capsys, "trace", path, *options))
    assert summary["free"] == free
    means = {(row["rule"], row["k"]): row["acceptance"] for row in summary["means"]}
    for row in rows:
        assert means[row["rule"], row["k"]] == pytest.approx(row["acceptance"], abs=1e-12)
        if row["rule"] == "importance sampling":
            made = otspec.rules.ImportanceSampling(*pair, row["k"], free=free)
            assert row["acceptance"] == made.acceptance()
            assert row["acceptance"] < row["optimum"]
