"""Setting the note and its companion: sources beside the computed files, and Typst on both."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

SOURCES = Path(__file__).parent
NAME, COMPANION = "note.pdf", "companion.pdf"
_SHARED = ("template.typ", "references.yml")


def typeset(folder: Path) -> dict[str, int]:
    """Set both in a folder that has their numbers and pictures; return how many pages they have.

    Parameters
    ----------
    folder : path
        See :func:`docs.note.compute.compute`. It gets ``note.pdf``, ``companion.pdf`` and copies of
        the sources, since Typst reads nothing outside its folder.

    Raises
    ------
    ImportError
        Typst is not installed; says how to get it.
    typst.TypstError
        The sources do not compile, or name a number that there is not.
    """
    try:
        import typst
    except ImportError as error:
        raise ImportError("the note is set by Typst: pip install 'otspec[note]'") from error
    for name in _SHARED:
        shutil.copyfile(SOURCES / name, folder / name)
    shutil.copytree(SOURCES / "text", folder / "text", dirs_exist_ok=True)
    # Fonts of the machine would make other lines.
    options = {"root": str(folder), "ignore_system_fonts": True}
    pages = {}
    for name in (NAME, COMPANION):
        source = (folder / name).with_suffix(".typ")
        shutil.copyfile(SOURCES / source.name, source)
        typst.compile(str(source), output=str(folder / name), **options)
        (count,) = json.loads(typst.query(str(source), "<pages>", field="value", **options))
        pages[name] = int(count)
    return pages
