"""What decoding is told, by name or by class: rules and trees, and how it begins."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias, cast

from otspec import blocks, rules
from otspec._base import shown
from otspec.blocks.trees import shapes
from otspec.blocks.trees.verifiers.leaf_to_root import LeafToRoot
from otspec.chance import Chance
from otspec.decoding.decoder import Decoder, EndingShape
from otspec.decoding.verification import Reader, ReadModel, RuleVerifier, SharedNoiseVerifier
from otspec.distributions import Distribution
from otspec.drafts import IID, DraftLaw
from otspec.models import EndingModel, Prefix
from otspec.rules import GumbelCoupling, GumbelLists, PairRule

MOST_NODES = 10_000  # most nodes of a tree, each of which may see all others
Program: TypeAlias = Callable[[blocks.DraftedTree, Chance], Any]
"""A function ``verify(drafts, chance)``, see :class:`otspec.blocks.ProgramTree`."""
Kind: TypeAlias = type[PairRule] | type[blocks.TreeRule] | type[blocks.SingleDraftRule]
"""A class of rules for one token, for a tree, or for a block."""
AnyRule: TypeAlias = str | Kind | Program  # such a class, its name, or a program
AnyTree: TypeAlias = str | Sequence[Any] | blocks.TokenTree | blocks.Shape
"""Children by depth, such as ``"4x2x1"`` or ``(4, 2, 1)``, or a tree of any shape."""


def usable_rules() -> dict[str, Kind]:
    """Return the rules that decoding may use, by name: for one token, a tree, then one block."""
    named = {**rules.RULES, **blocks.TREE_RULES, **blocks.TREE_VERIFIERS}
    return {
        **{
            name: rule
            for name, rule in named.items()
            # Of k lists of noise the output depends on k: no text of a seed.
            if issubclass(rule, (PairRule, blocks.TreeRule)) and rule is not GumbelLists
        },
        **blocks.BLOCK_RULES,
    }


def decoder_of(
    prompt: Prefix, rule: AnyRule, shape: EndingShape, *, draft: Reader, target: Reader
) -> Decoder:
    """Return the decoder of a text that has only its prompt."""
    kind, tree = _as_rule(rule), shape.tree
    wanted = ReadModel(target, prompt)
    drafted = ReadModel(draft, prompt) if tree.children else wanted  # else nothing is drafted
    models = drafted, EndingModel(wanted, shape.end)
    shaped = tree if tree.children else blocks.Shape.of_branching("1")
    law: Callable[[Distribution, int], DraftLaw] = IID
    made: blocks.BlockRule
    if not isinstance(kind, type):
        made = blocks.ProgramTree(*models, shaped, kind)
    elif issubclass(kind, blocks.SingleDraftRule):
        if not tree.children or not tree.drawn or tree.depth != tree.size:
            what = "has branches" if tree.drawn else "has likeliest tokens"
            raise ValueError(
                f"{kind.name} verifies one drafted block, but the tree {what}: use a chain "
                "such as tree=(1, 1, 1, 1), or a rule for trees"
            )
        made = kind(*models, tree.depth)
    elif issubclass(kind, blocks.TreeRule):
        if not tree.drawn:
            raise ValueError(
                f"{kind.name} verifies trees of drawn tokens only, but the tree has likeliest "
                "tokens: leave out top, or use a rule for one token"
            )
        if issubclass(kind, LeafToRoot):
            law = _serving(kind.lifts, tree).law_class
        made = kind(*models, shaped)
    else:
        token_rule = _serving(cast("type[PairRule]", kind), tree)
        law = token_rule.law_class
        if issubclass(token_rule, GumbelCoupling):
            return Decoder(prompt, draft, target, shape, SharedNoiseVerifier(law))
        made = blocks.DraftSelection(*models, shaped, token_rule)
    verifier = RuleVerifier(law, made, drafted, wanted)
    return Decoder(prompt, draft, target, shape, verifier)


def _serving(rule: type[PairRule], shape: blocks.Shape) -> type[PairRule]:
    """Return a rule for one token if it verifies the children of every node."""
    if rule.only_k is not None and shape.widths - {rule.only_k}:
        raise ValueError(
            f"{rule.name} verifies exactly {rule.only_k} drafts, but nodes of the tree have "
            f"{', '.join(map(str, sorted(shape.widths)))} children: use a tree such as "
            f"tree={(rule.only_k,) * 2}, or another rule"
        )
    return rule


def as_shape(tree: AnyTree, end: Collection[int] = ()) -> EndingShape:
    """Check a tree, of texts that some tokens end."""
    empty = isinstance(tree, blocks.TokenTree) and not len(tree)
    shape = blocks.Shape() if empty else shapes.as_shape(tree)
    if shape.size > MOST_NODES:
        raise ValueError(
            f"tree has {shape.size:,} nodes, which the target reads at once: pass at most "
            f"{MOST_NODES:,}"
        )
    return EndingShape(shape, frozenset(end))


def _as_rule(rule: Any) -> Kind | Program:
    usable = usable_rules()
    if isinstance(rule, type) and issubclass(
        rule, (PairRule, blocks.TreeRule, blocks.SingleDraftRule)
    ):
        return rule
    if not isinstance(rule, (type, str)) and callable(rule):
        return cast("Program", rule)
    if isinstance(rule, str) and rule in usable:
        return usable[rule]
    raise ValueError(
        f"rule is {shown(rule)}: it must be one of {', '.join(usable)}, a class, or a function "
        "verify(drafts, chance)"
    )
