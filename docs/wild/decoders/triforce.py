"""Infini-AI-Lab/TriForce: a hierarchy of two drafts."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import torch
from checkout import Checkout
from small_models import Instance, Model, TableModel, rows
from verdict import Case

REPOSITORY = "Infini-AI-Lab/TriForce"
COMMIT = "164c8c0131cf49951eefdea89a3fbcccb8ca326b"
FILE = "utils/decoding.py"
TOOLS = "sample", "max_fn", "norm_logits", "top_k_top_p_filter"
COINS = Instance(rows(*["1/2 1/2"] * 2), rows(*["1/8 7/8"] * 2), 2)
MIDDLE = rows("1/4 3/4")[0]
"""The row of the middle model: half of the target's, twice the draft's."""


class Cache(SimpleNamespace):
    """A cache that keeps nothing."""

    seq_len = start_size = recent_size = 0

    def reset(self) -> None:
        """Do nothing."""

    def print_status(self) -> None:
        """Do nothing."""

    def evict_for_spec(self, _: int) -> None:
        """Do nothing."""


class Engine:
    """Three models; tokens behind those that count are 100."""

    def __init__(self, draft: Model, target: Model) -> None:
        self.models = TableModel(draft), TableModel(lambda _: MIDDLE), TableModel(target)
        caches = {"kv_cache": Cache(), "graph_cache": Cache(), "draft_cache": Cache()}
        self.engine = SimpleNamespace(model=SimpleNamespace(device="cpu"), **caches)

    def inference(self, input_ids: Any) -> Any:
        """Return the target's logits."""
        return self.models[2](input_ids.clamp(max=1)).logits

    def graph_verify(self, input_ids: Any, position_ids: Any) -> Any:
        """Return the middle model's probabilities."""
        del position_ids
        return self.models[1](input_ids.clamp(max=1)).logits[0].exp()

    def graph_draft_inference(self, input_ids: Any, gamma_offset: int) -> Any:
        """Return the draft's probabilities."""
        return self.models[0](input_ids.clamp(max=1)).logits[0, gamma_offset].exp()

    def graph_draft_prefill(self, input_ids: Any) -> None:
        """Do nothing."""

    def update_graph_cache(self) -> None:
        """Do nothing."""


def wrapped(checkout: Checkout) -> Any:
    """Return a decoder; what it says is told to ``spec_stream``."""
    said: list[int] = []
    given = vars(checkout.load("utils/sampling.py", *TOOLS))
    given |= {"spec_stream": lambda token, *_: said.append(int(token)), "time": time}
    given["print"] = lambda *_, **__: None
    code = checkout.load(FILE, "TriForce", "Middle_Spec", **given)

    def generate(draft: Model, target: Model, length: int) -> Any:
        said.clear()
        ends, prompt = SimpleNamespace(eos_token_id=-1), torch.zeros(1, 2, dtype=int)
        how = {"gamma": 1, "max_len": length - 1, "top_p": 1.0, "temperature": 1.0}
        code.TriForce(ends, Engine(draft, target), prompt, verbose=True, **how)
        return said[:length]

    return generate


CASES = [Case("TriForce", FILE, "TriForce", "pipeline", COINS, 2, wrapped)]
