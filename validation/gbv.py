"""Greedy multi-path block verification: K i.i.d. paths, of which the greatest is verified."""

from itertools import product
from math import prod
from random import Random

from validation import drafted, oracles, verified_blocks
from validation.block_algorithms import block_verify_one_token
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.models import SHORT, LanguageModel, models, prefixes, prefixes_up_to
from validation.notation import ONE, ZERO, collect, overlap, subsets, total
from validation.simplex import Program

SMALL = drafted.several_paths({(2, 1): (1, 2, 3), (2, 2): (1, 2), (3, 1): (1, 2)})
ANY = drafted.several_paths()


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
    for some, mass in sets.items():
        program.add([(i, 1) for i, x in enumerate(variables) if x[0] == some], mass, equal=True)
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


def by_ratio(target, draft, text, token):
    """Rank a token that may be drafted by M_b/M_s, then by its number."""
    mass = draft(text)[token]
    return target(text)[token] / mass if mass else -ONE, token


def by_clipped_ratio(target, draft, text, token):
    """Rank by min(1, M_b/M_s), then by the number: a stable sort in ascending order."""
    return min(ONE, by_ratio(target, draft, text, token)[0]), token


def greatest(rank):
    """Return the choice of the lexicographically greatest path."""
    return lambda target, draft, some: max(
        some, key=lambda x: [rank(target, draft, x[:i], y) for i, y in enumerate(x)])  # fmt: skip


def first_highest(target, draft, some):
    """Walk to the first drafted child whose min(1, M_b/M_s) is the highest."""
    chosen = ()
    for depth in range(len(some[0])):
        ranks = [by_clipped_ratio(target, draft, chosen, path[depth])[0] for path in some]
        chosen = some[ranks.index(max(ranks))][: depth + 1]  # of equal ones the first
        some = [path for path in some if path[: depth + 1] == chosen]
    return chosen


def skewed(target, draft, k, rank):
    """Return the law of the greatest path, by the formula with powers of masses below."""

    def below(text, token):
        own = rank(target, draft, text, token)
        lower = (x for x in range(draft.n) if rank(target, draft, text, x) < own)
        return total(draft.mass((*text, x)) for x in lower)

    def rule(text):
        node = total(below(text[:i], x) for i, x in enumerate(text))
        whole = (node + draft.mass(text)) ** k - node**k
        low = [node + below(text, token) for token in range(draft.n)]
        row = ((a + draft.mass((*text, token))) ** k - a**k for token, a in enumerate(low))
        return tuple(mass / whole for mass in row) if whole else (ZERO,) * draft.n

    return LanguageModel(rule, draft.n)


def verified(target, draft, length, k, *, rank=by_ratio, choose=None):
    """Return what is kept: the chosen path, by block verification with the skewed law."""
    chosen, law = choose or greatest(rank), skewed(target, draft, k, rank)
    return drafted.Ended(lambda some: drafted.endings(
        block_verify_one_token, target, law, chosen(target, draft, some),
    ), drafted_paths(draft, length, k))  # fmt: skip


@claim("gbv.one", "Optimality of block verification for one path", models((*SHORT, (2, 3))))
def one_path_is_optimal(draft, target, length):
    """Published block verification keeps the most of one path among all lossless verifiers after
    whose corrected token the plain target follows, also among those that see both models off the
    path."""
    most = joint(target, drafted_sets(draft, length, 1), length)
    return equal(drafted.one_path(block_verify_one_token, draft, target, length).mean(), most)


@claim("gbv.polymatroid", "Constraints of the program of several paths", SMALL)
def covering_is_submodular(draft, length, k, **_):
    """The probability that some path of a set is drafted is a submodular function of the set, and
    choosing by a strict order of all paths attains it for every set of the first in the order."""
    law, texts = drafted_paths(draft, length, k), sorted(draft.blocks(length))
    Random(len(law)).shuffle(texts)  # noqa: S311
    covered = {frozenset(some): total(m for x, m in law.items() if {texts[i] for i in some} & {*x})
               for some in subsets(len(texts))}  # fmt: skip
    chosen = collect((min(x, key=texts.index), mass) for x, mass in law.items())
    for i in range(1, len(texts) + 1):
        first = total(chosen.get(text, ZERO) for text in texts[:i])
        equal(first, covered[frozenset(range(i))], "the first paths of an order")
    return min(at_least(covered[a] + covered[b], covered[a | b] + covered[a & b], "submodular")
               for a in covered for b in covered)  # fmt: skip


