"""``python -m docs.note.pairs``: train a target and two drafts, and log held-out positions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from otspec._base.tables import say

VOCABULARY = 1024
HELD_OUT = 5
"""Every fifth file is kept from training."""
PROMPT, DRAWN = 64, 12
"""Tokens of a held-out file before each position, and tokens drawn from the target after them."""
POSITIONS = 80
SEED = 0
SOURCES = "*.rst.txt"


def files(folder: Path) -> list[str]:
    """Return the texts of the manual in the order of their paths."""
    paths = sorted(folder.rglob(SOURCES), key=lambda path: path.relative_to(folder).as_posix())
    return [path.read_text(encoding="utf-8") for path in paths if not path.is_symlink()]


def byte_pairs(texts: list[str]) -> Any:
    """Return a byte-pair tokenizer of these texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def prompts(held_out: list[Any]) -> Iterator[Any]:
    """Yield the middle tokens of each held-out file that has enough of them."""
    for tokens in held_out:
        middle = (len(tokens) - PROMPT) // 2
        if middle >= 0:
            yield tokens[middle : middle + PROMPT]


def logits_after(models: list[Any], prompt: Any, rng: np.random.Generator) -> list[Any]:
    """Return what each model says after a prompt and tokens drawn from the first model."""
    import torch

    tokens = list(prompt)
    with torch.no_grad():
        for _ in range(DRAWN):
            row = models[0](torch.tensor([tokens]))[0, -1].double().softmax(0).numpy()
            tokens.append(int(rng.choice(len(row), p=row / row.sum())))
        rows = [model(torch.tensor([tokens]))[0, -1] for model in models]
        # Less the largest, with the digits that bfloat16 has: most engines compute no more.
        return [(row - row.max()).bfloat16().float().numpy() for row in rows]


@click.command()
@click.option("--texts", required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path))
@click.option("--steps", default=1.0, help="A factor for the numbers of steps.")
def main(texts: Path, out: Path, steps: float) -> None:
    """Train a target of four layers and drafts of one and two layers; log held-out positions."""
    os.environ["RAYON_NUM_THREADS"] = "1"
    import torch

    from docs.note.pairs.model import Size, loss_on, trained

    torch.set_num_threads(1)
    all_files = files(texts)
    learnt = [text for i, text in enumerate(all_files) if i % HELD_OUT]
    tokenizer = byte_pairs(learnt)
    kept = [np.array(tokenizer.encode(text).ids) for text in all_files[::HELD_OUT]]
    stream = np.concatenate([np.array(tokenizer.encode(text).ids) for text in learnt])
    say(f"{len(all_files)} files, {len(stream)} tokens to learn from")
    sizes = [
        Size(layers=4, width=128, heads=4, steps=round(1200 * steps), seed=1, table=True),
        Size(layers=1, width=48, heads=2, steps=round(1200 * steps), seed=2),
        Size(layers=2, width=64, heads=2, steps=round(1200 * steps), seed=3),
    ]
    models = []
    for size in sizes:
        models.append(trained(size, stream, VOCABULARY, say))
        torch.save(models[-1].state_dict(), out.with_suffix(f".{size.layers}.pt"))
    some = np.concatenate([tokens[:512] for tokens in kept])
    losses = [loss_on(model, some) for model in models]
    rows = [
        logits_after(models, prompt, np.random.default_rng([SEED, index]))
        for index, prompt in zip(range(POSITIONS), prompts(kept), strict=False)
    ]
    target, one, two = np.array(rows, np.float16).transpose(1, 0, 2)
    arrays = {
        "target_logits": np.stack([target, target], axis=1),
        "draft_logits": np.stack([one, two], axis=1),
    }
    facts = {
        "tokens": len(stream),
        "prompt": PROMPT,
        "drawn": DRAWN,
        "files": len(all_files),
        "layers": [size.layers for size in sizes],
        "widths": [size.width for size in sizes],
        "steps": [size.steps for size in sizes],
        "parameters": [sum(weight.numel() for weight in model.parameters()) for model in models],
        "losses": [round(loss, 4) for loss in losses],
    }
    np.savez_compressed(out, **arrays, settings=np.array([json.dumps(facts)]))
    say(json.dumps(facts))


if __name__ == "__main__":
    main(prog_name="python -m docs.note.pairs")
