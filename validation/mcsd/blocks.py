"""Blocks of several tokens, exactly: sections 2, 3, 4.1 to 4.4."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import accumulate, chain, pairwise, product
from operator import mul

from validation.claim import at_least, equal
from validation.instances import Exact, pairs
from validation.mcsd.printed import Outcomes, acceptance, algorithm1, hats, law1, law2
from validation.mcsd.trees import Node, ancestors, rows, squeezed
from validation.notation import ONE, ZERO, collect, iid, overlap, support, total

Prefix = tuple[int, ...]
Model = Callable[[Prefix], Exact]


def rotated(law: Exact, by: int) -> Exact:
    """Return a law with its tokens renamed."""
    return tuple(law[(x + by) % len(law)] for x in range(len(law)))


def model(law: Exact, factor: int) -> Model:
    """Return a model whose law depends on the prefix: a rotation of the given one."""
    return lambda prefix: rotated(law, factor * sum(i * (x + 1) for i, x in enumerate(prefix, 1)))


def block(draft: Model, target: Model, config: tuple[int, ...]) -> dict[Prefix, Fraction]:
    """Return the law of the tokens of one block; Algorithm 1 in every step."""
    ended: list[tuple[Prefix, Fraction]] = []
    going: dict[Prefix, Fraction] = {(): ONE}
    for k in config:
        longer: list[tuple[Prefix, Fraction]] = []
        for prefix, mass in going.items():
            for (accepted, x), each in law1(draft(prefix), target(prefix), k).items():
                (longer if accepted else ended).append(((*prefix, x), mass * each))
        going = collect(longer)
    return collect(chain(ended, _one_more_token(going, target)))


def _one_more_token(
    law: dict[Prefix, Fraction], target: Model
) -> Iterator[tuple[Prefix, Fraction]]:
    for prefix, mass in law.items():
        yield from (((*prefix, x), mass * each) for x, each in enumerate(target(prefix)))


def completed(law: dict[Prefix, Fraction], target: Model, length: int) -> dict[Prefix, Fraction]:
    """Continue every block by the target up to this many tokens."""
    for _ in range(length):
        whole = {prefix: mass for prefix, mass in law.items() if len(prefix) == length}
        shorter = {prefix: mass for prefix, mass in law.items() if len(prefix) < length}
        law = collect(chain(whole.items(), _one_more_token(shorter, target)))
    return law


def efficiency(law: dict[Prefix, Fraction]) -> Fraction:
    """Return the expected number of tokens of a block."""
    return total(len(prefix) * mass for prefix, mass in law.items())


def configured(seed: int, configs: tuple[tuple[int, ...], ...], tokens: int = 2) -> Iterator[dict]:
    """Yield pairs, each with every configuration in turn."""
    for pair in pairs(seed, tokens):
        for config in configs:
            yield {**pair, "config": config}


def lengths(draft: Exact, target: Exact, config: tuple[int, ...]) -> Fraction:
    """A block has 1 to gamma + 1 tokens; both are attained by extreme pairs."""
    gamma = len(config)
    law = block(model(draft, 1), model(target, 2), config)
    least, most = min(map(len, law)), max(map(len, law))
    never = block(lambda _: (ONE, ZERO), lambda _: (ZERO, ONE), config)
    equal(efficiency(never), Fraction(1), "disjoint supports")
    always = block(model(draft, 1), model(draft, 1), config)
    equal(efficiency(always), Fraction(gamma + 1), "draft = target")
    at_least(efficiency(law), 1)
    at_least(gamma + 1, efficiency(law))
    return Fraction(min(at_least(least, 1), at_least(gamma + 1, most)))


def lossless(draft: Exact, target: Exact, config: tuple[int, ...]) -> Fraction:
    """Blocks leave the law of the target's text as it is."""
    aim = model(target, 2)
    gamma = len(config)
    found = completed(block(model(draft, 1), aim, config), aim, gamma + 1)
    return equal(found, completed({(): ONE}, aim, gamma + 1))


