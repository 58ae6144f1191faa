"""A sample of positions: its rule, what it depends on, and the command that logs it."""

import importlib.util
import json
import os
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from tiny_models import CHAT, END, WORDS, save_model, transformers

from otspec.cli.main import main as otspec_main
from otspec.datasets import load_smollm2
from otspec.models.pretrained import SMOLLM2_PACKAGE, SMOLLM2_SKIPPED, without_layers
from otspec.traces import load_trace, warp
from otspec.traces.collect import (
    Models,
    Script,
    collect,
    load_gguf,
    load_models,
    main,
)
from otspec.traces.collect.command import Shelf, read_prompts
from otspec.traces.collect.sampling import fair_sample, gathered

transformers()

LENGTH = 3
PROMPTS = ["the cat", "a dog sat", "the tree", "on the mat and", "under", "a cat ran", "and the"]

pytestmark = pytest.mark.filterwarnings("default")  # of the two packages, which are not ours


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return save_model(folder / "draft", 1), save_model(folder / "target", 2, chat=CHAT)


@pytest.fixture(scope="module")
def models(folders):
    return load_models(*folders, device="cpu")


def test_the_bundled_prompts_are_many_and_different():
    prompts = read_prompts(None)
    assert len(prompts) == len(set(prompts)) == 96
    assert all(prompt == prompt.strip() for prompt in prompts)


def test_a_text_depends_on_nothing_but_its_prompt_its_number_and_the_seed(models):
    whole = collect(models, PROMPTS, length=LENGTH, blocks=2, seed=3, sampled=2)
    few = collect(models, PROMPTS[:2], length=LENGTH, blocks=1, seed=3, sampled=2)
    for name in whole:
        assert (few[name] == whole[name][[0, 2]]).all()
    other = collect(models, PROMPTS[:2], length=LENGTH, seed=4, sampled=2)
    assert (other["draft_logits"] != few["draft_logits"]).any()


def test_a_sample_is_rows_of_the_whole_log_at_depths_that_rotate(models):
    script = Script(chat=True, sampled=2, length=LENGTH, seed=3)
    sample = gathered(models, fair_sample(PROMPTS, 5, 2, LENGTH), script)
    whole = collect(models, PROMPTS, length=LENGTH, seed=3, chat=True, sampled=2)
    assert sample["depths"].ravel().tolist() == [0, 1, 2, 3, 0]
    for side in ("draft", "target"):
        name = f"{side}_logits"
        assert sample[name].shape == (5, 1, len(WORDS))
        for text, depth in enumerate([0, 1, 2, 3, 0]):
            assert (sample[name][text, 0] == whole[name][text, depth]).all()
        assert (sample[f"block_{name}"] == whole[name][5:, :LENGTH]).all()
    assert (sample["block_draft_tokens"] == whole["draft_tokens"][5:]).all()
    assert sample["prompts"].tolist() == PROMPTS[:5]
    assert sample["block_prompts"].tolist() == PROMPTS[5:]
    with pytest.raises(ValueError, match="there are 7 prompts for 8 texts"):
        fair_sample(PROMPTS, 5, 3, LENGTH)


def test_tokens_before_the_block_are_drawn_from_the_target_and_end_no_text(models):
    size = 100
    before = collect(models, ["the cat"], length=1)["target_logits"][0, 0]
    before[END] = -np.inf
    law = warp(before)
    assert models.ends == (END,)
    after = {
        token: collect(models, [f"the cat {WORDS[token]}"], length=1)["draft_logits"][0, 0]
        for token in range(len(WORDS))
    }
    rows = collect(models, ["the cat"], length=1, blocks=size, sampled=1)["draft_logits"][:, 0]
    counts = np.zeros(len(WORDS))
    for row in rows:  # of which token is it what follows
        counts[min(after, key=lambda token: np.abs(after[token].astype(float) - row).sum())] += 1
    assert counts[END] == 0
    # Six standard deviations of each count: a chance of 12 in a thousand million.
    assert (np.abs(counts - size * law) <= 6 * np.sqrt(size * law * (1 - law)) + 1).all()


