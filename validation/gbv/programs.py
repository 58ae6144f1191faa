"""The best verifier of several paths after whose corrected token the plain target follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from validation.models import LanguageModel, Prefix, prefixes_up_to
from validation.gbv.printed import drafted_paths
from validation.notation import ONE, collect
from validation.simplex import Program

Sets = Mapping[frozenset[Prefix], Fraction]


def drafted_sets(
    draft: LanguageModel, length: int, paths: int
) -> dict[frozenset[Prefix], Fraction]:
    """Return the law of the set of K independent paths."""
    law = drafted_paths(draft, length, paths)
    return collect((frozenset(each), mass) for each, mass in law.items())


def capped(target: LanguageModel, chosen: Mapping[Prefix, Fraction], length: int) -> Fraction:
    """Return the sum of a(s), a(sx) = min(a(s) M_b(x | s), G(sx)) for a law G of paths."""
    level, kept = {(): ONE}, Fraction(0)
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
    Of the text each beginning of L tokens has the probability that the target gives it.
    """
    variables = [
        (drafted, kept, text) for drafted in sets for kept, text in _ends(drafted, target.n, length)
    ]
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


def _ends(drafted: frozenset[Prefix], n: int, length: int) -> Iterator[tuple[Prefix, Prefix]]:
    """Yield what may be kept, and the text of at most L tokens that it ends with."""
    heads = {path[:depth] for path in drafted for depth in range(length + 1)}
    for kept in sorted(heads):
        if len(kept) == length:
            yield kept, kept
        else:
            yield from ((kept, (*kept, token)) for token in range(n))


def split(target: LanguageModel, sets: Sets, length: int) -> Fraction:
    """Return the most that block verification keeps of a path that is chosen of the drafts.

    Variables: the probability of drafts S and the choice of a path of S, and a(s).
    """
    choices = [(drafted, path) for drafted in sets for path in sorted(drafted)]
    texts = list(prefixes_up_to(target.n, length))
    place = {text: len(choices) + i for i, text in enumerate(texts)}
    program = Program(len(choices) + len(texts))
    for drafted, mass in sets.items():
        own = [(i, 1) for i, (other, _) in enumerate(choices) if other == drafted]
        program.add(own, mass, equal=True)
    for text in texts:
        wanted = target(text[:-1])[text[-1]]
        if len(text) == 1:
            program.add([(place[text], 1)], wanted, equal=False)
        else:
            before = (place[text[:-1]], -wanted)
            program.add([(place[text], 1), before], Fraction(0), equal=False)
        begun = [(i, -1) for i, (_, path) in enumerate(choices) if path[: len(text)] == text]
        program.add([(place[text], 1), *begun], Fraction(0), equal=False)
    program.objective = [Fraction(0)] * len(choices) + [ONE] * len(texts)
    return program.solve()[0]
