"""What needs a CUDA device, in one run: tests of the batch functions, then the time of each rule.

``make gpu`` in a checkout. Without such a device it says so, and does nothing.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import click

from otspec._base.tables import say
from otspec.cli.main import run

HERE = Path(__file__).parent
TIMED = ["--backend", "torch", "--device", "cuda", "--graph"]


def why_not() -> str | None:
    """Return why there is nothing to run; None if there is a device."""
    if find_spec("torch") is None:
        return "PyTorch is not installed"
    import torch

    if torch.cuda.is_available():
        return None
    return f"PyTorch {torch.__version__} finds no CUDA device"


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True)
def main(out: Path) -> None:
    """Run the tests, then write gpu.md with what each rule takes, from both forms."""
    reason = why_not()
    if reason is not None:
        say(f"nothing was run: {reason}")
        return
    tests = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        str(HERE.parent / "batch"),
        "-k",
        "cuda or cupy or triton",
    ]
    subprocess.run(tests, check=True)
    out.mkdir(parents=True, exist_ok=True)
    with (out / "gpu.md").open("w", encoding="utf-8") as page:
        forms = product(("float32", "bfloat16"), ([], ["--logits"]), ([], ["--compile"]))
        for dtype, source, how in forms:
            script = [sys.executable, str(HERE / "batch_rules.py"), *TIMED, "--dtype", dtype]
            script += [*source, *how]
            found = subprocess.run(script, check=True, capture_output=True, encoding="utf-8")
            page.write(f"```text\n{found.stdout}```\n\n")
    say(f"{out / 'gpu.md'} has the times")


if __name__ == "__main__":
    sys.exit(run(main, None, "python tests/benchmarks/gpu.py"))
