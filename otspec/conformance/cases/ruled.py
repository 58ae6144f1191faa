"""The law of what a named rule accepts, and of the token after it."""

from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import lru_cache, partial
from typing import Any

import numpy as np

from otspec import blocks, rules
from otspec._base import Array, as_callable, as_choice, as_instance, read_only
from otspec.blocks.trees.shapes import as_shape
from otspec.blocks.trees.verifiers.nodes import made_rule
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.drafting import model_of, patterns
from otspec.conformance.cases.kinds import Kind
from otspec.drafts import LAWS

Maker = Callable[..., Any]
Rows = tuple[tuple[float, ...], ...]


def as_maker(rule: Any, kind: str) -> Maker:
    """Return what makes the rule of a pair, by name or as a callable."""
    # It takes (draft, target, k) for tokens, two models and the length for blocks, two models and
    # the tree for trees, where equal siblings of a rule by name stay apart.
    if not isinstance(rule, str):
        wanted = "the name of a rule, or what makes one of a pair"
        return as_callable(rule, "rule", wanted)
    if kind == "tokens":
        return rules.RULES[as_choice(rule, "rule", rules.RULES)].of_pair
    if kind == "block":
        return blocks.BLOCK_RULES[as_choice(rule, "rule", blocks.BLOCK_RULES)]
    as_choice(rule, "rule", (*blocks.TREE_VERIFIERS, *blocks.TREE_RULES))
    if rule in blocks.TREE_RULES:
        return partial(blocks.DraftSelection, rule=blocks.TREE_RULES[rule], merge=False)
    whole: Any = blocks.TREE_VERIFIERS[rule]
    return partial(whole, merge=False) if "merge" in {it.name for it in fields(whole)} else whole


def law_of_rule(rule: Any, kind: str) -> str | None:
    """Return the law of the drafts of one token, or of siblings, that a rule is for, if it says."""
    tables: dict[str, Any] = {"tokens": rules.RULES, "tree": blocks.TREE_RULES}
    named = tables.get(kind, {}).get(rule) if isinstance(rule, str) else rule
    law = getattr(named, "law_class", None)
    return law.name if law is not None and law.name in LAWS else None


def law_asked_for(rule: Any, kind: str, distinct: bool, drafts: Any) -> str:
    """Return what siblings are drawn from: as the rule says, or as it is asked for."""
    given = {"distinct": "without-replacement"} if distinct else {}
    if drafts is not None:
        given["drafts"] = as_choice(drafts, "drafts", LAWS)
    if (own := law_of_rule(rule, kind)) is not None:
        given["rule"] = own
    if len(set(given.values())) > 1:
        said = " and ".join(f"{name} says {law}" for name, law in given.items())
        raise ValueError(f"{said}, of how drafts are drawn: leave one out")
    return next(iter(given.values()), "iid")


def has_joint_law(kind: Kind, case: Case) -> bool:
    """Return whether the law of a rule over symbols is that over tokens."""
    return case.sizes.max() == 1 or kind.name == "block"


def joint_law(maker: Maker, kind: Kind, case: Case) -> Array:
    """Return the law of the pair of models, what is accepted, and the token after it.

    Shape (variants, accepted, n). Accepted is 0 or, for tokens, one more than the first draft that
    is the accepted token; else how many tokens are kept.
    """
    # Rules may decide ties by the number of a token, so they get symbols in the order of tokens.
    order = np.argsort(case.places)
    after = np.append(0, order + 1)
    tables = (values[:, after][:, :, order].tolist() for values in (case.draft, case.target))
    laws = [
        _of_pair(maker, kind, (*map(tuple, draft),), (*map(tuple, target),), case.uneven)
        for draft, target in zip(*tables, strict=True)
    ]
    return np.stack(laws)[:, :, np.argsort(order)] / case.variants


@lru_cache(maxsize=256)
def _of_pair(maker: Maker, kind: Kind, draft: Rows, target: Rows, uneven: bool) -> Array:
    """Return the law for one pair of models, which several cases may have."""
    rows = np.array(draft), np.array(target)
    law = np.zeros((kind.marks if kind.name == "tokens" else kind.length, len(target[0])))
    sets = patterns(kind.parents) if uneven else [(True,) * len(kind.parents)]
    outcomes = _of_tokens if kind.name == "tokens" else _of_models
    for there in sets:
        if not any(there):
            law[0] += rows[1][0] / len(sets)
            continue
        for accepted, row in outcomes(maker, kind, *rows, there):
            law[accepted] += row / len(sets)
    return read_only(law)


def _of_tokens(
    maker: Maker, _: Kind, draft: Array, target: Array, there: tuple[bool, ...]
) -> Iterator[tuple[int, Array]]:
    """Yield what is accepted of drafts of one token, with the mass of each token."""
    rule = made_rule(maker, draft[0], target[0], sum(there))
    tuples, masses = rule.law.tuples()
    for drafts, mass in zip(tuples.tolist(), masses.tolist(), strict=True):
        kernel = np.asarray(rule.joint_kernel(drafts), dtype=float)
        yield 0, mass * kernel[-1]
        for place, token in enumerate(drafts):
            yield drafts.index(token) + 1, mass * kernel[place]


def _of_models(
    maker: Maker, kind: Kind, draft: Array, target: Array, there: tuple[bool, ...]
) -> Iterator[tuple[int, Array]]:
    """Yield how much is kept of a block or a tree, with the mass of each token after it."""
    kept = [node for node, here in enumerate(there) if here]
    number = {node: place for place, node in enumerate((-1, *kept), start=-1)}
    parents = tuple(number[kind.parents[node]] for node in kept)
    drafts: Any = len(kept) if kind.name == "block" else as_shape(blocks.TokenTree(parents))
    made = maker(model_of(draft), model_of(target), drafts)
    wanted = "a rule of otspec.blocks or otspec.blocks.trees, or like them"
    for outcome in as_instance(made, "what rule makes", blocks.BlockRule, wanted).outcomes():
        row = np.asarray(outcome.following(()), dtype=float)
        yield len(outcome.accepted), float(outcome.mass) * row
