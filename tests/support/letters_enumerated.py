"""Binary trees on the letters, enumerated from the text alone: nothing here uses the package."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path

FILE = Path(__file__).parents[2] / "otspec" / "datasets" / "english.txt"
SYMBOLS = "abcdefghijklmnopqrstuvwxyz "

Row = tuple[Fraction, ...]
Pairs = Iterator[tuple[int, int, Fraction]]


@cache
def text() -> str:
    """The text as it is counted: letters and single spaces."""
    letters = "".join(c if "a" <= c <= "z" else " " for c in FILE.read_text("ascii").lower())
    return " ".join(letters.split()) + " "


@cache
def grams(size: int) -> Counter[str]:
    """How often each string of a size occurs around the circle."""
    round_again = text() + text()[:size]
    return Counter(round_again[i : i + size] for i in range(len(text())))


@cache
def row(context: str) -> Row:
    """What follows a context, with one added to every count."""
    counts = [grams(len(context) + 1)[context + symbol] + 1 for symbol in SYMBOLS]
    return tuple(Fraction(count, sum(counts)) for count in counts)


def drawn_twice(p: Row) -> Pairs:
    """Two independent drafts."""
    yield from ((x, y, p[x] * p[y]) for x in range(27) for y in range(27))


def distinct(p: Row) -> Pairs:
    """The second drawn from what the first leaves."""
    for x in range(27):
        yield from ((x, y, p[x] * p[y] / (1 - p[x])) for y in range(27) if y != x)


def hub(p: Row) -> Pairs:
    """SpecHub's pairs, made of q(x, a) = p(x) and q(a, x) = p(a) p(x) / (1 − p(a))."""
    a = max(range(27), key=p.__getitem__)
    for x in range(27):
        if x != a:
            yield x, a, p[x]
            yield a, x, p[a] * p[x] / (1 - p[a])


def rejected_in_turn(p: Row, q: Row, pairs: Pairs, *, renewed: bool) -> dict[int, Fraction]:
    """Recursive rejection, pair by pair as algorithm 1 of SpecHub says: what is accepted."""
    excess = [max(b - a, Fraction(0)) for a, b in zip(p, q, strict=True)]
    lost = sum(excess)
    residual = [each / lost for each in excess]
    accepted: dict[int, Fraction] = defaultdict(Fraction)
    for x, y, mass in pairs:
        first = min(Fraction(1), q[x] / p[x])
        accepted[x] += mass * first
        offered = p[y] / (1 - p[x]) if renewed else p[y]
        accepted[y] += mass * (1 - first) * min(Fraction(1), residual[y] / offered)
    return accepted


def served_by_the_hub(p: Row, q: Row, pairs: Pairs) -> dict[int, Fraction]:
    """SpecHub, pair by pair: first the token off the hub is served, then the hub."""
    a = max(range(27), key=p.__getitem__)
    accepted: dict[int, Fraction] = defaultdict(Fraction)
    for x, y, mass in pairs:
        token = y if x == a else x
        taken = min(mass, q[token] - accepted[token])
        accepted[token] += taken
        accepted[a] += min(mass - taken, q[a] - accepted[a])
    return accepted


Accepted = Callable[[Row, Row], dict[int, Fraction]]
RULES: dict[str, Accepted] = {
    "SpecHub": lambda p, q: served_by_the_hub(p, q, hub(p)),
    "RRSw": lambda p, q: rejected_in_turn(p, q, distinct(p), renewed=True),
    "RRS": lambda p, q: rejected_in_turn(p, q, drawn_twice(p), renewed=False),
}


@cache
def accepted(rule: str, before: str, context: str) -> dict[int, Fraction]:
    """What is accepted of two drafts where draft and target see such contexts."""
    return RULES[rule](row(before), row(context))


@cache
def expected(rule: str, depth: int, context: str) -> Fraction:
    """E[τ] of a binary tree, the first of equal children going on alone.

    The target sees the symbols of the context, the draft all but the first of them.
    """
    if depth == 0:
        return Fraction(0)
    return sum(
        mass * (1 + expected(rule, depth - 1, context[1:] + SYMBOLS[token]))
        for token, mass in accepted(rule, context[1:], context).items()
    )
