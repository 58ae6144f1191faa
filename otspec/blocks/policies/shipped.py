"""The drafting policies that engines have, and lossless ones in place of those that anticipate."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from otspec._base import Number, as_real
from otspec.blocks.policies.base import Grow, Policy, named
from otspec.blocks.policies.sequence_race import sequence_race
from otspec.blocks.trees.best.dynamic_tree import grown
from otspec.chance import Chance
from otspec.distributions import Distribution, as_k
from otspec.drafts.single import likeliest
from otspec.models import Model, Prefix
from otspec.rules.lossy.base import entropy

Test = Callable[[Any, Any], bool]
"""Whether to cut: of the probability of a token, and of its path with it."""


def policies(
    threshold: Number | str = "1/2", length: int = 2, nodes: int = 4, prompt: Prefix = (0, 1, 0)
) -> Mapping[str, Policy]:
    """Return the shipped policies by name, in the order of tables.

    Parameters
    ----------
    threshold : number
        Below which a confidence is low, from 0 to 1.
    length, nodes : int
        The most tokens of a text; the most nodes of a tree, or tokens that two rows draft together.
    prompt : tuple of int
        The text in which n-grams are looked up.

    Raises
    ------
    ValueError
        No threshold from 0 to 1, or numbers below 1.
    """
    least = as_real(threshold, "threshold", 0, 1, wanted="a probability")
    length, nodes = as_k(length, "length"), as_k(nodes, "nodes")

    low = less_than(least)

    def unlikely(token: Any, _: Any) -> bool:
        return low(token)

    def off_path(_: Any, path: Any) -> bool:
        return low(path)

    def unsure(row: Distribution) -> bool:
        return bool(row.max() < least)

    def above(most: float) -> Callable[[Distribution], bool]:
        return lambda row: entropy(row) > most

    def policy(name: str, title: str, grow: Grow, **more: Any) -> Policy:
        return Policy(name, title, grow, length, **more)

    def dropped(what: str, title: str, grow: Grow) -> Policy:
        return policy(f"{what}-dropped", title, grow, cure=f"{what}-masked")

    both, sequences = max(1, nodes // 2), max(1, nodes // length)
    high = -math.log(max(least, 1e-9))
    return named(
        policy("load", "the load says how many tokens are drafted", by_load(length)),
        policy("confidence-kept", "stop after an unlikely token", chain(length, after=unlikely)),
        policy("confidence-max", "stop where no token is likely", chain(length, before=unsure)),
        policy("entropy", "stop where the entropy is high", chain(length, before=above(high))),
        policy("path-kept", "stop after an unlikely path", chain(length, after=off_path)),
        policy("greedy", "likeliest tokens, while likely", greedy(length, least), certain=True),
        policy("top-budget", "a tree of likeliest nodes", top(nodes, length), certain=True),
        policy("n-gram", "what followed before", n_gram(length, prompt), certain=True),
        dropped("confidence", "forget an unlikely token", chain(length, drop=unlikely)),
        dropped("path", "forget an unlikely path", chain(length, drop=off_path)),
        dropped("siblings", "forget unlikely children", sampled(2, length, drop=unlikely)),
        policy("sampled-budget", "likeliest nodes of a sampled tree", sampled(2, length, nodes),
               cure="sequence-race"),
        policy("best-length", "most expected tokens per cost", best_length(length),
               cure="confidence-max"),
        policy("batch-budget", "two rows share a budget", two_rows(length, both), cure="load"),
        policy("confidence-masked", "unlikely tokens are null", chain(length),
               keep=keeping(unlikely)),
        policy("path-masked", "unlikely paths are null", chain(length), keep=keeping(off_path)),
        policy("siblings-masked", "an unlikely child is null", sampled(2, length),
               keep=keeping(unlikely)),
        sequence_race(length, sequences),
    )  # fmt: skip


def less_than(bound: Number) -> Callable[[Any], bool]:
    """Return the test whether a number is below a bound."""
    # Floats are compared with the next float, which takes a tenth of the time and says the same.
    rounded = float(bound)
    rounded = math.nextafter(rounded, math.inf) if rounded < bound else rounded
    return lambda number: bool(number < (rounded if isinstance(number, float) else bound))


def chain(
    length: int,
    *,
    before: Callable[[Distribution], bool] | None = None,
    drop: Test | None = None,
    after: Test | None = None,
) -> Grow:
    """Return the policy of a chain of drawn tokens.

    It stops where the next token's distribution is ``before``; it forgets a token and stops where
    its probability and that of its path are ``drop``; and it stops after a token that is ``after``.
    """

    def grow(draft: Model, chance: Chance) -> Sequence[Prefix]:
        text, path = Prefix(), Fraction(1)
        while len(text) < length and not draft.ended(text):
            row = draft(text)
            if before is not None and before(row):
                break
            token = chance.choose(row)
            path = path * row[token]
            if drop is not None and drop(row[token], path):
                break
            text = (*text, token)
            if after is not None and after(row[token], path):
                break
        return beginnings(text)

    return grow


def beginnings(text: Prefix) -> list[Prefix]:
    """Return the texts that are drafted with a chain."""
    return [text[:i] for i in range(1, len(text) + 1)]


def keeping(cut: Test) -> Callable[[Prefix, Model], list[int]]:
    """Return what a mask keeps in place of a cut that drops tokens."""

    def keep(text: Prefix, draft: Model) -> list[int]:
        path: Any = draft.mass(text)
        row = draft(text).tolist()
        return [token for token, mass in enumerate(row) if not cut(mass, path * mass)]

    return keep


def by_load(length: int) -> Grow:
    """Return the policy that drafts one token at high load, and all at low load."""

    def grow(draft: Model, chance: Chance) -> Sequence[Prefix]:
        return chain((1, length)[chance.choose((1, 1))])(draft, chance)

    return grow


def best_length(length: int) -> Grow:
    """Return the policy of the length with most expected tokens per cost, of a drafted chain."""
    # The chance that a token is kept is estimated by the largest probability at its place.
    # Verifying costs 1 without drafts and 9/5 with any. Later tokens decide whether one is kept.

    def grow(draft: Model, chance: Chance) -> Sequence[Prefix]:
        texts = chain(length)(draft, chance)
        survival, total, best = Fraction(1), Fraction(1), 0
        worth: Any = 1
        for place, text in enumerate(texts):
            survival = survival * draft(text[:-1]).max()
            total = total + survival
            if total / Fraction(9, 5) > worth:
                worth, best = total / Fraction(9, 5), place + 1
        return texts[:best]

    return grow


def top(nodes: int, levels: int) -> Grow:
    """Return the policy of the nodes of likeliest paths, among likeliest tokens (EAGLE-2)."""
    return lambda draft, _: [node.path for node in grown(draft, nodes, levels)]


def greedy(length: int, least: Number) -> Grow:
    """Return the policy of the likeliest tokens, up to one that is not likely."""

    def grow(draft: Model, chance: Chance) -> Sequence[Prefix]:
        del chance
        text = Prefix()
        while len(text) < length and draft(text).max() >= least:
            text = (*text, int(likeliest(draft(text), 1)[0]))
        return beginnings(text)

    return grow


def n_gram(length: int, prompt: Prefix) -> Grow:
    """Return the policy that drafts what followed the last token where it was before."""

    def grow(draft: Model, chance: Chance) -> Sequence[Prefix]:
        del draft, chance
        found = [i for i in range(len(prompt) - 1) if prompt[i] == prompt[-1]]
        return beginnings(prompt[found[-1] + 1 :][:length]) if found else []

    return grow


def sampled(
    children: int, levels: int, nodes: int | None = None, *, drop: Test | None = None
) -> Grow:
    """Return the policy of a tree of drawn children, without those that are ``drop``.

    Of the likeliest paths ``nodes`` are kept.
    """

    def grow(draft: Model, chance: Chance) -> Sequence[Prefix]:
        drafted: list[Prefix] = []
        level: list[Prefix] = [()]
        for _ in range(levels):
            below: list[Prefix] = []
            for text in level:
                if draft.ended(text):
                    continue
                row = draft(text)
                drawn = [chance.choose(row) for _ in range(children)]
                below += [
                    (*text, token)
                    for token in drawn
                    if drop is None or not drop(row[token], draft.mass((*text, token)))
                ]
            drafted += below
            level = list(dict.fromkeys(below))
        if nodes is None:
            return drafted
        # A child is no likelier than its parent: with sorted() stable, parents are kept first.
        best = set(sorted(dict.fromkeys(drafted), key=draft.mass, reverse=True)[:nodes])
        return [text for text in drafted if text in best]

    return grow


def two_rows(length: int, nodes: int) -> Grow:
    """Return the policy of a row that shares its tokens with another row of the batch."""

    def grow(draft: Model, chance: Chance) -> Sequence[Prefix]:
        own, other = (chain(length)(draft, chance) for _ in range(2))
        ranked = [(draft.mass(text), mine) for mine, row in ((0, other), (1, own)) for text in row]
        ranked.sort(key=lambda pair: -pair[0])  # of equals the other row's first
        return own[: sum(mine for _, mine in ranked[:nodes])]

    return grow
