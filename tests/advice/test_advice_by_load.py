"""Advice by batch size: all cuts against their exact laws, costs by load, and the command."""

from __future__ import annotations

import json
import math
from functools import lru_cache

import numpy as np
import pytest
from advice_logs import arrays_of, blocks, written_texts

from otspec.advice import advise_by_load
from otspec.advice.loads.cuts import TREE, WHOLE, Cut, cuts_of, tallied
from otspec.blocks import BlockVerification, as_load_seconds
from otspec.blocks.policies import Policy, chain, policies
from otspec.blocks.policies.shipped import beginnings
from otspec.cli.main import main
from otspec.logged import LoggedBlock
from otspec.models import EndingModel, markov

DRAFT = markov([["3/4", "1/4"], ["1/3", "2/3"]])
TARGET = markov([["1/2", "1/2"], ["1/4", "3/4"]])
CUTS = cuts_of(2, (0.3, 0.5, 0.75), (0.1875, 0.5))
"""Also with thresholds that a draft or a path just reaches."""


def logged(text, end=(), *, written=False):
    rows = [[model(text[:i]) for i in range(len(text))] for model in (DRAFT, TARGET)]
    return LoggedBlock(*rows, text, end, rows[1] if written else None)


def rule_of(cut, draft, target):
    """Return the policy and the verifier of a cut as one rule, which is followed exactly."""

    def likely(model, chance):
        texts = [text for text, _ in model.texts(cut.length)]
        nodes = dict.fromkeys(part for text in texts for part in beginnings(text))
        return sorted((text for text in nodes if model.mass(text) >= cut.threshold), key=len)

    if cut.policy == TREE:
        return Policy("", "", likely, cut.length, certain=True).rule(draft, target)
    whole = Policy("", "", chain(cut.length), cut.length)
    named = policies(str(cut.threshold), cut.length)
    policy = whole if cut.policy == WHOLE else named[cut.policy]
    return policy.rule(draft, target, BlockVerification(draft, target, cut.length).verify)


def mean_of(texts, depth, cuts=CUTS):
    """Return the mean over texts, each as often as it is likely."""
    found = [(float(mass), tallied(block, cuts, depth)) for block, mass in texts]
    names = ("tokens", "calls", "drafted")
    return [sum(mass * getattr(part, name) for mass, part in found) for name in names]


@pytest.mark.parametrize(
    ("end", "cuts"),
    [((), CUTS), ((1,), CUTS), ((), [Cut("path-kept", least, 3) for least in (0.2, 0.3, 0.5)])],
    ids=["endless", "ending", "three levels"],
)
def test_drafted_blocks_say_what_each_cut_keeps_and_drafts(end, cuts):
    target = EndingModel(TARGET, end) if end else TARGET
    depth = max(cut.length for cut in cuts)
    texts = [(logged(text, end), mass) for text, mass in DRAFT.texts(depth)]
    tokens, calls, drafted = mean_of(texts, depth, cuts)
    assert calls == pytest.approx(np.ones(len(cuts)), abs=1e-12)
    for place, cut in [pair for pair in enumerate(cuts) if pair[1].length]:
        rule = rule_of(cut, DRAFT, target)
        assert tokens[place] == pytest.approx(float(1 + rule.expected()), abs=1e-12), cut
        if cut.policy != TREE or not end:  # nodes behind an end token are counted, and not kept
            for way in (0, 1) if cut.policy != TREE else (0,):
                nodes = drafted[place, way].sum()
                assert nodes == pytest.approx(float(rule.nodes()), abs=1e-12), (cut, way)


def test_chains_are_compared_whole_and_cut_and_trees_at_each_threshold():
    chains = ("confidence-kept", "confidence-max", "path-kept")
    assert cuts_of(2, (0, 0.5), (0.25, 0.75)) == [
        ("no draft", 0, 0),
        *(
            (name, least, length)
            for length in (1, 2)
            for name, least in [
                ("fixed length", 0), *((chain, 0.5) for chain in chains),
                ("dynamic tree", 0.25), ("dynamic tree", 0.75),
            ]
        ),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "place", [place for place, cut in enumerate(CUTS) if cut.length == 2 or place % 3 == 1]
)
def test_texts_of_the_target_say_it_of_all_calls_along_them(place):
    length, depth, cut = 4, 2, CUTS[place]
    texts = [(logged(text, written=True), mass) for text, mass in TARGET.texts(length)]
    found = [float(np.ravel(part)[0]) for part in mean_of(texts, depth, [cut])[:2]]
    drafted = mean_of(texts, depth, [cut])[2][0].sum(axis=1)

    @lru_cache
    def counted(prefix):
        """Return tokens, calls and drafts of the calls that begin before the last place counts."""
        if len(prefix) > length - depth:
            return 0.0, 0.0, 0.0
        rule = rule_of(cut, DRAFT.after(prefix), TARGET.after(prefix))
        total = np.array([0.0, 1.0, float(rule.nodes())])
        for outcome in rule.outcomes():
            kept = len(outcome.accepted)
            for token, share in enumerate(outcome.following(()).tolist()):
                mass = float(outcome.mass * share)
                total[0] += mass * (kept + 1)
                total += mass * np.array(counted((*prefix, *outcome.accepted, token)))
        return tuple(total)

    tokens, calls, nodes = counted(())
    assert found == pytest.approx([tokens, calls], abs=1e-12)
    ways = drafted if cut.policy != TREE else drafted[:1]
    assert ways == pytest.approx([nodes] * len(ways), abs=1e-12)


COSTS = {"draft_cost": 0.03, "target_cost": "1:1,32:1.05,128:2,512:7"}


