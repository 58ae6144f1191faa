"""The script that measures the batch rules, as the documentation has it."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from otspec.cli.main import run

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "batch_rules.py"


@pytest.fixture(scope="module")
def main():
    """The command of the script."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPT.parent)
        return runpy.run_path(str(SCRIPT))["main"]


@pytest.mark.parametrize("form", ["--compare", "--logits"])
def test_the_script_prints_every_rule(form):
    few = [form, "--vocabulary", "600", "--batch", "2", "-k", "2", "--repeat", "2"]
    done = subprocess.run(
        [sys.executable, SCRIPT, *few], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    for name in ("one pass", "softmax", "copy", "pooled_selection", "no kernels: numpy has none"):
        assert name in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--backend", "tensorflow"], "'tensorflow' is not one of 'numpy'"),
        (["--device", "cuda"], "--device cuda cannot be used by numpy"),
        (["--dtype", "bfloat16"], "--dtype bfloat16 is none of numpy's: choose float32"),
        (["--graph"], "--graph is for --backend torch --device cuda"),
        (["--compile"], "--compile is for --backend torch, not numpy"),
        (["--batch", "0"], "0 is not in the range x>=1"),
    ],
)
def test_what_the_bench_cannot_do_is_one_line(main, arguments, says, capsys):
    assert run(main, arguments, SCRIPT.name) == 2
    printed = capsys.readouterr().err
    assert says in printed
    assert printed.count("\n") == 1


def test_what_needs_a_device_says_that_there_is_none(monkeypatch, tmp_path, capsys):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    names = runpy.run_path(str(SCRIPT.with_name("gpu.py")))
    monkeypatch.setitem(names["main"].callback.__globals__, "why_not", lambda: "no device")
    assert run(names["main"], ["--out", str(tmp_path / "gpu")], "gpu.py") == 0
    assert capsys.readouterr().out == "nothing was run: no device\n"
    assert not (tmp_path / "gpu").exists()
