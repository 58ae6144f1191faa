"""What an engine is handed, and what it may return."""

import numpy as np
import pytest
from text_engines import BlockEngine

from otspec.conformance import check, one_by_one

SMALL = {"mode": "pipeline", "vocabulary": 101, "detect": 0.5, "entries": 1_000}


def test_models_give_rows_and_logits_of_any_text():
    def engine(draft, target, prompts, length, block, parents, rng):
        text = np.concatenate([prompts, prompts], axis=1)
        assert prompts.shape == (len(prompts), 1)
        assert (length, block, parents) == (4, 2, (-1, 0))
        for model in (draft, target):
            rows, logits = model.rows(text), model.logits(text)
            assert rows.shape == logits.shape
            assert rows.dtype == np.float32
            np.testing.assert_array_equal(model(text), rows[:, -1])
            weights = np.exp(logits)  # a constant is no part of the distribution
            sums = weights.sum(axis=-1, keepdims=True)
            np.testing.assert_allclose(weights / sums, rows, rtol=1e-6)
            assert (abs(sums - 1) > 0.3).all()
            padded = np.concatenate([prompts, np.full_like(prompts, -1)], axis=1)
            np.testing.assert_allclose(model(padded).sum(axis=1), 1, rtol=1e-6)
        rows[:] = 0  # the engine's own
        return BlockEngine()(draft, target, prompts, length, rng)

    assert check(engine, kind="block", **SMALL).passed


def test_options_are_handed_over_even_if_all_is_kept():
    seen = []

    def engine(draft, target, prompts, length, rng, top_k=0, top_p=0.0):
        seen.append((draft(prompts).shape[-1], top_k, top_p))
        raise RuntimeError("one call of each case is enough")

    assert len(check(engine, kind="block", **SMALL).cases) == len(seen) > 9
    assert all(1 <= top_k <= size and 0 < top_p <= 1 for size, top_k, top_p in seen)


def of_drafts(draft, target, drafts):
    """A verifier, no engine."""
    return draft, target, drafts


def of_uniforms(prompts, uniforms):
    """An engine of uniform numbers."""
    return prompts, uniforms


def test_what_it_cannot_be_given_is_refused():
    with pytest.raises(ValueError, match="verifier takes 'drafts': name its parameters draft, t"):
        check(of_drafts, **SMALL)
    with pytest.raises(ValueError, match=r"verifier takes 'uniforms': .* one of rng, generator, s"):
        check(of_uniforms, kind="block", **SMALL)
    with pytest.raises(ValueError, match="rule is for drafts that are drawn here"):
        check(of_drafts, rule="k-sequential", **SMALL)


def test_texts_of_another_length_are_refused():
    def engine(draft, target, prompts, length, rng):
        return BlockEngine()(draft, target, prompts, length + 1, rng)

    with pytest.raises(ValueError, match=r"returned texts of .* shape \(\d+, 5\): .* \(\d+, 4\)"):
        check(engine, kind="block", **SMALL)


def test_a_token_outside_of_the_vocabulary_is_impossible():
    def engine(prompts, length):
        return np.full((len(prompts), length), -1)

    report = check(engine, kind="block", **SMALL)
    assert {finding.statistic for finding in report.findings} == {"impossible"}


def test_an_engine_that_fails_has_its_traceback_in_the_report():
    def engine(prompts):
        raise KeyError(prompts.shape)

    report = check(engine, kind="block", **SMALL)
    assert {finding.statistic for finding in report.findings} == {"call"}
    assert all("in engine\n" in finding.traceback for finding in report.findings)


def test_texts_of_different_lengths_one_by_one_are_a_fault():
    single = one_by_one(lambda prompts, seed: np.zeros(len(prompts) + seed % 2, dtype=int))
    report = check(single, kind="block", **SMALL)
    assert "for one row and 2 for another" in report.findings[0].reason
    several = one_by_one(lambda prompts: np.zeros(int(prompts[0, 0])))
    with pytest.raises(ValueError, match="engine returns 2 tokens for one row and 9 for another"):
        several(np.array([[5], [2], [9], [5]]))
