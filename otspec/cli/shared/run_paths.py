"""Options of commands on logs whose runs are kept in a folder, resumed, or done by a cluster."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click

from otspec._base import needed, write_text
from otspec._base.tables import listed, say
from otspec.cli.shared import output, progress
from otspec.cli.shared.arguments import Choice
from otspec.cli.shared.options import Command, added, json_option, table_option
from otspec.cli.shared.output import TableMaker
from otspec.cli.shared.progress import Terminated
from otspec.datasets.smollm2 import bundled_file
from otspec.drafts import LAWS
from otspec.files import trace_formats
from otspec.frames import check_ending
from otspec.reports.findings import Origin, origin_of
from otspec.traces.readers import KINDS, Source, find_source
from otspec.traces.runs import Failure, Run, Work, open_run, temporary_folder

FILES = listed([name for name, form in trace_formats().items() if form.named], "or")
PAIRS = listed([name for name, form in trace_formats().items() if not form.named], "or")
"""Formats of sources of one file, and of two."""
_MOST = 20  # most failures that are named


def laws_option(*default: str) -> Callable[[Command], Command]:
    """Return the option --drafts for several laws."""
    return click.option(
        "--drafts", "laws", type=Choice(tuple(LAWS)), multiple=True, default=default,
        help="Compare rules for these drafts; may be given several times.",
    )  # fmt: skip


def compute(run: Run, out: Path | None, workers: int | None, scheduler: str | None) -> None:
    """Compute a run; interrupted, say how to go on if its folder is kept."""
    try:
        with progress.progress_of(run):
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


def _reason(failure: Failure) -> str:
    """Return why a chunk failed; the library's fix in the words of the command line."""
    return failure.reason.replace("pass normalize=True", "add --normalize")


_PAGES = (".html", ".htm")


class RunPlace(NamedTuple):
    """How sources are read, where a run is done, and what stays of it."""

    kind: str | None
    workers: int | None
    out: Path | None
    resume: bool
    overwrite: bool
    chunk: int | None
    scheduler: str | None
    table: Path | None
    as_json: bool
    pictures: bool
    report: Path | None = None

    def check(self) -> None:
        """Refuse what would fail after the computation only."""
        if self.resume and self.overwrite:
            raise ValueError(
                "--resume and --overwrite exclude each other: finish a run or replace it"
            )
        for flag in ("resume", "overwrite", "scheduler"):
            if getattr(self, flag) and self.out is None:
                raise ValueError(f"--{flag} needs --out: name the folder of the run")
        if self.scheduler is not None:
            needed("distributed", "--scheduler", "cluster")
        if self.out is not None and self.pictures:
            output.check_picture(".png")
        if self.report is not None:
            if self.report.suffix not in _PAGES:
                raise ValueError(f"--report {self.report} is to be HTML: end its name with .html")
            output.check_picture(".svg")
        if self.table is not None:
            check_ending(self.table)
        for path in self._files():
            if self.out is None or path.parent.exists():
                output.check_place(path)  # else the run may make the folder

    def _files(self) -> list[Path]:
        return [path for path in (self.report, self.table) if path is not None]

    @contextmanager
    def sources(
        self,
        names: Sequence[str],
        bundled: Callable[[], AbstractContextManager[Path]] = bundled_file,
        called: str = "bundled SmolLM2 trace",
        *,
        tokens: bool = False,
    ) -> Iterator[list[Source]]:
        """Find the sources that are named, or those of a bundled file, while the block lasts."""
        with progress.raise_on_signals():
            if names:
                yield [find_source(name, self.kind, tokens=tokens) for name in names]
                return
            with bundled() as path:
                yield [replace(find_source(str(path), tokens=tokens), name=called)]

    @contextmanager
    def run(self, sources: Sequence[Source], work: Work) -> Iterator[Run]:
        """Do a run, and keep it open: parts that another one left damaged are named."""
        with ExitStack() as stack:
            folder = self.out or stack.enter_context(temporary_folder())
            opened = open_run(
                folder, sources, work, chunk=self.chunk, resume=self.resume,
                overwrite=self.overwrite,
            )  # fmt: skip
            run = stack.enter_context(opened)
            for path in self._files():
                output.check_place(path)
            for chunk, reason in run.removed:
                say(f"otspec: computing {chunk} again: {reason}", err=True)
            compute(run, self.out, self.workers, self.scheduler)
            yield run

    def numbers(self, name: str, document: Any) -> list[str]:
        """Write what was found into the folder of the run, if it is kept."""
        if self.out is None:
            return []
        write_text(self.out / name, json.dumps(document, indent=2) + "\n")
        return [f"numbers: {self.out / 'positions'}, {self.out / name}"]

    def written(
        self,
        charts: Callable[[Path], Iterable[Path]],
        report: Callable[[Path, Origin], object],
        sources: Sequence[Source],
    ) -> tuple[list[str], bool]:
        """Draw the pictures and write the report; return where they are, and whether all are."""
        lines: list[str] = []
        complete = True
        if (out := self.out) is not None:
            complete = output.was_written(
                "the picture", lambda: lines.extend(f"picture: {chart}" for chart in charts(out))
            )
        if (page := self.report) is not None:
            done = output.was_written(
                "the report", lambda: report(page, origin_of(output.command_line(), sources))
            )
            lines += [f"report: {page}"] if done else []
            complete = complete and done
        return lines, complete

    def end(self, failures: Sequence[Failure], make: TableMaker, *, complete: bool = True) -> int:
        """Write the table, say which chunks have no results and why, and return the status."""
        complete = output.table_written(self.table, make, silent=self.as_json) and complete
        for failure in failures[:_MOST]:
            say(f"otspec: skipped {failure.chunk}: {_reason(failure)}", err=True)
        if len(failures) > _MOST:
            more = len(failures) - _MOST
            say(f"otspec: skipped {more:,} chunks more: see --json or --out", err=True)
        return 0 if complete and not failures else 1


def run_options(contents: str, *, pictures: bool = True) -> Callable[[Command], Any]:
    """Add the options of sources and of a run, which the command gets as a :class:`RunPlace`."""
    # contents: what is written into the folder of a run. pictures: whether pictures are, so that
    # there is a report, too.
    report = click.option(
        "--report", type=click.Path(path_type=Path, dir_okay=False),
        help="Write a report, as HTML.",
    )  # fmt: skip
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
        click.option(
            "--out", type=click.Path(path_type=Path, file_okay=False),
            help=f"Write {contents} here.",
        ),
        click.option("--resume", is_flag=True, help="Finish the run in --out."),
        click.option("--overwrite", is_flag=True, help="Replace the run in --out."),
        *([report] if pictures else []),
        table_option,
        click.option(
            "--chunk", type=click.IntRange(1), metavar="N",
            help="Positions that are read and written at a time. [default: 32 MB]",
        ),
        click.option(
            "--scheduler", metavar="ADDRESS",
            help="Use the workers of a Dask cluster: tcp://host:8786.",
        ),
        json_option,
    )  # fmt: skip

    def with_run(command: Command) -> Any:
        @wraps(command)
        def with_place(**given: Any) -> Any:
            own = {name: given.pop(name) for name in RunPlace._fields if name in given}
            place = RunPlace(**own, pictures=pictures)
            place.check()
            return command(place=place, **given)

        return added(with_place, decorators)

    return with_run
