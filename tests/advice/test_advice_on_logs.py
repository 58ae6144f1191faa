"""Advice on logs: unbiased, with intervals that cover, and the same from files as in memory."""

import math
import re

import numpy as np
import pyarrow as pa
import pytest
from advice_logs import COSTS, arrays_of, blocks, written_texts
from scipy.special import stdtrit
from searching import enough

from otspec.advice import advise
from otspec.advice.evaluation.choices import Candidate, LossyChain, candidates
from otspec.advice.evaluation.numbers import drafted_texts
from otspec.advice.evaluation.search import Search, advice_from
from otspec.advice.evaluation.streaming import _joined, _rows
from otspec.advice.on_texts import FoldedTally, TextEvidence
from otspec.blocks import TREE_RULES, BlockVerification, DraftSelection, TokenVerification, as_shape
from otspec.display import card_of, fields_of
from otspec.logged import LoggedBlock, best_trees_on_blocks, replay
from otspec.logged.chances import Asked
from otspec.models import memoryless, random_pair
from otspec.rules import RecursiveRejection, SpecHub
from otspec.traces import Trace, Warp, Warping

FEW = ["recursive-rejection", "spechub"]
CHAINS = {rule.title: rule for rule in (TokenVerification, BlockVerification)}
BY_TITLE = CHAINS | {rule.title: rule for rule in TREE_RULES.values()}
DEPTH = 3


def subset(part, which):
    """Return some texts of a part, each of them independent of the others."""
    places = np.concatenate(
        [np.arange(part.starts[i], part.starts[i] + part.lengths[i]) for i in which]
    )
    return type(part)(
        np.arange(len(which)),
        part.lengths[which],
        part.asked,
        tuple(answers[:, :, places] for answers in part.answers),
        part.beside[:, places],
    )


@pytest.fixture(scope="module")
def long_log():
    search = Search.of(*COSTS.values(), 6, 2, FEW)
    part = drafted_texts(enumerate(blocks(500, DEPTH)), search.asked, DEPTH)
    return search, part


def advice_of(search, part):
    return advice_from(TextEvidence(lambda: [part]), search, DEPTH, "letters")


def test_intervals_cover_the_value_of_the_long_log_in_resamples(long_log):
    search, part = long_log
    worth = {(one.rule, one.tree): one for one in advice_of(search, part).choices}
    rng = np.random.default_rng(1)
    covered, best = [], []
    count = enough(200, 80)
    for _ in range(count):
        found = advice_of(search, subset(part, rng.integers(0, 500, 60)))
        for choice in found.choices:
            low, high = choice.speed_up_interval
            known = worth.get((choice.rule, choice.tree))
            if known is not None and choice.rule != "no draft":
                covered.append(low <= known.speed_up <= high)
                if choice is found.best:
                    best.append(covered[-1])
    assert len(covered) > 10 * count
    assert len(best) > 3 * count / 4
    assert np.mean(covered) >= 0.93
    assert np.mean(best) >= 0.93


def test_what_is_held_out_is_not_flattered(long_log):
    search, part = long_log
    rng = np.random.default_rng(2)
    flattered, held = [], []
    for _ in range(60):
        found = advice_of(search, subset(part, rng.integers(0, 500, 20)))
        flattered.append(found.best.speed_up)
        held.append(found.held_out)
    most = advice_of(search, part).best.speed_up
    assert np.mean(held) < np.mean(flattered)
    assert np.mean(held) < most + 3 * np.std(held) / math.sqrt(60)


def test_blocks_weighted_by_their_texts_give_exactly_what_models_keep():
    draft, target = random_pair(3, 0.4, np.random.default_rng(3))
    found, weights = [], []
    for text, mass in draft.texts(2):
        rows = [(draft(text[:i]), target(text[:i])) for i in range(2)]
        found.append(LoggedBlock(*zip(*rows, strict=True), text))
        weights.append(mass)
    asked = [Asked(rule, (1, 2)) for rule in (RecursiveRejection,)] + [Asked(SpecHub, (2,))]
    part = drafted_texts(enumerate(found), asked, 2)
    evidence = TextEvidence(lambda: [part])
    search = Search.of(0.1, 1, 6, 2, FEW)
    trees = {each.rule.name: evidence.best_trees(each.rule, 6, 2, 2) for each in asked}
    listed = candidates([each.rule for each in asked], trees, 6, 2, search.cost)
    tokens, calls = part.outcomes(listed)
    assert (calls == 1).all()
    for candidate, mean in zip(listed, np.array(weights) @ tokens, strict=True):
        if candidate.tree.size:
            assert mean == pytest.approx(1 + expected(candidate, draft, target), rel=1e-12)
        else:
            assert mean == pytest.approx(1, rel=1e-12)


