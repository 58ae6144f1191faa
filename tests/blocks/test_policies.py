"""Drafting policies with verifiers, against drafts and verifications enumerated by hand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from instances import Exact, pairs

from otspec import audit_blocks
from otspec.auditing import audit_policy
from otspec.blocks import BlockVerification, TokenVerification
from otspec.blocks.policies import Policy, SequenceRace, by_match, policies
from otspec.blocks.policies.shipped import less_than
from otspec.chance import law_of
from otspec.models import EndingModel, Model, markov, memoryless, random_pair

HALF = Fraction(1, 2)
Law = dict[tuple[int, ...], Fraction]
POLICIES = policies()
LOSSY = {
    "confidence-dropped",
    "path-dropped",
    "siblings-dropped",
    "sampled-budget",
    "batch-budget",
    "best-length",
}
DRAFT = markov([["9/10", "1/10"], ["1/3", "2/3"]])
TARGET = markov([["1/2", "1/2"], ["1/4", "3/4"]])


def corrected(text, drafts: list[int], draft: Exact, target: Exact) -> Iterator[tuple]:
    """Every way to verify drafts in turn by ratio: the kept token or None, the next row, mass."""
    mass, wanted = Fraction(1), list(target)
    for token in drafts:
        chance = min(Fraction(1), wanted[token] / draft[token]) if draft[token] else Fraction(0)
        yield token, None, mass * chance
        mass *= 1 - chance
        left = [max(w - p, Fraction(0)) for w, p in zip(wanted, draft, strict=True)]
        if mass:
            wanted = [each / sum(left) for each in left]
    yield None, wanted, mass


def block_law(model: tuple[Model, Model], cut: str, length: int = 2) -> Law:
    """The law of what a block keeps and one token more, for chains that are cut by confidence."""
    draft, target = model
    law: Counter = Counter()
    for block in product(range(draft.n), repeat=length):
        mass, path, chain = draft.mass(block), Fraction(1), []
        for i, token in enumerate(block):
            row = draft(block[:i])
            path *= row[token]
            low = (path if cut.startswith("path") else row[token]) < HALF
            if low and cut.endswith("dropped"):
                break
            chain.append(None if low and cut.endswith("masked") else token)
            if low:
                break
        text: tuple[int, ...] = ()
        for token in [*chain, ...]:
            wanted = target(text).tolist()
            if token is ...:
                add(law, text, wanted, mass)
                break
            row = draft(text).tolist()
            if cut.endswith("masked"):  # what is left of the draft has mass below 1
                kept = [
                    p if (p * draft.mass(text) if cut.startswith("path") else p) >= HALF else 0
                    for p in row
                ]
                row = [*map(Fraction, kept)]
            if token is None:
                left = [max(w - p, Fraction(0)) for w, p in zip(wanted, row, strict=True)]
                add(law, text, [each / sum(left) for each in left], mass)
                break
            ways = list(corrected(text, [token], row, wanted))
            if cut.endswith("masked") and ways[1][2]:
                left = [max(w - p, Fraction(0)) for w, p in zip(wanted, row, strict=True)]
                ways[1] = (None, [each / sum(left) for each in left], ways[1][2])
            if ways[1][2]:
                add(law, text, ways[1][1], mass * ways[1][2])
            mass, text = mass * ways[0][2], (*text, token)
            if not mass:
                break
    return {text: each for text, each in law.items() if each}


def add(law: Counter, text: tuple[int, ...], row: list[Fraction], mass: Fraction) -> None:
    for token, share in enumerate(row):
        law[(*text, token)] += mass * share


def followed(rule) -> Law:
    """The same of a rule, from its outcomes."""
    law: Counter = Counter()
    for outcome in rule.outcomes():
        add(law, outcome.accepted, outcome.following(()).tolist(), outcome.mass)
    return {text[:]: mass for text, mass in law.items() if mass}


@pytest.mark.parametrize(
    "cut",
    ["confidence-kept", "path-kept", "confidence-dropped", "path-dropped",
     "confidence-masked", "path-masked"],
)  # fmt: skip
def test_chains_that_are_cut_are_what_enumeration_says(cut: str) -> None:
    rng = np.random.default_rng(8)
    models = [random_pair(2, divergence, rng) for divergence in ("1/3", "1/2", "1")]
    models += [random_pair(3, "2/5", rng), (DRAFT, TARGET), (DRAFT, DRAFT)]
    models += [(memoryless(p), memoryless(q)) for p, q in pairs(4, 24, 2, 2)]
    for pair in models:
        assert followed(POLICIES[cut].rule(*pair)) == block_law(pair, cut)


def test_children_that_are_dropped_are_what_enumeration_says() -> None:
    dropping = policies(length=1)["siblings-dropped"]
    for draft, target in pairs(9, 40, 3, 2):
        law = [Fraction(0)] * len(draft)
        for drafts in product(range(len(draft)), repeat=2):
            mass = draft[drafts[0]] * draft[drafts[1]]
            left = [token for token in drafts if draft[token] >= HALF]
            for token, row, share in corrected((), left, draft, target):
                if token is not None:
                    law[token] += mass * share
                elif share:
                    law = [a + mass * share * b for a, b in zip(law, row, strict=True)]
        report = audit_blocks(
            dropping.rule(memoryless(draft), memoryless(target)), 1, optimum=False
        )
        assert [report.texts.get((y,), 0) for y in range(len(draft))] == law


def tree_law(model: tuple[Model, Model], masked: bool, levels: int) -> Law:
    """The law of what a tree of two children a node keeps and one token more, enumerated."""
    draft, target = model
    law: Counter = Counter()

    def go_on(text: tuple[int, ...], mass: Fraction) -> None:
        row, wanted = draft(text).tolist(), target(text).tolist()
        if len(text) == levels:
            add(law, text, wanted, mass)
            return
        believed = row
        if masked:  # unlikely tokens are one more token, which the target never has
            left = [p if p >= HALF else Fraction(0) for p in row]
            believed, wanted = [*left, 1 - sum(left)], [*wanted, Fraction(0)]
        for pair in product(range(draft.n), repeat=2):
            drawn = [token if row[token] >= HALF else draft.n for token in pair]
            drafts = drawn if masked else [token for token in drawn if token < draft.n]
            share = mass * row[pair[0]] * row[pair[1]]
            if not share:
                continue
            for token, rest, chance in corrected(text, drafts, believed, wanted):
                if token is not None and chance * share:
                    go_on((*text, token), share * chance)
                elif chance * share:
                    add(law, text, rest, share * chance)

    go_on((), Fraction(1))
    return {text: each for text, each in law.items() if each}


@pytest.mark.parametrize("how", ["dropped", "masked"])
def test_trees_that_are_cut_are_what_enumeration_says(how: str) -> None:
    rng = np.random.default_rng(5)
    models = [
        (DRAFT, TARGET),
        (DRAFT, DRAFT),
        random_pair(2, "1/2", rng),
        random_pair(3, "1/4", rng),
    ]
    models += [(memoryless(p), memoryless(q)) for p, q in pairs(12, 16, 2, 2)]
    for pair in models:
        rule = POLICIES[f"siblings-{how}"].rule(*pair)
        assert followed(rule) == tree_law(pair, how == "masked", 2)


@pytest.mark.parametrize("name", list(POLICIES))
def test_the_verdict_on_each_policy(name: str) -> None:
    policy = POLICIES[name]
    last = markov([["1/2", "1/2"], ["1/3", "2/3"]], first=[["1/2", "1/2"]]), TARGET
    report = audit_policy(policy, pairs=[(DRAFT, TARGET), last][: 1 + (name in LOSSY)])
    assert report.lossless is (name not in LOSSY)
    assert (report.case == "anticipating") is (name in LOSSY)
    if name.endswith("masked"):
        assert report.case == "masked"
    if report.loss is not None:
        assert report.loss.wanted == TARGET.mass(report.loss.text) != report.loss.found
        assert POLICIES[policy.cure].cure is None  # the cure is none of the lossy ones


def test_chains_that_anticipate_are_lossy_where_the_target_is_the_draft() -> None:
    for name in ("confidence-dropped", "path-dropped"):
        report = audit_blocks(POLICIES[name].rule(DRAFT, DRAFT), 1, optimum=False)
        # The likely token is drafted and kept, or else the target is drawn: p + (1 − p) p.
        likely = DRAFT(())[0]
        assert likely >= HALF
        assert not report.lossless
        assert report.texts[0,] == likely + (1 - likely) * likely


@pytest.mark.parametrize("name", [name for name in POLICIES if name in LOSSY])
def test_a_draw_from_the_target_forgives_every_policy(name: str) -> None:
    assert audit_blocks(POLICIES[name].rule(DRAFT, TARGET, by_match), 2, optimum=False).lossless


def test_the_smallest_example_and_that_of_the_theory() -> None:
    policy = policies(length=1)["confidence-dropped"]
    smallest = audit_policy(policy).loss
    assert smallest.draft(()).tolist() == [Fraction(1, 3), Fraction(2, 3)]
    assert (smallest.text, smallest.found, smallest.wanted) == ((0,), Fraction(1, 3), HALF)
    pair = memoryless(["9/10", "1/10"]), memoryless(["1/2", "1/2"])
    loss = audit_policy(policy, pairs=[pair]).loss
    assert (loss.text, loss.found, loss.wanted) == ((0,), Fraction(11, 20), HALF)


def test_predictable_chains_stay_lossless_with_block_verification() -> None:
    verify = BlockVerification(DRAFT, TARGET, 2).verify
    for name in ("load", "confidence-kept", "confidence-max", "entropy", "path-kept"):
        rule = POLICIES[name].rule(DRAFT, TARGET, verify)
        report = audit_blocks(rule, 3, optimum=False)
        assert report.lossless
        assert report.expected >= POLICIES[name].rule(DRAFT, TARGET).expected()


def successive(draft: Model, length: int, count: int) -> dict[tuple, Fraction]:
    """The law of distinct texts, each drawn off those before it."""
    law: dict[tuple, Fraction] = {(): Fraction(1)}
    for _ in range(count):
        law = {
            (*drawn, text): mass * each / (1 - sum(map(draft.mass, drawn)))
            for drawn, mass in law.items()
            for text, each in draft.texts(length)
            if text not in drawn
        }
    return law


@pytest.mark.parametrize("count", [1, 2, 3])
def test_sequences_are_distinct_draws_and_their_texts_the_target_s(count: int) -> None:
    rule = SequenceRace(DRAFT, TARGET, 2, count)

    def drawn(chance):
        tokens = rule.draw(chance).tokens
        return tuple(tokens[i : i + 2] for i in range(0, len(tokens), 2))

    assert law_of(drawn) == successive(DRAFT, 2, count)
    assert audit_blocks(rule, 3, optimum=False).lossless
    fewer = (
        TokenVerification(DRAFT, TARGET, 2)
        if count == 1
        else SequenceRace(DRAFT, TARGET, 2, count - 1)
    )
    assert rule.expected() == fewer.expected() if count == 1 else rule.expected() > fewer.expected()
    different = sum(
        mass * len({text[:i] for text in texts for i in (1, 2)})
        for texts, mass in successive(DRAFT, 2, count).items()
    )
    assert rule.nodes() == different


def test_sequences_that_end_run_out_or_are_never_wanted() -> None:
    ending = EndingModel(TARGET, [1])
    for rule in (
        SequenceRace(DRAFT, ending, 2, 5),  # there are three texts
        SequenceRace(memoryless(["1", "0"]), TARGET, 2, 2),
        SequenceRace(memoryless(["1", "0"]), memoryless(["0", "1"]), 2, 2),
        SequenceRace(DRAFT, EndingModel(TARGET, [0, 1]).after((0,)), 2, 2),
    ):
        if not rule.target.ended(()):
            assert audit_blocks(rule, 2, optimum=False).lossless
        else:
            assert rule.expected() == 0
    rng = np.random.default_rng(0)
    draft, target = random_pair(3, 0.3, rng)
    assert audit_blocks(SequenceRace(draft, target, 2, 2), 2, optimum=False).lossless


def test_policies_stop_at_the_end_of_a_text() -> None:
    ending = EndingModel(TARGET, [1])
    for name in ("confidence-kept", "top-budget", "siblings-masked"):
        assert audit_blocks(POLICIES[name].rule(DRAFT, ending), 2, optimum=False).lossless


def test_tokens_that_are_verified_are_counted_without_null_tokens() -> None:
    assert POLICIES["confidence-dropped"].rule(DRAFT, TARGET).nodes() == (
        POLICIES["confidence-masked"].rule(DRAFT, TARGET).nodes()
    )
    assert POLICIES["top-budget"].rule(DRAFT, TARGET).nodes() == 4


def test_what_is_no_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="threshold"):
        policies(threshold=2)
    with pytest.raises(ValueError, match="grow"):
        Policy("none", "nothing", [], 1)
    with pytest.raises(ValueError, match="policy"):
        audit_policy(policies)


@pytest.mark.parametrize("bound", [Fraction(1, 10), Fraction(1, 3), Fraction(1, 2**1080), 0.1, 0])
def test_floats_and_fractions_are_compared_exactly_with_a_threshold(bound):
    near = float(bound)
    numbers = [near, math.nextafter(near, 1), math.nextafter(near, -1), Fraction(1, 10), 0, 0.5]
    assert [less_than(bound)(number) for number in numbers] == [
        Fraction(number) < Fraction(bound) for number in numbers
    ]
