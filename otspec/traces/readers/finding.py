"""Which arrays a text on the command line names: found by their headers, not read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from otspec.files import StoredArray, named_errors, trace_formats
from otspec.files.base import format_of
from otspec.traces.printable import printable
from otspec.traces.readers.logged_numbers import DRAFTED, KINDS, SIDES
from otspec.traces.readers.source import Source

_MOST = 8  # arrays that a message names


def find_source(text: str, kind: str | None = None, *, tokens: bool = False) -> Source:
    """Find the arrays that the text names.

    Parameters
    ----------
    text : str
        A path of one of :func:`otspec.files.trace_formats` with two arrays such as ``draft_logits``
        and ``target_logits``, as ``trace.npz``; the same with the names of two other arrays,
        ``trace.npz:DRAFT+TARGET``, and of a third with the tokens; or two paths of a format without
        names, ``DRAFT.npy+TARGET.npy``, and a third of the tokens.
    kind : str, optional
        One of :data:`KINDS`. By default the first whose arrays are there, or what both names end
        in; logits in a format without names. Arrays whose names do not say it, such as ``draft``
        and ``target``, need it.
    tokens : bool
        Find the tokens that were drawn, too: ``draft_tokens`` or else ``target_tokens``; where
        the two arrays have none beside them, all three by names that begin with ``block_``. Those
        of a third file or name count as drawn from the draft, unless the name begins with
        ``target``; ``dataclasses.replace(source, sampled="target")`` says that it was the target.

    Raises
    ------
    ValueError
        As :func:`locate_arrays` and :class:`Source`; or missing arrays.
    """
    for ending in (name for name, form in trace_formats().items() if not form.named):
        if f"{ending}+" in text or text.endswith(ending):
            return _of_files(text, ending, kind or KINDS[0], tokens)
    path, keys = _split(text)
    arrays = locate_arrays(Path(path))
    if keys:
        return _of_keys(text, path, arrays, keys, kind, tokens)
    kinds = (kind,) if kind else KINDS
    found = _with_tokens(text, arrays, kinds) if tokens else _pair(text, arrays, kinds)
    if found is not None:
        return found
    there = [pair for group in ("", DRAFTED) if (pair := _pair(text, arrays, KINDS, group))]
    named = _named_sides(arrays)
    if named and not there:
        return _of_keys(text, path, arrays, named, kind, tokens)
    wanted = kind or next((name for name in KINDS if f"draft_{name}" in arrays), KINDS[0])
    missing = f"target_{wanted}" if f"draft_{wanted}" in arrays else f"draft_{wanted}"
    needs = f"draft_X and target_X of shape (..., n), where X is {', '.join(KINDS)}"
    if kind and there and there[0].kind != kind:
        needs = f"no --kind {kind} here, where the names say {there[0].kind}"
    elif tokens and any(pair.kind in kinds for pair in there):
        missing = "draft_tokens"
        needs = (
            "the tokens that were drawn, logged with the numbers of both models: draft_tokens (or "
            "target_tokens) of shape (..., L), integers, beside (..., L + 1, n)"
        )
    raise ValueError(
        f"{text} has no array {missing!r} (it holds {_held(arrays)}): a trace needs {needs}"
        + ("" if there else _say_which(text, arrays, tokens))
    )


def _split(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a path, and the names of arrays after it: none, or those of ``PATH:DRAFT+TARGET``."""
    for ending in (name for name, form in trace_formats().items() if form.named):
        start, colon, names = text.partition(f"{ending}:")
        if colon:
            return start + ending, tuple(names.split("+"))
    return text, ()


