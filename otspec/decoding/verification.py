"""Verifying a tree that was drafted, with what the target model says of all its nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from otspec._base.arithmetic import Array, Number, as_number
from otspec._base.frozen import Frozen, cached_property
from otspec.blocks import SingleDraftRule
from otspec.blocks.trees.verifiers.token_rules import made_rule
from otspec.blocks.trees.verifiers.visits import (
    at_leaf,
    given_drafts,
    kept_from_the_leaves,
    rule_of_weight,
)
from otspec.decoding.drafting import Drafted
from otspec.decoding.draws import Draws
from otspec.decoding.reader import Reader, read_text
from otspec.distributions import Distribution, normalised
from otspec.drafts import IID, DraftLaw, TooFewTokensError
from otspec.models.base import Model, Prefix
from otspec.rules import PairRule, TargetOnly
from otspec.rules.shared_noise.base import earliest


class Verdict(NamedTuple):
    """How the verification of a tree ended."""

    path: tuple[int, ...]
    """The nodes that are kept, from the text on."""
    token: int
    """The token that follows them."""
    verifier: Verifier
    """What verifies the next tree."""


class Verifier(Frozen, ABC):
    """A rule at work on one text."""

    @abstractmethod
    def law(self, draft: Distribution, k: int, top: bool = False) -> DraftLaw:
        """Return the law of k children of a node, drawn or the likeliest tokens."""

    def drafts(
        self,
        draft: Distribution,
        k: int,
        top: bool,
        place: int,  # noqa: ARG002 -- shared noise is that of a place
        draws: Draws,
    ) -> tuple[Prefix, bool]:
        """Return k children of a node, and whether equal ones go on together.

        Parameters
        ----------
        draft : ndarray, shape (n,)
        k : int
        top : bool
            Whether they are the likeliest tokens rather than drawn.
        place : int
            Of the children in the text.
        draws : Draws
        """
        law = self.law(draft, k, top)
        return draws.drafts(law), law.iid

    @abstractmethod
    def verify(
        self, drafted: Drafted, wanted: Sequence[Distribution], start: int, draws: Draws
    ) -> Verdict:
        """Say which nodes are kept, and what follows them.

        Parameters
        ----------
        drafted : Drafted
        wanted : sequence of ndarray
            The target's distribution after the text, and after each node.
        start : int
            Tokens of the text.
        draws : Draws
        """


@dataclass(frozen=True)
class TokenVerifier(Verifier):
    """A rule for one token at every node of a tree.

    Parameters
    ----------
    rule : type
        A class of rules for one token, made from a draft, a target and k.
    """

    rule: type[PairRule]

    def law(self, draft: Distribution, k: int, top: bool = False) -> DraftLaw:
        """Return the law of k children of a node; distinct ones may be fewer."""
        law = self._rule(top).law_class
        try:
            return law(draft, k)
        except TooFewTokensError:
            return law(draft, int(np.count_nonzero(draft)))

    def _rule(self, top: bool) -> type[PairRule]:
        return TargetOnly if top else self.rule


@dataclass(frozen=True)
class TreeVerifier(TokenVerifier):
    """A rule for one token, applied depth by depth to the children of the node that is kept.

    Law: what is kept and its continuation is the target's text. Source: SpecTr, alg. 3 and thm. 2;
    MCSD, alg. 1 and 2. See :class:`otspec.blocks.DraftSelection`, which is the same for models of
    small alphabets. Parameters: :class:`TokenVerifier`.
    """

    def verify(
        self,
        drafted: Drafted,
        wanted: Sequence[Distribution],
        start: int,  # noqa: ARG002
        draws: Draws,
    ) -> Verdict:
        """Select a token for each depth, until it is none of the children, or there are none."""
        path: list[int] = []
        node = -1
        while node in drafted.children:
            children = drafted.children[node]
            drafts, kind = children.drafts, self._rule(children.top)
            rule = made_rule(kind, children.draft, wanted[node + 1], len(drafts))
            token = draws.token(rule.kernel(drafts))
            if token not in drafts:
                return Verdict(tuple(path), token, self)
            node = drafted.child(node, token)
            path.append(node)
        return Verdict(tuple(path), draws.token(wanted[node + 1]), self)


@dataclass(frozen=True)
class SharedNoiseVerifier(TokenVerifier):
    """The target's token of shared noise at each place: the text is that of plain decoding.

    Both models draw with the noise of a place, which is a function of the seed. So the text depends
    on the seed and the target alone: not on the draft model, the tree or a batch. Law: the text is
    the target's. Source: :class:`otspec.rules.GumbelCoupling`. Parameters: :class:`TokenVerifier`.
    """

    def drafts(
        self, draft: Distribution, k: int, top: bool, place: int, draws: Draws
    ) -> tuple[Prefix, bool]:
        """Return the first tokens of the draft's race with the noise of the place."""
        if top:
            return super().drafts(draft, k, top, place, draws)
        noise = draws.noise(place, len(draft))
        count = min(k, int(np.count_nonzero(draft)))
        return tuple(earliest(noise, draft, count).tolist()), False

    def verify(
        self, drafted: Drafted, wanted: Sequence[Distribution], start: int, draws: Draws
    ) -> Verdict:
        """Follow the target's tokens through the tree as far as they were drafted."""
        path: list[int] = []
        node = -1
        while True:
            row = wanted[node + 1]
            noise = draws.noise(start + len(path), len(row))
            token = int(earliest(noise, row, 1)[0])
            below = drafted.children.get(node)
            if below is None or token not in below.drafts:
                return Verdict(tuple(path), token, self)
            node = drafted.child(node, token)
            path.append(node)


