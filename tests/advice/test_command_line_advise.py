"""``otspec advise``: what it prints and writes, and what it refuses."""

import json
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from advice_logs import arrays_of, blocks, written_texts
from command_line import complaint, run

from otspec.advice import advise
from otspec.traces import Trace, Warp, Warping

OPTIONS = (
    "--draft-cost", "0.05", "--target-cost", "1,1,1.05,1.2", "--nodes", "4", "--widest", "2",
    "--rule", "recursive-rejection", "--rule", "spechub", "--workers", "1",
)  # fmt: skip
SAME = {
    "draft_cost": 0.05, "target_cost": "1,1,1.05,1.2", "nodes": 4, "widest": 2,
    "rules": ["recursive-rejection", "spechub"],
}  # fmt: skip


@pytest.fixture(scope="module")
def drafted(tmp_path_factory):
    path = tmp_path_factory.mktemp("advise") / "drafted.npz"
    arrays = arrays_of(blocks(6, 3))
    np.savez(path, **arrays)
    return path, Trace(**arrays)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("advise") / "written.npz"
    np.savez(path, **arrays_of(written_texts(4, 8), "target_tokens"))
    return path


def test_the_table_has_the_fastest_choices_and_the_best_of_every_rule(drafted, capsys):
    path, trace = drafted
    printed = run(capsys, "advise", path, *OPTIONS)
    lines = printed.splitlines()
    advice = advise(trace, **SAME)
    assert lines[0] == "6 texts are too few to choose by: log at least 10, better a hundred."
    assert lines[1] == f"Speed-up and tokens per call on 6 texts, {path} (T = 1)"
    for choice, line in zip(advice.choices[:10], lines[3:], strict=False):
        assert line.startswith(choice.rule)
        assert f" {choice.speed_up:.3f} " in line
    table = printed.partition("\n\n")[0]
    assert {one.rule for one in advice.choices} == {
        one.rule for one in advice.choices if f"\n{one.rule} " in table
    }
    assert f"The fastest is {advice.best.rule} with the tree {advice.best.tree}: " in printed
    assert f"on other texts: {advice.held_out:.3f} times" in printed


@pytest.mark.parametrize(("texts", "enough"), [(1, False), (9, False), (10, True)])
def test_too_few_texts_are_said_first(tmp_path, capsys, texts, enough):
    path, report = tmp_path / "drafted.npz", tmp_path / "advice.html"
    np.savez(path, **arrays_of(blocks(texts, 3)))
    options = (*OPTIONS, "--rule", "spechub")
    first = run(capsys, "advise", path, *options, "--report", report).splitlines()[0]
    told = f"{texts} text{'s are' if texts > 1 else ' is'} too few to choose by"
    assert first.startswith("Speed-up and tokens per call on" if enough else told)
    assert (told in report.read_text(encoding="utf-8")) != enough
    (document,) = json.loads(run(capsys, "advise", path, *options, "--json"))
    assert document["enough_texts"] == enough


def test_a_loss_and_its_interval_are_in_per_cent(drafted, capsys):
    path, trace = drafted
    table = run(capsys, "advise", path, *OPTIONS).split("\n\n")[1].splitlines()[2:]
    for loss, line in zip(advise(trace, **SAME).simpler, table, strict=True):
        low, high = loss.loss_interval
        shown = [f"{100 * number:z.1f}%" for number in (loss.loss, low, high)]
        assert re.findall(r"-?[\d.]+%", line) == shown


def test_programs_get_every_number(drafted, capsys):
    path, trace = drafted
    (document,) = json.loads(run(capsys, "advise", path, *OPTIONS, "--json"))
    advice = advise(trace, **SAME)
    assert (document["texts"], document["confidence"]) == (6, 0.95)
    assert document["held_out"] == advice.held_out
    for choice, row in zip(advice.choices, document["choices"], strict=True):
        assert row["tokens"] == choice.tokens
        assert tuple(row["speed_up_interval"]) == choice.speed_up_interval
        assert row["speed"] == choice.speed
    assert [row["loss"] for row in document["simpler"]] == [one.loss for one in advice.simpler]


def test_each_way_of_looking_at_the_models_has_its_advice(drafted, capsys, tmp_path):
    path, trace = drafted
    out, report = tmp_path / "run", tmp_path / "report.html"
    heat = ("--temperature", "0.7,1", "--draft-temperature", "1")
    run(capsys, "advise", path, *OPTIONS, *heat, "--out", out, "--report", report)
    documents = json.loads((out / "advice.json").read_text(encoding="utf-8"))
    for document, temperature in zip(documents, (0.7, 1.0), strict=True):
        advice = advise(trace, **SAME, warping=Warping(temperature, draft=Warp()))
        assert [row["tokens"] for row in document["choices"]] == [
            one.tokens for one in advice.choices
        ]
    assert documents[0]["source"].endswith("(T = 0.7; draft T = 1)")
    pictures = sorted(out.glob("pareto-*.png"))
    assert len(pictures) == 2
    assert all(picture.stat().st_size > 5_000 for picture in pictures)
    page = report.read_text(encoding="utf-8")
    HTMLParser().feed(page)
    assert page.count("<svg") == 2
    assert "How it depends on what is done to the models" in page
    check_beginning(page, documents[0])


