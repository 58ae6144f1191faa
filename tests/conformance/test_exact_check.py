"""Checks that follow every random choice: right loops pass to rounding, wrong ones with numbers."""

from __future__ import annotations

import math
import random
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from otspec import batch
from otspec.chance import CannotFollowError, law_of
from otspec.conformance import check, exact_check
from otspec.conformance.cases.arrays import Form
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.cases import memoryless
from otspec.conformance.cases.kinds import Block, Tokens, Tree
from otspec.conformance.cases.library import ROWS, needs_lengths, small_cases
from otspec.conformance.cases.tasks import Task, followable
from otspec.conformance.exact_check import drafted_ways


def recursive(draft, target, drafts, lengths, rng, *, renormalized=True):
    """Recursive rejection, row by row."""
    tokens = []
    for p, q, row, length in zip(draft, target, drafts, lengths, strict=True):
        left = q.astype(float)
        for token in row[:length]:
            if rng.random() * p[token] < left[token]:
                tokens.append(token)
                break
            left = np.maximum(left - p, 0)
            if renormalized:
                left = left / left.sum()
        else:
            tokens.append(rng.choice(len(q), p=left / left.sum()))
    return np.array(tokens)


def token_by_token(draft, target, drafts, *, bonus=True):
    """Token verification of one row, with ``random``."""
    for place, token in enumerate(drafts[0].tolist()):
        p, q = draft[0, place].astype(float), target[0, place].astype(float)
        if random.random() > q[token] / p[token]:
            left = np.maximum(q - p, 0)
            return np.array([place]), np.array(random.choices(range(len(q)), weights=left))
    last = target[0, -1] if bonus else target[0, -2]
    return np.array([len(drafts[0])]), np.array(random.choices(range(len(last)), weights=last))


def down_the_tree(draft, target, drafts, parents, generator):
    """Recursive rejection at each depth of a tree, with torch."""
    import torch

    node = -1
    while True:
        p, q = draft[0, node + 1], target[0, node + 1].double()
        children = [child for child, parent in enumerate(parents) if parent == node]
        for child in children:
            token = drafts[0, child]
            if torch.rand((), generator=generator) * p[token] < q[token]:
                node = child
                break
            q = torch.clamp(q - p, min=0)
            q = q / q.sum()
        else:
            return torch.tensor([node]), torch.multinomial(q, 1, generator=generator)


@pytest.mark.parametrize("shape", [1, 2])
def test_recursive_rejection_is_right_on_all_cases(shape):
    report = check(recursive, mode="exact", shape=shape)
    assert report.passed
    assert report.mode == "exact"
    assert report.detectable < 1e-4
    assert len(report.cases) > 15
    for tried in report.cases:
        assert (tried.size, tried.needs.size, tried.evidence) == (0, 0, 0.0)
        if tried.case in ROWS:
            # An error of 1e-6 in each cell is half of as much total variation.
            cells = len(tried.expected)
            assert tried.detectable == pytest.approx(cells * 1e-6 / 2)
            assert tried.counts.sum() == pytest.approx(10**8, abs=cells)


def test_a_shortcut_for_nearly_certain_tokens_is_found():
    """Wrong only where both models are nearly certain of one token."""

    def shortcut(draft, target, drafts, lengths, rng):
        p, q = draft[0], target[0]
        if lengths[0] and p.max() > 0.99 < q.max() and p.argmax() == q.argmax():
            return np.array([q.argmax()])
        return recursive(draft, target, drafts, lengths, rng)

    report = check(shortcut, mode="exact", shape=1)
    off = {finding.case: finding.total_variation for finding in report.findings}
    # The shortcut never says the other tokens, which have 0.008 and 0.0005 of the target.
    one, other = "both nearly certain, of one token", "both all but certain, of one token"
    assert off == pytest.approx({one: 0.008, other: 0.0005}, abs=1e-6)
    assert {tried.case for tried in report.cases if tried.evidence == math.inf} == {one, other}


