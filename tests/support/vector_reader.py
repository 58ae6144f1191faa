"""A reader of reference vectors that knows nothing of the package but their format.

Rules are functions of one call's arrays that get their randomness from an object with two methods:
``accept(chance)`` and ``choose(masses)``.
"""

import math
from fractions import Fraction


def exact(rows):
    """Floats that are exact, as fractions."""
    return [[Fraction(mass) for mass in row] for row in rows]


class Given:
    """Uniform numbers: one for each draft in turn, the last for the draw."""

    def __init__(self, uniforms):
        *self.decisions, self.draw = map(Fraction, uniforms)

    def accept(self, chance):
        return self.decisions.pop(0) < chance

    def choose(self, masses):
        wanted, total = self.draw * sum(masses), Fraction(0)
        for token, mass in enumerate(masses):
            total += mass
            if wanted < total:
                return token
        raise AssertionError(masses)


def positive(values):
    return [max(value, Fraction(0)) for value in values]


def scaled(row):
    total = sum(row)
    return [mass / total for mass in row] if total else row


def recursive_rejection(call, random, distinct=False, renormalize=True):
    """Token by token; distinct drafts are drawn off the earlier ones."""
    (draft,), (target,) = exact(call["draft"]), exact(call["target"])
    for place, token in enumerate(call["drafts"]):
        if random.accept(min(1, target[token] / draft[token])):
            return place, token
        target = positive(q - p for p, q in zip(draft, target, strict=True))
        target = scaled(target) if renormalize else target
        if distinct:
            draft[token] = Fraction(0)
            draft = scaled(draft)
    # Without the fault there is something left wherever all drafts may be rejected.
    return -1, random.choose(target if any(target) else exact(call["target"])[0])


def naive_sampling(call, random):
    """A token of the target, which may be drafted."""
    token = random.choose(exact(call["target"])[0])
    return (call["drafts"].index(token) if token in call["drafts"] else -1), token


def token_verification(call, random, corrected=True):
    drafts, draft, target = call["drafts"], exact(call["draft"]), exact(call["target"])
    for place, token in enumerate(drafts):
        if not random.accept(min(1, target[place][token] / draft[place][token])):
            pair = zip(draft[place], target[place], strict=True)
            rest = positive(q - p for p, q in pair) if corrected else target[place]
            return place, random.choose(rest)
    return len(drafts), random.choose(target[-1])


def block_verification(call, random, capped=True):
    """All lengths are decided, and the longest is kept."""
    drafts, draft, target = call["drafts"], exact(call["draft"]), exact(call["target"])
    weight, kept, following = Fraction(1), 0, None
    rests = [positive(q - p for p, q in zip(draft[0], target[0], strict=True))]
    for place, token in enumerate(drafts):
        weight *= target[place][token] / draft[place][token]
        weight = min(weight, Fraction(1)) if capped else weight
        chance = min(weight, Fraction(1))
        if place + 1 < len(drafts):
            pair = zip(draft[place + 1], target[place + 1], strict=True)
            rests.append(positive(weight * q - p for p, q in pair))
            total = sum(rests[-1])
            chance = total / (total + 1 - weight) if total + 1 != weight else Fraction(1)
        if random.accept(min(chance, Fraction(1))):
            kept = place + 1
    following = target[-1] if kept == len(drafts) else rests[kept]
    return kept, random.choose(following)


def tree_by_depth(call, random, parents, distinct=False):
    node = -1
    while True:
        children = [child for child, parent in enumerate(parents) if parent == node]
        tokens = [call["drafts"][child] for child in children]
        here = {"drafts": tokens, **{m: [call[m][node + 1]] for m in ("draft", "target")}}
        _, token = recursive_rejection(here, random, distinct)
        if token not in tokens:
            return node, token
        node = children[tokens.index(token)]


def rule_of(group):
    """Return the function of a call and randomness that a group is of."""
    distinct = group["siblings"] == "without-replacement"
    if group["kind"] == "tree":
        return lambda call, random: tree_by_depth(call, random, group["parents"], distinct)
    if group["kind"] == "block":
        return {"token": token_verification, "block-published": block_verification}[group["rule"]]
    if group["rule"] == "naive-sampling":
        return naive_sampling
    return lambda call, random: recursive_rejection(call, random, distinct)


def law_of_call(call):
    return {(entry["mark"], entry["token"]): Fraction(entry["exact"]) for entry in call["law"]}


def log_evidence(law, counts, test):
    """The formula of the page on the format."""
    size, rho = sum(counts), test["rounding"]
    mixed = [(1 - rho) * mass + rho / len(law) for mass in law]
    if any(count and not mass for mass, count in zip(mixed, counts, strict=True)):
        return math.inf
    cells = [(mass, count) for mass, count in zip(mixed, counts, strict=True) if mass]
    likelihood = sum(count * math.log(mass) for mass, count in cells)
    parts = [
        math.lgamma(a)
        - math.lgamma(a + size)
        + sum(math.lgamma(a * mass + count) - math.lgamma(a * mass) for mass, count in cells)
        for a in test["concentrations"]
    ]
    average = max(parts) + math.log(sum(math.exp(part - max(parts)) for part in parts) / 2)
    return average - likelihood - size * math.log1p(2 * rho)