def check_beginning(page, document):
    """Compare the sentences and the figures of a report with its numbers."""
    lead = unescape(re.search(r'<p class="lead">(.*?)</p>', page)[1])
    best = document["choices"][0]
    assert lead.startswith(f"On {document['source']}: the fastest is {best['rule']} with the tree")
    assert f"{best['tokens']:.4f} tokens per call, {best['speed_up']:.3f} times as fast" in lead
    simple = next(one for one in document["choices"] if one["rule"] == "token verification")
    slower = 100 * (1 - simple["speed_up"] / best["speed_up"])
    assert f"{simple['speed_up']:.3f} times as fast at best, {slower:.1f}% slower, with" in lead
    assert f"{abs(best['tokens'] - simple['tokens']):.4f} " in lead
    assert f"<dd>×{best['speed_up']:.3f}</dd>" in page
    parts = ('class="lead"', 'class="key"', "<svg", "What is uncertain", "otspec advise ", "@soft")
    places = [page.index(part) for part in parts]
    assert places == sorted(places)


def test_a_tree_of_your_own_is_shown(drafted, capsys):
    path, trace = drafted
    advice = advise(trace, **SAME, trees=["2x1x1"])
    (own,) = (one for one in advice.choices if one.tree == "2x1x1")
    for line in run(capsys, "advise", path, *OPTIONS, "--tree", "2x1x1").splitlines():
        if " 2x1x1 " in line:
            assert line.startswith(own.rule)
            assert f" {own.tokens:.4f} " in line
            break
    else:
        pytest.fail("the tree is not shown")


def test_a_lossy_shortcut_is_beside_the_best_and_never_the_best(drafted, capsys):
    path, trace = drafted
    printed = run(capsys, "advise", path, *OPTIONS, "--total-variation", "0.3")
    advice = advise(trace, **SAME, total_variation=0.3)
    plain = advise(trace, **SAME)
    assert advice.best == plain.best
    assert advice.held_out == plain.held_out
    assert advice.choices[0].rule == "lossy, 0.3 a token"
    assert "Output that is off (lossy, 0.3 a token) is " in printed
    (gain,) = (one for one in advice.simpler if one.kind == "a lossy shortcut")
    assert gain.loss < 0
    assert gain.speed_up > advice.best.speed_up


def test_a_table_has_the_choices_of_all_ways(drafted, capsys, tmp_path):
    path, trace = drafted
    run(capsys, "advise", path, *OPTIONS, "--temperature", "0.7,1", "--table", tmp_path / "t.csv")
    header, *rows = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()
    advices = [advise(trace, **SAME, warping=Warping(temperature)) for temperature in (0.7, 1.0)]
    assert header.split(",")[0].strip('"') == "rule"
    assert len(rows) == sum(len(advice.choices) for advice in advices)
    assert sum("(T = 0.7)" in row for row in rows) == len(advices[0].choices)


def test_an_interrupted_run_goes_on(drafted, capsys, tmp_path):
    path, _ = drafted
    out = tmp_path / "run"
    options = (*OPTIONS, "--out", out, "--chunk", "3")
    first = run(capsys, "advise", path, *options)
    parts = sorted((out / "positions").iterdir())
    assert len(parts) == 6
    whole = [part.read_bytes() for part in parts]
    parts[2].unlink()
    again = run(capsys, "advise", path, *options, "--resume")
    assert again == first
    assert [part.read_bytes() for part in parts] == whole
    other = complaint(capsys, "advise", path, *options, "--resume", "--depth", "2")
    assert "holds another run: settings.depth was 3 and is 2" in other


def test_texts_of_the_target_are_those_that_it_is_looked_at(written, capsys):
    (document,) = json.loads(run(capsys, "advise", written, *OPTIONS, "--json"))
    assert document["texts"] == 4
    (cold,) = json.loads(run(capsys, "advise", written, *OPTIONS, "--temperature", 0.5, "--json"))
    assert cold["choices"] != document["choices"]
    said = complaint(capsys, "advise", written, *OPTIONS, "--temperature", "0.5,1")
    assert "calls are counted along texts that were drawn as the target is looked at" in said


def test_a_failed_chunk_is_left_out_and_named(capsys, tmp_path):
    arrays = arrays_of(blocks(4, 3))
    arrays["target_logits"][2, 1, 0] = np.nan
    path = tmp_path / "damaged.npz"
    np.savez(path, **arrays)
    from otspec.cli.main import main

    assert main(["advise", str(path), *OPTIONS, "--chunk", "3", "--json"]) == 1
    printed = capsys.readouterr()
    (document,) = json.loads(printed.out)
    assert document["texts"] == 3
    assert "skipped positions 6 to 8" in printed.err
    assert "target_logits[2, 1][0] is nan" in printed.err


def test_costs_may_be_measured_ones(drafted, capsys, tmp_path):
    path, _ = drafted
    costs = tmp_path / "target.csv"
    costs.write_text("1,1\n4,1.2\n", encoding="utf-8")
    changed = ["1:1,4:1.2" if word == "1,1,1.05,1.2" else word for word in OPTIONS]
    by_file = [costs if word == "1,1,1.05,1.2" else word for word in OPTIONS]
    printed = run(capsys, "advise", path, *changed)
    assert run(capsys, "advise", path, *by_file) == printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--depth", "4"), "depth is 4, but texts of"),
        (("--drawn-temperature", "0"), "temperature is 0"),
        (("--draft-cost", "fast"), "--draft-cost is 'fast'"),
        (("--tree", "1x1x1x1"), "the tree 1x1x1x1 has 4 levels, but 3 are looked at"),
        (("--nodes", "0"), "--nodes"),
        (("--resume",), "--resume needs --out"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(drafted, capsys, words, message):
    assert message in complaint(capsys, "advise", drafted[0], *OPTIONS, *words)


def test_costs_must_be_given(drafted, capsys):
    assert "Missing option '--draft-cost'" in complaint(capsys, "advise", drafted[0])
