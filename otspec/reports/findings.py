"""What a run found: in numbers and sentences, as ``summary.json``, and where it comes from."""

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from otspec._base.webpage import escaped, verbatim
from otspec.drafts import LAWS
from otspec.estimate import CONFIDENCE
from otspec.traces import Warp, Warping
from otspec.traces.comparison import OPTIMUM
from otspec.traces.readers import Source
from otspec.traces.readers.logged_numbers import SIDES
from otspec.traces.runs import Run, Settings
from otspec.traces.statistics import Statistic
from otspec.traces.summary import TemperaturePair, attained_by, attains, begun, temperatures_of
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


def interval_words(ends: tuple[float, float], digits: int = 3) -> str:
    """Return an interval for a table; nothing where there is none."""
    low, high = ends
    return "" if low != low else f"{low:z.{digits}f} to {high:z.{digits}f}"


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


class Findings(NamedTuple):
    """What the means at one pair of temperatures come to, for the most drafts that there are."""

    optimum: Statistic  # of the best draft law
    rules: list[Statistic]  # of the rules for the same drafts
    second: Statistic | None  # the optimum of the best of the other draft laws that are worse

    @property
    def temperatures(self) -> TemperaturePair:
        """The temperatures."""
        return temperatures_of(self.optimum)

    @property
    def attaining(self) -> list[str]:
        """The rules that attain the optimum."""
        return [row.rule for row in self.rules if attains(row.acceptance, self.optimum.optimum)]

    @property
    def below(self) -> Statistic | None:
        """The best of the rules that do not."""
        others = [row for row in self.rules if row.rule not in self.attaining]
        return max(others, key=lambda row: row.acceptance, default=None)

    @property
    def drafts(self) -> str:
        """The drafts in words, such as ``4 distinct drafts``."""
        k = self.optimum.k
        return f"{k} {LAWS[self.optimum.drafts].words} draft{'s' if k > 1 else ''}"


def findings_of(rows: Sequence[Statistic]) -> Findings:
    """Return what the means of one pair of temperatures come to."""
    k = max(row.k for row in rows)
    optima = [row for row in rows if (row.rule, row.k) == (OPTIMUM, k)]
    most = max(row.acceptance for row in optima)
    best = next(row for row in optima if attains(row.acceptance, most))
    others = [row for row in optima if not attains(row.acceptance, most)]
    same = [row for row in rows if (row.drafts, row.k) == (best.drafts, k)]
    rules = [row for row in same if row.rule != OPTIMUM]
    return Findings(best, rules, max(others, key=lambda row: row.acceptance, default=None))


def tokens_per_call(row: Statistic) -> float:
    """Return the mean tokens of a call of the target that verifies k drafts of one token."""
    # It always gives a token, and one more behind an accepted draft: 1 + acceptance.
    return 1 + row.acceptance


def three_sentences(findings: Findings) -> Iterator[str]:
    """Yield how much can be accepted, which rule gets how much, and what the gap is."""
    best, below, attaining = findings.optimum, findings.below, findings.attaining
    yield (
        f"With {findings.drafts} at {findings.temperatures}, a draft is accepted with mean "
        f"probability {percent(best.acceptance)} at best, whatever the rule: "
        f"{tokens_per_call(best):.3f} tokens per call of the target."
    )
    if below is None:
        yield f"{begun(attained_by(attaining))}." if attaining else "No rule was compared."
        yield "So there is no gap between the rules compared and what is possible."
        return
    reached = f"{below.rule}, gets {percent(below.acceptance)}"
    if attaining:
        yield f"{begun(attained_by(attaining))}. The best of the other rules, {reached}."
    else:
        yield f"No rule compared gets there; the best, {reached}."
    yield (
        f"The gap is {100 * below.gap:.1f} points, or {below.gap:.3f} tokens per call: "
        f"{percent(below.gap / tokens_per_call(below))} more than {below.rule} gives."
    )


def uncertainties(findings: Findings, units: str, skipped: int) -> Iterator[str]:
    """Yield what is not known, and what was assumed."""
    best, below = findings.optimum, findings.below
    if best.units < 2:
        yield "All numbers are from one position, so that there are no intervals."
    else:
        gap = ""
        if below is not None:
            low, high = below.gap_interval
            gap = f", and the mean gap {100 * low:z.1f} to {100 * high:z.1f} points"
        low, high = best.acceptance_interval
        yield (
            f"Over all such {units} the mean optimum is {percent(low)} to {percent(high)}{gap}, "
            f"with 95% confidence, if the {best.units:,} {units} ({best.positions:,} positions) "
            "are a random sample of those that matter. Picked by hand they say how much they "
            "differ, and no more."
        )
        if units == "positions":
            yield (
                "All positions are of one text, and taken for independent of each other: if they "
                "depend on each other, intervals are too narrow."
            )
        if below is not None:
            yield (
                f"{begun(below.rule)} was found to be the best of the others on the same {units}: "
                "the best of several looks a little better than it is."
            )
    yield (
        "Tokens per call are those of calls that verify drafts of one token: always a token, and "
        "one more behind an accepted draft. That is 1 + acceptance, whatever the texts. Blocks and "
        "trees of drafts give more; otspec blocks and otspec simulate say how much."
    )
    yield (
        "Logged numbers are taken as what the models say. A few rules have no formula at large "
        "vocabularies, and are estimated at each position from simulated drafts: recursive "
        "rejection of more than two distinct drafts, and the residual draws of importance sampling."
    )
    if skipped:
        yield f"{skipped:,} chunk{'s were' if skipped > 1 else ' was'} skipped, and counts nowhere."


def percent(value: float) -> str:
    """Return a probability as a percentage."""
    return f"{100 * value:.1f}%"
