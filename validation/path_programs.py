"""The best verifier of several paths after whose corrected token the plain target follows."""

from itertools import product
from math import prod

from validation.models import prefixes, prefixes_up_to
from validation.notation import ONE, ZERO, collect
from validation.simplex import Program


def drafted_paths(draft, length, k):
    """Return the law of k independent paths."""
    each = product(draft.blocks(length).items(), repeat=k)
    return {tuple(path for path, _ in some): prod(mass for _, mass in some) for some in each}


def drafted_sets(draft, length, k):
    """Return the law of the set of k independent paths."""
    return collect((frozenset(x), mass) for x, mass in drafted_paths(draft, length, k).items())


def capped(target, chosen, length):
    """Return the sum of a(s), a(sx) = min(a(s) M_b(x | s), G(sx)) for a law G of paths."""
    level, kept = {(): ONE}, ZERO
    for depth in range(1, length + 1):
        heads = collect((path[:depth], mass) for path, mass in chosen.items())
        level = {text: min(level[text[:-1]] * target(text[:-1])[text[-1]], mass)
                 for text, mass in heads.items()}  # fmt: skip
        kept += sum(level.values())
    return kept


def of_drafts(sets, variables, others=0):
    """Return a program: given drafts S the variables that begin with S are probabilities."""
    program = Program(len(variables) + others)
    for drafted, mass in sets.items():
        program.add([(i, 1) for i, x in enumerate(variables) if x[0] == drafted], mass, equal=True)
    return program


def joint(target, sets, length):
    """Return the most that a lossless verifier keeps, which may look at all it likes.

    Variables: the probability of drafts S, a kept beginning of one of S, and the token after it.
    Of the text each beginning of L tokens has the probability that the target gives it."""
    variables = [(drafted, kept, text) for drafted in sets
                 for kept in sorted({path[:i] for path in drafted for i in range(length + 1)})
                 for text in ([kept] if len(kept) == length else
                              [(*kept, x) for x in range(target.n)])]  # fmt: skip
    program = of_drafts(sets, variables)
    for block in prefixes(target.n, length):
        shares = [(i, target.after(text).mass(block[len(text) :]))
                  for i, (_, _, text) in enumerate(variables)
                  if block[: len(text)] == text]  # fmt: skip
        program.add(shares, target.mass(block), equal=True)
    program.objective = [len(kept) * ONE for _, kept, _ in variables]
    return program.solve()[0]


def split(target, sets, length):
    """Return the most that block verification keeps of a path that is chosen of the drafts.

    Variables: the probability of drafts S and the choice of a path of S, and a(s)."""
    choices = [(drafted, path) for drafted in sets for path in sorted(drafted)]
    place = {text: len(choices) + i for i, text in enumerate(prefixes_up_to(target.n, length))}
    program = of_drafts(sets, choices, len(place))
    for text, own in place.items():
        wanted, first = target(text[:-1])[text[-1]], len(text) == 1
        before = [] if first else [(place[text[:-1]], -wanted)]
        program.add([(own, 1), *before], wanted if first else ZERO, equal=False)
        begun = [(i, -1) for i, (_, path) in enumerate(choices) if path[: len(text)] == text]
        program.add([(own, 1), *begun], ZERO, equal=False)
    program.objective = [ZERO] * len(choices) + [ONE] * len(place)
    return program.solve()[0]