def one_more(draft: Exact, target: Exact, config: tuple[int, ...]) -> Fraction:
    """Tokens of a block: 1 + the sum over i of P(the first i steps accept)."""
    drafts, aim = model(draft, 1), model(target, 2)
    tokens, through = ONE, {(): ONE}
    for k in config:
        longer: list[tuple[Prefix, Fraction]] = []
        for prefix, mass in through.items():
            p, reach = drafts(prefix), mass
            for hat in hats(aim(prefix), p, k - 1):
                accepted = list(map(min, p, hat))
                longer += [((*prefix, x), reach * each) for x, each in enumerate(accepted)]
                reach *= 1 - sum(accepted)
        through = collect(longer)
        tokens += total(through.values())
    return equal(efficiency(block(drafts, aim, config)), tokens)


def longer_drafts(draft: Exact, target: Exact, config: tuple[int, ...]) -> Fraction:
    """The gain of step gamma + 1 is at most that of step gamma."""
    drafts, aim = model(draft, 1), model(target, 2)
    tokens = [efficiency(block(drafts, aim, (config[0],) * gamma)) for gamma in range(4)]
    gains = [b - a for a, b in pairwise(tokens)]
    return min(at_least(a, b) for a, b in pairwise(gains))


def stationary(rate: Callable[[int], Fraction], config: tuple[int, ...]) -> Fraction:
    """Return the tokens of a block if k drafts are accepted at this rate at every step."""
    return total(accumulate((rate(k) for k in config), mul, initial=ONE))


def rate_of(draft: Exact, target: Exact) -> Callable[[int], Fraction]:
    """Return the acceptance of Algorithm 1 as a function of k."""

    @cache
    def rate(k: int) -> Fraction:
        left = ONE
        for hat in hats(target, draft, k - 1):
            left *= 1 - overlap(draft, hat)
        return 1 - left

    return rate


def monotonic(draft: Exact, target: Exact, config: tuple[int, ...]) -> Fraction:
    """The decreasing configuration against its reverse, for models that look at the prefix."""
    drafts, aim = model(draft, 1), model(target, 2)
    down, up = (efficiency(block(drafts, aim, each)) for each in (config, config[::-1]))
    return at_least(down, up, f"{config} against {config[::-1]}")


def monotonic_stationary(draft: Exact, target: Exact, config: tuple[int, ...]) -> Fraction:
    """The same if all steps accept alike."""
    rate = rate_of(draft, target)
    if max(config) <= 3:
        tokens = efficiency(block(lambda _: draft, lambda _: target, config))
        equal(tokens, stationary(rate, config), "formula")
    return at_least(stationary(rate, config), stationary(rate, config[::-1]), f"{config}")


def same_budget(draft: Exact, target: Exact, config: tuple[int, ...]) -> Fraction:
    """(8, 1) and (4, 2) against (2, 4) and (1, 8), all steps alike."""
    rate = rate_of(draft, target)
    rising = max(stationary(rate, each) for each in ((2, 4), (1, 8)))
    return at_least(stationary(rate, config), rising, f"{config} against the best increasing one")


def balanced(draft: Exact, target: Exact) -> Fraction:
    """(4, 2) beats (2, 4) and (1, 8), all steps alike."""
    return same_budget(draft, target, (4, 2))


def more_candidates(draft: Exact, target: Exact, k: int) -> Fraction:
    """Acceptance does not fall with k."""
    slack = at_least(acceptance(law1(draft, target, k + 1)), acceptance(law1(draft, target, k)))
    if k + 1 <= support(draft):
        more, fewer = (acceptance(law2(draft, target, i)) for i in (k + 1, k))
        slack = min(slack, at_least(more, fewer, "without replacement"))
    return slack


