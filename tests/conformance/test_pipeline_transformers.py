"""Transformers' assisted generation and candidate generators, on tables and tiny transformers."""

import numpy as np
import pytest
from tiny_models import transformers

from otspec.conformance import adapters, check, check_texts, exact_texts
from tests.conformance.test_whole_decoders import MODELS
from tests.decoding.tiny_transformers import tiny_llama

transformers()

import generating_transformers as engines  # noqa: E402 # only where transformers is installed

FLOATS = 1e-6
"""Errors of probabilities in float32, in which transformers verifies."""


@pytest.mark.nightly
def test_small_tables_are_generated_from_without_loss():
    """So few texts show gross faults only; 7,000 took some minutes, with the same verdict."""
    report = check(
        adapters.hugging_face_decoder(engines.assisted, transformers=True), kind="block",
        mode="pipeline", arrays="torch", detect=0.9, vocabulary=11, entries=1,
    )  # fmt: skip
    assert report.passed, report.findings


@pytest.mark.parametrize("generate", [engines.assisted, engines.looked_up])
def test_texts_of_models_that_remember_all_are_exact(generate):
    engine = adapters.hugging_face_decoder(generate, transformers=True)
    report = exact_texts(engine, *MODELS, 2, tolerance=FLOATS)
    assert report.lossless, report


@pytest.mark.parametrize(
    ("make", "right"),
    [(engines.lookup, True), (engines.assistant, True), (engines.Misdeclared, False)],
)
def test_candidate_generators_declare_what_they_draw_from(make, right):
    engine = adapters.hugging_face_decoder(adapters.candidates(make), transformers=True)
    report = exact_texts(engine, *MODELS, 2, tolerance=FLOATS)
    assert report.lossless is right, report


def test_texts_of_tiny_transformers_with_their_caches_are_the_targets():
    import torch

    models = [tiny_llama(seed, 3, layers=1, eos_token_id=None) for seed in (0, 1)]
    models[1].generation_config.num_assistant_tokens = 2
    models[1].generation_config.assistant_confidence_threshold = 0.0

    def target(text):
        with torch.inference_mode():
            logits = models[0](torch.tensor([[0, *text]])).logits[0, -1]
        return torch.softmax(logits, 0).tolist()

    def engine(size):
        prompt, options = torch.tensor([[0]]), {"do_sample": True, "top_k": 0, "pad_token_id": 0}
        options["attention_mask"] = torch.ones_like(prompt)  # which counts, though it is the pad
        texts = [
            models[0].generate(prompt, assistant_model=models[1], max_new_tokens=2, **options)
            for _ in range(size)
        ]
        return np.stack([text[0, 1:].numpy() for text in texts])

    assert check_texts(engine, target, 2, detect=0.9).passed
