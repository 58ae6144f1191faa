"""The script that measures the batch rules, as the documentation has it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def bench(*arguments):
    return subprocess.run(
        [sys.executable, "tests/benchmarks/batch_rules.py", *arguments],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_the_bench_prints_every_rule():
    done = bench("--vocabulary", "600", "--batch", "2", "-k", "2", "--repeat", "2")
    assert done.returncode == 0, done.stderr
    for name in ("one pass", "softmax", "copy", "pooled_selection", "spechub"):
        assert name in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--backend", "tensorflow"], "'tensorflow' is not one of 'numpy'"),
        (["--device", "cuda"], "--device cuda cannot be used by numpy"),
        (["--batch", "0"], "0 is not in the range x>=1"),
    ],
)
def test_what_the_bench_cannot_do_is_one_line(arguments, says):
    done = bench(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
