"""Faults of rare calls: logits far from 0, rows beside certain ones, few rows, many tokens."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from small_verifiers import drawn

from otspec.batch import recursive_rejection
from otspec.conformance import check
from otspec.conformance.cases import library
from otspec.conformance.cases.arrays import Form
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.cases import memoryless, spread
from otspec.conformance.cases.kinds import Block, Tokens, Tree
from otspec.conformance.evidence.batches import AmongTokens

QUICK = {"shape": 1, "detect": 0.1, "coarse": 0.3, "vocabulary": 67, "entries": 64}


def right(draft, target, drafts, rng):
    rows = (np.asarray(each, dtype=float) for each in (draft, target))
    rows = [each / each.sum(axis=1, keepdims=True) for each in rows]
    return recursive_rejection(*rows, drafts, rng.random((len(drafts), drafts.shape[1] + 1))).token


def kept_if(condition):
    """A verifier that just keeps the first draft where a condition holds."""

    def verify(draft, target, drafts, rng):
        wrong = condition(draft, target)
        return np.where(wrong, drafts[:, 0], right(draft, target, drafts, rng))

    return verify


def with_lengths(condition):
    """The same, of how many drafts count."""

    def verify(draft, target, drafts, lengths, rng):
        answer = np.where(lengths > 0, right(draft, target, drafts, rng),
                          drawn(target, rng.random(len(target))))  # fmt: skip
        return np.where(condition(lengths), drafts[:, 0], answer)

    return verify


def weights_for_probabilities(draft_logits, target_logits, drafts, rng):
    """Probabilities are powers of logits, as if their sum were 1."""
    draft, target = (np.exp(each.astype(float)) for each in (draft_logits, target_logits))
    row, first = np.arange(len(drafts)), drafts[:, 0]
    kept = rng.random(len(drafts)) * draft[row, first] < target[row, first]
    rest = np.maximum(target - draft, 0)
    rest = np.where(rest.sum(axis=1, keepdims=True) > 0, rest, target)
    return np.where(kept, first, drawn(rest, rng.random(len(drafts))))


def powers(draft_logits, target_logits, drafts, rng):
    """The largest logit is not taken off, in float32."""
    with np.errstate(all="ignore"):
        rows = [np.exp(each) for each in (draft_logits, target_logits)]
        rows = [np.nan_to_num(each / each.sum(axis=1, keepdims=True)) + 1e-9 for each in rows]
    return right(*rows, drafts, rng)


def softmax(logits, temperature):
    weights = np.exp((logits - logits.max(axis=1, keepdims=True)) / temperature)
    return weights / weights.sum(axis=1, keepdims=True)


def greedy_calls(draft_logits, target_logits, drafts, temperatures, rng):
    """In a call of greedy rows alone drafts are just kept."""
    greedy = temperatures == 0
    heat = np.where(greedy, 1, temperatures)[:, None]
    token = right(softmax(draft_logits, heat), softmax(target_logits, heat), drafts, rng)
    return np.where(greedy, drafts[:, 0] if greedy.all() else target_logits.argmax(axis=1), token)


def warping_to(most, masks_to=10**6):
    """Settings, or the mask, are applied to the target of so many tokens at most."""

    def warped(draft_logits, target_logits, drafts, allowed, temperature, rng):
        count = target_logits.shape[1]
        masked = np.where(allowed, target_logits, -np.inf) if count <= masks_to else target_logits
        rows = softmax(draft_logits, temperature), softmax(masked, temperature ** (count <= most))
        return right(*rows, drafts, rng)

    return warped


WRONG = {
    "a large target without its temperature": (warping_to(32), {}),
    "a large target without its mask": (warping_to(10**6, 32), {}),
    "logits taken for logarithms": (weights_for_probabilities, {}),
    "powers of large logits": (powers, {}),
    "a call of greedy rows": (greedy_calls, {}),
    "a certain row": (kept_if(lambda _, q: (q.max(axis=1) == 1).any() > (q.max(axis=1) == 1)), {}),
    "a row of disjoint supports": (
        kept_if(lambda p, q: (np.minimum(p, q).sum(axis=1) == 0).any() * (p.max(axis=1) < 1)),
        {},
    ),
    "a uniform target": (kept_if(lambda _, q: q.max(axis=1) == q.min(axis=1)), {}),
    "a multiple of blocks": (kept_if(lambda _, q: q.shape[1] % 32 == 0), {}),
    "more than four tokens": (
        kept_if(lambda _, q: (q > 0).sum(axis=1) > 4),
        {"distinct": True, "shape": 1},
    ),
    "no drafts at all": (with_lengths(lambda lengths: lengths.max() == 0), {}),
    "few rows": (kept_if(lambda _, q: 1 < len(q) < 8), {}),
    "rows behind the last tile of 64": (
        kept_if(lambda _, q: (np.arange(len(q)) >= len(q) // 64 * 64) & (len(q) > 64)),
        {"detect": 0.02, "coarse": 0.1},
    ),
}


def test_some_large_vocabularies_are_between():
    """2,114 is 65,539 // 31, 5,041 is 65,539 // 13, and so on."""
    sizes = {case.vocabulary for case in library.cases_of(Tokens(1), 65_539, uneven=False)}
    assert {size for size in sizes if size > 8} == {2_114, 5_041, 13_107, 32_769, 65_536, 65_539}
    assert (
        max(case.vocabulary for case in library.cases_of(Tokens(1), 1_031, uneven=False)) == 1_031
    )
    assert 33 not in {case.vocabulary for case in library.cases_of(Tokens(1), 1_031, uneven=False)}


