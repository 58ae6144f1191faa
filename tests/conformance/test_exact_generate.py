"""The texts of transformers' assisted generation: models, drafting and verification unmodified."""

import pytest
from tiny_models import transformers

from otspec.conformance import exact_texts
from otspec.models import WarpedModel

library = transformers()

import torch  # noqa: E402 # only where it is installed

PROMPT = [0, 1]


def tiny_llama(seed, width):
    config = library.LlamaConfig(
        vocab_size=3, hidden_size=width, intermediate_size=width, num_hidden_layers=1,
        num_attention_heads=1, num_key_value_heads=1, max_position_embeddings=16,
        initializer_range=1.0, eos_token_id=None, bos_token_id=None, pad_token_id=0,
    )  # fmt: skip
    torch.manual_seed(seed)
    return library.LlamaForCausalLM(config).double().eval()


def language_model(llama):
    """Return what a transformer says after a prompt, as prefix → distribution."""

    def answer(prefix):
        with torch.no_grad():
            logits = llama(torch.tensor([[*PROMPT, *prefix]])).logits
        return logits[0, -1].softmax(-1).tolist()

    return answer


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_assisted_generation_says_the_texts_of_the_target(temperature):
    draft, target = tiny_llama(2, 4), tiny_llama(1, 8)

    def generate(_draft, _target, length):
        said = target.generate(
            torch.tensor([PROMPT]),
            attention_mask=torch.ones(1, len(PROMPT), dtype=torch.long),
            assistant_model=draft,
            do_sample=True,
            max_new_tokens=length,
            top_k=0,
            temperature=temperature,
            num_assistant_tokens=1,
            num_assistant_tokens_schedule="constant",
            assistant_confidence_threshold=0.0,
        )
        return said[0, len(PROMPT) :]

    models = [
        WarpedModel(language_model(each), temperature=temperature) for each in (draft, target)
    ]
    report = exact_texts(generate, *models, 2, tolerance=1e-6)
    assert report.lossless, report
    assert len(report.texts) == 9