def gains(law: Callable[[Exact, Exact, int], Outcomes]) -> Callable[..., Fraction | None]:
    """The gain of each further candidate is at most that of the one before, for one step."""

    def check(draft: Exact, target: Exact, k: int) -> Fraction | None:
        if law is law2 and k + 1 > support(draft):
            return None
        below = acceptance(law(draft, target, k - 1)) if k > 1 else ZERO
        here, above = (acceptance(law(draft, target, i)) for i in (k, k + 1))
        return at_least(here - below, above - here, f"gain of candidate {k} and {k + 1}")

    return check


def limit(draft: Exact, target: Exact) -> float:
    """Acceptance comes within 1e-6 of the target's mass on the support of the draft."""
    aim = sum(q for p, q in zip(draft, target, strict=True) if p > 0)
    return at_least(1e-6, abs(final_rate(draft, target) - float(aim)), "distance to the limit")


def final_rate(draft: Exact, target: Exact) -> float:
    """Return the acceptance once it stands still, or after 200,000 candidates."""
    p, q = [float(x) for x in draft], [float(x) for x in target]
    offered, left, before = 0.0, 1.0, 2.0
    for _ in range(200_000):
        if left < 1e-9 or left == before:
            break
        offered, before = offered + left, left
        left = sum(max(b - offered * a, 0.0) for a, b in zip(p, q, strict=True))
    return 1 - left


def walks(
    config: tuple[int, ...], nodes: list[Node], drafts: Model, aim: Model, batch: bool
) -> dict[Prefix, Fraction]:
    """Verify given candidates: as rows of a batch, or from the root of the tree to a leaf."""

    def visit(
        prefix: Prefix, parent: int, kept: list[list[int]], mass: Fraction
    ) -> Iterator[tuple[Prefix, Fraction]]:
        depth = len(prefix)
        if depth == len(config):
            yield from _one_more_token({prefix: mass}, aim)
            return
        if batch:
            step = list(dict.fromkeys(row[depth] for row in kept))
            seen = tuple(nodes[i].token for i in kept[0][:depth])
        else:
            step = [i for i, node in enumerate(nodes) if node.parent == parent]
            seen = tuple(nodes[i].token for i in ancestors(nodes, parent)) if depth else ()
        candidates = tuple(nodes[i].token for i in step)
        run = algorithm1(aim(seen), drafts(seen), candidates)
        for i, chance in enumerate(run.chances):
            if chance * run.reach(i):
                rest = [row for row in kept if row[depth] == step[i]]
                reached = mass * run.reach(i) * chance
                yield from visit((*prefix, candidates[i]), step[i], rest, reached)
        if last := run.reach(len(run.chances)):
            yield from (((*prefix, x), mass * last * q) for x, q in enumerate(run.targets[-1]))

    return collect(visit((), -1, rows(config, nodes), ONE))


def drafted_trees(config: tuple[int, ...], drafts: Model) -> Iterator[tuple[Fraction, list[Node]]]:
    """Yield every tree of candidates and its probability."""
    trees: list[tuple[Fraction, tuple[int, ...], list[Prefix]]] = [(ONE, (), [()])]
    for width in config:
        grown = []
        for mass, tokens, level in trees:
            for draws in product(*(iid(drafts(prefix), width).items() for prefix in level)):
                weight = mass
                more, longer = tokens, []
                for prefix, (x, each) in zip(level, draws, strict=True):
                    weight *= each
                    more += x
                    longer += [(*prefix, y) for y in x]
                grown.append((weight, more, longer))
        trees = grown
    for mass, tokens, _ in trees:
        yield mass, squeezed(config, tokens)


def same_efficiency(draft: Exact, target: Exact, config: tuple[int, ...]) -> Fraction:
    """Trees and batches give the same blocks, candidate by candidate, and those of the steps."""
    drafts, aim = model(draft, 1), model(target, 2)
    parts: list[tuple[Prefix, Fraction]] = []
    for mass, nodes in drafted_trees(config, drafts):
        tree = walks(config, nodes, drafts, aim, batch=False)
        equal(tree, walks(config, nodes, drafts, aim, batch=True))
        parts += [(prefix, mass * each) for prefix, each in tree.items()]
    return equal(collect(parts), block(drafts, aim, config))
