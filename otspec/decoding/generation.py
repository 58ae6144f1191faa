"""Lossless decoding of language models with several drafts: a tree is verified in each call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from otspec.arguments import as_callable, as_integer, as_tokens
from otspec.decoding.choices import AnyRule, AnyTree, as_shape, decoder_of
from otspec.decoding.draws import Chance
from otspec.decoding.results import Generated, Step
from otspec.decoding.transformer import (
    TransformerReader,
    check_model,
    end_tokens,
    positions,
    vocabulary,
)
from otspec.pretrained import without_layers
from otspec.traces.readers import Warp
from otspec.warping import STEPS

MOST_NEW = 1_000_000
"""Most tokens that are decoded at once."""


def generate(
    target: Any,
    draft: Any,
    prompt: Sequence[int],
    *,
    rule: AnyRule = "pooled-selection",
    tree: AnyTree = (4, 2, 1),
    max_new_tokens: int = 64,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    order: str | Iterable[str] = STEPS,
    seed: int = 0,
    end: Iterable[int] | None = None,
    on_step: Callable[[Step], None] | None = None,
    skip_layers: str | Iterable[int] | None = None,
) -> Generated:
    """Decode a text of the target model, with drafts of another one.

    In each step the draft model drafts a tree, the target reads it in one call, the rule says which
    of its tokens are kept, and one more token follows them.

    Law: the text is distributed as the target's, warped, whatever the draft model, the rule and
    the tree are. Both models are warped alike, by default with the
    temperature first, then top-k, top-p and min-p.

    Parameters
    ----------
    target, draft : transformers.PreTrainedModel
        Causal models with one tokenizer, full attention and ``position_ids``, such as Llama. The
        draft is None with ``skip_layers``.
    prompt : sequence of int
        Token ids, one at least.
    rule : str or type
        A name or a class of :data:`otspec.rules.RULES`, which also says how the children of a node
        are drawn; of :data:`otspec.trees.VERIFIERS`, such as ``"traversal"``, which verify the
        tree from its leaves; or, if the tree is a chain, of :data:`otspec.blocks.RULES`.
    tree : str, sequence of int or TokenTree
        Children of each node by depth, such as ``"4x2x1"`` or ``(4, 2, 1)``, or a tree of any
        shape. Equal i.i.d. children go on together, with the children of all; of distinct ones no
        more are drawn than the draft model has tokens. ``TokenTree(())`` is plain decoding, which
        never asks the draft model.
    max_new_tokens : int
    temperature : float
    top_k : int, optional
    top_p : float, optional
    min_p : float, optional
    order : str or iterable of str
        See :func:`otspec.traces.warp`.
    seed : int
    end : iterable of int, optional
        Tokens that end a text; by default those of the target's configuration. Nothing is drafted
        after them.
    on_step : callable, optional
        Gets each :class:`Step` with its new tokens as soon as it is there.
    skip_layers : str or iterable of int, optional
        Draft with the target itself without these layers, counted from 0, such as ``"14-17"``: as
        with the draft ``otspec.pretrained.without_layers(target, skip_layers)``.

    Returns
    -------
    Generated
        The tokens, the calls of both models, and what was accepted at each depth.

    Raises
    ------
    ValueError
        Models that cannot read trees; a prompt, a rule, a tree or options that cannot be used, or
        do not go together; a text that is longer than a model's positions; missing packages.
    """
    if skip_layers is not None:
        if draft is not None:
            raise ValueError("draft and skip_layers are two draft models: pass draft=None, or one")
        check_model(target, "target")
        draft = without_layers(target, skip_layers, "skip_layers")
    for model, name in ((target, "target"), (draft, "draft")):
        check_model(model, name)
    warping = Warp(temperature, top_k=top_k, top_p=top_p, min_p=min_p, order=order)
    n = min(vocabulary(target), vocabulary(draft))
    text = as_tokens(prompt, n, "prompt")
    if not text:
        raise ValueError("prompt has no token: pass one at least, such as the model's first")
    last = end_tokens(target) if end is None else as_tokens(end, n, "end", unordered=True)
    shape = as_shape(tree, last)
    most = as_integer(max_new_tokens, "max_new_tokens", 1, MOST_NEW)
    _check_length(len(text) + most + shape.tree.depth, min(positions(target), positions(draft)))
    readers = {
        "target": TransformerReader(target, n, warping),
        "draft": TransformerReader(draft, n, warping),
    }
    decoder = decoder_of(text, rule, shape, **readers)
    heard = on_step and as_callable(on_step, "on_step", "a function of one step")
    steps = []
    for step in decoder.steps(most, Chance(seed)):
        steps.append(step)
        if heard:
            heard(step)
    return Generated(tuple(steps), shape.tree.depth)


def _check_length(length: int, most: float) -> None:
    if length > most:
        raise ValueError(
            f"prompt, max_new_tokens and the depth of the tree come to {length:,} tokens, but the "
            f"models have positions for {most:,}: decode fewer"
        )
