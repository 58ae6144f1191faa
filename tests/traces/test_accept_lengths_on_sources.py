"""Accept lengths on files of logits with tokens, against the same texts one by one."""

from __future__ import annotations

import json

import numpy as np
import pytest

from otspec.blocks import BlockVerification, TokenVerification, as_shape
from otspec.cli.main import main
from otspec.logged import LoggedBlock, lengths_on_blocks, lengths_on_texts
from otspec.rules.base import accepted
from otspec.rules.rejection import without_replacement
from otspec.traces import Trace, Warp, Warping
from otspec.traces.accept_lengths import CountedCalls, rule_named
from otspec.traces.readers import find_source
from otspec.traces.runs import open_run

RNG = np.random.default_rng(6)
DRAFT, TARGET = (np.log(RNG.dirichlet(np.ones(5), (6, 8))) for _ in range(2))
TOKENS = RNG.integers(0, 5, (6, 7))
AS_LOGGED = Warping()
NAMED = (
    ("recursive-rejection", "2x1"),
    ("pooled-selection", "[[]][]"),
    ("token", "1x1x1"),
    ("block-published", "1x1x1"),
)
ASKED = [(rule_named(name), as_shape(tree)) for name, tree in NAMED]


def saved(folder, name="logs.npz", **tokens):
    path = folder / name
    np.savez(path, draft_logits=DRAFT, target_logits=TARGET, **tokens)
    return str(path)


def lengths_of(path, folder, *, asked=NAMED, warping=AS_LOGGED, chunk=None, **options):
    """Accept lengths by a run in a folder, of one chunk or many."""
    work = CountedCalls(asked, (warping,), **options)
    sources = [find_source(str(path), tokens=True)]
    with open_run(folder / "run", sources, work, chunk=chunk, overwrite=True) as run:
        run.compute(workers=1)
        assert run.failures() == []
        return list(work.lengths_in(run.tables()).values())


def same(one, other):
    assert (one.drafted, one.bounded, one.tally.texts) == (
        other.drafted, other.bounded, other.tally.texts,
    )  # fmt: skip
    assert one.tally.sums == pytest.approx(other.tally.sums, rel=1e-12)
    assert one.tally.products == pytest.approx(other.tally.products, rel=1e-12)


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize(("temperature", "of_draft"), [(1.0, None), (0.7, 1.5)])
def test_files_of_the_targets_texts_are_replayed_text_by_text(tmp_path, cut, temperature, of_draft):
    path = saved(tmp_path, target_tokens=TOKENS)
    warping = Warping(temperature, draft=of_draft and Warp(of_draft))
    trace = Trace(DRAFT, TARGET, target_tokens=TOKENS)
    found = lengths_of(path, tmp_path, warping=warping, cut=cut)
    for (rule, tree), lengths in zip(ASKED, found, strict=True):
        texts = trace.texts(warping)
        same(lengths, lengths_on_texts(texts, rule, tree, cut=cut))


def test_an_end_token_cuts_texts_where_they_end(tmp_path):
    tokens = np.where(TOKENS == 2, np.arange(6)[:, None] % 3, TOKENS)
    path = saved(tmp_path, target_tokens=tokens)
    texts = Trace(DRAFT, TARGET, target_tokens=tokens).texts()
    ended = [LoggedBlock(text.draft, text.target, text.tokens, [2], text.sampled) for text in texts]
    assert 1 < sum(text.ended for text in ended) < len(ended)
    found = lengths_of(path, tmp_path, end=(2,), cut=True)
    for (rule, tree), lengths in zip(ASKED, found, strict=True):
        same(lengths, lengths_on_texts(ended, rule, tree, cut=True))


@pytest.mark.parametrize("chunk", [None, 8])
@pytest.mark.parametrize(
    ("temperature", "of_draft", "drawn"), [(1.0, None, 1.0), (0.7, 1.5, 1.0), (0.7, 1.5, 0.9)]
)
def test_files_of_drafted_blocks_are_estimated(tmp_path, temperature, of_draft, drawn, chunk):
    path = saved(tmp_path, draft_tokens=TOKENS)
    warping = Warping(temperature, draft=of_draft and Warp(of_draft))
    blocks = list(Trace(DRAFT, TARGET, TOKENS).blocks(warping, drawn=Warp(drawn)))
    found = lengths_of(path, tmp_path, warping=warping, drawn=Warp(drawn), chunk=chunk)
    for (rule, tree), lengths in zip(ASKED, found, strict=True):
        same(lengths, lengths_on_blocks(blocks, rule, tree))


