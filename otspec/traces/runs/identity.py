"""What a run was made with, ``run.json``, so that only the same run is resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from otspec.files import named_errors
from otspec.traces.readers import ChangedInputError, Source
from otspec.traces.runs.result_files import SCHEMA
from otspec.traces.runs.work import Work
from otspec.version import __version__

Identity = dict[str, Any]


def identity_of(sources: Sequence[Source], work: Work, chunk: int | None) -> Identity:
    """Return what a run is made with, which JSON can hold: the identity that ``run.json`` keeps."""
    identity = {
        "schema": SCHEMA,
        "otspec": __version__,
        **work.identity(),
        "chunk": chunk,
        "sources": [source.identity() for source in sources],
    }
    plain: Identity = json.loads(json.dumps(identity))  # tuples are lists there
    return plain


def name_of(identity: Identity) -> str:
    """Return a digest that tells runs apart: the same for the same inputs and settings."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def refuse_changed(sources: Sequence[Source], identity: Identity) -> None:
    """Refuse sources that are no longer what a run was made with."""
    _compare_stamps([source.identity() for source in sources], identity["sources"])


def _compare_stamps(now: Sequence[Identity], before: Sequence[Identity]) -> None:
    for source, earlier in zip(now, before, strict=True):
        for array, was in zip(source["arrays"], earlier["arrays"], strict=True):
            if array["stamp"] != was.get("stamp"):
                which = f", array {array['key']}," if array["key"] else ""
                raise ChangedInputError(
                    f"{array['file']}{which} was changed since the run began: start again with "
                    "--overwrite"
                )


def refuse_another(path: Path, identity: Identity) -> None:
    """Refuse a run that was made with something else.

    ``path``: where the identity of the earlier run is.
    """
    earlier = read_identity(path)
    before, now = dict(_leaves(earlier)), dict(_leaves(identity))
    for key in dict.fromkeys([*now, *before]):
        was, wanted = (leaves.get(key, "nothing") for leaves in (before, now))
        if was != wanted:
            raise ValueError(
                f"{path.parent} holds another run: {key} was {was} and is {wanted}; "
                "resume with what it was made with, or use --overwrite"
            )
    _compare_stamps(identity["sources"], earlier["sources"])


def read_identity(path: Path) -> Identity:
    """Read what a run was made with."""
    identity = _read(path)
    if identity.get("schema") != SCHEMA:
        raise ValueError(
            f"{path.parent} holds a run of another version of otspec (version "
            f"{identity.get('schema')} of its files; this one writes {SCHEMA}): use --overwrite, "
            "or choose another folder"
        )
    return identity


def _read(path: Path) -> Identity:
    try:
        with named_errors(path):
            identity = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{error}; use --overwrite") from error
    if not isinstance(identity, dict):
        raise ValueError(f"{path} says nothing of a run; use --overwrite")
    return identity


def _leaves(told: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of nested objects by their path, such as ``sources[0].kind``, no stamps."""
    if isinstance(told, dict):
        for key, value in told.items():
            if key != "stamp":
                yield from _leaves(value, f"{name}.{key}" if name else str(key))
    elif isinstance(told, list) and any(isinstance(item, dict) for item in told):
        yield f"{name}, how many", len(told)
        for index, value in enumerate(told):
            yield from _leaves(value, f"{name}[{index}]")
    else:
        yield name, told
