"""Logging traces from a pair of tiny models, made here; nothing is downloaded."""

import numpy as np
import pytest
from click.testing import CliRunner
from tiny_models import WORDS, save_model, save_tokenizer, transformers

from otspec.traces import load_trace, warp
from otspec.traces.collect import collect, load_models, main

transformers()

LENGTH = 5

pytestmark = pytest.mark.filterwarnings("default")  # of the two packages, which are not ours


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return save_model(folder / "draft", 1), save_model(folder / "target", 2, len(WORDS) + 4)


def test_the_log_is_what_the_models_say(folders):
    import torch

    models = load_models(*folders, device="cpu")
    logged = collect(models, ["the cat sat", "a dog"], length=LENGTH, blocks=2, seed=3)
    shape = (4, LENGTH + 1, len(WORDS))
    assert logged["draft_logits"].shape == logged["target_logits"].shape == shape
    assert logged["draft_logits"].dtype == logged["target_logits"].dtype == np.float16
    assert logged["prompts"].tolist() == ["the cat sat"] * 2 + ["a dog"] * 2
    for block, prompt in enumerate(logged["prompts"].tolist()):
        prefix = models.tokenizer(prompt)["input_ids"]
        text = torch.tensor([prefix + logged["draft_tokens"][block].tolist()])
        for side in ("draft", "target"):
            with torch.inference_mode():
                whole = getattr(models, side)(text).logits[0, len(prefix) - 1 :, : len(WORDS)]
            less = (whole - whole.amax(dim=-1, keepdim=True)).numpy()
            rows = logged[f"{side}_logits"][block]
            assert (rows.max(axis=-1) == 0).all()
            # With and without the cache sums run in different order; then float16, 11 bits.
            np.testing.assert_allclose(rows, less, rtol=2**-10, atol=1e-3)


def test_tokens_are_drawn_from_the_logged_draft(folders):
    models = load_models(*folders, device="cpu")
    size = 200
    logged = collect(models, ["the cat"], length=1, blocks=size, seed=5)
    law = warp(logged["draft_logits"][0, 0])
    counts = np.bincount(logged["draft_tokens"][:, 0], minlength=len(law))
    # Six standard deviations of each count: a chance of 12 in a thousand million.
    assert (np.abs(counts - size * law) <= 6 * np.sqrt(size * law * (1 - law)) + 1).all()
    first, again = (collect(models, ["the cat"], length=1, blocks=8, seed=5) for _ in range(2))
    assert all((again[name] == first[name]).all() for name in first)


def test_the_script_writes_a_trace_with_blocks(folders, tmp_path):
    prompts, out = tmp_path / "prompts.txt", tmp_path / "trace.npz"
    prompts.write_text("the cat sat on\n\na dog ran\n", encoding="utf-8")
    done = CliRunner().invoke(
        main,
        ["--draft", folders[0], "--target", folders[1], "--prompts", str(prompts),
         "--out", str(out), "--length", str(LENGTH)],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert f"2 × {LENGTH + 1} × {len(WORDS)}" in done.output
    trace = load_trace(out)
    assert trace.prompts == ("the cat sat on", "a dog ran")
    assert len(list(trace.blocks())) == 2


def test_what_does_not_fit_is_one_line(folders, tmp_path):
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("the cat\n", encoding="utf-8")
    other = tmp_path / "other"
    save_model(other, 1)
    save_tokenizer(other, WORDS[::-1])
    empty = tmp_path / "empty.txt"
    empty.write_text("\n", encoding="utf-8")
    for draft, text, out, says in (
        (str(other), prompts, "trace.npz", "different tokenizers"),
        (str(tmp_path / "nothing"), prompts, "trace.npz", "cannot use"),
        (folders[0], empty, "trace.npz", "no prompt"),
        (folders[0], prompts, "trace.npy", "name a .npz file"),
    ):
        done = CliRunner().invoke(
            main,
            ["--draft", draft, "--target", folders[1], "--prompts", str(text),
             "--out", str(tmp_path / out)],
        )  # fmt: skip
        assert done.exit_code == 2
        assert says in done.output
        assert done.output.splitlines()[-1].startswith("Error: ")  # after progress bars
