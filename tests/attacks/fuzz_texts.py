"""Random models of several tokens: trees, drafted blocks and logs, each law by code of the tests.

Drafted trees are verified one by one, blocks follow the algorithms as they are printed, and what
logs say on average is a sum over all texts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection
from fractions import Fraction
from itertools import product

import numpy as np
import text_calls
from batch_table import BLOCKS
from block_models import ALGORITHMS, Pair
from drafted_trees import IID_RULES, pair_for, takes, verified
from drafted_trees import RULES as TOKEN_RULES
from drafted_trees import answered as answered_by_depth
from instances import KINDS, floats, pair
from lifted_trees import (
    DRAWS,
    answered,
    is_lossless,
    kept,
    lifted,
    ordered_trees,
    over_trees,
    traversal,
)
from programs import ways
from scipy.special import rel_entr
from tree_search import all_trees, kept_of
from tree_search import text as brackets

from otspec import batch, rules
from otspec.blocks import (
    BlockVerification,
    BlockVerificationPreprint,
    DraftSelection,
    HierarchicalVerification,
    TokenVerification,
    TraversalVerify,
    TraversalVerifyWithoutReplacement,
    UniversalTree,
    as_shape,
)
from otspec.logged import LoggedBlock
from otspec.logged.chances import logged_chances
from otspec.models import EndingModel
from validation.hsd import AS_CODED

CERTAINTY = math.log(2 / 1e-12)
"""By Chernoff's bound a right batch fails once in 10¹⁰ runs."""
SIZE = 4_000
"""Blocks in a batch."""


def random_models(rng: np.random.Generator, n: int, depth: int) -> Pair:
    """Draw rows of all kinds after some texts; after the others they are those of shorter ones."""
    found: tuple[dict, dict] = {}, {}
    for prefix in (each for size in range(depth) for each in product(range(n), repeat=size)):
        both = pair(rng, n, str(rng.choice(KINDS)))
        for side in (0, 1):
            if not prefix or rng.random() < 0.7:
                found[side][prefix] = both[side]
    return Pair(*found, depth)


def one_of(rng: np.random.Generator, things: object):
    """Draw one of several things."""
    things = list(things)
    return things[int(rng.integers(len(things)))]


def k_sequential(draft, target, k):
    """K-SEQ with ρ = k, which needs no root: a weight of a node is any fraction."""
    return rules.KSequential(draft, target, k, rho=k)


LIFTED = (
    (rules.RecursiveRejection, "iid", True),
    (rules.PooledSelection, "iid", True),
    (rules.PooledSelection, "iid", False),
    (rules.NaiveSampling, "iid", True),
    (k_sequential, "iid", True),
    (rules.DrawnDraft, "top-plus-one", True),
    (rules.RecursiveRejectionWithoutReplacement, "distinct", True),
    (rules.TargetOnly, "top", True),
)
"""Rules for one token, their drafts, and whether equal children are merged."""


def tree_laws(seed: int) -> int:
    """The law of text and next token of a rule for trees is that of its drafted trees."""
    rng = np.random.default_rng([seed, 7])
    n = int(rng.integers(2, 4))
    nodes = int(rng.integers(1, 6 if n == 2 else 5))
    if rng.integers(2):
        name = one_of(rng, TOKEN_RULES)
        tree = one_of(rng, [each for each in ordered_trees(nodes) if takes(name, each)] or ["[]"])
        if not takes(name, tree):
            tree = "[][]"
        depth = as_shape(tree).depth
        models = pair_for(name, seed, n, depth)
        merge, (made, draws) = bool(rng.integers(2)), TOKEN_RULES[name]
        rule = DraftSelection(*models, tree, made, merge=merge)
        # Of other drafts the first goes on, though SpecHub may have two that are equal.
        law, wanted = answered_by_depth(rule), verified(rule, draws, merge and name in IID_RULES)
    else:
        tree = one_of(rng, ordered_trees(nodes))
        models = random_models(rng, n, as_shape(tree).depth + 1).exact
        rule, literal, draws = leaf_to_root(rng, models, tree)
        law, wanted = answered(rule), over_trees(literal, DRAWS[draws], models[0], rule.tree)
    assert law == wanted, rule
    assert is_lossless(law, models[1], rule.depth), rule
    assert rule.expected() == kept(law), rule
    return 3


