"""Algorithms 1 and 2 and naive sampling over all drafts, and blocks of several tokens."""

from collections.abc import Callable
from functools import lru_cache, partial

from validation import algorithms
from validation.algorithms import Ran, ran_distinct, ran_iid, rejection, rejection_distinct
from validation.claim import at_least, equal
from validation.domains import Exact, cases
from validation.models import SIZES, models
from validation.notation import ONE, Tokens, collect, iid, same, support, total

Model = Callable[[Tokens], Exact]
CASES = cases(n=3, random_n=4, random_k=(1, 2, 3, 4))
DISTINCT = CASES.where(lambda draft, k, **_: k <= support(draft))
alg1 = lru_cache(maxsize=4096)(partial(ran_iid, rejection))
alg2 = lru_cache(maxsize=4096)(partial(ran_distinct, rejection_distinct))


def naive(draft, target, k, drawing=iid):
    """Run naive sampling with k drafts."""
    return Ran(algorithms.naive(target), drawing(draft, k))


def lossless(draft, target, k=1, run=alg1):
    """Check that the token that is returned has the law of the target."""
    return same(run(draft, target, k).output(len(target)), target, "output")


def accepts_more(draft, target, k=1, run=alg1, others=(naive,)):
    """Check that an algorithm accepts at least as often as others."""
    found = run(draft, target, k).accepted()
    return min(at_least(found, other(draft, target, k).accepted()) for other in others)


def naive_sampling(draft, target, k=1):
    """Check that naive sampling is lossless, with the acceptance that is printed."""
    lossless(draft, target, k, naive)
    claimed = total(q * (1 - (1 - p) ** k) for p, q in zip(draft, target, strict=True))
    return equal(naive(draft, target, k).accepted(), claimed)


def configured(*configs, sizes=SIZES):
    """Return the domain of pairs of models with every configuration: as many k as their length."""
    some = models([size for size in sizes if size[1] in set(map(len, configs))])
    some = some.each(config=lambda length, **_: [c for c in configs if len(c) == length])
    return some.of(lambda **one: {key: one[key] for key in ("draft", "target", "config")})


def block(draft, target, config, prefix=()):
    """Return the law of the tokens of one block: Algorithm 1 with k drafts in every step."""
    k, rest = (config[0], config[1:]) if config else (0, ())
    branches = (branch for _, branch in alg1(draft(prefix), target(prefix), k).branches)
    step = collect(((each.accepted is not None, each.output), each.mass) for each in branches)
    parts = []
    for (accepted, x), mass in step.items():
        longer = block(draft, target, rest, (*prefix, x)) if accepted else {(*prefix, x): ONE}
        parts += [(more, mass * chance) for more, chance in longer.items()]
    return collect(parts)


def efficiency(law):
    """Return the expected number of tokens of a block."""
    return total(len(prefix) * mass for prefix, mass in law.items())
