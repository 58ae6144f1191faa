"""What the commands on the page of messages say, written anew: ``python docs/messages.py``.

They run in a folder of their own, where the files are that the page speaks of.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from otspec.cli.main import main
from otspec.writing import write_text

PAGE = Path(__file__).parent / "messages.md"
BLOCK = re.compile(r"```text\n\$ (otspec .*)\n(otspec: .*)\n```")
KERNEL = """
def kernel(x):
    return [0.25, 0.75]


def other(draft, target):
    return kernel
"""


def write_files(folder: Path) -> None:
    """Write the files that the commands name."""
    half = np.full((2, 3, 4), 0.25)
    np.savez(folder / "pair.npz", draft=half[0, 0], target=half[0, 0], rows=half)
    np.savez(folder / "logged.npz", draft_logits=half)
    np.savez(folder / "trace.npz", draft_probabilities=half * 1.1, target_probabilities=half)
    (folder / "numbers.csv").write_text("draft,target\n0.5,0.5\n0.5\n", encoding="utf-8")
    (folder / "my_rules.py").write_text(KERNEL, encoding="utf-8")


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of the page, and what each is said to say."""
    yield from BLOCK.findall(text)


def said(command: str) -> str:
    """Return the line that a command says on standard error, run in the folder of the files."""
    stream = io.StringIO()
    with contextlib.redirect_stderr(stream), contextlib.redirect_stdout(io.StringIO()):
        status = main(shlex.split(command)[1:])
    if status != 2:
        raise ValueError(f"{command} ends with status {status}: the page has what is refused")
    return stream.getvalue().removesuffix("\n")


def written_anew(text: str) -> str:
    """Return the page with what its commands say now."""
    for command, line in commands(text):
        text = text.replace(f"$ {command}\n{line}\n", f"$ {command}\n{said(command)}\n")
    return text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as here:
        os.chdir(here)
        sys.path.insert(0, here)
        write_files(Path(here))
        write_text(PAGE, written_anew(PAGE.read_text(encoding="utf-8")))
