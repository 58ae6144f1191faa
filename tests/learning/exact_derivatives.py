"""Optima and their derivatives from the definition: all sets, all tuples, in dual numbers."""

from fractions import Fraction
from itertools import chain, combinations, permutations, product

import numpy as np


class Dual:
    """A number a + b ε with ε² = 0: b is the derivative."""

    def __init__(self, value, slope=0):
        self.value, self.slope = Fraction(value), Fraction(slope)

    def __add__(self, other):
        return Dual(self.value + other.value, self.slope + other.slope)

    def __sub__(self, other):
        return Dual(self.value - other.value, self.slope - other.slope)

    def __mul__(self, other):
        return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

    def __truediv__(self, other):
        quotient = self.value / other.value
        return Dual(quotient, (self.slope - quotient * other.slope) / other.value)


ONE, ZERO = Dual(1), Dual(0)


def added(numbers):
    total = ZERO
    for number in numbers:
        total = total + number
    return total


def iid(draft, k):
    """Each tuple of drafts, and its probability."""
    for x in product(range(len(draft)), repeat=k):
        mass = ONE
        for token in x:
            mass = mass * draft[token]
        yield x, mass


def without_replacement(draft, k):
    for x in permutations(range(len(draft)), k):
        mass, left = ONE, added(draft)
        for token in x:
            if not draft[token].value:
                mass = ZERO
                break
            mass = mass * draft[token] / left
            left = left - draft[token]
        yield x, mass


def top_plus_one(draft, k):
    order = sorted(range(len(draft)), key=lambda token: (-draft[token].value, token))
    top, free = order[: k - 1], order[k - 1 :]
    left = added(draft[token] for token in free)
    for token in free:
        yield (*top, token), draft[token] / left


def hub(draft, k):
    """SpecHub's pairs: (x, a) with p(x), and (a, x) with p(a) p(x)/(1 − p(a))."""
    a = max(range(len(draft)), key=lambda token: (draft[token].value, -token))
    left = added(draft[x] for x in range(len(draft)) if x != a)
    for x in range(len(draft)):
        if x != a:
            yield (x, a), draft[x]
            yield (a, x), draft[a] * draft[x] / left


LAWS = {"iid": iid, "without-replacement": without_replacement, "hub": hub,
        "top-plus-one": top_plus_one}  # fmt: skip


def optima(draft, target, k, law, direction):
    """Return α = min over A of q(A) + 1 − P(all in A), and the derivatives at all minimal sets.

    The draft moves with the logits: p(x) changes by p(x) (d(x) − Σ p d).
    """
    mean = sum(p * d for p, d in zip(draft, direction, strict=True))
    moved = [Dual(p, p * (d - mean)) for p, d in zip(draft, direction, strict=True)]
    tuples = list(LAWS[law](moved, k))
    tokens = range(len(draft))
    sets = chain.from_iterable(combinations(tokens, size) for size in range(len(draft) + 1))
    found = []
    for members in sets:
        inside = added(mass for x, mass in tuples if set(x) <= set(members))
        found.append((sum(target[y] for y in members) + 1 - inside.value, -inside.slope))
    least = min(value for value, _ in found)
    return least, {slope for value, slope in found if value == least}


def gradients(draft, target, k, law):
    """Return α, the derivatives by each logit of the minimal sets, and whether there is one."""
    units = np.eye(len(draft), dtype=int).tolist()
    found = [optima(draft, target, k, law, [Fraction(i) for i in unit]) for unit in units]
    return found[0][0], [slopes for _, slopes in found]


def random_pairs(count, seed, largest=5):
    """Draft and target in fractions, with ties and zeros in the target; the draft has none."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(2, largest + 1))
        draft, target = rng.integers(1, 9, n).tolist(), rng.integers(0, 9, n).tolist()
        target[int(rng.integers(n))] += 1
        yield (
            [Fraction(part, sum(draft)) for part in draft],
            [Fraction(part, sum(target)) for part in target],
        )
