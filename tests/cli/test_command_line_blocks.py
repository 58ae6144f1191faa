"""``otspec blocks``: rules for drafted blocks and trees side by side."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from command_line import complaint, run, write_trace

from otspec.blocks import (
    BLOCK_RULES,
    TREE_RULES,
    TREE_VERIFIERS,
    DraftSelection,
    as_shape,
    compare_block_rules,
    compare_trees,
)
from otspec.datasets import load_smollm2
from otspec.logged import compare_on_blocks, compare_trees_on_blocks
from otspec.models import EndingModel, load_model, memoryless
from otspec.traces import load_trace

DRAFT, TARGET = "1/2,1/2", "1/4,3/4"
MODELS = ("--draft", DRAFT, "--target", TARGET)
PAIR = memoryless(DRAFT.split(",")), memoryless(TARGET.split(","))

CHAIN = {"": ["1/2", "0.5"], "0": ["1/3", "2/3"], "0 1": ["1/5", "4/5"]}
AIM = {"": [0.25, 0.75], "1": [0.5, 0.5], "1 1": ["0.125", 0.875]}

PRINTED = """\
One drafted block of L tokens
L  rule                                   E[kept]  tokens per call     gap
1  token verification                0.7500 = 3/4           1.7500  0.0000
1  block verification (published)    0.7500 = 3/4           1.7500  0.0000
1  block verification (preprint)     0.7500 = 3/4           1.7500  0.0000
2  token verification              1.3125 = 21/16           2.3125  0.1250
2  block verification (published)   1.3750 = 11/8           2.3750  0.0625
2  block verification (preprint)   1.4375 = 23/16           2.4375  0.0000

Of 2 drafted tokens at most 1.4375 can be kept; token by token 1.3125 are, and 1.3750 by \
the best rule that corrects one token only.

Trees of drafts
tree  rule                                                            E[kept]  tokens per call
2x1   recursive rejection                                     1.5781 = 101/64           2.5781
2x1   k-sequential                       1.6454 ≈ 381…209/232…616 (63 digits)           2.6454
2x1   importance sampling                                       1.8750 = 15/8           2.8750
2x1   pooled selection                                          1.8750 = 15/8           2.8750
2x1   recursive rejection (distinct)                             1.7500 = 7/4           2.7500
2x1   pooled selection (distinct)                                1.7500 = 7/4           2.7500
2x1   shared noise                                               1.7500 = 7/4           2.7500
2x1   target-only verification                                   1.2500 = 5/4           2.2500
2x1   traversal verification                                    1.6250 = 13/8           2.6250
2x1   universal tree                                            1.8750 = 15/8           2.8750
2x1   universal tree (earliest)                                 1.8750 = 15/8           2.8750
2x1   traversal verification (distinct)                        1.8125 = 29/16           2.8125
2x1   universal tree (distinct)                                1.8125 = 29/16           2.8125
2x1   greedy multi-path                                         1.8750 = 15/8           2.8750
"""


def documents(capsys, *arguments):
    return json.loads(run(capsys, "blocks", *arguments, "--json"))


def saved(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path):
    """A draft and a target model; only the first writes fractions."""
    return saved(tmp_path / "draft.json", CHAIN), saved(tmp_path / "target.json", AIM)


def check_exact(document, draft, target, lengths, trees):
    """Every number of the document is the library's, as a fraction."""
    rows, tree_rows = (
        compare_block_rules(draft, target, lengths),
        compare_trees(draft, target, trees),
    )
    assert len(document["blocks"]) == len(rows) == len(lengths) * len(BLOCK_RULES.values())
    for found, row in zip(document["blocks"], rows, strict=True):
        assert (found["rule"], found["length"]) == (row.rule, row.length)
        for name in ("expected", "optimum", "gap", "efficiency"):
            assert Fraction(found[name]) == getattr(row, name)
            assert type(found[name]) is str
    for found, row in zip(document["trees"], tree_rows, strict=True):
        assert (found["tree"], found["rule"]) == (row.tree, row.rule)
        assert Fraction(found["expected"]) == row.expected == Fraction(found["efficiency"]) - 1


def test_the_whole_output_of_one_run(capsys):
    assert run(capsys, "blocks", *MODELS, "-L", "1,2", "--tree", "2x1") == PRINTED


