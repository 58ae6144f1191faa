"""Check what ``make dist`` built: ``python packaging/archives.py build/dist``.

The source archive holds what Git tracks and nothing else, so that the tests run from it; the wheel
holds the package alone.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from otspec._base.tables import say

ROOT = Path(__file__).parents[1]
MADE = ("PKG-INFO", "otspec.egg-info/")
"""What setuptools adds to a source archive."""


def source_names(path: Path) -> set[str]:
    """Return the names of the files of a source archive, below its folder."""
    with tarfile.open(path) as archive:
        names = (member.name.partition("/")[2] for member in archive if member.isfile())
        return {name for name in names if not name.startswith(MADE)}


def wheel_names(path: Path) -> set[str]:
    """Return the names of the files of a wheel, other than its metadata."""
    with zipfile.ZipFile(path) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def tracked() -> set[str]:
    """Return the names of the files that Git tracks."""
    done = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607 # the Git of whoever builds
        cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    return set(filter(None, done.stdout.decode().split("\0")))


def complaints(source: Iterable[str], wheel: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """Return what is wrong with the files of a source archive and of a wheel, a line each.

    Parameters
    ----------
    source, wheel, wanted : iterable of str
        Names in the source archive, in the wheel, and of what is tracked.
    """
    source, wheel, wanted = set(source), set(wheel), set(wanted)
    package = {name for name in wanted if name.startswith("otspec/")}
    return [
        *(f"the source archive lacks {name}: see MANIFEST.in" for name in sorted(wanted - source)),
        *(
            f"the source archive holds {name}, which is not tracked"
            for name in sorted(source - wanted)
        ),
        *(
            f"the wheel lacks {name}: see package_data in setup.cfg"
            for name in sorted(package - wheel)
        ),
        *(f"the wheel holds {name}" for name in sorted(wheel - package)),
    ]


def main(folder: str) -> int:
    """Print what is wrong with the archives in a folder; return 1 if something is."""
    (source,), (wheel,) = Path(folder).glob("*.tar.gz"), Path(folder).glob("*.whl")
    found = complaints(source_names(source), wheel_names(wheel), tracked())
    say(*(found or ["archives: all that is tracked, and the package alone"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
