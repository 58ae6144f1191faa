"""Works that came since: the entropy of trees, certificates, vocabularies, resolution."""

from heapq import heappop, heappush
from math import exp, log

from validation import algorithms
from validation.claim import Method, at_least, claim, equal
from validation.domains import pairs
from validation.notation import iid, same, total
from validation.oracles import flow

ROUNDING = 1e-9
RANDOM = pairs(n=3, least=2).where(lambda target, **_: max(target) < 1)


def surprise(target):
    """Return the entropy of the target, and the second moment of log 1/q."""
    logs = [(float(q), -log(q)) for q in target if q]
    return sum(q * up for q, up in logs), sum(q * up**2 for q, up in logs)


def likeliest_texts(target, nodes):
    """Return what the best certain tree keeps: the probabilities of the likeliest texts."""
    waiting, found = [], 0.0
    text = 1.0
    for _ in range(nodes):
        for mass in target:
            heappush(waiting, -text * float(mass))
        text = -heappop(waiting)
        found += text
    return found


@claim("since.entropy", "Pankratov and Alistarh, bound of the expected number of tokens",
       RANDOM.each(nodes=(1, 2, 4, 16)), method=Method.FLOAT)  # fmt: skip
def by_entropy(target, nodes, **_):
    r"""A certain tree of P nodes keeps at most $(\mu + \mu_2) \log(P)/\mu^2 + O(1)$ tokens, where
    tokens are independent; here the constant is $\mu_2/\mu^2$."""
    mean, second = surprise(target)
    most = (mean + second) * log(nodes) / mean**2 + second / mean**2
    return at_least(most + ROUNDING, likeliest_texts(target, nodes))


def divergence(one, other):
    """Return D(one || other)."""
    if any(a and not b for a, b in zip(one, other, strict=True)):
        return float("inf")
    return sum(float(a) * log(a / b) for a, b in zip(one, other, strict=True) if a)


def least_missing(target, m):
    """Return the least D(p || q) over the p for which m tokens are as likely as the likeliest of q.

    Its p has one mass on the pool of these that are made alike, and is q elsewhere, scaled."""
    ordered = sorted(target, reverse=True)
    pool = [ordered[0]]
    for other in reversed(ordered[1 : m + 1]):
        level = exp(sum(log(q) for q in pool) / len(pool)) if all(pool) else 0.0
        if other >= level:
            break
        pool.append(other)
    level = exp(sum(log(q) for q in pool) / len(pool)) if all(pool) else 0.0
    return -log(1 - float(sum(pool)) + len(pool) * level)


@claim("since.greedy", "Sharma, exact certificate of greedy decoding", RANDOM, method=Method.FLOAT)
def certified(draft, target):
    r"""If $D(p \| q) < -\log(1 - (\sqrt{q_1} - \sqrt{q_2})^2)$, with the two largest masses of the
    target, its likeliest token is the draft's likeliest; no larger bound holds."""
    first, second = sorted(target, reverse=True)[:2]
    bound = -log(1 - (float(first) ** 0.5 - float(second) ** 0.5) ** 2)
    attained = abs(least_missing(target, 1) - bound)
    top = target.index(first)
    missed = any(p >= draft[top] for y, p in enumerate(draft) if y != top)
    slack = divergence(draft, target) - bound if missed else ROUNDING
    return at_least(slack + ROUNDING, attained)


@claim("since.cover", "Sharma, exact certificate of greedy trees",
       RANDOM.each(m=(1, 2)).where(lambda target, m, **_: m < len(target)),
       method=Method.FLOAT)  # fmt: skip
def covered(draft, target, m):
    """If the divergence is less than it takes to make m other tokens as likely, the likeliest token
    of the target is among the m likeliest of the draft."""
    top = target.index(max(target))
    missed = sum(p >= draft[top] for y, p in enumerate(draft) if y != top) >= m
    if not missed:
        return None
    return at_least(divergence(draft, target) + ROUNDING, least_missing(target, m))


@claim("since.intersection", "Timor et al., token-level intersection",
       pairs(n=3, least=2).each(k=(1, 2)).where(lambda draft, **_: draft[-1] < 1))  # fmt: skip
def of_common_tokens(draft, target, k):
    """With the draft scaled on the common tokens, here all but the last, recursive rejection
    returns the law of the target."""
    drawn = algorithms.normalised([*draft[:-1], draft[-1] * 0])
    told = drawn
    found = algorithms.Ran(
        lambda x: algorithms.rejection(target, told, x).branches(), iid(drawn, k)
    )
    return same(found.output(len(target)), target, "the law of the output")


@claim("since.resolution", "Thomas and Pal, i.i.d. drafts: one sort and a polymatroid",
       pairs(n=4).each(k=(1, 2, 3)))  # fmt: skip
def one_cut(draft, target, k):
    r"""The optimum for i.i.d. drafts is $\min_H q(H) + 1 - p(H)^k$ over sets H of lowest $q/p$: the
    program has no other constraints that matter."""
    drafted_first = sorted(range(len(draft)), key=lambda y: (not draft[y], target[y] / draft[y]
                                                             if draft[y] else 0))  # fmt: skip
    sets = [drafted_first[:size] for size in range(len(draft) + 1)]
    least = min(total(target[y] for y in some) + 1 - total(draft[y] for y in some) ** k
                for some in sets)  # fmt: skip
    return equal(least, flow(iid(draft, k), target), "the optimum")