def test_a_lossy_chain_is_unbiased_too():
    draft, target = random_pair(3, 0.4, np.random.default_rng(3))
    rule, kept = LossyChain(0.1), 0.0
    asked = [Asked(rule, (1,))]
    candidate = Candidate(rule.name, rule.title, "iid", as_shape("1x1"), 0.1)
    for text, mass in draft.texts(2):
        rows = [(draft(text[:i]), target(text[:i])) for i in range(2)]
        block = LoggedBlock(*zip(*rows, strict=True), text)
        tokens, _ = drafted_texts([(0, block)], asked, 2).outcomes([candidate])
        kept += mass * (tokens[0, 0] - 1)
    accepted = {
        text: np.minimum(draft(text), rule(draft(text), target(text), 1).target)
        for text in ((), (0,), (1,), (2,))
    }
    exact = accepted[()].sum() + sum(accepted[()][x] * accepted[(x,)].sum() for x in range(3))
    assert kept == pytest.approx(exact, rel=1e-12)


def expected(candidate, draft, target):
    if candidate.title in CHAINS:
        return CHAINS[candidate.title](draft, target, candidate.tree.depth).expected()
    rule = BY_TITLE[candidate.title]
    return DraftSelection(draft, target, candidate.tree, rule, merge=False).expected()


def test_along_texts_of_the_target_calls_are_those_of_a_replay():
    texts = written_texts(4, 12)
    advice = advise(texts, **COSTS, nodes=4, depth=3, widest=2, rules=FEW)
    for choice in advice.choices:
        if choice.rule == "no draft":
            assert choice.tokens == 1
            continue
        replays = [replay(text, BY_TITLE[choice.rule], choice.tree, cut=True) for text in texts]
        tokens, calls = (sum(getattr(one, name) for one in replays) for name in ("tokens", "calls"))
        assert choice.tokens == pytest.approx(tokens / calls, rel=1e-12)


@pytest.mark.parametrize("kind", ["draft_tokens", "target_tokens"])
def test_files_give_what_memory_gives(tmp_path, kind):
    logged = blocks(5, 3) if kind == "draft_tokens" else written_texts(3, 9)
    arrays = arrays_of(logged, kind)
    path = tmp_path / "log.npz"
    np.savez(path, **arrays)
    options = {**COSTS, "nodes": 4, "depth": 3, "widest": 2, "rules": FEW}
    warping = Warping(draft=Warp(0.8)) if kind == "target_tokens" else Warping(0.7)
    for looked in (None, warping):
        of_files = advise([path], **options, warping=looked, workers=1)
        in_memory = advise(Trace(**arrays), **options, warping=looked)
        assert repr(of_files.choices) == repr(in_memory.choices)
        assert repr(of_files.simpler) == repr(in_memory.simpler)
        assert of_files.texts == in_memory.texts == len(logged)


def test_two_files_are_as_one_of_all_their_texts(tmp_path):
    logged = blocks(5, 3)
    paths = [tmp_path / f"{name}.npz" for name in "ab"]
    for path, some in zip(paths, (logged[:2], logged[2:]), strict=True):
        np.savez(path, **arrays_of(some))
    options = {**COSTS, "nodes": 3, "widest": 2, "rules": FEW}
    apart, whole = (
        advise(paths, **options, workers=1),
        advise(Trace(**arrays_of(logged)), **options),
    )
    assert apart.texts == whole.texts == 5
    by_tree = {(one.rule, one.tree): one for one in whole.choices}
    for choice in apart.choices:
        other = by_tree[choice.rule, choice.tree]
        assert choice.tokens == pytest.approx(other.tokens, rel=1e-12)
        assert choice.tokens_interval == pytest.approx(other.tokens_interval, rel=1e-12)
    assert apart.held_out == pytest.approx(whole.held_out, rel=1e-12)
    assert card_of(apart).title == ("What to draft and how to verify it, from 2 sources (T = 1)")


def test_of_files_the_one_of_the_shortest_texts_bounds_the_levels(tmp_path):
    paths = [tmp_path / f"{name}.npz" for name in "ab"]
    for path, length in zip(paths, (3, 2), strict=True):
        np.savez(path, **arrays_of(blocks(3, length)))
    options = {**COSTS, "nodes": 3, "widest": 2, "rules": FEW[:1], "workers": 1}
    assert max(one.depth for one in advise(paths, **options).choices) == 2
    says = rf"depth is 3, but texts of {re.escape(str(paths[1]))} have 2 tokens: use fewer levels"
    with pytest.raises(ValueError, match=says):
        advise(paths, **options, depth=3)
    with pytest.raises(ValueError, match="the tree 1x1x1 has 3 levels, but 2 are looked at"):
        advise(paths, **options, trees=["1x1x1"])


