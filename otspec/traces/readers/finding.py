"""Which arrays a text on the command line names: found by their headers, not read."""

from __future__ import annotations

from pathlib import Path

from otspec.files import named_errors
from otspec.traces.legible import legible
from otspec.traces.readers.contract import FORMATS, StoredArray
from otspec.traces.readers.logged_numbers import KINDS
from otspec.traces.readers.source import Source


def find_source(text: str, kind: str | None = None) -> Source:
    """Find the arrays that the text names.

    Parameters
    ----------
    text : str
        A path of one of :data:`FORMATS` with two arrays such as ``draft_logits`` and
        ``target_logits``, as ``trace.npz``; or two paths of a format without names,
        ``DRAFT.npy+TARGET.npy``.
    kind : str, optional
        One of :data:`KINDS`. By default the first whose arrays are there; logits in a format
        without names.

    Returns
    -------
    Source

    Raises
    ------
    ValueError
        As :func:`locate_arrays` and :class:`Source`; or missing arrays.
    """
    for ending in (name for name, form in FORMATS.items() if not form.named):
        if f"{ending}+" in text or text.endswith(ending):
            return _of_two_files(text, ending, kind or KINDS[0])
    arrays = locate_arrays(Path(text))
    for found in (kind,) if kind else KINDS:
        sides = arrays.get(f"draft_{found}"), arrays.get(f"target_{found}")
        if sides[0] is not None and sides[1] is not None:
            return Source(legible(text), found, sides[0], sides[1])
    wanted = kind or next((name for name in KINDS if f"draft_{name}" in arrays), KINDS[0])
    missing = f"target_{wanted}" if f"draft_{wanted}" in arrays else f"draft_{wanted}"
    raise ValueError(
        f"{text} has no array {missing!r} (it holds {', '.join(arrays) or 'none for a trace'}): a "
        f"trace needs draft_X and target_X of shape (..., n), where X is {', '.join(KINDS)}"
    )


def _of_two_files(text: str, ending: str, kind: str) -> Source:
    parts = text.split(f"{ending}+")
    if len(parts) != 2 or not parts[1].endswith(ending):
        raise ValueError(f"{text}: write both files as DRAFT{ending}+TARGET{ending}")
    draft, target = (locate_arrays(Path(path))[""] for path in (parts[0] + ending, parts[1]))
    return Source(legible(text), kind, draft, target)


def locate_arrays(path: Path) -> dict[str, StoredArray]:
    """Find the arrays of a file or folder by their headers.

    Parameters
    ----------
    path : path
        Of a format in :data:`otspec.traces.readers.FORMATS`, by its ending.

    Returns
    -------
    dict of str to StoredArray
        The name is empty in a format without names.

    Raises
    ------
    ValueError
        No such file, an unknown ending, a malformed file; or arrays of objects, which are never
        unpickled. The message names the file.
    """
    form = FORMATS.get(path.suffix)
    if form is None:
        raise ValueError(f"{path}: unknown file type: a trace is {', '.join(FORMATS)}")
    with named_errors(path):
        folder, there = path.is_dir(), path.exists()
    if not there:
        raise ValueError(f"{path}: no such file")
    if folder != form.folder:
        raise ValueError(f"{path} is a {'directory' if folder else 'file'}: name another")
    path = path.resolve()
    with named_errors(path):
        return form.locate(path)