def test_inline_models_are_memoryless(capsys):
    document = documents(
        capsys, *MODELS, "-L", "1,2,4", "--tree", "2x2", "--tree", "3x1", "--tree", "1"
    )
    check_exact(document, *PAIR, (1, 2, 4), ("2x2", "3x1", "1"))
    assert set(document) == {"blocks", "trees"}
    assert document["blocks"][3]["expected"] == "21/16"
    assert {row["error"] for row in document["blocks"] + document["trees"]} == {0.0}


def test_rules_for_two_drafts_are_for_binary_trees(capsys):
    document = documents(capsys, *MODELS, "-L", "1", "--tree=2x2", "--tree=2x1", "--tree=2")
    for tree in ("2x2", "2x1", "2"):
        shown = [row["rule"] for row in document["trees"] if row["tree"] == tree]
        rules = [
            rule for rule in TREE_RULES.values() if rule.only_k is None or tree in ("2x2", "2")
        ]
        made = [(rule.title, DraftSelection(*PAIR, tree, rule)) for rule in rules]
        made += [
            (kind.title, kind(*PAIR, tree))
            for kind in TREE_VERIFIERS.values()
            if kind.serves(as_shape(tree))
        ]
        assert shown == [title for title, _ in made]
        rows = (row for row in document["trees"] if row["tree"] == tree)
        for (_, rule), row in zip(made, rows, strict=True):
            assert Fraction(row["expected"]) == rule.expected()


def test_models_from_files(capsys, files):
    draft, target = files
    arguments = ("--draft", draft, "--target", target, "-L", "1,3", "--exact")
    document = documents(capsys, *arguments, "--tree", "2x1x1")
    models = load_model(draft, exact=True), load_model(target, exact=True)
    assert models[1]((1, 1)).tolist() == [Fraction(1, 8), Fraction(7, 8)]
    check_exact(document, *models, (1, 3), ("2x1x1",))
    mixed = complaint(capsys, "blocks", *arguments[:-1])  # the draft alone writes fractions
    assert "draft(()) is exact but target(()) is float" in mixed


def test_a_file_beside_an_inline_model_and_decimals(capsys, tmp_path):
    rows = saved(tmp_path / "rows.json", {"": [0.25, 0.75], "0": [0.1, 0.9]})
    arguments = ("--draft", rows, "--target", "0.5,0.5", "-L", "2", "--tree", "2x1")
    document = documents(capsys, *arguments)
    half = memoryless([0.5, 0.5])
    for found, row in zip(document["blocks"], compare_block_rules(load_model(rows), half, [2]),
                          strict=True):  # fmt: skip
        assert type(found["expected"]) is float
        assert found["expected"] == row.expected
        assert found["gap"] == row.gap
    for found, row in zip(document["trees"], compare_trees(load_model(rows), half, ["2x1"]),
                          strict=True):  # fmt: skip
        assert found["expected"] == row.expected
    exact = documents(capsys, *arguments, "--exact")
    check_exact(exact, load_model(rows, exact=True), memoryless(["1/2", "1/2"]), (2,), ("2x1",))
    printed = run(capsys, "blocks", *arguments)
    assert " = " not in printed
    assert " = " in run(capsys, "blocks", *arguments, "--exact")


def test_the_bundled_trace_is_the_default(capsys):
    document = documents(capsys, "-L", "1,4", "--tree", "2x2")
    logged = list(load_smollm2().blocks())
    for found, row in zip(document["blocks"], compare_on_blocks(logged, [1, 4]), strict=True):
        assert found == vars(row) | {"gap": row.gap, "efficiency": row.efficiency}
    for found, row in zip(document["trees"], compare_trees_on_blocks(logged, ["2x2"]), strict=True):
        assert found == vars(row) | {"efficiency": row.efficiency}
    printed = run(capsys, "blocks", "-L", "1")
    first, header = printed.splitlines()[:2]
    assert first == "Mean over the 2 drafted blocks of the bundled SmolLM2 trace (T = 1)"
    assert header.split("  ")[-2:] == ["standard error", "tokens per call"]
    assert "Of 1 drafted token at most" in printed
    assert "Trees of drafts" not in printed