def test_a_file_that_cannot_be_followed_is_refused(tmp_path):
    arrays = arrays_of(blocks(3, 3))
    arrays["target_logits"][2, 1, 0] = np.nan
    np.savez(tmp_path / "log.npz", **arrays)
    with pytest.raises(ValueError, match=r"target_logits\[2, 1\]\[0\] is nan"):
        advise(tmp_path / "log.npz", **COSTS, nodes=2, rules=FEW, workers=1)


def test_blocks_of_one_text_are_one_unit(tmp_path):
    logged = blocks(6, 3)
    arrays = arrays_of(logged)
    grouped = {name: each.reshape(2, 3, *each.shape[1:]) for name, each in arrays.items()}
    path = tmp_path / "log.npz"
    np.savez(path, **grouped)
    options = {**COSTS, "nodes": 3, "widest": 2, "rules": FEW}
    advice, apart = advise(path, **options, workers=1), advise(Trace(**arrays), **options)
    assert (advice.texts, apart.texts) == (2, 6)
    assert [one.tokens for one in advice.choices] == pytest.approx(
        [one.tokens for one in apart.choices], rel=1e-14
    )
    assert advice.best.tokens_interval != apart.best.tokens_interval


@pytest.mark.parametrize("count", [1, 2])
def test_a_card_has_intervals_if_there_is_more_than_one_text(count):
    advice = advise(blocks(count, 3), **COSTS, nodes=3, widest=2, rules=FEW)
    rows = dict(fields_of(advice).rows(advice))
    several = count > 1
    assert rows["texts"] == count
    assert rows["speed_up_interval"] == (advice.best.speed_up_interval if several else None)
    assert rows["held_out"] == (advice.held_out if several else None)


def test_the_best_tree_is_by_the_mean_chance_of_all_positions():
    logged = blocks(5, DEPTH)
    search = Search.of(*COSTS.values(), 4, 2, FEW)
    parts = [
        drafted_texts(enumerate(some), search.asked, DEPTH) for some in (logged[:2], logged[2:])
    ]
    evidence = TextEvidence(lambda: parts)
    by_name = {rule.name: rule for rule in search.rules}
    # A single draft is kept with the probability Σ min(draft, target).
    single = np.mean([np.minimum(one.draft, one.target).sum(axis=1)[:DEPTH] for one in logged])
    found = evidence.best_trees(by_name["recursive-rejection"], 4, DEPTH, 2)
    assert found.chain.expected == pytest.approx(single + single**2 + single**3)
    for rule in (RecursiveRejection, SpecHub):
        wanted = best_trees_on_blocks(logged, rule, 4, DEPTH, widest=2).trees.best
        best = evidence.best_trees(by_name[rule.name], 4, DEPTH, 2).best
        assert (best.tree, best.expected) == (wanted.tree, pytest.approx(wanted.expected))


def test_one_text_has_no_interval():
    advice = advise(blocks(1, 3), **COSTS, nodes=3, widest=2, rules=FEW)
    assert advice.texts == 1
    assert all(map(math.isnan, (*advice.best.tokens_interval, advice.held_out)))


@pytest.mark.parametrize(
    ("logs", "options", "message"),
    [
        (lambda: [*blocks(1, 3), *written_texts(1, 3)], {}, r"logs\[1\] is a text of the target"),
        (lambda: written_texts(1, 3), {"total_variation": 0.1}, "tokens are the target's, which"),
        (lambda: ["log.npz", *blocks(1, 3)], {}, r"logs\[0\] is 'log\.npz'"),
        (lambda: [memoryless([0.5, 0.5])] * 2, {}, r"logs\[0\] is"),
        (lambda: blocks(1, 3), {"depth": 4}, "length is 4, but the block has 3 tokens"),
        (lambda: blocks(1, 3), {"drawn": Warp(0.5)}, "drawn is given, but list has"),
    ],
)
def test_logs_that_cannot_be_used_are_refused(logs, options, message):
    given = logs()
    with pytest.raises(ValueError, match=message):
        advise(given, **COSTS, nodes=2, rules=FEW, **options)


def test_texts_drawn_in_another_way_than_they_are_looked_at_are_refused(tmp_path):
    path = tmp_path / "log.npz"
    np.savez(path, **arrays_of(written_texts(2, 4), "target_tokens"))
    options = {**COSTS, "nodes": 2, "rules": FEW}
    with pytest.raises(
        ValueError, match=r"looked at with T = 0.5, but the texts of .* with T = 1:"
    ):
        advise(path, **options, warping=Warping(0.5))
    cold = advise(path, **options, warping=Warping(0.5), drawn=Warp(0.5), workers=1)
    assert cold.texts == 2


