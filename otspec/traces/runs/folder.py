"""What is in the folder of a run, how it is emptied, and what a run is known by."""

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otspec._base import UNFINISHED, remove_unfinished
from otspec.files import named_errors
from otspec.traces.readers import ChangedInputError, Source
from otspec.traces.runs.work import SCHEMA, Chunk, Work
from otspec.version import __version__

_FOUND = (
    "summary.json", "acceptance.png", "acceptance-T*.png",
    "advice.json", "pareto.png", "pareto-*.png",
    "laws.json",
    "accept_lengths.json",
)  # fmt: skip
"""What trace, advise, laws and simulate write of the parts, beside them."""


@dataclass(frozen=True)
class RunFolder:
    """The places of the files of a run."""

    path: Path  # absolute

    @property
    def made_with(self) -> Path:
        """What the run was made with."""
        return self.path / "run.json"

    @property
    def positions(self) -> Path:
        """The folder of the parts."""
        return self.path / "positions"

    @property
    def failed(self) -> Path:
        """The folder of the reasons why chunks have no part."""
        return self.path / "failed"

    @property
    def unpacked(self) -> Path:
        """The folder of sources that were compressed, while the run computes."""
        return self.path / "unpacked"

    @property
    def _folders(self) -> tuple[Path, ...]:
        return self.positions, self.failed, self.unpacked

    def part(self, chunk: Chunk) -> Path:
        """Return where the results of a chunk are."""
        return self.positions / f"part-{chunk.index:06}.parquet"

    def failure(self, chunk: Chunk) -> Path:
        """Return where it is written why a chunk has no results."""
        return self.failed / f"part-{chunk.index:06}.txt"

    def refuse_links(self) -> None:
        """Refuse what is elsewhere, where nothing may be removed or written for this run."""
        for path in (self.made_with, *self._folders):
            if path.is_symlink():
                raise ValueError(
                    f"{path} is a symbolic link: remove it, or choose another folder for the run"
                )

    def refuse_files_of_others(self) -> None:
        """Refuse a folder whose files would be taken for those of a run."""
        for folder in self._folders:
            if folder.is_dir() and any(folder.iterdir()):
                raise ValueError(f"{folder} holds files of no run: choose another folder")

    def refuse_unknown_parts(self, chunks: tuple[Chunk, ...]) -> None:
        """Refuse files beside the parts, which other readers of the folder would take for some."""
        known = {self.part(chunk).name for chunk in chunks}
        for path in sorted(self.positions.iterdir()):
            if path.name not in known and not path.name.endswith(UNFINISHED):
                raise ValueError(f"{path} is no part of the run: remove it")

    def make(self, *, keep_parts: bool) -> None:
        """Make the folders, empty; or keep the parts and empty the others."""
        # With the parts of an earlier run goes what was said of them.
        for folder in self._folders:
            if folder.exists() and not (keep_parts and folder == self.positions):
                shutil.rmtree(folder)
            folder.mkdir(exist_ok=keep_parts)
        if self.made_with.exists() and not keep_parts:
            for pattern in _FOUND:
                for outdated in self.path.glob(pattern):
                    outdated.unlink()
        for folder in (self.path, self.positions):
            remove_unfinished(folder)


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
    return json.loads(json.dumps(identity))  # tuples are lists there


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
    """Refuse a run that was made with something else."""
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