@pytest.mark.parametrize("name", WRONG)
def test_faults_of_odd_calls_are_found(name):
    verifier, options = WRONG[name]
    assert check(verifier, **QUICK | options).outcome == "failed"


def test_right_verifiers_pass_odd_calls():
    for verifier in (
        right, with_lengths(lambda _: False), warping_to(10**6),
        lambda draft_logits, target_logits, drafts, rng: right(
            softmax(draft_logits, 1), softmax(target_logits, 1), drafts, rng
        ),
    ):  # fmt: skip
        assert check(verifier, **QUICK).passed


@pytest.mark.parametrize("kind", [Tokens(1), Tokens(2), Block.of_length(2)], ids=repr)
def test_where_no_block_is_left_over_the_correction_is_the_last_token(kind):
    (case,) = [
        each for each in library.cases_of(kind, 4_099, uneven=False) if each.vocabulary == 4_096
    ]
    left = np.maximum(case.target - case.draft, 0)[0, 0]
    assert case.places[np.flatnonzero(left)].tolist() == [4_095]


def test_distinct_drafts_have_a_case_of_more_tokens():
    counts = {
        Tokens(3): [], Tokens(3, "without-replacement"): [6],
        Tokens(8, "without-replacement"): [10],
        Tree((-1, -1, 0), "without-replacement"): [6],
        Tree((-1, *range(5)), "without-replacement"): [],  # of 6 ** 7 texts
        Block.of_length(2): [],
    }  # fmt: skip
    for kind, wanted in counts.items():
        assert [case.n for case in library.many_symbols(kind)] == wanted


def corrected(residual, uniforms=lambda u: u):
    """A verifier of one draft whose residual, or random number for it, is another."""

    def verify(draft, target, drafts, rng):
        rows, first = np.arange(len(drafts)), drafts[:, 0]
        rest = residual(np.maximum(target.astype(float) - draft, 0))
        rest = np.where(rest.sum(axis=1, keepdims=True) > 0, rest, target)
        kept = rng.random(len(drafts)) * draft[rows, first] < target[rows, first]
        return np.where(kept, first, drawn(rest, uniforms(rng.random(len(drafts)))))

    return verify


def largest(count):
    """Keep the first of the largest weights of rows of many tokens."""

    def cut(rest):
        if rest.shape[1] <= count:
            return rest
        order = np.argsort(-rest, axis=1, kind="stable")
        return np.where(np.argsort(order, axis=1) < count, rest, 0)

    return cut


@pytest.mark.parametrize(
    ("verifier", "outcome"),
    [
        (corrected(lambda rest: rest), "passed"),
        (corrected(largest(64)), "failed"),
        (corrected(lambda rest: rest, lambda u: np.floor(u * 2**7) / 2**7), "failed"),
    ],
    ids=["right", "largest tokens only", "random numbers of 7 bits"],
)
def test_tokens_that_are_equally_likely_are_told_apart(verifier, outcome):
    """The total variation is above 0.3: a third of all drafts is rejected, and few tokens come."""
    report = check(verifier, **QUICK | {"coarse": 0.15, "vocabulary": 4_099})
    assert report.outcome == outcome
    assert {(each.case, each.statistic) for each in report.findings} <= {
        ("all positive, spread over 4,099 tokens, one by one", "law of the first token, by tokens")
    }


def test_tokens_are_chosen_before_and_in_a_number_that_is_known():
    """Of 5 symbols of 32 tokens two each are chosen: those that are always said, where some are."""
    case = replace(spread(memoryless("", np.ones(5), np.arange(1, 6)), 160), name="a case")
    said = np.array([0, 31, 32, 63, 64])

    def verify(draft, target, drafts, rng):
        return rng.choice(said, size=len(drafts))

    made = Verifier(verify, Form("numpy", "float64", "cpu"))
    rng = np.random.default_rng(0)
    batches = AmongTokens(made, Tokens(1), case, made.randomness(0), rng)
    chosen = np.flatnonzero(batches.parts < 5)
    assert batches.parts[chosen].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert set(said) <= set(chosen)
    assert (batches.parts % 5 == np.arange(160) // 32).all()
    # Each symbol's probability (1 to 5 fifteenths) goes to 2 and 30 of its 32 tokens.
    (law,) = AmongTokens.statistics(Tokens(1), case)
    wanted = [Fraction(k * count, 15 * 32) for count in (2, 30) for k in range(1, 6)]
    np.testing.assert_allclose(law.expected, [*map(float, wanted), 0], rtol=1e-15)
    assert law.labels[0] == "a token said often in earlier calls of 0 to 31"
    assert law.labels[9] == "another token of 128 to 159"
    assert law.counts(batches(100)).tolist()[5:] == [0] * 6