@claim("gbv.split", "Decomposition of verifiers of several paths", SMALL)
def choice_then_one_path(draft, target, length, k):
    """The most that a lossless verifier of $K$ paths keeps, after whose corrected token the plain
    target follows, is kept by choosing a path of the drafts and by block verification of it with
    the law of the chosen path in place of $M_s$."""
    sets = drafted_sets(draft, length, k)
    return equal(split(target, sets, length), joint(target, sets, length))


@claim("gbv.skewed", "Law of the greatest path", ANY)
def law_of_greatest(draft, target, length, k):
    """With $A$ the mass of paths ranked below a node, $x$ its own, $y$ that of its continuations
    ranked below $t$ and $z$ that of $t$, the greatest of $K$ paths goes on with $t$ with
    probability $((A + y + z)^K - (A + y)^K) / ((A + x)^K - A^K)$."""
    law, choose = drafted_paths(draft, length, k).items(), greatest(by_ratio)
    chosen = collect((choose(target, draft, some), mass) for some, mass in law)
    found = skewed(target, draft, k, by_ratio).blocks(length)
    return verified_blocks.same_law(found, chosen, "chosen path")


@claim("gbv.lossless", "Losslessness", ANY)
def returns_the_law(draft, target, length, k, **options):
    """Choosing the greatest path by the strict order of $M_b/M_s$ and of token numbers, and
    verifying it with its own law, is lossless."""
    return verified(target, draft, length, k, **options).lossless(target, length)


@corrected("gbv.code", Severity.WRONG, choose=greatest(by_clipped_ratio))
@claim("gbv.code", "Public code: clipped ratios, the first drafted child of the highest", ANY)
def code_is_lossless(choose=first_highest, **drafting):
    r"""Choosing at each node the first drafted child of the highest $\min(1, M_b/M_s)$, and
    verifying the path with the law that a stable sort by $\min(1, M_b/M_s)$ would give, is
    lossless.
    Corrected: It is lossless if of drafted children of equal $\min(1, M_b/M_s)$ the one that the
    sort puts last is chosen, whichever was drafted first.
    Explained: Of children of equal rank the code chooses the one drafted first, but it computes
    the law of the chosen path as if it chose the one with the highest number."""
    return returns_the_law(rank=by_clipped_ratio, choose=choose, **drafting)


@claim("gbv.better", "Comparison with block verification of one path", ANY)
def above_one_path(draft, target, length, k):
    """It keeps at least as many tokens of $K$ paths as block verification keeps of one.
    Printed: Measured: about 30 % more in block efficiency than block verification."""
    single = drafted.one_path(block_verify_one_token, draft, target, length).mean()
    return at_least(verified(target, draft, length, k).mean(), single, f"{k} paths against one")


@corrected("gbv.better", Severity.CONDITION, ANY.where(lambda length, **_: length == 1))
def best_of_one_token(draft, target, length, k):
    """For $L = 1$ it keeps the most that is possible with $K$ drafts exactly if a set of lowest
    ranks of $M_b/M_s$ among the tokens that may be drafted holds all of them with $G > M_b$ and
    none with $G < M_b$, $G$ the law of the chosen token."""
    law, wanted = skewed(target, draft, k, by_ratio)(()), target(())
    kept = verified(target, draft, length, k).mean()
    drafts = drafted_paths(draft, 1, k).items()
    most = oracles.flow({tuple(x for (x,) in each): mass for each, mass in drafts}, wanted)
    order = sorted((x for x in range(draft.n) if draft(())[x]),
                   key=lambda token: by_ratio(target, draft, (), token))  # fmt: skip
    lowest = any(all(law[x] >= wanted[x] for x in order[:cut])
                 and all(law[x] <= wanted[x] for x in order[cut:])
                 for cut in range(len(order) + 1))  # fmt: skip
    equal(kept == most, lowest, f"{kept} of at most {most}: optimal")
    if lowest:
        at_least(kept, overlap(draft(()), wanted), "against one path")
    return at_least(most, kept, "the optimum")
