"""Where a report comes from: how to make it again, and how to cite what made it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from otspec._base.webpage import escaped, verbatim
from otspec.traces.readers import Source
from otspec.version import __version__

_CITED = {
    "title": "{otspec: exact theory of speculative-decoding verification}",
    "author": "{The otspec authors}",
    "version": __version__,
    "year": "2026",
    "month": "11",
    "note": "Apache-2.0 licence",
}
"""As CITATION.cff has it, which is not where the package is installed."""

LARGEST_DIGEST = 256 * 2**20
"""Most bytes of a file whose digest is computed, which takes a fraction of a second."""


class Origin(NamedTuple):
    """What a report was made by, and from."""

    command: str = ""  # the command line, as it can be typed; empty where there was none
    # of each file that was read its name, its bytes, and its SHA-256, empty of a large one
    digests: Sequence[tuple[str, int, str]] = ()


UNKNOWN = Origin()
"""Of a report that no command made."""


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