def test_means_and_intervals_are_those_of_ratios_of_independent_texts():
    rng = np.random.default_rng(5)
    tokens, calls = rng.uniform(1, 4, (30, 3)), rng.uniform(1, 2, (30, 3))
    seconds = np.array([1.0, 1.5, 2.0])
    tally = FoldedTally.of_none(3)
    for rows in np.split(np.arange(30), [7, 20]):
        tally = tally.with_texts(rows, tokens[rows], calls[rows])
    ratios = tokens.sum(axis=0) / calls.sum(axis=0)
    assert np.allclose(tally.tokens_per_call(), ratios, rtol=1e-14)
    parts = tokens / tokens.sum(axis=0) - calls / calls.sum(axis=0)
    error = ratios * parts.std(axis=0, ddof=1) * math.sqrt(30)
    for choice in range(3):
        low, high = tally.interval(choice)
        radius = stdtrit(29, 0.975) * error[choice]
        assert (low, high) == pytest.approx((ratios[choice] - radius, ratios[choice] + radius))
    for one, best in ((1, 0), (0, 2), (2, 1)):
        loss, ends = tally.loss(one, best, seconds)
        share = ratios[one] / seconds[one] / (ratios[best] / seconds[best])
        error = (parts[:, one] - parts[:, best]).std(ddof=1) * math.sqrt(30)
        paired = share * error * stdtrit(29, 0.975)
        assert loss == pytest.approx(1 - share)
        assert ends == pytest.approx((1 - share - paired, min(1 - share + paired, 1)))
    kept, lasted = np.empty(30), np.empty(30)
    for fold in range(5):
        out = np.arange(30) % 5 == fold
        speeds = tokens[~out].sum(axis=0) / calls[~out].sum(axis=0) / seconds
        chosen = int(speeds.argmax())
        kept[out], lasted[out] = tokens[out, chosen], calls[out, chosen] * seconds[chosen]
    speed, ends = tally.held_out(seconds)
    assert speed == pytest.approx(kept.sum() / lasted.sum(), rel=1e-12)
    each = kept / kept.sum() - lasted / lasted.sum()
    radius = speed * each.std(ddof=1) * math.sqrt(30) * stdtrit(29, 0.975)
    assert ends == pytest.approx((speed - radius, speed + radius))


def test_held_out_choices_are_made_on_four_fifths_of_the_texts():
    """The last of five texts alone speaks for the first choice, and is held out once."""
    tokens = np.array([[1, 2], [1, 2], [1, 2], [1, 2], [10, 2]], dtype=float)
    tally = FoldedTally.of_none(2).with_texts(np.arange(5), tokens, np.ones((5, 2)))
    speed, (low, high) = tally.held_out(np.ones(2))
    assert speed == (1 + 1 + 1 + 1 + 2) / 5
    assert 0 <= low < speed < high
    few = FoldedTally.of_none(2).with_texts(np.array([0, 5]), tokens[:2], np.ones((2, 2)))
    assert math.isnan(few.held_out(np.ones(2))[0])  # both are in one fold
    two = FoldedTally.of_none(2).with_texts(np.array([0, 1]), tokens[:2], np.ones((2, 2)))
    assert two.held_out(np.array([1, 4]))[0] == 1  # two tokens take four seconds


def test_rules_of_two_drafts_are_left_out_or_refused_where_nodes_have_one_child():
    options = {**COSTS, "nodes": 3, "widest": 1}
    advice = advise(blocks(2, 3), **options)
    assert all(choice.widest <= 1 for choice in advice.choices)
    assert SpecHub.title not in {choice.rule for choice in advice.choices}
    chains = advise(blocks(2, 3), **options, rules=["recursive-rejection"])
    assert {choice.tree for choice in chains.choices} >= {"1", "1x1", "1x1x1"}
    with pytest.raises(ValueError, match=r"spechub verifies 2 children, .* at most 1: allow more"):
        advise(blocks(2, 3), **options, rules=["spechub"])


@pytest.mark.parametrize(("shape", "counts"), [((2, 7), None), ((2, 3, 7), 3)])
def test_numbers_of_texts_are_stored_text_by_text(shape, counts):
    numbers = np.arange(np.prod(shape), dtype=float).reshape(shape)
    rows = _rows(numbers, [2, 5])
    assert rows == [numbers[..., part].ravel().tolist() for part in np.split(np.arange(7), [2, 5])]
    found = _joined(pa.table({"first": rows}), "first", counts)
    assert np.array_equal(found, numbers)
