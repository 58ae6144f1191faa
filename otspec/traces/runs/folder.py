"""What is in the folder of a run, and how it is emptied."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from otspec._base.writing import UNFINISHED, remove_unfinished
from otspec.traces.runs.chunking import Chunk

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
        """Make the folders, empty; or keep the parts and empty the others.

        With the parts of an earlier run goes what was said of them.
        """
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