def test_a_trace_by_its_path(capsys, tmp_path):
    tokens = np.array([[3, 5], [0, 19]])
    path = write_trace(tmp_path / "logged.npz", draft_tokens=tokens)
    document = documents(capsys, path, "-L", "2")
    rows = compare_on_blocks(load_trace(path).blocks(), [2])
    assert [row["expected"] for row in document["blocks"]] == [row.expected for row in rows]
    assert [row["error"] for row in document["blocks"]] == [row.error for row in rows]
    printed = run(capsys, "blocks", path, "-L", "1,2", "--tree", "2x2")
    assert "Mean over the 2 drafted blocks of the logged.npz (T = 1)" in printed
    assert "Trees of drafts" in printed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--draft", DRAFT], "--draft is given without --target: name both"),
        (["--target", DRAFT], "--target is given without --draft: name both"),
        (["trace.npz", *MODELS], "the trace trace.npz is given beside models"),
        (["--exact"], "--exact needs models: add --draft and --target"),
        (["-L", "9"], "length is 9, but the block has 8 tokens"),
        (["-L", "1,0"], "'1,0' holds '0': write positive integers"),
        (["-L", "two"], "write positive integers"),
        (["-L", "-1"], "write positive integers"),
        (["-L", ""], "write positive integers"),
        (["--tree", "1x1x1x1x1x1x1x1x1"], "length is 9, but the block has 8 tokens"),
        ([*MODELS, "--tree", "2*2"], "--tree is '2*2': write the children by depth"),
        ([*MODELS, "--tree", "2x2,2"], "--tree is '2x2,2': write the children by depth"),
        ([*MODELS, "--tree", ""], "--tree is '': write the children by depth"),
        ([*MODELS, "--tree", "[[]"], "--tree is '[[]': write each node as a pair of brackets"),
        ([*MODELS, "--tree", "none.json"], "none.json: no such file"),
        ([*MODELS, "--tree", "2x0"], "--tree[1] must be at least 1"),
        (["none.npz"], "none.npz: no such file"),
        (["trace.csv"], "a trace is a .npz, .safetensors, .pt"),
        (["--draft", "none.json", "--target", TARGET], "none.json: no such file"),
        (["--draft", "half", "--target", TARGET], "draft: 'half' is neither numbers"),
        (["--draft", DRAFT, "--target", "1/3,1/3,1/3"], "both must be over the same"),
        (["--draft", "0.5,0.5", "--target", TARGET], "target(()) is exact but draft"),
        (["--draft", DRAFT, "--target", "1/2,1/3"], "target sums to 5/6"),
        (["--draft", "1/2,-1/2,1", "--target", TARGET], "draft[1] is -1/2"),
        ([*MODELS, "--rule", "token"], "No such option"),
        ([*MODELS, "-L", "2,999999"], "-L is 999999: at most 200 tokens of a block"),
        (["--tree", "999x9"], "--tree holds 999x9: at most 200 children and levels"),
        (["--tree", "999999x99"], "--tree is '999999x99': the tree has more than 1,000,000"),
    ],
)
def test_what_cannot_be_done_is_one_line(capsys, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "trace.csv", "1,2")
    assert says in complaint(capsys, "blocks", *arguments)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"": [0.5, 0.5]', "cannot read"),
        ("", "is empty"),
        ("0.5", "not a list or an object of lists"),
        ({}, "draft has no row for the empty prefix"),
        ({"0": ["1/2", "1/2"]}, "draft has no row for the empty prefix"),
        ({"": 0.5}, "the row of '' is not one list of numbers"),
        ({"": [["1/2", "1/2"]]}, "the row of '' is not one list of numbers"),
        ({"": {"a": 1}}, "the row of '' is not one list of numbers"),
        ({"": []}, "draft is empty"),
        ({"": ["1/2", None]}, "draft[1] is None"),
        ({"": [0.5, "half"]}, "draft[1] is 'half': write numbers such as 0.3 or 3/10"),
        ({"": [0.5, 0.4]}, "draft sums to 0.9"),
        ({"": ["1/2", "1/2"], "a": ["1/2", "1/2"]}, "'a' is no prefix: write token ids"),
        ({"": ["1/2", "1/2"], "-1": ["1/2", "1/2"]}, "'-1' is no prefix"),
        ({"": ["1/2", "1/2"], "2": ["1/2", "1/2"]}, "token ids run from 0 to 1"),
        ({"": ["1/2", "1/2"], "0": ["1/3", "1/3", "1/3"]}, "must be over the same vocabulary"),
        ({"": ["1/2", "1/2"], " ": ["1/2", "1/2"]}, "two keys mean the same prefix"),
    ],
)
def test_a_file_that_is_no_model_is_one_line_with_its_name(capsys, tmp_path, content, says):
    path = saved(tmp_path / "model.json", content)
    line = complaint(capsys, "blocks", "--draft", path, "--target", TARGET)
    assert says in line
    assert "model.json" in line