def leaf_to_root(rng: np.random.Generator, models: tuple, tree: str) -> tuple:
    """Draw a rule that verifies from the leaves, with its literal algorithm and its drafts."""
    kind = rng.integers(4)
    if kind == 0:
        return TraversalVerify(*models, tree, merge=False), traversal(models, True), "iid"
    if kind == 1:
        literal = lifted(rules.RecursiveRejection, models, True)
        return TraversalVerify(*models, tree), literal, "iid"
    if kind == 2:
        literal = traversal(models, False)
        return TraversalVerifyWithoutReplacement(*models, tree), literal, "distinct"
    made, draws, merge = one_of(rng, LIFTED)
    literal = lifted(made, models, merge)
    return UniversalTree(*models, tree, made, merge=merge), literal, draws


def chances(models: Pair, end: Collection[int] = ()) -> dict[type, list[Fraction]]:
    """How likely at least 1, 2, … drafted tokens are kept, up to an end token.

    Σ_s Π min(M_b, M_s) for token verification, Σ_s a(s) with a(sx) = min(a(s) M_b(x | s), M_s(sx))
    for the published rule and Σ_s min(M_b(s), M_s(s)) for the preprint's.
    """
    target, draft = models.literal
    texts, found = {(): (Fraction(1),) * 2}, {rule: [] for rule in ALGORITHMS}
    for _ in range(models.length):
        texts = {
            (*s, x): (
                one * min(target(s)[x], draft(s)[x]),
                min(both * target(s)[x], draft.mass((*s, x))),
            )
            for s, (one, both) in texts.items()
            if not s or s[-1] not in end
            for x in range(draft.n)
        }
        found[TokenVerification].append(sum(one for one, _ in texts.values()))
        found[BlockVerification].append(sum(both for _, both in texts.values()))
        found[BlockVerificationPreprint].append(
            sum(min(target.mass(s), draft.mass(s)) for s in texts)
        )
    return found


def block_laws(seed: int) -> int:
    """Every drafted block is kept and corrected as the printed algorithm says, step by step."""
    rng = np.random.default_rng([seed, 8])
    n, length = one_of(rng, [(2, 1), (2, 2), (2, 3), (2, 4), (3, 1), (3, 2), (4, 2)])
    models = random_models(rng, n, length)
    target, draft = models.literal
    kind = one_of(rng, [*ALGORITHMS, HierarchicalVerification])
    rule, algorithm = (
        kind(*models.exact, length),
        (ALGORITHMS | {HierarchicalVerification: AS_CODED})[kind],
    )
    law: dict = {}
    for block, mass in draft.blocks(length).items():
        found, likely = ways(rule, block), [Fraction(0)] * (length + 1)
        for branch in algorithm(target, draft, block):
            likely[branch.accepted] += branch.mass
            head = block[: branch.accepted]
            left = length - branch.accepted + 1
            if branch.mass:
                wanted = branch.following.blocks(left)
                assert dict(found[head].following.texts(left)) == wanted, (rule, block)
                for rest, chance in wanted.items():
                    text = (*head, *rest)
                    law[text] = law.get(text, 0) + mass * branch.mass * chance
        assert rule.kept(block).tolist() == likely, (rule, block)
    if kind is HierarchicalVerification:  # the public code is lossy
        return 2 * n**length
    assert law == target.blocks(length + 1), rule
    assert rule.expected() == sum(chances(models)[kind]), rule
    return 2 * n**length + 2


def batch_blocks(seed: int) -> int:
    """A batch of blocks keeps and draws with the law of the printed algorithm."""
    rng = np.random.default_rng([seed, 9])
    n, length = one_of(rng, [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (5, 2)])
    name, models = one_of(rng, BLOCKS), random_models(rng, n, length)
    target, draft = models.literal
    wanted: dict = {}
    for block, mass in draft.blocks(length).items():
        for branch in ALGORITHMS[BLOCKS[name]](target, draft, block):
            for token, chance in enumerate(branch.following(()) if branch.mass else ()):
                key = block[: branch.accepted], token
                wanted[key] = wanted.get(key, 0) + mass * branch.mass * chance
    said = list(draft.blocks(length))
    masses = np.array([float(draft.mass(block)) for block in said])
    number = rng.choice(len(said), SIZE, p=masses / masses.sum())
    drafts = np.array(said)[number]
    rows = [
        np.array([[floats(model(block[:i])) for i in range(count)] for block in said])[number]
        for model, count in ((draft, length), (target, length + 1))
    ]
    found = getattr(batch, name)(*rows, drafts, rng.random((SIZE, length + 1)))
    seen = Counter(
        (tuple(block[:kept]), token)
        for block, kept, token in zip(
            drafts.tolist(), found.length.tolist(), found.token.tolist(), strict=True
        )
    )
    for each in seen.keys() | wanted.keys():
        share, right = seen[each] / SIZE, float(wanted.get(each, 0))
        assert right > 0 or not share, (name, models, each)
        far = rel_entr([share, 1 - share], [right, max(1 - right, 1e-300)]).sum()
        assert SIZE * far <= CERTAINTY, (name, models, each, share, right)
    return len(wanted)


