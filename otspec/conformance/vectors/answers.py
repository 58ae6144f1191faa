"""What named rules answer, to drafts exactly and to given uniform numbers: reference vectors."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from otspec import batch
from otspec._base import Array, children_of
from otspec.blocks import BLOCK_RULES, BlockRule, DraftedTree, DraftSelection, TokenTree, as_shape
from otspec.conformance.cases.drafting import model_of
from otspec.conformance.cases.kinds import Tree
from otspec.conformance.cases.library import TABLES
from otspec.conformance.exact_check import drawn_from
from otspec.rules import RULES

Row = tuple[Fraction, ...]
Drafts = tuple[int, ...]
Answers = Mapping[tuple[int, int], Fraction]  # from mark and token to a probability

ROWS = {  # weights of draft and target; sums are powers of 2: float16 has the probabilities
    "all positive": ((2, 1, 1), (1, 1, 2)),
    "draft and target alike": ((2, 1, 1), (2, 1, 1)),
    "nearly alike": ((8, 4, 4), (7, 5, 4)),
    "disjoint supports": ((3, 1, 0), (0, 0, 1)),
    "a drafted token that the target never says": ((2, 1, 1), (0, 3, 1)),
    "a token that is never drafted": ((1, 1, 0), (1, 1, 2)),
    "a second draft that may be rejected": ((2, 1, 1), (0, 5, 3)),
    "one certain draft": ((1, 0, 0), (2, 1, 1)),
    "one certain target": ((2, 1, 1), (0, 1, 0)),
}


class Pair(NamedTuple):
    """Two models: the row of the text, and that after each token."""

    name: str
    draft: tuple[Row, ...]
    target: tuple[Row, ...]


class Group(NamedTuple):
    """A rule and the drafts that it is for, on a pair."""

    kind: str
    rule: str
    parents: tuple[int, ...]
    distinct: bool
    pair: Pair

    @property
    def name(self) -> str:
        """What tells it from the others."""
        return f"{self.kind}, {self.rule}: {self.pair.name}"

    def rows(self, table: tuple[Row, ...], drafts: Drafts) -> list[Row]:
        """Return the rows of a model after the text and after each draft."""
        return [table[0], *(table[token + 1] for token in drafts)]

    def drafted(self) -> Iterator[tuple[Drafts, Fraction]]:
        """Yield the tuples of drafts, with their probabilities."""
        law = "without-replacement" if self.distinct else "iid"
        for drafts, _, mass in sorted(drawn_from(Tree(self.parents, law), self.pair.draft)):
            yield drafts, mass

    def answers(self, drafts: Drafts) -> Answers:
        """Return the law of what the rule answers to drafts."""
        return (_of_tokens if self.kind == "tokens" else _of_models)(self, drafts)


def _of_tokens(group: Group, drafts: Drafts) -> Answers:
    rule = RULES[group.rule].of_pair(group.pair.draft[0], group.pair.target[0], len(drafts))
    *accepted, drawn = rule.joint_kernel(drafts).tolist()
    return _positive({
        (mark, token): mass
        for mark, row in (*enumerate(accepted), (-1, drawn))
        for token, mass in enumerate(row)
    })  # fmt: skip


def _of_models(group: Group, drafts: Drafts) -> Answers:
    models = model_of(group.pair.draft), model_of(group.pair.target)
    if group.kind == "block":
        rule: BlockRule = BLOCK_RULES[group.rule](*models, len(drafts))
    else:
        shape = as_shape(TokenTree(group.parents))
        rule = DraftSelection(*models, shape, RULES[group.rule], merge=False)
    drafted = DraftedTree.of_models(drafts, group.parents, *models)
    return _positive({
        (drafted.node(outcome.accepted) + (group.kind == "block"), token): outcome.mass * mass
        for outcome in rule.outcomes_of(drafted)
        for token, mass in enumerate(outcome.following(()).tolist())
    })  # fmt: skip


SHAPES: dict[str, tuple[tuple[str, tuple[int, ...], bool], ...]] = {
    "tokens": (
        ("maximal-coupling", (-1,), False),
        ("recursive-rejection", (-1, -1), False),
        ("naive-sampling", (-1, -1), False),
        ("recursive-rejection-without-replacement", (-1, -1), True),
    ),
    "block": (("token", (-1, 0), False), ("block-published", (-1, 0), False)),
    "tree": (
        ("recursive-rejection", (-1, -1, 0), False),
        ("recursive-rejection-without-replacement", (-1, -1, 0), True),
    ),
}
"""The rules of each kind, the parents of their drafts, and whether siblings are distinct."""


def groups(kind: str) -> Iterator[Group]:
    """Yield the groups of vectors of a kind."""
    for rule, parents, distinct in SHAPES[kind]:
        most = max(map(len, children_of(parents)))
        for pair in _pairs():
            rows_differ = pair.name in TABLES
            few = any(sum(map(bool, row)) < most for row in pair.draft)
            if not (distinct and few) and not (rows_differ and kind == "tokens"):
                yield Group(kind, rule, parents, distinct, pair)


def _pairs() -> Iterator[Pair]:
    for name, weights in ROWS.items():
        draft, target = (_scaled(row) for row in weights)
        yield Pair(name, *((row,) * (len(row) + 1) for row in (draft, target)))
    for name, tables in TABLES.items():
        yield Pair(name, *(tuple(map(_scaled, table)) for table in tables))


def _scaled(weights: tuple[int, ...]) -> Row:
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def _positive(answers: Answers) -> Answers:
    return {answer: mass for answer, mass in answers.items() if mass}


FUNCTIONS: dict[tuple[str, str], Callable[..., Any]] = {  # their uniform numbers are the convention
    ("tokens", "maximal-coupling"): batch.maximal_coupling,
    ("tokens", "recursive-rejection"): batch.recursive_rejection,
    ("tokens", "recursive-rejection-without-replacement"): (
        batch.recursive_rejection_without_replacement
    ),
    ("block", "token"): batch.token_verification,
    ("block", "block-published"): batch.block_verification,
}
GRID = 128  # uniform numbers are odd multiples of 1/128: float16 has them
MARGIN = 2.0**-9  # an error of each up to this changes no answer, so rounding decides nothing
TRIES = 8  # rows of uniform numbers that are tried for each tuple of drafts


def uniform_vectors(kind: str) -> Iterator[dict[str, Any]]:
    """Yield the vectors of a kind."""
    rng = np.random.default_rng(0)
    for group in groups(kind):
        if (group.kind, group.rule) in FUNCTIONS:
            for drafts, _ in group.drafted():
                yield from _of_drafts(group, drafts, rng)


def _of_drafts(group: Group, drafts: Drafts, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield, of some rows of uniform numbers, those with answers of their own that are firm."""
    width = len(drafts) + 1
    corners = np.array(list(product((-MARGIN, 0.0, MARGIN), repeat=width)))
    tried = (2 * rng.integers(GRID // 2, size=(TRIES, width)) + 1) / GRID
    found = answers_to(group, drafts, (tried[:, None] + corners).reshape(-1, width))
    seen: set[tuple[int, int]] = set()
    for row, uniforms in enumerate(tried.tolist()):
        answers = {*found[row * len(corners) : (row + 1) * len(corners)]}
        if len(answers) == 1 and not answers <= seen:
            seen |= answers
            ((mark, token),) = answers
            yield {
                "group": group.name,
                "drafts": list(drafts),
                "uniforms": uniforms,
                "mark": mark,
                "token": token,
            }


def answers_to(group: Group, drafts: Drafts, uniforms: Array) -> list[tuple[int, int]]:
    """Return mark and token for each row of uniform numbers, shape (rows, drafts + 1)."""
    draft, target = (
        np.array(group.rows(table, drafts), dtype=float)
        for table in (group.pair.draft, group.pair.target)
    )
    models = (draft[0], target[0]) if group.kind == "tokens" else (draft[:-1], target)
    rows = [np.broadcast_to(model, (len(uniforms), *model.shape)) for model in models]
    tokens = np.broadcast_to(np.array(drafts), (len(uniforms), len(drafts)))
    found = FUNCTIONS[group.kind, group.rule](*rows, tokens, uniforms)
    marks = found.index if group.kind == "tokens" else found.length
    return list(zip(marks.tolist(), found.token.tolist(), strict=True))
