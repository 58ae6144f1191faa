"""aws-neuron/neuronx-distributed-inference: fused speculation with certain drafts."""

from __future__ import annotations

import logging
from types import MethodType, SimpleNamespace
from typing import Any

import torch
from checkout import Checkout
from instances import TWO, of_block
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


def wrapped(checkout: Checkout) -> Any:
    """Return a verifier of blocks: its draft takes the likeliest token, of declared chance 1."""
    code = checkout.load(
        FILE,
        *(f"NeuronFusedSpecModel.{name}" for name in NAMES),
        rand_like=drawn_like,
    )
    draws = checkout.load(
        SAMPLING,
        "Sampler._multinomial",
        "Sampler._rand_selector",
        "cumsum",
        logger=logging.getLogger(),
    )
    here = SimpleNamespace(
        config=SimpleNamespace(pad_token_id=-1),
        deterministic=False,
        neuron_config=SimpleNamespace(on_cpu=True),
    )
    for name, function in [*vars(code).items(), *vars(draws).items()]:
        setattr(here, name, MethodType(function, here))

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
