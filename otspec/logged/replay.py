"""The calls that decode a given text of the target: a renewal process along it (Theory, 28)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec._base import Array, Frozen, IntArray, Number, as_number, zeros
from otspec._base.arguments import as_callable, as_flag, as_generator, as_instance
from otspec.blocks import Shape, SingleDraftRule, as_shape
from otspec.blocks.trees.verifiers.nodes import TokenRule
from otspec.distributions import Distribution, as_k
from otspec.logged.block import LoggedBlock
from otspec.logged.chances import levels_of_block, levels_of_tree, token_weights


@dataclass(frozen=True, eq=False)
class Replay(Frozen):
    """The calls of the target by which a given text comes out, counted as an engine counts them.

    A call begins after some tokens of the text, keeps τ drafted ones of it and adds one more, after
    which the next call begins; the text is complete after its last token. What a call keeps beyond
    the end is not counted.

    Parameters
    ----------
    starts : ndarray, shape (N,)
        The probability that a call begins after the first s tokens.
    kept : ndarray, shape (N, depth + 1)
        The law of τ of a call that begins there.
    counted : int
        How many of the places count: all of a whole text; of one that was cut off those after which
        the log is as long as a tree is deep.
    cut : bool
        Whether the text goes on after what was logged.
    """

    starts: Array
    kept: Array
    counted: int
    cut: bool = False

    @property
    def calls(self) -> Number:
        """The expected number of calls that count."""
        return as_number(self.starts[: self.counted].sum(), like=self.starts)

    @property
    def lengths(self) -> Array:
        """How many calls keep 0, 1, … tokens in expectation, shape (depth + 1,)."""
        return (self.starts[: self.counted, None] * self.kept[: self.counted]).sum(axis=0)

    @property
    def accepted(self) -> Number:
        """The expected number of drafted tokens that are kept."""
        lengths = self.lengths
        return as_number((lengths * np.arange(len(lengths))).sum(), like=self.starts)

    @property
    def tokens(self) -> Number:
        """The expected number of tokens that come out: N of a whole text."""
        if not self.cut:
            return as_number(zeros(1, like=self.starts)[0] + self.counted, like=self.starts)
        return as_number(self.calls + self.accepted, like=self.starts)

    def walk(self, rng: np.random.Generator) -> IntArray:
        """Draw the accept lengths, (calls,), of calls that decode the text once, in order."""
        as_generator(rng)
        bounds = np.cumsum(np.maximum(self.kept.astype(float), 0), axis=1)
        place, found = 0, []
        while place < self.counted:
            row = bounds[place]
            found.append(int(np.searchsorted(row, rng.random() * row[-1], side="right")))
            place += found[-1] + 1
        return np.array(found, dtype=int)


def replayed(levels: Array, *, cut: bool) -> Replay:
    """Return the calls along a text, ``cut`` if it goes on, from its ``levels``, (depth, N)."""
    # Given the text, how likely at least 1, 2, … tokens are kept by a call that begins after each
    # token: see otspec.logged.chances.
    depth, number = levels.shape
    least = zeros((number, depth + 2), like=levels)
    least[:, 0] += 1
    least[:, 1 : depth + 1] = levels.T
    kept = least[:, :-1] - least[:, 1:]
    counted = max(0, number - depth + 1) if cut else number
    return Replay(begun(kept), kept, counted, cut)


def begun(kept: Array) -> Array:
    """Return the chance that a call begins after each token, (..., N), from the laws of τ."""
    *rows, number, widths = kept.shape
    starts = zeros((*rows, number + widths), like=kept)
    starts[..., 0] += 1
    for place in range(number):
        going = starts[..., place, None] * kept[..., place, :]
        starts[..., place + 1 : place + widths + 1] += going
    return starts[..., :number]


def replay(text: LoggedBlock, rule: Any, tree: Any, *, cut: bool = False) -> Replay:
    """Return the calls of the target that decode a logged text of it, by a rule and a tree.

    Parameters
    ----------
    text : LoggedBlock
        With the rows of the target as ``sampling``: a text of the target, as long as it may be.
    rule : callable
        (draft, target, k) → a lossless rule for one token, which is applied at every node, as
        :class:`otspec.blocks.DraftSelection` does with ``merge=False``; or a rule for one drafted
        block after whose one corrected token the plain target follows.
    tree : str, sequence of int, TokenTree or Shape
        Of drawn tokens, see :func:`otspec.blocks.as_shape`; a chain for a rule of blocks.
    cut : bool
        Whether a text without an end token goes on behind what was logged. Then calls count as
        long as a whole tree of the text is logged after them.

    Returns
    -------
    Replay
        Expectations given the text: over texts of the target they are those of decoding.

    Raises
    ------
    ValueError
        Tokens of another law, a tree of certain tokens, or a rule that cannot be followed along a
        text.
    """
    as_instance(text, "text", LoggedBlock, "a LoggedBlock")
    as_flag(cut, "cut")
    _check_text(text)
    asked = [(rule, as_rule_tree(rule, tree))]
    [levels] = levels_along(text.tokens, text.draft, text.target, asked)
    return replayed(levels, cut=cut and not text.ended)


def levels_along(
    tokens: Sequence[int],
    draft: Iterable[Distribution],
    target: Iterable[Distribution],
    asked: Sequence[tuple[Any, Shape]],
) -> list[Array]:
    """Return how likely at least 1, 2, … tokens are kept after each token of a text of the target.

    ``draft``, ``target``: what each of N tokens was drawn after, at least N rows, which are looked
    at once and not kept. ``asked``: rules with their trees, of :func:`as_rule_tree`. Result: for
    each (depth, N). Raises ``ValueError``: a token that the target never draws; a rule that cannot
    be followed along a text. ``NotExactError``: an accepted law that is known by simulation only.
    """
    chances: list[tuple[Number, Number]] = []
    weights: list[list[dict[int, Array]]] = [[] for _ in asked]
    for position, (token, one, other) in enumerate(zip(tokens, draft, target, strict=False)):
        if not other[token] > 0:
            raise ValueError(
                f"tokens[{position}] is {token}, which the target never draws there: calls are "
                "counted along a text of the target"
            )
        chances.append((one[token], other[token]))
        for (rule, tree), known in zip(asked, weights, strict=True):
            if not is_block_rule(rule):
                known.append(token_weights(rule, one, other, token, tree))
    of_draft, of_target = np.array(chances).T
    return [
        levels_of_block(rule, tree.depth, of_draft, of_target)
        if is_block_rule(rule)
        else levels_of_tree(tree, known)
        for (rule, tree), known in zip(asked, weights, strict=True)
    ]


def is_block_rule(rule: Any) -> bool:
    """Whether a rule verifies one drafted block, and not the children of a node."""
    return isinstance(rule, type) and issubclass(rule, SingleDraftRule)


def as_rule_tree(rule: TokenRule | type[SingleDraftRule], tree: Any) -> Shape:
    """Check a tree that a rule verifies along logged texts."""
    shape = as_shape(tree)
    as_callable(rule, "rule", "a class of otspec.rules, or a rule for one drafted block")
    as_k(shape.depth, "tree.depth")
    if not shape.drawn:
        raise ValueError(
            f"tree is {shape.text}: drafts that are certain are verified by the rule target-only "
            "on a tree without top"
        )
    if is_block_rule(rule) and not shape.chain:
        raise ValueError(f"tree is {shape.text}: a rule for one block verifies a chain, 1x1x…")
    return shape


def _check_text(text: LoggedBlock) -> None:
    text.check(len(text.tokens))
    rows = zip(text.target[: len(text.tokens)], text.sampled, strict=False)
    for position, (target, sampled) in enumerate(rows):
        if not np.array_equal(target, sampled):
            raise ValueError(
                f"sampling[{position}] is not the target there: calls are counted along a text "
                "that was drawn from the target as it is asked about"
            )