def test_texts_that_depend_on_each_other_are_one_unit(tmp_path):
    path = tmp_path / "clusters.npz"
    shaped = [array.reshape(3, 2, *array.shape[1:]) for array in (DRAFT, TARGET, TOKENS)]
    np.savez(path, draft_logits=shaped[0], target_logits=shaped[1], target_tokens=shaped[2])
    apart = lengths_of(saved(tmp_path, target_tokens=TOKENS), tmp_path, chunk=8)
    together = lengths_of(path, tmp_path, chunk=8)
    for one, other in zip(apart, together, strict=True):
        assert (one.tally.texts, other.tally.texts) == (6, 3)
        assert other.accepted.value == pytest.approx(one.accepted.value, rel=1e-12)


def test_rules_that_are_only_simulated_are_left_out_or_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(without_replacement, "SUM_LIMIT", 0)
    monkeypatch.setattr(accepted, "FEW", 0)
    path = saved(tmp_path, target_tokens=TOKENS)
    asked = (("recursive-rejection-without-replacement", "[[]][][]"), NAMED[0])
    assert len(lengths_of(path, tmp_path, asked=asked, known=True)) == 1
    work = CountedCalls(asked, (Warping(),))
    with open_run(tmp_path / "run", [find_source(path, tokens=True)], work, overwrite=True) as run:
        run.compute(workers=1)
        [failure] = run.failures()
    assert "is only simulated: use fewer drafts or another rule" in failure.reason


def run(capsys, *arguments):
    status = main(["simulate", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_command_prints_what_was_counted(tmp_path, capsys):
    path = saved(tmp_path, target_tokens=TOKENS)
    arguments = ("--rule", "recursive-rejection", "--rule", "block-published", "--tree", "1x1")
    status, out, _ = run(capsys, path, *arguments, "--json")
    assert status == 0
    rows = json.loads(out)
    assert [(row["rule"], row["tree"], row["texts"]) for row in rows] == [
        ("recursive-rejection", "1x1", 6),
        ("block-published", "1x1", 6),
    ]
    texts = list(Trace(DRAFT, TARGET, target_tokens=TOKENS).texts())
    wanted = lengths_on_texts(texts, BlockVerification, "1x1")
    assert rows[1]["mean_acceptance_length"]["value"] == pytest.approx(
        wanted.acceptance_length.value, rel=1e-12
    )
    assert rows[1]["calls"] == pytest.approx(wanted.tally.sums[0], rel=1e-12)
    assert [rate["value"] for rate in rows[1]["per_position_acceptance_rate"]] == pytest.approx(
        wanted.rates, rel=1e-12
    )
    both = ("--temperature", "0.8", "--draft-temperature", "1.2")
    assert run(capsys, path, *both, "--drawn-temperature", "1")[0] == 2
    status, out, _ = run(capsys, path, *both)
    assert status == 0
    assert f"Accept lengths of 6 texts of the target of {path} (T = 0.8; draft T = 1.2)" in out
    assert "block verification (preprint)" not in out  # no text is decoded block by block anew
    status, out, _ = run(capsys, path, "--rule", "token", "--tree", "1x1", "--export", "vllm")
    assert json.loads(out)["synthetic_acceptance_rates"] == pytest.approx(
        lengths_on_texts(texts, TokenVerification, "1x1").rates, abs=1e-6
    )


def test_whose_tokens_a_file_without_names_has_is_said(tmp_path, capsys):
    for name, array in (("d", DRAFT), ("t", TARGET), ("k", TOKENS)):
        np.save(tmp_path / f"{name}.npy", array)
    names = "+".join(str(tmp_path / f"{name}.npy") for name in "dtk")
    assert "6 drafted blocks" in run(capsys, names, "--rule", "token")[1]
    _, out, _ = run(capsys, names, "--rule", "token", "--drawn-from", "target")
    assert "6 texts of the target" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--rule", "x"],
            "rule is 'x': it must be one of token, block-published",
        ),
        (["--tree", "0"], "--tree"),
        (["--export", "vllm"], "is of one rule, tree and temperature, and 5 are asked for"),
        (["--rule", "token", "--tree", "2x1"], "tree is 2x1: a rule for one block verifies"),
        (["--tree", "1x1x1x1x1x1x1x1x1"], "the tree 1x1x1x1x1x1x1x1x1 has 9 levels"),
        (["--end", "x"], "holds 'x': write token ids such as 0 or 0,2"),
        (["--temperature", "0"], "temperature is 0"),
        (["--drawn-temperature", "0"], "temperature is 0"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(capsys, arguments, message):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_files_with_tokens_of_both_models_are_not_mixed(tmp_path, capsys):
    first = saved(tmp_path, "a.npz", target_tokens=TOKENS)
    second = saved(tmp_path, "b.npz", draft_tokens=TOKENS)
    _, _, err = run(capsys, first, second)
    assert "b.npz (draft_tokens) and" in err
    assert "a.npz (target_tokens); ask about one kind" in err
    _, _, err = run(capsys, first, "--temperature", "0.5,1")
    assert "--temperature is 0.5, 1, but calls are counted along texts that were drawn" in err
