"""What a run found, ``summary.json``, and where it comes from: documents for programs."""

import hashlib
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from otspec._base.webpage import escaped, verbatim
from otspec.estimate import CONFIDENCE
from otspec.traces import Warp, Warping
from otspec.traces.readers import Source
from otspec.traces.readers.logged_numbers import SIDES
from otspec.traces.runs import Run, Settings
from otspec.traces.statistics import Statistic
from otspec.version import __version__
from otspec.warping import STEPS, name_of_order

_CITED = {  # as CITATION.cff has it, which is not where the package is installed
    "title": "{otspec: exact theory of speculative-decoding verification}",
    "author": "{The otspec authors}",
    "version": __version__,
    "year": "2026",
    "month": "11",
    "note": "Apache-2.0 license",
}

LARGEST_DIGEST = 256 * 2**20
"""Most bytes of a file whose digest is computed, which takes a fraction of a second."""


class Origin(NamedTuple):
    """What a report was made by, and from."""

    command: str = ""  # the command line, as it can be typed; empty where there was none
    # of each file that was read its name, its bytes, and its SHA-256, empty of a large one
    digests: Sequence[tuple[str, int, str]] = ()


UNKNOWN = Origin()  # of a report that no command made


def origin_of(command: str, sources: Iterable[Source]) -> Origin:
    """Return how a report was made of sources; of folders there are no digests."""
    stored = [array for source in sources for array in (source.draft, source.target)]
    paths = dict.fromkeys(Path(array.path) for array in stored)
    return Origin(command, [_digest(path) for path in paths if path.is_file()])


def _digest(path: Path) -> tuple[str, int, str]:
    size = path.stat().st_size
    if size > LARGEST_DIGEST:
        return path.name, size, ""
    with path.open("rb") as stream:
        return path.name, size, hashlib.file_digest(stream, "sha256").hexdigest()


def bibtex() -> str:
    """Return an entry of BibTeX for this version of the package."""
    lines = (f"  {name:7} = {{{value}}},\n" for name, value in _CITED.items())
    return f"@software{{otspec,\n{''.join(lines)}}}\n"


def origin_section(origin: Origin) -> Iterable[str]:
    """Yield the end of a report: the command, the files that it read, and the entry of BibTeX."""
    yield "<h2>How to make this again, and how to cite it</h2>"
    if origin.command:
        yield f"<p>Made with otspec {escaped(__version__)} by</p>"
        yield verbatim([origin.command])
    else:
        yield f"<p>Made with otspec {escaped(__version__)}.</p>"
    if origin.digests:
        yield "<p>from files of these SHA-256 sums:</p>"
        yield verbatim(map(_line, origin.digests))
    yield "<p>To cite the package, besides the papers whose rules you use:</p>"
    yield verbatim(bibtex().splitlines())


def _line(file: tuple[str, int, str]) -> str:
    """Return a digest and a name as ``sha256sum`` writes them."""
    name, size, digest = file
    return f"{digest}  {name}" if digest else f"({size:,} bytes, not summed)  {name}"


def summary_of(
    run: Run, settings: Settings, rows: Sequence[Statistic], *, by_text: bool
) -> dict[str, Any]:
    """Return the summary of a run, which JSON can hold."""
    sources = list(dict.fromkeys(chunk.source for chunk in run.chunks))
    return {
        "trace": sources[0].name if len(sources) == 1 else f"{len(sources)} sources",
        "sources": [
            {"name": source.name, "kind": source.kind, "shape": list(source.shape)}
            for source in sources
        ],
        "positions": sum(chunk.positions for chunk in run.finished()),
        "vocabulary": sources[0].shape[-1],
        **warpings_document(settings.warpings),
        "free": settings.free,
        "confidence": CONFIDENCE,
        "independent": "texts" if by_text else "positions",
        "means": [_mean(row) for row in rows],
        "skipped": [
            {
                "source": failure.chunk.source.name,
                "start": failure.chunk.start,
                "stop": failure.chunk.stop,
                "reason": failure.reason,
            }
            for failure in run.failures()
        ],
    }


def _mean(row: Statistic) -> dict[str, Any]:
    return vars(row) | {
        "gap": row.gap,
        "acceptance_interval": interval_document(row.acceptance_interval),
        "gap_interval": interval_document(row.gap_interval),
        "gap_quantiles": {str(level): value for level, value in row.gap_quantiles.items()},
    }


def interval_document(ends: tuple[float, float]) -> list[float] | None:
    """Return an interval for JSON, which has no NaN."""
    return None if math.isnan(ends[0]) else list(ends)


def warpings_document(warpings: Sequence[Warping]) -> dict[str, Any]:
    """Return what is done to the target in a run, and as ``draft`` to the draft, for JSON."""
    # Temperatures may differ, of which there is a list then; nothing else.
    target, draft = (_side([warping.of(side) for warping in warpings]) for side in SIDES[::-1])
    return target | {"draft": draft}


def _side(warps: Sequence[Warp]) -> dict[str, Any]:
    temperatures = list(dict.fromkeys(warp.temperature for warp in warps))
    return {
        **{name: value for name, value in warps[0].options().items() if name in STEPS},
        "temperature": temperatures[0] if len(temperatures) == 1 else temperatures,
        "order": name_of_order(warps[0].order),
    }


def restrictions_of(summary: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return what the models were restricted to, such as top-k and 50, and the draft if apart."""
    cuts = [name for name in STEPS if name != "temperature"]
    found = [(name, summary[name]) for name in cuts if summary[name] is not None]
    found += [
        (f"draft {name}", "none" if cut is None else cut)
        for name, cut in summary["draft"].items()
        if name in cuts and cut != summary[name]
    ]
    if found and summary["order"] != name_of_order(STEPS):
        found.append(("order", summary["order"]))
    return [(name.replace("_", "-"), value) for name, value in found]
