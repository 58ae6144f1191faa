"""``python -m figures``: compute and draw the book."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from figures.contract import Settings
from figures.registry import ITEMS, named_item
from figures.writing import write
from otspec._base.tables import print_table, say
from otspec.cli.main import run
from otspec.plots.canvas import PAGE, in_style

FORMATS = ("pdf", "png", "svg")


@click.command()
@click.argument("names", nargs=-1, metavar="[ITEM]...")
@click.option("--out", default="build/figures", show_default=True, help="Write files here.",
              type=click.Path(file_okay=False, path_type=Path))  # fmt: skip
@click.option("--format", "formats", default="png", show_default=True,
              help="Formats of pictures, separated by commas: pdf, png, svg.")  # fmt: skip
@click.option("--quick", is_flag=True, help="Fewer points and samples.")
@click.option("--page", is_flag=True, help="Pictures for pages that are bright or dark: no ground, "
              "gray ink. By default black on white, as in print.")  # fmt: skip
@click.option("--trace", type=click.Path(dir_okay=False), help="A trace file for the "
              "language-model items; by default the bundled trace.")  # fmt: skip
@click.option("--list", "listing", is_flag=True, help="Name the items and compute none.")
def main(
    names: tuple[str, ...],
    out: Path,
    formats: str,
    quick: bool,
    page: bool,
    trace: str | None,
    listing: bool,
) -> None:
    """Compute figures and tables: all, or those named.

    Example: python -m figures spectr_fig4 canonical_fig2 --format pdf --out pictures

    Each item gives the picture (or a table in Markdown), its numbers as CSV, and a line in
    provenance.jsonl.
    """
    chosen = [named_item(name) for name in names or ITEMS]
    endings = [ending.strip() for ending in formats.split(",")]
    for ending in endings:
        if ending not in FORMATS:
            raise ValueError(f"--format holds {ending!r}: use {', '.join(FORMATS)}")
    if listing:
        print_table(
            ("item", "source", "content"),
            [(each.name, each.source, each.title) for each in chosen],
            text=3,
        )
        return
    out.mkdir(parents=True, exist_ok=True)
    settings = Settings(quick, trace)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TimeElapsedColumn())  # fmt: skip
    console = Console(stderr=True)
    ink = in_style(PAGE) if page else nullcontext()
    with ink, Progress(*columns, console=console, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("figures", total=len(chosen))
        for each in chosen:
            progress.update(task, description=each.name)
            for file in write(each, settings, out, endings):
                say(file)
            progress.advance(task)


if __name__ == "__main__":
    sys.exit(run(main, None, "python -m figures"))
