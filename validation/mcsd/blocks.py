"""Blocks of several tokens, exactly: a configuration has k drafts for each step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import chain, product

from validation.algorithms import rejection
from validation.domains import Domain
from validation.instances import Exact
from validation.mcsd.events import alg1
from validation.mcsd.trees import Node, ancestors, rows, squeezed
from validation.model_domain import models
from validation.notation import ONE, collect, iid, total

Prefix = tuple[int, ...]
Model = Callable[[Prefix], Exact]
Law = dict[Prefix, Fraction]


def configured(*configs: tuple[int, ...]) -> Domain:
    """Return the domain of pairs of models over two tokens, each with all configurations."""
    lengths = sorted({len(config) for config in configs})
    some = models([(2, length) for length in lengths])
    fitting = some.each(config=lambda length, **_: [c for c in configs if len(c) == length])
    return fitting.of(lambda length, **rest: rest)


@lru_cache(maxsize=4096)
def _step(draft: Exact, target: Exact, k: int) -> Mapping[tuple[bool, int], Fraction]:
    """Return the law of (whether a draft is accepted, the token)."""
    parts = (branch for _, branch in alg1(draft, target, k).branches)
    return collect(((each.accepted is not None, each.output), each.mass) for each in parts)


def block(draft: Model, target: Model, config: tuple[int, ...]) -> Law:
    """Return the law of the tokens of one block; Algorithm 1 in every step."""
    ended: list[tuple[Prefix, Fraction]] = []
    going: Law = {(): ONE}
    for k in config:
        longer: list[tuple[Prefix, Fraction]] = []
        for prefix, mass in going.items():
            for (accepted, x), each in _step(draft(prefix), target(prefix), k).items():
                (longer if accepted else ended).append(((*prefix, x), mass * each))
        going = collect(longer)
    return collect(chain(ended, _one_more_token(going, target)))


def _one_more_token(law: Law, target: Model) -> Iterator[tuple[Prefix, Fraction]]:
    for prefix, mass in law.items():
        yield from (((*prefix, x), mass * each) for x, each in enumerate(target(prefix)))


def completed(law: Law, target: Model, length: int) -> Law:
    """Continue every block by the target up to this many tokens."""
    for _ in range(length):
        whole = {prefix: mass for prefix, mass in law.items() if len(prefix) == length}
        shorter = {prefix: mass for prefix, mass in law.items() if len(prefix) < length}
        law = collect(chain(whole.items(), _one_more_token(shorter, target)))
    return law


def efficiency(law: Law) -> Fraction:
    """Return the expected number of tokens of a block."""
    return total(len(prefix) * mass for prefix, mass in law.items())


def walks(
    config: tuple[int, ...], nodes: list[Node], draft: Model, target: Model, batch: bool
) -> Law:
    """Verify given candidates: as rows of a batch, or from the root of the tree to a leaf."""

    def visit(
        prefix: Prefix, parent: int, kept: list[list[int]], mass: Fraction
    ) -> Iterator[tuple[Prefix, Fraction]]:
        depth = len(prefix)
        if depth == len(config):
            yield from _one_more_token({prefix: mass}, target)
            return
        if batch:
            step = list(dict.fromkeys(row[depth] for row in kept))
            seen = tuple(nodes[i].token for i in kept[0][:depth])
        else:
            step = [i for i, node in enumerate(nodes) if node.parent == parent]
            seen = tuple(nodes[i].token for i in ancestors(nodes, parent)) if depth else ()
        run = rejection(target(seen), draft(seen), tuple(nodes[i].token for i in step))
        for chance, token, i in run.branches():
            if i is None:
                yield (*prefix, token), mass * chance
            else:
                rest = [row for row in kept if row[depth] == step[i]]
                yield from visit((*prefix, token), step[i], rest, mass * chance)

    return collect(visit((), -1, rows(config, nodes), ONE))


def drafted_trees(config: tuple[int, ...], draft: Model) -> Iterator[tuple[Fraction, list[Node]]]:
    """Yield every tree of candidates and its probability."""
    trees: list[tuple[Fraction, tuple[int, ...], list[Prefix]]] = [(ONE, (), [()])]
    for width in config:
        grown = []
        for mass, tokens, level in trees:
            for draws in product(*(iid(draft(prefix), width).items() for prefix in level)):
                weight, more, longer = mass, tokens, []
                for prefix, (x, each) in zip(level, draws, strict=True):
                    weight *= each
                    more += x
                    longer += [(*prefix, y) for y in x]
                grown.append((weight, more, longer))
        trees = grown
    for mass, tokens, _ in trees:
        yield mass, squeezed(config, tokens)
