"""Drafters and acceptance straight from logits, on both paths, and the likeliest tokens."""

from __future__ import annotations

import numpy as np
import pytest
from batch_backends import Backend, library
from batch_paths import PATHS, path, taking  # noqa: F401 # path is a fixture

import otspec
from otspec import batch
from otspec.batch import _running
from otspec.traces import warp

DRAFTERS = {"sample_iid": 3, "sample_without_replacement": 3, "sample_spechub": 2}
ACCEPTANCES = [name for name in _running.ACCEPTANCES if name != "optimal_acceptance"]
SETTINGS = {"temperature": 0.7, "top_p": 0.9, "order": "temperature-last"}
ROUNDING = 3e-6
"""Of float32: sums of masses over the draft's, a few at most."""


def logits_of(n, rows=12, seed=0):
    """Rows with masks and ties; two pairs are equal."""
    rng = np.random.default_rng(seed)
    draft, target = rng.normal(0, 2, (2, rows, n)).round(1).astype(np.float32)
    for part in (draft, target):
        part[rng.random(part.shape) < 0.2] = -np.inf
        part[:, :4] = [0, 0.5, -0.5, 1]
    target[1::8] = draft[1::8]
    return draft, target


@pytest.mark.parametrize("name", DRAFTERS)
@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("settings", [{}, SETTINGS], ids=["plain", "cut"])
def test_drafts_are_those_of_the_warped_rows(name, kind, settings):
    torch = library("torch")
    logits = torch.asarray(logits_of(300)[0]).to(getattr(torch, kind))
    uniforms = torch.rand((12, DRAFTERS[name]), generator=torch.Generator().manual_seed(1))
    with taking("arrays"):
        rows = batch.warp(logits, **settings)
        wanted = getattr(batch, name)(rows, uniforms)
    for each in PATHS:
        with taking(each):
            found = batch.draft_from_logits(name, logits, uniforms, **settings)
            assert found.probabilities.dtype == rows.dtype
            assert (found.probabilities - rows).abs().sum(-1).max() < ROUNDING
            assert (found.drafts == wanted).all()
            assert (getattr(batch, name)(rows, uniforms) == wanted).all()


@pytest.mark.usefixtures("path")
def test_a_step_from_logits_to_the_next_token():
    """What a drafter returns is what verification takes; greedy rows draft their likeliest."""
    draft, target = logits_of(50)
    heat = np.where(np.arange(12) % 3 == 0, 0, 1).astype(np.float32)
    rng = np.random.default_rng(1)
    drafted = batch.draft_from_logits("sample_iid", draft, rng.random((12, 2)), temperature=heat)
    uniforms = rng.random((12, 3))
    found = batch.from_logits(
        "recursive_rejection",
        drafted.probabilities,
        target,
        drafted.drafts,
        uniforms,
        temperature=heat,
        draft_probabilities=True,
    )
    other = batch.from_logits(
        "recursive_rejection", draft, target, drafted.drafts, uniforms, temperature=heat
    )
    for one, two in zip(found, other, strict=True):
        np.testing.assert_array_equal(one, two)
    assert (drafted.drafts[::3] == draft[::3].argmax(-1)[:, None]).all()
    assert (found.token[::3] == target[::3].argmax(-1)).all()


def arguments(name, draft):
    """What a function takes beside the logits, by name."""
    if name == "recursive_rejection_without_replacement":
        uniforms = np.random.default_rng(2).random((len(draft), 3))
        return {"drafts": batch.sample_without_replacement(batch.warp(draft), uniforms)}
    return {} if name in ("maximal_coupling", "spechub") else {"k": 3}


@pytest.mark.parametrize("name", ["optimal_acceptance", *ACCEPTANCES])
def test_acceptance_is_that_of_the_warped_rows(name):
    draft, target = logits_of(700)
    more = arguments(name, draft)
    settings = {"temperature": (0.7, 1.3), "top_k": (None, 40)}
    with taking("arrays"):
        rows = batch.warp(draft, temperature=0.7), batch.warp(target, temperature=1.3, top_k=40)
        wanted = getattr(batch.acceptance, name)(*rows, *more.values())
    for each in PATHS:
        with taking(each):
            found = batch.acceptance.from_logits(name, draft, target, **more, **settings)
            known = batch.acceptance.from_logits(
                name, rows[0], target, **more, **settings, draft_probabilities=True
            )
            for one in (found, known, getattr(batch.acceptance, name)(*rows, *more.values())):
                assert one.dtype == np.float64
                np.testing.assert_allclose(one, wanted, rtol=0, atol=ROUNDING)


