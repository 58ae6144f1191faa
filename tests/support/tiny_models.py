"""Tiny language models of transformers, in folders; nothing is downloaded."""

import os

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"  # read when the packages are imported

REQUIRED = os.environ.get("OTSPEC_REQUIRE_BACKENDS", "").split(",")
UNKNOWN = "<unk>"
WORDS = [UNKNOWN, "the", "a", "cat", "dog", "sat", "ran", "on", "under", "mat", "tree", "and"]
CHAT = "{% for turn in messages %}the {{ turn['content'] }} {% endfor %}and"
END = 2
"""The token that ends a text: the configuration of Llama says so."""


def transformers():
    """Import transformers and what it needs, or skip the test with the reason."""
    try:
        import torch
        import transformers
    except ImportError as error:
        if "torch" in REQUIRED:
            pytest.fail(f"{error.name} is required by OTSPEC_REQUIRE_BACKENDS, but not installed")
        pytest.skip(f"{error.name} is not installed: make backends", allow_module_level=True)
    torch.set_num_threads(1)  # more of them wait for each other longer than they compute
    return transformers


def save_tokenizer(folder, words=WORDS, chat=None):
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import PreTrainedTokenizerFast

    words = {word: index for index, word in enumerate(words)}
    tokenizer = Tokenizer(WordLevel(words, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = Whitespace()
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token=UNKNOWN)
    made.chat_template = chat
    made.save_pretrained(folder)


def save_model(folder, layers, vocabulary=None, chat=None):
    """Save a model of random weights and its tokenizer; return the folder's name."""
    library = transformers()
    import torch

    torch.manual_seed(layers)
    config = library.LlamaConfig(
        vocab_size=vocabulary or len(WORDS), hidden_size=16, intermediate_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64,
        initializer_range=1.0,
    )  # fmt: skip
    library.LlamaForCausalLM(config).save_pretrained(folder)
    save_tokenizer(folder, chat=chat)
    return str(folder)
