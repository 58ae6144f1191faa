"""Greedy multi-path block verification: K i.i.d. paths, of which the greatest is verified."""

from random import Random

from validation.block_algorithms import block_verify_one_token
from validation.claim import Severity, at_least, claim, corrected, equal
from validation.drafted import Ended, endings, one_path, several_paths
from validation.model_domain import SHORT, models
from validation.models import LanguageModel
from validation.notation import ONE, ZERO, collect, overlap, subsets, total
from validation.oracles import flow
from validation.path_programs import drafted_paths, drafted_sets, joint, split
from validation.verified_blocks import same_law

SMALL = several_paths({(2, 1): (1, 2, 3), (2, 2): (1, 2), (3, 1): (1, 2)})
ONE_TOKEN = several_paths({(2, 1): (1, 2, 3), (3, 1): (1, 2, 3)})
ANY = several_paths()


def by_ratio(target, draft, text, token):
    """Rank a token that may be drafted by M_b/M_s, then by its number."""
    drafted = draft(text)[token]
    return target(text)[token] / drafted if drafted else -ONE, token


def by_clipped_ratio(target, draft, text, token):
    """Rank by min(1, M_b/M_s), then by the number: a stable sort in ascending order."""
    return min(ONE, by_ratio(target, draft, text, token)[0]), token


def greatest(rank):
    """Return the choice of the lexicographically greatest path."""
    return lambda target, draft, drafted: max(
        drafted, key=lambda path: [rank(target, draft, path[:i], x) for i, x in enumerate(path)]
    )


def first_highest(target, draft, drafted):
    """Walk to the first drafted child whose min(1, M_b/M_s) is the highest."""
    left, chosen = list(drafted), ()
    for depth in range(len(drafted[0])):
        ranks = {path[depth]: by_clipped_ratio(target, draft, chosen, path[depth])[0]
                 for path in left}  # fmt: skip
        token = max(ranks, key=ranks.get)  # of equal ones the first
        left, chosen = [path for path in left if path[depth] == token], (*chosen, token)
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

    def verify(drafted):
        return endings(block_verify_one_token, target, law, chosen(target, draft, drafted))

    return Ended(verify, drafted_paths(draft, length, k))


def law_of_choice(target, draft, length, k, choose):
    """Return the law of the chosen path, from all drafts."""
    law = drafted_paths(draft, length, k)
    return collect((choose(target, draft, each), mass) for each, mass in law.items())


@claim("gbv.one", "Optimality of block verification for one path", models((*SHORT, (2, 3))))
def one_path_is_optimal(draft, target, length):
    """Published block verification keeps the most of one path among all lossless verifiers after
    whose corrected token the plain target follows, also among those that see both models off the
    path."""
    most = joint(target, drafted_sets(draft, length, 1), length)
    return equal(one_path(block_verify_one_token, draft, target, length).mean(), most)


@claim("gbv.polymatroid", "Constraints of the program of several paths", SMALL)
def covering_is_submodular(draft, length, k, **_):
    """The probability that some path of a set is drafted is a submodular function of the set, and
    choosing by a strict order of all paths attains it for every set of the first in the order."""
    law, texts = drafted_paths(draft, length, k), sorted(draft.blocks(length))
    Random(len(law)).shuffle(texts)  # noqa: S311
    covered = {
        frozenset(some): total(m for x, m in law.items() if {texts[i] for i in some} & set(x))
        for some in subsets(len(texts))
    }
    chosen = law_of_choice(draft, draft, length, k, lambda _t, _d, x: min(x, key=texts.index))
    for i in range(1, len(texts) + 1):
        first = total(chosen.get(text, ZERO) for text in texts[:i])
        equal(first, covered[frozenset(range(i))], "the first paths of an order")
    return min(
        at_least(covered[a] + covered[b], covered[a | b] + covered[a & b], "submodular")
        for a in covered
        for b in covered
    )


