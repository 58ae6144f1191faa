"""``python -m otspec.cones``: measure how far the exact methods reach."""

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from otspec._base.tables import forgive_encodings, print_table, say
from otspec.cones.condition import require
from otspec.cones.reach import LADDERS, Attempt, reach


@click.command()
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="Time limit of one attempt, by the clock.",
)
def main(seconds: float) -> None:
    """Measure how far cones, elimination and polytopes reach in n and k."""
    # Each method climbs from small to large n and k, every attempt in a process of its own, until
    # one takes too long.
    try:
        require()
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    attempts = []
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=sum(len(sizes) for _, sizes in LADDERS))
        for attempt in reach(seconds):
            attempts.append(attempt)
            shown = f"{attempt.method}, n = {attempt.n}, k = {attempt.k}: {attempt.seconds:.1f} s"
            progress.update(task, advance=1, description=shown)
    _print(attempts)


def _print(attempts: list[Attempt]) -> None:
    """Print the attempts, and what the columns mean."""
    columns = ("method", "n", "k", "size", "found", "cuts", "proved", "seconds")
    rows = [(each.method, str(each.n), str(each.k), *_cells(each)) for each in attempts]
    print_table(columns, rows)
    say()
    say("size: draft rows of a cone, most inequalities of an elimination, vertices")
    say("seconds: processor time")
    say("found: rays of a cone, conditions left by an elimination, facets")


def _cells(attempt: Attempt) -> tuple[str, ...]:
    if attempt.reached is None:
        return "", "", "", "", f"> {attempt.seconds:g}"
    numbers = (attempt.reached.size, attempt.reached.found, attempt.reached.cuts)
    proved = "yes" if attempt.reached.proved else "no"
    return (*(f"{number:,}" for number in numbers), proved, f"{attempt.seconds:.1f}")


if __name__ == "__main__":
    forgive_encodings()
    main(prog_name="python -m otspec.cones")
