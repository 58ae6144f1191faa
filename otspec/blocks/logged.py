"""A drafted block that was logged: both models along its tokens, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec.arguments import as_callable, as_instance, as_list, as_tokens
from otspec.arithmetic import Array, Number, as_number, is_exact
from otspec.blocks.models import Model, Prefix
from otspec.blocks.single import SingleDraftRule
from otspec.blocks.trees import TokenRule, as_branching, made_rule
from otspec.distributions import Distribution, as_distribution, as_k, as_pair, check_alike
from otspec.frozen import Frozen, frozen
from otspec.rules.contract import acceptance_or_estimate, accepted_law_or_estimate


@dataclass(frozen=True, eq=False)
class LoggedBlock(Frozen):
    """A drafted block and the distributions of both models along it.

    Parameters
    ----------
    draft, target : array_like, shape (L + 1, n) or (L, n)
        Row i: the distribution of the token after the first i tokens of the block. The last row
        of L + 1 is not needed to verify.
    tokens : sequence of int, length L
        The block, drawn from the draft model.

    Raises
    ------
    ValueError
        Rows that are no distributions or unlike each other, or too few of them.
    """

    draft: Sequence[Distribution]
    target: Sequence[Distribution]
    tokens: Sequence[int]

    def __post_init__(self) -> None:
        for name in ("draft", "target"):
            given = as_list(getattr(self, name), name, "a sequence of distributions")
            object.__setattr__(self, name, given)
        if len(self.draft) != len(self.target):
            raise ValueError(
                f"draft has {len(self.draft)} rows and target {len(self.target)}: log both models "
                "at the same positions"
            )
        n = len(as_distribution(self.draft[0], "draft[0]")) if self.draft else 1
        tokens = as_tokens(self.tokens, n, "tokens")
        if not tokens or len(self.draft) < len(tokens):
            raise ValueError(
                f"tokens has {len(tokens)} tokens, but there are rows for {len(self.draft)}: a "
                "block of L tokens, at least one, needs L rows or L + 1"
            )
        pairs = [as_pair(*rows) for rows in zip(self.draft, self.target, strict=True)]
        for i, (draft, _) in enumerate(pairs):
            check_alike("draft[0]", pairs[0][0], f"draft[{i}]", draft)
        object.__setattr__(self, "tokens", tokens)
        for name, rows in zip(("draft", "target"), zip(*pairs, strict=True), strict=True):
            object.__setattr__(self, name, rows)

    def kept(self, rule: type[SingleDraftRule], length: int) -> Array:
        """Return the law of τ when a rule verifies the first tokens of the block.

        Parameters
        ----------
        rule : type
            A rule for one drafted block.
        length : int
            How many tokens of the block count as the draft.

        Returns
        -------
        ndarray, shape (length + 1,)
            Its mean τ is an unbiased estimate of E[τ] after the block's prompt;
            :meth:`expected` is a closer one.

        Raises
        ------
        ValueError
            More tokens than the block has, or one that is never drafted.
        """
        self._check(length)
        as_block_rule(rule)
        text = tuple(self.tokens)
        draft = LoggedModel(self.draft, text, "draft")
        target = LoggedModel(self.target, text, "target")
        return rule(draft, target, length).kept(text[:length])

    def expected(self, rule: type[SingleDraftRule], length: int) -> Number:
        """Estimate how many of the first tokens a rule keeps, E[τ] after the block's prompt.

        Parameters
        ----------
        rule : type
            A rule for one drafted block.
        length : int

        Returns
        -------
        float or Fraction
            Σ_ℓ of what the formula of E[τ] says of all texts that follow the first ℓ − 1 logged
            tokens. It is unbiased over drafted blocks, and for every single block the published
            block verification has at least what token verification has, and the preprint's at
            least that.

        Raises
        ------
        ValueError
            As :meth:`kept`.
        """
        self._check(length)
        as_block_rule(rule)
        total: Any = 0
        wanted: Any = 1
        drafted: Any = 1
        for token, draft, target in zip(
            self.tokens[:length], self.draft, self.target, strict=False
        ):
            possible = np.flatnonzero((draft > 0) & (target > 0))
            with np.errstate(over="ignore"):  # a ratio beyond the floats: kept for sure
                masses = rule.step(wanted, drafted, draft[possible], target[possible])
            total += np.minimum(*masses).sum()
            place = np.flatnonzero(possible == token)
            if place.size == 0:  # the target never goes on like this: longer texts add nothing
                break
            wanted, drafted = (mass[place[0]] / draft[token] for mass in masses)
        return as_number(total, like=self.draft[0])

    def expected_of_tree(self, branching: str | Sequence[int], rule: TokenRule) -> Number:
        """Estimate how many tokens a tree of drafts keeps, E[τ] after the block's prompt.

        Only one drafted text was logged. Its token x stands for a selected one with the weight
        a(x)/p(x), a the law of the accepted output and p that of the drafts.

        Parameters
        ----------
        branching : str or sequence of int
            Children of each node by depth; equal children stay apart
            (:class:`otspec.blocks.DraftSelection` with ``merge=False``).
        rule : callable
            (draft, target, k) → a rule for one token.

        Returns
        -------
        float or Fraction
            Σ_ℓ Π_{i<ℓ} a_i(x_i)/p_i(x_i) · acceptance_ℓ, unbiased over drafted blocks.

        Raises
        ------
        ValueError
            As :meth:`kept`; or a rule without a formula or an estimate of its accepted law above
            the last depth.
        """
        widths = as_branching(branching)
        as_callable(rule, "rule", "a class of otspec.rules, or a function of draft, target and k")
        self._check(len(widths))
        total: Any = 0
        weight: Any = 1
        rows = zip(self.tokens, self.draft, self.target, widths, strict=False)
        for depth, (token, draft, target, k) in enumerate(rows, start=1):
            made = made_rule(rule, draft, target, k)
            total += weight * acceptance_or_estimate(made)
            if depth == len(widths) or weight == 0:
                break
            weight *= accepted_law_or_estimate(made)[token] / draft[token]
        return as_number(total, like=self.draft[0])

    def _check(self, length: int) -> None:
        if as_k(length, "length") > len(self.tokens):
            raise ValueError(f"length is {length}, but the block has {len(self.tokens)} tokens")
        for depth, token in enumerate(self.tokens[:length]):
            if not self.draft[depth][token] > 0:
                raise ValueError(
                    f"tokens[{depth}] is {token}, which the draft model never drafts there"
                )


def as_block_rule(rule: Any) -> type[SingleDraftRule]:
    """Check a class of rules for one drafted block.

    Raises
    ------
    ValueError
        Anything else.
    """
    wanted = "a class of rules for one drafted block, such as BlockVerify"
    as_instance(rule, "rule", type, wanted)
    if not issubclass(rule, SingleDraftRule):
        raise ValueError(f"rule is {rule.__name__}: it must be {wanted}")
    checked: type[SingleDraftRule] = rule
    return checked


class LoggedModel(Model):
    """A language model that is known along one text only.

    Parameters
    ----------
    rows : sequence of ndarray, shape (n,)
        The distributions after the first 0, 1, … tokens of the text.
    tokens : tuple of int
        The text.
    name : str
        What error messages call the model.
    """

    def __init__(self, rows: Sequence[Distribution], tokens: Prefix, name: str = "model") -> None:
        self._rows: tuple[Distribution, ...] = frozen(tuple(rows))
        self._tokens, self._name = tokens, name
        self.n, self.exact = len(rows[0]), is_exact(rows[0])

    def __call__(self, prefix: Prefix) -> Distribution:
        """Return the logged distribution after a beginning of the text.

        Raises
        ------
        ValueError
            The prefix is none, or the log ends before.
        """
        if prefix != self._tokens[: len(prefix)] or len(prefix) >= len(self._rows):
            raise ValueError(
                f"the {self._name} model was not logged after {prefix}: a logged block is known "
                f"along its own tokens {self._tokens[: len(self._rows) - 1]} only"
            )
        return self._rows[len(prefix)]