def _of_keys(
    text: str,
    path: str,
    arrays: Mapping[str, StoredArray],
    keys: Sequence[str],
    kind: str | None,
    tokens: bool,
) -> Source:
    """Return the source of arrays that are called by their names."""
    if len(keys) not in ((2, 3) if tokens else (2,)):
        form = f"{path}:DRAFT+TARGET{'+TOKENS' if tokens else ''}"
        raise ValueError(f"{text} names {', '.join(keys)}: write {form}")
    for key in keys:
        if key not in arrays:
            raise ValueError(f"{path} has no array {key!r}: it holds {_held(arrays)}")
    said, other = (_kind_of(key) for key in keys[:2])
    kind = kind or (said if said == other else None)
    if kind is None:
        raise ValueError(
            f"{text}: the names {keys[0]} and {keys[1]} do not say what the numbers are: add "
            f"{_SAY_KIND} (in Python kind=), or name the arrays draft_logits and target_logits"
        )
    found = Source(printable(text), kind, arrays[keys[0]], arrays[keys[1]])
    if not tokens:
        return found
    named = [f"{side}_tokens" for side in SIDES]
    drawn = next((key for key in [*keys[2:], *named] if key in arrays), None)
    if drawn is None:
        raise ValueError(
            f"{text} names no tokens that were drawn: write {path}:{keys[0]}+{keys[1]}+TOKENS, or "
            f"name the array {' or '.join(named)} (it holds {_held(arrays)})"
        )
    sampled = SIDES[1] if drawn.startswith(SIDES[1]) else SIDES[0]
    return replace(found, tokens=arrays[drawn], sampled=sampled)


def _held(arrays: Mapping[str, StoredArray]) -> str:
    """Return what a file holds: the name, shape and type of each array."""
    shapes = [
        f"{printable(key)} {tuple(array.shape)} {np.dtype(array.dtype)}"
        for key, array in arrays.items()
    ]
    more = f" and {len(shapes) - _MOST} more" if len(shapes) > _MOST else ""
    return ", ".join(shapes[:_MOST]) + more or "no arrays"


def _rows_of(arrays: Mapping[str, StoredArray], word: str = "") -> list[str]:
    """Return the names that contain a word, of arrays of floats along positions."""
    return [
        key
        for key, array in arrays.items()
        if word in key and np.dtype(array.dtype).kind == "f" and len(array.shape) > 1
    ]


def _named_sides(arrays: Mapping[str, StoredArray]) -> list[str] | None:
    """Return the names of the one array of each model, if the names leave no choice."""
    sides = [_rows_of(arrays, side) for side in SIDES]
    if any(len(keys) != 1 for keys in sides):
        return None
    keys = [key for [key] in sides]
    alike = arrays[keys[0]].shape == arrays[keys[1]].shape and keys[0] != keys[1]
    return keys if alike and len({_kind_of(key) for key in keys}) == 1 else None


def _kind_of(key: str) -> str | None:
    """Return what the name of an array says that its numbers are, such as ``draft_logprobs``."""
    if "prob" in key:
        return "log_probabilities" if "log" in key else "probabilities"
    return "logits" if "logit" in key else None


def _say_which(text: str, arrays: Mapping[str, StoredArray], tokens: bool) -> str:
    """Return what to write to say which arrays of a file are those of the two models."""
    keys = _rows_of(arrays)
    if len(keys) < 2:
        return ""
    which = f"if {keys[0]} is of the draft" if len(keys) == 2 else "with their names"
    keys = keys if len(keys) == 2 else [side.upper() for side in SIDES]
    names = f"{text}:{'+'.join(keys)}{'+TOKENS' if tokens else ''}"
    return f"; or write {names} {which}, and add {_SAY_KIND}"


_SAY_KIND = f"--kind {', --kind '.join(KINDS[:-1])} or --kind {KINDS[-1]}"


def _pair(
    text: str, arrays: Mapping[str, StoredArray], kinds: Sequence[str], group: str = ""
) -> Source | None:
    """Return the source of the first kind of which both arrays of a group are there."""
    for kind in kinds:
        sides = [arrays.get(f"{group}{side}_{kind}") for side in SIDES]
        if sides[0] is not None and sides[1] is not None:
            return Source(printable(text), kind, sides[0], sides[1])
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
    return Source(printable(text), kind, draft, target, drawn[0] if drawn else None)


def locate_arrays(path: Path) -> dict[str, StoredArray]:
    """Find the arrays of a file or folder by their headers, in a format of ``trace_formats()``.

    The name is empty in a format without names. What cannot be read as an array is left out, unless
    its name is one of a trace. A ValueError names a file that is missing, malformed or of an
    unknown ending, or holds arrays of objects, which are never unpickled.
    """
    form = format_of(path, trace_formats(), "a trace is")
    path = path.resolve()
    with named_errors(path):
        arrays = {}
        for key, array in form.locate(path).items():
            if isinstance(array, StoredArray):
                arrays[key] = array
            elif key.removeprefix(DRAFTED).startswith(SIDES):
                raise array
        return arrays
