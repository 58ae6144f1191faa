"""``python -m otspec.traces.collect``: log a trace from two Hugging Face models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from otspec.arithmetic import Array, IntArray
from otspec.tables import forgive_encodings, printable, say
from otspec.traces.warping import warp
from otspec.writing import in_one_step


@dataclass(frozen=True)
class Models:
    """A draft and a target model over one vocabulary.

    Parameters
    ----------
    draft, target : transformers.PreTrainedModel
        Causal models.
    tokenizer : transformers.PreTrainedTokenizerBase
        The one that both use.
    device : str
        Where the models are.
    """

    draft: Any
    target: Any
    tokenizer: Any
    device: str

    @property
    def vocabulary(self) -> int:
        """Number of logits that both models have; what one has more is padding."""
        models = (self.draft, self.target)
        return min(int(model.config.get_text_config().vocab_size) for model in models)


def load_models(draft: str, target: str, *, device: str | None = None) -> Models:
    """Load two models and their tokenizer.

    Parameters
    ----------
    draft, target : str
        A folder, or the name of a model on the Hugging Face hub.
    device : str, optional
        Such as ``"cuda"`` or ``"cpu"``; by default a GPU if there is one.

    Raises
    ------
    ValueError
        Missing packages, models that cannot be loaded, or tokenizers that differ.
    """
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise ValueError(f"logging traces needs {error.name}: pip install 'otspec[hf]'") from None
    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        tokenizers = [AutoTokenizer.from_pretrained(name) for name in (draft, target)]
        if tokenizers[0].get_vocab() != tokenizers[1].get_vocab():
            raise ValueError("they have different tokenizers: use two models of one family")
        models = [
            AutoModelForCausalLM.from_pretrained(name).to(where).eval() for name in (draft, target)
        ]
    except (OSError, ValueError, RuntimeError) as error:
        raise ValueError(f"cannot use {draft} and {target}: {error}") from error
    return Models(models[0], models[1], tokenizers[1], where)


def collect(
    models: Models, prompts: Sequence[str], *, length: int, blocks: int = 1, seed: int = 0
) -> dict[str, Array]:
    """Draft tokens after each prompt and log the logits of both models.

    Parameters
    ----------
    models : Models
    prompts : sequence of str
    length : int
        Tokens in a block, L.
    blocks : int
        Blocks that are drafted after each prompt, independently.
    seed : int

    Returns
    -------
    dict of str to ndarray
        ``draft_logits`` and ``target_logits``, float16, shape (B, L + 1, n), where B is the
        number of prompts times ``blocks``: before each drafted token and after the last;
        ``draft_tokens``, int32, shape (B, L), each drawn from the draft at temperature 1, as it
        was logged; ``prompts``, shape (B,).

    Raises
    ------
    ValueError
        No prompt, or a model whose logits are no numbers or exceed float16.
    """
    if not prompts:
        raise ValueError("there is no prompt: write one a line")
    rng = np.random.default_rng(seed)
    total = len(prompts) * blocks
    shape = (total, length + 1, models.vocabulary)
    logits = {f"{side}_logits": np.empty(shape, np.float16) for side in ("draft", "target")}
    tokens = np.empty((total, length), np.int32)
    repeated = [prompt for prompt in prompts for _ in range(blocks)]
    for block, prompt in enumerate(repeated):
        prefix = models.tokenizer(prompt)["input_ids"]
        if not prefix:
            raise ValueError(f"prompt {prompt!r} has no token: write at least one word")
        tokens[block], logits["draft_logits"][block] = _draft(models, prefix, length, rng)
        text = prefix + tokens[block].tolist()
        rows, _ = _logits(models, models.target, text, None)
        logits["target_logits"][block] = rows[len(prefix) - 1 :]
    return logits | {"draft_tokens": tokens, "prompts": np.array(repeated)}


def _draft(
    models: Models, prefix: list[int], length: int, rng: np.random.Generator
) -> tuple[IntArray, Array]:
    """Draw a block from the draft model.

    Returns
    -------
    tokens : ndarray of int, shape (length,)
    rows : ndarray of float16, shape (length + 1, n)
    """
    rows, tokens = [], []
    new, cache = prefix, None
    for step in range(length + 1):
        logits, cache = _logits(models, models.draft, new, cache)
        rows.append(logits[-1])
        if step < length:
            chances = np.cumsum(warp(rows[-1]))
            new = [int(np.searchsorted(chances, rng.random() * chances[-1], side="right"))]
            tokens += new
    return np.array(tokens, np.int32), np.stack(rows)


def _logits(models: Models, model: Any, tokens: list[int], cache: Any) -> tuple[Array, Any]:
    """Return the logits after each of the tokens, float16, shape (m, n), and the model's cache."""
    import torch

    with torch.inference_mode():
        ids = torch.tensor([tokens], device=models.device)
        output = model(ids, past_key_values=cache, use_cache=True)
    numbers = output.logits[0, :, : models.vocabulary].float().cpu().numpy()
    with np.errstate(over="ignore"):
        rows: Array = numbers.astype(np.float16)
    if not (rows < np.inf).all():
        raise ValueError("a model's logits are NaN or above 65,504, which float16 cannot hold")
    return rows, output.past_key_values


class _BadInput(click.ClickException):
    """One line on standard error, and the exit status of bad input."""

    exit_code = 2


@click.command()
@click.option("--target", required=True, metavar="MODEL", help="A folder, or a name on the hub.")
@click.option("--draft", required=True, metavar="MODEL", help="With the tokenizer of the target.")
@click.option(
    "--prompts", "prompt_file", required=True, help="A text file, one prompt a line.",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
)  # fmt: skip
@click.option(
    "--out", required=True, help="The .npz file to write.",
    type=click.Path(path_type=Path, dir_okay=False),
)  # fmt: skip
@click.option("--length", type=click.IntRange(1), default=8, show_default=True,
              help="Tokens in a block.")  # fmt: skip
@click.option("--blocks", type=click.IntRange(1), default=1, show_default=True,
              help="Blocks after each prompt.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--device", help="Such as cuda or cpu. [default: a GPU if there is one]")
def main(
    target: str,
    draft: str,
    prompt_file: Path,
    out: Path,
    length: int,
    blocks: int,
    seed: int,
    device: str | None,
) -> None:
    """Log the logits of a draft and a target model along drafted blocks.

    The file is what `otspec trace` and `otspec blocks` read.
    """
    try:
        if out.suffix != ".npz":
            raise ValueError(f"--out is {out}: name a .npz file")
        prompts = prompt_file.read_text(encoding="utf-8").splitlines()
        models = load_models(draft, target, device=device)
        logged = collect(
            models,
            [prompt for prompt in prompts if prompt.strip()],
            length=length,
            blocks=blocks,
            seed=seed,
        )
        # Not compressed, so that it is read in place.
        with in_one_step(out) as stream:
            np.savez(stream, allow_pickle=False, **logged)
    except (ValueError, OSError) as error:
        raise _BadInput(printable(" ".join(str(error).split()))) from error
    shape = " × ".join(map(str, logged["draft_logits"].shape))
    say(f"{out}: {shape} logits of each model")


if __name__ == "__main__":
    forgive_encodings()
    main(prog_name="python -m otspec.traces.collect")
