"""``python -m docs.note``: compute what the note shows, and set it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from docs.note.compute import compute
from docs.note.setting import typeset
from figures.contract import Settings
from otspec._base.tables import say
from otspec.cli.main import run


@click.command()
@click.option("--out", default="build/note", show_default=True, help="Write files here.",
              type=click.Path(file_okay=False, path_type=Path))  # fmt: skip
@click.option("--quick", is_flag=True, help="Numbers of no use, to see that everything runs.")
def main(out: Path, quick: bool) -> None:
    """Compute the numbers and pictures of the note and its companion, and set both.

    Example: python -m docs.note --out build/note
    """
    out.mkdir(parents=True, exist_ok=True)
    compute(out, Settings(quick=quick))
    for name, pages in typeset(out).items():
        say(f"{out / name}, {pages} pages")


if __name__ == "__main__":
    sys.exit(run(main, None, "python -m docs.note"))
