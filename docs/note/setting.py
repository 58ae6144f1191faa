"""Setting the note: its sources beside the computed files, and Typst on both."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

SOURCES = Path(__file__).parent
NAME = "note.pdf"
_PARTS = ("note.typ", "template.typ", "references.yml")


def typeset(folder: Path) -> int:
    """Set the note in a folder that has its numbers and pictures, and return how many pages it has.

    Parameters
    ----------
    folder : path
        See :func:`docs.note.compute.compute`. It gets ``note.pdf`` and copies of the sources, since
        Typst reads nothing outside its folder.

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
    for name in _PARTS:
        shutil.copyfile(SOURCES / name, folder / name)
    shutil.copytree(SOURCES / "text", folder / "text", dirs_exist_ok=True)
    source = str(folder / "note.typ")
    # Fonts of the machine would make other lines.
    options = {"root": str(folder), "ignore_system_fonts": True}
    typst.compile(source, output=str(folder / NAME), **options)
    (pages,) = json.loads(typst.query(source, "<pages>", field="value", **options))
    return int(pages)
