"""Models of transformers that are small tables, to let its assisted generation run on them."""

from functools import cache

from tiny_models import transformers


@cache
def table_class():
    """Return a class of models whose logits are those of a small model, with a cache of nothing."""
    library = transformers()
    import torch
    from transformers.modeling_outputs import CausalLMOutputWithPast

    # Transformers renamed it in version 5.24.
    name = "cache" if "cache" in CausalLMOutputWithPast.__dataclass_fields__ else "past_key_values"

    class SmallConfig(library.PretrainedConfig):
        model_type = "small_table"

    class SmallTable(library.PreTrainedModel, library.GenerationMixin):
        config_class = SmallConfig

        def __init__(self, model, vocabulary):
            super().__init__(
                SmallConfig(
                    vocab_size=vocabulary,
                    num_hidden_layers=1,
                    hidden_size=1,
                    num_attention_heads=1,
                )
            )
            self.model, self.unused = model, torch.nn.Parameter(torch.zeros(1))

        def forward(self, input_ids, cache=None, past_key_values=None, **_):
            held = past_key_values if cache is None else cache
            if held is not None:
                nothing = torch.zeros(len(input_ids), 1, input_ids.shape[1], 1)
                held.update(nothing, nothing, 0)
            logits = self.model.logits(input_ids)
            return CausalLMOutputWithPast(logits=logits, **{name: held})

    return SmallTable


def assisted(draft, target, prompts, length):
    """Generate one text by transformers, which drafts two tokens in each step."""
    vocabulary = target(prompts).shape[-1]
    models = [table_class()(model, vocabulary) for model in (target, draft)]
    for name, value in {
        "num_assistant_tokens": 2,
        "num_assistant_tokens_schedule": "constant",
        "assistant_confidence_threshold": 0.0,
    }.items():
        setattr(models[1].generation_config, name, value)
    texts = models[0].generate(
        prompts,
        assistant_model=models[1],
        do_sample=True,
        top_k=0,
        max_new_tokens=length,
        pad_token_id=0,
    )
    return texts[0, 1:]
