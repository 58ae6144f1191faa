"""Whole decoders of Hugging Face form and of mlx-lm: exact texts, and caches that are not cut."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from otspec.conformance import adapters, check, exact_texts

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make backends")

FLOATS = 1e-9
"""Logarithms and exponentials of float64."""


def model(first):
    """Return a model of two tokens, which depends on the whole text."""

    def row(prefix):
        state = sum((place + 1) * token for place, token in enumerate(prefix)) % 3
        return [first, 1 - first] if state == 0 else [0.3, 0.7] if state == 1 else [0.9, 0.1]

    return row


MODELS = model(0.5), model(0.2)


def decode(draft, target, ids, length, *, cut=True, block=2):
    """Decode as many repositories do: the target's cache goes on from step to step."""
    start, cache, seen = ids.shape[1], None, 0
    while ids.shape[1] < start + length:
        text, rows = ids, []
        for _ in range(block):
            rows.append(draft(text).logits[:, -1].softmax(-1))
            text = torch.cat([text, torch.multinomial(rows[-1], 1)], dim=1)
        known = target(text[:, seen:], past_key_values=cache, use_cache=True)
        wanted = known.logits[:, -block - 1 :].softmax(-1)
        kept = 0
        while kept < block:
            token = text[0, ids.shape[1] + kept]
            if torch.rand(()) * rows[kept][0, token] >= wanted[0, kept, token]:
                break
            kept += 1
        left = wanted[:, kept] if kept == block else (wanted[:, kept] - rows[kept]).clamp(min=0)
        seen = ids.shape[1] + kept
        ids = torch.cat([text[:, :seen], torch.multinomial(left, 1)], dim=1)
        cache = known.past_key_values
        if cut:
            cache = tuple((keys[:, :, :seen], values[:, :, :seen]) for keys, values in cache)
    return ids


def test_a_decoder_with_a_cache_says_the_texts_of_models_that_remember_all():
    report = exact_texts(adapters.hugging_face_decoder(decode), *MODELS, 2, tolerance=FLOATS)
    assert report.lossless, report
    assert len(report.texts) == 4


def test_a_cache_that_keeps_rejected_tokens_shows():
    def stale(draft, target, ids, length):
        return decode(draft, target, ids, length, cut=False, block=1)

    report = exact_texts(adapters.hugging_face_decoder(stale), *MODELS, 3, tolerance=FLOATS)
    assert report.lossless is False
    assert report.total_variation > 0.05


def test_a_decoder_may_leave_out_the_prompt_and_say_more():
    def without(draft, target, ids, length, block):
        assert (ids.tolist(), block, draft.config.vocab_size) == ([[0]], 2, 2)
        assert target.device == ids.device
        assert target(ids, use_cache=False).past_key_values is None
        return decode(draft, target, ids, length)[0, 1:].tolist()

    engine = adapters.hugging_face_decoder(without, prompt=False)
    assert exact_texts(engine, *MODELS, 1, tolerance=FLOATS).lossless


def test_too_few_tokens_are_refused():
    def short(draft, target, ids, length):
        return decode(draft, target, ids, length)[:, :2]

    report = exact_texts(adapters.hugging_face_decoder(short), *MODELS, 2)
    assert report.lossless is None
    assert "returned 1 tokens after the prompt: it must return 2" in report.reason


def first_tokens(draft, target, ids, length, *, greedy=False):
    """Say each token by the target alone, or by its likeliest."""
    for _ in range(length):
        row = target(input_ids=ids).logits[:, -1].softmax(-1)
        token = row.argmax(-1, keepdim=True) if greedy else torch.multinomial(row, 1)
        ids = torch.cat([ids, token], dim=1)
    return ids


QUICK = {"kind": "block", "mode": "pipeline", "arrays": "torch", "shape": 1, "detect": 0.9,
         "vocabulary": 11, "entries": 1}  # fmt: skip


@pytest.mark.parametrize("greedy", [False, True])
def test_batches_are_checked_by_samples(greedy):
    def batch(draft, target, ids, length, temperature=1.0):
        assert temperature in (0.25, 0.6, 1.0, 1.5, 2.0)

        class Warped:
            def __call__(self, **given):
                logits = target(**given).logits / temperature
                return SimpleNamespace(logits=logits)

        return first_tokens(draft, Warped(), ids, length, greedy=greedy)

    report = check(adapters.hugging_face_decoder(batch, batch=True), **QUICK)
    assert report.outcome == ("failed" if greedy else "passed"), report


class Cached:
    """What mlx-lm's decoder asks of a cache and of models, with NumPy in place of mlx."""

    def __call__(self, draft, target, prompt, length):
        rng, text = np.random.default_rng(Cached.seed), prompt
        cache, said = target.make_cache(), []
        while len(said) < length:
            drafted = rng.choice(draft(text[None, -1:]).shape[-1], size=1)
            logits = target(np.append(text[-1:], drafted)[None], cache=cache)
            rows = np.exp(np.asarray(logits, dtype=float))[0]
            drawn = [rng.choice(len(row), p=row / row.sum()) for row in rows]
            kept = drawn if drawn[0] == drafted[0] else drawn[:1]
            assert cache[0].is_trimmable()
            assert cache[0].trim(2 - len(kept)) == 2 - len(kept)
            said += kept
            text = np.array(kept[-1:])
        assert len(target.layers) == 1
        return said


@pytest.fixture
def numpy_as_mlx(monkeypatch):
    core = ModuleType("mlx.core")
    core.array = np.asarray
    core.random = SimpleNamespace(seed=lambda seed: setattr(Cached, "seed", seed))
    monkeypatch.setitem(sys.modules, "mlx", ModuleType("mlx"))
    monkeypatch.setitem(sys.modules, "mlx.core", core)


@pytest.mark.usefixtures("numpy_as_mlx")
def test_a_decoder_of_mlx_lm_is_checked_with_a_seed_for_each_text():
    options = QUICK | {"arrays": "numpy"}
    assert check(adapters.mlx_decoder(Cached()), **options).passed


def test_mlx_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlx", None)
    report = check(adapters.mlx_decoder(Cached()), **QUICK | {"arrays": "numpy"})
    assert report.outcome == "undecided"
    assert "needs the package mlx" in report.findings[0].reason
