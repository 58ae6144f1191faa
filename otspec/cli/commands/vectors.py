"""``otspec vectors``: reference vectors for engines in other languages."""

import json
from pathlib import Path
from typing import Any

import click

from otspec._base.tables import say
from otspec.cli.shared import arguments, options, output


@click.command()
@click.option(
    "--kind", "kinds", type=arguments.Choice(("tokens", "block", "tree")), multiple=True,
    help="What is verified. May be given again.  [default: all]",
)  # fmt: skip
@options.detect_option
@options.false_alarm_option
@click.option(
    "--rounding", type=float, metavar="ERROR", default=1e-6,
    help="Errors of a probability that count as rounding.",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE.json",
    help="Where to write them, instead of to standard output.",
)  # fmt: skip
def vectors(kinds: tuple[str, ...], out: Path | None, **test: Any) -> None:
    """Write reference vectors for engines in other languages.

    The vectors are inputs with the exact distribution of the output of published rules, outputs for
    given uniform numbers, and counts with the evidence of a sequential test. The page
    docs/conformance_vectors.md explains each entry.

    Example: otspec vectors --kind block --out vectors.json
    """
    from otspec.conformance.vectors.answers import SHAPES
    from otspec.conformance.vectors.vectors import reference_vectors, write_vectors

    if out is not None:
        output.check_place(out)
    document = reference_vectors(kinds or tuple(SHAPES), **test)
    if out is None:
        say(json.dumps(document, separators=(",", ":")))
        return
    write_vectors(out, document)
    counted = {
        "laws": sum(len(group["calls"]) for group in document["groups"]),
        "answers to uniform numbers": len(document["uniforms"]),
        "counts": len(document["evidence"]),
    }
    say(f"{out}: {', '.join(f'{count} {what}' for what, count in counted.items())}")
