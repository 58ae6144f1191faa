"""What decoding is told, by name or by class: rules and trees, and how it begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from otspec import blocks, rules, trees
from otspec.blocks import SingleDraftRule
from otspec.decoding.decoder import Decoder
from otspec.decoding.reader import Reader
from otspec.decoding.verification import ChainVerifier, ReadModel, TreeVerifier, Verifier
from otspec.models.contract import Prefix
from otspec.raw import shown
from otspec.rules import PairRule
from otspec.trees import Shape, TokenTree, shapes

MOST_NODES = 10_000
"""Most nodes of a tree, each of which may see all others."""
AnyRule: TypeAlias = str | type[PairRule] | type[SingleDraftRule]
"""A rule for one token or for one drafted block: its name or its class."""
AnyTree: TypeAlias = str | Sequence[Any] | TokenTree | Shape
"""Children by depth, such as ``"4x2x1"`` or ``(4, 2, 1)``, or a tree of any shape."""


def usable_rules() -> dict[str, type[PairRule] | type[SingleDraftRule]]:
    """Return the rules that decoding may use, by name: for one token, then for one block."""
    named = {**rules.RULES, **trees.RULES}
    return {
        **{name: rule for name, rule in named.items() if issubclass(rule, PairRule)},
        **blocks.RULES,
    }


def decoder_of(
    prompt: Prefix, rule: AnyRule, shape: Shape, *, draft: Reader, target: Reader
) -> Decoder:
    """Return the decoder of a text that has only its prompt.

    Parameters
    ----------
    prompt : tuple of int
        One token at least.
    rule : str or type
    shape : Shape
    draft, target : Reader
        Which have read nothing.

    Raises
    ------
    ValueError
        No such rule, or one that does not verify such trees.
    """
    kind = _as_rule(rule)
    verifier: Verifier
    if issubclass(kind, SingleDraftRule):
        if not shape.children or not shape.drawn or shape.depth != shape.size:
            what = "has branches" if shape.drawn else "has likeliest tokens"
            raise ValueError(
                f"{kind.name} verifies one drafted block, but the tree {what}: use a chain "
                "such as tree=(1, 1, 1, 1), or a rule for trees"
            )
        model = ReadModel(target, prompt)
        verifier = ChainVerifier(kind, ReadModel(draft, prompt), model, (), model)
    else:
        if kind.only_k is not None and shape.widths - {kind.only_k}:
            raise ValueError(
                f"{kind.name} verifies exactly {kind.only_k} drafts, but nodes of the tree have "
                f"{', '.join(map(str, sorted(shape.widths)))} children: use a tree such as "
                f"tree={(kind.only_k,) * 2}, or another rule"
            )
        verifier = TreeVerifier(kind)
    return Decoder(prompt, draft, target, shape, verifier)


def as_shape(tree: AnyTree) -> Shape:
    """Check a tree.

    Raises
    ------
    ValueError
        As :func:`otspec.trees.as_shape`, but that a ``TokenTree`` may have no node; or more than
        10,000 nodes.
    """
    empty = isinstance(tree, TokenTree) and not len(tree)
    shape = Shape() if empty else shapes.as_shape(tree)
    if shape.size > MOST_NODES:
        raise ValueError(
            f"tree has {shape.size:,} nodes, which the target reads at once: pass at most "
            f"{MOST_NODES:,}"
        )
    return shape


def _as_rule(rule: Any) -> type[PairRule] | type[SingleDraftRule]:
    usable = usable_rules()
    if isinstance(rule, type) and issubclass(rule, (PairRule, SingleDraftRule)):
        return rule
    if isinstance(rule, str) and rule in usable:
        return usable[rule]
    raise ValueError(f"rule is {shown(rule)}: it must be one of {', '.join(usable)}, or a class")
