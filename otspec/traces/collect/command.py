"""The command ``python -m otspec.traces.collect``: its options, and the files that it writes."""

import dataclasses
import hashlib
import itertools
import json
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
import numpy as np

from otspec._base import Array, in_one_step, write_text
from otspec._base.tables import printable, say
from otspec.files import read_file
from otspec.models.pretrained import SMOLLM2_PACKAGE, SMOLLM2_SKIPPED, layers_of
from otspec.traces.collect.models import NamedModels
from otspec.traces.collect.sampling import Part, Script, fair_sample, whole_blocks

_SETTINGS = "settings.json"


class Shelf:
    """The texts that are logged already, in a folder beside the file that they will be in."""

    def __init__(self, out: Path, settings: str) -> None:
        self.out, self.settings = out, settings
        self.folder = out.with_name(f"{out.name}.texts")
        told = self.folder / _SETTINGS
        if told.exists() and told.read_text(encoding="utf-8") != settings:
            raise ValueError(
                f"{self.folder} holds texts that were logged with other settings: remove it, or "
                "choose another --out"
            )

    def text(self, number: int, log: Callable[[], dict[str, Array]]) -> None:
        """Log a text, unless it is there."""
        place = self._place(number)
        if place.exists():
            return
        self.folder.mkdir(exist_ok=True)
        write_text(self.folder / _SETTINGS, self.settings)
        with in_one_step(place) as stream:
            np.savez(stream, allow_pickle=False, **log())

    def _place(self, number: int) -> Path:
        return self.folder / f"{number:06}.npz"

    def bind(self, count: int, *, packed: bool) -> dict[str, tuple[int, ...]]:
        """Write all texts to one file, and remove them."""
        holders: dict[str, list[int]] = {}
        for number in range(count):
            with np.load(self._place(number)) as text:
                for name in text.files:
                    holders.setdefault(name, []).append(number)
        kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        shapes = {}
        with in_one_step(self.out) as stream, zipfile.ZipFile(stream, "w") as archive:
            for name, numbers in holders.items():
                rows = (read_file(self._place(it), (name,))[name] for it in numbers)
                shapes[name] = _write(archive, name, kind, rows, len(numbers))
            _write(archive, "settings", kind, iter([np.array(self.settings)]), 1)
        shutil.rmtree(self.folder)
        return shapes