def test_traces_without_drafted_tokens_are_one_line(capsys, tmp_path):
    bare = write_trace(tmp_path / "bare.npz")
    assert "the trace has no draft_tokens: log the drafted tokens" in complaint(
        capsys, "blocks", bare
    )
    short = write_trace(tmp_path / "short.npz", draft_tokens=np.array([[3], [5]]))
    assert "length is 2, but the block has 1 tokens" in complaint(capsys, "blocks", short)
    wrong = write_trace(tmp_path / "wrong.npz", draft_tokens=np.array([[3.0], [5.0]]))
    assert "it must hold integers" in complaint(capsys, "blocks", wrong)
    beyond = write_trace(tmp_path / "beyond.npz", draft_tokens=np.array([[3], [20]]))
    assert "tokens[0] is 20" in complaint(capsys, "blocks", beyond, "-L", "1")


def test_help_has_an_example_that_runs(capsys):
    printed = " ".join(run(capsys, "blocks", "--help").split())
    example = printed.split("Example: otspec ")[1].split(" Options:")[0]
    assert "Trees of drafts" in run(capsys, *example.split())


def test_nothing_counts_behind_an_end_token(capsys):
    ending = EndingModel(PAIR[1], [1])
    found = json.loads(
        run(capsys, "blocks", *MODELS, "--end", 1, "-L", "1,2", "--tree", "2x1", "--json")
    )
    rows = compare_block_rules(PAIR[0], ending, [1, 2])
    assert [Fraction(each["expected"]) for each in found["blocks"]] == [
        row.expected for row in rows
    ]
    assert [Fraction(each["optimum"]) for each in found["blocks"]] == [row.optimum for row in rows]
    trees = compare_trees(PAIR[0], ending, ["2x1"])
    assert [Fraction(each["expected"]) for each in found["trees"]] == [
        row.expected for row in trees
    ]
    told = complaint(capsys, "blocks", *MODELS, "--end", 2)
    assert told == "otspec: end holds 2, but token ids run from 0 to 1\n"


def test_logged_blocks_are_over_with_an_end_token(tmp_path, capsys):
    path = write_trace(tmp_path / "log.npz", draft_tokens=np.array([[3, 1, 4], [1, 5, 9]]))
    blocks = list(load_trace(path).blocks())
    end = blocks[0].tokens[0]
    over = [replace(block, end=[end]) for block in blocks]
    assert over[0].ended
    found = json.loads(
        run(capsys, "blocks", path, "--end", end, "-L", 2, "--tree", "2x1", "--json")
    )
    wanted = compare_on_blocks(over, [2]), compare_trees_on_blocks(over, ["2x1"])
    for name, rows in zip(("blocks", "trees"), wanted, strict=True):
        assert [each["expected"] for each in found[name]] == pytest.approx(
            [float(row.expected) for row in rows]
        )


@pytest.mark.parametrize(
    ("draft", "expected"), [("1/2,1/2", "3/4"), ("halves.json", "3/4"), ("0.5,0.5", 0.75)]
)
def test_integers_are_exact_beside_fractions_only(capsys, tmp_path, monkeypatch, draft, expected):
    """Σ min of both for the first token, and that squared for both."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "halves.json").write_text('{"": ["1/2", "1/2"]}', encoding="utf-8")
    printed = run(capsys, "blocks", "--draft", draft, "--target", "0,1", "-L", "2", "--json")
    assert json.loads(printed)["blocks"][0]["expected"] == expected