@pytest.mark.parametrize("logs", [blocks, written_texts], ids=["drafted", "written"])
def test_chains_are_deeper_at_low_load_and_shorter_at_high_load(logs):
    found = advise_by_load(logs(60, 5), **COSTS, batches=(1, 8, 128), depth=4)
    depths = [one.drafted for one in found.best]
    assert depths == sorted(depths, reverse=True)
    assert (depths[0], found.best[0].batch) == (pytest.approx(4), 1)
    assert depths[-1] <= 1.1
    for one in found.choices:
        low, high = one.speed_up_interval
        assert low <= one.speed_up <= high
        assert one.rate <= max(each.rate for each in found.choices if each.batch == one.batch)
    assert found.texts == 60
    assert found.to_arrow().num_rows == len(found.choices)


def test_a_row_pays_for_its_own_length_by_the_table_of_its_batch():
    block = LoggedBlock([[1.0, 0.0]] * 2, [[1.0, 0.0]] * 2, [0, 0])
    table = {1: "1:1,2:1,3:1.5", 8: "1:2,2:3,3:9"}
    found = advise_by_load([block] * 4, draft_cost=0.5, target_cost=table, batches=(1, 8))
    rates = {(one.batch, one.kind): one.rate for one in found.choices}
    # All drafts are kept: of one 2 tokens in 1 + 0.5, of two 3 in 1.5 + 1.
    assert rates[1, "fixed length"] == pytest.approx(max(2 / 1.5, 3 / 2.5))
    assert rates[8, "fixed length"] == pytest.approx(8 * max(2 / 3.5, 3 / 10))
    assert rates[8, "no draft"] == 4
    between = advise_by_load([block], draft_cost=0.5, target_cost=table, batches=[4])
    alone = next(one for one in between.choices if one.kind == "no draft")
    assert alone.rate == pytest.approx(4 / (1 + 3 / 7))
    assert math.isnan(alone.held_out)


def test_costs_by_load_are_read_and_refused(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("batch,tokens,seconds\n1,1,1\n1,8,1.2\n16,1,2\n16,8,5\n", encoding="utf-8")
    costs = as_load_seconds(str(path))
    assert (costs.batches, costs(1, 8), costs(16, 8)) == ((1, 16), 1.2, 5)
    assert as_load_seconds({1: 1, 8: 3})(4, 2) == 3  # of tokens, not of batches
    with pytest.raises(ValueError, match="batch is 17, and costs are given for 1 to 16 rows"):
        costs(17, 1)
    with pytest.raises(ValueError, match=r"given\[1\] is '1:2,x'"):
        as_load_seconds({1: "1:2,x"})
    with pytest.raises(ValueError, match=r"batches\[0\]"):
        as_load_seconds({0: "1:2"})
    with pytest.raises(ValueError, match=r"paths\[0\] is 0: no tree has all nodes"):
        advise_by_load(blocks(1, 2), **COSTS, paths=[0])
    sure = [[1.0, 0.0, 0.0]]
    hidden = LoggedBlock([[0.5, 0.25, 0.25]], sure, [0], (), sure)
    with pytest.raises(ValueError, match="never draws token 1, which can be drafted there"):
        advise_by_load([hidden], **COSTS)
    with pytest.raises(ValueError, match="logs is empty"):
        advise_by_load([], **COSTS)


def test_of_files_the_one_of_the_shortest_texts_bounds_the_depth(tmp_path):
    logged = [*blocks(4, 3), *blocks(4, 2, seed=1)]
    paths = [tmp_path / f"{name}.npz" for name in "ab"]
    for path, some in zip(paths, (logged[:4], logged[4:]), strict=True):
        np.savez(path, **arrays_of(some))
    found, wanted = (advise_by_load(logs, **COSTS, batches=[1]) for logs in (paths, logged))
    tokens = [
        {(one.kind, one.policy, one.threshold, one.length): one.tokens for one in each.choices}
        for each in (found, wanted)
    ]
    assert tokens[0] == pytest.approx(tokens[1], rel=1e-12)
    assert max(one.length for one in found.choices) == 2


def test_the_command_shows_each_batch_size(capsys, tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text("batch,tokens,seconds\n1,1,1\n1,9,1.1\n64,1,2\n64,9,14\n", encoding="utf-8")
    arguments = ["advise", "--draft-cost", "0.03", "--target-cost", str(costs), "--nodes", "4"]
    arguments += ["--depth", "4", "--rule", "recursive-rejection", "--workers", "1"]
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)[0]
    best = {one["batch"]: one for one in document["loads"] if one["best"]}
    assert best[1]["drafted"] > 3 > best[64]["drafted"]
    assert main([*arguments, "--batch", "1"]) == 0
    text = capsys.readouterr().out
    assert "Tokens per second by batch size" in text
    assert "Mean drafted tokens per request: 4.0 at batch size 1." in text


@pytest.mark.parametrize("policy", ["confidence-kept", "confidence-max", "path-kept"])
@pytest.mark.parametrize(("least", "drafted"), [(0.5, 2), (0.75, 1)])
def test_what_is_as_likely_as_the_threshold_does_not_stop_a_chain(policy, least, drafted):
    rows = [[0.5, 0.5]] * 2
    found = tallied(LoggedBlock(rows, rows, [0, 1]), [Cut(policy, least, 2)], 2)
    drafted -= policy == "confidence-max" and least > 0.5  # which looks before it drafts
    assert found.drafted.sum(axis=2)[0, 0] == drafted
    assert found.tokens.tolist() == [1 + drafted]  # the draft is the target: all is kept