def test_prompts_go_into_the_turns_of_a_chat(models, folders):
    assert models.begun("cat sat", chat=True) == [1, 3, 5, 11]
    assert models.begun("cat sat", chat=False) == [3, 5]
    plain = load_models(folders[0], folders[0], device="cpu")
    with pytest.raises(ValueError, match="no chat template: leave out --chat"):
        plain.begun("cat", chat=True)


def test_a_draft_without_layers_is_the_model_of_the_others(models):
    import torch

    target = models.target
    draft = without_layers(target, [0])
    assert len(target.model.layers) == 2
    shared = {id(weight) for weight in target.parameters()}
    assert {id(weight) for weight in draft.parameters()} < shared
    text = torch.tensor([[1, 3, 5, 7]])
    with torch.inference_mode():
        embedded = target.model.embed_tokens(text)
        turns = target.model.rotary_emb(embedded, torch.arange(4)[None])
        last = target.model.layers[1](embedded, position_embeddings=turns)
        expected = target.lm_head(target.model.norm(last))
    # Five matrix products of rows of 16 or 32 in float32.
    torch.testing.assert_close(draft(text).logits, expected, rtol=1e-4, atol=1e-4)
    # Drafting goes token by token, with a cache.
    itself = Models(draft, target, models.tokenizer, "cpu")
    logged = collect(itself, ["the cat sat on"], length=LENGTH)
    tokens = [[1, 3, 5, 7, *logged["draft_tokens"][0].tolist()]]
    with torch.inference_mode():
        whole = draft(torch.tensor(tokens)).logits[0, 3:]
    less = (whole - whole.amax(dim=-1, keepdim=True)).numpy()
    np.testing.assert_allclose(logged["draft_logits"][0], less, rtol=2**-10, atol=1e-3)


@pytest.mark.parametrize(
    ("layers", "says"), [([2], "name some of 0 to 1"), ("0-1", "not all"), ([-1], "at least 0")]
)
def test_layers_that_are_not_there_are_refused(models, layers, says):
    with pytest.raises(ValueError, match=says):
        without_layers(models.target, layers)


def run(folders, out, *options):
    return CliRunner().invoke(
        main, ["--draft", folders[0], "--target", folders[1], "--out", str(out), *options]
    )


@pytest.fixture(scope="module")
def sample_file(folders, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    prompts = folder / "prompts.txt"
    prompts.write_text("\n".join(PROMPTS), encoding="utf-8")
    out = folder / "sample.npz"
    done = run(folders, out, "--prompts", str(prompts), "--length", str(LENGTH), "--chat",
               "--one-position", "--texts", "5", "--whole", "2", "--compress")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        f"{out}: 5 × 1 × 12 logits of each model",
        f"{out}: 2 × 3 × 12 logits of each model",
    ]
    assert [path.name for path in sorted(folder.iterdir())] == ["prompts.txt", "sample.npz"]
    return out


def test_both_commands_read_a_sample(sample_file, capsys):
    trace = load_trace(sample_file)
    assert trace.shape == (5, 1, len(WORDS))
    assert trace.prompts == tuple(PROMPTS[:5])
    assert trace.drafted.prompts == tuple(PROMPTS[5:])
    assert [len(block.tokens) for block in trace.blocks()] == [LENGTH] * 2
    settings = json.loads(np.load(sample_file)["settings"].item())
    assert (settings["chat"], settings["length"], settings["seed"]) == (True, LENGTH, 0)
    assert otspec_main(["trace", str(sample_file), "-k", "2"]) == 0
    printed = capsys.readouterr().out
    assert "Mean acceptance over 5 positions" in printed
    assert "If the 5 texts are a random sample" in printed
    assert otspec_main(["blocks", str(sample_file), "-L", "3"]) == 0
    assert "Mean over the 2 drafted blocks of the sample.npz" in capsys.readouterr().out


