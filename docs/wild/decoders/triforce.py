"""Infini-AI-Lab/TriForce: a hierarchy of two drafts."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import torch
from checkout import Checkout
from instances import TWO, Model, TableModel
from verdict import Case

REPOSITORY = "Infini-AI-Lab/TriForce"
COMMIT = "164c8c0131cf49951eefdea89a3fbcccb8ca326b"
FILE = "utils/decoding.py"


def wrapped(checkout: Checkout) -> Any:
    """Return a decoder. The middle model has the target's rows but for a third of the draft's."""
    used = vars(
        checkout.load("utils/sampling.py", "sample", "max_fn", "norm_logits", "top_k_top_p_filter")
    )

    def generate(draft: Model, target: Model, length: int) -> Any:
        said: list[int] = []
        code = checkout.load(
            FILE,
            "TriForce",
            "Middle_Spec",
            time=time,
            print=lambda *_, **__: None,
            spec_stream=lambda token, *_: said.append(int(token)),
            **used,
        )
        engine = MagicMock()
        engine.engine.model.device, engine.engine.kv_cache.seq_len = torch.device("cpu"), 0
        engine.engine.draft_cache.start_size = engine.engine.draft_cache.recent_size = 0
        engine.inference = lambda input_ids: TableModel(target)(input_ids).logits
        engine.graph_draft_inference = lambda input_ids, gamma_offset: (
            TableModel(draft)(input_ids.clamp(max=1)).logits[0, gamma_offset].exp()
        )
        engine.graph_verify = lambda input_ids, **_: (
            TableModel(middle)(input_ids.clamp(max=1)).logits[0].exp()
        )
        how = {"gamma": 1, "max_len": length - 1, "top_p": 1.0, "temperature": 1.0, "verbose": True}
        code.TriForce(SimpleNamespace(eos_token_id=-1), engine, torch.zeros(1, 2, dtype=int), **how)
        return said[:length]

    def middle(text: Any) -> Any:
        return TWO.target_rows[1 - text[-1] if text else 1]

    return generate


CASES = [Case("TriForce", FILE, "TriForce", "pipeline", TWO._replace(cells=4), 2, wrapped)]
