"""Works that came since: the entropy of trees, certificates, vocabularies, resolution."""

from heapq import heappop, heappush
from math import exp, log, prod

from validation import algorithms
from validation.claim import Method, Severity, at_least, claim, corrected, equal
from validation.domains import exact, pairs
from validation.notation import iid, normalized, positive, same, total
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


@claim("since.relaxed", "Sharma, certificate of relaxed acceptance: additive, multiplicative",
       RANDOM.each(share=exact("1/2", "3/4"), off=exact(0, "1/8")), method=Method.FLOAT
       )  # fmt: skip
def accepted_if_near(draft, target, share, off):
    """Let a token be accepted if the target gives it at least a share of its largest probability,
    less a constant. If the divergence is less than it takes to make the likeliest token that is not
    accepted as likely as all others, the draft's likeliest token is accepted."""
    level = share * max(target) - off
    refused = [y for y, q in enumerate(target) if q < level]
    if not any(draft[y] == max(draft) for y in refused):
        return None
    return at_least(divergence(draft, target) + ROUNDING, least_refused(target, level))


def least_refused(target, level):
    """Return the least D(p || q) at which a token below a level is as likely as every other."""
    top = max(q for q in target if q < level)
    pool = [top]
    for q in sorted((q for q in target if q >= level), reverse=True):
        pool.append(q)
        if q <= geometric(pool):
            pool.pop()
            break
    left = 1 - float(sum(pool)) + len(pool) * geometric(pool)
    return -log(left) if left > 0 else float("inf")


def geometric(pool):
    """Return the geometric mean."""
    return exp(sum(log(q) for q in pool) / len(pool)) if all(pool) else 0.0


@corrected("since.strings", Severity.CONDITION, of=("aa", "ab", "b"))
@claim("since.strings", "Timor et al., string-level rejection: the probability of a string",
       RANDOM.where(lambda draft, **_: len(draft) == 3 and 0 < draft[0] < 1))  # fmt: skip
def told_how_likely_a_string_is(draft, target, of=("a", "b", "ab")):
    """The draft is the longest token that a string of the letters a and b begins with. Rejection
    that is told how likely a token's string is written returns the law of the target.
    Corrected: It does if no token's string begins that of another, here aa, ab and b."""
    letters = dict(zip("ab", (draft[0], 1 - draft[0]), strict=True))
    told = [prod(letters[letter] for letter in token) for token in of]
    drawn = [own - total(more for longer, more in zip(of, told, strict=True)
                         if longer != token and longer.startswith(token))
             for token, own in zip(of, told, strict=True)]  # fmt: skip
    kept = [p * min(1, q / t) for p, q, t in zip(drawn, target, told, strict=True)]
    rest = normalized(positive(target, told)) if any(positive(target, told)) else target
    output = [own + (1 - total(kept)) * more for own, more in zip(kept, rest, strict=True)]
    return same(output, target, "the law of the output")


@claim("since.intersection", "Timor et al., token-level intersection",
       pairs(n=3, least=2).each(k=(1, 2)).where(lambda draft, **_: draft[-1] < 1))  # fmt: skip
def of_common_tokens(draft, target, k):
    """With the draft scaled on the common tokens, here all but the last, recursive rejection
    returns the law of the target."""
    drawn = algorithms.normalized([*draft[:-1], draft[-1] * 0])
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
