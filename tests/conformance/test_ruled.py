"""The joint law of a named rule, against algorithms that are followed as they are written."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from small_verifiers import drawn

import otspec
from otspec.conformance.cases.cases import memoryless, mixed, remembering, spread
from otspec.conformance.cases.kinds import Block, Tokens, Tree
from otspec.conformance.cases.library import TABLES
from otspec.conformance.cases.ruled import as_maker, has_joint_law, joint_law, law_of_rule
from otspec.conformance.evidence.statistics import joint_statistics, text_statistics
from tests.support import oracles

DRAFT, TARGET = (4, 2, 1, 1), (1, 2, 4, 1)


def law(weights):
    return [Fraction(w, sum(weights)) for w in weights]


def close(seen, right):
    """Up to some dozens of roundings of numbers below 1."""
    assert seen == pytest.approx(np.array(right, dtype=float), abs=1e-14)


def test_equal_siblings_of_a_rule_by_name_stay_apart():
    models = [otspec.models.memoryless(["1/2", "1/2"])] * 2
    for name in ("recursive-rejection", "traversal"):
        assert not as_maker(name, "tree")(*models, otspec.blocks.TokenTree((-1, -1))).merge


@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_recursive_rejection_of_tokens(k, distinct):
    name = "recursive-rejection" + "-without-replacement" * distinct
    table = oracles.without_replacement_table if distinct else oracles.iid_table
    joint = oracles.in_turn_joint(law(DRAFT), law(TARGET), k, distinct)
    right = [[Fraction(0)] * 4 for _ in range(k + 1)]
    for x, mass in table(law(DRAFT), k).items():
        for place, row in enumerate(joint(x)):
            for token, chance in enumerate(row):
                right[0 if place == k else x.index(x[place]) + 1][token] += mass * chance
    kind = Tokens(k, law_of_rule(name, "tokens"))
    close(joint_law(as_maker(name, "tokens"), kind, memoryless("a", DRAFT, TARGET))[0], right)


def test_rows_of_fewer_drafts_have_the_rule_of_fewer():
    case = memoryless("a", DRAFT, TARGET, uneven=True)
    maker = as_maker("recursive-rejection", "tokens")
    right = np.zeros((4, 4))
    right[0] += np.array(law(TARGET), dtype=float) / 4
    for k in (1, 2, 3):
        whole = joint_law(maker, Tokens(k), memoryless("a", DRAFT, TARGET))[0]
        right[: k + 1] += whole / 4
    close(joint_law(maker, Tokens(3), case)[0], right)


def test_fewer_distinct_drafts_than_asked_for():
    case = memoryless("a", (1, 0, 0), (1, 1, 2))
    name = "recursive-rejection-without-replacement"
    found = joint_law(as_maker(name, "tokens"), Tokens(3, "without-replacement"), case)[0]
    close(found, [[0, 1 / 4, 1 / 2], [1 / 4, 0, 0], [0] * 3, [0] * 3])


def token_by_token(draft, target, length):
    """The law of (kept, next token): keep x with min(1, q/p), else draw from (q − p)₊."""
    right = [[Fraction(0)] * 3 for _ in range(length + 1)]
    for block in product(range(3), repeat=length):
        mass, context = Fraction(1), 0
        for kept, token in enumerate(block):
            p, q = law(draft[context]), law(target[context])
            drawn, context = p[token], token + 1
            if drawn == 0:
                break
            chance = min(Fraction(1), q[token] / drawn)
            rest = [max(b - a, Fraction(0)) for a, b in zip(p, q, strict=True)]
            if chance < 1:
                # The tokens behind are of no matter, and sum to 1.
                share = mass * drawn * (1 - chance) / 3 ** (length - kept - 1)
                for symbol, more in enumerate(rest):
                    right[kept][symbol] += share * more / sum(rest)
            mass *= drawn * chance
        else:
            for symbol, more in enumerate(law(target[context])):
                right[length][symbol] += mass * more
    return right


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_blocks_token_by_token(name, length):
    draft, target = TABLES[name]
    case = remembering("a", draft, target)
    found = joint_law(as_maker("token", "block"), Block.of_length(length), case)[0]
    close(found, token_by_token(draft, target, length))


def test_a_tree_of_children_of_the_text_is_drafts_of_one_token():
    case = memoryless("a", DRAFT, TARGET)
    tokens = joint_law(as_maker("recursive-rejection", "tokens"), Tokens(2), case)[0]
    maker = as_maker("recursive-rejection", "tree")
    tree = joint_law(maker, Tree((-1, -1)), case)[0]
    # What is accepted is followed by a token of the target.
    close(tree, [tokens[0], tokens[1:].sum() * np.array(TARGET) / 8])


@pytest.mark.parametrize("name", ["traversal", "recursive-rejection", "greedy-multi-path"])
def test_a_chain_is_a_block(name):
    case = remembering("a", *TABLES["good drafts after bad ones"], uneven=name == "traversal")
    chain = joint_law(as_maker(name, "tree"), Tree((-1, 0)), case)
    block = "token" if name == "recursive-rejection" else "block-published"
    close(chain[0], joint_law(as_maker(block, "block"), Block.of_length(2), case)[0])


@pytest.mark.parametrize("parents", [(-1, -1, 0, 1), (-1, -1, 0, 0)])
@pytest.mark.parametrize(
    "name", [*otspec.blocks.TREE_VERIFIERS, "k-sequential", "pooled-selection"]
)
def test_the_joint_law_of_a_tree_sums_to_one(name, parents):
    paths = name == "greedy-multi-path"  # of equal lengths
    parents = (-1, -1, 0, 1) if paths else parents
    kind = Tree(parents, "without-replacement" if "without-replacement" in name else "iid")
    case = remembering("a", *TABLES["rows that depend on the text"], uneven=not paths)
    found = joint_law(as_maker(name, "tree"), kind, case)
    assert found.shape == (1, 3, 3)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1, abs=1e-12)


def test_pairs_of_models_share_the_mass():
    cases = [memoryless("a", DRAFT, TARGET), memoryless("b", TARGET, DRAFT)]
    maker = as_maker("maximal-coupling", "tokens")
    both = joint_law(maker, Tokens(1), mixed("both", cases))
    for variant, case in enumerate(cases):
        close(both[variant], joint_law(maker, Tokens(1), case)[0] / 2)


def test_statistics_of_the_joint_law_are_its_marginals():
    """The counts of a table that has the very law are in the proportions of every statistic."""
    kind = Block.of_length(2)
    case = mixed("both", [memoryless("a", (1, 1), (1, 3)), memoryless("b", (3, 1), (1, 1))])
    joint = joint_law(as_maker("token", "block"), kind, case)
    fine = np.zeros((3, 2 * 8 + 1))
    for variant, *text in np.ndindex(2, 2, 2, 2):
        # Lay the law of (kept, next token) out over texts: any text with that token will do.
        for kept in range(3):
            same = 4  # texts with one token given
            place = np.ravel_multi_index((variant, *text), (2, 2, 2, 2))
            fine[kept, place] = joint[variant, kept, text[kept]] / same
    for statistic in joint_statistics(kind, case, joint):
        seen = np.zeros(len(statistic.expected))
        np.add.at(seen, statistic.cells, fine)
        close(seen, statistic.expected)
        assert len(statistic.labels) == len(statistic.expected)
    assert [s.name for s in joint_statistics(kind, case, joint)] == [
        "acceptance",
        "position",
        "joint law of kept length and token",
    ]
    names = [statistic.name for statistic in text_statistics(kind, case)]
    assert names == ["law of the first token", "law of the first 2 tokens", "law of the text"]


@pytest.mark.parametrize("kind", ["tokens", "block", "tree"])
@pytest.mark.parametrize("rule", ["nobody's", 3, None])
def test_another_rule_is_refused(kind, rule):
    with pytest.raises(ValueError, match="rule is "):
        as_maker(rule, kind)


def test_symbols_of_many_tokens_have_no_joint_law_but_of_blocks():
    wide = spread(memoryless("a", DRAFT, TARGET), 100)
    assert has_joint_law(Block.of_length(2), wide)
    assert not has_joint_law(Tokens(2), wide)


def target_only(target, drafts, rng):
    said = drawn(target, rng.random(len(target)))
    equal = drafts == said[:, None]
    return said, np.where(equal.any(axis=1), equal.argmax(axis=1), -1)


def target_only_in_a_tree(target, drafts, parents, rng):
    nodes, tokens = [], []
    for rows, own in zip(target, drafts.tolist(), strict=True):
        node, below = -1, [-1]
        while below:
            node = below[0]
            said = drawn(rows[node + 1], np.array(rng.random()))
            equal = (at for at, parent in enumerate(parents) if parent == node and own[at] == said)
            below = [*equal][:1]
        nodes.append(node)
        tokens.append(said)
    return np.array(nodes), np.array(tokens)


def drawn_draft(draft, target, drafts, rng):
    """Couple the drawn draft maximally; look a token of the residual up among the others."""
    draft, target = draft.astype(float), target.astype(float)
    rows, last = np.arange(len(drafts)), drafts[:, -1]
    draft[rows[:, None], drafts[:, :-1]] = 0
    sums = draft.sum(axis=1, keepdims=True)
    draft /= np.where(sums > 0, sums, 1)
    kept = rng.random(len(drafts)) * draft[rows, last] < target[rows, last]
    left = np.maximum(target - draft, 0)
    left = np.where(left.sum(axis=1, keepdims=True) > 1e-12, left, target)
    said = np.where(kept, last, drawn(left, rng.random(len(left))))
    equal = drafts == said[:, None]
    index = np.where(equal.any(axis=1), equal.argmax(axis=1), -1)
    return said, np.where(kept, drafts.shape[1] - 1, index)


@pytest.mark.parametrize(
    ("verify", "shape", "rule"),
    [
        (target_only, 2, "target-only"),
        (target_only, 3, "target-only"),
        (target_only_in_a_tree, "2x1", "target-only"),
        (drawn_draft, 2, "drawn-draft"),
        (drawn_draft, 3, "drawn-draft"),
    ],
)
def test_the_likeliest_drafts_are_those_of_the_rule_where_some_are_equally_likely(
    verify, shape, rule
):
    """Of equally likely tokens those of the smallest numbers are drafted."""
    kind = "tree" if shape == "2x1" else "tokens"
    options = {"vocabulary": 99, "entries": 1, "detect": 0.1, "coarse": 0.4}
    report = otspec.conformance.check(verify, kind=kind, shape=shape, rule=rule, **options)
    assert report.passed, report.findings[:2]
