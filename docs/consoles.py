"""What the commands on the pages print, written anew: ``python docs/consoles.py [PAGE ...]``.

They run in a folder of their own, so that nothing that they write is kept.
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

from otspec.cli.main import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of the console blocks of a page, and what is printed below each."""
    for block in BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def written_anew(text: str) -> str:
    """Return a page with what its commands print now."""
    for command, output in dict.fromkeys(commands(text)):
        text = text.replace(f"$ {command}\n{output}", f"$ {command}\n{printed(command)}")
    return text


def printed(command: str) -> str:
    """Return what a command prints."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        main(shlex.split(command)[1:])
    return stream.getvalue()


if __name__ == "__main__":
    pages = [Path(name).resolve() for name in sys.argv[1:]] or PAGES
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for page in pages:
            old = page.read_text(encoding="utf-8")
            new = written_anew(old)
            if new != old:
                page.write_text(new, encoding="utf-8")
                sys.stdout.write(f"{page.relative_to(ROOT)}\n")
