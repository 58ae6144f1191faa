"""aws-neuron/neuronx-distributed-inference: fused speculation with certain drafts."""

from __future__ import annotations

import logging
from types import MethodType, SimpleNamespace
from typing import Any

import torch
from checkout import Checkout
from small_models import TWO, of_block
from verdict import of_verifier

REPOSITORY = "aws-neuron/neuronx-distributed-inference"
COMMIT = "4bcdc54bf3b6ccdad490e5cd0680a3dc95270b8e"
FILE = "src/neuronx_distributed_inference/models/model_base.py"
SAMPLING = "src/neuronx_distributed_inference/modules/generation/sampling.py"
NAMES = "_speculative_token_selection", "_speculative_mask", "_select_from", "_adjust_target_probs"
FUNCTION = f"NeuronFusedSpecModel.{NAMES[0]}"


def drawn_like(tensor: Any) -> Any:
    """Return uniform numbers."""
    return torch.rand_like(tensor)


def bound(checkout: Checkout) -> Any:
    """Return an object with what is used of the model's and the sampler's methods."""
    names = (f"NeuronFusedSpecModel.{name}" for name in NAMES)
    code = checkout.load(FILE, *names, rand_like=drawn_like)
    drawing = "Sampler._multinomial", "Sampler._rand_selector", "cumsum"
    draws = checkout.load(SAMPLING, *drawing, logger=logging.getLogger())
    config, neuron = SimpleNamespace(pad_token_id=-1), SimpleNamespace(on_cpu=True)
    here = SimpleNamespace(config=config, deterministic=False, neuron_config=neuron)
    for name, function in [*vars(code).items(), *vars(draws).items()]:
        setattr(here, name, MethodType(function, here))
    return here


def wrapped(checkout: Checkout) -> Any:
    """Return a verifier of blocks: its draft takes the likeliest token, of declared chance 1."""
    here = bound(checkout)

    def verify(target: Any, drafts: Any) -> Any:
        size, ids = drafts.shape[1], torch.arange(target.shape[2]).expand(target.shape)
        one = torch.ones(drafts.shape)
        adjusted = here._adjust_target_probs(one, drafts, target, ids, size)
        recovered = torch.gather(ids, 2, here._multinomial(adjusted, 2))[:, :, 0]
        rows = ids[:, :size], target[:, :size]
        return here._speculative_token_selection(drafts, recovered, drafts, one, *rows)[0]

    return verify


CASES = [
    of_verifier(
        "_speculative_token_selection",
        FILE,
        FUNCTION,
        wrapped,
        lambda verify: of_block(lambda _, target, drafts: verify(target, drafts)),
        instance=TWO._replace(cells=8),
        kind="block",
    )
]
