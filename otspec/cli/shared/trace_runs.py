"""What commands on logged traces share: sources, workers, and what is said of failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

import click

from otspec._base.tables import listed, say
from otspec.cli.shared.arguments import Choice
from otspec.cli.shared.options import Command
from otspec.cli.shared.progress import progress_of
from otspec.cli.shared.signals import Terminated
from otspec.datasets.smollm2 import bundled_file
from otspec.drafts import LAWS
from otspec.files import trace_formats
from otspec.traces.readers import KINDS, Source, find_source
from otspec.traces.runs import Failure, Run

FILES = listed([name for name, form in trace_formats().items() if form.named], "or")
PAIRS = listed([name for name, form in trace_formats().items() if not form.named], "or")
"""Formats of sources of one file, and of two."""
_MOST = 20
"""Failures that are named."""


def source_options(command: Command) -> Command:
    """Add the options that say how sources are read, and by how many processes."""
    decorators = (
        click.option(
            "--kind", type=Choice(KINDS),
            help=f"What the numbers are. [default: by the names of the arrays; {PAIRS}: logits]",
        ),
        click.option("--normalize", is_flag=True, help="Scale probabilities to sum 1."),
        click.option(
            "--workers", type=click.IntRange(1), metavar="N",
            help="Processes. [default: one per core]",
        ),
    )  # fmt: skip
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


def laws_option(*default: str) -> Callable[[Command], Command]:
    """Return the option --drafts for several laws."""
    return click.option(
        "--drafts", "laws", type=Choice(tuple(LAWS)), multiple=True, default=default,
        show_default=True, help="Compare rules for these drafts; may be given several times.",
    )  # fmt: skip


@contextmanager
def sources_of(
    names: Sequence[str],
    kind: str | None,
    *,
    tokens: bool = False,
    bundled: Callable[[], AbstractContextManager[Path]] = bundled_file,
    called: str = "bundled SmolLM2 trace",
) -> Iterator[list[Source]]:
    """Find the sources that are named, or those of a bundled file, while the block lasts."""
    if names:
        yield [find_source(name, kind, tokens=tokens) for name in names]
        return
    with bundled() as path:
        yield [replace(find_source(str(path), tokens=tokens), name=called)]


def compute(run: Run, out: Path | None, workers: int | None, scheduler: str | None) -> None:
    """Compute a run; interrupted, say how to go on if its folder is kept."""
    try:
        with progress_of(run):
            run.compute(workers=workers, scheduler=scheduler)
    except (KeyboardInterrupt, Terminated) as error:
        if out is not None:
            say(
                f"{len(run.finished()):,} of {len(run.chunks):,} chunks are finished in {out}: "
                "the same command with --resume goes on",
                err=True,
            )
        if isinstance(error, Terminated):
            raise
        raise click.Abort from None


def all_failed(failures: Sequence[Failure]) -> str:
    """Return what is said where no chunk has results."""
    if len(failures) == 1:
        return _reason(failures[0])
    return f"all {len(failures):,} chunks failed; the first: {_reason(failures[0])}"


def no_drafts(laws: Sequence[str], ks: Sequence[int]) -> str:
    """Return what is said where no law has such numbers of drafts."""
    return f"there are no {listed(laws, 'or')} drafts with k = {listed(list(map(str, ks)), 'or')}"


def complain(failures: Sequence[Failure]) -> None:
    """Say which chunks have no results, and why."""
    for failure in failures[:_MOST]:
        say(f"otspec: skipped {failure.chunk}: {_reason(failure)}", err=True)
    if len(failures) > _MOST:
        more = len(failures) - _MOST
        say(f"otspec: skipped {more:,} chunks more: see --json or --out", err=True)


def _reason(failure: Failure) -> str:
    """Return why a chunk failed; the library's fix in the words of the command line."""
    return failure.reason.replace("pass normalize=True", "add --normalize")