LOGGED_RULES = (
    rules.RecursiveRejection,
    rules.KSequential,
    rules.PooledSelection,
    rules.RecursiveRejectionWithoutReplacement,
)


def log_averages(seed: int) -> int:
    """What logged blocks say, on average over the law of their tokens, is what is kept."""
    rng = np.random.default_rng([seed, 10])
    n, length = one_of(rng, [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2)])
    models, end = random_models(rng, n, length), set(np.flatnonzero(rng.random(n) < 0.3).tolist())
    pairs = list(logged_blocks(models, end, int(rng.integers(3))))
    done = 0
    for rule, wanted in chances(models, end).items():
        assert list(sum(mass * block.by_level(rule, length) for mass, block in pairs)) == wanted
        done += length
    rule = one_of(rng, LOGGED_RULES)
    tree = one_of(rng, all_trees(3 if n == 3 else 4, length))
    shape, exact = as_shape(brackets(tree)), kept_of(*models.exact, rule, end)(tree, ())
    assert sum(mass * block.expected_of_tree(shape, rule) for mass, block in pairs) == exact
    blocks, masses = [block for _, block in pairs], np.array([float(mass) for mass, _ in pairs])
    told = logged_chances(blocks, rule, sorted(shape.widths), shape.depth).kept_of(shape)
    # No weight is above the masses' inverse: each product is one of probabilities again.
    assert abs(told @ masses - float(exact)) <= 1e-12
    merge = bool(rng.integers(2))
    literal = lifted(rules.RecursiveRejection, models.exact, merge)
    law = over_trees(literal, DRAWS["iid"], models.exact[0], shape)
    up_to_end = sum(
        mass * min([len(head), *(i for i, token in enumerate(head, 1) if token in end)])
        for (head, _), mass in law.items()
    )
    assert (
        sum(mass * block.expected_of_traversal(shape, merge=merge) for mass, block in pairs)
        == up_to_end
    )
    return done + 3


def logged_blocks(models: Pair, end: Collection[int], law: int):
    """Yield all texts of the draft, the target or another law with their probability, as logged."""
    draft, target = models.exact
    texts = {(): Fraction(1)}
    rows = {}
    for _ in range(models.length):
        for text in texts:
            both = draft(text), target(text)
            rows[text] = (*both, (both[0], both[1], (both[0] + 2 * both[1]) / 3)[law])
        texts = {
            (*text, token): mass * chance
            for text, mass in texts.items()
            for token, chance in enumerate(rows[text][2])
            if chance
        }
    for text, mass in texts.items():
        drafts, targets, sampling = zip(*(rows[text[:i]] for i in range(len(text))), strict=True)
        yield mass, LoggedBlock(drafts, targets, text, end, sampling if law else None)


def replays(seed: int) -> int:
    """The calls along a text of the target are those of all ways in which it is decoded."""
    rng = np.random.default_rng([seed, 11])
    models = random_models(rng, 2, int(rng.integers(1, 4)))
    draft, target = models.exact
    end = [[], [0], [1]][int(rng.integers(3))]
    ending = EndingModel(target, end)
    if rng.integers(2):
        rule = one_of(rng, (TokenVerification, BlockVerification))
        tree, make = "x".join("1" * int(rng.integers(1, 4))), text_calls.of_block
    else:
        rule, make = one_of(rng, LOGGED_RULES), text_calls.of_tree
        tree = brackets(one_of(rng, all_trees(3, 2)))
    found = text_calls.decoded(make(rule, tree), draft, ending, 3)
    text_calls.check_against(found, draft, ending, rule, tree, end=end)
    return 3 * len(found)
