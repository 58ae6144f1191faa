"""Verifiers that warp logits themselves: settings of a call or of rows, apart, greedy, masks."""

import numpy as np
import pytest

from otspec.conformance import check
from otspec.conformance.cases.kinds import Block, Tokens
from otspec.conformance.cases.library import settings_cases
from otspec.conformance.cases.settings import ALLOWED
from otspec.conformance.cases.warping import warped_cases

QUICK = {"detect": 0.1, "coarse": 0.6, "vocabulary": 41, "entries": 64}


def softmax(logits, temperature=1.0):
    """Return distributions; at temperature 0 the likeliest token. Temperatures fit the rows."""
    heat = np.asarray(temperature, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.exp((logits - logits.max(-1, keepdims=True)) / np.where(heat > 0, heat, 1))
    greedy = np.eye(logits.shape[-1])[logits.argmax(-1)]
    weights = np.where(heat > 0, weights, greedy)
    return (weights / weights.sum(-1, keepdims=True)).astype(logits.dtype)


def cut(rows, top_k):
    """Keep the likeliest few tokens of rows."""
    least = np.take_along_axis(np.sort(rows, -1), rows.shape[-1] - top_k, -1)
    kept = np.where(rows >= least, rows, 0)
    return kept / kept.sum(-1, keepdims=True)


def fitted(values, rows):
    """Return settings of rows as they fit their distributions."""
    return np.asarray(values).reshape(-1, *[1] * (rows.ndim - 1))


def couple(draft, target, drafts, uniforms):
    """Verify one draft a row: of rows, or of blocks, whose second row the bonus is drawn from."""
    several, kept, tokens = draft.ndim == 3, [], []
    for row, (x, *_) in enumerate(drafts):
        first = (row, 0) if several else row
        p, q = draft[first], target[first]
        accepted = bool(uniforms[row, 0] * p[x] < q[x])
        rest = target[row, 1] if several and accepted else np.maximum(q - p, 0)
        if accepted and not several:
            tokens.append(int(x))
        else:
            sums = np.cumsum(rest.astype(float)).tolist()
            tokens.append(sum(bool(uniforms[row, -1] * sums[-1] >= each) for each in sums[:-1]))
        kept.append(int(accepted))
    return (np.array(kept), np.array(tokens)) if several else np.array(tokens)


def tokens(draft_logits, target_logits, drafts, uniforms, temperature):
    rows = softmax(draft_logits, temperature), softmax(target_logits, temperature)
    return couple(*rows, drafts, uniforms)


def unwarped_target(draft_logits, target_logits, drafts, uniforms, temperature):
    rows = softmax(draft_logits, temperature), softmax(target_logits)
    return couple(*rows, drafts, uniforms)


def blocks(draft_logits, target_logits, drafts, uniforms, temperatures):
    heat = fitted(temperatures, draft_logits)
    rows = softmax(draft_logits, heat), softmax(target_logits, heat)
    return couple(*rows, drafts, uniforms)


def others_temperature(draft_logits, target_logits, drafts, uniforms, temperatures):
    return blocks(draft_logits, target_logits, drafts, uniforms, np.roll(temperatures, 1))


def warm_bonus(draft_logits, target_logits, drafts, uniforms, temperatures):
    heat = fitted(temperatures, draft_logits)
    target = softmax(target_logits, heat)
    target[:, -1] = softmax(target_logits[:, -1])
    return couple(softmax(draft_logits, heat), target, drafts, uniforms)


def greedy_bonus(draft_logits, target_logits, drafts, uniforms, temperatures):
    heat = fitted(temperatures, draft_logits)
    target = softmax(target_logits, heat)
    target[:, -1] = softmax(target_logits[:, -1], 0)
    return couple(softmax(draft_logits, heat), target, drafts, uniforms)


def never_greedy(draft_logits, target_logits, drafts, uniforms, temperatures):
    warm = np.where(temperatures > 0, temperatures, 1)
    return blocks(draft_logits, target_logits, drafts, uniforms, warm)


def apart(draft_logits, target_logits, drafts, uniforms, top_k, draft_temperature):
    draft = softmax(draft_logits, draft_temperature)
    target = cut(softmax(target_logits), np.full((*target_logits.shape[:-1], 1), top_k))
    return couple(draft, target, drafts, uniforms)


def as_one(draft_logits, target_logits, drafts, uniforms, top_k, draft_temperature):
    draft = softmax(draft_logits)
    target = cut(softmax(target_logits), np.full((*target_logits.shape[:-1], 1), top_k))
    return couple(draft, target, drafts, uniforms)


def declared(draft, target_logits, drafts, uniforms, min_ps):
    rows = softmax(target_logits)
    target = np.where(rows >= fitted(min_ps, rows) * rows.max(-1, keepdims=True), rows, 0)
    return couple(draft, target / target.sum(-1, keepdims=True), drafts, uniforms)


def masked(draft, target_logits, drafts, uniforms, allowed):
    rows = np.where(allowed, softmax(target_logits), 0)
    return couple(draft, rows / rows.sum(-1, keepdims=True), drafts, uniforms)


def unmasked(draft, target_logits, drafts, uniforms, allowed):
    return couple(draft, softmax(target_logits), drafts, uniforms)


def masked_after_warping(draft, target_logits, drafts, uniforms, allowed):
    rows = softmax(target_logits)
    kept = np.where(rows >= rows.max(-1, keepdims=True), rows, 0)
    rows = np.where(allowed, kept + 1e-9, 0)
    return couple(draft, rows / rows.sum(-1, keepdims=True), drafts, uniforms)


def first_rows_mask(draft, target_logits, drafts, uniforms, allowed):
    return masked(draft, target_logits, drafts, uniforms, allowed[:1])


def first_places_mask(draft, target_logits, drafts, uniforms, allowed):
    return masked(draft, target_logits, drafts, uniforms, allowed[:, :1])


def masked_blocks(draft, target_logits, drafts, uniforms, allowed):
    return masked(draft, target_logits, drafts, uniforms, allowed)


RIGHT = {"tokens": (tokens, apart, declared, masked), "block": (blocks, masked_blocks)}
WRONG = {
    "tokens": (unwarped_target, as_one, unmasked, masked_after_warping),
    "block": (others_temperature, warm_bonus, greedy_bonus, never_greedy, first_places_mask),
}
ALL = [
    pytest.param(kind, verifier, verifier in RIGHT[kind], id=verifier.__name__)
    for table in (RIGHT, WRONG)
    for kind, verifiers in table.items()
    for verifier in verifiers
]


@pytest.mark.parametrize(("kind", "verifier", "right"), ALL)
def test_all_are_judged_exactly(kind, verifier, right):
    if verifier is others_temperature:
        right = True  # with one row in each call there is no other
    report = check(verifier, kind=kind, shape=1, mode="exact", dtype="float64", seconds=60)
    assert report.outcome == ("passed" if right else "failed"), report


@pytest.mark.parametrize(
    ("kind", "verifier", "right"),
    [
        ("block", blocks, True),
        ("block", others_temperature, False),
        ("tokens", declared, True),
        ("tokens", masked, True),
        ("tokens", first_rows_mask, False),
        ("block", masked_blocks, True),
        ("block", first_places_mask, False),
    ],
)
def test_rows_of_a_batch_have_settings_of_their_own(kind, verifier, right):
    report = check(verifier, kind=kind, shape=1, **QUICK)
    assert report.outcome == ("passed" if right else "failed"), report


CAUSES = {
    unwarped_target: "warping applied to the draft only",
    warm_bonus: "bonus token before warping",
    greedy_bonus: "bonus token is the likeliest one",
    unmasked: "grammar's mask not applied to the target",
}


@pytest.mark.parametrize("verifier", CAUSES, ids=lambda verifier: verifier.__name__)
def test_causes_are_named(verifier):
    kind = "block" if verifier in WRONG["block"] else "tokens"
    report = check(verifier, kind=kind, shape=1, mode="exact", dtype="float64")
    assert CAUSES[verifier] in report.findings[0].looks_like[0].split(" or ")


def test_cases_have_what_is_asked_for():
    names = [case.name for case in settings_cases(Tokens(1), ("temperature", "top_k"), True)]
    assert names == [
        "all positive, temperature 0.6",
        "all positive, temperature 1.5, top_k 2",
        "all positive, temperature 2.0",
        "all positive, temperature 0.25",
        "all positive, top_k 1",
        *(f"a drafted token that the target never says, {words}"
          for words in ("temperature 0.6", "temperature 1.5, top_k 2", "temperature 2.0",
                        "temperature 0.25", "top_k 1", "top_k 3")),
        *(f"no ties, fewer drafts in some rows, {words}"
          for words in ("temperature 0.6", "temperature 1.5, top_k 2", "temperature 2.0",
                        "temperature 0.25", "top_k 1", "top_k 3")),
    ]  # fmt: skip
    assert settings_cases(Tokens(1), ("draft", "target", "drafts"), True) == []
    rows = settings_cases(Block.of_length(1), ("temperatures",), True)
    assert [case.variants for case in rows] == [6, 1] * 4
    assert {tuple(settings) for case in rows for settings in case.settings} == {
        ("temperature",), ()
    }  # fmt: skip
    for case in rows:
        greedy = next(i for i, given in enumerate(case.settings) if given.get("temperature") == 0)
        np.testing.assert_array_equal(np.sort(case.target[greedy], -1)[:, -1], 1)
        np.testing.assert_allclose(case.target.sum(-1), 1, rtol=0, atol=1e-15)


def test_drafts_are_warped_by_their_own_settings_only():
    (first, *_) = settings_cases(Tokens(1), ("draft", "target_logits", "temperature"), True)
    np.testing.assert_allclose(first.draft[0, 0], [0.5, 0.25, 0.125, 0.125], rtol=0, atol=1e-15)
    apart_cases = settings_cases(Tokens(1), ("draft_temperature",), True)
    np.testing.assert_allclose(
        apart_cases[0].target[0, 0], [0.125, 0.25, 0.5, 0.125], rtol=0, atol=1e-15
    )
    assert "draft's temperature" in apart_cases[0].name


def test_the_mask_forbids_the_likeliest_token_after_the_text():
    """Not the one after another symbol, nor the draft's."""
    target = ((1, 4, 2), (4, 1, 1), (2, 1, 1), (1, 1, 4))
    table = ((4, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1)), target
    for pair in (table, (table[0][0], target[0])):
        (case,) = warped_cases({"a base": pair}, (ALLOWED,), bool)
        assert case.name == "a base, masked"
        assert case.allowed[0, 0].tolist() == [True, False, True]
        assert case.target[0, 0] == pytest.approx([1 / 3, 0, 2 / 3])
        assert case.draft[0, 0] == pytest.approx([2 / 3, 1 / 6, 1 / 6])


def test_the_mask_differs_between_rows_and_places():
    """Forbidden is the likeliest token that is not at the first place, the last, or a row above."""
    (case,) = warped_cases({"a base": ((1, 1, 1, 1), (1, 4, 2, 0))}, (ALLOWED,), bool)
    forbidden = np.argmin(case.allowed, axis=-1)
    assert (~case.allowed).sum(-1).tolist() == [[1] * 5] * 2
    # Where all three are, the likeliest of those that are there once.
    assert forbidden.tolist() == [[1, 2, 0, 2, 0], [2, 1, 1, 0, 1]]
    np.testing.assert_allclose(case.target[1, :2], [[0.2, 0.8, 0, 0], [1 / 3, 0, 2 / 3, 0]])
    (case,) = warped_cases({"a base": ((1, 1), (1, 0))}, (ALLOWED,), bool)
    assert case.allowed.all()