@claim("gbv.split", "Decomposition of verifiers of several paths", SMALL)
def choice_then_one_path(draft, target, length, k):
    """The most that a lossless verifier of $K$ paths keeps, after whose corrected token the plain
    target follows, is kept by choosing a path of the drafts and by block verification of it with
    the law of the chosen path in place of $M_s$."""
    sets = drafted_sets(draft, length, k)
    return equal(split(target, sets, length), joint(target, sets, length), "choice and one path")


@claim("gbv.skewed", "Law of the greatest path", ANY)
def law_of_greatest(draft, target, length, k):
    """With $A$ the mass of paths ranked below a node, $x$ its own, $y$ that of its continuations
    ranked below $t$ and $z$ that of $t$, the greatest of $K$ paths goes on with $t$ with
    probability $((A + y + z)^K - (A + y)^K) / ((A + x)^K - A^K)$."""
    found = law_of_choice(target, draft, length, k, greatest(by_ratio))
    return same_law(skewed(target, draft, k, by_ratio).blocks(length), found, "chosen path")


@claim("gbv.lossless", "Losslessness", ANY)
def returns_the_law(draft, target, length, k):
    """Choosing the greatest path by the strict order of $M_b/M_s$ and of token numbers, and
    verifying it with its own law, is lossless."""
    return verified(target, draft, length, k).lossless(target, length)


@claim("gbv.code", "Public code: clipped ratios, the first drafted child of the highest", ANY)
def code_is_lossless(draft, target, length, k):
    r"""Choosing at each node the first drafted child of the highest $\min(1, M_b/M_s)$, and
    verifying the path with the law that a stable sort by $\min(1, M_b/M_s)$ would give, is
    lossless."""
    options = {"rank": by_clipped_ratio, "choose": first_highest}
    return verified(target, draft, length, k, **options).lossless(target, length)


@corrected("gbv.code", Severity.WRONG, ANY)
def last_of_equal_is_lossless(draft, target, length, k):
    r"""It is lossless if of drafted children of equal $\min(1, M_b/M_s)$ the one that the sort puts
    last is chosen, whichever was drafted first.

    Explained: Of children of equal rank the code chooses the one drafted first but computes the
    law of the chosen path as if it were the one with the highest number, so that the path is
    verified with a law that it does not have, even where draft and target are equal. Break ties of
    the choice as the sort does."""
    return verified(target, draft, length, k, rank=by_clipped_ratio).lossless(target, length)


@claim("gbv.better", "Comparison with block verification of one path", ANY)
def above_one_path(draft, target, length, k):
    """It keeps at least as many tokens of $K$ paths as block verification keeps of one.

    Printed: Measured: about 30 % more in block efficiency than block verification."""
    single = one_path(block_verify_one_token, draft, target, length).mean()
    return at_least(verified(target, draft, length, k).mean(), single, f"{k} paths against one")


@corrected("gbv.better", Severity.CONDITION, ONE_TOKEN)
def best_of_one_token(draft, target, length, k):
    """For $L = 1$ it keeps the most that is possible with $K$ drafts, and so at least as much as of
    one, exactly if a set of lowest ranks of $M_b/M_s$ among the tokens that may be drafted holds
    all of them with $G > M_b$ and none with $G < M_b$, $G$ the law of the chosen token."""
    law, wanted = skewed(target, draft, k, by_ratio)(()), target(())
    kept = verified(target, draft, length, k).mean()
    table = {tuple(x for (x,) in each): m for each, m in drafted_paths(draft, 1, k).items()}
    most = flow(table, wanted)
    possible = [token for token, mass in enumerate(draft(())) if mass]
    order = sorted(possible, key=lambda token: by_ratio(target, draft, (), token))
    lowest = any(
        all(law[x] >= wanted[x] for x in order[:cut])
        and all(law[x] <= wanted[x] for x in order[cut:])
        for cut in range(len(order) + 1)
    )
    equal(kept == most, lowest, f"{kept} of at most {most}: optimal")
    if lowest:
        at_least(kept, overlap(draft(()), wanted), "against one path")
    return at_least(most, kept, "the optimum")