@pytest.mark.parametrize("kind", [Tokens(2), Block.of_length(2), Tree()])
def test_rows_that_differ_are_cases_of_their_own(kind):
    """Exact mode hands over one row, so that a case of several pairs of models is no other."""
    cases = [case for case in small_cases(kind) if not needs_lengths(kind, case)]
    alone = {case.draft.tobytes() + case.target.tobytes() for case in cases if case.variants == 1}
    (several,) = [case for case in cases if case.variants > 1]
    for draft, target in zip(several.draft, several.target, strict=True):
        assert draft.tobytes() + target.tobytes() in alone
    tasks = followable([Task(Verifier(recursive, Form()), kind, case, case) for case in cases])
    assert len(tasks) == len(cases) - 1
    assert {task.case.variants for task in tasks} == {1}


def test_a_check_that_runs_out_of_time_says_what_it_has(monkeypatch):
    calls = count(0)
    clock = SimpleNamespace(monotonic=lambda: 0.0 if next(calls) < 40 else math.inf)
    monkeypatch.setattr(exact_check, "time", clock)
    report = check(token_by_token, kind="block", mode="exact", shape=1, seconds=1e9)
    done = [tried for tried in report.cases if not tried.short]
    assert "a vocabulary of one token" in {tried.case for tried in done}
    assert 2 < len(done) < len(report.cases)
    assert all(tried.detectable < 1e-4 for tried in done)
    assert report.outcome == "undecided"
    left = len(report.cases) - len(done)
    first, *_ = report.text().splitlines()
    assert f"but {left} of them were not followed to their end in time" in first
    assert "Pass more seconds, or a smaller shape" in report.text()

    with pytest.raises(ValueError, match="seconds is 3, which is for mode='exact'"):
        check(recursive, seconds=3)


def test_a_crash_says_how_likely_it_is():
    def rarely(draft, target, drafts, rng):
        if rng.random() < 2**-20:
            raise KeyError("rare")
        return batch.maximal_coupling(draft, target, drafts, rng.random((1, 2))).token[:, None]

    report = check(rarely, mode="exact", shape=1, rounding=1e-7)
    assert report.raises
    first = report.findings[0].reason
    assert "for drafts [0], with probability 1e-06, the verifier fails with KeyError" in first
    rounded = check(rarely, mode="exact", shape=1, rounding=2e-6).findings[0].reason
    assert "with probability 1e-06, which is less than counts as rounding, the verifier" in rounded


@pytest.mark.parametrize(("chance", "followed"), [(1.01e-5, True), (0.99e-5, False)])
def test_what_is_less_likely_than_a_tenth_of_the_rounding_is_not_followed(chance, followed):
    def rarely(draft, target, drafts, lengths, rng):
        if rng.random() < chance:
            raise KeyError("rare")
        return recursive(draft, target, drafts, lengths, rng)

    report = check(rarely, mode="exact", shape=1, rounding=1e-4)
    assert bool(report.findings) == followed


def test_token_verification_is_right_on_all_cases():
    assert check(token_by_token, kind="block", mode="exact").passed


def test_a_tree_verified_with_torch_is_right_on_all_cases():
    pytest.importorskip("torch")
    report = check(down_the_tree, kind="tree", mode="exact", shape="2", arrays="torch")
    assert report.passed


def test_what_is_wrong_is_told_with_its_probability():
    def wrong(draft, target, drafts, lengths, rng):
        return recursive(draft, target, drafts, lengths, rng, renormalized=False)

    assert check(wrong, mode="exact", shape=1).passed  # the first residual needs no sum
    report = check(wrong, mode="exact", shape=2)
    finding = next(each for each in report.findings if each.statistic == "law of the output")
    draft, target = (
        (np.array(row, dtype="float32") / sum(row)).astype(float) for row in ROWS[finding.case]
    )
    rest = np.maximum(target - draft, 0)
    left = np.maximum(rest - draft, 0)
    first, second = np.minimum(draft, target), np.minimum(draft, rest)
    seen = first + (1 - first.sum()) * (second + (1 - second.sum()) * left / left.sum())
    # One rounding of float32 in each probability that is handed over.
    np.testing.assert_allclose(finding.observed[:4], seen, rtol=0, atol=4e-7)
    assert finding.reason.startswith("token ")