def _write(
    archive: zipfile.ZipFile, name: str, kind: int, rows: Iterator[Array], count: int
) -> tuple[int, ...]:
    """Write a row of each text as one array of an archive; return its shape."""
    member = zipfile.ZipInfo(f"{name}.npy")  # without a date: equal traces are equal files
    member.compress_type = kind
    with archive.open(member, "w", force_zip64=True) as stream:
        if not name.endswith("logits"):
            stacked = np.stack(list(rows))
            np.lib.format.write_array(stream, stacked, allow_pickle=False)
            return stacked.shape
        row = next(rows)
        shape = (count, *row.shape)
        header = {"descr": row.dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(stream, header)
        for each in itertools.chain([row], rows):  # never all of them in memory
            stream.write(each.tobytes())
    return shape


class _BadInput(click.ClickException):
    """One line on standard error, and the exit status of bad input."""

    exit_code = 2


class _LayerList(click.ParamType[tuple[int, ...]]):
    """Layers, such as ``14,17`` or ``14-17``."""

    name = "i,i-j,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Return the layers; refuse a list that holds something else."""
        try:
            return layers_of(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def skip_layers_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option --skip-layers, of commands that have --gguf and --draft."""
    return click.option(
        "--skip-layers", type=_LayerList(),
        help="Instead of --draft: the target drafts for itself, without these layers, counted from "
        f"0. [default with --gguf: {','.join(map(str, SMOLLM2_SKIPPED))}]",
    )(command)  # fmt: skip


@click.command()
@click.option("--target", metavar="MODEL", help="A folder, or a name on the hub.")
@click.option("--draft", metavar="MODEL", help="With the tokenizer of the target.")
@click.option(
    "--gguf", metavar="FILE",
    help="Instead of both: one model, which drafts for itself with layers left out. A GGUF file, "
         f"or an installed package that holds it, such as {SMOLLM2_PACKAGE}.",
)  # fmt: skip
@skip_layers_option
@click.option(
    "--prompts", "prompt_file",
    help="A text file, one prompt a line. [default: 96 prompts that ship with the package]",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
)  # fmt: skip
@click.option(
    "--out", required=True, help="The .npz file to write.",
    type=click.Path(path_type=Path, dir_okay=False),
)  # fmt: skip
@click.option("--chat", is_flag=True, help="Put prompts into the turns of the chat template.")
@click.option("--sampled", type=click.IntRange(0), default=0, show_default=True,
              help="Tokens drawn from the target between prompt and block.")  # fmt: skip
@click.option("--length", type=click.IntRange(1), default=8, show_default=True,
              help="Tokens in a block, L.")  # fmt: skip
@click.option("--blocks", type=click.IntRange(1), default=1, show_default=True,
              help="Blocks after each prompt.")  # fmt: skip
@click.option("--texts", type=click.IntRange(1), help="Use the first so many prompts only.")
@click.option(
    "--one-position", is_flag=True,
    help="Of text i, counted from 0, log only the position at depth i mod (L + 1) of its block.",
)  # fmt: skip
@click.option("--whole", type=click.IntRange(0), default=0, show_default=True,
              help="With --one-position: log also the blocks of so many prompts more.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--compress", is_flag=True, help="Write a smaller file, which is not read in place.")
@click.option("--device", help="Such as cuda or cpu. [default: a GPU if there is one]")
def main(
    target: str | None,
    draft: str | None,
    gguf: str | None,
    skip_layers: tuple[int, ...] | None,
    prompt_file: Path | None,
    out: Path,
    chat: bool,
    sampled: int,
    length: int,
    blocks: int,
    texts: int | None,
    one_position: bool,
    whole: int,
    seed: int,
    compress: bool,
    device: str | None,
) -> None:
    """Log the logits of a draft and a target model along drafted blocks.

    The file is what `otspec trace` and `otspec blocks` read. Each text is logged by itself, and
    depends on its prompt, its number and the seed only. Interrupted? The same command goes on.
    """
    try:
        if out.suffix != ".npz":
            raise ValueError(f"--out is {out}: name a .npz file")
        prompts = read_prompts(prompt_file)
        if one_position:
            parts = fair_sample(prompts, texts or len(prompts) - whole, whole, length)
        else:
            parts = whole_blocks(prompts[:texts], blocks)
        script = Script(chat, sampled, length, seed)
        named = NamedModels(target, draft, gguf, skip_layers)
        shelf = Shelf(out, _settings(named, parts, script))
        models = named.load(device)
        for number, part in _with_bar(parts):
            shelf.text(number, partial(part.arrays, models, script))
        shapes = shelf.bind(len(parts), packed=compress)
    except (ValueError, OSError) as error:
        raise _BadInput(printable(" ".join(str(error).split()))) from error
    for name, shape in shapes.items():
        if name.endswith("draft_logits"):
            say(f"{out}: {' × '.join(map(str, shape))} logits of each model")


def read_prompts(file: Path | None) -> list[str]:
    """Return the lines of a file that are not empty; of the one of the package by default."""
    place = file or files("otspec.datasets") / "prompts.txt"
    return [line for line in place.read_text(encoding="utf-8").splitlines() if line.strip()]


def _settings(named: NamedModels, parts: list[Part], script: Script) -> str:
    """Return what the texts depend on, as text."""
    told = repr([dataclasses.astuple(part) for part in parts])
    digest = hashlib.sha256(told.encode()).hexdigest()
    models = {name: told for name, told in vars(named).items() if told is not None}
    return json.dumps(models | dataclasses.asdict(script) | {"texts_sha256": digest})


def _with_bar(parts: list[Part]) -> Iterable[tuple[int, Part]]:
    """Yield the numbers of texts and the texts, with a bar if a person is watching."""
    from rich.console import Console
    from rich.progress import track

    watched = sys.stderr.isatty()
    return track(list(enumerate(parts)), "texts", console=Console(stderr=True), disable=not watched)
