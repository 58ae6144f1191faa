"""The best verifier of several paths after whose corrected token the plain target follows."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import prod

from validation.models import LanguageModel, Prefix, prefixes_up_to
from validation.notation import ONE, ZERO, collect
from validation.simplex import Program

Paths = tuple[Prefix, ...]
Sets = Mapping[frozenset[Prefix], Fraction]


def drafted_paths(draft: LanguageModel, length: int, k: int) -> dict[Paths, Fraction]:
    """Return the law of k independent paths."""
    return {
        tuple(path for path, _ in each): prod((mass for _, mass in each), start=ONE)
        for each in product(draft.blocks(length).items(), repeat=k)
    }


def drafted_sets(draft: LanguageModel, length: int, k: int) -> dict[frozenset[Prefix], Fraction]:
    """Return the law of the set of k independent paths."""
    law = drafted_paths(draft, length, k)
    return collect((frozenset(each), mass) for each, mass in law.items())


def capped(target: LanguageModel, chosen: Mapping[Prefix, Fraction], length: int) -> Fraction:
    """Return the sum of a(s), a(sx) = min(a(s) M_b(x | s), G(sx)) for a law G of paths."""
    level, kept = {(): ONE}, ZERO
    for depth in range(1, length + 1):
        heads = collect((path[:depth], mass) for path, mass in chosen.items())
        level = {
            text: min(level[text[:-1]] * target(text[:-1])[text[-1]], mass)
            for text, mass in heads.items()
        }
        kept += sum(level.values())
    return kept


def joint(target: LanguageModel, sets: Sets, length: int) -> Fraction:
    """Return the most that a lossless verifier keeps, which may look at all it likes.

    Variables: the probability of drafts S, a kept beginning of one of S, and the token after it.
    Of the text each beginning of L tokens has the probability that the target gives it."""
    variables = []
    for drafted in sets:
        for kept in sorted({path[:depth] for path in drafted for depth in range(length + 1)}):
            ends = [kept] if len(kept) == length else [(*kept, x) for x in range(target.n)]
            variables += [(drafted, kept, text) for text in ends]
    program = Program(len(variables))
    for drafted, mass in sets.items():
        own = [(i, 1) for i, (other, _, _) in enumerate(variables) if other == drafted]
        program.add(own, mass, equal=True)
    for block in prefixes_up_to(target.n, length, length):
        shares = [
            (i, target.after(text).mass(block[len(text) :]))
            for i, (_, _, text) in enumerate(variables)
            if block[: len(text)] == text
        ]
        program.add(shares, target.mass(block), equal=True)
    program.objective = [Fraction(len(kept)) for _, kept, _ in variables]
    return program.solve()[0]


def split(target: LanguageModel, sets: Sets, length: int) -> Fraction:
    """Return the most that block verification keeps of a path that is chosen of the drafts.

    Variables: the probability of drafts S and the choice of a path of S, and a(s)."""
    choices = [(drafted, path) for drafted in sets for path in sorted(drafted)]
    texts = list(prefixes_up_to(target.n, length))
    place = {text: len(choices) + i for i, text in enumerate(texts)}
    program = Program(len(choices) + len(texts))
    for drafted, mass in sets.items():
        own = [(i, 1) for i, (other, _) in enumerate(choices) if other == drafted]
        program.add(own, mass, equal=True)
    for text, own in place.items():
        wanted, first = target(text[:-1])[text[-1]], len(text) == 1
        before = [] if first else [(place[text[:-1]], -wanted)]
        program.add([(own, 1), *before], wanted if first else ZERO, equal=False)
        begun = [(i, -1) for i, (_, path) in enumerate(choices) if path[: len(text)] == text]
        program.add([(own, 1), *begun], ZERO, equal=False)
    program.objective = [ZERO] * len(choices) + [ONE] * len(texts)
    return program.solve()[0]