@dataclass(frozen=True)
class LeafVerifier(TokenVerifier):
    """A rule for one token, lifted to the tree: from the leaves to the root (Theory, 22).

    Law: what is kept and its continuation is the target's text. See
    :class:`otspec.blocks.trees.verifiers.leaf_to_root.LeafToRoot`, which is the same for models of
    small alphabets. Parameters: :class:`TokenVerifier`.
    """

    def verify(
        self,
        drafted: Drafted,
        wanted: Sequence[Distribution],
        start: int,  # noqa: ARG002
        draws: Draws,
    ) -> Verdict:
        """Visit nodes with their weights, each after all below it, until one is kept."""

        def visit(node: int, weight: Number) -> tuple[list[tuple[int, Number]], Array]:
            below = drafted.children.get(node)
            if below is None:
                return [], at_leaf(wanted[node + 1], weight).rest
            number = len(below.drafts)
            rule = rule_of_weight(self.rule, below.draft, wanted[node + 1], weight, number)
            found = given_drafts(rule, below.drafts, merge=True)
            children = [(drafted.child(node, each.token), each.weight) for each in found.masses]
            return children, found.rest

        one = as_number(1, like=wanted[0])
        path, row = kept_from_the_leaves(visit, -1, one, draws.token)
        last = path[-1] if path else -1
        return Verdict(tuple(path), draws.token(normalised(row, wanted[last + 1])), self)


@dataclass(frozen=True, eq=False)
class ChainVerifier(Verifier):
    """A rule for one drafted block, applied to a chain of drafts.

    Law: what is kept and its continuation is the target's text. A rule that corrects more than one
    token has its corrections as the target of the next block.

    Parameters
    ----------
    rule : type
        A class of rules for one drafted block.
    length : int
        L, the tokens of a block; with an end token it is over before.
    draft, target : ReadModel
        The two models, after the prompt.
    text : tuple of int
        What follows the prompt.
    wanted : Model
        What the text is continued with: the target, whose texts end, or its corrections.
    """

    rule: type[SingleDraftRule]
    length: int
    draft: ReadModel
    target: ReadModel
    text: Prefix
    wanted: Model

    def law(self, draft: Distribution, k: int, top: bool = False) -> DraftLaw:  # noqa: ARG002
        """Return the law of k independent children of a node: those of a block are drawn."""
        return IID(draft, k)

    def verify(
        self,
        drafted: Drafted,
        wanted: Sequence[Distribution],
        start: int,  # noqa: ARG002
        draws: Draws,
    ) -> Verdict:
        """Draw how much of the block is kept, and the token that follows it."""
        block = drafted.tokens
        self.draft.remember(self.text, block, [each.draft for each in drafted.children.values()])
        self.target.remember(self.text, block, wanted)
        rule = self.rule(self.draft.after(self.text), self.wanted, self.length)
        kept = block[: draws.token(rule.kept(block))]
        following = rule.following(kept)
        token = draws.token(following(()))
        text, rest = (*self.text, *kept, token), following.after((token,))
        return Verdict(tuple(range(len(kept))), token, replace(self, text=text, wanted=rest))


class ReadModel(Model):
    """A reader as a language model, with what it said last at hand.

    Parameters
    ----------
    reader : Reader
        Which has read nothing yet.
    prompt : tuple of int
        What stands before every prefix.
    """

    def __init__(self, reader: Reader, prompt: Prefix) -> None:
        self._reader, self._prompt = reader, prompt
        self.n, self.exact = reader.n, reader.exact

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the distribution after the prompt and a prefix, by reading it if need be."""
        if prefix in self._rows:
            return self._rows[prefix]
        return read_text(self._reader, self._prompt + prefix).rows[0]

    def remember(self, text: Prefix, block: Prefix, rows: Sequence[Distribution]) -> None:
        """Have the distributions after a text and each beginning of a block at hand, no others."""
        self._rows.clear()
        self._rows.update({text + block[:depth]: row for depth, row in enumerate(rows)})

    @cached_property
    def _rows(self) -> dict[Prefix, Distribution]:
        return {}
