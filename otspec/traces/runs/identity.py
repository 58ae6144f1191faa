"""What a run was made with, so that only the same run is resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from otspec.files import named_errors
from otspec.traces.readers import ChangedInputError, Source
from otspec.traces.runs.cutting import Settings
from otspec.traces.runs.result_files import SCHEMA
from otspec.version import __version__

Document = dict[str, Any]


def document_of(sources: Sequence[Source], settings: Settings, chunk: int | None) -> Document:
    """Return what a run is made with, which JSON can hold."""
    document = {
        "schema": SCHEMA,
        "otspec": __version__,
        "chunk": chunk,
        "settings": asdict(settings),
        "sources": [source.identity() for source in sources],
    }
    plain: Document = json.loads(json.dumps(document))  # tuples are lists there
    return plain


def name_of(document: Document) -> str:
    """Return a digest that tells runs apart: the same for the same inputs and settings."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def refuse_changed(sources: Sequence[Source], document: Document) -> None:
    """Refuse sources that are no longer what a run was made with.

    Raises
    ------
    ChangedInputError
        The message names the file.
    """
    _compare_stamps([source.identity() for source in sources], document["sources"])


def _compare_stamps(now: Sequence[Document], before: Sequence[Document]) -> None:
    for source, earlier in zip(now, before, strict=True):
        for array, was in zip(source["arrays"], earlier["arrays"], strict=True):
            if array["stamp"] != was.get("stamp"):
                which = f", array {array['key']}," if array["key"] else ""
                raise ChangedInputError(
                    f"{array['file']}{which} was changed since the run began: start again with "
                    "--overwrite"
                )


def refuse_another(path: Path, document: Document) -> None:
    """Refuse a run that was made with something else.

    Parameters
    ----------
    path : path
        Where the document of the earlier run is.
    document : dict

    Raises
    ------
    ValueError
        The message says what differs, and how.
    """
    earlier = _read(path)
    if earlier.get("schema") != SCHEMA:
        raise ValueError(
            f"{path.parent} holds a run of another version of otspec (version "
            f"{earlier.get('schema')} of its files; this one writes {SCHEMA}): use --overwrite, or "
            "choose another folder"
        )
    before = dict(_leaves(earlier))
    for key, value in _leaves(document):
        if before.get(key) != value:
            raise ValueError(
                f"{path.parent} holds another run: {key} was {before.get(key)} and is {value}; "
                "resume with what it was made with, or use --overwrite"
            )
    _compare_stamps(document["sources"], earlier["sources"])


def _read(path: Path) -> Document:
    try:
        with named_errors(path):
            document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{error}; use --overwrite") from error
    if not isinstance(document, dict):
        raise ValueError(f"{path} says nothing of a run; use --overwrite")
    return document


def _leaves(document: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of nested objects by their path, such as ``sources[0].kind``, no stamps."""
    if isinstance(document, dict):
        for key, value in document.items():
            if key != "stamp":
                yield from _leaves(value, f"{name}.{key}" if name else str(key))
    elif isinstance(document, list) and any(isinstance(item, dict) for item in document):
        yield f"{name}, how many", len(document)
        for index, value in enumerate(document):
            yield from _leaves(value, f"{name}[{index}]")
    else:
        yield name, document
