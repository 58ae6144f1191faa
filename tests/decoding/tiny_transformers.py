"""Tiny random transformers in double precision, or the reason why there are none."""

from __future__ import annotations

from tiny_models import transformers


def tiny_llama(seed, n=4, layers=2, **options):
    """Return a random Llama of a few thousand weights, in double precision throughout."""
    library = transformers()
    import torch

    config = library.LlamaConfig(
        **{
            "vocab_size": n, "hidden_size": 8, "intermediate_size": 16, "bos_token_id": 0,
            "num_hidden_layers": layers, "num_attention_heads": 2, "num_key_value_heads": 1,
            "max_position_embeddings": 32, "initializer_range": 1.0, "eos_token_id": n - 1,
            "pad_token_id": None,
        }
        | options
    )  # fmt: skip
    torch.manual_seed(seed)
    model = library.LlamaForCausalLM(config).double().eval()
    for module in model.modules():  # those of Llama round to float32 in between
        for name, norm in module.named_children():
            if hasattr(norm, "variance_epsilon"):
                double = torch.nn.RMSNorm(norm.weight.shape, norm.variance_epsilon)
                setattr(module, name, double.double().requires_grad_(False))
    return model