@pytest.mark.usefixtures("path")
def test_acceptance_from_logits_is_the_exact_one():
    draft, target = logits_of(30, rows=4)
    rows = [[warp(row.astype(float), top_k=9) for row in part] for part in (draft, target)]
    found = batch.acceptance.from_logits("recursive_rejection", draft, target, 2, top_k=9)
    best = batch.acceptance.from_logits("optimal_acceptance", draft, target, 2, top_k=9)
    for i, pair in enumerate(zip(*rows, strict=True)):
        rule = otspec.rules.RecursiveRejection(*pair, 2)
        assert found[i] == pytest.approx(float(rule.acceptance()), abs=ROUNDING)
        law = otspec.IID(pair[0], 2)
        exact = otspec.optimal_acceptance(law, pair[1]).acceptance
        assert best[i] == pytest.approx(float(exact), abs=ROUNDING)


@pytest.mark.parametrize("k", [1, 2, 7, 2**53])
@pytest.mark.parametrize("name", ["k_sequential", "pooled_selection", "optimal_acceptance"])
def test_any_number_of_drafts(name, k):
    rows = tuple(batch.warp(part.astype(float)) for part in logits_of(300))
    found = []
    for each in PATHS:
        with taking(each):
            found.append(getattr(batch.acceptance, name)(*rows, k))
    np.testing.assert_allclose(found[0], found[-1], rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", ["numpy", "torch", "jax"])
def test_the_likeliest_tokens_of_ties_are_the_first(kind):
    draft, _ = logits_of(600)
    wanted = np.argsort(-draft.astype(float), axis=-1, kind="stable")
    for k in (1, 5, 400):
        for each in PATHS if kind != "jax" else PATHS[-1:]:
            with taking(each):
                found = Backend(kind).call(batch.top_tokens, draft, k)
                np.testing.assert_array_equal(np.asarray(found), wanted[:, :k])
    assert batch.top_tokens(np.zeros(3), 3).tolist() == [0, 1, 2]


@pytest.mark.usefixtures("path")
def test_rows_without_a_law_have_no_drafts():
    logits = np.full((3, 300), -np.inf, np.float32)
    logits[1], logits[2, 7] = 0, np.nan
    for name, k in DRAFTERS.items():
        found = batch.draft_from_logits(name, logits, np.full((3, k), 0.5))
        assert np.isnan(found.probabilities[::2]).all()
        assert found.probabilities[1].sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, u: batch.draft_from_logits("iid", x, u), "drafter is 'iid': it must be one of"),
        (lambda x, u: batch.draft_from_logits("sample_iid", x, u[:1]), "uniforms has shape"),
        (lambda x, u: batch.draft_from_logits("sample_spechub", x, u), "two are needed per row"),
        (
            lambda x, u: batch.draft_from_logits("sample_iid", x, u, temperature=-1),
            "temperature is -1: it must be positive",
        ),
        (
            lambda x, u: batch.draft_from_logits("sample_without_replacement", x[:, :2], u),
            "there are only 2 tokens to draw",
        ),
        (lambda x, _: batch.top_tokens(x, 6), "k is 6: it must be at most 5, the number of"),
        (lambda x, _: batch.top_tokens(x.astype(int), 1), "values has dtype int64: cast it"),
        (
            lambda x, _: batch.acceptance.from_logits("spechub", x, x, 2),
            "k is 2: leave it out, for spechub",
        ),
        (
            lambda x, _: batch.acceptance.from_logits("k_sequential", x, x),
            "k is None: it must be a number of drafts, for k_sequential",
        ),
        (
            lambda x, _: batch.acceptance.from_logits(
                "recursive_rejection_without_replacement", x, x
            ),
            "drafts is None: pass the drafts, for recursive_rejection_without_replacement",
        ),
        (
            lambda x, _: batch.acceptance.from_logits("maximal_coupling", x, x[:1]),
            "^draft_logits has shape .* and target_logits",
        ),
        (
            lambda x, _: batch.acceptance.from_logits(
                "recursive_rejection_without_replacement", x, x, drafts=np.full((2, 1), 5)
            ),
            "drafts has the token 5: token ids are from 0 to 4",
        ),
    ],
)
@pytest.mark.usefixtures("path")
def test_what_does_not_fit_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.zeros((2, 5), np.float32), np.full((2, 3), 0.5))