def test_an_interrupted_log_goes_on_and_is_the_same(folders, tmp_path, monkeypatch):
    out, again = tmp_path / "whole.npz", tmp_path / "again.npz"
    options = ("--texts", "3", "--length", "2")
    assert run(folders, out, *options).exit_code == 0
    text = Shelf.text

    def fail(shelf, number, log):
        if number == 2:
            raise OSError("no room")
        text(shelf, number, log)

    with monkeypatch.context() as patched:
        patched.setattr(Shelf, "text", fail)
        assert run(folders, again, *options).exit_code == 2
    assert not again.exists()
    there = again.with_name("again.npz.texts")
    first = (there / "000000.npz").stat().st_mtime_ns
    refused = run(folders, again, "--texts", "3", "--length", "3")
    assert refused.exit_code == 2
    assert "logged with other settings" in refused.output
    assert (there / "000000.npz").stat().st_mtime_ns == first
    assert run(folders, again, *options).exit_code == 0
    assert again.read_bytes() == out.read_bytes()
    assert not there.exists()


def test_the_target_of_a_log_may_draft_for_itself(folders, models, tmp_path):
    out = tmp_path / "own.npz"
    options = ["--target", folders[1], "--texts", "2", "--length", "2"]
    done = CliRunner().invoke(main, [*options, "--skip-layers", "0-0", "--out", str(out)])
    assert done.exit_code == 0, done.output
    itself = Models(without_layers(models.target, [0]), models.target, models.tokenizer, "cpu")
    logged = collect(itself, read_prompts(None)[:2], length=2)
    with np.load(out) as written:
        assert (written["draft_logits"] == logged["draft_logits"]).all()
        assert json.loads(written["settings"].item())["skip_layers"] == [0]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "name the target by either --target or --gguf"),
        (["--target", "here"], "name the draft by either --draft or --skip-layers"),
        (["--target", "a", "--draft", "b", "--skip-layers", "1"], "by either --draft or --skip"),
        (["--target", "a", "--gguf", "x.gguf"], "name the target by either --target or --gguf"),
        (["--gguf", "x.gguf", "--draft", "here"], "use --skip-layers in place of --draft"),
        (["--gguf", "x.gguf", "--skip-layers", "1;2"], "write layers such as 14,17"),
        (["--gguf", "no/such.gguf"], "neither a GGUF file nor an installed package"),
        (["--gguf", "numpy"], "the package numpy holds 0 GGUF files"),
    ],
)
def test_what_does_not_name_models_is_one_line(options, says, tmp_path):
    done = CliRunner().invoke(main, [*options, "--out", str(tmp_path / "trace.npz")])
    assert done.exit_code == 2
    assert says in done.output
    assert done.output.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize("package", ["torch", "gguf", "transformers"])
def test_a_missing_package_is_one_line_with_the_fix(package, tmp_path, monkeypatch):
    for name in ("torch", "gguf", "transformers"):  # none of them has to be there
        monkeypatch.setitem(sys.modules, name, None if name == package else sys)
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")
    done = CliRunner().invoke(
        main, ["--gguf", str(model), "--out", str(tmp_path / "trace.npz"), "--device", "cpu"]
    )
    assert done.exit_code == 2
    assert f"a language model needs the package {package}: pip install 'otspec[hf]'" in done.output


def test_a_damaged_gguf_file_is_one_line(tmp_path):
    if importlib.util.find_spec("gguf") is None:
        pytest.skip("it needs gguf: pip install gguf")
    model = tmp_path / "model.gguf"
    model.write_bytes(b"no model at all, but long enough for a header")
    done = CliRunner().invoke(main, ["--gguf", str(model), "--out", str(tmp_path / "trace.npz")])
    assert done.exit_code == 2
    assert f"cannot read {model}" in done.output


def test_the_bundled_sample_is_what_the_command_logs():
    if "OTSPEC_SMOLLM2" not in os.environ:
        pytest.skip(f"it takes a minute, gguf and {SMOLLM2_PACKAGE}: set OTSPEC_SMOLLM2=1")
    trace = load_smollm2()
    models = load_gguf(SMOLLM2_PACKAGE, SMOLLM2_SKIPPED, device="cpu")
    script = Script(chat=True, sampled=12)
    again = gathered(models, fair_sample(read_prompts(None), 2, 0, script.length), script)
    assert tuple(again["prompts"]) == trace.prompts[:2]
    for side in ("draft", "target"):
        bundled = getattr(trace, f"{side}_logits")[:2].astype(float)
        # Sums of float32 in another order, and float16, 11 bits.
        np.testing.assert_allclose(again[f"{side}_logits"], bundled, rtol=2**-9, atol=0.01)