def test_a_bonus_of_the_wrong_row_is_seen_where_rows_differ():
    def wrong(draft, target, drafts):
        return token_by_token(draft, target, drafts, bonus=False)

    report = check(wrong, kind="block", mode="exact")
    assert not report.passed
    assert {finding.statistic for finding in report.findings} == {"law of the text"}


def test_what_cannot_be_followed_says_so():
    def rounds(draft, target, drafts, rng):
        return np.array([int(rng.random() + rng.random() > 1) for _ in target])

    with pytest.raises(ValueError, match="mode is 'exact', and the verifier cannot"):
        check(rounds, mode="exact")
    with pytest.raises(CannotFollowError):
        law_of(lambda chance: chance.choose([]))


def test_a_crash_is_a_finding_with_its_drafts():
    def crashes(draft, target, drafts, rng):
        if drafts[0, 0] == 1:
            raise RuntimeError("no kernel image")
        return recursive(draft, target, drafts, np.full(len(drafts), drafts.shape[1]), rng)

    report = check(crashes, mode="exact", shape=1)
    assert any("RuntimeError: no kernel image" in each.reason for each in report.findings)
    assert any(each.traceback for each in report.findings)


@pytest.mark.parametrize(
    "kind",
    [Tokens(2, "iid"), Tokens(2, "without-replacement"), Block.of_length(2), Tree((-1, -1, 0))],
)
def test_the_ways_to_draft_are_those_of_samples(kind):
    """Frequencies of draws are within six standard deviations of the masses of ways."""
    size, rng = 20_000, np.random.default_rng(0)
    for case in list(small_cases(kind))[::5]:
        wanted: dict[tuple, float] = {}
        for mass, variant, drafts, there in drafted_ways(kind, case):
            known = tuple(d if t else -1 for d, t in zip(drafts, there, strict=True))
            wanted[variant, known] = wanted.get((variant, known), 0.0) + mass
        assert sum(wanted.values()) == pytest.approx(1, abs=1e-12)
        sample = kind.draw(case, size, rng)
        seen: dict[tuple, int] = {}
        rows = zip(sample.variants, np.where(sample.there, sample.drafts, -1).tolist(), strict=True)
        for variant, known in rows:
            key = (int(variant), tuple(known))
            seen[key] = seen.get(key, 0) + 1
        assert seen.keys() <= wanted.keys()
        for key, mass in wanted.items():
            deviation = max(6 * (size * mass) ** 0.5, 12)
            assert abs(seen.get(key, 0) - size * mass) <= deviation, (case.name, key)


def test_what_distinct_siblings_lack_is_not_there_nor_what_is_below_it():
    kind = Tree((-1, -1, 0, 1), "without-replacement")
    certain = memoryless("one certain draft", (1, 0, 0), (1, 1, 1))
    assert list(drafted_ways(kind, certain)) == [(1, 0, (0, 0, 0, 0), (True, False, True, False))]
    two = list(drafted_ways(kind, memoryless("two tokens", (1, 3, 0), (1, 1, 1))))
    assert all(all(way.there) for way in two)
    # One of two orders, then a token of mass 1/4 or 3/4 below each.
    masses = {(first, second): 3 ** (first + second) / 16 for first in (0, 1) for second in (0, 1)}
    assert {way.drafts: way.mass for way in two} == {
        (*order, *below): chance * mass
        for order, chance in (((0, 1), 0.25), ((1, 0), 0.75))
        for below, mass in masses.items()
    }


def test_a_named_rule_needs_to_be_told_what_is_accepted():
    with pytest.raises(ValueError, match="return the accepted index with the token"):
        check(recursive, mode="exact", shape=2, rule="recursive-rejection")
