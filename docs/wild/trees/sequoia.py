"""Infini-AI-Lab/Sequoia: trees drafted without replacement, over several steps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from checkout import Checkout
from small_models import TWO, Model, TableModel
from verdict import Case

REPOSITORY = "Infini-AI-Lab/Sequoia"
COMMIT = "0ff3ff71475ca148f2dfb7545e0de5caf5c67b39"
FILE = "Tree/SpecTree.py"
MOST = 4
"""Tokens of the prompt and of a text."""
UNUSED = frozenset(range(14)) - {1, 2, 4}
"""Of 4 + 2 × 5 numbers that are drawn at the beginning: all but one for drafts, and two tests."""


TOOLS = "get_residual", "get_sampling_logits", "_make_causal_mask"
GROWN = {
    "roots": [[0], [1]],
    "branches": [[1], [0]],
    "Successors": [[1], []],
    "size": 2,
    "mask": torch.tensor([[1, 0], [1, 1]]),
    "depth": torch.tensor([0, 1]),
}
"""A tree of one draft after the text."""


def engine_of(model: Model) -> Any:
    """Return what runs a model. Tokens begin with 3: 0 and 2 end a text."""

    def run(input_ids: Any, **_: Any) -> Any:
        return TableModel(model, first=3)(input_ids).logits

    inner = SimpleNamespace(max_length=MOST)
    inner.kv_cache = SimpleNamespace(gather_kv_incremental=lambda *_: None)
    return SimpleNamespace(inference=run, graph_inference=run, engine=inner, dtype=torch.float32)


def first(logits: Any, numbers: Any) -> Any:
    """Draw a token: two of them race as one number against one."""
    return 3 + (numbers[:, 0] > logits.softmax(-1)[:, 3]).long()


def arrays() -> dict[str, Any]:
    """Return what a tree writes to."""
    return {"attn_mask": torch.zeros(MOST, MOST), "position_ids": torch.zeros(MOST, dtype=int)}


def wrapped(checkout: Checkout) -> Any:
    """Return a decoder of one draft in each step."""
    tools = vars(checkout.load("utils.py", *TOOLS))
    base = checkout.load("Tree/Tree.py", "Tree", **tools)
    base.Tree.__init__.__defaults__ = ("cpu", MOST, torch.float32)
    code = checkout.load(FILE, "SpecTree", **tools, **vars(base))
    how = {"max_length": MOST, "max_target_seq": MOST, "vocab_size": 5, "grow_map": GROWN}
    how |= {"residual_graph": tools["get_residual"], "sampling_callables": [first]}
    how["sample_gather_indices"] = [torch.tensor([0])]

    def generate(draft: Model, target: Model, length: int) -> Any:
        text = torch.tensor([3])
        given = engine_of(draft), engine_of(target), text, 1.0, 1.0
        tree = code.SpecTree(*given, **how, **arrays())
        while len(text) <= length:
            tree.construct_grow_map()
            text = tree.verify()[0].clone()
        return [int(token) - 3 for token in text[1:]]

    return generate


CASES = [
    Case(
        "SpecTree",
        FILE,
        "SpecTree.accept_step",
        "pipeline",
        TWO._replace(cells=4),
        2,
        wrapped,
        unused=UNUSED,
    )
]
