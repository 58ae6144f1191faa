"""The published lossy rules token by token, as their sources write them: fractions, no arrays."""

from __future__ import annotations

import math
from fractions import Fraction

NOTHING = Fraction(0)


def normalized(weights, fallback):
    total = sum(weights)
    return [weight / total for weight in weights] if total else list(fallback)


def certain(token, n):
    return [Fraction(int(y == token)) for y in range(n)]


def mixed(token, chance, otherwise):
    """Keep the token with that chance, else draw from the other law."""
    return [chance * (y == token) + (1 - chance) * mass for y, mass in enumerate(otherwise)]


def ratio(wanted, offered):
    """min(1, wanted/offered), and 0 where nothing is wanted."""
    if not wanted:
        return NOTHING
    return min(Fraction(1), wanted / offered) if offered else Fraction(1)


def positive(first, second):
    return [max(NOTHING, a - b) for a, b in zip(first, second, strict=True)]


def coupled(draft, aim):
    """Speculative sampling with ``aim`` in the place of the target."""
    residual = normalized(positive(aim, draft), aim)
    return lambda x: mixed(x[0], ratio(aim[x[0]], draft[x[0]]), residual)


def lenience(draft, target, lenience):
    residual = normalized(positive(target, draft), target)
    return lambda x: mixed(x[0], ratio(target[x[0]], lenience * draft[x[0]]), residual)


def entropy_lenience(draft, target, alpha, most):
    entropy = max(0.0, -math.fsum(float(q) * math.log(q) for q in target if q))
    return lenience(draft, target, min(most, Fraction(math.exp(-float(alpha) * entropy))))


def mentored(draft, target, alpha):
    """r = min(1, q/(α p)); s in proportion to (q/β − p)₊, β such that this is what is missing."""
    accepted = [p * ratio(q, alpha * p) for p, q in zip(draft, target, strict=True)]
    missing = 1 - sum(accepted)
    share = Fraction(1)  # of the target, 1/β: the sum below is linear between the ratios p/q
    for low in sorted({p / q for p, q in zip(draft, target, strict=True) if q}):
        rising = [(p, q) for p, q in zip(draft, target, strict=True) if q and p <= low * q]
        found = (missing + sum(p for p, _ in rising)) / sum(q for _, q in rising)
        if sum(max(NOTHING, q * found - p) for p, q in zip(draft, target, strict=True)) == missing:
            share = found
            break
    residual = normalized(positive([q * share for q in target], draft), target)
    return lambda x: mixed(x[0], ratio(target[x[0]], alpha * draft[x[0]]), residual)


def interpolated(draft, target, weight):
    return coupled(
        draft, [weight * p + (1 - weight) * q for p, q in zip(draft, target, strict=True)]
    )


def cactus(draft, target, delta):
    def kernel(x):
        token, q = x[0], target[x[0]]
        bonus = math.sqrt(2 * float(delta)) * math.sqrt(float(q * (1 - q)))
        raised = min(Fraction(1), q + Fraction(bonus))
        rest = (1 - raised) / (1 - q) if q < 1 else NOTHING
        law = [raised if y == token else mass * rest for y, mass in enumerate(target)]
        residual = normalized(positive(law, draft), target)
        return mixed(token, ratio(raised, draft[token]), residual)

    return kernel


def best(target):
    return min(range(len(target)), key=lambda y: (-target[y], y))


def judged(accepts, target, otherwise):
    instead = certain(best(target), len(target)) if otherwise == "greedy" else target
    return lambda x: mixed(x[0], Fraction(int(accepts(x[0]))), instead)


def typical(draft, target, epsilon, delta, otherwise="greedy"):
    entropy = -math.fsum(float(q) * math.log(q) for q in target if q)
    threshold = min(epsilon, delta * Fraction(math.exp(-max(0.0, entropy))))
    return judged(lambda y: target[y] > threshold, target, otherwise)


def relaxed_top(draft, target, count, delta):
    top = sorted(range(len(target)), key=lambda y: (-target[y], y))[:count]
    return judged(lambda y: y in top and target[y] >= max(target) - delta, target, "greedy")


def rollback(draft, target, rollback, otherwise="target"):
    least = Fraction(math.exp(-rollback))
    return judged(lambda y: target[y] > 0 and target[y] >= least, target, otherwise)


def fuzzy(draft, target, threshold):
    middle = [(p + q) / 2 for p, q in zip(draft, target, strict=True)]
    divergence = sum(
        float(mass) * (math.log(mass) - math.log(mean)) / 2
        for law in (draft, target)
        for mass, mean in zip(law, middle, strict=True)
        if mass
    )
    return coupled(draft, draft if divergence < threshold else target)


def cascade_by_position(draft, target, alpha):
    distance = sum(positive(draft, target))
    return coupled(draft, target if max(draft) < max(target) - alpha * distance else draft)


def cascade_by_token(draft, target, alpha):
    top = [q >= (1 - alpha) * max(target) for q in target]
    rest = sum(p for p, kept in zip(draft, top, strict=True) if not kept)
    return coupled(
        draft, [p * kept + rest * q for p, q, kept in zip(draft, target, top, strict=True)]
    )


def thresholded(draft, target, single, accumulated):
    """One uniform number for the drafts in turn; what is passed is removed from the target."""

    def kernel(x):
        output, mass, passed = [NOTHING] * len(target), NOTHING, NOTHING
        for token in x:
            mass += target[token]
            least = min(Fraction(1), mass / accumulated)
            if target[token] >= single:
                least = Fraction(1)
            output[token] += max(NOTHING, least - passed)
            passed = max(passed, least)
        off = normalized([NOTHING if y in x else q for y, q in enumerate(target)], target)
        return [kept + (1 - passed) * q for kept, q in zip(output, off, strict=True)]

    return kernel
