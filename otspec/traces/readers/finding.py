"""Which arrays a text on the command line names: found by their headers, not read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from otspec.files import named_errors
from otspec.traces.legible import legible
from otspec.traces.readers.contract import DRAFTED, FORMATS, SIDES, StoredArray
from otspec.traces.readers.logged_numbers import KINDS
from otspec.traces.readers.source import Source


def find_source(text: str, kind: str | None = None, *, tokens: bool = False) -> Source:
    """Find the arrays that the text names.

    Parameters
    ----------
    text : str
        A path of one of :data:`FORMATS` with two arrays such as ``draft_logits`` and
        ``target_logits``, as ``trace.npz``; or two paths of a format without names,
        ``DRAFT.npy+TARGET.npy``, and a third of the tokens.
    kind : str, optional
        One of :data:`KINDS`. By default the first whose arrays are there; logits in a format
        without names.
    tokens : bool
        Find the tokens that were drawn, too: ``draft_tokens`` or else ``target_tokens``; where
        the two arrays have none beside them, all three by names that begin with ``block_``. Those
        of a third file count as drawn from the draft; ``dataclasses.replace(source,
        sampled="target")`` says that it was the target.

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
            return _of_files(text, ending, kind or KINDS[0], tokens)
    arrays = locate_arrays(Path(text))
    kinds = (kind,) if kind else KINDS
    found = _with_tokens(text, arrays, kinds) if tokens else _pair(text, arrays, kinds)
    if found is not None:
        return found
    wanted = kind or next((name for name in KINDS if f"draft_{name}" in arrays), KINDS[0])
    missing = f"target_{wanted}" if f"draft_{wanted}" in arrays else f"draft_{wanted}"
    needs = f"draft_X and target_X of shape (..., n), where X is {', '.join(KINDS)}"
    if tokens and any(_pair(text, arrays, kinds, group) for group in ("", DRAFTED)):
        missing = "draft_tokens"
        needs = (
            "the tokens that were drawn, logged with the numbers of both models: draft_tokens (or "
            "target_tokens) of shape (..., L), integers, beside (..., L + 1, n)"
        )
    raise ValueError(
        f"{text} has no array {missing!r} (it holds {', '.join(arrays) or 'none for a trace'}): a "
        f"trace needs {needs}"
    )


def _pair(
    text: str, arrays: Mapping[str, StoredArray], kinds: Sequence[str], group: str = ""
) -> Source | None:
    """Return the source of the first kind of which both arrays of a group are there."""
    for kind in kinds:
        sides = [arrays.get(f"{group}{side}_{kind}") for side in SIDES]
        if sides[0] is not None and sides[1] is not None:
            return Source(legible(text), kind, sides[0], sides[1])
    return None


def _with_tokens(
    text: str, arrays: Mapping[str, StoredArray], kinds: Sequence[str]
) -> Source | None:
    """Return the source of the first group that has tokens beside both models."""
    for group in ("", DRAFTED):
        for side in SIDES:
            drawn = arrays.get(f"{group}{side}_tokens")
            found = None if drawn is None else _pair(text, arrays, kinds, group)
            if found is not None:
                return replace(found, tokens=drawn, sampled=side)
    return None


def _of_files(text: str, ending: str, kind: str, tokens: bool) -> Source:
    """Return the source of files of one array each, of which each path ends alike."""
    parts = text.removesuffix(ending).split(f"{ending}+")
    names = ("DRAFT", "TARGET", "TOKENS") if tokens else ("DRAFT", "TARGET")
    if len(parts) != len(names) or not text.endswith(ending):
        form = "+".join(f"{name}{ending}" for name in names)
        which = "all three files, the tokens too," if tokens else "both files"
        raise ValueError(f"{text}: write {which} as {form}")
    draft, target, *drawn = (locate_arrays(Path(part + ending))[""] for part in parts)
    return Source(legible(text), kind, draft, target, drawn[0] if drawn else None)


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
